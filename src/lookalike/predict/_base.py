"""What classifier and regressor share: fitting, tuning, neighbors, reasons."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lookalike._config import count_jobs
from lookalike._params import KINDS, N_JOBS, AnyOf, AtLeast, OneOf, Rule, check_params
from lookalike._random import RANDOM_STATE
from lookalike._save import Saved
from lookalike.errors import InvalidInput, message
from lookalike.evaluate.vote import list_weights
from lookalike.measures.base import Measure, check_k
from lookalike.measures.explanation import Explanation
from lookalike.measures.gower import Gower
from lookalike.measures.rows import Rows
from lookalike.measures.source import Source, read_source
from lookalike.neighbors.graph import NeighborGraph
from lookalike.predict._tune import deal, largest_k, summarize
from lookalike.table import Column, Kind, Schema, Table, as_table, read_table
from lookalike.table.targets import split_target

TUNE = "tune"


class _IsMeasure(Rule):
    """A measure, not its class and not its name."""

    def fits(self, value: Any) -> bool:
        return value is None or isinstance(value, Measure)

    def wants(self) -> str:
        return "a lookalike measure, or None for Gower()"

    def advice(self, value: Any) -> str:
        return "Pass an instance, for example measure=Gower() or measure=Vector()"


class _NeighborPredictor(Saved, BaseEstimator):
    """Base of the predictors that ask the nearest fitted rows."""

    PARAMS: ClassVar[dict[str, Rule]] = {
        "measure": _IsMeasure(),
        "n_neighbors": AnyOf(AtLeast(1), OneOf(TUNE)),
        "weights": OneOf("uniform", "distance"),
        "kinds": KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    measure: Measure | None
    n_neighbors: int | str
    weights: str
    kinds: Mapping[str, Any] | None
    random_state: Any
    n_jobs: int | None

    # -- what classifier and regressor write -------------------------------------------------------

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the rows vote with, and the target as measures are to see it."""
        raise AssertionError("written by the subclasses")

    def _groups(self, votes: np.ndarray) -> np.ndarray:
        """Return groups of rows that are spread over all folds."""
        raise AssertionError("written by the subclasses")

    def _answers_by_k(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the answers of the first 1, 2, ... neighbors."""
        raise AssertionError("written by the subclasses")

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Return what is lost by answers of shape (n, k) where the n votes are true."""
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
        check_params(self)
        count_jobs(self.n_jobs)
        who = type(self).__name__
        measure = Gower() if self.measure is None else self.measure
        source, target = read_source(measure, X, _one_axis(y, who), who, self.kinds, self.n_jobs)
        votes, shown = self._learn_target(np.asarray(target))
        self.target_: str | None = y if isinstance(y, str) else None
        self.target_kind_: Kind | None = _kind_of_target(X, source.table, y)
        if self.n_neighbors == TUNE:
            self.n_neighbors_ = self._tune(source, votes, shown)
        else:
            check_k(self.n_neighbors, len(source), who, False)
            self.n_neighbors_ = int(self.n_neighbors)
        self.measure_, self.rows_ = source.fit(shown)
        self.votes_ = votes
        self.n_features_in_ = self.measure_.n_features_in_
        if isinstance(X, Table | dict) or hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(source.table.names, dtype=object)
        return self

    def _tune(self, source: Source, votes: np.ndarray, shown: np.ndarray) -> int:
        """Return the k with the smallest error on rows that were held out; the fewer on ties."""
        folds = deal(self._groups(votes), self.random_state, type(self).__name__)
        k = largest_k(folds)
        losses = np.empty((len(source), k))
        for fold in range(int(folds.max()) + 1):
            known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            measure, rows = source.fit(shown, known)
            found = measure.nearest(source.ask(measure, known, held), rows, k).finish("last")
            answers = self._answers_by_k(votes[known][found.indices], self._weigh(measure, found))
            losses[held] = self._losses(answers, votes[held])
        self.cv_results_ = summarize(losses, folds)
        return int(self.cv_results_["error"].argmin()) + 1

    def _weigh(self, measure: Measure, found: NeighborGraph) -> np.ndarray:
        farthest = np.inf if measure.traits.conversion == "ratio" else 1.0
        return list_weights(found.distances, self.weights, farthest)

    # -- neighbors ---------------------------------------------------------------------------------

    def _graph(self, X: Any, k: int | None = None) -> NeighborGraph:
        check_is_fitted(self, "measure_")
        own = X is None
        queries = self.rows_ if own else self._encode(X)
        wanted = self.n_neighbors_ if k is None else k
        check_k(wanted, len(self.rows_) - own, type(self).__name__, own)
        exclude = np.arange(len(queries)) if own else None
        found = self.measure_.nearest(queries, self.rows_, int(wanted), exclude=exclude)
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
        own = place is not None
        wanted = self.n_neighbors_ if n_neighbors is None else n_neighbors
        check_k(wanted, len(self.rows_) - own, type(self).__name__, own)
        exclude = np.array([place]) if own else None
        found = self.measure_.nearest(row, self.rows_, int(wanted), exclude=exclude).finish("last")
        return [
            (int(at), self.measure_._explain(row, self.rows_[int(at) : int(at) + 1]))
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

    # -- scoring and scikit-learn ------------------------------------------------------------------

    def _true_target(self, X: Any, y: Any) -> Any:
        """Return the target as an array; a name is looked up in X and read as it was in fit."""
        if not isinstance(y, str):
            return y
        who = f"{type(self).__name__}.score"
        column = read_table(X)[y]
        if self.target_kind_ is not None and y == self.target_:
            column = as_table(Table([column]), Schema({y: self.target_kind_}), who=who)[y]
        # A table without compared columns is fine here: only its target is read.
        return split_target(Table([column]), y, who)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        measure = Gower() if self.measure is None else self.measure
        if isinstance(measure, Measure):
            inner = get_tags(measure).input_tags
            for name in ("allow_nan", "categorical", "string", "pairwise", "positive_only"):
                setattr(tags.input_tags, name, getattr(inner, name))
        return tags


def _one_axis(y: Any, who: str) -> Any:
    """Return y as it can be split off; a column of one is flattened, and said so."""
    if y is None:
        raise InvalidInput(
            message(
                f"{who}.fit",
                "a target (it requires y to be passed, but the target y is None)",
                "y=None",
                "Pass y as an array of n values or as the name of a column",
            )
        )
    if isinstance(y, str):
        return y
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. "
            f"{who}.fit reads it as {len(target)} values; pass y.ravel() to silence this.",
            DataConversionWarning,
            stacklevel=3,
        )
        return target[:, 0]
    return target


def _kind_of_target(X: Any, table: Table, y: Any) -> Kind | None:
    """Return the kind under which a named target was read, so that it is read alike again."""
    if not isinstance(y, str):
        return None
    column: Column | None = next((c for c in table.aside if c.name == y), None)
    return column.kind if column is not None else read_table(X)[y].kind
