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
def merge_lists(distances, indices, more_distances, more_indices):
    """Work the second lists into the first."""
    k = distances.shape[1]
    for i in range(distances.shape[0]):
        for j in range(more_distances.shape[1]):
            d, index = more_distances[i, j], more_indices[i, j]
            if index < 0 or not before(d, index, distances[i, k - 1], indices[i, k - 1]):
                break
            insert(distances[i], indices[i], d, index)
