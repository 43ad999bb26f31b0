"""Exact nearest neighbors from one byte per cell: bytes propose, the measure decides.

A measure that can bound its distances from below writes its rows as bytes (``ByteCodes``) and each
query as ``Bounds``. Most rows are then known not to be near without their numbers being read; the
few that remain are compared by the measure itself, so the answer is that of comparing everything,
to the last bit and tie. How many rows remain decides about time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lookalike._config import count_jobs
from lookalike._save import saveable
from lookalike._threads import blocks, run
from lookalike.kernels.byte_bounds import EQUAL, NUMBER, NUMBER_GAPS, SKIP, STEPS, TILE
from lookalike.kernels.byte_bounds import collect as collect_rows
from lookalike.kernels.byte_bounds import propose as propose_rows
from lookalike.kernels.topk import keep_pairs
from lookalike.neighbors.graph import NeighborGraph

__all__ = ["Bounds", "ByteCodes", "bound_query", "nearest_by_codes"]

TALL = 64  # queries handled by one task
SPARE = 6  # rows proposed beyond those asked for: some may be excluded or undefined
WIDEST = 64  # tiles that are worth a thread of their own
LEAST = 4 * TILE  # rows below which looking at everything is as quick
SHARE = 16  # bounds pay while fewer than one row in so many remains

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


class _Query(NamedTuple):
    """One query as the kernels take it; see ``kernels.byte_bounds.tile_bounds``."""

    how: np.ndarray
    u: np.ndarray
    w: np.ndarray
    gap: np.ndarray
    weight: np.ndarray
    zero: Any
    base: np.float32
    whole: np.float32
    shared: bool
    largest: bool


@dataclass(frozen=True, eq=False)
class Bounds:
    """A query, and what its bounds mean: ``bound * unit`` is never above the true value.

    Parameters
    ----------
    query : tuple for the kernels
    unit : float
        What one step of a bound is worth in the value that ``limit_of`` speaks of.
    """

    query: _Query
    unit: float


def bound_query(
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
    """Prepare one query: weights become small whole numbers, chosen so that no sum overflows.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    own : uint8 codes of the query
    worth : float64 per column
        What a difference of all steps (numbers), or any difference (codes), is worth at least.
    equal : bool per column, whether codes are equal or not, instead of near or far
    weights : float64 per column, optional
        What a column adds to the weight that the sum is divided by. None: it is not divided.
    present : bool per column, which cells of the query are there; None: all
    midpoint : bool
        Whether a missing cell counts as half a difference instead of not at all.
    more_weight : float
        Weight of columns that have no codes, which may or may not be there.
    largest : bool
        Whether the largest difference counts, instead of the sum.
    """
    here = np.ones(len(own), bool) if present is None else present
    total = float(worth.max(initial=0.0) if largest else worth.sum())
    kind: Any = np.uint16 if len(own) <= 200 else np.uint32
    room = (65_000 if kind is np.uint16 else 2**31) / STEPS
    scale = room / total if total > 0 else 1.0
    steps = np.floor(worth * scale)
    near = np.where(codes.gaps, NUMBER_GAPS, NUMBER)
    how = np.where(equal, near + (EQUAL - NUMBER), near)
    how = np.where(here & (steps > 0), how, SKIP)
    half = np.floor(steps * (STEPS // 2)) if midpoint else np.zeros(len(own))
    base = float(half[~here].sum())
    unit, whole, shared = 1.0 / STEPS / scale, 0.0, False
    above = np.zeros(len(own))
    if weights is not None:
        # Divided by at least as much as was compared: weights are rounded up here, and a column
        # that adds nothing to the sum is taken to be there.
        kept = weights if midpoint else np.where(here, weights, 0.0)
        full = float(kept.sum() + more_weight)
        shared = not midpoint and bool((codes.gaps & here).any())
        lift = 60_000 / full if full > 0 else 1.0
        above = np.where(how == SKIP, 0.0, np.floor(weights * lift))
        whole = float(np.ceil(full * lift * (1 + 1e-6))) if shared else 1.0
        unit = unit * lift if shared else unit / full if full > 0 else 0.0
    query = _Query(
        how, own.astype(kind), np.where(equal, steps * STEPS, steps).astype(kind),
        half.astype(kind), above.astype(kind), kind(0), np.float32(base), np.float32(whole),
        shared, largest,
    )  # fmt: skip
    return Bounds(query, unit)


def nearest_by_codes(
    codes: ByteCodes,
    queries: Callable[[int], Bounds],
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
    queries : callable from the position of a query to its Bounds
    n_queries, k : int
    exact : callable (positions of queries, positions of rows) -> distances, NaN if undefined
    limit_of : callable from distances to the values that bounds speak of
    exclude : int64 per query, the id that may not be listed; -1: none
    ids : int64 per row
    allowed : bool per row, optional
    always : rows to be compared with each query whatever their bound, optional
    n_jobs : int, optional
    """
    everyone = np.empty(0, bool) if allowed is None else allowed
    lists = NeighborGraph.empty(
        n_queries, k, int(ids.max(initial=-1)) + 1, bool((exclude < 0).any())
    )
    left_over = np.zeros(n_queries, bool)
    jobs = count_jobs(n_jobs)
    tall = max(1, min(TALL, -(-n_queries // jobs)))
    parts = list(blocks(n_queries, tall))
    shards = 1 if len(parts) >= jobs else max(1, min(jobs, len(codes.tiles) // WIDEST))
    shares = list(blocks(len(codes.tiles), -(-len(codes.tiles) // shards)))
    many = min(codes.n_rows, k + SPARE)
    room = max(LEAST, codes.n_rows // SHARE)

    def one(part: slice) -> None:
        prepared = [queries(i) for i in range(part.start, part.stop)]
        lowest = np.empty((len(prepared), len(codes.tiles)), np.float32)

        def propose(at: int, share: slice) -> np.ndarray:
            best, rows = np.full(many, np.inf, np.float32), np.full(many, -1)
            propose_rows(
                codes.tiles, codes.n_rows, everyone, prepared[at].query, share.start, share.stop,
                *_space(prepared[at]), lowest[at], best, rows,
            )  # fmt: skip
            return rows[rows >= 0]

        def gather(at: int, share: slice, limit: np.float32) -> np.ndarray | None:
            rows = np.empty(room, np.int64)
            count = collect_rows(
                codes.tiles, codes.n_rows, everyone, prepared[at].query, share.start, share.stop,
                limit, *_space(prepared[at]), lowest[at], rows,
            )  # fmt: skip
            return rows[:count] if count <= room else None

        def settle(found: list[np.ndarray], into: NeighborGraph) -> None:
            if always is not None:
                found = [np.union1d(rows, always[part.start + at]) for at, rows in enumerate(found)]
            sizes = [len(rows) for rows in found]
            left = np.repeat(np.arange(part.start, part.stop), sizes)
            right = np.concatenate(found) if found else np.empty(0, np.int64)
            if len(right):
                far = exact(left, right)
                keep_pairs(
                    left - part.start, ids[right], far, exclude[part], into.distances, into.indices
                )

        turns = [(at, share) for at in range(len(prepared)) for share in shares]
        rows = run(propose, turns, jobs if shards > 1 else 1, "proposing neighbors")
        step = len(shares)
        proposed = [np.concatenate(rows[i : i + step]) for i in range(0, len(rows), step)]
        first = NeighborGraph.empty(len(prepared), k, lists.n_indexed)
        settle(proposed, first)
        worst = limit_of(first.distances[:, -1])
        units = np.array([bounds.unit for bounds in prepared])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # A little above, for what rounding may do to the bound and to the distance.
            limits = np.where(units > 0, (worst * (1 + 1e-5) + 1e-12) / units, np.inf)
        limits = np.nextafter(limits.astype(np.float32), np.float32(np.inf))
        narrowed = [(at, share, limits[at]) for at in range(len(prepared)) for share in shares]
        some = run(gather, narrowed, jobs if shards > 1 else 1, "comparing what is left")
        kept: list[np.ndarray] = []
        for at in range(len(prepared)):
            mine = [rows for rows in some[at * step : (at + 1) * step] if rows is not None]
            lost = len(mine) < step or not np.isfinite(limits[at])
            left_over[part.start + at] = lost
            kept.append(np.empty(0, np.int64) if lost else np.concatenate(mine))
        settle(kept, lists[part])

    run(one, [(part,) for part in parts], jobs if shards == 1 else 1, "finding neighbors")
    return lists, left_over


def _space(bounds: Bounds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return working space for the kernels."""
    kind = bounds.query.u.dtype
    return np.empty(TILE, kind), np.empty(TILE, kind), np.empty(TILE, np.float32)
