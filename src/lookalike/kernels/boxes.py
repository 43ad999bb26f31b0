"""Nearest rows of mixed columns by branch and bound over a tree of boxes.

Rows are split at the median of the column that differs most until a leaf holds a few; a box is the
least and the largest code of each column. What lies outside the range of a box differs by at least
the way to it (numbers) or by a whole weight (categories), divided by at most all weights: a box
farther than the k-th neighbor found so far holds none. Rows of a leaf are compared by the sums of
``mixed_block``, column by column, so distances have the same bits.

The tree is balanced: node i of depth d holds rows ``i * n >> d`` to ``(i + 1) * n >> d``, and its
box is number ``2^d - 1 + i``.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.lists import insert, precedes
from lookalike.kernels.mixed import EQUAL, NUMBER, cell_difference, difference

LEAF_ROWS = 64  # at most; 16 and 32 took as long, or longer
MAX_DEPTH = 48
SAMPLE_PAIRS = 64  # of a node, to find the column that differs most


@kernel
def widest(rows, order, plan):
    """Return the column in which some pairs of rows differ most.

    Parameters
    ----------
    rows : float64 (rows, columns), as for ``mixed_block``
    order : int64, positions of the rows
    plan : ends, weight, alpha, beta, levels and starts, as for ``mixed_block``
    """
    ends, weight, alpha, beta, levels, starts = plan
    half = len(order) // 2
    best, most = 0, -1.0
    for j in range(rows.shape[1]):
        total = 0.0
        for i in range(0, half, max(1, half // SAMPLE_PAIRS)):
            x, y = rows[order[i], j], rows[order[i + half], j]
            if x == x and y == y:
                total += weight[j] * cell_difference(x, y, j, ends, alpha, beta, levels, starts)
        if total > most:
            best, most = j, total
    return best


@kernel
def _bound(x, low, high, ends, weight):
    """Return what speaks at least against a row and any of a box."""
    total = 0.0
    for j in range(ends[0]):
        out = max(low[j] - x[j], x[j] - high[j])
        if out > 0.0:  # not NaN: a missing cell is in every box
            total += weight[j] * min(out, 1.0)
    for j in range(ends[1], ends[3]):
        if x[j] < low[j] or x[j] > high[j]:
            total += weight[j]
    return total


@kernel
def _compare_leaf(x, columns, first, end, ends, weight, levels, starts, ways, minus, weights):
    """Write the two sums of a row and each of a leaf, as ``mixed_block`` does."""
    _, half, complete = ways
    width = end - first
    minus[:width], weights[:width] = 0.0, 0.0
    for j in range(len(x)):
        v, w, filler, column = x[j], weight[j], weight[j] * half, columns[j, first:end]
        if j < ends[0]:
            for c in range(width):
                minus[c] += difference(v, column[c], w, filler, NUMBER, True)
        elif j < ends[3]:
            for c in range(width):
                minus[c] += difference(v, column[c], w, filler, EQUAL, True)
        elif v == v:
            at = starts[j, 0] + np.int64(v) * starts[j, 1]
            for c in range(width):
                y = column[c]
                minus[c] += w * levels[at + np.int64(y)] if y == y else filler
        else:
            minus[:width] += filler
        if complete:
            weights[0] += w
            continue
        absent = ends[2] <= j < ends[3] and v == 0.0
        for c in range(width):
            y = column[c]
            counts = (half > 0.0 or (v == v and y == y)) and not (absent and y == 0.0)
            weights[c] += w if counts else 0.0
    if complete:
        weights[1:width] = weights[0]


@kernel
def nearest_in_boxes(
    queries, own, exclude, columns, ids, seen, low, high, plan, ways, most, distances, indices
):
    """Fill the lists of the nearest rows; return how many queries were done before giving up.

    Parameters
    ----------
    queries : float64 (queries, columns)
    own, exclude : int64 per query, its position among the fitted rows and the id left out; -1: none
    columns : float64 (columns, rows), in the order of the tree
    ids, seen : int64 per row, in the order of the tree
    low, high : float64 (boxes, columns)
    plan : as for ``widest``
    ways : (bool, float, bool)
        Whether distances are square roots, what a missing cell differs by (1/2, or 0 and not
        compared), and whether every column can be compared in every pair.
    most : int
        Rows to compare before giving up.
    distances, indices : lists (queries, k), empty at the start
    """
    ends, weight, _, _, levels, starts = plan
    root, half, _ = ways
    n, leaves = columns.shape[1], len(low) // 2
    minus, weights = np.empty(LEAF_ROWS), np.empty(LEAF_ROWS)
    nodes, bounds = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH)
    compared = 0
    for q in range(len(queries)):
        if compared > most:
            return q
        x, best, named = queries[q], distances[q], indices[q]
        whole = 0.0
        for j in range(len(x)):
            whole += weight[j] if x[j] == x[j] or half > 0.0 else 0.0
        nodes[0], bounds[0], size = 0, 0.0, 1
        while size:
            size -= 1
            node, limit = nodes[size], best[-1] * best[-1] if root else best[-1]
            # Raised a little: neither rounding of the bound nor of the distance may lose a row.
            if bounds[size] > (limit * (1.0 + 1e-9) + 1e-12) * whole:
                continue
            while node < leaves:
                left = _bound(x, low[2 * node + 1], high[2 * node + 1], ends, weight)
                right = _bound(x, low[2 * node + 2], high[2 * node + 2], ends, weight)
                nearer = 1 if left <= right else 2
                nodes[size], bounds[size] = 2 * node + 3 - nearer, max(left, right)
                node, size = 2 * node + nearer, size + 1
            first = (node - leaves) * n // (leaves + 1)
            width = (node - leaves + 1) * n // (leaves + 1) - first
            leaf = columns, first, first + width
            _compare_leaf(x, *leaf, ends, weight, levels, starts, ways, minus, weights)
            compared += width
            for c in range(width):
                # By way of the similarity, whose rounding the distances of a block have as well.
                far = 1.0 - (1.0 - minus[c] / weights[c]) if weights[c] > 0.0 else np.inf
                far = np.sqrt(max(far, 0.0)) if root else max(far, 0.0)
                same = own[q] >= 0 and own[q] == seen[first + c]
                if far > best[-1] and not same:  # by far the most frequent case
                    continue
                far, id = 0.0 if same else far, ids[first + c]
                if id != exclude[q] and precedes(far, id, best[-1], named[-1]):
                    insert(best, named, far, id)
    return len(queries)
