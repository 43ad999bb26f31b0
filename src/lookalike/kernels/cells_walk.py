"""Walking down grown similarity trees.

``values[f, i]`` is the number or category of row i on column f, or, for objects, its position in a
block of distances to the kept cells (``flat``, as in ``cells``); ``p`` and ``q`` are numbers,
categories, or positions among the kept cells.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cells import project

# -- all tests of rows ----------------------------------------------------------------------------


class CellBlock(NamedTuple):
    """A block of rows: as ``CellColumns``, without the ranks."""

    kinds: np.ndarray
    values: np.ndarray
    flat: np.ndarray
    base: np.ndarray
    width: np.ndarray


@kernel
def project_rows(block, feature, p, q, out):
    """Write the projection of every row by every test; NaN where it is undefined."""
    kinds, values, flat, base, width = block
    for i in range(values.shape[1]):
        for k in range(feature.shape[0]):
            f = feature[k]
            out[i, k] = project(kinds[f], values[f, i], p[k], q[k], flat, base[f], width[f])


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
