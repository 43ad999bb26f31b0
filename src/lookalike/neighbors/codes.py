"""Exact nearest neighbors from one byte per cell: bytes propose, the measure decides.

A measure that can bound its distances from below writes its rows as bytes (``ByteCodes``) and each
query as ``Bounds``. Most rows are then known not to be near without their numbers being read; the
few that remain are compared by the measure itself, so the answer is that of comparing everything,
to the last bit and tie. How many rows remain decides about time only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, PART, ROOT, SKIP, SQUARE, STEPS, TILE
from lookalike.kernels.bounds import collect as collect_rows
from lookalike.kernels.bounds import propose as propose_rows
from lookalike.kernels.lists import keep_pairs
from lookalike.neighbors.graph import NeighborGraph

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
        # The cells of a column lie in one piece within a tile: kernels go through them in one loop.
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

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return the arrays that the codes are made of."""
        return {("tiles",): self.tiles, ("gaps",): self.gaps}

    @classmethod
    def from_arrays(cls, n: int, arrays: Mapping[tuple[str, ...], np.ndarray]) -> ByteCodes:
        """Return the codes of n rows out of the arrays that ``to_arrays`` returned."""
        tiles, gaps = arrays["tiles",], arrays["gaps",]
        # Kernels do not check bounds: a file of another shape would read past its end.
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


@dataclass(frozen=True, eq=False)
class ByteQueries:
    """Queries as bytes, and what their differences to rows are worth at least.

    Parameters
    ----------
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
        columns = _columns_of(self.kind.astype(np.int64).tobytes())
        worth, halves = np.broadcast_to(self.worth, own.shape), self._halves()
        # Sums of two bytes move half the memory of four; beyond 200 columns they would leave each
        # column about one step (65,000 / 255 / 200), and bounds would say nothing.
        narrow: Any = np.uint16 if width <= 200 else np.uint32
        scale = self._scale(worth, halves, narrow)
        # Every factor is rounded down, so a bound never exceeds the true value: pruning by it loses
        # no neighbor.
        steps = np.floor(worth * scale[:, None])
        how = self._ways(codes, columns, steps, halves)
        off = np.floor(halves * scale[:, None] * STEPS)
        gap, base = off.astype(narrow), np.zeros(n, np.float32)
        if self.present is not None:
            base = np.where(self.present, 0.0, off).sum(axis=1).astype(np.float32)
        unit, whole, above = self._divisor(codes, how, 1.0 / STEPS / scale)
        looked_up = np.zeros((n, 1, MISSING + 1), narrow)
        if self.tables is not None and self.tables.shape[1]:
            looked_up = np.floor(self.tables * (scale[:, None, None] * STEPS)).astype(narrow)
            looked_up[:, :, MISSING] = gap[:, columns.looked_up]
        w = np.where(columns.equal, steps * STEPS, steps)
        factor = np.zeros((n, 1), np.float32)
        if self.roots is not None and columns.root.any():
            w = np.where(columns.root, np.floor(worth * (scale[:, None] * STEPS)), w)
            # A little less, for what rounding may do to the root.
            factor = (self.roots * (scale[:, None] * (STEPS * (1 - 1e-6)))).astype(np.float32)
        shared = above is not None
        weight = np.zeros(own.shape) if above is None else above
        asked = _Asked(
            how, own.astype(narrow), w.astype(narrow), gap, weight.astype(narrow), looked_up,
            columns.slot, narrow(0), factor, base, whole, shared, self.largest,
        )  # fmt: skip
        return Bounds(asked, unit)

    def _halves(self) -> np.ndarray:
        """Return what a missing cell counts in each column; 0 where it does not count."""
        if not self.midpoint or self.weights is None:
            return np.zeros(self.own.shape)
        return np.broadcast_to(self.weights / 2, self.own.shape)

    def _scale(self, worth: np.ndarray, halves: np.ndarray, narrow: Any) -> np.ndarray:
        """Return what worth is multiplied by, per query, so that the largest sum still fits."""
        # A cell adds what it is worth or, where it is missing, half its weight: never both.
        most = np.maximum(worth, halves)
        total = most.max(axis=1, initial=0.0) if self.largest else most.sum(axis=1)
        top = (65_000 if narrow is np.uint16 else 2**31) / STEPS
        # Below 1e-300 the scale would overflow; a smaller one than fits only loosens the bounds.
        return _divided(top, np.where(total > 0, np.maximum(total, 1e-300), 0.0), 1.0)

    def _ways(
        self, codes: ByteCodes, columns: _Columns, steps: np.ndarray, halves: np.ndarray
    ) -> np.ndarray:
        """Return how kernels compare each column of each query; SKIP where it adds nothing."""
        counts = (steps > 0) | (halves > 0)
        if self.present is not None:
            counts &= self.present
        how = np.where(counts, self.kind + codes.gaps, SKIP)
        if len(columns.squares):  # all coordinates of a vector, or none
            how[:, columns.squares] = np.where(how[:, columns.ends] == SKIP, SKIP, SQUARE)
        return how

    def _divisor(
        self, codes: ByteCodes, how: np.ndarray, unit: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the unit of the bounds, the weight in small integers, and that of each column.

        The last is None where all rows divide by the same weight. Divided is by at least as much as
        was compared: a column that adds nothing to the sum is taken to be there, and what is taken
        off for missing cells is rounded down.
        """
        ones = np.ones(len(unit), np.float32)
        if self.weights is None:
            return unit, ones, None
        kept = np.broadcast_to(self.weights, self.own.shape)
        if self.present is not None and not self.midpoint:
            kept = np.where(self.present, self.weights, 0.0)
        full = kept.sum(axis=1) + self.more_weight
        gaps = codes.gaps if self.present is None else codes.gaps & self.present
        if self.midpoint or not gaps.any():
            return _divided(unit, full, 0.0), ones, None
        lift = _divided(60_000, full, 1.0)
        above = np.where(how == SKIP, 0.0, np.floor(self.weights * lift[:, None]))
        return unit * lift, np.ceil(full * lift * (1 + 1e-6)).astype(np.float32), above


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


