"""Growing trees whose tests are thresholds, and what all growers of trees share."""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel

# -- random numbers, one stream per tree -----------------------------------------------------------
#
# A multiply-with-carry generator whose state is one signed 64-bit integer: no step overflows, so
# compiled and plain runs give the same stream. Each tree has its own state, drawn by numpy's
# generator, so a forest does not depend on how its trees are divided among threads.

MULTIPLIER = 698769069  # MULTIPLIER * 2**32 - 1 is a safe prime: the period is about 2**60
STATES = MULTIPLIER * 2**32 - 1  # admissible states are 1 .. STATES - 1


@kernel
def draw_bits(state):
    """Return the next 32 random bits; ``state`` is an int64 array of length 1."""
    low = state[0] & 0xFFFFFFFF
    high = state[0] >> 32
    state[0] = MULTIPLIER * low + high
    return low ^ high


@kernel
def draw_unit(state):
    """Return a number in [0, 1) with 53 random bits."""
    # 27 and 26 bits, so that every multiple of 2^-53 is equally likely.
    high = draw_bits(state) >> 5
    low = draw_bits(state) >> 6
    return (high * 67108864.0 + low) / 9007199254740992.0


@kernel
def draw_below(state, bound):
    """Return an integer in 0 .. bound - 1."""
    # Never the bound itself: a number below 1 by at least 2^-53 takes off more than half a unit in
    # the last place, unless the bound is a power of two, where the product is exact.
    return int(draw_unit(state) * bound)


@kernel
def draw_between(state, least, largest):
    """Draw a threshold that at least the smallest value is up to, and the largest is not."""
    u = draw_unit(state)
    # Weighted ends instead of a difference: a range may exceed the largest number.
    cut = (1.0 - u) * least + u * largest
    return cut if least <= cut < largest else least


@kernel
def draw_next(state, pool, drawn):
    """Draw one of ``pool[drawn:]``, move it to ``pool[drawn]`` and return it."""
    other = drawn + draw_below(state, pool.shape[0] - drawn)
    pool[drawn], pool[other] = pool[other], pool[drawn]
    return pool[drawn]


@kernel
def draw_rows(state, n, order, rows, swaps):
    """Fill ``rows`` with distinct numbers below n.

    ``order`` holds 0 .. n - 1 and is put back as it was, so that no tree depends on the one before.
    """
    m = rows.shape[0]
    for i in range(m):
        j = i + draw_below(state, n - i)
        swaps[i] = j
        order[i], order[j] = order[j], order[i]
        rows[i] = order[i]
    # Swaps taken back in reverse order: O(m) for a sample, where a fresh order would cost O(n).
    for i in range(m - 1, -1, -1):
        j = swaps[i]
        order[i], order[j] = order[j], order[i]


# -- sorting short runs: radix sort of integers, merge sort of numbers with their items ------------

MAX_INSERTION_SORT = 24  # up to here insertion sort is fastest
RANK_SHIFT = 32  # a key is a rank in the high bits and a row in the low ones


@kernel
def insertion_sort(x, m):
    """Sort the first m numbers; there is no NaN among them."""
    for i in range(1, m):
        moved = x[i]
        j = i - 1
        while j >= 0 and x[j] > moved:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = moved


@kernel
def sort_keys(keys, m, low_bits, spare, counts):
    """Sort the first m non-negative keys; return them (``keys`` or ``spare``).

    The lowest ``low_bits`` bits are carried along: many keys that differ in them alone keep their
    order. One pass per byte in use.
    """
    if m <= MAX_INSERTION_SORT:
        insertion_sort(keys, m)
        return keys
    largest = keys[0] >> low_bits
    least = largest
    for i in range(1, m):
        rank = keys[i] >> low_bits
        largest = max(largest, rank)
        least = min(least, rank)
    # Least significant byte first. Counted from the least rank, so a node whose ranks lie close
    # together takes one pass.
    source, target = keys, spare
    shift = 0
    while ((largest - least) >> shift) > 0:
        for c in range(256):
            counts[c] = 0
        for i in range(m):
            counts[(((source[i] >> low_bits) - least) >> shift) & 255] += 1
        total = 0
        for c in range(256):
            here = counts[c]
            counts[c] = total
            total += here
        for i in range(m):
            c = (((source[i] >> low_bits) - least) >> shift) & 255
            target[counts[c]] = source[i]
            counts[c] += 1
        source, target = target, source
        shift += 8
    return source


