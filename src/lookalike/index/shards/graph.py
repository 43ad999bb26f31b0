"""Neighbors of the rows of an index among all of its rows, a part of them at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.index.segments import rows_at
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.matrices import moments
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph

TALL = 1024  # rows whose neighbors are found together


def neighbors_of(now: Snapshot, start: int, stop: int, k: int) -> NeighborGraph:
    """Return unfinished lists of the k nearest rows of some rows, each left out of its own.

    Shard after shard is searched and the lists merge, so that it takes no more memory than a shard
    and a few queries.

    Parameters
    ----------
    now : Snapshot
    start, stop : int, the numbers of the rows
    k : int
    """
    lists = NeighborGraph.empty(stop - start, k, now.segments.next_position)
    nobody = np.empty(0, np.int64)
    for rows, positions in _rows_of(now, start, stop):
        found = now.segments.nearest(now.measure, rows, k, positions, nobody)
        lists.indices[positions - start] = found.indices
        lists.distances[positions - start] = found.distances
    return lists


def moments_of(
    now: Snapshot, start: int, stop: int, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the distances of some rows to a few rows.

    Parameters
    ----------
    now : Snapshot
    start, stop : int, the numbers of the rows
    reference : int64, the numbers of the rows they are compared with
    """
    mean, sd = np.full(stop - start, np.nan), np.full(stop - start, np.nan)
    others = rows_at(now.segments.look_up(reference.tolist()))
    for rows, positions in _rows_of(now, start, stop):
        _, mean[positions - start], sd[positions - start] = moments(
            now.measure, rows, others, False, None
        )
    return mean, sd


def _rows_of(now: Snapshot, start: int, stop: int) -> Iterator[tuple[Rows, np.ndarray]]:
    """Yield encoded rows and their numbers, some at a time, read from their segments."""
    for segment in now.segments.segments:
        first, last = np.searchsorted(segment.positions, [start, stop])
        for at in blocks(int(last - first), TALL):
            part = slice(int(first) + at.start, int(first) + at.stop)
            live = segment.live[part]
            rows, positions = segment.rows[part], segment.positions[part]
            if not live.all():
                rows, positions = rows[np.flatnonzero(live)], positions[live]
            if len(positions):
                yield rows, positions
