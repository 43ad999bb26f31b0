"""Neighbors of the rows of an index among all of its rows, some of them at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks
from lookalike.errors import Param, Phrase, TooLarge
from lookalike.index.segments import NO_POSITIONS, rows_at
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.matrices import moments
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph

QUERIES_PER_BLOCK = 1024  # whose lists are filled together; every shard is read once per block


def check_list_size(who: str, n: int, k: int, advice: str) -> None:
    """Refuse n lists of k that are larger than the memory limit.

    Parameters
    ----------
    who : str, the caller
    n, k : int
    advice : str, what else can be done
    """
    size, limit = 16 * n * k, settings().memory_limit  # an index and a distance, 8 bytes each
    if size > limit:
        hint = Phrase("Raise ", Param("memory_limit", of="config"), f"; {advice}")
        needed = f"lists under the memory limit of {show_bytes(limit)}"
        raise TooLarge(who, needed, show_bytes(size), hint)


def neighbors_of(now: Snapshot, start: int, stop: int, k: int) -> NeighborGraph:
    """Return unfinished lists of the k nearest rows of some rows, each left out of its own.

    Shard after shard is searched and the lists merge, so that it takes no more memory than a shard
    and a few queries.

    Parameters
    ----------
    now : Snapshot
    start, stop : int, positions of the rows
    k : int
    """
    lists = NeighborGraph.empty(stop - start, k, now.segments.next_position)
    for rows, positions in _rows_of(now, start, stop):
        some = now.segments.nearest(now.measure, rows, k, positions, NO_POSITIONS)
        lists.indices[positions - start] = some.indices
        lists.distances[positions - start] = some.distances
    return lists


def moments_of(
    now: Snapshot, start: int, stop: int, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the distances of some rows to a few rows.

    Parameters
    ----------
    now : Snapshot
    start, stop : int, positions of the rows
    reference : int64, positions of the rows they are compared with
    """
    mean, sd = np.full(stop - start, np.nan), np.full(stop - start, np.nan)
    others = rows_at(now.segments.look_up(reference.tolist()))
    for rows, positions in _rows_of(now, start, stop):
        _, mean[positions - start], sd[positions - start] = moments(
            now.measure, rows, others, False, None
        )
    return mean, sd


def _rows_of(now: Snapshot, start: int, stop: int) -> Iterator[tuple[Rows, np.ndarray]]:
    """Yield encoded rows and their positions, a block at a time, read from their segments."""
    for segment in now.segments.segments:
        first, last = np.searchsorted(segment.positions, [start, stop])
        for block in blocks(int(last - first), QUERIES_PER_BLOCK):
            part = slice(int(first) + block.start, int(first) + block.stop)
            live = segment.live[part]
            rows, positions = segment.rows[part], segment.positions[part]
            # Selected only where rows were deleted: a slice maps the file, a selection copies.
            if not live.all():
                rows, positions = rows[np.flatnonzero(live)], positions[live]
            if len(positions):
                yield rows, positions
