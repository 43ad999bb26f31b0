"""The nearest rows of each class, kept while distances stream past."""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.topk import before, insert


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
    last = distances.shape[2] - 1
    worst = np.empty(distances.shape[1])
    for i in range(block.shape[0]):
        for c in range(worst.shape[0]):
            worst[c] = distances[i, c, last]
        for j in range(block.shape[1]):
            d, c = block[i, j], classes[first + j]
            if d > worst[c]:  # by far the most frequent case
                continue
            row = first + j
            if row != own[i] and before(d, row, worst[c], indices[i, c, last]):
                insert(distances[i, c], indices[i, c], d, row)
                worst[c] = distances[i, c, last]
