"""Distances between ranks: the order of values counts, not their scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.vector import blocks_of
from lookalike.kernels import distances, fallback
from lookalike.kernels.first_use import pick, worth_compiling
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, are_self_pairs
from lookalike.measures.numeric import _NumericMeasure, matrix_tallies, plan, unit_rows
from lookalike.saving.fields import Array, Choice, Dims, Fields, Flag, Integer, require
from lookalike.table import LazyTable, Table

MAX_PAIR_CELLS = 2**20  # of single pairs that are compared in one go: 8 MB


@dataclass(eq=False, repr=False)
class Ranked(_NumericMeasure):
    """Compare rows by the order of their numbers, whatever the units.

    Each value is replaced by its rank among the fitted values (ties share the mean rank), so any
    increasing change of a column, such as taking logarithms, leaves every distance as it was. Use
    it when the scale of the columns means little; when distances in units matter use ``Vector``.

    Parameters
    ----------
    metric : {"cityblock", "euclidean", "chebyshev", "cosine"}
        Built on the rank difference of each column; cosine on the vectors of ranks.
    unseen : {"insertion", "paper"}
        How a new value counts. ``insertion``: as if it had been inserted and all ranks computed
        anew. ``paper``: the formula printed by Fernando and Webb [1]_, which agrees where all
        fitted values of a column differ from each other.
    scale : bool
        Divide ranks by the number of fitted rows; neighbors stay the same.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns
    scale_ : the median distance of fitted pairs, which becomes the similarity 1/2

    References
    ----------
    .. [1] Fernando, Webb (2017). SimUSF: an efficient and effective similarity measure that is
       invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> from lookalike.measures import Ranked
    >>> measure = Ranked().fit([[10.0], [20.0], [20.0], [40.0]])
    >>> measure.distance()[0]
    array([0. , 1.5, 1.5, 3. ])
    >>> measure.distance([[30.0]])
    array([[3. , 1.5, 1.5, 1. ]])
    """

    FIELDS: ClassVar[Fields] = {
        "unseen": Choice("insertion", "paper"),
        "scale": Flag(),
        "n_fitted_": Integer(1),
        "values_": RaggedOf("float64", "entries", finite=True),
        "upto_": RaggedOf("float64", "entries", finite=True),
    }
    ROWS: ClassVar[Fields] = {
        "value": Array("float64", "n", "entries"),
        "new": Array("float64", "n"),
    }

    CODED = "twice"

    metric: str = "cityblock"
    _: KW_ONLY
    unseen: str = "insertion"
    scale: bool = False
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every metric, and both ways to count new values."""
        metrics = "cityblock", "euclidean", "chebyshev", "cosine"
        return [*map(cls, metrics), cls(unseen="paper"), cls("euclidean", scale=True)]

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.layout_ = plan(table, type(self).__name__)
        x = self._numbers(table)
        # -0.0 + 0.0 is 0.0, so that the two are one value.
        self._fit_ranks(len(x), (np.unique(column + 0.0, return_counts=True) for column in x.T))

    def _fit_parts(self, table: LazyTable) -> None:
        self.layout_ = plan(table.like, type(self).__name__)
        tallies = matrix_tallies(table, self.layout_, type(self).__name__)
        self._fit_ranks(len(table), ((tally.values, tally.counts) for tally in tallies))

    def _fit_ranks(self, n: int, columns: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
        values, counts = zip(*columns, strict=True)
        self.n_fitted_ = n
        self.values_ = Ragged.of(list(values), np.float64)  # distinct fitted values of each column
        # How many fitted values lie at or below each of them.
        self.upto_ = Ragged.of([np.cumsum(count) for count in counts], np.float64)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        x = self._numbers(table).astype(np.float64) + 0.0
        twice: np.ndarray = np.empty(x.shape, self._code_type())
        for j in range(x.shape[1]):
            # Twice the fitted values below each cell, plus those equal to it: twice the mean rank
            # of tied values is an integer, which halves of ranks are not.
            values, upto = self.values_.row(j), np.append(0.0, self.upto_.row(j))
            ties = upto[:-1] + upto[1:]
            at = np.searchsorted(values, x[:, j])
            between = 2 * upto[at]
            if self.unseen == "paper":  # the tied rank of the lower neighbor, 0 below all of them
                between = np.append(0.0, ties + 1)[at]
            near = np.minimum(at, len(values) - 1)
            twice[:, j] = np.where(values[near] == x[:, j], ties[near], between)
        if self.metric == "cosine":  # vectors of ranks, counted from 1
            return Rows(seen, {"x": unit_rows(twice / 2 + 0.5)})
        return Rows(seen, {"twice": twice, "value": x, "new": (seen < 0).astype(np.float64)})

    @property
    def _largest(self) -> int:
        """Twice the largest rank, and the step of a new row."""
        return 2 * self.n_fitted_ + 1

    def _code_type(self) -> type:
        """Return the narrowest type for it."""
        return np.uint16 if self._largest < 2**16 else np.uint32

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return distances of every row of a to every row of b."""
        if self.metric == "cosine":
            return blocks_of("cosine", a.arrays["x"], b.arrays["x"])
        out = np.empty((len(a), len(b)))
        step, cells = self._step(a, b), out.size * len(self.layout_.owner)
        if step is not None and worth_compiling(distances.ranked_cityblock, cells):
            codes, sides = self._code_type(), (a.arrays["twice"], b.arrays["twice"])
            together = np.iinfo(codes).max // self._largest
            distances.ranked_cityblock(*sides, codes(step), together, out)
        else:
            each = [rows.arrays[name] for rows in (a, b) for name in ("twice", "value", "new")]
            write = pick(distances.ranked_block, fallback.ranked_block, cells)
            write(*each, distances.CODES[self.metric], out)
        return np.divide(out, self.n_fitted_, out=out) if self.scale else out

    def _step(self, a: Rows, b: Rows) -> int | None:
        """Return what unequal codes add to twice a difference; None where codes are not enough.

        Inserting a new value moves the ranks above it by one, so twice the difference of a new and
        a fitted row is larger by 1. Two new rows may hold equal values, which codes do not show.
        """
        news = [rows.arrays["new"] for rows in (a, b)]
        mixed = any(len(new) and new.min() != new.max() for new in news)
        both_new = all(new.any() for new in news)
        large = self._largest * len(self.layout_.owner) >= 2**31  # a sum would overflow
        if self.metric != "cityblock" or mixed or both_new or self.unseen == "paper" or large:
            return None
        return int(news[0].any() or news[1].any())

    def _unit(self) -> float:
        # Half of twice the difference of ranks; the distance of a new row is larger: still a bound.
        return 0.5 / self.n_fitted_ if self.scale else 0.5

    def pair_distances(self, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the distance of row left[i] of a to row right[i] of b."""
        if self.metric not in ("cityblock", "chebyshev"):
            return super().pair_distances(a, b, left, right)
        out = np.empty(len(left))
        for part in blocks(len(left), max(1, MAX_PAIR_CELLS // len(self.layout_.owner))):
            # Halves of integers, so that sums are the same in any order.
            differs = self._in_ranks(a[left[part]], b[right[part]])
            out[part] = differs.sum(axis=1) if self.metric == "cityblock" else differs.max(axis=1)
        if self.scale:
            out /= self.n_fitted_
        out[are_self_pairs(a, b, left, right)] = 0.0
        return out

    def _differences(self, a: Rows, b: Rows) -> np.ndarray:
        if self.metric == "cosine":
            return np.abs(a.arrays["x"] - b.arrays["x"])
        differs = self._in_ranks(a, b)
        return differs / self.n_fitted_ if self.scale else differs

    def _in_ranks(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the differences in ranks, not scaled; of one row, or of aligned ones."""
        extra = (a.arrays["new"] + b.arrays["new"])[:, None] / 2
        differs = np.abs(a.arrays["twice"].astype(float) - b.arrays["twice"]) / 2 + extra
        differs[a.arrays["value"] == b.arrays["value"]] = 0.0
        return differs

    def _check_parts(self, dims: Dims) -> None:
        super()._check_parts(dims)
        same = np.array_equal(self.values_.offsets, self.upto_.offsets)
        filled = (np.diff(self.values_.offsets) > 0).all()
        require(same and filled, "Ranked.upto_", "a rank for every value", "others")
        require(self.n_fitted_ == self.n_fitted_rows, "Ranked.n_fitted_", f"{self.n_fitted_rows}")

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like."""
        entries = len(self.layout_.owner)
        if self.metric == "cosine":
            return {"x": Array("float64", "n", entries + 1)}, {}
        codes = Array(self._code_type().__name__, "n", entries)
        return {"twice": codes, **self.ROWS}, {"entries": entries}
