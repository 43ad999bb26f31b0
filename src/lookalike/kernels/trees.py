"""Forests of thresholds as flat arrays: the shape of their trees, and the leaves of rows.

Nodes of a tree are in preorder: a left child follows its parent, a subtree is a range of nodes, and
its leaves are a range of leaf numbers. ``left``, ``right``, ``end`` and ``parent`` count nodes from
the beginning of their tree.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel


class Splits(NamedTuple):
    """What a walk down trees needs: one entry per node, and where each tree begins.

    ``cut`` is the threshold (or category) as a place among the cuts of its input; see ``Tests``.
    """

    feature: np.ndarray
    cut: np.ndarray
    right: np.ndarray
    equal: np.ndarray
    default: np.ndarray
    offsets: np.ndarray


class Nodes(NamedTuple):
    """What follows from the shape of a forest; one entry per node unless said otherwise.

    Parameters
    ----------
    parent, depth : int32
        Parent within the tree (-1 for a root) and number of edges from the root.
    end : int32
        One past the last node of the subtree, within the tree.
    leaf : int32
        Number of a leaf within its tree, from left to right; -1 inside.
    first, last : int32
        The leaves below a node are numbered ``first .. last - 1``.
    n_leaves : int64, one per tree
    leaf_node : int32
        Node (within its tree) of every leaf; tree t has ``leaf_offsets[t]:leaf_offsets[t + 1]``.
    leaf_offsets : int64, one per tree and one more
    """

    parent: np.ndarray
    depth: np.ndarray
    end: np.ndarray
    leaf: np.ndarray
    first: np.ndarray
    last: np.ndarray
    n_leaves: np.ndarray
    leaf_node: np.ndarray
    leaf_offsets: np.ndarray


class Tests(NamedTuple):
    """The tests of a forest by content: the same question in two nodes is one test.

    Parameters
    ----------
    cuts : float64
        The different thresholds (or category codes) of input 0, ascending, then of input 1, ...
    cut_offsets : int64, one per input and one more
    category : uint8, one per input
        1 where the tests on this input ask "is it equal to", 0 where they ask "is it at most".
    test : int32, one per node
        Place in ``cuts``; -1 in leaves. Equal numbers are equal tests.
    cut : int32, one per node
        The same, counted within the input.
    repeat, slot, n_slots, height
        See ``find_repeated_tests``.
    """

    cuts: np.ndarray
    cut_offsets: np.ndarray
    category: np.ndarray
    test: np.ndarray
    cut: np.ndarray
    repeat: np.ndarray
    slot: np.ndarray
    n_slots: np.ndarray
    height: np.ndarray


@kernel
def order_nodes(feature, left, right, offsets, order, place):
    """Write a preorder of every tree: ``order[new] = old`` and ``place[old] = new``.

    Both count within the tree. Returns the first tree that is no tree (a child outside, a node met
    twice or never), or -1.
    """
    stack = np.empty(feature.shape[0] + 1, np.int64)
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        size = offsets[t + 1] - base
        if size < 1:
            return t
        for v in range(size):
            place[base + v] = -1
        stack[0] = 0
        top = 1
        made = 0
        while top > 0:
            top -= 1
            v = stack[top]
            # Files may be damaged: a child outside its tree or a cycle must end here, not in a walk
            # without end.
            if v < 0 or v >= size or place[base + v] >= 0:
                return t
            order[base + made] = v
            place[base + v] = made
            made += 1
            if feature[base + v] >= 0:
                if top + 2 > size + 1:
                    return t
                stack[top] = right[base + v]
                stack[top + 1] = left[base + v]
                top += 2
        if made != size:
            return t
    return -1


@kernel
def write_shapes(feature, right, offsets, parent, depth, end, leaf, first, last, n_leaves):
    """Write parent, depth, end of subtree, leaf number and range of leaf numbers of every node."""
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        size = offsets[t + 1] - base
        parent[base] = -1
        depth[base] = 0
        count = 0
        for v in range(size):
            node = base + v
            if feature[node] >= 0:
                leaf[node] = -1
                other = base + right[node]
                parent[node + 1] = v
                parent[other] = v
                depth[node + 1] = depth[node] + 1
                depth[other] = depth[node] + 1
            else:
                leaf[node] = count
                count += 1
        n_leaves[t] = count
        # Children come after their parent, so going backwards meets them first.
        for v in range(size - 1, -1, -1):
            node = base + v
            if feature[node] >= 0:
                end[node] = end[base + right[node]]
                first[node] = first[node + 1]
                last[node] = last[base + right[node]]
            else:
                end[node] = v + 1
                first[node] = leaf[node]
                last[node] = leaf[node] + 1


@kernel
def find_repeated_tests(test, offsets, parent, n_tests, repeat, slot, n_slots, height):
    """Say which tests, known by their content, a path meets again and which a tree holds twice.

    ``repeat``: an ancestor holds the same test. ``slot``: a number for each test that several nodes
    of the tree hold, -1 for the others. ``height``: how many different tests lead to the node.
    """
    held = np.zeros(n_tests, np.int64)  # of the tree: cleared after each
    name = np.full(n_tests, -1, np.int64)
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        size = offsets[t + 1] - base
        for v in range(size):
            if test[base + v] >= 0:
                held[test[base + v]] += 1
        slots = 0
        for v in range(size):
            node = base + v
            u = test[node]
            repeat[node] = 0
            slot[node] = -1
            if u >= 0 and held[u] > 1:
                if name[u] < 0:
                    name[u] = slots
                    slots += 1
                slot[node] = name[u]
                above = parent[node]
                while above >= 0:
                    if test[base + above] == u:
                        repeat[node] = 1
                        break
                    above = parent[base + above]
            if v == 0:
                height[node] = 0
            else:
                up = base + parent[node]
                height[node] = height[up] + (1 if repeat[up] == 0 else 0)
        n_slots[t] = slots
        for v in range(size):
            if test[base + v] >= 0:
                held[test[base + v]], name[test[base + v]] = 0, -1


# -- rows walk down trees: bins, leaves, counts, shares of leaves where values are missing ---------
#
# A row is kept as bins: for each input the number of cuts below its value (for a category: the
# position of its code among the cuts, or their number if it is none of them). A test then
# compares two integers. ``unknown`` is the bin of a missing value.

BLOCK_ROWS = 256  # rows that walk down one tree before the next tree is fetched


@kernel
def bin_values(values, cuts, cut_offsets, category, unknown, out):
    """Write the bins of rows; an input that no test asks for has bin 0 throughout."""
    for j in range(values.shape[1]):
        start, stop = cut_offsets[j], cut_offsets[j + 1]
        for i in range(values.shape[0]):
            x = values[i, j]
            if np.isnan(x):
                out[i, j] = unknown if start < stop else 0
                continue
            # Binary search for the number of cuts below x: x <= cuts[k] exactly if the bin is at
            # most k.
            low, high = start, stop
            while low < high:
                middle = (low + high) >> 1
                if cuts[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if category[j] and (low == stop or cuts[low] != x):
                low = stop
            out[i, j] = low - start


@kernel
def goes_left(bin, cut, equal, default, unknown):
    """Whether a value goes left; a missing one goes by the default side."""
    if bin == unknown:
        return default == 1
    if equal:
        return bin == cut
    return bin <= cut


@kernel
def find_leaves(bins, splits, leaf, unknown, out):
    """Write the leaf number of every row in every tree."""
    # Taken apart once: counting references to six arrays would cost more than a short walk.
    feature, cut, right, equal, default, offsets = splits
    n = bins.shape[0]
    for start in range(0, n, BLOCK_ROWS):
        stop = min(n, start + BLOCK_ROWS)
        for t in range(offsets.shape[0] - 1):
            base = offsets[t]
            for i in range(start, stop):
                row, node = bins[i], base
                while feature[node] >= 0:
                    left = goes_left(
                        row[feature[node]], cut[node], equal[node], default[node], unknown
                    )
                    node = node + 1 if left else base + right[node]
                out[i, t] = leaf[node]


@kernel
def count_rows(bins, splits, trees, unknown, follow, mass, side):
    """Count the rows in every node of some trees, and choose the side of missing values.

    With ``follow`` a missing value takes the side of more known values (ties: left), else the
    default. ``trees`` is a range, first and one past the last.
    """
    feature, cut, right, equal, default, offsets = splits
    n = bins.shape[0]
    rows = np.empty(n, np.int64)
    for t in range(trees[0], trees[1]):
        base = offsets[t]
        size = offsets[t + 1] - base
        start = np.zeros(size, np.int64)
        stop = np.zeros(size, np.int64)
        stop[0] = n
        for i in range(n):
            rows[i] = i
        for v in range(size):
            node = base + v
            mass[node] = stop[v] - start[v]
            side[node] = default[node]
            f = feature[node]
            if f < 0:
                continue
            if follow:
                known = 0
                lefts = 0
                for i in range(start[v], stop[v]):
                    b = bins[rows[i], f]
                    if b != unknown:
                        known += 1
                        lefts += goes_left(b, cut[node], equal[node], 1, unknown)
                side[node] = 1 if 2 * lefts >= known else 0
            low, high = start[v], stop[v]
            while low < high:
                if goes_left(bins[rows[low], f], cut[node], equal[node], side[node], unknown):
                    low += 1
                else:
                    high -= 1
                    rows[low], rows[high] = rows[high], rows[low]
            start[v + 1], stop[v + 1] = start[v], low
            start[right[node]], stop[right[node]] = low, stop[v]


@kernel
def share_leaves(bins, splits, mass, nodes, unknown, by_mass, out, weights):
    """Spread one row over the leaves it may belong to; return how many there are.

    At a test on a missing value the weight is split in halves, or by the fitted counts of the two
    children. Leaves are numbered over the whole forest and come in ascending order. With empty
    ``out`` they are only counted.
    """
    feature, cut, right, equal, _, offsets = splits
    made = 0
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        carried = np.empty(offsets[t + 1] - base)  # each entry is written before it is read
        carried[0], v = 1.0, 0
        while v < carried.shape[0]:
            node, weight = base + v, carried[v]
            if weight == 0.0:  # nor does anything below the node get any
                v = nodes.end[node]
                continue
            if feature[node] >= 0:
                b, share = bins[feature[node]], 0.5
                if b != unknown:
                    share = 1.0 if goes_left(b, cut[node], equal[node], 1, unknown) else 0.0
                elif by_mass:
                    lefts, rights = mass[node + 1], mass[base + right[node]]
                    if lefts + rights > 0:
                        share = lefts / (lefts + rights)
                carried[v + 1], carried[right[node]] = weight * share, weight * (1.0 - share)
            else:
                if out.shape[0] > 0:
                    out[made], weights[made] = nodes.leaf_offsets[t] + nodes.leaf[node], weight
                made += 1
            v += 1
    return made