@kernel
def sort_values(x, item, m, spare_x, spare_item):
    """Sort the first m numbers with their items; equal numbers keep their order. There is no NaN.

    A merge sort: short runs by insertion, then pairs of runs are merged until one is left.
    """
    for low in range(0, m, MAX_INSERTION_SORT):
        for i in range(low + 1, min(low + MAX_INSERTION_SORT, m)):
            v, w = x[i], item[i]
            j = i - 1
            while j >= low and x[j] > v:
                x[j + 1], item[j + 1] = x[j], item[j]
                j -= 1
            x[j + 1], item[j + 1] = v, w
    width = MAX_INSERTION_SORT
    while width < m:
        for low in range(0, m - width, 2 * width):
            # The left run makes room; what is left of the right one is in its place already.
            for i in range(width):
                spare_x[i], spare_item[i] = x[low + i], item[low + i]
            i, j, high = 0, low + width, min(low + 2 * width, m)
            for k in range(low, high):
                if i == width:
                    break
                if j == high or spare_x[i] <= x[j]:
                    x[k], item[k] = spare_x[i], spare_item[i]
                    i += 1
                else:
                    x[k], item[k] = x[j], item[j]
                    j += 1
        width *= 2


@kernel
def group_rows(rows, m, groups, n_groups, grouped, ends):
    """Sort the first m rows by group (counting sort), keeping their order within a group.

    Group g has ``grouped[ends[g]:ends[g + 1]]``; ``groups`` holds the group of every row.
    """
    for g in range(n_groups + 1):
        ends[g] = 0
    for i in range(m):
        ends[groups[rows[i]] + 1] += 1
    for g in range(n_groups):
        ends[g + 1] += ends[g]
    for i in range(m):
        g = groups[rows[i]]
        grouped[ends[g]] = rows[i]
        ends[g] += 1
    # Each beginning has moved to the end of its group, which is the next one's beginning.
    for g in range(n_groups, 0, -1):
        ends[g] = ends[g - 1]
    ends[0] = 0


# -- the loop over the nodes of a growing tree -----------------------------------------------------
#
# Depth first from a stack, nodes numbered in preorder. Every grower is the same loop: take the
# next node, look at its rows ``rows[low:high]``, and, unless it is a leaf, bring those that go
# left to the front and put its two children on the stack. The stack holds all that is left to do,
# so a loop can pause between two nodes and go on later.

WAITING, MADE = 0, 1


class NodeStack(NamedTuple):
    """Nodes that wait to be looked at.

    Parameters
    ----------
    waiting : int64 (rows + 1, 5)
        Low and high end of the rows, depth, parent, and whether it is a right child.
    count : int64 (2,)
        How many nodes wait, and how many have been taken: the size of the tree so far.
    """

    waiting: np.ndarray
    count: np.ndarray


def stack_root(n_rows: int) -> NodeStack:
    """Return a stack that holds the root, with all rows."""
    waiting = np.empty((n_rows + 1, 5), np.int64)
    waiting[0] = 0, n_rows, 0, -1, 0
    return NodeStack(waiting, np.array([1, 0]))


@kernel
def next_node(stack, left, right):
    """Take a node from the stack and tell its parent; return (node, low, high, depth).

    It is a leaf, as the arrays of a tree are filled with -1, until ``stack_children`` is called.
    """
    top = stack.count[WAITING] - 1
    node = stack.count[MADE]
    stack.count[WAITING] = top
    stack.count[MADE] = node + 1
    at = stack.waiting[top]
    parent = at[3]
    if parent >= 0:
        if at[4]:
            right[parent] = node
        else:
            left[parent] = node
    return node, at[0], at[1], at[2]


@kernel
def stack_children(stack, node, low, middle, high, depth):
    """Put the children of a node on the stack, the left one on top."""
    top = stack.count[WAITING]
    one, other = stack.waiting[top], stack.waiting[top + 1]
    one[0], one[1], one[2], one[3], one[4] = middle, high, depth + 1, node, 1
    other[0], other[1], other[2], other[3], other[4] = low, middle, depth + 1, node, 0
    stack.count[WAITING] = top + 2


# -- growing one tree on a sample of rows: by labels (Gini) or at random ---------------------------
#
# Values come as codes: their rank among the distinct values of the column (a category: its
# number), -1 where missing. Only the order of values can matter, and integers are sorted, counted
# and compared faster. ``cut`` is the largest code on the left, or the category; ``above`` the
# smallest code on the right.


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
        # Counts are multiplied as integers, exact up to 3 * 10^9 rows: equal gains are equal bits,
        # and the first of them wins on every machine.
        det = float(left[0] * (ones - left[1]) - left[1] * (zeros - left[0]))
        gain = det * det / (float(lefts) * float(m - lefts) * float(m))
        if gain > best:
            best, cut = gain, code
            above = keys[i] >> 1 if i < m else code
    return best, cut, above


