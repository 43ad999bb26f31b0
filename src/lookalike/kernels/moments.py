"""Mean and spread of the distances of each row, folded chunk by chunk."""

import numpy as np

from lookalike.kernels._jit import kernel

LANES = 8  # running sums side by side: a fixed order, and the compiler can use them all at once


@kernel
def fold_moments(d, count, mean, square, low, high):
    """Work a chunk of distances into count, mean, sum of squared deviations and range of each row.

    NaN is skipped. Within a chunk the deviations are taken from the chunk's own mean, and chunks
    are put together by the formula of Chan, Golub and LeVeque, so no digits are lost to large
    means.
    """
    n_rows, width = d.shape
    totals, counts = np.empty(LANES), np.empty(LANES)
    lows, highs = np.empty(LANES), np.empty(LANES)
    for i in range(n_rows):
        row = d[i]
        totals[:] = 0.0
        counts[:] = 0.0
        lows[:] = np.inf
        highs[:] = -np.inf
        for start in range(0, width, LANES):
            here = row[start : start + LANES]
            for c in range(here.shape[0]):
                v = here[c]
                there = v == v
                totals[c] += v if there else 0.0
                counts[c] += 1.0 if there else 0.0
                lows[c] = v if v < lows[c] else lows[c]
                highs[c] = v if v > highs[c] else highs[c]
        n, total = 0.0, 0.0
        for c in range(LANES):
            n += counts[c]
            total += totals[c]
            low[i] = min(low[i], lows[c])
            high[i] = max(high[i], highs[c])
        if n == 0.0:
            continue
        center = total / n
        totals[:] = 0.0
        for start in range(0, width, LANES):
            here = row[start : start + LANES]
            for c in range(here.shape[0]):
                gap = here[c] - center
                totals[c] += gap * gap if gap == gap else 0.0
        squares = 0.0
        for c in range(LANES):
            squares += totals[c]
        both = count[i] + n
        gap = center - mean[i]
        square[i] += squares + gap * gap * (count[i] * n / both)
        mean[i] += gap * (n / both)
        count[i] = both
