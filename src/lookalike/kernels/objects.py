"""Distances between cells that are sets, sequences, series or graphs, a block at a time.

Objects come as two arrays, ``values`` and ``offsets``: those of object i are
``values[offsets[i] : offsets[i + 1]]``.
"""

import numpy as np

from lookalike.kernels._jit import kernel

# -- tokens ----------------------------------------------------------------------------------------
#
# A token is an integer below -1 from a good hash. A table of them is two arrays of a power-of-two
# length: ``keys`` (0 = free, as no token is 0) and ``ids``. The lowest bits of a token are its
# first slot, the next slots follow. ``number_tokens`` and ``find_tokens`` are for other kernels
# only: numba (0.68) can fail to return their arrays to Python ("descr is NULL") once a kernel
# that calls them came from its disk cache.


@kernel
def _slot_of(token, keys):
    """Return where a token is in a table, or the free slot where it would be."""
    # Linear probing; a table is at most half full, so a free slot ends every search.
    last = keys.shape[0] - 1
    slot = token & last
    while keys[slot] != 0 and keys[slot] != token:
        slot = (slot + 1) & last
    return slot


@kernel
def number_tokens(values):
    """Give distinct tokens numbers in order of appearance; integers above -2 get -1.

    Returns the number of each value, the table to find more of them, and how many there are.
    """
    size = 256  # a small table is kept nearly empty: most lookups then end at the first place
    while size < 2 * values.shape[0]:
        size *= 2
    keys = np.zeros(size, np.int64)
    ids = np.empty(size, np.int64)
    numbers = np.empty(values.shape[0], np.int64)
    n_distinct = 0
    for k in range(values.shape[0]):
        value = values[k]
        if value >= -1:
            numbers[k] = -1
            continue
        slot = _slot_of(value, keys)
        if keys[slot] == 0:
            keys[slot] = value
            ids[slot] = n_distinct
            n_distinct += 1
        numbers[k] = ids[slot]
    return numbers, keys, ids, n_distinct


@kernel
def find_tokens(values, keys, ids):
    """Return the number of each value in a table of ``number_tokens``, -1 where it has none."""
    numbers = np.empty(values.shape[0], np.int64)
    for k in range(values.shape[0]):
        value = values[k]
        slot = _slot_of(value, keys)
        numbers[k] = ids[slot] if value < -1 and keys[slot] == value else -1
    return numbers


@kernel
def shared_codes(a_values, b_values):
    """Return numbers of the tokens of a, and of those of b: one more where it is not in a.

    Also returns how many numbers there are.
    """
    a_codes, keys, ids, n_distinct = number_tokens(a_values)
    b_codes = find_tokens(b_values, keys, ids)
    for k in range(b_codes.shape[0]):
        if b_codes[k] < 0:
            b_codes[k] = n_distinct
    return a_codes, b_codes, n_distinct + 1


# -- sets ------------------------------------------------------------------------------------------
#
# Only tokens that both sides have are touched: the work is proportional to the number of shared
# tokens, not to tokens times pairs. Counts are integers, so any order gives the same bits.


@kernel
def shared_counts(a_values, a_offsets, b_values, b_offsets, out):
    """Write into out how many pairs of equal tokens row i of a and row j of b have.

    For sets that is the size of the intersection, for bags the product of their counts.
    """
    a_ids, keys, table, n_distinct = number_tokens(a_values)
    b_ids = find_tokens(b_values, keys, table)
    n_a = a_offsets.shape[0] - 1
    n_b = b_offsets.shape[0] - 1
    # rows_with[first[t]:first[t + 1]] are the rows of b that hold token t
    first = np.zeros(n_distinct + 2, np.int64)
    for k in range(b_ids.shape[0]):
        if b_ids[k] >= 0:
            first[b_ids[k] + 2] += 1
    for t in range(n_distinct):
        first[t + 2] += first[t + 1]
    rows_with = np.empty(first[n_distinct + 1], np.int64)
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
    for pair in range(len(left)):
        i, j = left[pair], right[pair]
        if i != last:
            tokens = np.sort(a_values[a_offsets[i] : a_offsets[i + 1]])
            last = i
        count = 0
        for p in range(b_offsets[j], b_offsets[j + 1]):
            at = np.searchsorted(tokens, b_values[p])
            while at < len(tokens) and tokens[at] == b_values[p]:
                count += 1
                at += 1
        out[pair] = count


