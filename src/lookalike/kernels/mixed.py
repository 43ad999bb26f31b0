"""Gower's comparison of mixed columns, a block at a time.

All simple columns of a row lie in one float64 row, NaN where a cell is missing, in five groups:
numbers divided by their range, numbers with a curved similarity, codes that are equal or not, flags
(0 or 1), and codes of ordered levels. ``ends`` says where each group ends.

For each pair two sums run over the columns in their order: what speaks against likeness (weight
times difference) and what could be compared (weight). Their quotient is the distance. The order of
each sum is fixed, so a pair has the same value in every block; the shortcut for pairs without gaps
adds the same weights in the same order.
"""

import numpy as np

from lookalike.kernels._jit import kernel

TILE = 64

GROUPS = ("number", "curved", "equal", "flag", "level")


@kernel
def mixed_block(a, b, ends, weight, alpha, beta, levels, starts, midpoint, against, compared):
    """Write the two sums of every pair into ``against`` and ``compared``.

    Parameters
    ----------
    a, b : float64 (rows, columns), columns sorted by group
    ends : int64 (5), where each of GROUPS ends
    weight : float64 per column
    alpha, beta : float64 per column, a curved similarity is (1 - z^beta)^alpha
    levels : float64, tables of 1 - similarity of the level columns, one after the other
    starts : int64 (columns, 2), where the table of a level column begins and how wide it is
    midpoint : bool, whether a missing cell counts as a difference of 1/2 instead of not at all
    against, compared : float64 (rows of a, rows of b), written here
    """
    n_a, n_columns = a.shape
    n_b = b.shape[0]
    turned = np.zeros((n_columns, TILE))
    minus, weights = np.empty(TILE), np.empty(TILE)
    whole = 0.0  # the sum of all weights, added up in the order of the columns
    for j in range(n_columns):
        whole += weight[j]
    has_flags = ends[3] > ends[2]
    gaps_in_row = np.zeros(n_a, np.bool_)
    for i in range(n_a):
        for j in range(n_columns):
            gaps_in_row[i] |= np.isnan(a[i, j])
    for start in range(0, n_b, TILE):
        width = min(TILE, n_b - start)
        gaps_in_tile = False
        for c in range(width):
            for j in range(n_columns):
                turned[j, c] = b[start + c, j]
                gaps_in_tile |= np.isnan(turned[j, c])
        for i in range(n_a):
            # Without gaps or flags everything is compared, and only one sum has to run.
            if not (has_flags or gaps_in_tile or gaps_in_row[i]):
                minus[:] = 0.0
                weights[:] = whole
                _numbers(a[i], turned, 0, ends[0], weight, minus)
                if ends[1] > ends[0]:
                    _curved(a[i], turned, ends[0], ends[1], weight, alpha, beta, minus)
                _equals(a[i], turned, ends[1], ends[2], weight, minus)
                if ends[4] > ends[3]:
                    _levels(a[i], turned, ends[3], ends[4], weight, levels, starts, minus)
            else:
                minus[:] = 0.0
                weights[:] = 0.0
                _numbers_gaps(a[i], turned, 0, ends[0], weight, midpoint, minus, weights)
                for j in range(ends[0], ends[1]):
                    _curved_gaps(
                        a[i, j], turned[j], weight[j], alpha[j], beta[j], midpoint, minus, weights
                    )
                _equals_gaps(a[i], turned, ends[1], ends[2], weight, midpoint, minus, weights)
                for j in range(ends[2], ends[3]):
                    _flag_gaps(a[i, j], turned[j], weight[j], midpoint, minus, weights)
                for j in range(ends[3], ends[4]):
                    _level_gaps(
                        a[i, j], turned[j], weight[j], levels, starts[j], midpoint, minus, weights
                    )
            for c in range(width):
                against[i, start + c] = minus[c]
                compared[i, start + c] = weights[c]


# One loop per group and case: small enough for the compiler to turn into vector code.


@kernel
def _numbers(x, turned, first, end, weight, minus):
    for j in range(first, end):
        v, w, column = x[j], weight[j], turned[j]
        for c in range(TILE):
            gap = abs(v - column[c])
            minus[c] += w * (gap if gap < 1.0 else 1.0)


