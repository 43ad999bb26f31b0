"""Exact kNN pruned by quantized lower bounds, one byte per cell.

A measure that can bound its distances from below quantizes its rows to bytes (``ByteCodes``) and
its queries to ``ByteQueries``. Most rows are then ruled out without reading their numbers; the
measure itself compares the remaining ones (exact re-ranking), so the answer is that of brute force,
to the last bit and tie. How many rows remain only matters for the time. See decision 13.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.threads import blocks, run
from lookalike.kernels import bounds as kernels
from lookalike.kernels.block_bounds import scan
from lookalike.kernels.first_use import worth_compiling
from lookalike.kernels.lists import keep_pairs
from lookalike.neighbors import blocks as near_blocks
from lookalike.neighbors.byte_queries import Bounds, ByteCodes, ByteQueries
from lookalike.neighbors.graph import NeighborGraph

MAX_QUERIES_PER_TASK = 32
# Candidates of the first pass beyond k: some may be excluded or undefined, and where no other row
# can be nearer, the second pass is not needed.
EXTRA_CANDIDATES = 22
MIN_TILES_PER_THREAD = 64
TILES_TO_BEGIN_WITH = 4
MAX_LIMIT_TO_MEDIAN = 1.5  # of the queries that are bounded by one box; chosen by hand
# Pairs that bounds compare in the time in which numpy compares one cell.
PAIRS_PER_CELL = 4
MIN_ROWS_FOR_CODES = 4 * kernels.TILE_ROWS  # below, brute force is as quick
# A search by bounds is given up where more than one row in so many remains. Chosen by hand.
MIN_ROWS_PER_CANDIDATE = 16
MAX_LISTED_CELLS = 2**18  # of lists that are looked through together
NO_ROW = np.float32(-1.0)  # a limit that no bound is below

# Distances of pairs (positions of queries, positions of rows).
Exact = Callable[[np.ndarray, np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]  # positions of queries, ascending, and of rows


class BoundedQuery(NamedTuple):
    """What ``nearest_by_codes`` needs from a measure.

    Parameters
    ----------
    codes : ByteCodes of the rows to be searched
    queries_of : callable from a slice or positions of the queries to their ByteQueries
    limit_of : callable from distances to the values that are bounded
    keep : callable that returns what a callable makes, or has made at an earlier call
    n_tiles : int, optional
        Compare a block of near queries with the rows of so many tiles at most, the nearest; None:
        with all that may hold one of the nearest rows, so that lists are exact.
    """

    codes: ByteCodes
    queries_of: Callable[[Any], ByteQueries]
    limit_of: Callable[[np.ndarray], np.ndarray]
    keep: Callable[[Callable[[], near_blocks.NearRows]], near_blocks.NearRows] = lambda make: make()
    n_tiles: int | None = None


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
    always: Callable[[np.ndarray], Pairs] | None = None,
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
    always : callable from positions of queries to pairs, optional
        Pairs (number of the query among these, row) to be compared whatever their bound.
    n_indexed : int
        Size of the collection.
    n_jobs : int, optional
    """
    codes, jobs = query.codes, count_jobs(n_jobs)
    lists = NeighborGraph.empty(n_queries, k, n_indexed, bool((exclude < 0).any()))
    left_over = np.zeros(n_queries, bool)
    may_list = np.empty(0, bool) if allowed is None else allowed
    tiles = len(codes.tiles)
    shares = [slice(0, tiles)]
    search = _Search(query, exact, exclude, ids, may_list, always, lists, left_over, shares)
    # A process that has few lists to find does not wait for the compiler.
    blockwise = (
        codes.n_rows
        and n_queries >= near_blocks.MIN_QUERIES
        and near_blocks.can_bound(query.queries_of(slice(0, 1)))
    )
    if blockwise and worth_compiling(scan, n_queries * codes.n_rows // PAIRS_PER_CELL):
        asked = _bytes_of(query, n_queries)
        near = query.keep(lambda: near_blocks.NearRows.make(codes, *asked[1:]))
        search, boxes = replace(search, near=near), [(at,) for at in near_blocks.in_order(*asked)]
        rest = np.concatenate(run(search.begin, boxes, jobs, "finding neighbors"))
        late = [(rest[part],) for part in blocks(len(rest), near_blocks.QUERIES_PER_BLOCK)]
        run(search.finish, late, jobs, "finding the last neighbors")
        return lists, left_over
    size = max(1, min(MAX_QUERIES_PER_TASK, -(-n_queries // jobs)))
    todo = [(np.arange(part.start, part.stop),) for part in blocks(n_queries, size)]
    # Few queries do not fill all threads: then each thread passes over a share of the tiles.
    shards = 1 if len(todo) >= jobs else max(1, min(jobs, tiles // MIN_TILES_PER_THREAD))
    if shards > 1:
        search = replace(search, shares=list(blocks(tiles, -(-tiles // shards))), jobs=jobs)
    run(search.part, todo, jobs if shards == 1 else 1, "finding neighbors")
    return lists, left_over


@dataclass(frozen=True, eq=False)
class _Search:
    """A search of few queries in two passes over the codes, or of many in blocks of near ones.

    Parameters
    ----------
    query, compare, exclude, ids, allowed, always : see ``nearest_by_codes``
    lists, left_over : what is filled
    shares : slices of the tiles, one for each thread in the first pass
    jobs : int, threads of the first pass
    near : near_blocks.NearRows, the rows in an order of near ones; for blocks
    """

    query: BoundedQuery
    compare: Exact
    exclude: np.ndarray
    ids: np.ndarray
    allowed: np.ndarray
    always: Callable[[np.ndarray], Pairs] | None
    lists: NeighborGraph
    left_over: np.ndarray
    shares: list[slice]
    jobs: int = 1
    near: Any = None

    def own_rows(self, at: np.ndarray) -> Pairs | None:
        """Return the pairs that are always compared, without those that may not be listed."""
        if self.always is None:
            return None
        left, right = self.always(at)
        listed = self.ids[right] != self.exclude[at][left]
        if len(self.allowed):
            listed &= self.allowed[right]
        return (left[listed], right[listed]) if listed.any() else None

    def rerank(self, at: np.ndarray, pairs: Pairs, own: Pairs | None, into: NeighborGraph) -> None:
        """Work pairs into the lists of the queries at some positions."""
        left, right = pairs
        if own is not None:  # one number per pair, so that ``unique`` sorts and removes repeats
            n = self.query.codes.n_rows
            both = np.concatenate([left, own[0]]) * n + np.concatenate([right, own[1]])
            left, right = np.divmod(np.unique(both), n)
        if into.indices.size and (into.indices[:, 0] >= 0).any():
            # A row is listed once, however often it is compared.
            new = np.empty(len(left), bool)
            for some in blocks(len(left), MAX_LISTED_CELLS // into.k):
                listed = into.indices[left[some]] == self.ids[right[some]][:, None]
                new[some] = ~listed.any(axis=1)
            left, right = left[new], right[new]
        if len(right):
            far, exclude = self.compare(at[left], right), self.exclude[at]
            keep_pairs(left, self.ids[right], far, exclude, into.distances, into.indices)

    def empty(self, at: np.ndarray) -> NeighborGraph:
        """Return empty lists for the queries at some positions."""
        return NeighborGraph.empty(len(at), self.lists.k, self.lists.n_indexed)

    def put(self, at: np.ndarray, lists: NeighborGraph) -> None:
        """Enter the lists of the queries at some positions."""
        self.lists.indices[at], self.lists.distances[at] = lists.indices, lists.distances

    def part(self, at: np.ndarray) -> None:
        """Fill the lists of some queries."""
        bounds, own = self.query.queries_of(at).bounds(self.query.codes), self.own_rows(at)
        lowest, proposed, beyond = self.propose(bounds)
        first = self.empty(at)
        self.rerank(at, proposed, own, first)
        worst = self.query.limit_of(first.distances[:, -1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            limits = np.where(bounds.unit > 0, near_blocks.raised(worst) / bounds.unit, np.inf)
            limits = np.nextafter(limits.astype(np.float32), np.float32(np.inf))
        done = limits < beyond  # no other row can be nearer than the k-th of the first pass
        if not done.all():
            remaining, too_many = self.collect(bounds, np.where(done, NO_ROW, limits), lowest)
            self.left_over[at] = too_many & ~done
            self.rerank(at, remaining, None, first)
        self.put(at, first)

    def propose(self, bounds: Bounds) -> tuple[np.ndarray, Pairs, np.ndarray]:
        """Return the lowest bound of every part, and the rows with the smallest bounds.

        The third is the smallest bound that any other row may have.
        """
        codes, n = self.query.codes, len(bounds.unit)
        size = min(codes.n_rows, self.lists.k + EXTRA_CANDIDATES)
        lowest = np.empty(
            (n, self.shares[-1].stop * (kernels.TILE_ROWS // kernels.PART_ROWS)), np.float32
        )

        def propose_share(share: slice) -> tuple[np.ndarray, np.ndarray]:
            best, rows = np.full((n, size), np.inf, np.float32), np.full((n, size), -1)
            kernels.propose(
                codes.tiles, codes.n_rows, self.allowed, bounds.queries, share.start,
                share.stop, *_scratch(bounds, kernels.TILE_ROWS), lowest, best, rows,
            )  # fmt: skip
            return best, rows

        if len(self.shares) == 1:
            best, rows = propose_share(self.shares[0])
        else:
            shares = [(share,) for share in self.shares]
            sides = zip(*run(propose_share, shares, self.jobs, "proposing neighbors"), strict=True)
            best, rows = (np.concatenate(side, axis=1) for side in sides)
            order = np.argsort(best, axis=1, kind="stable")[:, :size]
            best, rows = (np.take_along_axis(side, order, axis=1) for side in (best, rows))
        taken = rows >= 0
        beyond = best[:, -1] if size < codes.n_rows else np.full(n, np.inf, np.float32)
        return lowest, (np.nonzero(taken)[0], rows[taken]), beyond

    def collect(
        self, bounds: Bounds, limits: np.ndarray, lowest: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """Return the rows that no bound rules out, and for which queries these are too many."""
        codes = self.query.codes
        # Comparing more single rows than this takes longer than comparing all in blocks.
        most = max(MIN_ROWS_FOR_CODES, codes.n_rows // MIN_ROWS_PER_CANDIDATE)
        limits = np.where(np.isfinite(limits), limits, NO_ROW)
        rows = np.empty(most, np.int64)
        ends, parts, begin = np.zeros(len(limits), np.int64), [], 0
        scratch, counts = _scratch(bounds, kernels.PART_ROWS), np.zeros(len(limits), np.int64)
        # The kernel stops before a query whose rows no longer fit; then its buffer is copied.
        while begin < len(limits):
            done = kernels.collect(
                codes.tiles, codes.n_rows, self.allowed, bounds.queries, begin,
                len(limits), limits, most, *scratch, lowest, ends, rows,
            )  # fmt: skip
            last = np.where(ends < 0, -1 - ends, ends)[begin:done]
            counts[begin:done] = np.diff(last, prepend=0)
            parts.append(rows[: last[-1] if done > begin else 0].copy())
            begin = done
        too_many = (ends < 0) | (limits < 0)
        return (np.repeat(np.arange(len(limits)), counts), np.concatenate(parts)), too_many

    def begin(self, at: np.ndarray) -> np.ndarray:
        """Fill the lists of a block of queries; return the queries put off.

        Those are the queries with few near rows: their limits would let in rows for all others.
        """
        asked = self.query.queries_of(at)
        first = self.empty(at)
        # Limits to begin with: the other rows of the block, or the rows of the nearest tiles.
        if (own := self.own_rows(at)) is not None:
            right = np.unique(own[1])
            left = np.repeat(np.arange(len(at)), len(right))
            self.rerank(at, (left, np.tile(right, len(at))), None, first)
        for n_tiles in (TILES_TO_BEGIN_WITH, len(self.near.tiles)):
            bounded = np.isfinite(first.distances[:, -1])
            if bounded.all():
                break
            self.rerank(at, self.nearest_bounds(asked, n_tiles), None, first)
        bounded = np.isfinite(first.distances[:, -1])
        self.put(at, first)
        self.left_over[at[~bounded]] = True
        at, limits = at[bounded], self.query.limit_of(first.distances[bounded, -1])
        later = limits > MAX_LIMIT_TO_MEDIAN * np.median(limits) if len(at) else bounded[:0]
        self.finish(at[~later])
        return at[later]

    def nearest_bounds(self, asked: ByteQueries, n_tiles: int) -> Pairs:
        """Return the rows with the smallest bounds of the tiles nearest to a block."""
        numbers, _ = self.near.nearest(near_blocks.Block(asked, self.query.codes.gaps), n_tiles)
        some = self.near.take(numbers, self.allowed)
        codes = ByteCodes(some.tiles, len(some.allowed), self.query.codes.gaps)
        query, shares = self.query._replace(codes=codes), [slice(0, len(numbers))]
        search = replace(self, query=query, allowed=some.allowed, shares=shares)
        left, rows = search.propose(asked.bounds(codes))[1]
        return left, some.positions[rows]

    def finish(self, at: np.ndarray) -> None:
        """Compare all rows that no bound rules out with queries that have lists to begin with."""
        if not len(at):
            return
        first, n_pairs = self.lists[at], 0
        block = near_blocks.Block(self.query.queries_of(at), self.query.codes.gaps)
        most = len(at) * max(MIN_ROWS_FOR_CODES, self.query.codes.n_rows // MIN_ROWS_PER_CANDIDATE)

        def limits() -> np.ndarray:
            return self.query.limit_of(first.distances[:, -1])

        for numbers in self.near.near(block, limits, self.query.n_tiles):
            some, tile = self.near.take(numbers, self.allowed), 0
            while tile < len(numbers):
                tile, pairs = block.scan(some, tile, limits())
                self.rerank(at, pairs, None, first)
                n_pairs += len(pairs[0])
            if n_pairs > most:
                self.left_over[at] = True
                return
        self.put(at, first)


def near_order(query: BoundedQuery, n: int) -> np.ndarray | None:
    """Return positions of n rows so that near ones follow each other; None where bounds say none.

    Parameters
    ----------
    query : BoundedQuery, whose queries are the rows
    n : int
    """
    if not near_blocks.can_bound(query.queries_of(slice(0, 1))):
        return None
    near = query.keep(lambda: near_blocks.NearRows.make(query.codes, *_bytes_of(query, n)[1:]))
    return near.positions.ravel()[:n]


def _bytes_of(query: BoundedQuery, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes of n queries, kind and mean worth of the columns, as ``in_order`` takes."""
    kind = query.queries_of(slice(0, 1)).kind
    codes, worth = np.empty((n, len(kind)), np.uint8), np.zeros(len(kind))
    for part in blocks(n, 32 * near_blocks.QUERIES_PER_BLOCK):
        asked = query.queries_of(part)
        codes[part] = asked.cells
        worth += np.broadcast_to(asked.worth, asked.own.shape).sum(axis=0)
    return codes, kind, worth / max(1, n)


def _scratch(bounds: Bounds, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return working space for the kernels."""
    kind = bounds.queries.u.dtype
    return np.empty(size, kind), np.empty(size, kind), np.empty(size, np.float32)
