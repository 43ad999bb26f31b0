"""Base classes of hubness reducers: they wrap a measure and are measures themselves.

A reducer stores a few facts about each row (a scale, a mean, a list) beside the rows of the inner
measure, so it streams: new rows get their facts from the fitted ones, and no matrix is stored.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.estimator import clone
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.explanation import Explanation, ratio, rescaled, shared_out
from lookalike.measures.contract.matrices import fixed_sample
from lookalike.measures.contract.rows import Ids, Rows, check_k, name_rows
from lookalike.measures.names import IsMeasure, as_measure
from lookalike.measures.vector import Vector
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Dims, Fields, Integer, Maybe, Saved, require
from lookalike.table import Table

Facts = Mapping[str, np.ndarray]

INNER = "measure"
ROWS_PER_BLOCK = 256  # re-ranked by one thread at a time (chosen by hand)


class _Reducer(Measure):
    """Base of the measures that reduce the hubness of another one."""

    FIELDS: ClassVar[Fields] = {
        "measure": IsMeasure(none=""),
        "n_neighbors": Integer(1),
        "n_candidates": Maybe(Integer(1)),
        "measure_": Saved("Measure"),
    }

    NATIVE: ClassVar[tuple[str, str]] = ("similarity", "one_minus")

    measure: Measure | str
    n_candidates: int | None
    n_jobs: int | None

    @property
    def given_measure(self) -> Measure:
        """The measure that was given, or the one of this name."""
        return as_measure(self.measure, type(self).__name__)

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Traits of the inner measure, but for what the reducer changes."""
        native, conversion = self.NATIVE
        # Weights would change the neighborhoods that facts of rows were computed from.
        changed: dict[str, Any] = {"exact_self": True, "weighs_columns": False}
        inner = self.given_measure.traits
        return replace(inner, native=native, conversion=conversion, **changed)

    def _why_fixed_weights(self) -> tuple[str, str]:
        gower = Param("measure", "gower")
        hint = Phrase("Weigh the columns of the inner measure, or use ", gower, " alone")
        return "whose neighborhood statistics hold for the fitted weights only", hint

    def read(self, X: Any) -> Table:
        """Read data as the inner measure does."""
        return self.given_measure.read(X)

    def read_new(self, X: Any) -> Table:
        """Read new rows as the inner measure does."""
        return self.measure_.read_new(X)

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.measure_ = clone(self.given_measure).fit(table, y)
        self.n_features_in_ = self.measure_.n_features_in_
        n = len(self.measure_.rows_)
        # A frozen measure ignores fit: its rows must be these, or facts of rows would not match.
        if n != len(table):
            needed = f"the {n} rows that the frozen {type(self.measure_).__name__} was fitted to"
            hint = "Fit it to the same rows, or pass a measure that is not frozen"
            raise InvalidInput(f"{type(self).__name__}.fit", needed, f"{len(table)} rows", hint)
        if hasattr(self, "n_neighbors"):
            check_k(self.n_neighbors, n - 1, type(self).__name__, True)
        self._learn(n)

    def _learn(self, n: int) -> None:
        """Learn what is needed before rows can be encoded."""

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        inner = self.measure_.encode(table, seen)
        return Rows(seen, self._facts(inner), {INNER: inner})

    @abstractmethod
    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        """Return the facts about each row: arrays with one entry per row."""

    def _near(self, inner: Rows, k: int) -> NeighborGraph:
        """Return the k fitted rows nearest to each row by the inner measure, without itself."""
        return self.measure_.nearest(inner, self.measure_.rows_, k, exclude=inner.seen).finish()

    # -- candidates --------------------------------------------------------------------------------

    def nearest(
        self, a: Rows, b: Rows, k: int, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists; with ``n_candidates`` from the inner measure's nearest only."""
        if self.n_candidates is None:
            return super().nearest(a, b, k, exclude=exclude, ids=ids)
        exclude, ids, n_indexed = name_rows(a, b, exclude, ids)
        # Candidates are positions in b, which facts are looked up by; ids are put in at the end.
        position = {int(id): row for row, id in enumerate(ids)}
        barred = np.array([position.get(int(id), -1) for id in exclude], dtype=np.int64)
        candidates = self.measure_.nearest(
            a.parts[INNER], b.parts[INNER], max(k, self.n_candidates), exclude=barred
        )
        lists = NeighborGraph.empty(len(a), k, n_indexed, bool((exclude < 0).any()))

        def rank_block(part: slice) -> None:
            near = candidates[part]
            values = self._candidates(a[part], b, near)
            values[near.indices < 0] = np.inf
            names = np.where(near.indices < 0, -1, ids[near.indices])
            keep_best(values, names, lists[part])

        parts = [(part,) for part in blocks(len(a), ROWS_PER_BLOCK)]
        run(rank_block, parts, self.n_jobs, "ranking candidates")
        return lists.shifted(self.order_shift)

    def _candidates(self, a: Rows, b: Rows, near: NeighborGraph) -> np.ndarray:
        """Return what the candidates of each row of a, among the rows of b, are sorted by."""
        values = np.full(near.indices.shape, np.inf)
        for i, rows in enumerate(near.indices):
            some = np.flatnonzero(rows >= 0)
            values[i, some] = self.order_block(a[i : i + 1], b[rows[some]])[0]
        return values

    # -- explanations ------------------------------------------------------------------------------

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        s = float(self.block(a, b, "similarity")[0, 0])
        d = float(self.block(a, b, "distance")[0, 0])
        inner = self.measure_.explain_rows(a.parts[INNER], b.parts[INNER])
        factors = {"d": inner.distance, **self._factors(a, b, inner.distance)}
        # The reasons of the inner measure, scaled so that they add up to the reduced similarity.
        scales = ratio(s, sum(inner.plus.values())), ratio(1 - s, sum(inner.minus.values()))
        return Explanation(
            s, d, shared_out(s, inner.plus), shared_out(1 - s, inner.minus), factors,
            {INNER: inner}, inner.cells, rescaled(inner.baseline, *scales), inner.surprisal,
            inner.not_compared, {name: scales[1] * most for name, most in inner.reach.items()},
        )  # fmt: skip

    FACTORS: ClassVar[tuple[str, str]] = ("", "")  # a fact of each row, and its symbol

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        """Return the numbers that changed the distance d of the inner measure."""
        fact, symbol = self.FACTORS
        pairs = (("x", a), ("y", b))
        return {symbol.format(name): float(rows.arrays[fact][0]) for name, rows in pairs}

    # -- loading -----------------------------------------------------------------------------------

    def _check_parts(self, dims: Dims) -> None:
        who, inner = f"{type(self).__name__}.measure_", self.measure_
        fits = len(inner.rows_) == len(self.rows_)
        require(fits, who, f"a measure fitted to {len(self.rows_)} rows", "another")
        # Traits as well: a forged file could hold another measure of the same class.
        given = self.given_measure
        same = type(inner) is type(given) and inner.traits == given.traits
        require(same, who, f"a fitted {type(given).__name__}", type(inner).__name__)

    def inner_measures(self) -> dict[str, Measure]:
        """Return the inner measure."""
        return {INNER: self.measure_}


@dataclass(eq=False, repr=False)
class _Local(_Reducer):
    """Base of the reducers that look at the neighborhood of each row."""

    measure: Measure | str
    n_neighbors: int = 10
    n_candidates: int | None = field(default=None, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return small instances for the shared tests."""
        return [cls(Vector(), n_neighbors=2)]

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        return {self.FACTORS[0]: self._fact_of(self._near(inner, self.n_neighbors))}

    def _fact_of(self, lists: NeighborGraph) -> np.ndarray:
        """Return the fact of each row that follows from its k nearest: their mean distance."""
        return mean_of_lists(lists.distances)


class _Scaled(_Reducer):
    """Base of the reducers whose value is a function of the distance and facts of both rows."""

    @abstractmethod
    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        """Return native values; facts of b have shape (1, columns) or the shape of d."""

    def _order(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        """Return native values minus ``order_shift``: what lists are sorted by."""
        return self._scaled(d, back, a, b)

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return native values of every row of a against every row of b."""
        d, back = self._distances(a, b)
        return self._scaled(d, back, a.arrays, {name: v[None] for name, v in b.arrays.items()})

    def _distances(self, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
        d = self.measure_.block(a.parts[INNER], b.parts[INNER])
        return d, d

    def _candidates(self, a: Rows, b: Rows, near: NeighborGraph) -> np.ndarray:
        # From the distances of the lists: the inner measure need not compare the pairs again.
        values = self._rescaled(near, a.arrays, b.arrays)
        own = (a.seen[:, None] == b.seen[near.indices]) & (a.seen[:, None] >= 0)
        return np.where(own, 0.0 - self.order_shift, values)

    def _rescaled(self, near: NeighborGraph, a: Facts, b: Facts) -> np.ndarray:
        """Return what the pairs of a neighbor list are sorted by, from its own distances."""
        facts = {name: v[near.indices] for name, v in b.items()}
        d = near.distances.copy()
        d[near.indices < 0] = np.nan
        values = self._order(d, d, a, facts)
        return 1.0 - values if self.traits.native == "similarity" else values


def keep_best(values: np.ndarray, names: np.ndarray, lists: NeighborGraph) -> None:
    """Sort each row of candidates by (distance, id), undefined last, and keep the best."""
    values = np.where(np.isnan(values), np.inf, values)
    # Empty entries (-1) must stay behind candidates at an infinite distance.
    last = np.where(names < 0, np.iinfo(np.int64).max, names)
    order = np.lexsort((last, values))[:, : lists.k]
    lists.distances[:, : order.shape[1]] = np.take_along_axis(values, order, axis=1)
    lists.indices[:, : order.shape[1]] = np.take_along_axis(names, order, axis=1)


def mean_of_lists(distances: np.ndarray) -> np.ndarray:
    """Return the mean of each row."""
    # Column by column: numpy's pairwise sum depends on the memory layout, and with it the last bit
    # on how many rows are encoded together (decision 3).
    total = np.zeros(len(distances))
    for column in distances.T:
        total += column
    return total / distances.shape[1]


def farthest(measure: Measure) -> float:
    """Return the largest distance of a fixed sample of fitted rows to all of them.

    Exact up to 128 rows; above, for a metric, at least half of the largest (triangle inequality).
    """
    sample = measure.rows_[fixed_sample(len(measure.rows_))]
    return max(float(d[np.isfinite(d)].max(initial=0.0)) for _, d in measure.scan(sample))
