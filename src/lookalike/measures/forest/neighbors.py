"""Nearest rows by shared leaves, by draws in leaves, and by paths or common ancestors.

The last are compared in tiles large enough to share work. All rows of a tile that end in one leaf
share what is counted along its path, and every tile visits all nodes or leaves once. The small
blocks of queries of other measures would pay that for each block: a cost that grows with the cube
of the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import isqrt
from typing import TypeVar

import numpy as np

from lookalike._runtime.config import count_jobs, settings
from lookalike._runtime.threads import blocks, run
from lookalike.kernels import proximity as kernels
from lookalike.kernels.lists import merge_lists
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Named, Rows, kept_beside
from lookalike.measures.forest.explain import FittedForest
from lookalike.neighbors.exact import fill_by_blocks
from lookalike.neighbors.graph import NeighborGraph
from lookalike.trees.thresholds.flat import Forest

TILE_COPIES = 8  # of a tile in memory at the same time: halves, distances, the tile transposed


def nearest_in_tiles(
    measure: Measure, a: Rows, b: Rows, k: int, named: Named, mirrored: bool, tallest: int
) -> NeighborGraph:
    """Return unfinished lists of the k rows of b nearest to each row of a.

    Parameters
    ----------
    measure, a, b, k, named : see ``Measure.find_nearest``
    mirrored : bool
        Whether a and b are the same rows and a pair has the same value both ways round, so that
        one tile serves the lists of both of its sides.
    tallest : int
        The most rows of a tile.
    """
    barred, names, n_indexed = named
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


def nearest_by_leaves(measure: Measure, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
    """Search by leaf codes alone: a distance that falls with the number of shared leaves."""
    barred, names, _ = named
    x, y = a.arrays["codes"], b.arrays["codes"]
    trees = x.shape[1]
    # The distance of every possible number of shared leaves, rounded as ``compare`` does.
    table = np.maximum(1.0 - np.arange(trees + 1) / trees, 0.0)
    if measure.traits.conversion == "sqrt":
        table = np.sqrt(table)

    def fill(queries: slice, candidates: slice, lists: NeighborGraph) -> None:
        kernels.nearest_by_matches(
            x[queries], y[candidates], table, names[candidates], barred[queries],
            lists.distances, lists.indices,
        )  # fmt: skip

    return measure._search(fill, a, b, k, named)


# -- draws of rows in leaves: what RF-GAP weighs ---------------------------------------------------

MAX_QUERIES = 8_192  # that share the sums of a thread


def count_draws(forest: Forest, rows: Rows) -> np.ndarray:
    """Return how many draws of the table's rows fell into each node; 0 but in leaves."""
    offsets, codes, bag = forest.nodes.leaf_offsets, rows.arrays["codes"], rows.arrays["bag"]
    drawn = np.zeros(int(offsets[-1]))
    for t, first in enumerate(offsets[:-1]):
        drawn[first : offsets[t + 1]] = np.bincount(
            codes[:, t], bag[:, t], int(offsets[t + 1] - first)
        )
    nodes = np.zeros(len(forest.feature))
    nodes[forest.nodes.leaf >= 0] = drawn
    return nodes


def draw_shares(fitted: FittedForest, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return what one draw counts for each row in each tree, and how many trees count for it."""
    total = _drawn(fitted)[fitted.forest.nodes.leaf_offsets[:-1] + rows.arrays["codes"]]
    counts = (total > 0.0) & (rows.arrays["bag"] == 0)
    # Only if no tree is left that was not grown on the row all count.
    counts = np.where(counts.any(axis=1, keepdims=True), counts, total > 0.0)
    shares = np.divide(1.0, total, out=np.zeros(total.shape), where=counts)
    return shares, counts.sum(axis=1)


def _drawn(fitted: FittedForest) -> np.ndarray:
    """Return how many draws fell into each leaf, trees one after another."""
    assert fitted.values is not None
    nodes, first = fitted.forest.nodes, fitted.forest.offsets[:-1]
    # By their places, in less than half the time of a mask of all nodes.
    return np.asarray(fitted.values[np.repeat(first, nodes.n_leaves) + nodes.leaf_node])


def nearest_by_draws(
    measure: Measure, fitted: FittedForest, a: Rows, b: Rows, k: int, named: Named
) -> NeighborGraph:
    """Search by the members of the leaves of each query, which are few of all rows."""
    barred, names, _ = named
    members = kept_beside(b, "members", lambda: list_members(fitted, b))
    codes, bag = a.arrays["codes"], a.arrays["bag"]

    def fill(queries: slice, candidates: slice, lists: NeighborGraph) -> None:
        order = np.argsort(codes[queries, 0], kind="stable")
        kernels.nearest_members(
            codes[queries], bag[queries], order, members, candidates.start, candidates.stop, names,
            barred[queries], lists.distances, lists.indices,
        )  # fmt: skip

    # Every call clears a sum for each candidate: many queries share that.
    return measure._search(fill, a, b, k, named, tall=MAX_QUERIES)


def list_members(fitted: FittedForest, rows: Rows) -> kernels.LeafMembers:
    """Return the rows that each leaf was grown on."""
    codes, bag, offsets = rows.arrays["codes"], rows.arrays["bag"], fitted.forest.nodes.leaf_offsets
    # The largest member, and more than all lists together: four bytes each where they suffice.
    largest = max(256 * len(codes) + 255, codes.size + int(offsets[-1]))
    held = np.zeros(int(offsets[-1]), np.int32 if largest < 2**31 else np.int64)
    lists = kernels.place_members(codes, bag, offsets, held)
    drawn = _drawn(fitted)
    # Of a part of the rows, such as one without deleted rows, leaves hold fewer draws than counted.
    if bag.sum(dtype=np.int64) == drawn.sum():
        drawn = drawn[:0].copy()  # a view would keep all of them
    return kernels.LeafMembers(offsets, held, lists, drawn)


# -- all pairs ----------------------------------------------------------------------------------

ROWS_PER_TILE = 256

Answer = TypeVar("Answer")


def over_pairs(
    task: Callable[[Rows, Rows], Answer], rows: Rows, n_jobs: int | None
) -> list[Answer]:
    """Call a task for tiles that cover every pair of rows."""
    parts = list(blocks(len(rows), ROWS_PER_TILE))
    tiles = [(rows[p], rows[q]) for i, p in enumerate(parts) for q in parts[i:]]
    return run(task, tiles, n_jobs, "looking at all pairs")
