"""Similarities that two leaves owe to their lowest common ancestor."""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.paths import sort_by_leaf

VALUE, SHARE_OF_DEPTH, SHARE_OF_LONGER, SHARE_OF_LARGER = 0, 1, 2, 3


@kernel
def ancestor_sums(leaf_x, leaf_y, nodes, offsets, widest, value, mode, out):
    """Add, for every tree, what the lowest common ancestor of the two leaves is worth.

    ``mode`` 0: its ``value``. 1: its value over the depth of the deeper leaf. 2: its value over the
    value of the deeper leaf, equal depths: the mean of both ratios. 3: its value over the larger of
    the two leaves' values. A tree of one leaf counts 1 in the modes that are shares.
    """
    parent, depth, first, last = nodes.parent, nodes.depth, nodes.first, nodes.last
    leaf_node, leaf_offsets = nodes.leaf_node, nodes.leaf_offsets
    n, m = leaf_x.shape[0], leaf_y.shape[0]
    start_x, order_x = np.zeros(widest + 1, np.int64), np.zeros(n, np.int64)
    start_y, order_y = np.zeros(widest + 1, np.int64), np.zeros(m, np.int64)
    worth, leaf_value, leaf_depth = np.zeros(m), np.zeros(m), np.zeros(m)
    for t in range(offsets.shape[0] - 1):
        base, leaf_base = offsets[t], leaf_offsets[t]
        n_leaves = leaf_offsets[t + 1] - leaf_base
        sort_by_leaf(leaf_x, t, n_leaves, start_x, order_x)
        sort_by_leaf(leaf_y, t, n_leaves, start_y, order_y)
        for y in range(m):
            at = base + leaf_node[leaf_base + leaf_y[y, t]]
            leaf_value[y] = value[at]
            leaf_depth[y] = depth[at]
        for a in range(n_leaves):
            if start_x[a] == start_x[a + 1]:
                continue
            v = leaf_node[leaf_base + a]
            mine, deep = value[base + v], float(depth[base + v])
            # Rows are sorted by leaf, so those below a node are one run; each ancestor adds the
            # part of its run that its child did not have.
            low, high = start_y[a], start_y[a + 1]
            for i in range(low, high):
                worth[order_y[i]] = mine
            while parent[base + v] >= 0:
                v = parent[base + v]
                here = value[base + v]
                wide_low, wide_high = start_y[first[base + v]], start_y[last[base + v]]
                for i in range(wide_low, low):
                    worth[order_y[i]] = here
                for i in range(high, wide_high):
                    worth[order_y[i]] = here
                low, high = wide_low, wide_high
            if mode > 0:
                for y in range(m):
                    other, other_deep = leaf_value[y], leaf_depth[y]
                    if deep == 0.0:
                        worth[y] = 1.0
                    elif mode == 1:
                        worth[y] /= max(deep, other_deep)
                    elif mode == 3:
                        worth[y] /= max(mine, other)
                    elif deep > other_deep:
                        worth[y] /= mine
                    elif deep < other_deep:
                        worth[y] /= other
                    else:
                        worth[y] = (worth[y] / mine + worth[y] / other) / 2.0
            for i in range(start_x[a], start_x[a + 1]):
                x = order_x[i]
                for y in range(m):
                    out[x, y] += worth[y]
