"""Dynamic time warping, several series of b at once.

Within one pair each cell of the table waits for its neighbor, so nothing can run side by side;
32 series of b in the lanes of a vector can. Every cell is one sum and the least of three
numbers, so the answer has the same bits whatever stands in the other lanes.
"""

import numpy as np

from lookalike.kernels._jit import kernel

LANES = 32  # fewer, and the compiler unrolls the inner loop instead of using vectors


@kernel
def warp_block(a_values, a_offsets, b_values, b_offsets, window, out):
    """Write warping distances with local cost ``|x - y|`` into out.

    ``window`` is the largest step away from the diagonal, widened to the difference in length;
    below 0 there is none. Two empty series are at 0, an empty one and another at infinity.
    """
    n_a = a_offsets.shape[0] - 1
    n_b = b_offsets.shape[0] - 1
    lengths = b_offsets[1:] - b_offsets[:-1]
    order = np.argsort(lengths)  # lanes of like length waste the least
    longest = 0
    for j in range(n_b):
        longest = max(longest, lengths[j])
    turned = np.zeros((longest + 1, LANES))
    above = np.empty((longest + 1, LANES))
    here = np.empty((longest + 1, LANES))
    reach = np.empty(LANES, np.int64)
    for start in range(0, n_b, LANES):
        width = min(LANES, n_b - start)
        m = 0
        for c in range(width):
            j = order[start + c]
            m = max(m, lengths[j])
            for k in range(lengths[j]):
                turned[k, c] = b_values[b_offsets[j] + k]
        for i in range(n_a):
            n = a_offsets[i + 1] - a_offsets[i]
            farthest = 0
            for c in range(LANES):
                own = lengths[order[start + c]] if c < width else 0
                reach[c] = max(n, own) if window < 0 else max(window, abs(n - own))
                if c < width:
                    farthest = max(farthest, reach[c])
            above[: m + 1] = np.inf
            above[0] = 0.0
            for r in range(1, n + 1):
                x = a_values[a_offsets[i] + r - 1]
                low = max(1, r - farthest)
                high = min(m, r + farthest)
                here[low - 1] = np.inf
                for s in range(low, high + 1):
                    away = abs(r - s)
                    for c in range(LANES):
                        best = above[s, c]
                        best = above[s - 1, c] if above[s - 1, c] < best else best
                        best = here[s - 1, c] if here[s - 1, c] < best else best
                        best = best + abs(x - turned[s - 1, c])
                        here[s, c] = best if away <= reach[c] else np.inf
                if high < m:  # the next row looks one place further
                    here[high + 1] = np.inf
                above, here = here, above
            for c in range(width):
                j = order[start + c]
                out[i, j] = above[lengths[j], c]