@kernel
def unshared_of_counts(counts, a_sizes, b_sizes, of_smaller):
    """Turn shared counts into the share of the union, or of the smaller set, that is not shared.

    Two empty sets are at 0, an empty one and another at 1.
    """
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            a, b = a_sizes[i], b_sizes[j]
            whole = min(a, b) if of_smaller else a + b - counts[i, j]
            if whole > 0.0:
                counts[i, j] = (whole - counts[i, j]) / whole
            else:
                counts[i, j] = 0.0 if a == b else 1.0


# -- sequences of sets: edit distance --------------------------------------------------------------


@kernel
def edit_sets_block(a_values, a_offsets, b_values, b_offsets, out):
    """Write edit distances of sequences of sets into out: insert = delete = 1, relabel = Jaccard.

    A row is the number of sets, their sizes, then the tokens set after set. Sizes are at least 0
    and tokens below -1, so the two never meet. Each cell of the table is the least of three sums,
    which does not change when the two sides are exchanged.
    """
    a_ids, keys, table, n_distinct = number_tokens(a_values)
    b_ids = find_tokens(b_values, keys, table)
    longest = 1
    for i in range(a_offsets.shape[0] - 1):
        if a_offsets[i + 1] > a_offsets[i]:
            longest = max(longest, a_values[a_offsets[i]])
    # holders[first[t]:last[t]] are the positions of the sets of this row of a that hold token t
    # Sets of b then meet only the sets of a they share a token with, instead of all of them.
    holders = np.empty(a_ids.shape[0], np.int64)
    first = np.full(n_distinct, -1, np.int64)
    last = np.zeros(n_distinct, np.int64)
    count = np.zeros(n_distinct, np.int64)
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
        body_of_set = body
        for s in range(n):
            for k in range(body_of_set, body_of_set + a_values[start + 1 + s]):
                t = a_ids[k]
                if first[t] < 0:
                    first[t] = free
                    last[t] = free
                    free += count[t]
                holders[last[t]] = s
                last[t] += 1
            body_of_set += a_values[start + 1 + s]
        for j in range(b_offsets.shape[0] - 1):
            b_start = b_offsets[j]
            if b_offsets[j + 1] == b_start:
                out[i, j] = np.nan
                continue
            m = b_values[b_start]
            body_of_set = b_start + 1 + m
            for s in range(n + 1):
                above[s] = s
            for r in range(m):
                size = b_values[b_start + 1 + r]
                shared[:n] = 0.0
                for k in range(body_of_set, body_of_set + size):
                    t = b_ids[k]
                    if t >= 0 and first[t] >= 0:
                        for p in range(first[t], last[t]):
                            shared[holders[p]] += 1.0
                body_of_set += size
                here[0] = r + 1.0
                for s in range(n):
                    union = a_values[start + 1 + s] + size - shared[s]
                    # Two empty sets are equal: 0 / 0 counts as 0.
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


# -- series: dynamic time warping ------------------------------------------------------------------
#
# Within one pair each cell of the table depends on its neighbors, so nothing can run side by
# side; 32 series of b in the lanes of a vector can. Every cell is one sum and the minimum of
# three numbers, so an answer has the same bits whatever is in the other lanes.

SERIES_PER_VECTOR = 32  # fewer, and the compiler unrolls the inner loop instead of using vectors


