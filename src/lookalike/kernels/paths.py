"""Paths of rows through trees, and the ratio similarity of rows with gaps or unequal weights.

Every row is compared with a block of others along its own path, so that a test which one of two
rows cannot answer is left out of that pair; ``halves`` has the shorter way for rows without gaps.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow


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
