"""Rows as bytes, and what a query may conclude from them: distances that are at least so large."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput
from lookalike.kernels.bounds import (
    EQUAL,
    LOOKUP,
    MISSING,
    ROOT,
    SKIP,
    SQUARE,
    STEPS,
    TILE,
)

MADE = 8 * TILE  # rows whose codes are made together

Cells = tuple[np.ndarray, np.ndarray | None]  # codes of some rows, and which are missing


@dataclass(frozen=True, eq=False)
class ByteCodes:
    """Rows as bytes, in tiles of 1,024 rows whose columns lie in one piece.

    Parameters
    ----------
    tiles : uint8 array of shape (tiles, columns, 1024)
        255 in columns with gaps is a missing cell; what lies past the last row means nothing.
    n_rows : int
    gaps : bool array, which columns have a missing cell
    """

    tiles: np.ndarray
    n_rows: int
    gaps: np.ndarray

    @classmethod
    def make(cls, n: int, width: int, part_of: Callable[[slice], Cells]) -> ByteCodes:
        """Return the codes of n rows, made some tiles at a time, side by side.

        Parameters
        ----------
        n, width : int, how many rows and columns
        part_of : callable from a slice of the rows to (uint8 array, which cells are missing)
            None instead of the latter: no cell is.
        """
        tiles = np.zeros((-(-n // TILE), width, TILE), np.uint8)

        def one(at: slice) -> np.ndarray:
            columns, missing = part_of(at)
            if missing is not None:
                columns = np.where(missing, np.uint8(MISSING), columns)
            for tile in blocks(len(columns), TILE):
                place = (at.start + tile.start) // TILE
                tiles[place, :, : tile.stop - tile.start] = columns[tile].T
            return np.zeros(width, bool) if missing is None else np.asarray(missing.any(axis=0))

        parts = [(at,) for at in blocks(n, MADE)]
        gaps = run(one, parts, what="making codes")
        return cls(tiles, n, np.any(gaps, axis=0) if gaps else np.zeros(width, bool))

    @classmethod
    def of(cls, columns: np.ndarray, missing: np.ndarray | None = None) -> ByteCodes:
        """Return the codes of rows given as a uint8 array (rows, columns), gaps marked apart."""

        def part_of(at: slice) -> Cells:
            return columns[at], None if missing is None else missing[at]

        return cls.make(len(columns), columns.shape[1], part_of)

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return the arrays that the codes are made of."""
        return {("tiles",): self.tiles, ("gaps",): self.gaps}

    @classmethod
    def from_arrays(cls, n: int, arrays: Mapping[tuple[str, ...], np.ndarray]) -> ByteCodes:
        """Return the codes of n rows out of the arrays that ``to_arrays`` returned."""
        tiles, gaps = arrays["tiles",], arrays["gaps",]
        fits = tiles.dtype == np.uint8 and tiles.ndim == 3 and gaps.dtype == bool
        if not fits or tiles.shape != (-(-n // TILE), len(gaps), TILE):
            needed = f"codes of {n:,} rows"
            hint = "Build the folder again; its shards do not fit together"
            raise InvalidInput("ByteCodes", needed, f"shape {tiles.shape}", hint)
        return cls(tiles, n, gaps)


class _Asked(NamedTuple):
    """Queries as the kernels take them; see ``kernels.bounds.row_bounds``."""

    how: np.ndarray
    u: np.ndarray
    w: np.ndarray
    gap: np.ndarray
    weight: np.ndarray
    tables: np.ndarray
    slot: np.ndarray
    zero: Any
    factor: np.ndarray
    base: np.ndarray
    whole: np.ndarray
    shared: bool
    largest: bool


@dataclass(frozen=True, eq=False)
class Bounds:
    """Some queries, and what their bounds mean: ``bound * unit`` is never above the true value.

    Parameters
    ----------
    asked : tuple for the kernels
    unit : float64 per query
        What one step of a bound is worth in the value that ``limit_of`` speaks of.
    """

    asked: _Asked
    unit: np.ndarray


def bound_queries(
    codes: ByteCodes,
    own: np.ndarray,
    worth: np.ndarray,
    kind: np.ndarray,
    *,
    tables: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    present: np.ndarray | None = None,
    midpoint: bool = False,
    more_weight: float = 0.0,
    largest: bool = False,
    roots: np.ndarray | None = None,
) -> Bounds:
    """Prepare queries: weights become small whole numbers, chosen so that no sum overflows.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    own : uint8 (queries, columns), the codes of the queries
    worth : float64 (queries, columns) or (columns,)
        What a difference of all steps (numbers), or any difference (codes), is worth at least; of
        columns that are looked up, the largest entry of their table; of vectors, with their last
        coordinate, what they count at most.
    kind : int64 per column
        NUMBER (near or far), EQUAL (or not), LOOKUP (in a table), or SQUARE for the coordinates of
        a vector but the last, and ROOT for that.
    tables : float64 (queries, looked up columns, 256), optional
        What a code of such a column is worth at least, in the order of the columns.
    weights : float64 per column, optional
        What a column adds to the weight that the sum is divided by. None: it is not divided.
    present : bool (queries, columns), which cells of the queries are there; None: all
    midpoint : bool
        Whether a missing cell counts as half the weight of its column instead of not at all.
    more_weight : float
        Weight of columns that have no codes, which may or may not be there.
    largest : bool
        Whether the largest difference counts, instead of the sum.
    roots : float64 (queries, columns), optional
        Of the last coordinate of a vector: what a distance of one step is worth.
    """
    n, width = own.shape
    columns = _columns_of(kind.astype(np.int64).tobytes())
    worth = np.broadcast_to(worth, own.shape)
    halves = None
    if midpoint and weights is not None:
        halves = np.broadcast_to(weights / 2, own.shape)
    most = worth if halves is None else np.maximum(worth, halves)
    total = most.max(axis=1, initial=0.0) if largest else most.sum(axis=1)
    narrow: Any = np.uint16 if width <= 200 else np.uint32
    room = (65_000 if narrow is np.uint16 else 2**31) / STEPS
    scale = _divided(room, total, 1.0)
    steps = np.floor(worth * scale[:, None])
    counts = steps > 0 if halves is None else (steps > 0) | (halves > 0)
    if present is not None:
        counts &= present
    how = np.where(counts, kind + codes.gaps, SKIP)
    if len(columns.squares):  # all coordinates of a vector, or none
        how[:, columns.squares] = np.where(how[:, columns.ends] == SKIP, SKIP, SQUARE)
    gap, base = np.zeros(own.shape, narrow), np.zeros(n, np.float32)
    if halves is not None:
        off = np.floor(halves * scale[:, None] * STEPS)
        gap = off.astype(narrow)
        if present is not None:
            base = np.where(present, 0.0, off).sum(axis=1).astype(np.float32)
    unit, whole, shared = 1.0 / STEPS / scale, np.ones(n, np.float32), False
    above = np.zeros(own.shape, narrow)
    if weights is not None:
        # Divided by at least as much as was compared: a column that adds nothing to the sum is
        # taken to be there, and what is taken off for gaps is rounded down.
        kept = np.broadcast_to(weights, own.shape)
        if present is not None and not midpoint:
            kept = np.where(present, weights, 0.0)
        full = kept.sum(axis=1) + more_weight
        gaps = codes.gaps if present is None else codes.gaps & present
        shared = not midpoint and bool(gaps.any())
        if shared:
            lift = _divided(60_000, full, 1.0)
            above = np.where(how == SKIP, 0.0, np.floor(weights * lift[:, None])).astype(narrow)
            whole = np.ceil(full * lift * (1 + 1e-6)).astype(np.float32)
            unit = unit * lift
        else:
            unit = _divided(unit, full, 0.0)
    looked_up = np.zeros((n, 1, MISSING + 1), narrow)
    if tables is not None and tables.shape[1]:
        looked_up = np.floor(tables * (scale[:, None, None] * STEPS)).astype(narrow)
        looked_up[:, :, MISSING] = gap[:, columns.looked_up]
    w = np.where(columns.equal, steps * STEPS, steps)
    factor = np.zeros((n, 1), np.float32)
    if roots is not None and columns.root.any():
        w = np.where(columns.root, np.floor(worth * (scale[:, None] * STEPS)), w)
        # A little less, for what rounding may do to the root.
        factor = (roots * (scale[:, None] * (STEPS * (1 - 1e-6)))).astype(np.float32)
    asked = _Asked(
        how, own.astype(narrow), w.astype(narrow), gap, above, looked_up, columns.slot, narrow(0),
        factor, base, whole, shared, largest,
    )  # fmt: skip
    return Bounds(asked, unit)


def _divided(above: Any, below: np.ndarray, else_: float) -> np.ndarray:
    """Return a quotient, and something else where the divisor is not positive."""
    if (below > 0).all():
        return np.asarray(above / below)
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), else_)


class _Columns(NamedTuple):
    """What follows from the kinds of the columns alone."""

    squares: np.ndarray  # coordinates of vectors but the last of each, and where that is
    ends: np.ndarray
    looked_up: np.ndarray
    equal: np.ndarray
    root: np.ndarray
    slot: np.ndarray


@lru_cache(64)
def _columns_of(kinds: bytes) -> _Columns:
    kind = np.frombuffer(kinds, np.int64)
    squares, root, looked_up = np.flatnonzero(kind == SQUARE), kind == ROOT, kind == LOOKUP
    last = np.flatnonzero(root)
    ends = last[np.searchsorted(last, squares)]
    slot = np.cumsum(looked_up) - 1
    return _Columns(squares, ends, np.flatnonzero(looked_up), kind == EQUAL, root, slot)
