"""What the forests of similarity trees share: reading tables, growing, walking, votes."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import KINDS, N_JOBS, AnyOf, AtLeast, Between, Is, OneOf, Rule, check_params
from lookalike._random import RANDOM_STATE, make_generator
from lookalike._save import Saved
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, message
from lookalike.forests.cell_cache import CellCache
from lookalike.forests.cell_columns import TreeColumn, encode_columns, fit_columns
from lookalike.forests.cell_growing import Limits, grow_trees
from lookalike.forests.cell_pruning import prune_trees
from lookalike.forests.cell_trees import SimilarityTrees
from lookalike.forests.grown import Grown
from lookalike.table import Schema, Table, as_table, read_table
from lookalike.table.targets import split_target

__all__ = ["as_amounts", "as_classes", "check_weights", "has_names", "votes_of"]


class _TreeForest(Saved, BaseEstimator):
    """Reading and encoding tables for trees, and what can be asked of any fitted forest."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "n_estimators": AtLeast(1),
        "distances": AnyOf(OneOf(None), Is(Mapping, named="a mapping of column to distance")),
        "projection": OneOf("distance", "squared"),
        "numeric": OneOf("projection", "value"),
        "kinds": KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    n_estimators: int
    distances: Mapping[str, Any] | None
    projection: Any
    numeric: str
    kinds: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None
    trees_: SimilarityTrees
    schema_: Schema

    # -- reading -----------------------------------------------------------------------------------

    def _start(self, X: Any, y: Any = None) -> tuple[Table, np.ndarray | None]:
        """Check parameters, read the table, take out the target."""
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        table, target = split_target(self._read(X), y, who)
        if not table.columns:
            do = "Give columns to learn from, or name them in kinds= if they were set aside"
            raise InvalidInput(message(f"{who}.fit", "a column to compare", "none", do))
        self.schema_ = table.schema
        self.n_features_in_ = len(table.columns)
        if has_names(X):
            self.feature_names_in_ = np.asarray(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return table, target

    def _read(self, X: Any) -> Table:
        return read_table(X, kinds=self.kinds)

    def _fit_columns(self, table: Table) -> tuple[tuple[TreeColumn, ...], tuple[Cells, ...]]:
        """Choose the distances, and encode the fitted rows."""
        columns = fit_columns(
            table,
            self.distances,
            projection=self.projection,
            numeric=self.numeric,
            who=type(self).__name__,
        )
        return columns, encode_columns(columns, table, fitted=True)

    def _encode(self, X: Any) -> tuple[Cells, ...]:
        """Encode new rows."""
        check_is_fitted(self, "trees_")
        return self.trees_.encode(as_table(X, self.schema_, who=type(self).__name__))

    # -- what can be asked -------------------------------------------------------------------------

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf in which each row ends, one column per tree.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        int32 array of shape (n, n_estimators)
            Node numbers, counted within each tree.
        """
        cells = self._encode(X)
        return self.trees_.leaves(cells, self.n_jobs)

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Return the nodes that each row passes, as scikit-learn's forests do.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        indicator : sparse matrix of shape (n, nodes)
            1 where a row passes a node.
        n_nodes_ptr : array of n_estimators + 1
            Tree t has the columns ``n_nodes_ptr[t]:n_nodes_ptr[t + 1]``.
        """
        leaves = self.apply(X)
        nodes, ends = self.trees_.path(leaves)
        ones = np.ones(len(nodes), np.int64)
        shape = (len(leaves), len(self.trees_.feature))
        return csr_matrix((ones, nodes, ends), shape=shape), self.trees_.offsets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class _SupervisedForest(_TreeForest):
    """Forests that are grown with a target."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "max_features": AnyOf(Between(0.0, 1.0, open_low=True), AtLeast(1)),
        "max_pairs": AtLeast(1),
        "max_depth": AnyOf(OneOf(None), AtLeast(1)),
        "min_samples_split": AtLeast(2),
        "min_samples_leaf": AtLeast(1),
        "min_weight_fraction_leaf": Between(0.0, 0.5),
        "bootstrap": Is(bool),
        "oob_score": Is(bool),
        "ccp_alpha": Between(0.0),
        "cache_pairs": AtLeast(0),
    }

    max_pairs: int
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    bootstrap: bool
    oob_score: bool
    ccp_alpha: float
    cache_pairs: int
    in_bag_: np.ndarray | None

    def _limits(self) -> Limits:
        raise AssertionError("written by the subclasses")

    def _grow(self, table: Table, weight: np.ndarray, **labels: Any) -> None:
        """Grow the forest, prune it, and judge it by the rows its trees have not seen."""
        if self.oob_score and not self.bootstrap:
            raise InvalidInput(
                message(
                    f"{type(self).__name__}(oob_score=True)",
                    "bootstrap=True, as only then are rows left out of a tree",
                    "bootstrap=False",
                    "Leave one of them out",
                )
            )
        columns, cells = self._fit_columns(table)
        grown = self._grow_trees(columns, cells, weight, labels)
        self.trees_ = grown.forest
        if self.ccp_alpha > 0:
            self.trees_ = prune_trees(grown.forest, self.ccp_alpha)
        self.in_bag_ = grown.in_bag
        if grown.in_bag is not None:
            leaves = self.trees_.leaves(cells, self.n_jobs)
            truth = labels["label"] if "label" in labels else labels["target"]
            self._judge(leaves, grown.in_bag == 0, truth)

    def _grow_trees(
        self,
        columns: tuple[TreeColumn, ...],
        cells: tuple[Cells, ...],
        weight: np.ndarray,
        labels: dict[str, Any],
    ) -> Grown[SimilarityTrees]:
        cache = CellCache.of(columns, cells, self.cache_pairs, self.n_jobs)
        return grow_trees(
            cache,
            weight=weight,
            n_trees=self.n_estimators,
            limits=self._limits(),
            bootstrap=self.bootstrap,
            keep_bag=self.oob_score,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **labels,
        )

    def _judge(self, leaves: np.ndarray, unseen: np.ndarray, truth: np.ndarray) -> None:
        raise AssertionError("written by the subclasses")

    def _average(
        self, leaves: np.ndarray, votes: np.ndarray, use: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the mean over trees (those to be used) of what the leaves say."""
        total = np.zeros((len(leaves), votes.shape[1]))
        count = np.zeros(len(leaves))
        for t in range(leaves.shape[1]):
            said = votes[self.trees_.offsets[t] + leaves[:, t]]
            if use is not None:
                said = said * use[:, t, None]
                count += use[:, t]
            total += said
        if use is None:
            return total / leaves.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / count[:, None])  # NaN where every tree has seen the row

    def _true_target(self, X: Any, y: Any) -> Any:
        """Return the target as an array; a name is looked up in X."""
        if not isinstance(y, str):
            return y
        return split_target(read_table(X, kinds=self.kinds), y, f"{type(self).__name__}.score")[1]

    def permutation_importances(
        self, X: Any, y: Any, n_repeats: int = 5, random_state: Any = None
    ) -> dict[str, np.ndarray]:
        """Return how much worse the score becomes when a column is shuffled.

        Use rows that were not fitted: on fitted ones every column that was memorized looks useful.
        For frames and arrays ``sklearn.inspection.permutation_importance`` works as well; this one
        takes whatever ``predict`` takes and shuffles encoded cells.

        Parameters
        ----------
        X : rows
        y : array of n, or the name of a column of X
        n_repeats : int
            How often each column is shuffled.
        random_state : None, int or Generator

        Returns
        -------
        dict of column name to array of n_repeats
            The loss of accuracy, or of the coefficient of determination.
        """
        rng = make_generator(random_state)
        truth = self._true_target(X, y)
        cells = self._encode(X)
        whole = self._score_cells(cells, truth)
        losses = {}
        for column, name in enumerate(self.schema_.kinds):
            losses[name] = np.empty(n_repeats)
            for repeat in range(n_repeats):
                order = rng.permutation(len(cells[0]))
                mixed = self._shuffled(X, cells, column, order)
                losses[name][repeat] = whole - self._score_cells(mixed, truth)
        return losses

    def _shuffled(
        self, X: Any, cells: tuple[Cells, ...], column: int, order: np.ndarray
    ) -> tuple[Cells, ...]:
        """Return the encoded rows with one column in another order."""
        return tuple(
            here[order] if one.column == column else here
            for one, here in zip(self.trees_.columns, cells, strict=True)
        )

    def _score_cells(self, cells: tuple[Cells, ...], truth: Any) -> float:
        raise AssertionError("written by the subclasses")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def votes_of(value: np.ndarray, voting: str) -> np.ndarray:
    """Return what every leaf votes for, from the weights of its classes.

    "majority": the largest class (each of them, on a tie) with its share; "soft": all shares.

    Examples
    --------
    >>> import numpy as np
    >>> votes_of(np.array([[3.0, 1.0], [1.0, 1.0]]), "majority")
    array([[0.75, 0.  ],
           [0.5 , 0.5 ]])
    """
    shares = value / np.maximum(value.sum(axis=1, keepdims=True), 1e-300)
    if voting == "soft":
        return np.asarray(shares)
    most = shares.max(axis=1, keepdims=True)
    return np.where(shares >= most * (1 - 1e-12), shares, 0.0)


