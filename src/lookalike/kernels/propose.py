"""Nearest rows by Euclidean distance: a matrix product proposes, the pair kernel decides.

A float32 product gives all squared distances of a block at once, each with an error that can be
bounded. Whatever might still belong to a list is measured again by ``distance_pair``; the lists
then hold exactly what they would hold without the product, to the last bit.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.distances import HALF_SQUARED, distance_pair
from lookalike.kernels.narrow import add_narrow
from lookalike.kernels.topk import before, insert

STRIDE = 64  # candidates looked at together; most strides hold nothing of interest


@kernel
def center_block(x, center, out, norms):
    """Write x - center as float32 into out, and the lengths of these rounded rows into norms."""
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            out[i, j] = np.float32(np.float64(x[i, j]) - center[j])
            total += np.float64(out[i, j]) * np.float64(out[i, j])
        norms[i] = np.sqrt(total)


@kernel
def decide(product, a, b, a_norms, b_norms, ids, exclude, code, distances, indices):
    """Work one block into the lists.

    ``product`` holds the float32 products of the centered rows, ``a`` and ``b`` the rows the pair
    kernel measures. With u = 2^-24, s = |a| + max |b| and d columns, the product is off by at most
    u d |a| |b| <= u d s^2 / 4, rounding the rows to float32 moves a squared distance by at most
    2.1 u s^2, and the float32 arithmetic below adds at most 3 u s^2; twice the product enters.
    """
    k = distances.shape[1]
    n_a, n_b = product.shape
    n_columns = a.shape[1]
    unit = 2.0**-24
    largest = 0.0
    for j in range(n_b):
        largest = max(largest, b_norms[j])
    squares = np.empty(n_b, np.float32)
    for j in range(n_b):
        squares[j] = np.float32(b_norms[j] * b_norms[j])
    two = np.float32(2.0)
    for i in range(n_a):
        best, named = distances[i], indices[i]
        worst, worst_id = best[k - 1], named[k - 1]
        reach = a_norms[i] + largest
        margin = (0.5 * n_columns + 8.0) * unit * reach * reach
        if not 1e-15 < reach < 1e15:  # float32 squares could vanish or overflow: propose all
            margin = np.inf
        limit = _limit(worst, code, n_columns, margin, a_norms[i])
        row = product[i]
        for start in range(0, n_b, STRIDE):
            square = squares[start : start + STRIDE]
            part = row[start : start + STRIDE]
            if _count_near(square, part, limit) == 0:
                continue
            for j in range(part.shape[0]):
                if square[j] - two * part[j] > limit or ids[start + j] == exclude[i]:
                    continue
                d = distance_pair(a[i], b[start + j], code)
                if np.isnan(d):
                    d = np.inf
                if before(d, ids[start + j], worst, worst_id):
                    insert(best, named, d, ids[start + j])
                    worst, worst_id = best[k - 1], named[k - 1]
                    limit = _limit(worst, code, n_columns, margin, a_norms[i])


@kernel
def _count_near(square, part, limit):
    """Count the candidates of one stride; a loop of its own, so that it becomes vector code."""
    two = np.float32(2.0)
    hits = np.int32(0)
    for j in range(part.shape[0]):
        # "not above" instead of "below or equal": an overflow (NaN) must count as a candidate
        hits = add_narrow(hits, not (square[j] - two * part[j] > limit))
    return hits


@kernel
def _limit(worst, code, n_columns, margin, a_norm):
    """Return the value of |b|^2 - 2ab above which a pair cannot enter the list any more."""
    square = 2.0 * worst if code == HALF_SQUARED else worst * worst
    square = square * (1.0 + 4.0 * (n_columns + 4) * 2.0**-53) + margin - a_norm * a_norm
    # one step up: rounding to float32 must not lower it (numba would widen the step to float64)
    return np.float32(np.nextafter(np.float32(square), np.float32(np.inf)))
