"""Asking tests of rows, met on their way or not, and cutting similarity trees back.

``values[f, i]`` is the number or category of row i on column f, or, for objects, its place in a
block of distances to the kept cells (``flat``, as in ``cell_types``); ``p`` and ``q`` are numbers,
categories, or places among the kept cells.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.cell_split import project


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
    """Write the projection of every row by every test; NaN where it cannot be told."""
    kinds, values, flat, base, width = block
    feature, p, q, _ = tests
    for i in range(values.shape[1]):
        for k in range(feature.shape[0]):
            f = feature[k]
            out[i, k] = project(kinds[f], values[f, i], p[k], q[k], flat, base[f], width[f])


@kernel
def answer_tests(block, tests, out):
    """Write the outcome of every test for every row: 1 left, 0 right, 2 unknown or a leaf."""
    kinds, values, flat, base, width = block
    feature, p, q, threshold = tests
    for i in range(values.shape[1]):
        for k in range(feature.shape[0]):
            f = feature[k]
            out[i, k] = 2
            if f >= 0:
                here = project(kinds[f], values[f, i], p[k], q[k], flat, base[f], width[f])
                if not np.isnan(here):
                    out[i, k] = here <= threshold[k]


@kernel
def walk_up(leaves, parent, offsets, depth, ends, nodes):
    """Write the nodes on each row's way in every tree, root first, numbered over the forest."""
    for i in range(leaves.shape[0]):
        place = ends[i]
        for t in range(leaves.shape[1]):
            at = offsets[t] + leaves[i, t]
            length = depth[at] + 1
            for back in range(length):
                nodes[place + length - 1 - back] = at
                at = offsets[t] + parent[at] if parent[at] >= 0 else at
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
