"""Lists of the k nearest neighbors, kept while distances stream past.

A list is sorted by (distance, id): ties go to the lower id, whatever the order in which candidates
arrive, so lists made from parts of a collection merge to the list of the whole. An entry not yet
taken holds (inf, -1); an undefined distance (NaN) counts as infinite.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel
from lookalike.kernels.distances import HALF_SQUARED, distance_pair
from lookalike.kernels.narrow import add_narrow


@inline
def precedes(distance, index, other, other_index):
    """Whether (distance, index) precedes (other, other_index) in a list."""
    if distance != other:
        return distance < other
    return other_index < 0 or index < other_index


@inline
def heap_precedes(distance, index, other, other_index):
    """Do what ``precedes`` does where the first may be an entry not yet taken."""
    return (index >= 0 or distance < other) and precedes(distance, index, other, other_index)


@kernel
def insert(distances, indices, distance, index):
    """Put one candidate in its place in a sorted list; the last of the list falls off."""
    slot = distances.shape[0] - 1
    # Moving k entries beats a heap up to about a hundred; ``keep_in_heap`` is for longer lists.
    while slot > 0 and precedes(distance, index, distances[slot - 1], indices[slot - 1]):
        distances[slot] = distances[slot - 1]
        indices[slot] = indices[slot - 1]
        slot -= 1
    distances[slot] = distance
    indices[slot] = index


@inline
def offer(distances, indices, distance, index):
    """Insert a candidate into a sorted list if it precedes the last; NaN counts as infinite."""
    d = np.inf if np.isnan(distance) else distance
    if precedes(d, index, distances[-1], indices[-1]):
        insert(distances, indices, d, index)


@kernel
def keep_nearest(block, ids, exclude, distances, indices):
    """Work a block of distances (queries x candidates) into the lists, leaving out ``exclude``."""
    k = distances.shape[1]
    for i in range(block.shape[0]):
        best, named = distances[i], indices[i]
        worst, worst_id = best[k - 1], named[k - 1]
        for j in range(block.shape[1]):
            d = block[i, j]
            if d > worst:  # by far the most frequent case
                continue
            if np.isnan(d):
                d = np.inf
            if ids[j] != exclude[i] and precedes(d, ids[j], worst, worst_id):
                insert(best, named, d, ids[j])
                worst, worst_id = best[k - 1], named[k - 1]


@kernel
def keep_pairs(queries, ids, far, exclude, distances, indices):
    """Work single pairs (query, id, distance) into the lists, leaving out ``exclude``."""
    for pair in range(len(queries)):
        i = queries[pair]
        # Compared before the list is taken out of the array, which costs as much as the rest.
        if not (far[pair] > distances[i, -1] or ids[pair] == exclude[i]):
            offer(distances[i], indices[i], far[pair], ids[pair])


@kernel
def keep_in_heap(block, ids, exclude, distances, indices):
    """Do what ``keep_nearest`` does for long lists, kept as heaps: see ``sort_heaps``.

    The first of a heap is the last of its list, and no entry comes after both of its two followers.
    """
    for i in range(block.shape[0]):
        best, named = distances[i], indices[i]
        for j in range(block.shape[1]):
            d = block[i, j]
            if d > best[0]:
                continue
            if np.isnan(d):
                d = np.inf
            if ids[j] != exclude[i] and precedes(d, ids[j], best[0], named[0]):
                sift_down(best, named, d, ids[j], best.shape[0])


@kernel
def sift_down(distances, indices, distance, index, size):
    """Replace the first of a heap of some size by a candidate, and put that in its place."""
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        if child + 1 < size and heap_precedes(
            distances[child], indices[child], distances[child + 1], indices[child + 1]
        ):
            child += 1
        if heap_precedes(distances[child], indices[child], distance, index):
            break
        distances[parent], indices[parent] = distances[child], indices[child]
        parent = child
    distances[parent], indices[parent] = distance, index


@kernel
def sort_heaps(distances, indices):
    """Turn heaps into sorted lists (heapsort)."""
    for i in range(distances.shape[0]):
        best, named = distances[i], indices[i]
        # The first of the heap is the last of the list, so the list fills from its end.
        for end in range(best.shape[0] - 1, 0, -1):
            d, index = best[end], named[end]
            best[end], named[end] = best[0], named[0]
            sift_down(best, named, d, index, end)


@kernel
def merge_lists(distances, indices, more_distances, more_indices):
    """Work the second lists into the first."""
    k = distances.shape[1]
    if k == 0 or more_distances.shape[1] == 0:
        return
    old, old_ids = np.empty(k), np.empty(k, np.int64)
    for i in range(distances.shape[0]):
        best, named = distances[i], indices[i]
        more, more_ids = more_distances[i], more_indices[i]
        if not precedes(more[0], more_ids[0], best[k - 1], named[k - 1]) or more_ids[0] < 0:
            continue
        for place in range(k):  # a slice assignment takes the compiler seconds
            old[place], old_ids[place] = best[place], named[place]
        mine, other = 0, 0
        for place in range(k):
            left = other < more.shape[0] and more_ids[other] >= 0
            if left and precedes(more[other], more_ids[other], old[mine], old_ids[mine]):
                best[place], named[place] = more[other], more_ids[other]
                other += 1
            else:
                best[place], named[place] = old[mine], old_ids[mine]
                mine += 1


# -- Euclidean neighbors: a matrix product proposes, the pair kernel decides -----------------------
#
# A float32 product gives all squared distances of a block together, each with an error that can be
# bounded. Rows that might still belong to a list are measured again by ``distance_pair``; the
# lists then hold exactly what they would hold without the product, to the last bit.

STRIDE_CANDIDATES = 64  # candidates looked at together; most strides hold nothing of interest


@kernel
def center_block(x, center, out, norms):
    """Write x - center as float32 into out, and the lengths of these rounded rows into norms."""
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            out[i, j] = np.float32(np.float64(x[i, j]) - center[j])
            total += np.float64(out[i, j]) * np.float64(out[i, j])
        norms[i] = np.sqrt(total)


@kernel
def decide(product, a, b, a_norms, b_norms, ids, exclude, code, distances, indices):
    """Work one block into the lists.

    ``product`` holds the float32 products of the centered rows, ``a`` and ``b`` the rows the pair
    kernel measures. With u = 2^-24, s = |a| + max |b| and d columns, the product is off by at most
    u d |a| |b| <= u d s^2 / 4, rounding the rows to float32 moves a squared distance by at most
    2.1 u s^2, and the float32 arithmetic below adds at most 3 u s^2; twice the product enters.
    """
    k = distances.shape[1]
    n_a, n_b = product.shape
    n_columns = a.shape[1]
    unit = 2.0**-24
    largest = 0.0
    for j in range(n_b):
        largest = max(largest, b_norms[j])
    squares = np.empty(n_b, np.float32)
    for j in range(n_b):
        squares[j] = np.float32(b_norms[j] * b_norms[j])
    two = np.float32(2.0)
    for i in range(n_a):
        best, named = distances[i], indices[i]
        worst, worst_id = best[k - 1], named[k - 1]
        reach = a_norms[i] + largest
        margin = (0.5 * n_columns + 8.0) * unit * reach * reach
        if not 1e-15 < reach < 1e15:  # float32 squares could vanish or overflow: propose all
            margin = np.inf
        limit = _limit(worst, code, n_columns, margin, a_norms[i])
        row = product[i]
        for start in range(0, n_b, STRIDE_CANDIDATES):
            square = squares[start : start + STRIDE_CANDIDATES]
            part = row[start : start + STRIDE_CANDIDATES]
            if _count_near(square, part, limit) == 0:
                continue
            for j in range(part.shape[0]):
                if square[j] - two * part[j] > limit or ids[start + j] == exclude[i]:
                    continue
                d = distance_pair(a[i], b[start + j], code)
                if np.isnan(d):
                    d = np.inf
                if precedes(d, ids[start + j], worst, worst_id):
                    insert(best, named, d, ids[start + j])
                    worst, worst_id = best[k - 1], named[k - 1]
                    limit = _limit(worst, code, n_columns, margin, a_norms[i])


@kernel
def _count_near(square, part, limit):
    """Count the candidates of one stride; a loop of its own, so that it becomes vector code."""
    two = np.float32(2.0)
    hits = np.int32(0)
    for j in range(part.shape[0]):
        # "not above" instead of "below or equal": an overflow (NaN) must count as a candidate
        hits = add_narrow(hits, not (square[j] - two * part[j] > limit))
    return hits


@kernel
def _limit(worst, code, n_columns, margin, a_norm):
    """Return the value of |b|^2 - 2ab above which a pair cannot enter the list any more."""
    square = 2.0 * worst if code == HALF_SQUARED else worst * worst
    square = square * (1.0 + 4.0 * (n_columns + 4) * 2.0**-53) + margin - a_norm * a_norm
    # one step up: rounding to float32 must not lower it (numba would widen the step to float64)
    return np.float32(np.nextafter(np.float32(square), np.float32(np.inf)))


# -- the nearest rows of each class, for Relief weights --------------------------------------------


@kernel
def keep_by_class(block, first, classes, own, distances, indices):
    """Work a block of distances into lists of the nearest candidates, one list for each class.

    Parameters
    ----------
    block : float64 (queries, candidates)
    first : int, the row that the first candidate is
    classes : int64, class of every row from 0
    own : int64 (queries), the row each query is; it is left out of its own lists
    distances, indices : (queries, classes, k), sorted by (distance, row); an empty place holds
        (inf, -1)
    """
    worst = np.empty(distances.shape[1])
    for i in range(block.shape[0]):
        for c in range(worst.shape[0]):
            worst[c] = distances[i, c, -1]
        for j in range(block.shape[1]):
            d, c, row = block[i, j], classes[first + j], first + j
            if d > worst[c] or row == own[i]:  # the former is by far the most frequent case
                continue
            # NaN is left out, unlike in other lists: ``precedes`` is false for it.
            if precedes(d, row, worst[c], indices[i, c, -1]):
                insert(distances[i, c], indices[i, c], d, row)
                worst[c] = distances[i, c, -1]
