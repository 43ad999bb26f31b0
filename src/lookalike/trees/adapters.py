"""Fitted forests of scikit-learn, read through their public attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, WrongType
from lookalike.trees.growing import GrownForest, count_times
from lookalike.trees.thresholds.flat import Forest, flatten

SUPPORTED_FORESTS = (
    "RandomForest, ExtraTrees, IsolationForest, GradientBoosting and single decision trees"
)


def adapt_forest(fitted: Any, n_rows: int | None = None) -> GrownForest[Forest]:
    """Take over the trees of a fitted scikit-learn forest, exactly as it walks them.

    scikit-learn compares values in single precision and sends a missing value to a side chosen when
    the tree was grown; so does the result. Leaves agree with the forest's own ``apply``, up to
    their numbering.

    Parameters
    ----------
    fitted : estimator
        A fitted random forest, extra-trees, isolation or gradient boosting forest, a single
        decision tree, or a lookalike ``Forest``.
    n_rows : int, optional
        How many rows the forest was fitted on: asks for the rows each tree was grown on, which only
        forests grown on samples can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> values = np.random.default_rng(0).random((50, 3))
    >>> forest = RandomForestRegressor(4, random_state=0).fit(values, values.sum(axis=1))
    >>> adapt_forest(forest).forest.n_trees
    4
    """
    if isinstance(fitted, Forest):
        if n_rows is not None:
            _no_samples("a Forest of arrays")
        return GrownForest(fitted)
    check_fitted(fitted)
    trees = _trees_of(fitted)
    forest = flatten(
        np.concatenate(_features_of(fitted, trees)),
        np.concatenate([tree.threshold for tree in trees]),
        np.concatenate([tree.children_left for tree in trees]),
        np.concatenate([tree.children_right for tree in trees]),
        np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])]),
        int(fitted.n_features_in_),
        default=np.concatenate([tree.missing_go_to_left for tree in trees]),
        soft=False,
        single=True,
    )
    return GrownForest(forest, None if n_rows is None else _in_bag(fitted, len(trees), n_rows))


def _trees_of(fitted: Any) -> list[Any]:
    """Return the trees of a forest, or the one of a decision tree."""
    if hasattr(fitted, "tree_"):
        return [fitted.tree_]
    estimators = np.ravel(np.asarray(getattr(fitted, "estimators_", []), dtype=object))
    if not len(estimators) or not all(hasattr(estimator, "tree_") for estimator in estimators):
        needed = f"a forest whose trees can be read ({SUPPORTED_FORESTS})"
        hint = "Fit one of these on the same columns"
        raise WrongType("forest", needed, type(fitted).__name__, hint)
    return [estimator.tree_ for estimator in estimators]


def _features_of(fitted: Any, trees: list[Any]) -> list[np.ndarray]:
    """Return the column that each node of each tree tests, -1 in leaves."""
    features = [
        np.where(np.asarray(tree.children_left) >= 0, np.asarray(tree.feature, np.int64), -1)
        for tree in trees
    ]
    columns = None if hasattr(fitted, "tree_") else getattr(fitted, "estimators_features_", None)
    if columns is None:
        return features
    # A tree that saw some of the columns counts within them.
    return [
        np.where(feature >= 0, np.asarray(own)[np.maximum(feature, 0)], -1)
        for feature, own in zip(features, columns, strict=True)
    ]


def check_fitted(fitted: Any) -> None:
    """Refuse what is not an estimator, and an estimator that was not fitted."""
    name = type(fitted).__name__
    if isinstance(fitted, type):
        needed = f"a fitted forest ({SUPPORTED_FORESTS})"
        raise WrongType("forest", needed, f"the class {fitted.__name__}", "Fit one")
    if not hasattr(fitted, "fit"):
        raise WrongType(
            "forest", f"a fitted forest ({SUPPORTED_FORESTS})", f"a {name}", "Fit one of these"
        )
    if getattr(fitted, "n_features_in_", None) is None:
        raise InvalidInput(
            "forest", "a fitted forest", f"{name}, which is not fitted", "Call its fit first"
        )


def _in_bag(fitted: Any, n_trees: int, n_rows: int) -> np.ndarray:
    samples = getattr(fitted, "estimators_samples_", None)
    # Gradient boosting without subsampling and forests without bootstrap grow every tree on all
    # rows: no tree would be left out of bag.
    if samples is None or len(samples) != n_trees or not getattr(fitted, "bootstrap", True):
        _no_samples(type(fitted).__name__ + ("" if samples is None else "(bootstrap=False)"))
    in_bag = np.zeros((n_rows, n_trees), np.uint8)
    for t, rows in enumerate(samples or ()):
        rows = np.asarray(rows)
        if len(rows) and int(rows.max()) >= n_rows:
            found = f"one of {n_rows:,} rows, while the forest saw row {int(rows.max()):,}"
            hint = "Fit the measure on the forest's own training rows"
            raise InvalidInput("forest", "the table that it was fitted on", found, hint)
        in_bag[:, t] = count_times(rows, n_rows)
    return in_bag


def _no_samples(found: str) -> None:
    needed = "trees that were each grown on a sample of the rows, and know which"
    hint = ("Use a random forest with ", Param("bootstrap", True), ", or another method")
    raise InvalidInput(Param("method", "oob"), needed, found, hint)
