"""What the forests of similarity trees share: reading tables, growing, walking, votes."""

from __future__ import annotations

import warnings
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
from lookalike.errors import InvalidInput, LookalikeWarning, message
from lookalike.forests.similarity import SimilarityTrees
from lookalike.forests.similarity_columns import Cellar, TreeColumn, encode_columns, fit_columns
from lookalike.forests.similarity_grow import Limits, grow_trees, prune_trees
from lookalike.predict.mixins import NamedTargetMixin
from lookalike.table import Schema, Table, as_table, read_table
from lookalike.table.features import remember_columns
from lookalike.table.targets import check_sample_weight, require_target, split_target

__all__ = ["SupervisedTreeForest", "TreeForest", "class_votes"]


class TreeForest(Saved, BaseEstimator):
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

    def _read(self, X: Any, y: Any = None) -> tuple[Table, np.ndarray | None]:
        """Check parameters, read the table, take out the target."""
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        table, target = split_target(self._read_table(X), y, who)
        if not table.columns:
            do = "Give columns to learn from, or name them in kinds= if they were set aside"
            raise InvalidInput(message(f"{who}.fit", "a column to compare", "none", do))
        self.schema_ = table.schema
        remember_columns(self, X, table)
        return table, target

    def _read_table(self, X: Any) -> Table:
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


class SupervisedTreeForest(NamedTargetMixin, TreeForest):
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

    # -- what classifier and regressor write -------------------------------------------------------

    def _tree_options(self) -> dict[str, Any]:
        """Return the settings of ``Limits`` that are not parameters of every forest."""
        raise AssertionError("written by the subclasses")

    def _score_out_of_bag(self, leaves: np.ndarray, unseen: np.ndarray, y: np.ndarray) -> None:
        """Score the forest by the trees that have not seen a row."""
        raise AssertionError("written by the subclasses")

    def _score_cells(self, cells: tuple[Cells, ...], y: Any) -> float:
        """Return the score of encoded rows."""
        raise AssertionError("written by the subclasses")

    # -- growing -----------------------------------------------------------------------------------

    def _read_supervised(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Table, np.ndarray, np.ndarray]:
        """Return the table, the target as given, and the weight of each row."""
        who = type(self).__name__
        table, target = self._read(X, require_target(y, who))
        self._remember_target(X, table, y)
        return table, np.asarray(target), check_sample_weight(sample_weight, len(table), who)

    def _grow(self, table: Table, y: np.ndarray, weight: np.ndarray, **labels: Any) -> None:
        """Grow the forest, prune it, and score it by the rows its trees have not seen.

        Parameters
        ----------
        table : Table
        y : class codes or numbers, for the out-of-bag score
        weight : array of n
        labels : the target as ``grow_trees`` takes it
        """
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
        grown = grow_trees(
            Cellar.of(columns, cells, self.cache_pairs, self.n_jobs),
            weight=weight,
            n_trees=self.n_estimators,
            limits=Limits(
                max_pairs=self.max_pairs,
                max_depth=self.max_depth,
                min_samples_split=self.min_samples_split,
                min_samples_leaf=self.min_samples_leaf,
                min_weight_fraction_leaf=self.min_weight_fraction_leaf,
                **self._tree_options(),
            ),
            bootstrap=self.bootstrap,
            keep_bag=self.oob_score,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **labels,
        )
        self.trees_ = grown.trees
        if self.ccp_alpha > 0:
            self.trees_ = prune_trees(grown.trees, self.ccp_alpha)
        self.in_bag_ = grown.in_bag
        if grown.in_bag is not None:
            unseen = grown.in_bag == 0
            self._warn_always_drawn(unseen)
            self._score_out_of_bag(self.trees_.leaves(cells, self.n_jobs), unseen, y)

    def _warn_always_drawn(self, unseen: np.ndarray) -> None:
        always = int((~unseen.any(axis=1)).sum())
        if always:
            warnings.warn(
                f"{type(self).__name__}(oob_score=True): {always} rows were drawn for every tree "
                "and cannot be judged; more trees would leave each row out of some.",
                LookalikeWarning,
                stacklevel=4,
            )

    # -- what can be asked -------------------------------------------------------------------------

    def _average(
        self, leaves: np.ndarray, votes: np.ndarray, use: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the mean over trees (those to be used) of the votes of their leaves."""
        total = np.zeros((len(leaves), votes.shape[1]))
        count = np.zeros(len(leaves))
        for t in range(leaves.shape[1]):
            vote = votes[self.trees_.offsets[t] + leaves[:, t]]
            if use is not None:
                vote = vote * use[:, t, None]
                count += use[:, t]
            total += vote
        if use is None:
            return total / leaves.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / count[:, None])  # NaN where every tree has seen the row

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
        random_state : None, int, RandomState or Generator

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def class_votes(value: np.ndarray, voting: str) -> np.ndarray:
    """Return what every leaf votes for, from the weights of its classes.

    "majority": the largest class (each of them, on a tie) with its share; "soft": all shares.

    Examples
    --------
    >>> import numpy as np
    >>> class_votes(np.array([[3.0, 1.0], [1.0, 1.0]]), "majority")
    array([[0.75, 0.  ],
           [0.5 , 0.5 ]])
    """
    shares = value / np.maximum(value.sum(axis=1, keepdims=True), 1e-300)
    if voting == "soft":
        return np.asarray(shares)
    most = shares.max(axis=1, keepdims=True)
    return np.where(shares >= most * (1 - 1e-12), shares, 0.0)
