"""Rows walk down trees: bins, leaves, counts, and shares of a leaf where values are missing.

A row is kept as bins: for each input the number of cuts below its value (for a category: the place
of its code among the cuts, or their number if it is none of them). A test then compares two whole
numbers. ``unknown`` is the bin of a missing value.
"""

import numpy as np

from lookalike.kernels._jit import kernel

ROWS = 256  # rows that walk down one tree before the next tree is fetched


@kernel
def bin_values(values, cuts, cut_offsets, category, unknown, out):
    """Write the bins of rows; an input that no test asks for has bin 0 throughout."""
    for j in range(values.shape[1]):
        start, stop = cut_offsets[j], cut_offsets[j + 1]
        if start == stop:
            for i in range(values.shape[0]):
                out[i, j] = 0
            continue
        for i in range(values.shape[0]):
            x = values[i, j]
            if np.isnan(x):
                out[i, j] = unknown
                continue
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
def find_leaf(bins, base, feature, cut, right, equal, default, unknown):
    """Return the node, within its tree, where one row ends."""
    v = 0
    while feature[base + v] >= 0:
        at = base + v
        if goes_left(bins[feature[at]], cut[at], equal[at], default[at], unknown):
            v += 1
        else:
            v = right[at]
    return v


@kernel
def find_leaves(bins, splits, leaf, unknown, out):
    """Write the leaf number of every row in every tree."""
    # Taken apart once: counting references to six arrays would cost more than a short walk.
    feature, cut, right, equal, default, offsets = splits
    n = bins.shape[0]
    for start in range(0, n, ROWS):
        stop = min(n, start + ROWS)
        for t in range(offsets.shape[0] - 1):
            base = offsets[t]
            for i in range(start, stop):
                v = find_leaf(bins[i], base, feature, cut, right, equal, default, unknown)
                out[i, t] = leaf[base + v]


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
            at = base + v
            mass[at] = stop[v] - start[v]
            side[at] = default[at]
            f = feature[at]
            if f < 0:
                continue
            if follow:
                known = 0
                lefts = 0
                for i in range(start[v], stop[v]):
                    b = bins[rows[i], f]
                    if b != unknown:
                        known += 1
                        lefts += goes_left(b, cut[at], equal[at], 1, unknown)
                side[at] = 1 if 2 * lefts >= known else 0
            low, high = start[v], stop[v]
            while low < high:
                if goes_left(bins[rows[low], f], cut[at], equal[at], side[at], unknown):
                    low += 1
                else:
                    high -= 1
                    rows[low], rows[high] = rows[high], rows[low]
            start[v + 1], stop[v + 1] = start[v], low
            start[right[at]], stop[right[at]] = low, stop[v]


@kernel
def share_leaves(bins, splits, mass, nodes, unknown, by_mass, out, weights):
    """Spread one row over the leaves it may belong to; return how many there are.

    At a test on a missing value the weight is split in halves, or by the fitted counts of the two
    children. Leaves are numbered over the whole forest and come in ascending order. With empty
    ``out`` they are only counted.
    """
    feature, cut, right, equal, _, offsets = splits
    leaf, leaf_offsets = nodes.leaf, nodes.leaf_offsets
    writes = out.shape[0] > 0
    made = 0
    stack = np.empty(64, np.int64)
    carried = np.empty(64, np.float64)
    for t in range(offsets.shape[0] - 1):
        base = offsets[t]
        stack[0] = 0
        carried[0] = 1.0
        top = 1
        while top > 0:
            top -= 1
            v = stack[top]
            weight = carried[top]
            while feature[base + v] >= 0:
                at = base + v
                b = bins[feature[at]]
                if b != unknown:
                    v = v + 1 if goes_left(b, cut[at], equal[at], 1, unknown) else right[at]
                    continue
                share = 0.5
                if by_mass:
                    lefts, rights = mass[at + 1], mass[base + right[at]]
                    if lefts + rights > 0:
                        share = lefts / (lefts + rights)
                if share == 0.0:
                    v = right[at]
                    continue
                if share < 1.0:
                    if top == stack.shape[0]:
                        stack = np.concatenate((stack, np.empty(top, np.int64)))
                        carried = np.concatenate((carried, np.empty(top, np.float64)))
                    stack[top] = right[at]
                    carried[top] = weight * (1.0 - share)
                    top += 1
                    weight *= share
                v += 1
            if writes:
                out[made] = leaf_offsets[t] + leaf[base + v]
                weights[made] = weight
            made += 1
    return made
