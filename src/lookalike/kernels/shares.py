"""Leaf sharing for rows that belong to several leaves because of missing values."""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel


class SpreadRows(NamedTuple):
    """Rows and the leaves they belong to, numbered over the forest.

    A row without gaps has an empty list: its leaf in tree t is ``leaf_offsets[t] + codes[row, t]``.

    Parameters
    ----------
    codes : unsigned (rows, trees)
    bag : uint8 (rows, trees)
        1 where the tree was grown on the row; empty where nobody asks.
    leaf, weight : int32 and float64
        The leaves of rows with gaps, ascending, and their weights.
    start : int64 (rows + 1,)
        Where the list of each row begins.
    """

    codes: np.ndarray
    bag: np.ndarray
    leaf: np.ndarray
    weight: np.ndarray
    start: np.ndarray


@kernel
def write_weights(side, x, leaf_offsets, weight, factor):
    """Write the weights of row x, times a factor of 1 or 0, to its leaves."""
    if side.start[x] == side.start[x + 1]:
        for t in range(side.codes.shape[1]):
            weight[leaf_offsets[t] + side.codes[x, t]] = factor
    for i in range(side.start[x], side.start[x + 1]):
        weight[side.leaf[i]] = side.weight[i] * factor


@kernel
def overlap_soft(one, other, leaf_offsets, out):
    """Write the mean overlap of all rows of one side with all rows of the other.

    Products are added in the order of the leaves whichever side is spread out, so that exchanging
    the two sides gives the same bits.
    """
    trees = one.codes.shape[1]
    weight = np.zeros(leaf_offsets[trees])
    for x in range(one.codes.shape[0]):
        write_weights(one, x, leaf_offsets, weight, 1.0)
        for y in range(other.codes.shape[0]):
            total = 0.0
            if other.start[y] == other.start[y + 1]:
                for t in range(trees):
                    total += weight[leaf_offsets[t] + other.codes[y, t]]
            for i in range(other.start[y], other.start[y + 1]):
                total += weight[other.leaf[i]] * other.weight[i]
            out[x, y] = total / trees
        write_weights(one, x, leaf_offsets, weight, 0.0)


@kernel
def overlap_out_of_bag(one, other, leaf_offsets, out):
    """Write the overlap over the trees grown on neither row; over all trees if there is none."""
    trees = one.codes.shape[1]
    weight = np.zeros(leaf_offsets[trees])
    tree = np.empty(leaf_offsets[trees], np.int64)
    for t in range(trees):
        tree[leaf_offsets[t] : leaf_offsets[t + 1]] = t
    uses = np.empty(trees, np.bool_)
    for x in range(one.codes.shape[0]):
        write_weights(one, x, leaf_offsets, weight, 1.0)
        for y in range(other.codes.shape[0]):
            usable = 0
            for t in range(trees):
                uses[t] = one.bag[x, t] == 0 and other.bag[y, t] == 0
                usable += uses[t]
            total = 0.0
            if other.start[y] == other.start[y + 1]:
                for t in range(trees):
                    if usable == 0 or uses[t]:
                        total += weight[leaf_offsets[t] + other.codes[y, t]]
            for i in range(other.start[y], other.start[y + 1]):
                if usable == 0 or uses[tree[other.leaf[i]]]:
                    total += weight[other.leaf[i]] * other.weight[i]
            out[x, y] = total / (usable if usable > 0 else trees)
        write_weights(one, x, leaf_offsets, weight, 0.0)
