"""Elastic distances between series in which steps have a price, a block at a time.

Series come as two arrays, ``values`` and ``offsets``: those of series i are
``values[offsets[i] : offsets[i + 1]]``.
"""

import numpy as np

from lookalike.kernels._jit import kernel

MSM, TWE = 0, 1  # which of the two prices


@kernel
def _split_cost(x, before, other, price):
    """Return the price of a new value beside the one before it and the other series' value."""
    if before <= x <= other or before >= x >= other:
        return price
    return price + min(abs(x - before), abs(x - other))


@kernel
def _msm(x, y, reach, price, above, here):
    """Return the move-split-merge distance of two series that are not empty."""
    n, m = x.shape[0], y.shape[0]
    for i in range(n):
        low, high = max(0, i - reach), min(m - 1, i + reach)
        if low > 0:
            here[low - 1] = np.inf
        for j in range(low, high + 1):
            if i == 0 and j == 0:
                here[0] = abs(x[0] - y[0])
                continue
            best = np.inf
            if i > 0 and j > 0:
                best = above[j - 1] + abs(x[i] - y[j])
            if i > 0:
                best = min(best, above[j] + _split_cost(x[i], x[i - 1], y[j], price))
            if j > 0:
                best = min(best, here[j - 1] + _split_cost(y[j], y[j - 1], x[i], price))
            here[j] = best
        if high < m - 1:  # the next line looks one place further
            here[high + 1] = np.inf
        above, here = here, above
    return above[m - 1]


@kernel
def _twe(x, y, reach, price, stiffness, above, here):
    """Return the time warp edit distance of two series that are not empty; a 0 precedes both."""
    n, m = x.shape[0], y.shape[0]
    last_x = 0.0
    for i in range(n):
        low, high = max(0, i - reach), min(m - 1, i + reach)
        if low > 0:
            here[low - 1] = np.inf
        drop_x = abs(x[i] - last_x) + stiffness + price
        for j in range(low, high + 1):
            last_y = y[j - 1] if j > 0 else 0.0
            before = above[j - 1] if i > 0 and j > 0 else (0.0 if i == j else np.inf)
            gaps = abs(x[i] - y[j]) + abs(last_x - last_y)
            best = before + (gaps + 2.0 * stiffness * abs(i - j))
            if i > 0:
                best = min(best, above[j] + drop_x)
            if j > 0:
                best = min(best, here[j - 1] + (abs(y[j] - last_y) + stiffness + price))
            here[j] = best
        if high < m - 1:
            here[high + 1] = np.inf
        last_x = x[i]
        above, here = here, above
    return above[m - 1]


@kernel
def elastic_block(a_values, a_offsets, b_values, b_offsets, form, window, prices, out):
    """Write the distances of one form (MSM or TWE) into out.

    ``window`` is the largest step away from the diagonal, widened to the difference in length;
    below 0: no limit. Two empty series are at 0, an empty one and another at infinity.
    """
    n_a, n_b = a_offsets.shape[0] - 1, b_offsets.shape[0] - 1
    longest = 1
    for j in range(n_b):
        longest = max(longest, b_offsets[j + 1] - b_offsets[j])
    above, here = np.empty(longest), np.empty(longest)
    for i in range(n_a):
        x = a_values[a_offsets[i] : a_offsets[i + 1]]
        for j in range(n_b):
            y = b_values[b_offsets[j] : b_offsets[j + 1]]
            n, m = x.shape[0], y.shape[0]
            reach = max(n, m) if window < 0 else max(window, abs(n - m))
            if n == 0 or m == 0:
                out[i, j] = 0.0 if n == m else np.inf
            elif form == MSM:
                out[i, j] = _msm(x, y, reach, prices[0], above, here)
            else:
                out[i, j] = _twe(x, y, reach, prices[0], prices[1], above, here)
