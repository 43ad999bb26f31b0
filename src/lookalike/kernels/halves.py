"""Ratio similarity of rows without gaps: what two rows answer to the tests on either one's path.

For a tree, ``G(a, y)`` is the number of different tests on the path to leaf ``a`` that row ``y``
answers as the path does, ``C`` the number of those that also lie on the path of ``y``, and ``h``
the number of different tests on a path. With equal weights the similarity is

    (G(x, y) + G(y, x) - C) / (h(x) + h(y) - C) = F(x, y) + F(y, x),  F = (G - C / 2) / (h + h - C),

and F depends on x through its leaf only. So one pass down the tree gives F of all leaves against a
block of rows, and a test is asked of a row once, not once per pair. What the leaves of a few trees
give is kept and added to the pairs together: sums of pairs come from far away, and are fetched once
for these trees instead of once for each.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow
from lookalike.kernels.paths import mark_shared

TREES = 4  # whose halves are added together; the loop of ``ratio_half`` is written out for them


class Places(NamedTuple):
    """Where rows end, written by ``place_rows``.

    Parameters
    ----------
    place : int32 (rows, trees)
        The leaf of each row, numbered among the leaves of its tree in which a row ends.
    number : int32, one per leaf of the forest
        The same number for every leaf; -1 where no row ends.
    wanted : uint8, one per node
        1 where the node lies on the path of any row.
    """

    place: np.ndarray
    number: np.ndarray
    wanted: np.ndarray


class Room(NamedTuple):
    """Memory for one pass down a tree: lines for each depth and row, or for each row."""

    agreed: np.ndarray
    both: np.ndarray
    shared: np.ndarray
    along: np.ndarray
    answer: np.ndarray
    same: np.ndarray
    on_path: np.ndarray
    tests_y: np.ndarray


@kernel
def place_rows(leaf, offsets, nodes, places):
    """Give numbers to leaves where rows end, note the nodes on their paths; return the most."""
    parent, leaf_node, leaf_offsets = nodes.parent, nodes.leaf_node, nodes.leaf_offsets
    place, number, wanted = places
    number[:] = -1
    wanted[:] = 0
    most = 0
    for t in range(offsets.shape[0] - 1):
        base, leaf_base = offsets[t], leaf_offsets[t]
        used = 0
        for i in range(leaf.shape[0]):
            a = leaf_base + leaf[i, t]
            if number[a] < 0:
                number[a] = used
                used += 1
                v = leaf_node[a]
                while v >= 0 and wanted[base + v] == 0:
                    wanted[base + v] = 1
                    v = parent[base + v]
            place[i, t] = number[a]
        most = max(most, used)
    return most


@kernel
def make_room(m, sizes, counter):
    """Return memory for m rows; ``sizes`` and ``counter`` as for ``ratio_half``."""
    deepest, most_slots = sizes[0], sizes[3]
    return Room(
        np.zeros((deepest + 1, m), counter.dtype),
        np.zeros((deepest + 1, m), counter.dtype),
        np.zeros((deepest + 1, m), counter.dtype),  # tests on both paths, agreed or not
        np.ones((deepest + 1, m), np.uint8),  # does y pass through this node
        np.zeros((deepest + 1, m), np.uint8),
        np.zeros(m, np.uint8),
        np.zeros((most_slots, m), np.uint8),
        np.zeros(m),
    )


@kernel
def leaf_halves(t, places, side, splits, cuts, nodes, tests, once, room, halves):
    """Write F of every wanted leaf of tree t against every row of a block."""
    leaf_y, bins_y = side.leaf, side.bins
    feature, offsets, equal = splits.feature, splits.offsets, splits.equal
    parent, depth, end, leaf = nodes.parent, nodes.depth, nodes.end, nodes.leaf
    leaf_node, leaf_base = nodes.leaf_node, nodes.leaf_offsets[t]
    repeat, slot, height = tests.repeat, tests.slot, tests.height
    number, wanted = places.number, places.wanted
    agreed, both, shared, along, answer, same, on_path, tests_y = room
    m = leaf_y.shape[0]
    base = offsets[t]
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
            c = cuts[at]  # of the type of the bins, so that nothing is widened
            if equal[at]:
                for y in range(m):
                    answer[k, y] = bins_y[f, y] == c
            else:
                for y in range(m):
                    answer[k, y] = bins_y[f, y] <= c
        else:
            mine = float(height[at])
            half = halves[number[leaf_base + leaf[at]]]
            gone = shared[k] if once else both[k]
            if mine > 0.0:
                for y in range(m):
                    total = mine + tests_y[y] - float(gone[y])
                    half[y] = (float(agreed[k, y]) - 0.5 * float(both[k, y])) / total
            else:
                for y in range(m):
                    half[y] = 0.5
        v += 1


@kernel
def ratio_half(places, side, splits, cuts, nodes, tests, sizes, once, counter, halves, out):
    """Add F(x, y) of every tree to ``out``, for rows without gaps.

    The rows x come as ``places``, from ``place_rows``; ``side`` is the Block of the rows y.
    ``cuts`` are those of ``splits`` in the type of the bins. ``sizes``: greatest depth, nodes,
    leaves and slots of a tree. ``counter`` is an empty array whose type counts tests: it must hold
    the greatest depth. ``once`` counts a test on both paths with two outcomes once instead of
    twice: the denominator is then h + h minus the tests on both paths. ``halves``, with TREES parts
    for the most leaves that ``place_rows`` has found, is scratch.
    """
    place = places.place
    n, n_trees = place.shape
    room = make_room(out.shape[1], sizes, counter)
    for start in range(0, n_trees, TREES):
        here = min(TREES, n_trees - start)
        for b in range(here):
            leaf_halves(
                start + b, places, side, splits, cuts, nodes, tests, once, room, halves[b]
            )  # fmt: skip
        if here == TREES:
            for x in range(n):
                one, two = halves[0, place[x, start]], halves[1, place[x, start + 1]]
                three, four = halves[2, place[x, start + 2]], halves[3, place[x, start + 3]]
                row = out[x]
                for y in range(row.shape[0]):
                    row[y] = (((row[y] + one[y]) + two[y]) + three[y]) + four[y]
        else:
            for b in range(here):
                for x in range(n):
                    half, row = halves[b, place[x, start + b]], out[x]
                    for y in range(row.shape[0]):
                        row[y] += half[y]


@kernel
def join_halves(one, other, n_trees):
    """Replace two mirrored tiles of a square of halves by their sums over the number of trees.

    On the diagonal both are the same tile.
    """
    n, m = one.shape
    turned = np.empty((n, m))
    for y in range(m):
        for x in range(n):
            turned[x, y] = other[y, x]
    for x in range(n):
        for y in range(m):
            turned[x, y] = (one[x, y] + turned[x, y]) / n_trees
    for x in range(n):
        for y in range(m):
            one[x, y] = turned[x, y]
    for y in range(m):
        for x in range(n):
            other[y, x] = turned[x, y]
