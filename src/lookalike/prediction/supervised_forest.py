"""Forests of similarity trees that are grown with a target: growing, votes, importances."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, LookalikeWarning, Param
from lookalike.prediction.mixins import NamedTargetMixin
from lookalike.prediction.tree_forest import TreeForest
from lookalike.saving.fields import (
    INT64,
    Array,
    Either,
    Fields,
    Flag,
    Integer,
    Maybe,
    Real,
    Saved,
    Sometimes,
    Text,
)
from lookalike.table import Table
from lookalike.table.model.targets import check_sample_weight, require_target
from lookalike.trees.cells.columns import CellCache
from lookalike.trees.cells.growing import Goal, Limits, Sampling, grow_trees
from lookalike.trees.cells.trees import prune_trees


class SupervisedForest(NamedTargetMixin, TreeForest, abstract=True):
    """Forests that are grown with a target."""

    FIELDS: ClassVar[Fields] = {
        "max_features": Either(Real(0.0, 1.0, open_low=True), Integer(1)),
        "max_pairs": Integer(1),
        "max_depth": Maybe(Integer(1)),
        "min_samples_split": Integer(2),
        "min_samples_leaf": Integer(1),
        "min_weight_fraction_leaf": Real(0.0, 0.5),
        "bootstrap": Flag(),
        "oob_score": Flag(),
        "ccp_alpha": Real(0.0),
        "cache_pairs": Integer(0, INT64),
        "target_": Maybe(Text()),
        "target_kind_": Maybe(Saved("Kind")),
        "in_bag_": Maybe(Array("uint8", "rows", "trees")),
        "feature_importances_": Sometimes(Array("float64", "columns")),
        "oob_score_": Sometimes(Real(nan=True)),
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
        labels : the target as ``Goal`` takes it
        """
        if self.oob_score and not self.bootstrap:
            raise InvalidInput(
                Param("oob_score", True, of=type(self).__name__),
                (Param("bootstrap", True), ", as only then are rows left out of a tree"),
                Param("bootstrap", False),
                "Leave one of them out",
            )
        columns, cells = self._fit_columns(table)
        grown = grow_trees(
            CellCache.of(columns, cells, self.cache_pairs, self.n_jobs),
            Goal(weight=weight, **labels),
            self.n_estimators,
            limits=Limits(
                max_pairs=self.max_pairs,
                max_depth=self.max_depth,
                min_samples_split=self.min_samples_split,
                min_samples_leaf=self.min_samples_leaf,
                min_weight_fraction_leaf=self.min_weight_fraction_leaf,
                **self._tree_options(),
            ),
            sampling=Sampling(bootstrap=self.bootstrap),
            keep_bag=self.oob_score,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.trees_ = grown.forest
        if self.ccp_alpha > 0:
            self.trees_ = prune_trees(grown.forest, self.ccp_alpha)
        self.in_bag_ = grown.in_bag
        if grown.in_bag is not None:
            unseen = grown.in_bag == 0
            self._warn_always_drawn(unseen)
            self._score_out_of_bag(self.trees_.leaves(cells, self.n_jobs), unseen, y)

    def _warn_always_drawn(self, unseen: np.ndarray) -> None:
        always = int((~unseen.any(axis=1)).sum())
        if always:
            warnings.warn(
                LookalikeWarning(
                    "out-of-bag score",
                    "trees that were grown without the row",
                    (Param("n_samples", always), " drawn for every tree, which cannot be judged"),
                    ("Raise ", Param("n_estimators")),
                ),
                stacklevel=4,
            )

    # -- what can be asked -------------------------------------------------------------------------

    def _mean_votes(self, cells: tuple[Cells, ...], votes: np.ndarray) -> np.ndarray:
        """Return the mean over trees of the votes of the leaves of encoded rows."""
        return self.trees_.sum_votes(cells, votes, self.n_jobs) / self.trees_.n_trees

    def _mean_unseen(self, leaves: np.ndarray, votes: np.ndarray, use: np.ndarray) -> np.ndarray:
        """Return the mean over the trees to be used of the votes of their leaves."""
        total = np.zeros((len(leaves), votes.shape[1]))
        count = np.zeros(len(leaves))
        for t in range(leaves.shape[1]):
            vote = votes[self.trees_.offsets[t] + leaves[:, t]]
            total += vote * use[:, t, None]
            count += use[:, t]
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
