"""What classifier and regressor of neighbors share: fitting, tuning, neighbors, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike._folds import assign_folds
from lookalike._params import AnyOf, AtLeast, OneOf, Rule
from lookalike.errors import InvalidInput, message
from lookalike.evaluate.vote import list_weights
from lookalike.measures.base import Measure
from lookalike.measures.explanation import Explanation
from lookalike.measures.lists import check_k
from lookalike.measures.rows import Rows
from lookalike.measures.source import Source
from lookalike.measures.task import MeasureTask
from lookalike.neighbors.graph import NeighborGraph
from lookalike.predict.mixins import NamedTargetMixin
from lookalike.table import Table, as_table

__all__ = ["TUNE", "NeighborPredictor"]

TUNE = "tune"
FOLDS = 5
LARGEST = 15  # the most neighbors that are tried


class NeighborPredictor(NamedTargetMixin, MeasureTask):
    """Base of the predictors that ask the nearest fitted rows."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "n_neighbors": AnyOf(AtLeast(1), OneOf(TUNE)),
        "weights": OneOf("uniform", "distance"),
    }
    REQUIRES_TARGET = True

    def __init__(
        self,
        measure: Measure | None = None,
        n_neighbors: int | str = 5,
        *,
        weights: str = "uniform",
        kinds: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- what classifier and regressor write -------------------------------------------------------

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the rows vote with, and the target as measures see it."""
        raise AssertionError("written by the subclasses")

    def _strata(self, votes: np.ndarray) -> np.ndarray | None:
        """Return the classes that are spread over all folds, if there are any."""
        raise AssertionError("written by the subclasses")

    def _answers_by_k(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the predictions of the first 1, 2, ... neighbors."""
        raise AssertionError("written by the subclasses")

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Return what is lost by predictions of shape (n, k) where the n votes are true."""
        raise AssertionError("written by the subclasses")

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep rows with a known target.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            For a measure that takes distances: the square matrix of them.
        y : array of n, or the name of a column
            A named column is taken out of the table. Gaps are an error.
        """
        source, target = self._read(X, y)
        votes, y_measure = self._learn_target(np.asarray(target))
        self._remember_target(X, source.table, y)
        if self.n_neighbors == TUNE:
            self.n_neighbors_ = self._tune(source, votes, y_measure)
        else:
            check_k(self.n_neighbors, len(source), type(self).__name__, False)
            self.n_neighbors_ = int(self.n_neighbors)
        self.measure_, self.rows_ = source.fit(y_measure)
        self.votes_ = votes
        self._remember_columns(X, source, self.measure_)
        return self

    def _tune(self, source: Source, votes: np.ndarray, y_measure: np.ndarray) -> int:
        """Return the k with the smallest error on held-out rows; the smaller one on ties."""
        who = f"{type(self).__name__}(n_neighbors={TUNE!r})"
        folds = assign_folds(self._strata(votes), len(source), FOLDS, self.random_state, who)
        # No fold may be asked for more neighbors than it has rows to learn from.
        k = min(LARGEST, len(folds) - int(np.bincount(folds).max()))
        losses = np.empty((len(source), k))
        for fold in range(int(folds.max()) + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            measure, rows = source.fit(y_measure, train)
            near = measure.nearest(source.ask(measure, train, test), rows, k).finish("last")
            answers = self._answers_by_k(votes[train][near.indices], self._weigh(measure, near))
            losses[test] = self._losses(answers, votes[test])
        self.cv_results_ = _summarize(losses, folds)
        return int(self.cv_results_["error"].argmin()) + 1

    def _weigh(self, measure: Measure, found: NeighborGraph) -> np.ndarray:
        farthest = np.inf if measure.traits.conversion == "ratio" else 1.0
        return list_weights(found.distances, self.weights, farthest)

    # -- neighbors ---------------------------------------------------------------------------------

    def _graph(self, X: Any, k: int | None = None) -> NeighborGraph:
        check_is_fitted(self, "measure_")
        if X is None:
            return self._nearest(self.rows_, k, np.arange(len(self.rows_)))
        return self._nearest(self._encode(X), k, None)

    def _nearest(self, queries: Rows, k: int | None, exclude: np.ndarray | None) -> NeighborGraph:
        """Return the nearest fitted rows; those to exclude are the queries' own positions."""
        own = exclude is not None
        k = self.n_neighbors_ if k is None else k
        check_k(k, len(self.rows_) - own, type(self).__name__, own)
        found = self.measure_.nearest(queries, self.rows_, int(k), exclude=exclude)
        return found.finish("last")

    def _encode(self, X: Any) -> Rows:
        """Return new rows encoded; a column with the target may be there, and is left out."""
        schema, name = self.measure_.schema_, self.target_
        if name is None or name in schema.aside:
            return self.measure_.encode(X)
        # A frozen measure has not heard of the target.
        wider = replace(schema, aside={**schema.aside, name: "the target"})
        table = as_table(X, wider, who=type(self).__name__)
        kept = [column for column in table.aside if column.name != name]
        return self.measure_.encode(Table(table.columns, kept, len(table), table.missing))

    def _ask(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the votes of the neighbors of each row, and what each counts for."""
        found = self._graph(X)
        return self.votes_[found.indices], self._weigh(self.measure_, found)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest fitted rows, as scikit-learn does: (distances, indices).

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; each is then left out of its own list, by its position.
        n_neighbors : int, optional
            None: as many as vote.
        return_distance : bool
            False: indices only. Pairs with nothing to compare come last, at distance inf.
        """
        graph = self._graph(X, n_neighbors)
        return (graph.distances, graph.indices) if return_distance else graph.indices

    def explain(self, x: Any, n_neighbors: int | None = None) -> list[tuple[int, Explanation]]:
        """Return the neighbors that decide about one row, nearest first, each with the reasons.

        Parameters
        ----------
        x : int or one row
            A position in the fitted rows, a record (dict), or a table of one row.
        n_neighbors : int, optional
            None: as many as vote.

        Returns
        -------
        list of (position in the fitted rows, Explanation)
        """
        check_is_fitted(self, "measure_")
        row, place = self._one(x)
        exclude = None if place is None else np.array([place])
        found = self._nearest(row, n_neighbors, exclude)
        return [
            (int(at), self.measure_.explain_rows(row, self.rows_[int(at) : int(at) + 1]))
            for at in found.indices[0]
        ]

    def _one(self, x: Any) -> tuple[Rows, int | None]:
        who = f"{type(self).__name__}.explain"
        if isinstance(x, int | np.integer) and not isinstance(x, bool):
            last = len(self.rows_) - 1
            if not 0 <= x <= last:
                raise InvalidInput(
                    message(who, f"a position from 0 to {last}", str(x), "Count rows from 0")
                )
            return self.rows_[int(x) : int(x) + 1], int(x)
        row = self._encode(x)
        if len(row) != 1:
            do = "Pass a position, a record, or a table of one row"
            raise InvalidInput(message(who, "one row", f"{len(row)} rows", do))
        return row, None


def _summarize(losses: np.ndarray, folds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the mean loss for each k, over all rows and in each fold.

    Parameters
    ----------
    losses : array of shape (n, largest k)
        What each row, held out, lost with 1, 2, ... neighbors.
    folds : array of n
    """
    parts = [losses[folds == fold].mean(axis=0) for fold in range(int(folds.max()) + 1)]
    return {
        "n_neighbors": np.arange(1, losses.shape[1] + 1),
        "error": losses.mean(axis=0),
        "fold_errors": np.array(parts),
    }