def has_names(X: Any) -> bool:
    """Whether the columns of X were named by the user."""
    return isinstance(X, Table | dict) or hasattr(X, "columns")


def check_weights(sample_weight: Any, n: int, who: str) -> np.ndarray:
    """Return one weight of at least 0 per row; a single number is the weight of all."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        found = f"sample_weight.shape == {weight.shape}"
        do = "Give one number per row"
        raise InvalidInput(message(f"{who}.fit", f"a sample_weight of shape ({n},)", found, do))
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        found = f"{weight[wrong[0]]:g} for row {wrong[0]}"
        raise InvalidInput(message(f"{who}.fit", "weights of at least 0", found, "Correct them"))
    if not weight.any():
        raise InvalidInput(
            message(f"{who}.fit", "a weight above 0", "zeros only", "Leave sample_weight out")
        )
    return weight


def as_classes(y: np.ndarray, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, sorted, and the number of each row's class."""
    if y.dtype == object and all(isinstance(label, numbers.Number | np.bool_) for label in y):
        y = np.asarray(y.tolist())
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        types = sorted({type(label).__name__ for label in y})
        found = f"{' and '.join(types)} labels"
        do = "Turn them all into strings"
        raise InvalidInput(message(f"{who}.fit", "classes of one type", found, do)) from error
    if y.dtype.kind == "f" and not (np.isfinite(y) & (y == np.round(y))).all():
        broken = y[~np.isfinite(y) | (y != np.round(y))]
        raise InvalidInput(
            message(
                f"{who}.fit",
                "classes: strings, whole numbers or flags",
                f"{broken[0]:g} in y (Unknown label type: continuous)",
                "Use RandomSimilarityForestRegressor for amounts, or turn y into strings",
            )
        )
    if len(classes) < 2:
        raise InvalidInput(
            message(
                f"{who}.fit",
                "at least two classes",
                f"1 class ({classes[0]!r})",
                "Add rows of another class",
            )
        )
    return classes, codes.astype(np.int64)


def as_amounts(y: np.ndarray, who: str) -> np.ndarray:
    """Return the target as float64; words and infinities are refused."""
    try:
        if y.dtype.kind not in "fiubO":
            raise ValueError(f"{y.dtype} values")
        amounts = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        do = "Use RandomSimilarityForestClassifier for classes"
        raise InvalidInput(message(f"{who}.fit", "numbers as y", str(error), do)) from error
    wrong = np.flatnonzero(~np.isfinite(amounts))
    if len(wrong):
        found = f"{amounts[wrong[0]]:g} in row {wrong[0]} (infinity or a value too large)"
        raise InvalidInput(message(f"{who}.fit", "finite numbers as y", found, "Drop these rows"))
    return amounts
