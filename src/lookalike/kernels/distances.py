"""Distances between rows of numbers, a block at a time.

Each entry is a sum over the columns in their order, so its last bit does not depend on the block
around it, on threads, or on which side was asked first. The loops run across the rows of ``b``,
which are turned into columns of a small tile: that is what lets the compiler use vector
instructions without changing the order of any sum.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel

TILE = 64  # rows of b turned at a time: 64 columns x 8 bytes stay in the first-level cache

EUCLIDEAN, CITYBLOCK, CHEBYSHEV, HALF_SQUARED = 0, 1, 2, 3
CODES = {
    "euclidean": EUCLIDEAN,
    "cityblock": CITYBLOCK,
    "chebyshev": CHEBYSHEV,
    "cosine": HALF_SQUARED,  # on rows of length 1, |a - b|^2 / 2 = 1 - cos
}


@kernel
def distance_block(a, b, code, out):
    """Write the distance of every row of a to every row of b into out; rows have no gaps."""
    n_a, n_columns = a.shape
    n_b = b.shape[0]
    turned = np.zeros((n_columns, TILE))
    total = np.zeros(TILE)
    for start in range(0, n_b, TILE):
        width = min(TILE, n_b - start)
        for c in range(width):
            for j in range(n_columns):
                turned[j, c] = b[start + c, j]
        for i in range(n_a):
            total[:] = 0.0
            for j in range(n_columns):
                x = np.float64(a[i, j])
                column = turned[j]
                if code == CITYBLOCK:
                    for c in range(TILE):
                        total[c] += abs(x - column[c])
                elif code == CHEBYSHEV:
                    for c in range(TILE):
                        gap = abs(x - column[c])
                        total[c] = gap if gap > total[c] else total[c]
                else:
                    for c in range(TILE):
                        gap = x - column[c]
                        total[c] += gap * gap
            for c in range(width):
                out[i, start + c] = _finish(total[c], code)


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
        gap = np.float64(x[j]) - np.float64(y[j])
        if code == CITYBLOCK:
            total += abs(gap)
        elif code == CHEBYSHEV:
            total = abs(gap) if abs(gap) > total else total
        else:
            total += gap * gap
    return _finish(total, code)


@kernel
def ranked_block(twice_a, value_a, new_a, twice_b, value_b, new_b, code, out):
    """Write distances built from rank differences into out.

    ``twice`` holds mid-counts times 2 (whole numbers), ``value`` the raw values (only asked whether
    they are equal), ``new`` is 1.0 for a row that was not fitted. A difference between unequal
    values grows by 1/2 for each of the two rows that is new.
    """
    n_a, n_columns = twice_a.shape
    n_b = twice_b.shape[0]
    mids = np.zeros((n_columns, TILE))
    values = np.zeros((n_columns, TILE))
    extra = np.zeros(TILE)
    total = np.empty(TILE)
    for start in range(0, n_b, TILE):
        width = min(TILE, n_b - start)
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
                if code == CITYBLOCK:
                    for c in range(TILE):
                        gap = abs(m - mid[c]) + extra[c]
                        total[c] += gap if value[c] != v else 0.0
                elif code == CHEBYSHEV:
                    for c in range(TILE):
                        gap = abs(m - mid[c]) + extra[c]
                        gap = gap if value[c] != v else 0.0
                        total[c] = gap if gap > total[c] else total[c]
                else:
                    for c in range(TILE):
                        gap = abs(m - mid[c]) + extra[c]
                        gap = gap if value[c] != v else 0.0
                        total[c] += gap * gap
            for c in range(width):
                out[i, start + c] = _finish(total[c], code)


@kernel
def ranked_cityblock(twice_a, twice_b, step, turned, total, out):
    """Write the cityblock distances of ``ranked_block`` where codes tell whether values are equal.

    They do unless both rows are new. ``step`` is added for unequal codes: twice the 1/2 of a new
    row. ``turned`` (columns, tile) and ``total`` (tile) lend their type to the arithmetic: float32
    where all sums stay below 2^24 and are exact, which is twice as fast as float64.
    """
    n_a, n_columns = twice_a.shape
    n_b = twice_b.shape[0]
    tile = total.shape[0]
    zero = step - step
    for start in range(0, n_b, tile):
        width = min(tile, n_b - start)
        for c in range(width):
            for j in range(n_columns):
                turned[j, c] = twice_b[start + c, j]
        for i in range(n_a):
            total[:] = zero
            for j in range(n_columns):
                column = turned[j]
                x = zero + twice_a[i, j]
                _add_steps(x, column, step, zero, total)
            row = out[i, start : start + width]
            for c in range(width):
                row[c] = 0.5 * total[c]


@kernel
def _add_steps(x, column, step, zero, total):
    for c in range(total.shape[0]):
        gap = abs(x - column[c])
        total[c] += gap + (step if gap != zero else zero)
