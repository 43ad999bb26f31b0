"""Rows and queries as bytes, and lower bounds of the differences between them.

See ``neighbors.codes``, which searches by these bounds, and decision 13.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, ROOT, SKIP, SQUARE, STEPS, TILE_ROWS

ROWS_PER_TASK = 8 * TILE_ROWS  # rows whose codes are made together

Cells = tuple[np.ndarray, np.ndarray | None]  # codes of some rows, and a mask of missing cells


@dataclass(frozen=True, eq=False)
class ByteCodes:
    """Rows as bytes, in tiles of 1,024 rows; the cells of a column are contiguous in a tile.

    Parameters
    ----------
    tiles : uint8 array of shape (tiles, columns, 1024)
        255 is a missing cell in the columns of ``gaps``; bytes past the last row are padding.
    n_rows : int
    gaps : bool array, which columns have a missing cell
    """

    tiles: np.ndarray
    n_rows: int
    gaps: np.ndarray

    @classmethod
    def make(cls, n: int, width: int, part_of: Callable[[slice], Cells]) -> ByteCodes:
        """Return the codes of n rows, made some tiles at a time, in parallel.

        Parameters
        ----------
        n, width : int, how many rows and columns
        part_of : callable from a slice of the rows to (uint8 array, mask of missing cells)
            None instead of the mask: no cell is missing.
        """
        # Column by column within a tile, so that kernels vectorize their loop over its rows.
        tiles = np.zeros((-(-n // TILE_ROWS), width, TILE_ROWS), np.uint8)

        def quantize(rows: slice) -> np.ndarray:
            columns, missing = part_of(rows)
            if missing is not None:
                columns = np.where(missing, np.uint8(MISSING), columns)
            for tile in blocks(len(columns), TILE_ROWS):
                number, size = (rows.start + tile.start) // TILE_ROWS, tile.stop - tile.start
                tiles[number, :, :size] = columns[tile].T
            return np.zeros(width, bool) if missing is None else np.asarray(missing.any(axis=0))

        gaps = run(quantize, [(rows,) for rows in blocks(n, ROWS_PER_TASK)], what="making codes")
        return cls(tiles, n, np.any(gaps, axis=0) if gaps else np.zeros(width, bool))

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return the codes as arrays, to be saved."""
        return {("tiles",): self.tiles, ("gaps",): self.gaps}

    @classmethod
    def from_arrays(cls, n: int, arrays: Mapping[tuple[str, ...], np.ndarray]) -> ByteCodes:
        """Return the codes of n rows out of the arrays that ``to_arrays`` returned."""
        tiles, gaps = arrays["tiles",], arrays["gaps",]
        # Kernels do not check bounds: with a file of another shape they would read past its end.
        fits = tiles.dtype == np.uint8 and tiles.ndim == 3 and gaps.dtype == bool
        if not fits or tiles.shape != (-(-n // TILE_ROWS), len(gaps), TILE_ROWS):
            needed = f"codes of {n:,} rows"
            hint = "Build the folder again; its shards do not fit together"
            raise InvalidInput("ByteCodes", needed, f"shape {tiles.shape}", hint)
        return cls(tiles, n, gaps)


# Queries as the kernels take them; see ``kernels.bounds.row_bounds``.
_KernelQueries = namedtuple(
    "_KernelQueries",
    "how u w gap weight tables slot zero factor base whole shared largest",
)


class Bounds(NamedTuple):
    """Lower bounds of some queries: ``bound * unit`` never exceeds the true value.

    Parameters
    ----------
    queries : tuple for the kernels
    unit : float64 per query
        One step of a bound, in the unit of ``BoundedQuery.limit_of``.
    """

    queries: _KernelQueries
    unit: np.ndarray


@dataclass(frozen=True, eq=False)
class ByteQueries:
    """Queries as bytes, and lower bounds of their differences to rows.

    Parameters
    ----------
    own : uint8 (queries, columns), the codes of the queries
    worth : float64 (queries, columns) or (columns,)
        Lower bound of a difference of all steps (numbers), or of any difference (codes); of columns
        that are looked up, the largest entry of their table; of vectors, at their last coordinate,
        their upper bound.
    kind : int64 per column
        NUMBER (near or far), EQUAL (or not), LOOKUP (in a table), or SQUARE for the coordinates of
        a vector but the last, and ROOT for that.
    tables : float64 (queries, looked up columns, 256), optional
        Lower bound of the difference to each code of such a column, in the order of the columns.
    weights : float64 per column, optional
        What a column adds to the weight that the sum is divided by. None: it is not divided.
    present : bool (queries, columns), which cells of the queries are not missing; None: all
    midpoint : bool
        Whether a missing cell counts as half the weight of its column instead of not at all.
    more_weight : float
        Weight of columns that have no codes, whose cells may or may not be missing.
    largest : bool
        Whether the largest difference counts, instead of the sum.
    roots : float64 (queries, columns), optional
        Of the last coordinate of a vector: lower bound of a distance of one step.
    """

    own: np.ndarray
    worth: np.ndarray
    kind: np.ndarray
    tables: np.ndarray | None = None
    weights: np.ndarray | None = None
    present: np.ndarray | None = None
    midpoint: bool = False
    more_weight: float = 0.0
    largest: bool = False
    roots: np.ndarray | None = None

    @property
    def cells(self) -> np.ndarray:
        """The codes of the queries, with that of a missing cell where one is missing."""
        if self.present is None:
            return self.own
        return np.where(self.present, self.own, np.uint8(MISSING))

    def bounds(self, codes: ByteCodes) -> Bounds:
        """Return the bounds that kernels compute for the rows of some codes.

        Weights become small integers, chosen so that no sum overflows.
        """
        own, (n, width) = self.own, self.own.shape
        is_lookup, is_root = self.kind == LOOKUP, self.kind == ROOT
        worth, halves = np.broadcast_to(self.worth, own.shape), np.zeros(own.shape)
        if self.midpoint and self.weights is not None:  # what a missing cell counts
            halves = np.broadcast_to(self.weights / 2, own.shape)
        # Sums of two bytes move half the memory of four; beyond 200 columns they would leave each
        # column about one step (65,000 / 255 / 200), and bounds would say nothing.
        narrow: Any
        narrow, top = (np.uint16, 65_000) if width <= 200 else (np.uint32, 2**31)
        scale = self._scale(np.maximum(worth, halves), top)
        # Every factor is rounded down, so a bound never exceeds the true value: pruning by it loses
        # no neighbor.
        steps = np.floor(worth * scale[:, None])
        how = self._ways(codes, steps, halves)
        off = np.floor(halves * scale[:, None] * STEPS)
        gap, base = off.astype(narrow), np.zeros(n, np.float32)
        if self.present is not None:
            base = np.where(self.present, 0.0, off).sum(axis=1).astype(np.float32)
        unit, whole, above = self._divisor(codes, how, 1.0 / STEPS / scale)
        looked_up = np.zeros((n, 1, MISSING + 1), narrow)
        if self.tables is not None and self.tables.shape[1]:
            looked_up = np.floor(self.tables * (scale[:, None, None] * STEPS)).astype(narrow)
            looked_up[:, :, MISSING] = gap[:, is_lookup]
        w = np.where(self.kind == EQUAL, steps * STEPS, steps)
        factor = np.zeros((n, 1), np.float32)
        if self.roots is not None and is_root.any():
            w = np.where(is_root, np.floor(worth * (scale[:, None] * STEPS)), w)
            # The root is taken in float32: 1e-6 less keeps its rounding below the true value.
            factor = (self.roots * (scale[:, None] * (STEPS * (1 - 1e-6)))).astype(np.float32)
        weight = np.zeros(own.shape) if above is None else above
        queries = _KernelQueries(
            how, own.astype(narrow), w.astype(narrow), gap, weight.astype(narrow), looked_up,
            np.cumsum(is_lookup) - 1, narrow(0), factor, base, whole, above is not None,
            self.largest,
        )  # fmt: skip
        return Bounds(queries, unit)

    def _scale(self, most: np.ndarray, largest_sum: int) -> np.ndarray:
        """Return the factor of each query by which its largest possible sum still fits."""
        # A cell adds its worth or, where it is missing, half its weight, never both.
        total = most.max(axis=1, initial=0.0) if self.largest else most.sum(axis=1)
        # Below 1e-300 the scale would overflow; a smaller one than fits only loosens the bounds.
        total = np.where(total > 0, np.maximum(total, 1e-300), 0.0)
        return _divided(largest_sum / STEPS, total, 1.0)

    def _ways(self, codes: ByteCodes, steps: np.ndarray, halves: np.ndarray) -> np.ndarray:
        """Return how kernels compare each column of each query; SKIP where it adds nothing."""
        counts = (steps > 0) | (halves > 0)
        if self.present is not None:
            counts &= self.present
        how = np.where(counts, self.kind + codes.gaps, SKIP)
        squares, last = np.flatnonzero(self.kind == SQUARE), np.flatnonzero(self.kind == ROOT)
        if len(squares):  # all coordinates of a vector count with its last one, or none
            ends = last[np.searchsorted(last, squares)]
            how[:, squares] = np.where(how[:, ends] == SKIP, SKIP, SQUARE)
        return how

    def _divisor(
        self, codes: ByteCodes, how: np.ndarray, unit: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the unit of the bounds, the weight in small integers, and that of each column.

        The last is None where all rows divide by the same weight.
        """
        ones = np.ones(len(unit), np.float32)
        if self.weights is None:
            return unit, ones, None
        # A bound may be divided by too much, never by too little: a column that adds nothing to the
        # sum counts as present, and what is taken off for missing cells is rounded down.
        counted = np.broadcast_to(self.weights, self.own.shape)
        if self.present is not None and not self.midpoint:
            counted = np.where(self.present, self.weights, 0.0)
        full = counted.sum(axis=1) + self.more_weight
        gaps = codes.gaps if self.present is None else codes.gaps & self.present
        if self.midpoint or not gaps.any():
            return _divided(unit, full, 0.0), ones, None
        lift = _divided(60_000, full, 1.0)
        above = np.where(how == SKIP, 0.0, np.floor(self.weights * lift[:, None]))
        return unit * lift, np.ceil(full * lift * (1 + 1e-6)).astype(np.float32), above


def _divided(above: Any, below: np.ndarray, else_: float) -> np.ndarray:
    """Return a quotient, and something else where the divisor is not positive."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), else_)
