"""Exact nearest neighbors by brute force, a block of distances at a time.

Takes any comparison of blocks. Queries and collection are cut into parts; each part fills its own
lists, and lists merge. How the cut is made changes the time, never the answer.
"""

from collections.abc import Callable
from functools import reduce
from itertools import islice

import numpy as np

from lookalike._runtime.config import count_jobs, settings
from lookalike._runtime.threads import blocks, run
from lookalike.neighbors.graph import NeighborGraph

# Merge the collection's rows in one slice into the lists of the queries in another.
Fill = Callable[[slice, slice, NeighborGraph], None]

MIN_CANDIDATES_PER_THREAD = 2048
MAX_QUERIES_PER_BLOCK = 256
# Neighbors from which on a list is filled as a heap; chosen by hand. Sorting all candidates instead
# took up to twice as long on random distances, and was ahead only where lists are nearly complete
# (1,900 of 2,000 rows: 0.06 against 0.08 s).
MIN_HEAP_LENGTH = 96


def search(
    fill: Fill,
    n_queries: int,
    n_indexed: int,
    k: int,
    *,
    has_self: bool = False,
    n_jobs: int | None = None,
    tallest: int = MAX_QUERIES_PER_BLOCK,
) -> NeighborGraph:
    """Return unfinished lists of the k nearest, filled by threads in parallel.

    Parameters
    ----------
    fill : callable
        ``fill(queries, candidates, lists)`` merges the candidates of one slice into the lists of
        the queries of another.
    n_queries, n_indexed : int
        Sizes of the two sides.
    k : int
        Length of the lists.
    has_self : bool
        Stored in the result.
    n_jobs : int, optional
        Threads.
    tallest : int
        The most queries handled together.
    """
    jobs = count_jobs(n_jobs)
    parts = list(blocks(n_queries, max(1, min(tallest, -(-n_queries // jobs)))))
    # Few queries do not fill all threads: then the collection is cut too, into two shares per
    # thread so that none waits long for the last one, and the lists of the shares are merged.
    shards = 1
    if len(parts) < jobs:
        enough = -(-n_indexed // MIN_CANDIDATES_PER_THREAD)
        shards = max(1, min(-(-2 * jobs // max(1, len(parts))), enough))
    shares = list(blocks(n_indexed, -(-n_indexed // shards))) or [slice(0, 0)]

    def fill_lists(queries: slice, candidates: slice) -> NeighborGraph:
        lists = NeighborGraph.empty(queries.stop - queries.start, k, n_indexed, has_self)
        fill(queries, candidates, lists)
        return lists

    tasks = [(part, share) for part in parts for share in shares]
    filled = iter(run(fill_lists, tasks, n_jobs, "finding neighbors"))
    whole = NeighborGraph.empty(n_queries, k, n_indexed, has_self)
    for part in parts:
        lists = reduce(NeighborGraph.merge, islice(filled, len(shares)))
        whole.indices[part], whole.distances[part] = lists.indices, lists.distances
    return whole


def cut(span: slice, size: int) -> list[slice]:
    """Cut a slice into blocks."""
    start = span.start
    return [slice(start + b.start, start + b.stop) for b in blocks(span.stop - start, size)]


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
        tall, n = max(1, queries.stop - queries.start), candidates.stop - candidates.start
        # Half a megabyte stays in the cache; a block and what the comparison needs to make it stay
        # well below the memory limit.
        fits = min(65_536 // tall, settings().memory_limit // (64 * tall))
        wide = width or max(64, fits)
        # Inserting into a list costs its length, into a heap its logarithm.
        long = lists.k > MIN_HEAP_LENGTH
        if long:  # lists sorted in descending order (or empty) are max-heaps already
            for values in (lists.distances, lists.indices):
                values[:] = values[:, ::-1].copy()
        keep = keep_in_heap if long else pick(keep_nearest, fallback.keep_nearest, tall * n)
        for part in cut(candidates, wide):
            block = compare(queries, part)
            keep(block, ids[part], exclude[queries], lists.distances, lists.indices)
        if long:
            sort_heaps(lists.distances, lists.indices)

    return fill
