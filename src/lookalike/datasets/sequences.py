"""Two classes of sequences of sets that differ in one thing only."""

from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.saving.fields import Choice, Integer
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, Table

MAX_LENGTH = MAX_SIZE = 40  # sets in a sequence, items in a set
# Means and standard deviations, as shares of the largest length, size and item. Chosen to give the
# ranges that Piernik et al. print: sequences of 5 to 37 sets of 4 to 38 items.
LENGTH, LENGTH_SPREAD = 0.5, 0.1
SIZE, SIZE_SPREAD = 0.5, 0.125
ITEM, ITEM_SPREAD = 0.5, 0.1
# Draws before a set is left smaller than it was meant to be; chosen by hand.
MAX_DRAWS = 1000


# What the published sets were most likely made with, for every kind; the study "similarity" found
# these settings from the parts of the sets that can be had.
PUBLISHED_SEQUENCES: dict[str, Any] = {
    "max_item": 500,
    "size_spread": 0.1,
    "item_gap": 0.04,
    "length_gap": 0.2,
    "shift": 0.1,
    "unordered": "level",
}


def make_sequences_of_sets(
    kind: str = "items",
    n_per_class: int = 200,
    *,
    item_gap: float = 0.1,
    length_gap: float = 0.2,
    shift: float = 0.4,
    max_item: int = 100,
    size_spread: float = SIZE_SPREAD,
    unordered: str = "shuffled",
    random_state: Any = None,
) -> tuple[Table, np.ndarray]:
    """Make sequences of sets of two classes whose difference lies in one thing only.

    What such data can show: one-hot encoded items are blind to order, and a distance on whole
    sequences sees all three kinds of difference. Lengths, sizes of sets and items are rounded
    normal numbers; items are numbers from 0 to ``max_item``, distinct within a set. Made after the
    description of three data sets of Piernik et al. [1]_ with parameters chosen to give the ranges
    printed there (sequences of 5 to 37 sets of 4 to 38 items).

    The published sets themselves are most likely those of ``PUBLISHED_SEQUENCES``: the parts of
    them that can be had agree with that, and so do the scores (study ``similarity``).

    Parameters
    ----------
    kind : {"items", "lengths", "order"}
        "items": the second class has higher items. "lengths": it has longer sequences. "order":
        items rise from set to set in the first class, and the sets of the second are shuffled.
    n_per_class : int
    item_gap, length_gap : float
        How far the means of the two classes are apart, as shares of ``max_item`` and of the 40 sets
        that a sequence can have.
    shift : float
        How much items rise from the first set to the last in "order", as a share of ``max_item``.
    max_item : int
        With many items two sets share few of them, and distances see less than single items do.
    size_spread : float
        Standard deviation of the sizes of sets, as a share of the 40 items that a set can have.
    unordered : {"shuffled", "level"}
        The second class of "order": made like the first and then shuffled, so that both have the
        same items, or made without a rise, so that the first also has more widely spread items.
    random_state : None, int or numpy Generator

    Returns
    -------
    table : Table
        One column, "sequence".
    y : array of 2 * n_per_class
        0 and 1.

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> from lookalike.datasets import make_sequences_of_sets
    >>> table, y = make_sequences_of_sets("lengths", n_per_class=50, random_state=0)
    >>> lengths = [len(cell) for cell in table["sequence"].values]
    >>> sum(lengths[:50]) < sum(lengths[50:])
    True
    >>> from lookalike.datasets import PUBLISHED_SEQUENCES
    >>> published, y = make_sequences_of_sets("order", **PUBLISHED_SEQUENCES, random_state=0)
    >>> len(published)
    400
    """
    who = "make_sequences_of_sets"
    Choice("items", "lengths", "order").check(who, "kind", kind)
    Integer(1).check(who, "n_per_class", n_per_class, "Raise it")
    Choice("shuffled", "level").check(who, "unordered", unordered)
    rng = make_generator(random_state)
    length_gap, item_gap = length_gap * (kind == "lengths"), item_gap * (kind == "items")
    cells = np.empty(2 * n_per_class, dtype=object)
    for i in range(len(cells)):
        second = i >= n_per_class
        side = second - 0.5  # the means of the classes are one gap apart
        length, item = LENGTH + side * length_gap, ITEM + side * item_gap
        rises = kind == "order" and not (second and unordered == "level")
        n = _integer(rng, MAX_LENGTH, length, LENGTH_SPREAD, 2)
        means = item_means(item, shift if rises else 0.0, n)
        cell = [_set(rng, mean, max_item, size_spread) for mean in means]
        order = rng.permutation(len(cell)) if second and rises else range(len(cell))
        cells[i] = tuple(cell[j] for j in order)
    column = Column("sequence", Kind("sequence", f"made: {kind}"), cells)
    return Table([column]), np.repeat([0, 1], n_per_class)


def item_means(item: float, shift: float, length: int) -> np.ndarray:
    """Return the mean item of each set of a sequence, as a share of the highest item.

    Examples
    --------
    >>> item_means(0.5, 0.4, 5).round(6).tolist()
    [0.3, 0.4, 0.5, 0.6, 0.7]
    """
    return item - shift / 2 + shift * np.arange(length) / max(1, length - 1)


def _integer(rng: np.random.Generator, high: int, mean: float, spread: float, low: int) -> int:
    return int(np.clip(np.rint(rng.normal(high * mean, high * spread)), low, high))


def _set(rng: np.random.Generator, mean: float, max_item: int, spread: float) -> frozenset[int]:
    size = _integer(rng, MAX_SIZE, SIZE, spread, 1)
    # All draws come in one call, used or not: a set of another size does not shift those that
    # follow from the same generator.
    drawn = np.rint(rng.normal(max_item * mean, max_item * ITEM_SPREAD, MAX_DRAWS))
    items = [item for item in drawn.astype(np.int64).tolist() if 0 <= item <= max_item]
    return frozenset(list(dict.fromkeys(items))[:size])
