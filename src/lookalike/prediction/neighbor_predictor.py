"""What classifier and regressor of neighbors share: fitting, tuning, neighbors, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike.errors import InvalidInput
from lookalike.evaluate.vote import WEIGHTS, list_weights
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.measures.task import MeasureTask, Source, check_task_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.prediction.mixins import NamedTargetMixin
from lookalike.prediction.neighbor_tuning import TUNE, held_out_losses, summarize
from lookalike.saving.fields import (
    Anything,
    Array,
    Choice,
    Dims,
    Either,
    Fields,
    Integer,
    Maybe,
    Saved,
    Sometimes,
    Text,
    require,
)
from lookalike.table import Table, as_table
from lookalike.table.model.targets import check_sample_weight


class NeighborPredictor(NamedTargetMixin, MeasureTask, abstract=True):
    """Base of the predictors that ask the nearest fitted rows."""

    FIELDS: ClassVar[Fields] = {
        "n_neighbors": Either(Integer(1), Choice(TUNE)),
        "weights": Choice(*WEIGHTS, TUNE),
        "target_": Maybe(Text()),
        "target_kind_": Maybe(Saved("Kind")),
        "measure_": Saved("Measure"),
        "rows_": Saved("Rows"),
        "n_neighbors_": Integer(1),
        "weights_": Choice(*WEIGHTS),
        "sample_weight_": Array("float64", "rows", finite=True, low=0),
        "votes_": Array("int64 float64", "rows"),
        "cv_results_": Sometimes(Anything()),
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

    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the predictions from the votes of neighbors and what each counts for."""
        raise AssertionError("written by the subclasses")

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Return what is lost by n predictions where the n votes are true."""
        raise AssertionError("written by the subclasses")

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep rows with a known target.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            For a measure that takes distances: the square matrix of them.
        y : array of n, or the name of a column
            A named column is taken out of the table. Gaps are an error.
        sample_weight : array of n, or one number, optional
            What the vote of each row counts, and its error where something is tuned. A row of
            weight 0 keeps its place among the neighbors, without a vote; where no neighbor has a
            vote, all count alike.
        """
        source, target = self._read(X, y)
        votes, y_measure = self._learn_target(np.asarray(target))
        self._remember_target(X, source.table, y)
        who = type(self).__name__
        self.sample_weight_ = check_sample_weight(sample_weight, len(source), who)
        if self.n_neighbors != TUNE:
            check_k(self.n_neighbors, len(source), who, False)
        self.__dict__.pop("cv_results_", None)  # of an earlier fit that tuned
        if TUNE in (self.n_neighbors, self.weights):
            self.n_neighbors_, self.weights_ = self._tune(source, votes, y_measure)
        else:
            self.n_neighbors_, self.weights_ = int(self.n_neighbors), self.weights
        self.measure_, self.rows_ = source.fit(y_measure)
        self.votes_ = votes
        self._remember_columns(X, source, self.measure_)
        return self

    def _tune(self, source: Source, votes: np.ndarray, y_measure: np.ndarray) -> tuple[int, str]:
        """Return the k and the weights with the smallest error on held-out rows."""
        asked = [f"{name}={TUNE!r}" for name in ("n_neighbors", "weights")]
        asked = [word for word in asked if getattr(self, word.partition("=")[0]) == TUNE]

        def lose(
            measure: Measure, lists: NeighborGraph, train: np.ndarray, test: np.ndarray, word: str
        ) -> np.ndarray:
            near = train[lists.indices]
            counted = self._count(measure, lists, word, self.sample_weight_[near])
            return self._losses(self._answers(votes[near], counted), votes[test])

        choices, losses, folds = held_out_losses(
            source,
            self._strata(votes),
            y_measure,
            self.n_neighbors,
            self.weights,
            self.random_state,
            f"{type(self).__name__}({', '.join(asked)})",
            lose,
        )
        self.cv_results_ = summarize(choices, losses, folds, self.sample_weight_)
        return choices[int(self.cv_results_["error"].argmin())]

    @staticmethod
    def _count(
        measure: Measure, lists: NeighborGraph, word: str, sample_weight: np.ndarray
    ) -> np.ndarray:
        """Return what each neighbor counts for: by its distance, times its own weight."""
        farthest = np.inf if measure.traits.conversion == "ratio" else 1.0
        counted = list_weights(lists.distances, word, farthest) * sample_weight
        silent = ~counted.any(axis=1)
        counted[silent] = 1.0
        return counted

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
        counted = self._count(
            self.measure_, found, self.weights_, self.sample_weight_[found.indices]
        )
        return self.votes_[found.indices], counted

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
                raise InvalidInput(who, f"a position from 0 to {last}", str(x), "Count rows from 0")
            return self.rows_[int(x) : int(x) + 1], int(x)
        row = self._encode(x)
        if len(row) != 1:
            hint = "Pass a position, a record, or a table of one row"
            raise InvalidInput(who, "one row", f"{len(row)} rows", hint)
        return row, None

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that rows fit the measure and every row has a vote."""
        check_task_rows(self, dims["rows"])
        fits = self.n_neighbors_ <= dims["rows"]
        require(fits, f"{type(self).__name__}.n_neighbors_", f"at most {dims['rows']}", "more")
