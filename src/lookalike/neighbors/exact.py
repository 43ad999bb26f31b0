"""Exact nearest neighbors by looking at everything, a block at a time.

Takes any comparison of blocks. Queries and collection are cut into parts; each part fills its own
lists, and lists merge. How the cut is made changes the time, never the answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lookalike._runtime.config import count_jobs, settings
from lookalike._runtime.threads import blocks, run
from lookalike.neighbors.graph import NeighborGraph

# Work the collection's rows in one slice into the lists of the queries in another.
Fill = Callable[[slice, slice, NeighborGraph], None]

WIDEST = 2048  # candidates that are worth a thread of their own
TALLEST = 256  # queries compared at once
LONG = 96  # neighbors from which on a list is filled as a heap, or
SORTED_SHARE = 4  # by sorting all candidates, if they are no more than so many times the list


def search(
    fill: Fill,
    n_queries: int,
    n_indexed: int,
    k: int,
    *,
    has_self: bool = False,
    n_jobs: int | None = None,
    tallest: int = TALLEST,
) -> NeighborGraph:
    """Return unfinished lists of the k nearest, filled side by side by threads.

    Parameters
    ----------
    fill : callable
        ``fill(queries, candidates, lists)`` works the candidates of one slice into the lists of
        the queries of another.
    n_queries, n_indexed : int
        Sizes of the two sides.
    k : int
        Length of the lists.
    has_self : bool
        Noted in the result.
    n_jobs : int, optional
        Threads.
    tallest : int
        The most queries handled together.
    """
    jobs = count_jobs(n_jobs)
    tall = max(1, min(tallest, -(-n_queries // jobs)))
    parts = list(blocks(n_queries, tall))
    # With few queries the collection is shared out instead, and the lists merged.
    shards = max(1, min(-(-2 * jobs // max(1, len(parts))), -(-n_indexed // WIDEST)))
    if len(parts) >= jobs:
        shards = 1
    shares = list(blocks(n_indexed, -(-n_indexed // shards))) or [slice(0, 0)]

    def one(queries: slice, candidates: slice) -> NeighborGraph:
        lists = NeighborGraph.empty(queries.stop - queries.start, k, n_indexed, has_self)
        fill(queries, candidates, lists)
        return lists

    tasks = [(part, share) for part in parts for share in shares]
    found = run(one, tasks, n_jobs, "finding neighbors")
    whole = NeighborGraph.empty(n_queries, k, n_indexed, has_self)
    for at, part in enumerate(parts):
        lists = found[at * len(shares)]
        for other in found[at * len(shares) + 1 : (at + 1) * len(shares)]:
            lists = lists.merge(other)
        whole.indices[part], whole.distances[part] = lists.indices, lists.distances
    return whole


def fill_by_blocks(
    compare: Callable[[slice, slice], np.ndarray],
    ids: np.ndarray,
    exclude: np.ndarray,
    width: int | None = None,
) -> Fill:
    """Make a ``fill`` out of a comparison that returns the distances of two slices as a block."""
    from lookalike.kernels import fallback
    from lookalike.kernels.first_use import pick
    from lookalike.kernels.lists import keep_in_heap, keep_nearest, sort_heaps

    def fill(queries: slice, candidates: slice, lists: NeighborGraph) -> None:
        tall = max(1, queries.stop - queries.start)
        # Half a megabyte stays in the cache; a block and what the comparison needs to make it stay
        # well below the memory limit.
        fits = min(65_536 // tall, settings().memory_limit // (64 * tall))
        wide = width or max(64, fits)
        # Inserting into a list costs its length, into a heap its logarithm; sorting all once is
        # cheaper than either where the list takes in a good part of the candidates.
        if lists.k > LONG and SORTED_SHARE * lists.k > candidates.stop - candidates.start:
            sort_all(compare, queries, candidates, wide, ids, exclude, lists)
            return
        long = lists.k > LONG
        if long:  # empty lists, or sorted the other way round, are heaps
            _turn(lists)
        cells = tall * (candidates.stop - candidates.start)
        keep = keep_in_heap if long else pick(keep_nearest, fallback.keep_nearest, cells)
        for part in blocks(candidates.stop - candidates.start, wide):
            at = slice(candidates.start + part.start, candidates.start + part.stop)
            block = compare(queries, at)
            keep(block, ids[at], exclude[queries], lists.distances, lists.indices)
        if long:
            sort_heaps(lists.distances, lists.indices)

    return fill


def sort_all(
    compare: Callable[[slice, slice], np.ndarray],
    queries: slice,
    candidates: slice,
    wide: int,
    ids: np.ndarray,
    exclude: np.ndarray,
    lists: NeighborGraph,
) -> None:
    """Work candidates into lists that hold a good part of them, by sorting them all."""
    from lookalike.kernels.lists import merge_lists

    n = candidates.stop - candidates.start
    if n == 0:
        return
    d = np.empty((queries.stop - queries.start, n))
    for part in blocks(n, wide):
        at = slice(candidates.start + part.start, candidates.start + part.stop)
        d[:, part] = compare(queries, at)
    d[np.isnan(d)] = np.inf  # pairs that cannot be compared come last
    names = ids[candidates]
    by_name = np.argsort(names)  # ties go to the lower id
    d, names = d[:, by_name], names[by_name]
    order = np.argsort(d, axis=1, kind="stable")
    distances, indices = np.take_along_axis(d, order, axis=1), names[order]
    barred = indices == exclude[queries][:, None]
    # Behind what is left out, every candidate moves up by one place.
    moved = np.minimum(np.arange(n) + np.logical_or.accumulate(barred, axis=1), n - 1)
    distances = np.take_along_axis(distances, moved, axis=1)
    indices = np.take_along_axis(indices, moved, axis=1)
    last = barred.any(axis=1)
    distances[last, n - 1 :], indices[last, n - 1 :] = np.inf, -1
    merge_lists(lists.distances, lists.indices, distances, indices)


def _turn(lists: NeighborGraph) -> None:
    """Turn lists round, the farthest first."""
    lists.distances[:] = lists.distances[:, ::-1].copy()
    lists.indices[:] = lists.indices[:, ::-1].copy()
