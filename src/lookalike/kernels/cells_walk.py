"""Walking down grown similarity trees, and pruning them.

``values[f, i]`` is the number or category of row i on column f, or, for objects, its position in a
block of distances to the kept cells (``flat``, as in ``cells``); ``p`` and ``q`` are numbers,
categories, or positions among the kept cells.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cells import project

# -- all tests of rows, and pruning ----------------------------------------------------------------


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


# -- rows go down together: each node parts all rows that have arrived ----------------------------
#
# A row alone waits for every test before it knows the next one, and the processor mispredicts the
# side half of the time. Rows of a node do not wait for each other: each is exchanged with the first
# of those that go right, and only then it is decided whether that place moves on.


class CellTrees(NamedTuple):
    """Similarity trees as rows go down them; one entry per node, except for ``offsets``."""

    feature: np.ndarray
    p: np.ndarray
    q: np.ndarray
    threshold: np.ndarray
    right: np.ndarray
    default: np.ndarray
    offsets: np.ndarray


@kernel
def find_leaves(block, trees, rows, waiting, out):
    """Write the node in which each row ends, counted within each tree, a line per tree.

    ``waiting`` has a line (node, first row, one past the last) for every node that may wait: one
    more than the deepest tree has levels.
    """
    kinds, values, flat, base, width = block
    feature, p, q, threshold, right, default, offsets = trees
    for t in range(out.shape[0]):
        start = offsets[t]
        for i in range(out.shape[1]):
            rows[i] = i
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = start, 0, out.shape[1]
        top = 1
        while top > 0:
            top -= 1
            v, low, high = waiting[top, 0], waiting[top, 1], waiting[top, 2]
            f, border = feature[v], low
            if f < 0:
                for i in range(low, high):
                    out[t, rows[i]] = v - start
                continue
            kind, column, missing = kinds[f], values[f], default[v] == 1
            for i in range(low, high):
                row = rows[i]
                here = project(kind, column[row], p[v], q[v], flat, base[f], width[f])
                goes = (here <= threshold[v]) | (missing & (here != here))
                rows[i] = rows[border]
                rows[border] = row
                border += np.int64(goes)
            if border > low:
                waiting[top, 0], waiting[top, 1], waiting[top, 2] = v + 1, low, border
                top += 1
            if high > border:
                waiting[top, 0], waiting[top, 1], waiting[top, 2] = start + right[v], border, high
                top += 1
