"""Edit distance between sequences of sets."""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.tokens import find_tokens, number_tokens


@kernel
def edit_sets_block(a_values, a_offsets, b_values, b_offsets, out):
    """Write edit distances of sequences of sets into out: insert = delete = 1, relabel = Jaccard.

    A row is the number of sets, their sizes, then the tokens set after set. Sizes are at least 0
    and tokens below -1, so the two never meet. Each cell of the table is the least of three sums,
    which does not change when the two sides are exchanged.
    """
    a_ids, keys, table, found = number_tokens(a_values)
    b_ids = find_tokens(b_values, keys, table)
    longest = 1
    for i in range(a_offsets.shape[0] - 1):
        if a_offsets[i + 1] > a_offsets[i]:
            longest = max(longest, a_values[a_offsets[i]])
    # holders[first[t]:last[t]] are the positions of the sets of this row of a that hold token t
    holders = np.empty(a_ids.shape[0], np.int64)
    first = np.full(found, -1, np.int64)
    last = np.zeros(found, np.int64)
    count = np.zeros(found, np.int64)
    shared = np.empty(longest)
    above = np.empty(longest + 1)
    here = np.empty(longest + 1)
    for i in range(a_offsets.shape[0] - 1):
        start = a_offsets[i]
        if a_offsets[i + 1] == start:  # a missing row
            out[i, :] = np.nan
            continue
        n = a_values[start]
        body = start + 1 + n
        for k in range(body, a_offsets[i + 1]):
            count[a_ids[k]] += 1
        free = 0
        at = body
        for s in range(n):
            for k in range(at, at + a_values[start + 1 + s]):
                t = a_ids[k]
                if first[t] < 0:
                    first[t] = free
                    last[t] = free
                    free += count[t]
                holders[last[t]] = s
                last[t] += 1
            at += a_values[start + 1 + s]
        for j in range(b_offsets.shape[0] - 1):
            b_start = b_offsets[j]
            if b_offsets[j + 1] == b_start:
                out[i, j] = np.nan
                continue
            m = b_values[b_start]
            at = b_start + 1 + m
            for s in range(n + 1):
                above[s] = s
            for r in range(m):
                size = b_values[b_start + 1 + r]
                shared[:n] = 0.0
                for k in range(at, at + size):
                    t = b_ids[k]
                    if t >= 0 and first[t] >= 0:
                        for p in range(first[t], last[t]):
                            shared[holders[p]] += 1.0
                at += size
                here[0] = r + 1.0
                for s in range(n):
                    union = a_values[start + 1 + s] + size - shared[s]
                    change = (union - shared[s]) / union if union > 0.0 else 0.0
                    best = above[s] + change
                    if above[s + 1] + 1.0 < best:
                        best = above[s + 1] + 1.0
                    if here[s] + 1.0 < best:
                        best = here[s] + 1.0
                    here[s + 1] = best
                above, here = here, above
            out[i, j] = above[n]
        for k in range(body, a_offsets[i + 1]):
            first[a_ids[k]] = -1
            count[a_ids[k]] = 0
