"""Distances between rows of numbers, a block at a time.

Each entry is a sum over the columns in their order, so its last bit does not depend on the block
around it, on threads, or on which side was asked first. The loops run across the rows of ``b``,
which are transposed into columns of a small tile: that is what lets the compiler use vector
instructions without changing the order of any sum.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel
from lookalike.kernels.narrow import add_step

MIN_ROWS_TO_TRANSPOSE = 4  # rows of a below which turning b costs more than it saves
TILE_ROWS = 64  # rows of b transposed at a time: 64 columns x 8 bytes stay in the first-level cache

# Roots of sums of squares outside of these may be missing squares that became 0 or infinite.
MIN_SAFE_LENGTH, MAX_SAFE_LENGTH = 2.0**-480, 2.0**511

EUCLIDEAN, CITYBLOCK, CHEBYSHEV, HALF_SQUARED = 0, 1, 2, 3
CODES = {
    "euclidean": EUCLIDEAN,
    "cityblock": CITYBLOCK,
    "chebyshev": CHEBYSHEV,
    "cosine": HALF_SQUARED,  # on rows of length 1, |a - b|^2 / 2 = 1 - cos
}


@kernel
def distance_block(a, b, code, out):
    """Write the distance of every row of a to every row of b into out; no cell is missing."""
    n_a, n_columns = a.shape
    n_b = b.shape[0]
    # A transposed tile pays when several rows of a use it.
    if n_a < MIN_ROWS_TO_TRANSPOSE:
        for i in range(n_a):
            _one_row(a[i], b, code, out[i])
        return
    transposed = np.zeros((n_columns, TILE_ROWS))
    total = np.zeros(TILE_ROWS)
    for start in range(0, n_b, TILE_ROWS):
        width = min(TILE_ROWS, n_b - start)
        for c in range(width):
            for j in range(n_columns):
                transposed[j, c] = b[start + c, j]
        for i in range(n_a):
            total[:] = 0.0
            for j in range(n_columns):
                x = np.float64(a[i, j])
                column = transposed[j]
                for c in range(TILE_ROWS):  # of which the compiler makes a loop for each code
                    total[c] = _add(total[c], abs(x - column[c]), code)
            row = out[i, start : start + width]
            for c in range(width):
                row[c] = _finish(total[c], code)
            if code == EUCLIDEAN:
                _measure_extremes(a[i], b[start : start + width], row)


@kernel
def _one_row(x, b, code, out):
    """Write the same numbers for one row of a, four rows of b at a time and no tile transposed."""
    n_b, n_columns = b.shape
    for start in range(0, n_b - n_b % 4, 4):
        b0, b1, b2, b3 = b[start], b[start + 1], b[start + 2], b[start + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n_columns):
            v = np.float64(x[j])
            t0, t1 = _add(t0, abs(v - b0[j]), code), _add(t1, abs(v - b1[j]), code)
            t2, t3 = _add(t2, abs(v - b2[j]), code), _add(t3, abs(v - b3[j]), code)
        out[start], out[start + 1] = _finish(t0, code), _finish(t1, code)
        out[start + 2], out[start + 3] = _finish(t2, code), _finish(t3, code)
    for at in range(n_b - n_b % 4, n_b):
        out[at] = distance_pair(x, b[at], code)
    if code == EUCLIDEAN:
        _measure_extremes(x, b, out)


@inline
def _add(total, gap, code):
    if code == CITYBLOCK:
        return total + gap
    if code == CHEBYSHEV:
        return gap if gap > total else total
    return total + gap * gap


@inline
def _finish(total, code):
    if code == EUCLIDEAN:
        return np.sqrt(total)
    if code == HALF_SQUARED:
        return 0.5 * total
    return total


@kernel
def distance_pair(x, y, code):
    """Return the same number as ``distance_block`` for one pair of rows, bit for bit."""
    total = 0.0
    for j in range(x.shape[0]):
        total = _add(total, abs(np.float64(x[j]) - np.float64(y[j])), code)
    found = _finish(total, code)
    return _scaled_length(x, y) if code == EUCLIDEAN and _is_extreme(found) else found


@kernel
def distance_pairs(a, b, left, right, code, out):
    """Write the distance of row left[i] of a to row right[i] of b, bit for bit the same."""
    for at in range(len(left)):
        out[at] = distance_pair(a[left[at]], b[right[at]], code)


@inline
def _is_extreme(length):
    """Whether some of the squares under the root may have overflowed or vanished."""
    return (length < MIN_SAFE_LENGTH) | (length > MAX_SAFE_LENGTH)


@kernel
def _measure_extremes(x, b, out):
    """Measure once more, with care, the rows of b whose length is extreme: few, or none."""
    n_extreme = np.int64(0)
    for c in range(out.shape[0]):
        n_extreme += np.int64(_is_extreme(out[c]))
    if n_extreme > 0:
        for c in range(out.shape[0]):
            if _is_extreme(out[c]):
                out[c] = _scaled_length(x, b[c])


@kernel
def _scaled_length(x, y):
    """Return the Euclidean distance of two rows whose squared differences no float holds."""
    # Scaled by the largest difference, as LAPACK's dnrm2 does: squares of shares up to 1 neither
    # overflow nor all vanish.
    largest = 0.0
    for j in range(x.shape[0]):
        largest = max(largest, abs(np.float64(x[j]) - np.float64(y[j])))
    if largest == 0.0 or largest == np.inf:
        return largest
    total = 0.0
    for j in range(x.shape[0]):
        share = (np.float64(x[j]) - np.float64(y[j])) / largest
        total += share * share
    return largest * np.sqrt(total)


@kernel
def ranked_block(twice_a, value_a, new_a, twice_b, value_b, new_b, code, out):
    """Write distances built from rank differences into out.

    ``twice`` holds mid-counts times 2 (integers), ``value`` the raw values (only asked whether
    they are equal), ``new`` is 1.0 for a row that was not fitted. A difference between unequal
    values grows by 1/2 for each of the two rows that is new.
    """
    n_a, n_columns = twice_a.shape
    n_b = twice_b.shape[0]
    mids = np.zeros((n_columns, TILE_ROWS))
    values = np.zeros((n_columns, TILE_ROWS))
    extra = np.zeros(TILE_ROWS)
    total = np.empty(TILE_ROWS)
    for start in range(0, n_b, TILE_ROWS):
        width = min(TILE_ROWS, n_b - start)
        for c in range(width):
            for j in range(n_columns):
                mids[j, c] = 0.5 * twice_b[start + c, j]
                values[j, c] = value_b[start + c, j]
        for i in range(n_a):
            total[:] = 0.0
            for c in range(width):
                extra[c] = 0.5 * (new_a[i] + new_b[start + c])
            for j in range(n_columns):
                m = 0.5 * twice_a[i, j]
                v = value_a[i, j]
                mid, value = mids[j], values[j]
                for c in range(TILE_ROWS):
                    gap = abs(m - mid[c]) + extra[c]
                    total[c] = _add(total[c], gap if value[c] != v else 0.0, code)
            for c in range(width):
                out[i, start + c] = _finish(total[c], code)


# Twice the ranks are integers, and so are their differences: the sums are exact, in any order and
# any width that holds them. In two bytes, sixteen of them fit into an instruction.

RANK_TILE_ROWS = 256  # rows of b at a time: sixty columns of them stay in the first-level cache


@kernel
def ranked_cityblock(codes_a, codes_b, step, together, out):
    """Write the cityblock distances of ``ranked_block`` where codes tell whether values are equal.

    They do unless both rows are new. Codes are twice the ranks, unsigned. ``step`` (in their type)
    is 1 where unequal codes count one more: twice the 1/2 of a new row. Sums of ``together``
    columns fit in the type of the codes, and those of all columns in 31 bits.
    """
    n_columns = codes_a.shape[1]
    tile = np.zeros((n_columns, RANK_TILE_ROWS), codes_b.dtype)
    low, high = np.empty(RANK_TILE_ROWS, codes_b.dtype), np.empty(RANK_TILE_ROWS, np.int32)
    for start in range(0, codes_b.shape[0], RANK_TILE_ROWS):
        width = min(RANK_TILE_ROWS, codes_b.shape[0] - start)
        for c in range(width):
            for j in range(n_columns):
                tile[j, c] = codes_b[start + c, j]
        for i in range(codes_a.shape[0]):
            high[:] = 0
            for first in range(0, n_columns, together):
                last = min(n_columns, first + together)
                _sum_steps(codes_a[i], tile, first, last, step, low)
                for c in range(RANK_TILE_ROWS):
                    high[c] += low[c]
            row = out[i, start : start + width]
            for c in range(width):
                row[c] = 0.5 * high[c]


@kernel
def _sum_steps(x, tile, j, stop, step, low):
    """Write the sums of some columns into ``low``."""
    low[:] = 0
    # Three columns at a time: sums are fetched once for them.
    while j + 3 <= stop:
        x1, x2, x3 = x[j], x[j + 1], x[j + 2]
        for c in range(RANK_TILE_ROWS):
            some = add_step(low[c], x1, tile[j, c], step)
            some = add_step(some, x2, tile[j + 1, c], step)
            low[c] = add_step(some, x3, tile[j + 2, c], step)
        j += 3
    while j < stop:
        x1 = x[j]
        for c in range(RANK_TILE_ROWS):
            low[c] = add_step(low[c], x1, tile[j, c], step)
        j += 1
