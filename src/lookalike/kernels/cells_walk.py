"""Walking down grown similarity trees, and pruning them.

``values[f, i]`` is the number or category of row i on column f, or, for objects, its position in a
block of distances to the kept cells (``flat``, as in ``cells``); ``p`` and ``q`` are numbers,
categories, or positions among the kept cells.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import inline, kernel
from lookalike.kernels.cells import CATEGORY, NUMBER, TABLE, VALUE, project

# -- tests of rows, on their path or not, and pruning ----------------------------------------------


class CellBlock(NamedTuple):
    """A block of rows: as ``CellColumns``, without the ranks."""

    kinds: np.ndarray
    values: np.ndarray
    flat: np.ndarray
    base: np.ndarray
    width: np.ndarray


class CellTests(NamedTuple):
    """Tests: a column (-1 in a leaf), its two cells and a threshold."""

    feature: np.ndarray
    p: np.ndarray
    q: np.ndarray
    threshold: np.ndarray


@kernel
def project_rows(block, tests, out):
    """Write the projection of every row by every test; NaN where it is undefined."""
    kinds, values, flat, base, width = block
    feature, p, q, _ = tests
    for i in range(values.shape[1]):
        for k in range(feature.shape[0]):
            f = feature[k]
            out[i, k] = project(kinds[f], values[f, i], p[k], q[k], flat, base[f], width[f])


@kernel
def write_paths(leaves, parent, offsets, depth, ends, nodes):
    """Write the nodes on each row's way in every tree, root first, numbered over the forest."""
    for i in range(leaves.shape[0]):
        place = ends[i]
        for t in range(leaves.shape[1]):
            node = offsets[t] + leaves[i, t]
            length = depth[node] + 1
            for back in range(length):
                nodes[place + length - 1 - back] = node
                node = offsets[t] + parent[node] if parent[node] >= 0 else node
            place += length


@kernel
def prune(feature, right, weights, impurities, alpha):
    """Make leaves of the subtrees whose loss per leaf is at most alpha, weakest first.

    The nodes of one tree in preorder; ``feature`` becomes -1 in the new leaves. Nodes below them
    stay as they are, to be dropped by the caller.
    """
    size = feature.shape[0]
    parent = np.full(size, -1, np.int64)
    risk, below, leaves = np.empty(size), np.empty(size), np.ones(size, np.int64)
    for v in range(size):
        risk[v] = weights[v] / weights[0] * impurities[v]
        if feature[v] >= 0:
            parent[v + 1] = v
            parent[right[v]] = v
    for v in range(size - 1, -1, -1):
        below[v] = risk[v]
        if feature[v] >= 0:
            below[v] = below[v + 1] + below[right[v]]
            leaves[v] = leaves[v + 1] + leaves[right[v]]
    # Weakest-link pruning (Breiman et al. 1984, section 3.3). Losses of ancestors change with each
    # cut, so the weakest is searched again each time.
    gone = np.zeros(size, np.bool_)
    while True:
        weakest, least = -1, np.inf
        for v in range(size):
            if v > 0:  # parents come first
                gone[v] = gone[parent[v]] or feature[parent[v]] < 0
            if feature[v] >= 0 and not gone[v]:
                loss = (risk[v] - below[v]) / (leaves[v] - 1)
                if loss < least:
                    weakest, least = v, loss
        if weakest < 0 or least > alpha:
            return
        feature[weakest] = -1
        gone_leaves, gone_risk = leaves[weakest] - 1, risk[weakest] - below[weakest]
        v = weakest
        while v >= 0:
            leaves[v] -= gone_leaves
            below[v] += gone_risk
            v = parent[v]


# -- rows go down together: each node tests all rows that have arrived -----------------------------
#
# A row alone waits for every test before it knows the next one, and the processor mispredicts the
# side half of the time. Rows of a node do not wait for each other: each is written to both ends
# of the node's range, and only one of the two ends moves on. The kind of the column is chosen
# once per node, and a test of a number is one comparison (``find_value_cuts``).

MAX_ROWS_WALKED_ALONE = 4  # rows of a node up to which each walks on alone
AT_MOST, ABOVE, PROJECTED = 0, 1, 2  # who goes left: x <= cut, x > cut, or see the projection


