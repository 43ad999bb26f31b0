"""Count what sets share, a block at a time.

Only tokens that both sides have are touched: the work is proportional to the answer, not to the
number of tokens times the number of pairs. Counts are whole numbers, so every road to them gives
the same bits.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.tokens import find_tokens, number_tokens


@kernel
def shared_counts(a_values, a_offsets, b_values, b_offsets, out):
    """Write into out how many pairs of equal tokens row i of a and row j of b have.

    For sets that is the size of the intersection, for bags the product of their counts.
    """
    a_ids, keys, table, found = number_tokens(a_values)
    b_ids = find_tokens(b_values, keys, table)
    n_a = a_offsets.shape[0] - 1
    n_b = b_offsets.shape[0] - 1
    # rows_with[first[t]:first[t + 1]] are the rows of b that hold token t
    first = np.zeros(found + 2, np.int64)
    for k in range(b_ids.shape[0]):
        if b_ids[k] >= 0:
            first[b_ids[k] + 2] += 1
    for t in range(found):
        first[t + 2] += first[t + 1]
    rows_with = np.empty(first[found + 1], np.int64)
    for j in range(n_b):
        for k in range(b_offsets[j], b_offsets[j + 1]):
            t = b_ids[k]
            if t >= 0:
                rows_with[first[t + 1]] = j
                first[t + 1] += 1
    for i in range(n_a):
        row = out[i]
        row[:] = 0.0
        for k in range(a_offsets[i], a_offsets[i + 1]):
            t = a_ids[k]
            for p in range(first[t], first[t + 1]):
                row[rows_with[p]] += 1.0


@kernel
def shared_pairs(a_values, a_offsets, b_values, b_offsets, left, right, out):
    """Write how many pairs of equal tokens row left[i] of a and row right[i] of b have.

    Quickest where pairs with the same left row stand together: its tokens are sorted once.
    """
    last, tokens = -1, a_values[:0].copy()
    for at in range(len(left)):
        i, j = left[at], right[at]
        if i != last:
            tokens = np.sort(a_values[a_offsets[i] : a_offsets[i + 1]])
            last = i
        count = 0
        for p in range(b_offsets[j], b_offsets[j + 1]):
            token = b_values[p]
            low, high = 0, len(tokens)
            while low < high:
                middle = (low + high) // 2
                if tokens[middle] < token:
                    low = middle + 1
                else:
                    high = middle
            while low < len(tokens) and tokens[low] == token:
                count += 1
                low += 1
        out[at] = count


@kernel
def jaccard_of_counts(counts, a_sizes, b_sizes):
    """Turn shared counts into the share of the union not shared; two empty sets are at 0."""
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            union = a_sizes[i] + b_sizes[j] - counts[i, j]
            counts[i, j] = (union - counts[i, j]) / union if union > 0.0 else 0.0


@kernel
def overlap_of_counts(counts, a_sizes, b_sizes):
    """Turn shared counts into the share of the smaller set that is not shared.

    Two empty sets are at 0, an empty one and another at 1.
    """
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            least = min(a_sizes[i], b_sizes[j])
            if least > 0.0:
                counts[i, j] = (least - counts[i, j]) / least
            else:
                counts[i, j] = 0.0 if a_sizes[i] == b_sizes[j] else 1.0


@kernel
def square_counts(values, offsets):
    """Return the sum of squared counts of each row's tokens; equal tokens stand side by side."""
    total = np.zeros(offsets.shape[0] - 1)
    for i in range(offsets.shape[0] - 1):
        run = 0
        for k in range(offsets[i], offsets[i + 1]):
            run = run + 1 if k > offsets[i] and values[k] == values[k - 1] else 1
            total[i] += 2 * run - 1  # run^2 - (run - 1)^2
    return total