@kernel
def warp_block(a_values, a_offsets, b_values, b_offsets, window, out):
    """Write warping distances with local cost ``|x - y|`` into out.

    ``window`` is the largest step away from the diagonal, widened to the difference in length;
    below 0: no limit. Two empty series are at 0, an empty one and another at infinity.
    """
    n_a = a_offsets.shape[0] - 1
    n_b = b_offsets.shape[0] - 1
    lengths = b_offsets[1:] - b_offsets[:-1]
    order = np.argsort(lengths)  # lanes of like length waste the least
    longest = 0
    for j in range(n_b):
        longest = max(longest, lengths[j])
    transposed = np.zeros((longest + 1, SERIES_PER_VECTOR))
    above = np.empty((longest + 1, SERIES_PER_VECTOR))
    here = np.empty((longest + 1, SERIES_PER_VECTOR))
    reach = np.empty(SERIES_PER_VECTOR, np.int64)
    for start in range(0, n_b, SERIES_PER_VECTOR):
        width = min(SERIES_PER_VECTOR, n_b - start)
        m = 0
        for c in range(width):
            j = order[start + c]
            m = max(m, lengths[j])
            for k in range(lengths[j]):
                transposed[k, c] = b_values[b_offsets[j] + k]
        for i in range(n_a):
            n = a_offsets[i + 1] - a_offsets[i]
            farthest = 0
            for c in range(SERIES_PER_VECTOR):
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
                    for c in range(SERIES_PER_VECTOR):
                        best = above[s, c]
                        best = above[s - 1, c] if above[s - 1, c] < best else best
                        best = here[s - 1, c] if here[s - 1, c] < best else best
                        best = best + abs(x - transposed[s - 1, c])
                        here[s, c] = best if away <= reach[c] else np.inf
                if high < m:  # the next row looks one place further
                    here[high + 1] = np.inf
                above, here = here, above
            for c in range(width):
                j = order[start + c]
                out[i, j] = above[lengths[j], c]


# -- graphs: exact edit distance of small ones -----------------------------------------------------


@kernel
def _read_graph(values, start, stop, near, labels):
    """Write who is next to whom (bits) and the labels; a loop is a bit of its own node.

    Nodes are put in order of falling degree: those that decide most are placed first.
    """
    n = values[start]
    links = np.zeros(n, np.int64)
    for k in range(start + 1 + n, stop, 2):
        links[values[k]] |= 1 << values[k + 1]
        links[values[k + 1]] |= 1 << values[k]
    degrees = np.zeros(n, np.int64)
    for v in range(n):
        for w in range(n):
            degrees[v] += (links[v] >> w) & 1
    order = np.argsort(-degrees, kind="mergesort")
    for i in range(n):
        labels[i] = values[start + 1 + order[i]]
        near[i] = 0
        for j in range(n):
            near[i] |= ((links[order[i]] >> order[j]) & 1) << j
    return n


@kernel
def _edges_left(near, n, placed):
    """Count edges (loops aside) of which at least one end is not among the nodes in ``placed``."""
    count = 0
    for v in range(n):
        for w in range(v + 1, n):
            if (near[v] >> w) & 1 and not ((placed >> v) & (placed >> w) & 1):
                count += 1
    return count


@kernel
def _least_left(a_near, a_labels, n, depth, b_near, b_labels, m, used):
    """Return a number that the edits of what is not yet placed cannot fall below.

    A node on one side without a partner of its label costs 1, and so does every edge that one side
    has more than the other.
    """
    taken = used
    same = 0
    for v in range(depth, n):
        for w in range(m):
            if not (taken >> w) & 1 and b_labels[w] == a_labels[v]:
                taken |= 1 << w
                same += 1
                break
    rest = 0
    for w in range(m):
        rest += 1 - ((used >> w) & 1)
    a_edges = _edges_left(a_near, n, (1 << depth) - 1)
    b_edges = _edges_left(b_near, m, used)
    return max(n - depth, rest) - same + abs(a_edges - b_edges)