@kernel
def partition_node(cells, rows, low, high, cut, category, missing):
    """Bring the rows that go left to the front; missing values join the larger side, ties left.

    ``missing`` is the code of a missing value; for numbers NaN, which no value equals.
    """
    lefts, known = 0, 0
    for i in range(low, high):
        x = cells[rows[i]]
        # The side is chosen by the values that are known: missing ones must not vote for
        # themselves.
        if x == x and x != missing:
            known += 1
            lefts += x == cut if category else x <= cut
    i, j = low, high
    while i < j:
        x = cells[rows[i]]
        if x != x or x == missing:
            goes = 2 * lefts >= known
        else:
            goes = x == cut if category else x <= cut
        if goes:
            i += 1
        else:
            j -= 1
            # The order of rows within a side changes; nothing below depends on it, cuts come from
            # sorted or counted values.
            rows[i], rows[j] = rows[j], rows[i]
    return i


@kernel
def grow_gini(
    codes, category, labels, rows, pool, tried, max_depth, state, stack, pause, scratch, tree
):
    """Grow a tree that tells labels 0 and 1 apart, until leaves are pure.

    ``tried`` columns of ``pool`` are drawn at every node, and more while none of them varies.
    Returns after ``pause`` rows; the nodes that wait are on the stack. ``scratch``: as many keys
    as rows, twice, and 256 counts.
    """
    keys, spare, counts = scratch
    seen = 0
    while stack.count[WAITING] > 0 and seen < pause:
        node, low, high, depth = next_node(stack, tree.left, tree.right)
        seen += high - low
        positive = 0
        for i in range(low, high):
            positive += np.int64(labels[rows[i]])
        if positive == 0 or positive == high - low or depth >= max_depth:
            continue
        best = -1.0
        for drawn in range(pool.shape[0]):
            # As in scikit-learn: columns that are constant in the node do not count as tried.
            if drawn >= tried and best >= 0.0:
                break
            f = draw_next(state, pool, drawn)
            m, ones = 0, 0
            for i in range(low, high):
                r = rows[i]
                c = codes[f, r]
                if c >= 0:
                    y = np.int64(labels[r])
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
        middle = partition_node(codes[f], rows, low, high, tree.cut[node], category[f], -1)
        stack_children(stack, node, low, middle, high, depth)


@kernel
def sample_rows(n, replace, state, rows):
    """Fill ``rows`` with numbers below n, drawn with or without replacement."""
    if replace:
        for i in range(rows.shape[0]):
            rows[i] = draw_below(state, n)
    else:
        draw_rows(state, n, np.arange(n), rows, np.empty(rows.shape[0], np.int64))


@kernel
def grow_random(values, category, rows, max_depth, pool, present, state, stack, tree):
    """Grow a tree by random cuts of random columns.

    A node takes the first column, in random order, whose present values differ; the cut is uniform
    between the smallest and the largest (a category: one of those present, each equally likely).
    ``values`` are columns, NaN where missing; missing values join the larger side, ties left.
    """
    while stack.count[WAITING] > 0:
        node, low, high, depth = next_node(stack, tree.left, tree.right)
        if high - low < 2 or depth >= max_depth:
            continue
        for drawn in range(pool.shape[0]):
            f = draw_next(state, pool, drawn)
            m = 0
            least, largest = np.inf, -np.inf
            for i in range(low, high):
                x = values[f, rows[i]]
                if x == x:
                    present[m] = x
                    m += 1
                    least, largest = min(least, x), max(largest, x)
            if m < 2 or least == largest:
                continue
            tree.feature[node] = f
            if category[f]:
                # Each category equally likely, not each row: a frequent one would else be cut off
                # again and again.
                some = np.unique(present[:m])
                tree.threshold[node] = some[draw_below(state, some.shape[0])]
            else:
                tree.threshold[node] = draw_between(state, least, largest)
            break
        f = tree.feature[node]
        if f < 0:
            continue
        cut, is_category = tree.threshold[node], category[f]
        middle = partition_node(values[f], rows, low, high, cut, is_category, np.nan)
        stack_children(stack, node, low, middle, high, depth)
