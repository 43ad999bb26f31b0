"""Growing one tree on a sample of rows: by labels (Gini) or at random.

Values come as codes: their rank among the different values of the column (a category: its number),
-1 where missing. Sorting, counting and comparing whole numbers is fast, and only the order of
values can matter. Nodes are written in preorder; ``cut`` is the largest code on the left, or the
category; ``above`` the smallest code on the right.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.draw import draw_below, draw_next, draw_rows, draw_unit
from lookalike.kernels.nodes import MADE, WAITING, next_node, stack_children, stack_root
from lookalike.kernels.sort import sort_keys


class RankedTree(NamedTuple):
    """The nodes of a tree grown on codes; ``feature`` is -1 in a leaf."""

    feature: np.ndarray
    cut: np.ndarray
    above: np.ndarray
    left: np.ndarray
    right: np.ndarray


class ThresholdTree(NamedTuple):
    """The nodes of a tree grown on values; ``feature`` is -1 in a leaf."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray


@kernel
def best_cut(keys, m, zeros, ones, category):
    """Return the best gain of a cut between sorted keys, the cut, and the code after it.

    A key is 2 * code + label. The gain is the decrease of m times the Gini impurity, halved: (l0
    r1 - l1 r0)^2 / (l r m). Equal gains: the smallest cut. The gain is -1 if all codes are equal.
    """
    best, cut, above = -1.0, -1, -1
    if keys[0] >> 1 == keys[m - 1] >> 1:
        return best, cut, above
    left = np.zeros(2, np.int64)
    i = 0
    while i < m:
        code = keys[i] >> 1
        if category:
            left[0] = 0
            left[1] = 0
        while i < m and keys[i] >> 1 == code:
            left[keys[i] & 1] += 1
            i += 1
        if i == m and not category:
            break
        lefts = left[0] + left[1]
        det = float(left[0] * (ones - left[1]) - left[1] * (zeros - left[0]))
        gain = det * det / (float(lefts) * float(m - lefts) * float(m))
        if gain > best:
            best, cut = gain, code
            above = keys[i] >> 1 if i < m else code
    return best, cut, above


@kernel
def divide(codes, rows, low, high, f, cut, category):
    """Bring the rows that go left to the front; missing values join the larger side, ties left."""
    lefts, known = 0, 0
    for i in range(low, high):
        c = codes[f, rows[i]]
        if c >= 0:
            known += 1
            lefts += c == cut if category else c <= cut
    missing_left = 2 * lefts >= known
    i, j = low, high
    while i < j:
        c = codes[f, rows[i]]
        if c < 0:
            goes = missing_left
        elif category:
            goes = c == cut
        else:
            goes = c <= cut
        if goes:
            i += 1
        else:
            j -= 1
            rows[i], rows[j] = rows[j], rows[i]
    return i


@kernel
def grow_gini(codes, category, labels, rows, pool, tried, max_depth, state, stack, pause, tree):
    """Grow a tree that tells labels 0 and 1 apart, until leaves are pure.

    ``tried`` columns of ``pool`` are drawn at every node, and more while none of them varies.
    Returns after ``pause`` rows; the nodes that wait are on the stack.
    """
    keys, spare = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[0], np.int64)
    counts = np.empty(256, np.int64)
    seen = 0
    while stack.count[WAITING] > 0 and seen < pause:
        node, low, high, depth = next_node(stack, tree.left, tree.right)
        seen += high - low
        tree.feature[node], tree.cut[node], tree.above[node] = -1, -1, -1
        positive = 0
        for i in range(low, high):
            positive += labels[rows[i]]
        if positive == 0 or positive == high - low or depth >= max_depth:
            continue
        best = -1.0
        for drawn in range(pool.shape[0]):
            if drawn >= tried and best >= 0.0:
                break
            f = draw_next(state, pool, drawn)
            m, ones = 0, 0
            for i in range(low, high):
                r = rows[i]
                c = codes[f, r]
                if c >= 0:
                    y = labels[r]
                    keys[m] = 2 * c + y
                    ones += y
                    m += 1
            if m < 2:
                continue
            ordered = sort_keys(keys, m, 0, spare, counts)
            gain, where, beyond = best_cut(ordered, m, m - ones, ones, category[f])
            if gain > best:
                best, tree.feature[node], tree.cut[node], tree.above[node] = gain, f, where, beyond
        if best < 0.0:
            continue
        f = tree.feature[node]
        middle = divide(codes, rows, low, high, f, tree.cut[node], category[f])
        stack_children(stack, node, low, middle, high, depth)


@kernel
def sample_rows(n, m, replace, labels, state, rows):
    """Draw m of n rows; return how many draws were thrown away.

    Unless ``labels`` is empty both labels must be among them. Gives up after 1000 draws, which
    happens only if one label is hardly there at all: returns -1.
    """
    order, swaps = np.arange(n), np.empty(m, np.int64)
    for attempt in range(1000):
        if replace:
            for i in range(m):
                rows[i] = draw_below(state, n)
        else:
            draw_rows(state, n, order, rows, swaps)
        if labels.shape[0] == 0:
            return attempt
        positive = 0
        for i in range(m):
            positive += labels[rows[i]]
        if 0 < positive < m:
            return attempt
    return -1


@kernel
def grow_random(values, category, rows, max_depth, state, tree):
    """Grow a tree by random cuts of random columns; return the number of nodes.

    A node takes the first column, in random order, whose present values differ; the cut is uniform
    between the smallest and the largest (a category: one of those present, each equally likely).
    ``values`` are columns, NaN where missing; missing values join the larger side, ties left.
    """
    pool = np.arange(values.shape[0])
    present = np.empty(rows.shape[0], np.float64)
    stack = stack_root(rows.shape[0])
    while stack.count[WAITING] > 0:
        node, low, high, depth = next_node(stack, tree.left, tree.right)
        tree.feature[node], tree.threshold[node] = -1, 0.0
        if high - low < 2 or depth >= max_depth:
            continue
        for drawn in range(pool.shape[0]):
            f = draw_next(state, pool, drawn)
            m = 0
            least, largest = np.inf, -np.inf
            for i in range(low, high):
                x = values[f, rows[i]]
                if not np.isnan(x):
                    present[m] = x
                    m += 1
                    least, largest = min(least, x), max(largest, x)
            if m < 2 or least == largest:
                continue
            tree.feature[node] = f
            if category[f]:
                some = np.unique(present[:m])
                tree.threshold[node] = some[draw_below(state, some.shape[0])]
            else:
                u = draw_unit(state)
                # Weighted ends instead of a difference: a range may exceed the largest number.
                x = (1.0 - u) * least + u * largest
                tree.threshold[node] = x if least <= x < largest else least
            break
        f = tree.feature[node]
        if f < 0:
            continue
        lefts, known = 0, 0
        for i in range(low, high):
            x = values[f, rows[i]]
            if not np.isnan(x):
                known += 1
                lefts += x == tree.threshold[node] if category[f] else x <= tree.threshold[node]
        i, j = low, high
        while i < j:
            x = values[f, rows[i]]
            if np.isnan(x):
                goes = 2 * lefts >= known
            elif category[f]:
                goes = x == tree.threshold[node]
            else:
                goes = x <= tree.threshold[node]
            if goes:
                i += 1
            else:
                j -= 1
                rows[i], rows[j] = rows[j], rows[i]
        stack_children(stack, node, low, i, high, depth)
    return stack.count[MADE]