class CellTrees(NamedTuple):
    """Similarity trees as rows go down them; one entry per node, except for ``offsets``."""

    feature: np.ndarray
    p: np.ndarray
    q: np.ndarray
    threshold: np.ndarray
    cut: np.ndarray
    side: np.ndarray
    right: np.ndarray
    default: np.ndarray
    offsets: np.ndarray


class DescentScratch(NamedTuple):
    """Memory for the rows of a block on their way down: two lists of rows, and waiting nodes.

    ``rows`` has two lines, ``waiting`` a line (node, first row, one past the last, which of the two
    lists) for every node that may wait together: one more than the deepest tree has levels.
    """

    rows: np.ndarray
    waiting: np.ndarray


@inline
def _holds(kind, x, p, q, threshold, nothing):
    return project(kind, x, p, q, nothing, 0, 0) <= threshold


@kernel
def find_value_cuts(kinds, feature, p, q, threshold, cut, side):
    """Write the number beyond which a test of numbers turns out otherwise, and who goes left.

    Projections of numbers never rise (p < q) or never fall (p > q) with the number, rounding
    included, so there is one such number, and comparing with it is the test, bit for bit. It is
    looked for around the place that exact arithmetic would give. Other tests stay as they are.
    """
    nothing = np.empty(0)
    for v in range(feature.shape[0]):
        side[v], cut[v] = PROJECTED, 0.0
        if feature[v] < 0:
            continue
        kind = kinds[feature[v]]
        a, b, t = p[v], q[v], threshold[v]
        if kind == VALUE:
            side[v], cut[v] = AT_MOST, t
            continue
        if kind >= CATEGORY or a == b or not np.isfinite(a + b + t):
            continue
        falls = a < b
        # Beyond p and q projections of numbers are constant: the border is between them or there is
        # none.
        low, high = min(a, b), max(a, b)
        if kind != NUMBER:  # squares go on beyond p and q
            low, high = -1e300, 1e300
        left_low = _holds(kind, low, a, b, t, nothing)
        if left_low == falls or _holds(kind, high, a, b, t, nothing) != falls:
            continue  # all rows go one way
        # From d(q, x) - d(p, x) = t in exact arithmetic; rounding moves the border by a few units
        # in the last place, which the two widths around the guess bracket.
        guess = 0.5 * (a + b + (-t if falls else t))
        if kind != NUMBER:
            guess = 0.5 * (a + b - t / (b - a))
        for around in (4e-16, 1e-12):
            span = around * (abs(a) + abs(b) + abs(guess))
            near, far = guess - span, guess + span
            if low < near and _holds(kind, near, a, b, t, nothing) == left_low:
                low = near
            if far < high and _holds(kind, far, a, b, t, nothing) != left_low:
                high = far
        # Bisection down to two neighboring floats: then comparing with the lower one is the test
        # itself.
        while True:
            middle = 0.5 * low + 0.5 * high
            if middle <= low or middle >= high:
                break
            if _holds(kind, middle, a, b, t, nothing) == left_low:
                low = middle
            else:
                high = middle
        side[v], cut[v] = ABOVE if falls else AT_MOST, low


@kernel
def partition_by_value(column, rows, into, low, high, cut, missing_first):
    """Write the rows whose number is at most the cut first, all others behind; return the border.

    Every row is written to both ends, and the end where it belongs moves on.
    """
    if missing_first:
        return _write_both_ends(column, rows, into, low, high, cut, True)
    return _write_both_ends(column, rows, into, low, high, cut, False)


@inline
def _write_both_ends(column, rows, into, low, high, cut, missing_first):
    first, last = low, high - 1
    for i in range(low, high):
        row = rows[i]
        into[first] = row
        into[last] = row
        # Comparisons with NaN are false: "not above" lets missing values in, "at most" does not.
        goes = np.int64(not (column[row] > cut)) if missing_first else np.int64(column[row] <= cut)
        first += goes
        last += goes - 1
    return first


