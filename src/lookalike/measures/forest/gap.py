"""Draws of rows in the leaves of a forest: what RF-GAP weighs, and neighbor lists by it."""

from __future__ import annotations

import numpy as np

from lookalike.kernels.proximity import LeafMembers
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, name_rows
from lookalike.measures.forest.explain import FittedForest
from lookalike.neighbors.graph import NeighborGraph
from lookalike.trees.thresholds.flat import Forest

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
    from lookalike.kernels.proximity import share_draws

    codes, offsets = rows.arrays["codes"], fitted.forest.nodes.leaf_offsets
    shares, n_trees = np.empty(codes.shape), np.empty(len(codes), np.int64)
    share_draws(codes, rows.arrays["bag"], offsets, _drawn(fitted), shares, n_trees)
    return shares, n_trees


def _drawn(fitted: FittedForest) -> np.ndarray:
    """Return how many draws fell into each leaf, trees one after another."""
    assert fitted.values is not None
    nodes, first = fitted.forest.nodes, fitted.forest.offsets[:-1]
    # By their places, in less than half the time of a mask of all nodes.
    return np.asarray(fitted.values[np.repeat(first, nodes.n_leaves) + nodes.leaf_node])


def nearest_by_draws(
    measure: Measure,
    fitted: FittedForest,
    a: Rows,
    b: Rows,
    k: int,
    exclude: np.ndarray | None,
    ids: np.ndarray | None,
) -> NeighborGraph:
    """Search by the members of the leaves of each query, which are few of all rows."""
    from lookalike.kernels.proximity import nearest_members

    exclude, ids, _ = named = name_rows(a, b, exclude, ids)
    members = list_members(fitted, b)
    codes, bag = a.arrays["codes"], a.arrays["bag"]

    def fill(queries: slice, candidates: slice, lists: NeighborGraph) -> None:
        order = np.argsort(codes[queries, 0], kind="stable")
        nearest_members(
            codes[queries], bag[queries], order, members, candidates.start, candidates.stop, ids,
            exclude[queries], lists.distances, lists.indices,
        )  # fmt: skip

    # Every call clears a sum for each candidate: many queries share that.
    return measure._search(fill, a, b, k, named, tall=MAX_QUERIES)


def list_members(fitted: FittedForest, rows: Rows) -> LeafMembers:
    """Return the rows that each leaf was grown on, cached with them."""
    from lookalike.kernels.proximity import place_members

    known = rows.cache.get("members")
    if known is not None:
        return known
    codes, bag, offsets = rows.arrays["codes"], rows.arrays["bag"], fitted.forest.nodes.leaf_offsets
    # The largest member, and more than all lists together: four bytes each where they suffice.
    largest = max(256 * len(codes) + 255, codes.size + int(offsets[-1]))
    held = np.zeros(int(offsets[-1]), np.int32 if largest < 2**31 else np.int64)
    lists = place_members(codes, bag, offsets, held)
    drawn = _drawn(fitted)
    # Of a part of the rows, such as one without deleted rows, leaves hold fewer draws than counted.
    if bag.sum(dtype=np.int64) == drawn.sum():
        drawn = drawn[:0].copy()  # a view would keep all of them
    rows.cache["members"] = members = LeafMembers(offsets, held, lists, drawn)
    return members
