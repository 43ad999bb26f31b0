"""Distances of mixed rows to the centers of clusters, as k-means needs them.

A row has numbers (NaN where missing) and codes of levels (-1 missing, other negative ones and codes
beyond the fitted levels: a level that is new). A center has the mean of each number, and for each
column of levels what a level adds and what every row pays (see ``clustering.mixed_means``).
"""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def assign_centers(numbers, codes, starts, means, adds, pays, labels, near, other):
    """Fill in the nearest center of each row, its squared distance, and that to the next center.

    numbers (n, p), codes (n, c), starts (c + 1) of each column's levels in adds (k, levels), means
    (k, p), pays (k, c). Ties go to the lower center; a column that is missing counts for none.
    """
    for i in range(numbers.shape[0]):
        best, second, at = np.inf, np.inf, 0
        for k in range(means.shape[0]):
            total = 0.0
            for j in range(numbers.shape[1]):
                gap = numbers[i, j] - means[k, j]
                if gap == gap:
                    total += gap * gap
            for j in range(codes.shape[1]):
                code = codes[i, j]
                if code == -1:
                    continue
                total += pays[k, j]
                if 0 <= code < starts[j + 1] - starts[j]:
                    total += adds[k, starts[j] + code]
            if total < best:
                best, second, at = total, best, k
            elif total < second:
                second = total
        labels[i], near[i], other[i] = at, max(best, 0.0), max(second, 0.0)
