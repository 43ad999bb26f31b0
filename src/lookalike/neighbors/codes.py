"""Exact kNN pruned by quantized lower bounds, one byte per cell.

A measure that can bound its distances from below quantizes its rows to bytes (``ByteCodes``) and
each query to ``Bounds``. Most rows are then ruled out without reading their numbers; the measure
itself compares the remaining ones (exact re-ranking), so the answer is that of brute force, to the
last bit and tie. How many rows remain only matters for the time. See decision 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput
from lookalike.kernels.bounds import (
    EQUAL,
    LOOKUP,
    MISSING,
    PART_ROWS,
    ROOT,
    SKIP,
    SQUARE,
    STEPS,
    TILE_ROWS,
)
from lookalike.kernels.bounds import collect as collect_rows
from lookalike.kernels.bounds import propose as propose_rows
from lookalike.kernels.lists import keep_pairs
from lookalike.neighbors.graph import NeighborGraph

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


class _KernelQueries(NamedTuple):
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


MAX_QUERIES_PER_TASK = 32
# Candidates of the first pass beyond k: some may be excluded or undefined, and where no other row
# can be nearer, the second pass is not needed.
EXTRA_CANDIDATES = 22
MIN_TILES_PER_THREAD = 64
MIN_ROWS_FOR_CODES = 4 * TILE_ROWS  # below, brute force is as quick
# A search by bounds is given up where more than one row in so many remains. Chosen by hand.
MIN_ROWS_PER_CANDIDATE = 16
MAX_PROBED_ROWS = 1024  # compared to find a better limit where the first one prunes too little
BISECTION_STEPS = 8
NO_ROW = np.float32(-1.0)  # a limit that no bound is below

# Distances of pairs (positions of queries, positions of rows).
Exact = Callable[[np.ndarray, np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]  # positions of queries, ascending, and of rows


class BoundedQuery(NamedTuple):
    """What ``nearest_by_codes`` needs from a measure.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    bounds_of : callable from a slice of the queries to their Bounds
    limit_of : callable from distances to the values that are bounded
    """

    codes: ByteCodes
    bounds_of: Callable[[slice], Bounds]
    limit_of: Callable[[np.ndarray], np.ndarray]


def nearest_by_codes(
    query: BoundedQuery,
    n_queries: int,
    k: int,
    exact: Exact,
    *,
    exclude: np.ndarray,
    ids: np.ndarray,
    n_indexed: int,
    allowed: np.ndarray | None = None,
    always: Callable[[slice], Pairs] | None = None,
    n_jobs: int | None = None,
) -> tuple[NeighborGraph, np.ndarray]:
    """Return lists of the k nearest, and which queries need a brute-force search instead.

    Parameters
    ----------
    query : BoundedQuery
    n_queries, k : int
    exact : callable (positions of queries, positions of rows) -> distances, NaN if undefined
    exclude : int64 per query, the id that may not be listed; -1: none
    ids : int64 per row
    allowed : bool per row, optional
        Which rows may be listed; None: all.
    always : callable from a slice of the queries to pairs, optional
        Pairs (position of the query in the slice, row) to be compared whatever their bound.
    n_indexed : int
        Size of the collection.
    n_jobs : int, optional
    """
    codes, bounds_of, limit_of = query
    lists = NeighborGraph.empty(n_queries, k, n_indexed, bool((exclude < 0).any()))
    left_over = np.zeros(n_queries, bool)
    jobs = count_jobs(n_jobs)
    parts = list(blocks(n_queries, max(1, min(MAX_QUERIES_PER_TASK, -(-n_queries // jobs)))))
    tiles = len(codes.tiles)
    shards = 1 if len(parts) >= jobs else max(1, min(jobs, tiles // MIN_TILES_PER_THREAD))
    shares = list(blocks(tiles, -(-tiles // shards))) or [slice(0, 0)]
    may_list = np.empty(0, bool) if allowed is None else allowed
    search = _Search(codes, may_list, k, shares, jobs if shards > 1 else 1)

    def own_rows(part: slice) -> Pairs | None:
        """Return the pairs that are always compared, without those that may not be listed."""
        if always is None:
            return None
        left, right = always(part)
        listed = ids[right] != exclude[part][left]
        if len(may_list):
            listed &= may_list[right]
        return (left[listed], right[listed]) if listed.any() else None

    def rerank(part: slice, pairs: Pairs, own: Pairs | None, into: NeighborGraph) -> None:
        left, right = pairs
        if own is not None:  # one number per pair, so that ``unique`` sorts and removes repeats
            both = np.concatenate([left, own[0]]) * codes.n_rows + np.concatenate([right, own[1]])
            left, right = np.divmod(np.unique(both), codes.n_rows)
        if into.indices.size and (into.indices[:, 0] >= 0).any():
            # A row is listed once, however often it is compared.
            listed = (into.indices[left] == ids[right][:, None]).any(axis=1)
            left, right = left[~listed], right[~listed]
        if len(right):
            distances = exact(left + part.start, right)
            keep_pairs(left, ids[right], distances, exclude[part], into.distances, into.indices)

    def limits_of(bounds: Bounds, first: NeighborGraph) -> np.ndarray:
        worst = limit_of(first.distances[:, -1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # Raised a little: neither rounding of the bound nor of the distance may lose a row.
            limits = np.where(bounds.unit > 0, (worst * (1 + 1e-5) + 1e-12) / bounds.unit, np.inf)
            return np.nextafter(limits.astype(np.float32), np.float32(np.inf))

    def search_part(part: slice) -> None:
        bounds, own = bounds_of(part), own_rows(part)
        lowest, proposed, beyond = search.propose(bounds)
        first = NeighborGraph.empty(part.stop - part.start, k, n_indexed)
        rerank(part, proposed, own, first)
        limits = limits_of(bounds, first)
        done = limits < beyond  # no other row can be nearer than the k-th of the first pass
        lists.indices[part][done] = first.indices[done]
        lists.distances[part][done] = first.distances[done]
        if done.all():
            return
        remaining, too_many = search.collect(bounds, np.where(done, NO_ROW, limits), lowest)
        too_many &= ~done
        if too_many.any():
            # The smallest bounds were not the nearest rows, so the limit is far too high: compare
            # some more rows and try once again with the limit that they give.
            more = search.probe(bounds, np.flatnonzero(too_many), limits, lowest)
            rerank(part, more, None, first)
            limits = np.where(done, NO_ROW, limits_of(bounds, first))
            remaining, too_many = search.collect(bounds, limits, lowest)
            too_many &= ~done
        left_over[part] = too_many
        rerank(part, remaining, own, lists[part])

    run(search_part, [(part,) for part in parts], jobs if shards == 1 else 1, "finding neighbors")
    return lists, left_over


@dataclass(frozen=True, eq=False)
class _Search:
    """The two passes over the codes, the first of them cut into shares for threads."""

    codes: ByteCodes
    allowed: np.ndarray
    k: int
    shares: list[slice]
    jobs: int

    def propose(self, bounds: Bounds) -> tuple[np.ndarray, Pairs, np.ndarray]:
        """Return the lowest bound of every part, and the rows with the smallest bounds.

        The third is the smallest bound that any other row may have.
        """
        n, size = len(bounds.unit), min(self.codes.n_rows, self.k + EXTRA_CANDIDATES)
        lowest = np.empty((n, len(self.codes.tiles) * (TILE_ROWS // PART_ROWS)), np.float32)

        def propose_share(share: slice) -> tuple[np.ndarray, np.ndarray]:
            best, rows = np.full((n, size), np.inf, np.float32), np.full((n, size), -1)
            propose_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.queries, share.start,
                share.stop, *_scratch(bounds, TILE_ROWS), lowest, best, rows,
            )  # fmt: skip
            return best, rows

        # Few queries do not fill all threads: then each thread passes over a share of the tiles.
        if len(self.shares) == 1:
            best, rows = propose_share(self.shares[0])
        else:
            shares = [(share,) for share in self.shares]
            sides = zip(*run(propose_share, shares, self.jobs, "proposing neighbors"), strict=True)
            best, rows = (np.concatenate(side, axis=1) for side in sides)
            order = np.argsort(best, axis=1, kind="stable")[:, :size]
            best, rows = (np.take_along_axis(side, order, axis=1) for side in (best, rows))
        taken = rows >= 0
        beyond = best[:, -1] if size < self.codes.n_rows else np.full(n, np.inf, np.float32)
        return lowest, (np.nonzero(taken)[0], rows[taken]), beyond

    def collect(
        self, bounds: Bounds, limits: np.ndarray, lowest: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """Return the rows that no bound rules out, and for which queries these are too many."""
        # Comparing more single rows than this takes longer than comparing all in blocks.
        most = max(MIN_ROWS_FOR_CODES, self.codes.n_rows // MIN_ROWS_PER_CANDIDATE)
        limits = np.where(np.isfinite(limits), limits, NO_ROW)
        rows = np.empty(most, np.int64)
        ends, parts, begin = np.zeros(len(limits), np.int64), [], 0
        scratch, counts = _scratch(bounds, PART_ROWS), np.zeros(len(limits), np.int64)
        # The kernel stops before a query whose rows no longer fit; then its buffer is copied.
        while begin < len(limits):
            done = collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.queries, begin,
                len(limits), limits, most, *scratch, lowest, ends, rows,
            )  # fmt: skip
            last = np.where(ends < 0, -1 - ends, ends)[begin:done]
            counts[begin:done] = np.diff(last, prepend=0)
            parts.append(rows[: last[-1] if done > begin else 0].copy())
            begin = done
        too_many = (ends < 0) | (limits < 0)
        return (np.repeat(np.arange(len(limits)), counts), np.concatenate(parts)), too_many

    def probe(
        self, bounds: Bounds, queries: np.ndarray, limits: np.ndarray, lowest: np.ndarray
    ) -> Pairs:
        """Return some hundred rows with the smallest bounds of each of some queries."""
        rows = [self._probe(bounds, q, limits, lowest) for q in queries.tolist()]
        return np.repeat(queries, [len(found) for found in rows]), np.concatenate(rows)

    def _probe(self, bounds: Bounds, q: int, limits: np.ndarray, lowest: np.ndarray) -> np.ndarray:
        """Return the rows of one query below a limit that bisection finds."""
        rows, ends = np.empty(MAX_PROBED_ROWS, np.int64), np.zeros(len(limits), np.int64)
        scratch, tried = _scratch(bounds, PART_ROWS), limits.copy()
        low, high, best = np.float32(0.0), limits[q], rows[:0]
        for _ in range(BISECTION_STEPS if np.isfinite(high) else 0):
            tried[q] = (low + high) / np.float32(2.0)
            collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.queries, q, q + 1, tried,
                MAX_PROBED_ROWS, *scratch, lowest, ends, rows,
            )  # fmt: skip
            if ends[q] < 0:  # more rows than the buffer holds
                high = tried[q]
                continue
            low, best = tried[q], rows[: ends[q]].copy()
            if len(best) >= MAX_PROBED_ROWS // 4:
                break
        return best


def _scratch(bounds: Bounds, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return working space for the kernels."""
    kind = bounds.queries.u.dtype
    return np.empty(size, kind), np.empty(size, kind), np.empty(size, np.float32)
