"""Gower's comparison of mixed columns, a block at a time.

All simple columns of a row lie in one float64 row, NaN where a cell is missing, in five groups:
numbers divided by their range, numbers with a curved similarity, codes that are equal or not, flags
(0 or 1), and codes of ordered levels. ``ends`` says where each group ends.

For each pair there are two sums over the columns: what speaks against likeness (weight times
difference) and what could be compared (weight). Their quotient is the distance. Both sums are taken
column by column, four in one pass over a tile so that the running sum stays in a register, so a
pair has the same value in every block. A difference is at most 1, and rounding never makes the
smaller of two numbers the larger one, so the quotient cannot pass 1, and it is 1 exactly for rows
that differ in everything.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel

TILE_ROWS = 256

GROUPS = ("number", "curved", "equal", "flag", "level")
NUMBER, EQUAL, PLAIN = 0, 1, 2  # forms of a difference


@kernel
def mixed_block(a, b, ends, weight, alpha, beta, levels, starts, midpoint, against, compared):
    """Write the two sums of every pair into ``against`` and ``compared``.

    Parameters
    ----------
    a, b : float64 (rows, columns), columns sorted by group
    ends : int64 (5), where each of GROUPS ends
    weight : float64 per column
    alpha, beta : float64 per column, a curved similarity is (1 - z^beta)^alpha
    levels : float64, tables of 1 - similarity of the level columns, concatenated
    starts : int64 (columns, 2), where the table of a level column begins and how wide it is
    midpoint : bool, whether a missing cell counts as a difference of 1/2 instead of not at all
    against, compared : float64 (rows of a, rows of b), written here
        Where nothing can be left out, a single cell does for ``compared``: see ``all_compared``.
    """
    n_a, n_columns = a.shape
    n_b = b.shape[0]
    if n_a == 0 or n_b == 0:
        return
    whole = 0.0
    for j in range(n_columns):
        whole += weight[j]
    compared[0, 0] = whole
    one_for_all = compared.shape != against.shape
    has_flags = ends[3] > ends[2]
    half = 0.5 if midpoint else 0.0
    # Differences of numbers within [0, 1] and of weight 1 need neither clipping nor a product: the
    # same sum in fewer operations.
    plain = _are_plain(a, b, ends[0], weight)
    transposed = np.zeros((n_columns, TILE_ROWS))
    minus, weights = np.empty(TILE_ROWS), np.empty(TILE_ROWS)

    for start in range(0, n_b, TILE_ROWS):
        width = min(TILE_ROWS, n_b - start)
        for c in range(width):
            for j in range(n_columns):
                transposed[j, c] = b[start + c, j]
        missing_in_tile = _have_missing(b[start : start + width])
        for i in range(n_a):
            minus[:] = 0.0
            gaps = missing_in_tile or _have_missing(a[i : i + 1])
            # Called with constants, of which the compiler makes a loop each without branches.
            if gaps:
                _add_differences(a[i], transposed, 0, ends[0], weight, half, minus, NUMBER, True)
            elif plain:
                _add_differences(a[i], transposed, 0, ends[0], weight, half, minus, PLAIN, False)
            else:
                _add_differences(a[i], transposed, 0, ends[0], weight, half, minus, NUMBER, False)
            for j in range(ends[0], ends[1]):
                _curved(a[i, j], transposed[j], weight[j], alpha[j], beta[j], half, minus)
            first, end = ends[1], ends[3]
            if gaps:
                _add_differences(a[i], transposed, first, end, weight, half, minus, EQUAL, True)
            else:
                _add_differences(a[i], transposed, first, end, weight, half, minus, EQUAL, False)
            for j in range(ends[3], ends[4]):
                _levels(a[i, j], transposed[j], weight[j], levels, starts[j], half, minus)
            for c in range(width):
                against[i, start + c] = minus[c]
            if one_for_all:
                continue
            if has_flags or (gaps and not midpoint):
                _sum_weights(a[i], transposed, ends, weight, midpoint, weights)
            else:  # everything is compared
                weights[:] = whole
            for c in range(width):
                compared[i, start + c] = weights[c]


@kernel
def all_compared(a, b, ends, midpoint):
    """Whether every column can be compared in every pair."""
    if ends[3] > ends[2]:  # a flag may be absent in both
        return False
    return midpoint or not (_have_missing(a) or _have_missing(b))


@kernel
def _have_missing(rows):
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if np.isnan(rows[i, j]):
                return True
    return False


@kernel
def _sum_weights(x, transposed, ends, weight, midpoint, weights):
    """Sum the weights of what can be compared in the order in which differences are summed."""
    weights[:] = 0.0
    for j in range(x.shape[0]):
        v, w, column = x[j], weight[j], transposed[j]
        if ends[2] <= j < ends[3] and v == 0.0:
            if midpoint:  # only a flag absent in both is left out
                for c in range(TILE_ROWS):
                    weights[c] += w if column[c] != 0.0 else 0.0
            else:
                for c in range(TILE_ROWS):
                    weights[c] += w if column[c] > 0.0 else 0.0
        elif midpoint:
            for c in range(TILE_ROWS):
                weights[c] += w
        elif v == v:
            for c in range(TILE_ROWS):
                weights[c] += w if column[c] == column[c] else 0.0


# -- what differs ----------------------------------------------------------------------------------


@kernel
def difference(v, y, w, filler, form, gaps):
    """Weigh the difference of two numbers or codes; ``form`` and ``gaps`` are constants.

    ``form`` is NUMBER, EQUAL, or PLAIN: numbers that need neither clipping nor a weight.
    """
    # NaN where either is missing, for codes as well.
    gap = v - y
    if form == EQUAL:
        more = w if v != y else 0.0
    elif form == PLAIN:
        more = abs(gap)
    else:
        gap = abs(gap)
        more = w * (gap if gap < 1.0 else 1.0)
    if gaps:
        more = more if gap == gap else filler
    return more


@kernel
def _add_differences(x, transposed, first, end, weight, half, minus, form, gaps):
    """Add the differences of some columns, four in one pass over the tile."""
    fours = first + (end - first) // 4 * 4
    for j in range(first, fours, 4):
        v0, v1, v2, v3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        w0, w1, w2, w3 = weight[j], weight[j + 1], weight[j + 2], weight[j + 3]
        f0, f1, f2, f3 = w0 * half, w1 * half, w2 * half, w3 * half
        y0, y1, y2, y3 = transposed[j], transposed[j + 1], transposed[j + 2], transposed[j + 3]
        for c in range(TILE_ROWS):
            total = minus[c] + difference(v0, y0[c], w0, f0, form, gaps)
            total += difference(v1, y1[c], w1, f1, form, gaps)
            total += difference(v2, y2[c], w2, f2, form, gaps)
            minus[c] = total + difference(v3, y3[c], w3, f3, form, gaps)
    for j in range(fours, end):
        v, w, filler, column = x[j], weight[j], weight[j] * half, transposed[j]
        for c in range(TILE_ROWS):
            minus[c] += difference(v, column[c], w, filler, form, gaps)


@kernel
def _are_plain(a, b, end, weight):
    """Whether no difference of numbers has to be cut off at 1, or weighted."""
    for j in range(end):
        low, high = np.inf, -np.inf
        for i in range(a.shape[0]):
            low, high = min(low, a[i, j]), max(high, a[i, j])
        for i in range(b.shape[0]):
            low, high = min(low, b[i, j]), max(high, b[i, j])
        if not (high - low <= 1.0 and weight[j] == 1.0):
            return False
    return True


@kernel
def curve(z, alpha, beta):
    """Return 1 - (1 - z^beta)^alpha with z cut off at 1."""
    return 1.0 - (1.0 - (z if z < 1.0 else 1.0) ** beta) ** alpha


@kernel
def _curved(v, column, w, alpha, beta, half, minus):
    for c in range(TILE_ROWS):
        gap = abs(v - column[c])
        minus[c] += w * curve(gap, alpha, beta) if gap == gap else w * half


@kernel
def _levels(v, column, w, levels, start, half, minus):
    if v != v:
        for c in range(TILE_ROWS):
            minus[c] += w * half
        return
    at = start[0] + np.int64(v) * start[1]
    for c in range(TILE_ROWS):
        y = column[c]
        minus[c] += w * levels[at + np.int64(y)] if y == y else w * half


@kernel
def mixed_pair_sums(
    a, b, left, right, ends, weight, alpha, beta, levels, starts, midpoint, against, compared
):
    """Write the two sums of row left[i] of a and row right[i] of b, bit for bit as in a block."""
    half = 0.5 if midpoint else 0.0
    for at in range(len(left)):
        x, y = a[left[at]], b[right[at]]
        minus, weights = 0.0, 0.0
        for j in range(x.shape[0]):
            u, v, w = x[j], y[j], weight[j]
            if u != u or v != v:
                minus += w * half
                weights += w if midpoint else 0.0
                continue
            minus += w * cell_difference(u, v, j, ends, alpha, beta, levels, starts)
            if not (ends[2] <= j < ends[3] and u == 0.0 and v == 0.0):
                weights += w
        against[at], compared[at] = minus, weights


@inline
def cell_difference(x, y, j, ends, alpha, beta, levels, starts):
    """Return the difference, in [0, 1], of two present cells of column j."""
    gap = abs(x - y)
    if j < ends[0]:
        return gap if gap < 1.0 else 1.0
    if j < ends[1]:
        return curve(gap, alpha[j], beta[j])
    if j < ends[3]:
        return 1.0 if x != y else 0.0
    return levels[starts[j, 0] + np.int64(x) * starts[j, 1] + np.int64(y)]


@kernel
def mixed_pairs(a, b, ends, alpha, beta, levels, starts, out):
    """Write the difference (1 - similarity) of row i of a to row i of b, column by column.

    NaN where the two cells cannot be compared: one is missing, or a flag is absent in both.
    """
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x, y = a[i, j], b[i, j]
            absent = ends[2] <= j < ends[3] and x == 0.0 and y == 0.0
            if absent or np.isnan(x) or np.isnan(y):
                out[i, j] = np.nan
            else:
                out[i, j] = cell_difference(x, y, j, ends, alpha, beta, levels, starts)


# -- distances to the centers of clusters, for k-means of mixed rows -------------------------------
#
# A row has numbers (NaN where missing) and codes of levels (-1 missing; other negative codes and
# codes beyond the fitted levels are new levels). A center has the mean of each number, and for
# each column of levels what a level adds and what every row pays (see
# ``clustering.mixed_means``).


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
