"""Nearest rows by ways down trees or common ancestors, in tiles large enough to share them.

All rows of a tile that end in one leaf share what is counted on the way to it, and every tile pays
for looking at all nodes or leaves once. Small blocks of queries, as other measures like them, would
pay that for each block: a cost that grows with the cube of the rows.
"""

from __future__ import annotations

import threading
from math import isqrt

import numpy as np

from lookalike._runtime.config import count_jobs, settings
from lookalike._runtime.threads import blocks, run
from lookalike.kernels.lists import merge_lists
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.lists import Ids, name_rows
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.exact import fill_by_blocks
from lookalike.neighbors.graph import NeighborGraph
from lookalike.trees.thresholds.ratio import TALL

COPIES = 8  # of a tile that are there at the same time: halves, distances, the tile turned


def nearest_in_tiles(
    measure: Measure, a: Rows, b: Rows, k: int, mirrored: bool, exclude: Ids, ids: Ids
) -> NeighborGraph:
    """Return unfinished lists of the k rows of b nearest to each row of a.

    Parameters
    ----------
    measure, a, b, k, exclude, ids : see ``Measure.nearest``
    mirrored : bool
        Whether a and b are the same rows and a pair has the same value both ways round, so that
        one tile serves the lists of both of its sides.
    """
    barred, names, n_indexed = name_rows(a, b, exclude, ids)
    jobs = getattr(measure, "n_jobs", None)
    threads = count_jobs(jobs)
    side = max(64, min(TALL, isqrt(settings().memory_limit // (8 * COPIES * threads))))
    if not mirrored:
        width = side * side // max(1, min(side, len(a)))
        fill = fill_by_blocks(lambda i, j: measure.block(a[i], b[j]), names, barred, width)
        return measure._search(fill, a, b, k, barred, n_indexed, tallest=side)
    found = NeighborGraph.empty(len(a), k, n_indexed, bool((barred < 0).any()))
    merging = threading.Lock()

    def keep(rows: slice, columns: slice, d: np.ndarray) -> None:
        part = NeighborGraph.empty(len(d), k, n_indexed)
        fill_by_blocks(lambda *_: d, names, barred, d.shape[1])(rows, columns, part)
        with merging:
            merge_lists(found.distances[rows], found.indices[rows], part.distances, part.indices)

    def one(rows: slice, columns: slice) -> None:
        here = a[rows]
        d = measure.block(here, here if rows == columns else a[columns])
        keep(rows, columns, d)
        if rows != columns:
            keep(columns, rows, np.ascontiguousarray(d.T))

    # Parts of one size, and enough of them that no thread waits for a tile of the others.
    n_parts = max(-(-len(a) // side), min(isqrt(4 * threads) if threads > 1 else 1, len(a) // 256))
    parts = list(blocks(len(a), -(-len(a) // max(1, n_parts))))
    tiles = [(rows, columns) for at, rows in enumerate(parts) for columns in parts[at:]]
    run(one, tiles, jobs, "finding neighbors")
    return found
