"""Rows as points: the classic distances, exact to the last bit whatever the block or thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.columns.vector import blocks_of, pairs_of
from lookalike.errors import InvalidInput, Param
from lookalike.kernels.distances import CODES
from lookalike.kernels.lists import center_block, decide
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Named, Rows, are_self_pairs
from lookalike.measures.numeric import METRICS, _NumericMeasure, plan, unit_rows
from lookalike.neighbors.exact import Fill, cut
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import Sketch, point_sketch
from lookalike.saving.fields import Array, Choice, Dims, Fields
from lookalike.table import LazyTable, Table

EPS = float(np.finfo(np.float64).eps)
ROWS_PER_SUM = 2**16  # a fixed number, so that sums in memory and out of core have the same bits
Parts = Callable[[], Iterator[np.ndarray]]  # the matrix of all rows, some rows at a time


@dataclass(eq=False, repr=False)
class Vector(_NumericMeasure):
    """Compare the number columns of rows as points in space.

    Use it when the columns share a unit, or with ``scale`` when they do not. When scales mean
    little use ``Ranked``; when there are categories or gaps use ``Gower``.

    Parameters
    ----------
    metric : {"euclidean", "cityblock", "cosine", "chebyshev"}
        ``cosine`` is 1 - cos; a row of zeros is at distance 1 from every other row and 0 from
        another row of zeros.
    scale : None, "minmax" or "standard"
        Divide each column by its fitted range or standard deviation (a constant column is only
        shifted), so that no column weighs more for its unit.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns
    scale_ : the median distance of fitted pairs, which becomes the similarity 1/2

    Notes
    -----
    Similarity is ``scale_ / (scale_ + distance)``. For Euclidean and cosine distances a float32
    matrix product proposes candidates within a proven error bound and the pair kernel decides, so
    neighbors are those of the exact distances.

    Examples
    --------
    >>> from lookalike.measures import Vector
    >>> measure = Vector("cityblock").fit([[0.0, 0.0], [1.0, 2.0], [5.0, 5.0]])
    >>> measure.kneighbors([[0.0, 1.0]], n_neighbors=2)
    (array([[1., 2.]]), array([[0, 1]]))
    """

    FIELDS: ClassVar[Fields] = {
        "scale": Choice(None, "minmax", "standard"),
        "shift_": Array("float64", "entries", finite=True),
        "unit_": Array("float64", "entries", finite=True),
    }
    ROWS: ClassVar[Fields] = {"x": Array("float64 float32", "n", "entries")}

    metric: str = "euclidean"
    _: KW_ONLY
    scale: str | None = None
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every metric, and both scalings."""
        return [*map(cls, METRICS), *(cls(scale=scale) for scale in ("minmax", "standard"))]

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.layout_ = plan(table, type(self).__name__)
        x = self._numbers(table).astype(np.float64, copy=False)
        self._fit_scale(lambda: (x[part] for part in blocks(len(x), ROWS_PER_SUM)))

    def _fit_parts(self, table: LazyTable) -> None:
        self.layout_ = plan(table.like, type(self).__name__)

        def parts() -> Iterator[np.ndarray]:
            for part in table.batches(ROWS_PER_SUM, self.layout_.names):
                yield self._numbers(part).astype(np.float64, copy=False)

        self._fit_scale(parts)

    def _fit_scale(self, parts: Parts) -> None:
        """Learn what is subtracted from each column, and what it is divided by then."""
        width = len(self.layout_.owner)
        self.shift_, self.unit_ = np.zeros(width), np.ones(width)
        if self.scale is None:
            return
        sizes, lows, highs = zip(*((len(x), x.min(0), x.max(0)) for x in parts()), strict=True)
        n, low, high = sum(sizes), np.min(lows, axis=0), np.max(highs, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            span = high - low
            shift, unit = low, span
            if self.scale == "standard":
                # Parts are cut at the same rows wherever the table is: the sums are the same.
                shift = sum(x.sum(axis=0) for x in parts()) / n
                unit = np.sqrt(sum(((x - shift) ** 2).sum(axis=0) for x in parts()) / n)
        # Values that agree but for the last bit are a constant that was computed in two ways; its
        # deviation would blow up that bit to the weight of a real column.
        constant = span <= EPS * np.maximum(np.abs(low), np.abs(high))
        # Squares of very large numbers overflow, and those of very small ones vanish.
        fits = np.isfinite(span) & (constant | (np.isfinite(unit) & (unit > 0)))
        bad = np.flatnonzero(~fits)
        if len(bad):
            given = Param("scale", self.scale, of=type(self).__name__)
            found = f"{low[bad[0]]:g} to {high[bad[0]]:g} in column {self.layout_.owner[bad[0]]!r}"
            hint = "Divide the column by a constant"
            raise InvalidInput(given, "columns of finite range and deviation", found, hint)
        self.shift_ = np.where(constant, low, shift)
        self.unit_ = np.where(constant, 1.0, unit)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        x = self._numbers(table)
        if self.scale is not None:  # without, float32 rows stay float32
            x = (x - self.shift_) / self.unit_
        if self.metric == "cosine":
            x = unit_rows(x)
        return Rows(seen, {"x": x})

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return distances of every row of a to every row of b."""
        return blocks_of(self.metric, a.arrays["x"], b.arrays["x"])

    def _plain(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Search by matrix products where these propose the nearest rows."""
        few_columns = a.arrays["x"].shape[1] < 8  # brute force is as fast there
        # The k-th distance of a list of an eighth of all rows rules out hardly any of the others.
        if self.metric not in ("euclidean", "cosine") or few_columns or k > len(b) // 8:
            return super()._plain(a, b, k, named)
        fill = _fill_by_products(a, b, named, self.metric)
        return self._search(fill, a, b, k, named, tall=512)

    def sketch(self, rows: Rows) -> Sketch | None:
        """Return points in single precision; none for "chebyshev", where bytes are quicker."""
        if self.metric == "chebyshev":
            return None
        # Rows have length 1 with "cosine": the order of directions is that of Euclidean distances.
        metric = "cityblock" if self.metric == "cityblock" else "euclidean"
        return point_sketch(rows.arrays["x"], metric)

    def pairs_within(self, a: Rows, b: Rows, limit: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the positions (left, right) of all pairs whose distance is at most a limit.

        In the order of rows of a, then of b. A matrix product rules out the others; None where
        that is no quicker than ``block``.

        Parameters
        ----------
        a, b : Rows
        limit : float
        """
        if self.metric not in ("euclidean", "cosine") or a.arrays["x"].shape[1] < 8:
            return None
        x, y = a.arrays["x"], b.arrays["x"]
        unit, columns = 2.0**-24, x.shape[1]
        # What a float32 product cannot rule out, with the margins of ``decide``.
        with np.errstate(all="ignore"):  # an overflow only makes the pair a candidate
            # The error of float32 grows with the norms: centered rows have the smallest ones.
            center = y.mean(axis=0, dtype=np.float64)
            sides = [(side - center).astype(np.float32) for side in (x, y)]
            norms = [np.sqrt(np.einsum("ij,ij->i", side, side, dtype=np.float64)) for side in sides]
            reach = norms[0] + norms[1].max(initial=0.0)
            margin = (0.5 * columns + 8.0) * unit * reach * reach
            margin[~((reach > 1e-15) & (reach < 1e15))] = np.inf  # beyond the squares of float32
            square = 2.0 * limit if self.metric == "cosine" else limit * limit
            square = square * (1.0 + 4.0 * (columns + 4) * 2.0**-53)
            top = (square + margin - norms[0] * norms[0]).astype(np.float32)
            top = np.nextafter(top, np.float32(np.inf))
            product = sides[0] @ sides[1].T
            product *= np.float32(-2.0)
            product += (norms[1] * norms[1]).astype(np.float32)
            left, right = np.nonzero(~(product > top[:, None]))
        near = self.pair_distances(a, b, left, right) <= limit
        return left[near], right[near]

    def pair_distances(self, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the distance of row left[i] of a to row right[i] of b."""
        out = pairs_of(self.metric, a.arrays["x"], b.arrays["x"], left, right)
        out[are_self_pairs(a, b, left, right)] = 0.0
        return out

    def _differences(self, a: Rows, b: Rows) -> np.ndarray:
        return np.abs(a.arrays["x"].astype(float) - b.arrays["x"])

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like: a direction for rows of zeros behind the entries."""
        return self.ROWS, {"entries": len(self.layout_.owner) + (self.metric == "cosine")}


def _fill_by_products(a: Rows, b: Rows, named: Named, metric: str) -> Fill:
    """Return a fill: float32 products rule rows out within their error, float64 pairs decide."""
    barred, names, _ = named
    x, y = a.arrays["x"], b.arrays["x"]
    # Distances do not change when all rows are moved, but the error of float32 grows with norms.
    with np.errstate(over="ignore", invalid="ignore"):  # any point will do
        center = y[:: max(1, len(y) // 1024)].mean(axis=0, dtype=np.float64)
    width = 1024

    def fill(queries: slice, candidates: slice, lists: NeighborGraph) -> None:
        rows = x[queries]
        left, left_norms = np.empty(rows.shape, np.float32), np.empty(len(rows))
        center_block(rows, center, left, left_norms)
        right, right_norms = np.empty((width, x.shape[1]), np.float32), np.empty(width)
        for part in cut(candidates, width):
            n = part.stop - part.start
            center_block(y[part], center, right[:n], right_norms[:n])
            with np.errstate(all="ignore"):  # an overflow only makes the pair a candidate
                product = left @ right[:n].T
            decide(
                product, rows, y[part], left_norms, right_norms[:n], names[part], barred[queries],
                CODES[metric], lists.distances, lists.indices,
            )  # fmt: skip

    return fill
