"""Similarities within and between classes, as numbers and as a plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import InvalidInput
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import block_or_half
from lookalike.represent.powers import similarity_matrix
from lookalike.saving.fields import Integer
from lookalike.show.html.drawings import new_figure
from lookalike.table.model.targets import read_target

MAX_SAMPLE_ROWS = 1000  # rows whose pairs are compared; chosen by hand


def class_similarity(
    space: Any, y: Any, *, sample: int = MAX_SAMPLE_ROWS, random_state: Any = 0
) -> dict[str, Any]:
    """Return how alike rows are within classes and between them.

    Parameters
    ----------
    space : fitted measure, or array of shape (n, n) of similarities
    y : array of n classes
    sample : int
        With more rows, the pairs of so many of them are looked at.
    random_state : None, int, RandomState or Generator
        For the sample.

    Returns
    -------
    dict
        ``within`` and ``between``: arrays of the similarities of pairs of one class and of two;
        ``within_mean`` and ``between_mean``; and ``separation``: how often a pair of one class is
        more alike than a pair of two (1: always, 1/2: classes mean nothing).

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> from lookalike.represent import class_similarity
    >>> pets = {"weight": [4.0, 5.0, 30.0, 25.0]}
    >>> found = class_similarity(Gower().fit(pets), ["cat", "cat", "dog", "dog"])
    >>> round(found["within_mean"], 3), round(found["between_mean"], 3), found["separation"]
    (0.885, 0.115, 1.0)
    """
    from sklearn.metrics import roc_auc_score

    who = "class_similarity"
    Integer(2).check(who, "sample", sample, "Raise it")
    rng = make_generator(random_state)
    whole = None if isinstance(space, Measure) else similarity_matrix(space, who)
    n = len(space.rows_ if whole is None else whole)
    rows = np.sort(rng.choice(n, sample, replace=False)) if n > sample else np.arange(n)
    if whole is None:  # only the pairs of the sample are compared
        s = block_or_half(space, space.rows_[rows], space.rows_[rows])
    else:
        s = whole[np.ix_(rows, rows)]
    codes = read_target(y, n, who, "classes")[0][rows]
    # Each pair once, and no row with itself.
    upper = np.triu_indices(len(rows), 1)
    same, values = (codes[:, None] == codes)[upper], s[upper]
    if same.all() or not same.any():
        found = "none of one class" if not same.any() else "none of two classes"
        needed = "pairs of rows of one class and of two"
        raise InvalidInput(who, needed, found, "Give more rows, or other classes")
    within, between = values[same], values[~same]
    return {
        "within": within,
        "between": between,
        "within_mean": float(within.mean()),
        "between_mean": float(between.mean()),
        # The share of (within, between) pairs in order; equal ones count half.
        "separation": float(roc_auc_score(same, values)),
    }


def plot_class_similarity(
    spaces: Any,
    y: Any,
    *,
    sample: int = MAX_SAMPLE_ROWS,
    bins: int = 40,
    random_state: Any = 0,
    figure: Any = None,
) -> Any:
    """Draw how alike rows are within classes and between them, before and after.

    The farther apart the two curves of a panel are, the better similarity separates the
    classes; ``separation`` in its title says how often a pair of one class is more alike than a
    pair of two. Needs matplotlib (``pip install lookalike[report]``).

    Parameters
    ----------
    spaces : fitted measure, matrix of similarities, or mapping of title to either
        One panel each, such as ``{"before": measure, "after": Gower().fit(columns)}``.
    y : array of n classes
    sample : int
        With more rows, the pairs of so many of them are looked at.
    bins : int
    random_state : None, int, RandomState or Generator
        For the sample.
    figure : matplotlib Figure, optional
        To draw into; a new one by default.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> from lookalike.represent import SimilarityRepresentation, plot_class_similarity
    >>> pets = {"weight": [4.0, 9.0, 30.0, 8.0], "sound": ["meow", "meow", "woof", "woof"]}
    >>> after = SimilarityRepresentation(n_prototypes=2).fit_transform(pets)
    >>> spaces = {"before": Gower().fit(pets), "after": Gower().fit(after)}
    >>> figure = plot_class_similarity(spaces, ["cat", "cat", "dog", "dog"])
    >>> [panel.get_title() for panel in figure.axes]
    ['before: separation 1.00', 'after: separation 1.00']
    """
    panels = spaces if isinstance(spaces, Mapping) else {"similarity": spaces}
    if not panels:
        hint = "Pass a fitted measure"
        raise InvalidInput("plot_class_similarity", "a space to draw", "none", hint)
    if figure is None:
        figure = new_figure("plot_class_similarity", 5 * len(panels), 3.5)
    axes = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
    # The same bins in all panels, so that heights can be compared.
    edges = np.linspace(0.0, 1.0, bins + 1)
    for axis, (title, space) in zip(axes, panels.items(), strict=True):
        found = class_similarity(space, y, sample=sample, random_state=random_state)
        for name, label in (("between", "two classes"), ("within", "one class")):
            axis.hist(found[name], edges, density=True, alpha=0.6, label=label)
            axis.axvline(found[f"{name}_mean"], linestyle="--", linewidth=1, color="black")
        axis.set_title(f"{title}: separation {found['separation']:.2f}")
        axis.set_xlabel("similarity of two rows")
        axis.set_yticks([])
    axes[0].legend(title="pairs of")
    return figure