TALL = 32  # queries handled by one task
# Rows proposed beyond those asked for: some may be excluded or undefined, and where nothing else
# can be nearer, the second pass is not needed.
SPARE = 22
WIDEST = 64  # tiles that are worth a thread of their own
LEAST = 4 * TILE  # rows below which looking at everything is as quick
SHARE = 16  # bounds pay while fewer than one row in so many remains
PROBED = 1024  # rows compared to find a better limit where the first one says too little
HALVINGS = 8
NO_ROW = np.float32(-1.0)  # a limit that no bound is below

# Distances of pairs (positions of queries, positions of rows).
Exact = Callable[[np.ndarray, np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]  # numbers of queries, ascending, and rows


class ByteQuestion(NamedTuple):
    """What ``nearest_by_codes`` asks a measure for.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    queries : callable from a slice of the queries to their Bounds
    limit_of : callable from distances to the values that bounds speak of
    """

    codes: ByteCodes
    queries: Callable[[slice], Bounds]
    limit_of: Callable[[np.ndarray], np.ndarray]


def nearest_by_codes(
    question: ByteQuestion,
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
    """Return lists of the k nearest, and which of them had to be left to the plain search.

    Parameters
    ----------
    question : ByteQuestion
    n_queries, k : int
    exact : callable (positions of queries, positions of rows) -> distances, NaN if undefined
    exclude : int64 per query, the id that may not be listed; -1: none
    ids : int64 per row
    allowed : bool per row, optional
        Which rows may be listed; None: all.
    always : callable from a slice of the queries to pairs, optional
        Pairs (number of the query in the slice, row) to be compared whatever their bound.
    n_indexed : int
        Size of the collection.
    n_jobs : int, optional
    """
    codes, queries, limit_of = question
    has_self = bool((exclude < 0).any())
    lists = NeighborGraph.empty(n_queries, k, n_indexed, has_self)
    left_over = np.zeros(n_queries, bool)
    jobs = count_jobs(n_jobs)
    parts = list(blocks(n_queries, max(1, min(TALL, -(-n_queries // jobs)))))
    tiles = len(codes.tiles)
    shards = 1 if len(parts) >= jobs else max(1, min(jobs, tiles // WIDEST))
    shares = list(blocks(tiles, -(-tiles // shards))) or [slice(0, 0)]
    may_list = np.empty(0, bool) if allowed is None else allowed
    search = _Search(codes, may_list, k, shares, jobs if shards > 1 else 1)

    def own_rows(part: slice) -> Pairs | None:
        """Return the pairs that are compared always, but for those that may not be listed."""
        if always is None:
            return None
        left, right = always(part)
        listed = ids[right] != exclude[part][left]
        if len(may_list):
            listed &= may_list[right]
        return (left[listed], right[listed]) if listed.any() else None

    def settle(part: slice, found: Pairs, own: Pairs | None, into: NeighborGraph) -> None:
        left, right = found
        if own is not None:
            both = np.concatenate([left, own[0]]) * codes.n_rows + np.concatenate([right, own[1]])
            left, right = np.divmod(np.unique(both), codes.n_rows)
        if into.indices.size and (into.indices[:, 0] >= 0).any():
            # A row is listed once, however often it is compared.
            listed = (into.indices[left] == ids[right][:, None]).any(axis=1)
            left, right = left[~listed], right[~listed]
        if len(right):
            far = exact(left + part.start, right)
            keep_pairs(left, ids[right], far, exclude[part], into.distances, into.indices)

    def limits_of(bounds: Bounds, first: NeighborGraph) -> np.ndarray:
        worst = limit_of(first.distances[:, -1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # A little above, for what rounding may do to the bound and to the distance.
            limits = np.where(bounds.unit > 0, (worst * (1 + 1e-5) + 1e-12) / bounds.unit, np.inf)
            return np.nextafter(limits.astype(np.float32), np.float32(np.inf))

    def one(part: slice) -> None:
        bounds, own = queries(part), own_rows(part)
        lowest, proposed, beyond = search.propose(bounds)
        first = NeighborGraph.empty(part.stop - part.start, k, n_indexed)
        settle(part, proposed, own, first)
        limits = limits_of(bounds, first)
        done = limits < beyond  # every row that may be near was among the first
        lists.indices[part][done], lists.distances[part][done] = (
            first.indices[done], first.distances[done],
        )  # fmt: skip
        if done.all():
            return
        kept, too_many = search.collect(bounds, np.where(done, NO_ROW, limits), lowest)
        too_many &= ~done
        if too_many.any():
            # The smallest bounds were not the nearest rows: compare some more, and look again.
            more = search.probe(bounds, np.flatnonzero(too_many), limits, lowest)
            settle(part, more, None, first)
            limits = np.where(done, NO_ROW, limits_of(bounds, first))
            kept, too_many = search.collect(bounds, limits, lowest)
            too_many &= ~done
        left_over[part] = too_many
        settle(part, kept, own, lists[part])

    run(one, [(part,) for part in parts], jobs if shards == 1 else 1, "finding neighbors")
    return lists, left_over


@dataclass(frozen=True, eq=False)
class _Search:
    """The two passes over the codes, the first of them cut into shares that threads take on."""

    codes: ByteCodes
    allowed: np.ndarray
    k: int
    shares: list[slice]
    jobs: int

    def propose(self, bounds: Bounds) -> tuple[np.ndarray, Pairs, np.ndarray]:
        """Return the lowest bound of every part, and the rows with the smallest bounds.

        The third is the least that the bounds of all other rows may be.
        """
        n, many = len(bounds.unit), min(self.codes.n_rows, self.k + SPARE)
        lowest = np.empty((n, len(self.codes.tiles) * (TILE // PART)), np.float32)

        def one(share: slice) -> tuple[np.ndarray, np.ndarray]:
            best, rows = np.full((n, many), np.inf, np.float32), np.full((n, many), -1)
            propose_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, share.start,
                share.stop, *_space(bounds, TILE), lowest, best, rows,
            )  # fmt: skip
            return best, rows

        # Few queries do not fill all threads: then each thread passes over a share of the tiles.
        if len(self.shares) == 1:
            best, rows = one(self.shares[0])
        else:
            found = run(one, [(share,) for share in self.shares], self.jobs, "proposing neighbors")
            best, rows = (np.concatenate(side, axis=1) for side in zip(*found, strict=True))
            order = np.argsort(best, axis=1, kind="stable")[:, :many]
            best, rows = (np.take_along_axis(side, order, axis=1) for side in (best, rows))
        some = rows >= 0
        beyond = best[:, -1] if many < self.codes.n_rows else np.full(n, np.inf, np.float32)
        return lowest, (np.nonzero(some)[0], rows[some]), beyond

    def collect(
        self, bounds: Bounds, limits: np.ndarray, lowest: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """Return the rows that no bound rules out, and where these are too many to pay."""
        # Comparing more rows than this one by one takes longer than comparing all in blocks.
        most = max(LEAST, self.codes.n_rows // SHARE)
        limits = np.where(np.isfinite(limits), limits, NO_ROW)
        rows = np.empty(most, np.int64)
        ends, parts, begin = np.zeros(len(limits), np.int64), [], 0
        space = _space(bounds, PART)
        counts = np.zeros(len(limits), np.int64)
        while begin < len(limits):
            done = collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, begin,
                len(limits), limits, most, *space, lowest, ends, rows,
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
        """Return some hundred rows with the smallest bounds, found by halving the limit."""
        left, right = [], []
        for q in queries.tolist():
            rows = self._probe(bounds, q, limits, lowest)
            left.append(np.full(len(rows), q))
            right.append(rows)
        return np.concatenate(left), np.concatenate(right)

    def _probe(self, bounds: Bounds, q: int, limits: np.ndarray, lowest: np.ndarray) -> np.ndarray:
        rows, ends = np.empty(PROBED, np.int64), np.zeros(len(limits), np.int64)
        space, tried = _space(bounds, PART), limits.copy()
        low, high = np.float32(0.0), limits[q]
        best = rows[:0]
        for _ in range(HALVINGS if np.isfinite(high) else 0):
            tried[q] = (low + high) / np.float32(2.0)
            collect_rows(
                self.codes.tiles, self.codes.n_rows, self.allowed, bounds.asked, q, q + 1, tried,
                PROBED, *space, lowest, ends, rows,
            )  # fmt: skip
            if ends[q] >= 0:
                best = rows[: ends[q]].copy()
                if len(best) >= PROBED // 4:
                    break
            low, high = (tried[q], high) if ends[q] >= 0 else (low, tried[q])
        return best


def _space(bounds: Bounds, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return working space for the kernels."""
    kind = bounds.asked.u.dtype
    return np.empty(size, kind), np.empty(size, kind), np.empty(size, np.float32)
