"""Which things hang together: a forest of parents, joined by the lower index.

``parents[i]`` leads from i towards the root of its component; the root is the smallest index of
the component, so components do not depend on the order in which they were joined.
"""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def root_of(parents, i):
    """Return the root of i, shortening the way there."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@kernel
def join(parents, i, j):
    """Join the components of i and j; return whether they were two."""
    a, b = root_of(parents, i), root_of(parents, j)
    if a == b:
        return False
    if a < b:
        parents[b] = a
    else:
        parents[a] = b
    return True


@kernel
def join_edges(parents, ends, others, kept):
    """Join along edges in their order; mark those that joined two components, return how many."""
    count = 0
    for e in range(ends.shape[0]):
        kept[e] = join(parents, ends[e], others[e])
        count += kept[e]
    return count


@kernel
def roots_of(parents):
    """Return the root of everything."""
    roots = np.empty_like(parents)
    for i in range(parents.shape[0]):
        roots[i] = root_of(parents, i)
    return roots
