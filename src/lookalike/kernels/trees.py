"""Facts about the nodes of a forest that follow from its shape: depth, leaves, tests met before.

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
        See ``test_facts``.
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
def shape_facts(feature, right, offsets, parent, depth, end, leaf, first, last, n_leaves):
    """Write parent, depth, end of subtree, leaf number and range of leaf numbers of every node."""
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        size = offsets[t + 1] - base
        parent[base] = -1
        depth[base] = 0
        count = 0
        for v in range(size):
            at = base + v
            if feature[at] >= 0:
                leaf[at] = -1
                other = base + right[at]
                parent[at + 1] = v
                parent[other] = v
                depth[at + 1] = depth[at] + 1
                depth[other] = depth[at] + 1
            else:
                leaf[at] = count
                count += 1
        n_leaves[t] = count
        # Children come after their parent, so going backwards meets them first.
        for v in range(size - 1, -1, -1):
            at = base + v
            if feature[at] >= 0:
                end[at] = end[base + right[at]]
                first[at] = first[at + 1]
                last[at] = last[base + right[at]]
            else:
                end[at] = v + 1
                first[at] = leaf[at]
                last[at] = leaf[at] + 1


@kernel
def test_facts(feature, test, offsets, parent, n_tests, repeat, slot, n_slots, height):
    """Say which tests, known by their content, a path meets again and which a tree holds twice.

    ``repeat``: an ancestor holds the same test. ``slot``: a number for each test that several nodes
    of the tree hold, -1 for the others. ``height``: how many different tests lead to the node.
    """
    held = np.zeros(n_tests, np.int64)
    met = np.zeros(n_tests, np.int64)  # tree + 1 where the number below is of this tree
    name = np.full(n_tests, -1, np.int64)
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        size = offsets[t + 1] - base
        for v in range(size):
            u = test[base + v]
            if u >= 0:
                if met[u] != t + 1:
                    met[u] = t + 1
                    held[u] = 0
                    name[u] = -1
                held[u] += 1
        slots = 0
        for v in range(size):
            at = base + v
            u = test[at]
            repeat[at] = 0
            slot[at] = -1
            if u >= 0 and held[u] > 1:
                if name[u] < 0:
                    name[u] = slots
                    slots += 1
                slot[at] = name[u]
                above = parent[at]
                while above >= 0:
                    if test[base + above] == u:
                        repeat[at] = 1
                        break
                    above = parent[base + above]
            if v == 0:
                height[at] = 0
            else:
                up = base + parent[at]
                height[at] = height[up] + (1 if repeat[up] == 0 else 0)
        n_slots[t] = slots


@kernel
def sum_down(weight, parent, offsets, total):
    """Write, for every node, the sum of the weights from the root down to it."""
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        total[base] = weight[base]
        for at in range(base + 1, offsets[t + 1]):
            total[at] = total[base + parent[at]] + weight[at]
