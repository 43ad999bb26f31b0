"""The loops of a first search in numpy, for the time before anything is compiled.

Each function takes and writes the same arrays as the loop of its name, and gives the same bits: a
sum over columns is taken column by column in the same order, and every other step is one rounding
in both. ``first_use`` decides which of the two runs.
"""

import numpy as np

from lookalike.kernels.distances import (
    CHEBYSHEV,
    CITYBLOCK,
    EUCLIDEAN,
    HALF_SQUARED,
    MAX_SAFE_LENGTH,
    MIN_SAFE_LENGTH,
)

# -- numbers ---------------------------------------------------------------------------------------


def distance_block(a, b, code, out):
    """Write the distance of every row of a to every row of b into out; no cell is missing."""
    out[:] = 0.0
    with np.errstate(over="ignore", under="ignore"):
        for j in range(a.shape[1]):
            _add(a[:, j, None].astype(np.float64) - b[:, j].astype(np.float64), code, out)
        _finish(out, code)
        if code == EUCLIDEAN:
            _measure_extremes(a, b, out)


def _add(gap, code, total):
    if code == CITYBLOCK:
        total += np.abs(gap)
    elif code == CHEBYSHEV:
        np.maximum(total, np.abs(gap), out=total)
    else:
        total += gap * gap


def _finish(total, code):
    if code == EUCLIDEAN:
        np.sqrt(total, out=total)
    elif code == HALF_SQUARED:
        total *= 0.5


def _measure_extremes(a, b, out):
    """Measure once more, scaled by the largest difference, lengths whose squares no float holds."""
    left, right = np.nonzero((out < MIN_SAFE_LENGTH) | (out > MAX_SAFE_LENGTH))
    if not len(left):
        return
    gaps = a[left].astype(np.float64) - b[right].astype(np.float64)
    largest = np.abs(gaps).max(axis=1, initial=0.0)
    usual = (largest > 0.0) & (largest < np.inf)
    total, scale = np.zeros(len(left)), np.where(usual, largest, 1.0)
    for gap in gaps.T:
        share = np.where(usual, gap, 0.0) / scale
        total += share * share
    # Not ``largest``, which may be infinite: times 0 it is NaN, with a warning.
    out[left, right] = np.where(usual, scale * np.sqrt(total), largest)


def ranked_block(twice_a, value_a, new_a, twice_b, value_b, new_b, code, out):
    """Write distances built from rank differences into out; see the loop."""
    out[:] = 0.0
    extra = 0.5 * (new_a[:, None] + new_b)
    for j in range(twice_a.shape[1]):
        mids = 0.5 * twice_a[:, j, None].astype(np.float64), 0.5 * twice_b[:, j].astype(np.float64)
        gap = np.abs(mids[0] - mids[1]) + extra
        _add(np.where(value_a[:, j, None] != value_b[:, j], gap, 0.0), code, out)
    _finish(out, code)


# -- mixed columns ---------------------------------------------------------------------------------


def mixed_block(a, b, ends, weight, alpha, beta, levels, starts, midpoint, against, compared):
    """Write the two sums of every pair; curved numbers need the loop, whose powers differ."""
    against[:], compared[:] = 0.0, 0.0
    for j in range(a.shape[1]):
        x, y, w = a[:, j, None], b[:, j], weight[j]
        known = ~(np.isnan(x) | np.isnan(y))
        differs = _differ(x, y, j, ends, levels, starts)
        against += np.where(known, w * differs, w * 0.5 if midpoint else 0.0)
        absent = (x == 0.0) & (y == 0.0) & (ends[2] <= j < ends[3])  # a flag in both rows
        compared += np.where((known | midpoint) & ~absent, w, 0.0)


def mixed_pairs(a, b, ends, alpha, beta, levels, starts, out):
    """Write the difference of row i of a to row i of b, NaN where cells cannot be compared."""
    for j in range(a.shape[1]):
        x, y = a[:, j], b[:, j]
        absent = (x == 0.0) & (y == 0.0) & (ends[2] <= j < ends[3])
        unknown = absent | np.isnan(x) | np.isnan(y)
        out[:, j] = np.where(unknown, np.nan, _differ(x, y, j, ends, levels, starts))


def _differ(x, y, j, ends, levels, starts):
    """Return the difference of cells of column j; anything where one of them is missing."""
    if j < ends[0]:
        gap = np.abs(x - y)
        return np.where(gap < 1.0, gap, 1.0)
    if j < ends[3]:
        return (x != y).astype(np.float64)
    here, there = (np.where(np.isnan(side), 0.0, side).astype(np.int64) for side in (x, y))
    return levels[starts[j, 0] + here * starts[j, 1] + there]


# -- sets ------------------------------------------------------------------------------------------


def shared_counts(a_values, a_offsets, b_values, b_offsets, out):
    """Write into out how many pairs of equal tokens row i of a and row j of b have."""
    for i in range(len(out)):
        tokens, counts = np.unique(a_values[a_offsets[i] : a_offsets[i + 1]], return_counts=True)
        if not len(tokens):
            out[i] = 0.0
            continue
        at = np.minimum(np.searchsorted(tokens, b_values), len(tokens) - 1)
        equal = (tokens[at] == b_values) & (b_values < -1)
        upto = np.concatenate([[0], np.cumsum(np.where(equal, counts[at], 0))])
        out[i] = upto[b_offsets[1:]] - upto[b_offsets[:-1]]


def unshared_of_counts(counts, a_sizes, b_sizes, of_smaller):
    """Turn shared counts into the share of the union, or of the smaller set, that is not shared."""
    counts[:] = unshared(counts, a_sizes[:, None], b_sizes, of_smaller)


def unshared(counts, a_sizes, b_sizes, of_smaller):
    """Return the same for arrays of any one shape."""
    whole = np.minimum(a_sizes, b_sizes) if of_smaller else a_sizes + b_sizes - counts
    left = np.where(whole > 0.0, whole - counts, np.where(a_sizes == b_sizes, 0.0, 1.0))
    return left / np.where(whole > 0.0, whole, 1.0)


# -- lists of neighbors ----------------------------------------------------------------------------


def keep_nearest(block, ids, exclude, distances, indices):
    """Work a block of distances (queries x candidates) into the lists, leaving out ``exclude``."""
    gone = ids[None, :] == exclude[:, None]
    near = np.where(gone | np.isnan(block), np.inf, block)
    merge_lists(distances, indices, near, np.where(gone, -1, ids[None, :]))


def merge_lists(distances, indices, more_distances, more_indices):
    """Work the second lists, sorted or not, into the first."""
    k = distances.shape[1]
    if k == 0 or more_distances.shape[1] == 0:
        return
    far = np.concatenate([distances, more_distances], axis=1)
    ids = np.concatenate([indices, more_indices], axis=1)
    # Candidates farther than the k-th need not be sorted.
    rows, at = np.nonzero(far <= np.partition(far, k - 1, axis=1)[:, k - 1, None])
    far, ids = far[rows, at], ids[rows, at]
    order = np.lexsort((ids, ids < 0, far, rows))
    first = np.searchsorted(rows, np.arange(len(distances)))
    order = order[first[:, None] + np.arange(k)]
    distances[:], indices[:] = far[order], ids[order]
