"""Exact nearest neighbors from one byte per cell: bytes propose, the measure decides.

A measure that can bound its distances from below writes its rows as bytes (``ByteCodes``) and each
query as ``Bounds``. Most rows are then known not to be near without their numbers being read; the
few that remain are compared by the measure itself, so the answer is that of comparing everything,
to the last bit and tie. How many rows remain decides about time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lookalike._config import count_jobs
from lookalike._save import saveable
from lookalike._shapes import Array, Dims, Fields, Whole, require
from lookalike._threads import blocks, run
from lookalike.kernels.byte_bounds import EQUAL, NUMBER, NUMBER_GAPS, SKIP, STEPS, TILE
from lookalike.kernels.byte_bounds import collect as collect_rows
from lookalike.kernels.byte_bounds import propose as propose_rows
from lookalike.kernels.topk import keep_pairs
from lookalike.neighbors.graph import NeighborGraph

__all__ = ["Bounds", "ByteCodes", "bound_queries", "nearest_by_codes"]

TALL = 32  # queries handled by one task
SPARE = 6  # rows proposed beyond those asked for: some may be excluded or undefined
WIDEST = 64  # tiles that are worth a thread of their own
LEAST = 4 * TILE  # rows below which looking at everything is as quick
SHARE = 16  # bounds pay while fewer than one row in so many remains
PROBED = 1024  # rows compared to find a better limit where the first one says too little
HALVINGS = 8

# Distances of pairs (positions of queries, positions of rows).
Exact = Callable[[np.ndarray, np.ndarray], np.ndarray]


@saveable
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

    SHAPE: ClassVar[Fields] = {
        "tiles": Array("uint8", "tiles", "columns", TILE),
        "n_rows": Whole(),
        "gaps": Array("bool", "columns"),
    }

    tiles: np.ndarray
    n_rows: int
    gaps: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, missing: np.ndarray | None = None) -> ByteCodes:
        """Return the codes of rows given as a uint8 array (rows, columns), gaps marked apart."""
        n, width = columns.shape
        count = -(-n // TILE)
        tiles = np.zeros((count, width, TILE), np.uint8)
        gaps = np.zeros(width, bool) if missing is None else np.asarray(missing.any(axis=0))
        for t in range(count):
            at = slice(t * TILE, min(n, (t + 1) * TILE))
            tile = columns[at]
            if missing is not None:
                tile = np.where(missing[at], np.uint8(255), tile)
            tiles[t, :, : at.stop - at.start] = tile.T
        return cls(tiles, n, gaps)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that there are as many tiles as rows need."""
        needed = -(-self.n_rows // TILE)
        require(dims["tiles"] == needed, "ByteCodes.tiles", f"{needed} tiles", str(dims["tiles"]))


class _Asked(NamedTuple):
    """Queries as the kernels take them; see ``kernels.byte_bounds.tile_bounds``."""

    how: np.ndarray
    u: np.ndarray
    w: np.ndarray
    gap: np.ndarray
    weight: np.ndarray
    zero: Any
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
    equal: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    present: np.ndarray | None = None,
    midpoint: bool = False,
    more_weight: float = 0.0,
    largest: bool = False,
) -> Bounds:
    """Prepare queries: weights become small whole numbers, chosen so that no sum overflows.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    own : uint8 (queries, columns), the codes of the queries
    worth : float64 (queries, columns) or (columns,)
        What a difference of all steps (numbers), or any difference (codes), is worth at least.
    equal : bool per column, whether codes are equal or not, instead of near or far
    weights : float64 per column, optional
        What a column adds to the weight that the sum is divided by. None: it is not divided.
    present : bool (queries, columns), which cells of the queries are there; None: all
    midpoint : bool
        Whether a missing cell counts as half a difference instead of not at all.
    more_weight : float
        Weight of columns that have no codes, which may or may not be there.
    largest : bool
        Whether the largest difference counts, instead of the sum.
    """
    n, width = own.shape
    worth = np.broadcast_to(worth, own.shape)
    here = np.ones(own.shape, bool) if present is None else present
    total = worth.max(axis=1, initial=0.0) if largest else worth.sum(axis=1)
    kind: Any = np.uint16 if width <= 200 else np.uint32
    room = (65_000 if kind is np.uint16 else 2**31) / STEPS
    scale = np.where(total > 0, room / np.where(total > 0, total, 1.0), 1.0)
    steps = np.floor(worth * scale[:, None])
    near = np.where(codes.gaps, NUMBER_GAPS, NUMBER)
    how = np.where(here & (steps > 0), np.where(equal, near + (EQUAL - NUMBER), near), SKIP)
    half = np.floor(steps * (STEPS // 2)) if midpoint else np.zeros(own.shape)
    base = np.where(here, 0.0, half).sum(axis=1)
    unit, whole, shared = 1.0 / STEPS / scale, np.ones(n), False
    above = np.zeros(own.shape)
    if weights is not None:
        # Divided by at least as much as was compared: a column that adds nothing to the sum is
        # taken to be there, and what is taken off for gaps is rounded down.
        kept = np.broadcast_to(weights, own.shape) if midpoint else np.where(here, weights, 0.0)
        full = kept.sum(axis=1) + more_weight
        shared = not midpoint and bool((codes.gaps & here).any())
        lift = np.where(full > 0, 60_000 / np.where(full > 0, full, 1.0), 1.0)
        if shared:
            above = np.where(how == SKIP, 0.0, np.floor(weights * lift[:, None]))
            whole = np.ceil(full * lift * (1 + 1e-6))
            unit = unit * lift
        else:
            unit = np.where(full > 0, unit / np.where(full > 0, full, 1.0), 0.0)
    asked = _Asked(
        how, own.astype(kind), np.where(equal, steps * STEPS, steps).astype(kind),
        half.astype(kind), above.astype(kind), kind(0), base.astype(np.float32),
        whole.astype(np.float32), shared, largest,
    )  # fmt: skip
    return Bounds(asked, unit)


def nearest_by_codes(
    codes: ByteCodes,
    queries: Callable[[slice], Bounds],
    n_queries: int,
    k: int,
    exact: Exact,
    limit_of: Callable[[np.ndarray], np.ndarray],
    *,
    exclude: np.ndarray,
    ids: np.ndarray,
    allowed: np.ndarray | None = None,
    always: Sequence[np.ndarray] | None = None,
    n_jobs: int | None = None,
) -> tuple[NeighborGraph, np.ndarray]:
    """Return lists of the k nearest, and which of them had to be left to the plain search.

    Parameters
    ----------
    codes : ByteCodes
    queries : callable from a slice of the queries to their Bounds
    n_queries, k : int
    exact : callable (positions of queries, positions of rows) -> distances, NaN if undefined
    limit_of : callable from distances to the values that bounds speak of
    exclude : int64 per query, the id that may not be listed; -1: none
    ids : int64 per row
    allowed : bool per row, optional
    always : rows to be compared with each query whatever their bound, optional
    n_jobs : int, optional
    """
    n_indexed, has_self = int(ids.max(initial=-1)) + 1, bool((exclude < 0).any())
    lists = NeighborGraph.empty(n_queries, k, n_indexed, has_self)
    left_over = np.zeros(n_queries, bool)
    jobs = count_jobs(n_jobs)
    parts = list(blocks(n_queries, max(1, min(TALL, -(-n_queries // jobs)))))
    tiles = len(codes.tiles)
    shards = 1 if len(parts) >= jobs else max(1, min(jobs, tiles // WIDEST))
    shares = list(blocks(tiles, -(-tiles // shards)))
    everyone = np.empty(0, bool) if allowed is None else allowed
    search = _Search(codes, everyone, k, shares, jobs if shards > 1 else 1)

    def settle(part: slice, found: list[np.ndarray], into: NeighborGraph) -> None:
        if always is not None:
            found = [np.union1d(rows, always[part.start + at]) for at, rows in enumerate(found)]
        if (into.indices >= 0).any():  # a row is listed once, however often it is compared
            found = [
                rows[~np.isin(ids[rows], listed)]
                for rows, listed in zip(found, into.indices, strict=True)
            ]
        left = np.repeat(np.arange(part.start, part.stop), [len(rows) for rows in found])
        right = np.concatenate(found)
        if len(right):
            far = exact(left, right)
            keep_pairs(
                left - part.start, ids[right], far, exclude[part], into.distances, into.indices
            )

    def limits_of(bounds: Bounds, first: NeighborGraph) -> np.ndarray:
        worst = limit_of(first.distances[:, -1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # A little above, for what rounding may do to the bound and to the distance.
            limits = np.where(bounds.unit > 0, (worst * (1 + 1e-5) + 1e-12) / bounds.unit, np.inf)
        return np.nextafter(limits.astype(np.float32), np.float32(np.inf))

    def one(part: slice) -> None:
        bounds = queries(part)
        lowest, proposed = search.propose(bounds)
        first = NeighborGraph.empty(part.stop - part.start, k, n_indexed)
        settle(part, proposed, first)
        limits = limits_of(bounds, first)
        kept = search.collect(bounds, limits, lowest)
        if any(rows is None for rows in kept):
            # The smallest bounds were not the nearest rows: compare some more, and look again.
            more = [
                search.probe(bounds, q, limits[q], lowest) if rows is None else nobody
                for q, rows in enumerate(kept)
            ]
            settle(part, more, first)
            limits = limits_of(bounds, first)
            kept = search.collect(bounds, limits, lowest)
        left_over[part] = [rows is None for rows in kept]
        settle(part, [nobody if rows is None else rows for rows in kept], lists[part])

    nobody = np.empty(0, np.int64)
    run(one, [(part,) for part in parts], jobs if shards == 1 else 1, "finding neighbors")
    return lists, left_over


@dataclass(frozen=True, eq=False)
class _Search:
    """The two passes over the codes, each cut into shares that threads take on."""

    codes: ByteCodes
    allowed: np.ndarray
    k: int
    shares: list[slice]
    jobs: int

    def propose(self, bounds: Bounds) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the lowest bound of every tile, and the rows with the smallest bounds."""
        n, many = len(bounds.unit), min(self.codes.n_rows, self.k + SPARE)
        lowest = np.empty((n, len(self.codes.tiles)), np.float32)

        def one(share: slice) -> tuple[np.ndarray, np.ndarray]:
            best, rows = np.full((n, many), np.inf, np.float32), np.full((n, many), -1)
            propose_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, share.start,
                share.stop, *_space(bounds), lowest, best, rows,
            )  # fmt: skip
            return best, rows

        if len(self.shares) == 1:
            best, rows = one(self.shares[0])
        else:
            found = run(one, [(share,) for share in self.shares], self.jobs, "proposing neighbors")
            best, rows = (np.concatenate(side, axis=1) for side in zip(*found, strict=True))
            order = np.argsort(best, axis=1, kind="stable")[:, :many]
            rows = np.take_along_axis(rows, order, axis=1)
        return lowest, [some[some >= 0] for some in rows]

    def collect(
        self, bounds: Bounds, limits: np.ndarray, lowest: np.ndarray
    ) -> list[np.ndarray | None]:
        """Return the rows that no bound rules out; None where these are too many to pay."""
        room = max(LEAST, self.codes.n_rows // SHARE)

        def one(q: int, share: slice) -> np.ndarray | None:
            if not np.isfinite(limits[q]):
                return None
            rows = np.empty(room, np.int64)
            count = collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, q, share.start,
                share.stop, limits[q], *space, lowest[q], rows,
            )  # fmt: skip
            return rows[:count].copy() if count <= room else None

        space = _space(bounds)
        found = []
        for q in range(len(limits)):  # few tiles are looked at again: not worth a thread
            parts = [one(q, share) for share in self.shares]
            some = [rows for rows in parts if rows is not None]
            found.append(np.concatenate(some) if len(some) == len(parts) else None)
        return found

    def probe(self, bounds: Bounds, q: int, limit: np.float32, lowest: np.ndarray) -> np.ndarray:
        """Return some hundred rows with the smallest bounds, found by halving the limit."""
        rows = np.empty(PROBED, np.int64)
        space, low, high = _space(bounds), np.float32(0.0), limit
        if not np.isfinite(limit):
            return rows[:0]
        for _ in range(HALVINGS):
            middle = (low + high) / np.float32(2.0)
            count = collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, q, 0,
                len(self.codes.tiles), middle, *space, lowest[q], rows,
            )  # fmt: skip
            if PROBED // 4 <= count <= PROBED:
                return rows[:count]
            low, high = (middle, high) if count < PROBED else (low, middle)
        return rows[: min(count, PROBED)]


def _space(bounds: Bounds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return working space for the kernels."""
    kind = bounds.asked.u.dtype
    return np.empty(TILE, kind), np.empty(TILE, kind), np.empty(TILE, np.float32)
