"""Leaf sharing for rows that belong to several leaves because of missing values."""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def overlap_soft(
    codes_x, leaf_x, weight_x, start_x, codes_y, leaf_y, weight_y, start_y, leaf_offsets, out
):
    """Write the mean overlap of all rows of x with all rows of y.

    A row without gaps has an empty list: its leaf in tree t is ``leaf_offsets[t] + code``. Products
    are added in the order of the leaves whichever side is spread out, so that exchanging the two
    sides gives the same bits.
    """
    trees = codes_x.shape[1]
    weight = np.zeros(leaf_offsets[trees])
    for x in range(codes_x.shape[0]):
        if start_x[x] == start_x[x + 1]:
            for t in range(trees):
                weight[leaf_offsets[t] + codes_x[x, t]] = 1.0
        for i in range(start_x[x], start_x[x + 1]):
            weight[leaf_x[i]] = weight_x[i]
        for y in range(codes_y.shape[0]):
            total = 0.0
            if start_y[y] == start_y[y + 1]:
                for t in range(trees):
                    total += weight[leaf_offsets[t] + codes_y[y, t]]
            for i in range(start_y[y], start_y[y + 1]):
                total += weight[leaf_y[i]] * weight_y[i]
            out[x, y] = total / trees
        if start_x[x] == start_x[x + 1]:
            for t in range(trees):
                weight[leaf_offsets[t] + codes_x[x, t]] = 0.0
        for i in range(start_x[x], start_x[x + 1]):
            weight[leaf_x[i]] = 0.0


@kernel
def overlap_out_of_bag(
    codes_x, bag_x, leaf_x, weight_x, start_x, codes_y, bag_y, leaf_y, weight_y, start_y,
    leaf_offsets, out,
):  # fmt: skip
    """Write the overlap over the trees grown on neither row; over all trees if there is none."""
    trees = codes_x.shape[1]
    weight = np.zeros(leaf_offsets[trees])
    tree = np.empty(leaf_offsets[trees], np.int64)
    for t in range(trees):
        tree[leaf_offsets[t] : leaf_offsets[t + 1]] = t
    for x in range(codes_x.shape[0]):
        if start_x[x] == start_x[x + 1]:
            for t in range(trees):
                weight[leaf_offsets[t] + codes_x[x, t]] = 1.0
        for i in range(start_x[x], start_x[x + 1]):
            weight[leaf_x[i]] = weight_x[i]
        for y in range(codes_y.shape[0]):
            usable = 0
            for t in range(trees):
                usable += bag_x[x, t] == 0 and bag_y[y, t] == 0
            total = 0.0
            if start_y[y] == start_y[y + 1]:
                for t in range(trees):
                    if usable == 0 or (bag_x[x, t] == 0 and bag_y[y, t] == 0):
                        total += weight[leaf_offsets[t] + codes_y[y, t]]
            for i in range(start_y[y], start_y[y + 1]):
                t = tree[leaf_y[i]]
                if usable == 0 or (bag_x[x, t] == 0 and bag_y[y, t] == 0):
                    total += weight[leaf_y[i]] * weight_y[i]
            out[x, y] = total / (usable if usable > 0 else trees)
        if start_x[x] == start_x[x + 1]:
            for t in range(trees):
                weight[leaf_offsets[t] + codes_x[x, t]] = 0.0
        for i in range(start_x[x], start_x[x + 1]):
            weight[leaf_x[i]] = 0.0