@kernel
def _price(a_near, a_labels, v, b_near, b_labels, w, chosen):
    """Return what it costs to turn node v into node w (-1: to remove it), nodes before v placed.

    The price of edges to nodes placed before is part of it, and that of a loop.
    """
    a_loop = (a_near[v] >> v) & 1
    if w < 0:
        cost = 1 + a_loop
    else:
        b_loop = (b_near[w] >> w) & 1
        cost = (a_labels[v] != b_labels[w]) + abs(a_loop - b_loop)
    for u in range(v):
        a_edge = (a_near[v] >> u) & 1
        b_edge = 0
        if w >= 0 and chosen[u] >= 0:
            b_edge = (b_near[w] >> chosen[u]) & 1
        cost += abs(a_edge - b_edge)
    return cost


@kernel
def _rest(b_near, m, used):
    """Return what it costs to add the nodes that no other was transposed into, with their edges."""
    cost = _edges_left(b_near, m, used)
    for w in range(m):
        if not (used >> w) & 1:
            cost += 1 + ((b_near[w] >> w) & 1)
    return cost


@kernel
def _edits(a_near, a_labels, n, b_near, b_labels, m):
    """Count the edits that turn one graph into another: branch and bound over all placements."""
    # An upper bound to begin with: every placement that cannot beat it is cut off.
    best = _rest(b_near, m, 0) + _rest(a_near, n, 0)  # remove everything, add everything
    chosen = np.full(n + 1, -2, np.int64)  # of the node at each depth: -2 before the first choice
    costs = np.zeros(n + 1, np.int64)
    used = 0
    depth = 0
    while depth >= 0:
        if depth == n:
            best = min(best, costs[n] + _rest(b_near, m, used))
            depth -= 1
            continue
        if chosen[depth] >= 0:
            used &= ~(1 << chosen[depth])
        if chosen[depth] == -1:  # removal was the last choice
            chosen[depth] = -2
            depth -= 1
            continue
        w = 0 if chosen[depth] == -2 else chosen[depth] + 1
        while w < m and (used >> w) & 1:
            w += 1
        if w == m:
            w = -1
        chosen[depth] = w
        cost = costs[depth] + _price(a_near, a_labels, depth, b_near, b_labels, w, chosen)
        taken = used | (1 << w) if w >= 0 else used
        # Admissible: what is left costs at least this much, so the optimum is never cut off.
        if cost + _least_left(a_near, a_labels, n, depth + 1, b_near, b_labels, m, taken) >= best:
            continue  # the choice at this depth is made anew; nothing was marked as used
        used = taken
        costs[depth + 1] = cost
        depth += 1
    return best


@kernel
def graph_edit_block(a_values, a_offsets, b_values, b_offsets, most, out):
    """Write edit distances of graphs into out; every edit costs 1, a missing row is NaN.

    A row is the number of nodes, at most ``most``, their labels, then both ends of each edge.
    """
    a_near, b_near = np.zeros(most, np.int64), np.zeros(most, np.int64)
    a_labels, b_labels = np.zeros(most, np.int64), np.zeros(most, np.int64)
    for i in range(a_offsets.shape[0] - 1):
        if a_offsets[i] == a_offsets[i + 1]:
            out[i, :] = np.nan
            continue
        n = _read_graph(a_values, a_offsets[i], a_offsets[i + 1], a_near, a_labels)
        for j in range(b_offsets.shape[0] - 1):
            if b_offsets[j] == b_offsets[j + 1]:
                out[i, j] = np.nan
                continue
            m = _read_graph(b_values, b_offsets[j], b_offsets[j + 1], b_near, b_labels)
            # The smaller graph is placed into the larger one; the count is the same both ways.
            if n <= m:
                out[i, j] = _edits(a_near, a_labels, n, b_near, b_labels, m)
            else:
                out[i, j] = _edits(b_near, b_labels, m, a_near, a_labels, n)
