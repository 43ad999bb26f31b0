"""Fitted forests of scikit-learn, read through their public attributes, and other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, Param, WrongType
from lookalike.trees.boosters import find_reader
from lookalike.trees.growing import count_times
from lookalike.trees.models import ReadTree, TreeModel, join
from lookalike.trees.thresholds.flat import Forest

SUPPORTED_MODELS = (
    "RandomForest, ExtraTrees, IsolationForest, GradientBoosting and single decision trees of "
    "scikit-learn, XGBoost, LightGBM, CatBoost"
)


def adapt_model(fitted: Any) -> TreeModel:
    """Take over the trees of a fitted model, exactly as it walks them.

    Leaves agree with those that the model predicts itself, up to their numbering: precision of
    thresholds, sides of missing values and sets of categories are the library's own.

    Parameters
    ----------
    fitted : estimator
        A fitted forest, booster or decision tree of scikit-learn, a model of XGBoost, LightGBM or
        CatBoost, or a lookalike ``Forest``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> values = np.random.default_rng(0).random((50, 3))
    >>> forest = RandomForestRegressor(4, random_state=0).fit(values, values.sum(axis=1))
    >>> adapt_model(forest).forest.n_trees
    4
    """
    if isinstance(fitted, TreeModel):
        return fitted
    if isinstance(fitted, Forest):
        n = fitted.n_inputs  # flat arrays already, without a name for any column
        sides, numbers = np.full(n, -1, np.int8), Ragged.of([None] * n, np.int32)
        tested = np.arange(n, dtype=np.int32)
        return TreeModel(fitted, tested, sides, np.zeros(n, bool), numbers, (), ((),) * n)
    read = find_reader(fitted)
    if read is not None:
        return _read_booster(fitted, read)
    check_fitted(fitted)
    trees = _trees_of(fitted)
    # A tree that saw some of the columns counts within them.
    own = getattr(fitted, "estimators_features_", [range(fitted.n_features_in_)] * len(trees))
    parts = [
        ReadTree(
            np.take(columns, tree.feature, mode="clip"),  # -2 in leaves, which test nothing
            tree.threshold, tree.children_left, tree.children_right, tree.missing_go_to_left,
            gain=_gain_of(tree),
        )
        for tree, columns in zip(trees, own, strict=True)
    ]  # fmt: skip
    names = getattr(fitted, "feature_names_in_", ())
    # scikit-learn compares in single precision.
    return join(parts, names, [()] * int(fitted.n_features_in_), single=True)


def _read_booster(fitted: Any, read: Callable[[Any], TreeModel]) -> TreeModel:
    """Read the model of another library, whose interface of scikit-learn may not be fitted."""
    from sklearn.exceptions import NotFittedError

    try:
        if getattr(fitted, "is_fitted", lambda: True)() is False:  # of CatBoost
            raise NotFittedError
        return read(fitted)
    except NotFittedError:
        raise _not_fitted(type(fitted).__name__) from None


def _gain_of(tree: Any) -> float:
    """Return how far the tests of a tree reduce the impurity, over all rows."""
    left, share = tree.children_left, tree.weighted_n_node_samples * tree.impurity
    # The gains of all tests: what is in the root but not in the leaves.
    return float(share[0] - share[left < 0].sum())


def _trees_of(fitted: Any) -> list[Any]:
    """Return the trees of a forest, or the one of a decision tree."""
    if hasattr(fitted, "tree_"):
        return [fitted.tree_]
    estimators = np.ravel(np.asarray(getattr(fitted, "estimators_", []), dtype=object))
    if not len(estimators) or not all(hasattr(estimator, "tree_") for estimator in estimators):
        needed = f"a model whose trees can be read ({SUPPORTED_MODELS})"
        hint = "Fit one of these on the same columns"
        raise WrongType("model", needed, type(fitted).__name__, hint)
    return [estimator.tree_ for estimator in estimators]


def check_fitted(fitted: Any) -> None:
    """Refuse what is not an estimator, and an estimator that was not fitted."""
    name, needed = type(fitted).__name__, f"a fitted model ({SUPPORTED_MODELS})"
    if isinstance(fitted, type):
        raise WrongType("model", needed, f"the class {fitted.__name__}", "Fit one")
    if not hasattr(fitted, "fit"):
        raise WrongType("model", needed, f"a {name}", "Fit one of these")
    if getattr(fitted, "n_features_in_", None) is None:
        raise _not_fitted(name)


def _not_fitted(name: str) -> InvalidInput:
    found = f"{name}, which is not fitted"
    return InvalidInput("model", "a fitted model", found, "Call its fit first")


def read_samples(fitted: Any, n_trees: int, n_rows: int) -> np.ndarray:
    """Return how often each tree of a forest was grown on each of its rows.

    Parameters
    ----------
    fitted : estimator
    n_trees : int
    n_rows : int
        How many rows the forest was fitted on.
    """
    samples = getattr(fitted, "estimators_samples_", None)
    # Gradient boosting without subsampling and forests without bootstrap grow every tree on all
    # rows: no tree would be left out of bag.
    if samples is None or len(samples) != n_trees or not getattr(fitted, "bootstrap", True):
        name = type(fitted).__name__ + ("" if samples is None else "(bootstrap=False)")
        needed = "trees that were each grown on a sample of the rows, and know which"
        other = ("Use a random forest with ", Param("bootstrap", True), ", or another method")
        raise InvalidInput(Param("method", "oob"), needed, name, other)
    in_bag = np.zeros((n_rows, n_trees), np.uint8)
    for t, rows in enumerate(samples):
        rows = np.asarray(rows)
        if len(rows) and int(rows.max()) >= n_rows:
            found = f"one of {n_rows:,} rows, while the forest saw row {int(rows.max()):,}"
            hint = "Fit the measure on the forest's own training rows"
            raise InvalidInput("model", "the table that it was fitted on", found, hint)
        in_bag[:, t] = count_times(rows, n_rows)
    return in_bag
