"""Similarity as a ratio of agreed tests: what two rows answer to the tests on either one's path.

For a tree, ``G(a, y)`` is the number of different tests on the path to leaf ``a`` that row ``y``
answers as the path does, ``C`` the number of those that also lie on the path of ``y``, and ``h``
the number of different tests on a path. With equal weights the similarity is

    (G(x, y) + G(y, x) - C) / (h(x) + h(y) - C) = F(x, y) + F(y, x),  F = (G - C / 2) / (h + h - C),

and F depends on x through its leaf only. So one pass down the tree gives F of all leaves against a
block of rows, and a test is asked of a row once, not once per pair.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow


class LeafGroups(NamedTuple):
    """Rows grouped by leaf in every tree, written by ``group_rows``.

    Parameters
    ----------
    order : int64 (trees, rows)
        Rows in the order of their leaves.
    start : int64
        Where the rows of each leaf begin; those of tree t at ``start[leaf_offsets[t] + t]``.
    wanted : uint8, one per node
        1 where the node lies on the path of any row.
    """

    order: np.ndarray
    start: np.ndarray
    wanted: np.ndarray


class Block(NamedTuple):
    """The rows of one side: their leaves (rows, trees), and their bins, one line per input."""

    leaf: np.ndarray
    bins: np.ndarray


@kernel
def sort_by_leaf(leaf, t, n_leaves, start, order):
    """Group rows by leaf: those of leaf a are ``order[start[a]:start[a + 1]]``."""
    n = leaf.shape[0]
    for a in range(n_leaves + 1):
        start[a] = 0
    for i in range(n):
        start[leaf[i, t] + 1] += 1
    for a in range(n_leaves):
        start[a + 1] += start[a]
    for i in range(n - 1, -1, -1):
        a = leaf[i, t] + 1
        start[a] -= 1
        order[start[a]] = i
    # Each start has moved to the beginning of its own group, one place to the right.
    for a in range(n_leaves):
        start[a] = start[a + 1]
    start[n_leaves] = n


@kernel
def group_rows(leaf, offsets, nodes, groups):
    """Group rows by leaf in every tree, and note the nodes that lie on the path of any row."""
    parent, leaf_node, leaf_offsets = nodes.parent, nodes.leaf_node, nodes.leaf_offsets
    order, start, wanted = groups
    for t in range(offsets.shape[0] - 1):
        base, leaf_base = offsets[t], leaf_offsets[t]
        n_leaves = leaf_offsets[t + 1] - leaf_base
        begin = start[leaf_base + t : leaf_base + t + n_leaves + 1]
        sort_by_leaf(leaf, t, n_leaves, begin, order[t])
        for v in range(base, offsets[t + 1]):
            wanted[v] = 0
        for a in range(n_leaves):
            if begin[a + 1] > begin[a]:
                v = leaf_node[leaf_base + a]
                while v >= 0 and wanted[base + v] == 0:
                    wanted[base + v] = 1
                    v = parent[base + v]


@kernel
def mark_shared(leaf, t, base, nodes, tests, on_path):
    """Note which of the tests that several nodes hold lie on the path of each row."""
    leaf_node, leaf_base, parent = nodes.leaf_node, nodes.leaf_offsets[t], nodes.parent
    slot, n_slots = tests.slot, tests.n_slots[t]
    m = leaf.shape[0]
    for s in range(n_slots):
        for y in range(m):
            on_path[s, y] = 0
    if n_slots == 0:
        return
    for y in range(m):
        v = leaf_node[leaf_base + leaf[y, t]]
        while v >= 0:
            s = slot[base + v]
            if s >= 0:
                on_path[s, y] = 1
            v = parent[base + v]


@kernel
def ratio_half(groups, side, splits, nodes, tests, sizes, once, counter, out):
    """Add F(x, y) of every tree to ``out``, for rows without gaps.

    The rows x come grouped by leaf, from ``group_rows``; ``side`` is the Block of the rows y.
    ``sizes``: greatest depth, nodes, leaves and slots of a tree. ``counter`` is an empty array
    whose type counts tests: it must hold the greatest depth. ``once`` counts a test on both paths
    with two outcomes once instead of twice: the denominator is then h + h minus the tests on both
    paths.
    """
    order, start, wanted = groups
    leaf_y, bins_y = side.leaf, side.bins
    feature, cut, _, equal, _, offsets = splits
    parent, depth, end, leaf = nodes.parent, nodes.depth, nodes.end, nodes.leaf
    leaf_node, leaf_offsets = nodes.leaf_node, nodes.leaf_offsets
    repeat, slot, height = tests.repeat, tests.slot, tests.height
    m = leaf_y.shape[0]
    deepest, most_slots = sizes[0], sizes[3]
    agreed = np.zeros((deepest + 1, m), counter.dtype)
    both = np.zeros((deepest + 1, m), counter.dtype)
    shared = np.zeros((deepest + 1, m), counter.dtype)  # tests on both paths, agreed or not
    along = np.ones((deepest + 1, m), np.uint8)  # does y pass through this node
    answer = np.zeros((deepest + 1, m), np.uint8)
    same = np.zeros(m, np.uint8)
    on_path = np.zeros((most_slots, m), np.uint8)
    tests_y, half = np.zeros(m), np.zeros(m)
    for t in range(offsets.shape[0] - 1):
        base, leaf_base = offsets[t], leaf_offsets[t]
        size = offsets[t + 1] - base
        mark_shared(leaf_y, t, base, nodes, tests, on_path)
        for y in range(m):
            tests_y[y] = height[base + leaf_node[leaf_base + leaf_y[y, t]]]
        v = 0
        while v < size:
            at = base + v
            if not wanted[at]:
                v = end[at]
                continue
            k = depth[at]
            if k > 0:
                up = base + parent[at]
                went = np.uint8(1 if v == parent[at] + 1 else 0)
                # One array is written per loop: with more of them the compiler cannot rule out that
                # they overlap, and gives up on vectors.
                for y in range(m):
                    same[y] = answer[k - 1, y] == went
                for y in range(m):
                    along[k, y] = along[k - 1, y] & same[y]
                if repeat[up]:  # the path has this test already: only the way down is noted
                    for y in range(m):
                        agreed[k, y] = agreed[k - 1, y]
                    for y in range(m):
                        both[k, y] = both[k - 1, y]
                else:
                    for y in range(m):
                        agreed[k, y] = add_narrow(agreed[k - 1, y], same[y] == 1)
                    if slot[up] >= 0:
                        s = slot[up]
                        for y in range(m):
                            both[k, y] = add_narrow(both[k - 1, y], (same[y] & on_path[s, y]) == 1)
                    else:  # a test held by one node: it is on both ways if y passes through it
                        for y in range(m):
                            both[k, y] = add_narrow(both[k - 1, y], along[k, y] == 1)
                if once:
                    for y in range(m):
                        if slot[up] >= 0:
                            met = on_path[slot[up], y] == 1
                        else:
                            met = along[k - 1, y] == 1
                        shared[k, y] = add_narrow(shared[k - 1, y], met & (repeat[up] == 0))
            f = feature[at]
            if f >= 0:
                c = cut[at]
                if equal[at]:
                    for y in range(m):
                        answer[k, y] = bins_y[f, y] == c
                else:
                    for y in range(m):
                        answer[k, y] = bins_y[f, y] <= c
            else:
                mine = float(height[at])
                for y in range(m):
                    c = float(both[k, y])
                    gone = float(shared[k, y]) if once else c
                    total = mine + tests_y[y] - gone
                    half[y] = (float(agreed[k, y]) - 0.5 * c) / total if total > 0.0 else 0.5
                a = leaf_base + t + leaf[at]
                for i in range(start[a], start[a + 1]):
                    x = order[t, i]
                    for y in range(m):
                        out[x, y] += half[y]
            v += 1


class PathCounts(NamedTuple):
    """Counts of tests on the path of one row, for every row of a block.

    Those whose answer both rows know, those on which they agree, and among the tests that lie on
    both paths those agreed and those apart.
    """

    known: np.ndarray
    agreed: np.ndarray
    both: np.ndarray
    apart: np.ndarray


@kernel
def follow_path(mine, x, t, block, leaf_y, splits, nodes, tests, on_path, unknown, counts):
    """Compare row x of ``mine`` with a block along its own path in tree t; write ``counts``.

    ``leaf_y`` are the leaves of the block in this tree, side by side in memory.
    """
    known, agreed, both, apart = counts
    bins_x, bins_y = mine.bins, block.bins
    feature, cut, _, equal, _, offsets = splits
    parent, first, last = nodes.parent, nodes.first, nodes.last
    repeat, slot = tests.repeat, tests.slot
    base = offsets[t]
    m = leaf_y.shape[0]
    for y in range(m):
        agreed[y], known[y], both[y], apart[y] = 0, 0, 0, 0
    v = nodes.leaf_node[nodes.leaf_offsets[t] + mine.leaf[x, t]]
    while parent[base + v] >= 0:
        child = v
        v = parent[base + v]
        at = base + v
        f, c = feature[at], cut[at]
        if repeat[at] or bins_x[f, x] == unknown:
            continue
        went_left = child == v + 1
        s, is_equal = slot[at], equal[at] == 1
        low, high = first[at], last[at]
        # No branches from here on, so that the loops run in vectors.
        for y in range(m):
            b = bins_y[f, y]
            left = (b == c) & is_equal | (b <= c) & (not is_equal)
            tells = b != unknown
            same = (left == went_left) & tells
            if s >= 0:
                met = on_path[s, y] == 1
            else:
                met = (low <= leaf_y[y]) & (leaf_y[y] < high)
            known[y] = add_narrow(known[y], tells)
            agreed[y] = add_narrow(agreed[y], same)
            both[y] = add_narrow(both[y], same & met)
            apart[y] = add_narrow(apart[y], tells & (not same) & met)


@kernel
def ratio_whole(one, other, splits, nodes, tests, most_slots, unknown, weights, once, counter, out):
    """Write the ratio similarity for any weights and rows with gaps; NaN where no tree can tell.

    A test that either row cannot answer is left out of that pair; a tree left without tests is left
    out of the mean. ``weights`` are those of the two differences. ``counter``: as for
    ``ratio_half``.
    """
    alpha, beta = weights
    n, m = one.leaf.shape[0], other.leaf.shape[0]
    kind = counter.dtype
    path_x, path_y = np.zeros((most_slots, n), np.uint8), np.zeros((most_slots, m), np.uint8)
    agreed_y, known_y = np.zeros((m, n), kind), np.zeros((m, n), kind)
    spare, spare_too = np.zeros(n, kind), np.zeros(n, kind)
    agreed, known, both, apart = (
        np.zeros(m, kind), np.zeros(m, kind), np.zeros(m, kind), np.zeros(m, kind),
    )  # fmt: skip
    here_x, here_y = np.zeros(n, np.int32), np.zeros(m, np.int32)
    counted = np.zeros((n, m), np.int32)
    for x in range(n):
        for y in range(m):
            out[x, y] = 0.0
    for t in range(splits.offsets.shape[0] - 1):
        base = splits.offsets[t]
        mark_shared(one.leaf, t, base, nodes, tests, path_x)
        mark_shared(other.leaf, t, base, nodes, tests, path_y)
        for x in range(n):
            here_x[x] = one.leaf[x, t]
        for y in range(m):
            here_y[y] = other.leaf[y, t]
        alone = splits.offsets[t + 1] - base == 1
        for y in range(m):
            follow_path(
                other, y, t, one, here_x, splits, nodes, tests, path_x, unknown,
                PathCounts(known_y[y], agreed_y[y], spare, spare_too),
            )  # fmt: skip
        for x in range(n):
            follow_path(
                one, x, t, other, here_y, splits, nodes, tests, path_y, unknown,
                PathCounts(known, agreed, both, apart),
            )  # fmt: skip
            for y in range(m):
                common = float(agreed[y]) + float(agreed_y[y, x]) - float(both[y])
                only_x = float(known[y]) - float(agreed[y])
                only_y = float(known_y[y, x]) - float(agreed_y[y, x])
                # The two differences are added to each other first: swapping rows swaps them.
                total = common + (alpha * only_x + beta * only_y)
                if once:
                    total -= 0.5 * (alpha + beta) * float(apart[y])
                if alone or common + only_x + only_y > 0.0:
                    counted[x, y] += 1
                    out[x, y] += common / total if total > 0.0 else (1.0 if alone else 0.0)
    for x in range(n):
        for y in range(m):
            out[x, y] = out[x, y] / counted[x, y] if counted[x, y] > 0 else np.nan
