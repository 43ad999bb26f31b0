"""Nearest rows by paths in trees or common ancestors, in tiles large enough to share work.

All rows of a tile that end in one leaf share what is counted along its path, and every tile visits
all nodes or leaves once. The small blocks of queries of other measures would pay that for each
block: a cost that grows with the cube of the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import isqrt
from typing import TypeVar

import numpy as np

from lookalike._runtime.config import count_jobs, settings
from lookalike._runtime.threads import blocks, run
from lookalike.kernels.lists import merge_lists
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Ids, Rows, name_rows
from lookalike.neighbors.exact import fill_by_blocks
from lookalike.neighbors.graph import NeighborGraph
from lookalike.trees.thresholds.proximity import MAX_TILE_ROWS, count_usable

TILE_COPIES = 8  # of a tile in memory at the same time: halves, distances, the tile transposed


def nearest_in_tiles(
    measure: Measure,
    a: Rows,
    b: Rows,
    k: int,
    mirrored: bool,
    exclude: Ids,
    ids: Ids,
    tallest: int = MAX_TILE_ROWS,
) -> NeighborGraph:
    """Return unfinished lists of the k rows of b nearest to each row of a.

    Parameters
    ----------
    measure, a, b, k, exclude, ids : see ``Measure.nearest``
    mirrored : bool
        Whether a and b are the same rows and a pair has the same value both ways round, so that
        one tile serves the lists of both of its sides.
    tallest : int
        The most rows of a tile.
    """
    barred, names, n_indexed = named = name_rows(a, b, exclude, ids)
    jobs = getattr(measure, "n_jobs", None)
    threads = count_jobs(jobs)
    # As large as memory allows: every tile visits all nodes once, however few rows it has.
    fitting = isqrt(settings().memory_limit // (8 * TILE_COPIES * threads))
    side = max(64, min(tallest, fitting))
    if not mirrored:
        width = side * side // max(1, min(side, len(a)))
        fill = fill_by_blocks(lambda i, j: measure.block(a[i], b[j]), names, barred, width)
        return measure._search(fill, a, b, k, named, tall=side)
    lists = NeighborGraph.empty(len(a), k, n_indexed, bool((barred < 0).any()))
    merging = threading.Lock()  # two tiles may hold the same queries; merging is quick

    def keep(rows: slice, columns: slice, d: np.ndarray) -> None:
        part = NeighborGraph.empty(len(d), k, n_indexed)
        fill_by_blocks(lambda *_: d, names, barred, d.shape[1])(rows, columns, part)
        with merging:
            merge_lists(lists.distances[rows], lists.indices[rows], part.distances, part.indices)

    def compare(rows: slice, columns: slice) -> None:
        here = a[rows]
        d = measure.block(here, here if rows == columns else a[columns])
        keep(rows, columns, d)  # one tile serves the lists of both of its sides
        if rows != columns:
            keep(columns, rows, np.ascontiguousarray(d.T))

    # Parts of one size, and enough of them that no thread waits for a tile of the others.
    n_parts = max(-(-len(a) // side), min(isqrt(4 * threads) if threads > 1 else 1, len(a) // 256))
    parts = list(blocks(len(a), -(-len(a) // max(1, n_parts))))
    tiles = [(rows, columns) for i, rows in enumerate(parts) for columns in parts[i:]]
    run(compare, tiles, jobs, "finding neighbors")
    return lists


ROWS_PER_TILE = 256

Answer = TypeVar("Answer")


def find_range(
    compare: Callable[[Rows, Rows], np.ndarray], rows: Rows, n_jobs: int | None
) -> tuple[float, float]:
    """Return the smallest and the largest value over all pairs, each row with itself too."""

    def ends(a: Rows, b: Rows) -> tuple[float, float]:
        block = compare(a, b)
        return float(block.min()), float(block.max())

    lows, highs = zip(*_over_pairs(ends, rows, n_jobs), strict=True)
    return min(lows), max(highs)


def count_fallbacks(rows: Rows, n_jobs: int | None) -> int:
    """Return the number of pairs such that every tree was grown on one of the two rows."""

    def count(a: Rows, b: Rows) -> int:
        # Each pair once: only where the first row comes before the second.
        lost = count_usable(a.arrays["bag"], b.arrays["bag"]) == 0
        return int((lost & (a.seen[:, None] < b.seen)).sum())

    return sum(_over_pairs(count, rows, n_jobs))


def _over_pairs(
    task: Callable[[Rows, Rows], Answer], rows: Rows, n_jobs: int | None
) -> list[Answer]:
    """Call a task for tiles that cover every pair of rows."""
    parts = list(blocks(len(rows), ROWS_PER_TILE))
    tiles = [(rows[p], rows[q]) for i, p in enumerate(parts) for q in parts[i:]]
    return run(task, tiles, n_jobs, "looking at all pairs")
