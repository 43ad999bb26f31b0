"""The k nearest, kept while distances stream past.

A list is sorted by (distance, id): ties go to the lower id, whatever the order in which candidates
arrive, so lists made from parts of a collection merge to the list of the whole. A place not yet
taken holds (inf, -1); an undefined distance (NaN) counts as infinite.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel


@inline
def before(distance, index, other, other_index):
    """Whether (distance, index) comes before (other, other_index) in a list."""
    if distance != other:
        return distance < other
    return other_index < 0 or index < other_index


@inline
def earlier(distance, index, other, other_index):
    """Do what ``before`` does where the first may be a place not yet taken."""
    return (index >= 0 or distance < other) and before(distance, index, other, other_index)


@kernel
def insert(distances, indices, distance, index):
    """Put one candidate in its place in a sorted list; the last of the list falls off."""
    at = distances.shape[0] - 1
    while at > 0 and before(distance, index, distances[at - 1], indices[at - 1]):
        distances[at] = distances[at - 1]
        indices[at] = indices[at - 1]
        at -= 1
    distances[at] = distance
    indices[at] = index


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
            if ids[j] != exclude[i] and before(d, ids[j], worst, worst_id):
                insert(best, named, d, ids[j])
                worst, worst_id = best[k - 1], named[k - 1]


@kernel
def keep_pairs(queries, ids, far, exclude, distances, indices):
    """Work single pairs (query, id, distance) into the lists, leaving out ``exclude``."""
    k = distances.shape[1]
    for at in range(len(queries)):
        i, d = queries[at], far[at]
        if np.isnan(d):
            d = np.inf
        if ids[at] != exclude[i] and before(d, ids[at], distances[i, k - 1], indices[i, k - 1]):
            insert(distances[i], indices[i], d, ids[at])


@kernel
def keep_in_heap(block, ids, exclude, distances, indices):
    """Do what ``keep_nearest`` does for long lists, kept as heaps: see ``sort_heaps``.

    The first of a heap is the last of its list, and nobody comes after both of its two followers.
    """
    for i in range(block.shape[0]):
        best, named = distances[i], indices[i]
        for j in range(block.shape[1]):
            d = block[i, j]
            if d > best[0]:
                continue
            if np.isnan(d):
                d = np.inf
            if ids[j] != exclude[i] and before(d, ids[j], best[0], named[0]):
                sink(best, named, d, ids[j], best.shape[0])


@kernel
def sink(distances, indices, distance, index, size):
    """Replace the first of a heap of some size by a candidate, and put that in its place."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and earlier(
            distances[child], indices[child], distances[child + 1], indices[child + 1]
        ):
            child += 1
        if earlier(distances[child], indices[child], distance, index):
            break
        distances[at], indices[at] = distances[child], indices[child]
        at = child
    distances[at], indices[at] = distance, index


@kernel
def sort_heaps(distances, indices):
    """Turn heaps into sorted lists (heapsort)."""
    for i in range(distances.shape[0]):
        best, named = distances[i], indices[i]
        for end in range(best.shape[0] - 1, 0, -1):
            d, index = best[end], named[end]
            best[end], named[end] = best[0], named[0]
            sink(best, named, d, index, end)


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
        if not before(more[0], more_ids[0], best[k - 1], named[k - 1]) or more_ids[0] < 0:
            continue
        for place in range(k):  # a whole array at once takes the compiler seconds
            old[place], old_ids[place] = best[place], named[place]
        at, other = 0, 0
        for place in range(k):
            left = other < more.shape[0] and more_ids[other] >= 0
            if left and before(more[other], more_ids[other], old[at], old_ids[at]):
                best[place], named[place] = more[other], more_ids[other]
                other += 1
            else:
                best[place], named[place] = old[at], old_ids[at]
                at += 1