@inline
def _part_by(kind, column, rows, into, low, high, test, cells):
    p, q, threshold, missing_first = test
    flat, base, width = cells
    first, last = low, high - 1
    for i in range(low, high):
        row = rows[i]
        into[first] = row
        into[last] = row
        here = project(kind, column[row], p, q, flat, base, width)
        goes = np.int64((here <= threshold) | (missing_first & (here != here)))
        first += goes
        last += goes - 1
    return first


@kernel
def partition_by_projection(kind, column, rows, into, low, high, test, cells):
    """Write the rows that go left first, all others behind; return the border."""
    if kind == CATEGORY:
        return _part_by(CATEGORY, column, rows, into, low, high, test, cells)
    if kind == TABLE:
        return _part_by(TABLE, column, rows, into, low, high, test, cells)
    return _part_by(kind, column, rows, into, low, high, test, cells)


@kernel
def descend_alone(block, trees, node, start, row):
    """Return the node, within its tree, where one row ends that has reached a node."""
    kinds, values, flat, base, width = block
    feature, p, q, threshold, cut, side, right, default, _ = trees
    f = feature[node]
    while f >= 0:
        x = values[f, row]
        if side[node] == PROJECTED:
            x = project(kinds[f], x, p[node], q[node], flat, base[f], width[f])
            goes = x <= threshold[node]
        else:
            goes = (x <= cut[node]) == (side[node] == AT_MOST)
        if x != x:
            goes = default[node] == 1
        node = node + 1 if goes else start + right[node]
        f = feature[node]
    return node - start


@kernel
def descend_together(block, trees, t, groups, where):
    """Write the node, within tree t, where each row of a block ends."""
    kinds, values, flat, base, width = block
    feature, p, q, threshold, cut, side, right, default, offsets = trees
    rows, waiting = groups
    start = offsets[t]
    for i in range(values.shape[1]):
        rows[0, i] = i
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = start, 0, values.shape[1], 0
    top = 1
    while top > 0:
        top -= 1
        node, low, high, list_ = waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3]
        f = feature[node]
        if f < 0:
            for i in range(low, high):
                where[rows[list_, i]] = node - start
            continue
        # A handful of rows costs more to partition at every node than to walk.
        if high - low <= MAX_ROWS_WALKED_ALONE:
            for i in range(low, high):
                row = rows[list_, i]
                where[row] = descend_alone(block, trees, node, start, row)
            continue
        here, into = rows[list_], rows[1 - list_]
        lefts_first = side[node] != ABOVE
        # The first part is the left side unless numbers above the cut go left.
        missing_first = (default[node] == 1) == lefts_first
        if side[node] == PROJECTED:
            test = p[node], q[node], threshold[node], missing_first
            cells = flat, base[f], width[f]
            border = partition_by_projection(
                kinds[f], values[f], here, into, low, high, test, cells
            )
        else:
            border = partition_by_value(values[f], here, into, low, high, cut[node], missing_first)
        first, second = node + 1, start + right[node]
        if not lefts_first:
            first, second = second, first
        if border > low:
            waiting[top, 0], waiting[top, 1] = first, low
            waiting[top, 2], waiting[top, 3] = border, 1 - list_
            top += 1
        if high > border:
            waiting[top, 0], waiting[top, 1] = second, border
            waiting[top, 2], waiting[top, 3] = high, 1 - list_
            top += 1


@kernel
def find_leaves(block, trees, groups, where, out):
    """Write the node in which each row ends, counted within each tree."""
    for t in range(trees.offsets.shape[0] - 1):
        descend_together(block, trees, t, groups, where)
        for i in range(where.shape[0]):
            out[i, t] = where[i]


@kernel
def add_votes(block, trees, votes, groups, where, out):
    """Add what the leaves of each row vote for, tree after tree."""
    n, several = out.shape
    for t in range(trees.offsets.shape[0] - 1):
        descend_together(block, trees, t, groups, where)
        start = trees.offsets[t]
        if several == 1:
            for i in range(n):
                out[i, 0] += votes[start + where[i], 0]
        elif several == 2:
            for i in range(n):
                out[i, 0] += votes[start + where[i], 0]
                out[i, 1] += votes[start + where[i], 1]
        else:
            for i in range(n):
                for c in range(several):
                    out[i, c] += votes[start + where[i], c]