@kernel
def _equals(x, turned, first, end, weight, minus):
    for j in range(first, end):
        v, w, column = x[j], weight[j], turned[j]
        for c in range(TILE):
            minus[c] += w if v != column[c] else 0.0


@kernel
def _curved(x, turned, first, end, weight, alpha, beta, minus):
    for j in range(first, end):
        for c in range(TILE):
            minus[c] += weight[j] * curve(abs(x[j] - turned[j, c]), alpha[j], beta[j])


@kernel
def _levels(x, turned, first, end, weight, levels, starts, minus):
    for j in range(first, end):
        at = starts[j, 0] + np.int64(x[j]) * starts[j, 1]
        for c in range(TILE):
            minus[c] += weight[j] * levels[at + np.int64(turned[j, c])]


@kernel
def curve(z, alpha, beta):
    """Return 1 - (1 - z^beta)^alpha with z cut off at 1."""
    return 1.0 - (1.0 - (z if z < 1.0 else 1.0) ** beta) ** alpha


@kernel
def _numbers_gaps(x, turned, first, end, weight, midpoint, minus, weights):
    for j in range(first, end):
        v, w, column = x[j], weight[j], turned[j]
        filler = 0.5 * w if midpoint else 0.0
        kept = w if midpoint else 0.0
        for c in range(TILE):
            gap = abs(v - column[c])
            there = gap == gap
            more = w * (gap if gap < 1.0 else 1.0)
            minus[c] += more if there else filler
            weights[c] += w if there else kept


@kernel
def _equals_gaps(x, turned, first, end, weight, midpoint, minus, weights):
    for j in range(first, end):
        v, w, column = x[j], weight[j], turned[j]
        filler = 0.5 * w if midpoint else 0.0
        kept = w if midpoint else 0.0
        for c in range(TILE):
            there = (v == v) & (column[c] == column[c])
            more = w if v != column[c] else 0.0
            minus[c] += more if there else filler
            weights[c] += w if there else kept


@kernel
def _curved_gaps(v, column, w, alpha, beta, midpoint, minus, weights):
    for c in range(TILE):
        gap = abs(v - column[c])
        if gap == gap:
            minus[c] += w * curve(gap, alpha, beta)
            weights[c] += w
        elif midpoint:
            minus[c] += 0.5 * w
            weights[c] += w


@kernel
def _flag_gaps(v, column, w, midpoint, minus, weights):
    filler = 0.5 * w if midpoint else 0.0
    kept = w if midpoint else 0.0
    for c in range(TILE):
        y = column[c]
        there = (v == v) & (y == y)
        told = (v != 0.0) | (y != 0.0)  # joint absence tells nothing
        more = w if (v != y) & told else 0.0
        minus[c] += more if there else filler
        weights[c] += (w if told else 0.0) if there else kept


@kernel
def _level_gaps(v, column, w, levels, start, midpoint, minus, weights):
    if v != v:
        if midpoint:
            for c in range(TILE):
                minus[c] += 0.5 * w
                weights[c] += w
        return
    at = start[0] + np.int64(v) * start[1]
    for c in range(TILE):
        y = column[c]
        if y == y:
            minus[c] += w * levels[at + np.int64(y)]
            weights[c] += w
        elif midpoint:
            minus[c] += 0.5 * w
            weights[c] += w


@kernel
def mixed_pairs(a, b, ends, alpha, beta, levels, starts, out):
    """Write the difference (1 - similarity) of row i of a to row i of b, column by column.

    NaN where the two cells cannot be compared: one is missing, or a flag is absent in both.
    """
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x, y = a[i, j], b[i, j]
            if np.isnan(x) or np.isnan(y):
                out[i, j] = np.nan
            elif j < ends[0]:
                out[i, j] = min(abs(x - y), 1.0)
            elif j < ends[1]:
                out[i, j] = curve(abs(x - y), alpha[j], beta[j])
            elif j < ends[2]:
                out[i, j] = 1.0 if x != y else 0.0
            elif j < ends[3]:
                out[i, j] = np.nan if x == 0.0 and y == 0.0 else (1.0 if x != y else 0.0)
            else:
                out[i, j] = levels[starts[j, 0] + np.int64(x) * starts[j, 1] + np.int64(y)]
