"""Transitive closures of a relation with values in [0, 1].

Links of a chain are joined by a t-norm: the smaller one, the product, or a + b - 1 (at least 0).
"""

import numpy as np

from lookalike.kernels._jit import kernel

MINIMUM, PRODUCT, LUKASIEWICZ = 0, 1, 2
CODES = {"min": MINIMUM, "product": PRODUCT, "lukasiewicz": LUKASIEWICZ}


@kernel
def weakest_links(s, out):
    """Write the min-closure of a symmetric relation: the weakest edge on each path of a tree.

    A maximum spanning tree is grown from row 0 (Prim). Rows join it in an order in which all that
    are connected by strong edges come before anybody else, so the value of two rows is the weakest
    of the edges by which the later one, and all rows between the two, joined. Every row is then
    written by itself: columns of a large matrix would be fetched from far away.
    """
    n = s.shape[0]
    best = s[0].copy()  # strongest edge of each row outside to the tree
    outside = np.ones(n, dtype=np.bool_)
    order, edge = np.empty(n, dtype=np.int64), np.empty(n)
    outside[0] = False
    order[0] = 0
    for size in range(1, n):
        row = -1
        for i in range(n):
            if outside[i] and (row < 0 or best[i] > best[row]):
                row = i
        outside[row] = False
        order[size], edge[size] = row, best[row]
        for i in range(n):
            if outside[i] and s[row, i] > best[i]:
                best[i] = s[row, i]
    for place in range(n):
        line = out[order[place]]
        line[order[place]] = 1.0
        weakest = np.inf
        for before in range(place - 1, -1, -1):
            weakest = min(weakest, edge[before + 1])
            line[order[before]] = weakest
        weakest = np.inf
        for after in range(place + 1, n):
            weakest = min(weakest, edge[after])
            line[order[after]] = weakest


@kernel
def best_chains(r, code):
    """Replace a relation with diagonal 1 by its closure (Floyd, Warshall): one sweep is enough."""
    n = r.shape[0]
    for k in range(n):
        through = r[k]
        for i in range(n):
            first = r[i, k]
            if first > 0.0 and i != k:
                _join(first, through, code, r[i])


@kernel
def best_first_links(edges, r, code, out):
    """Write the best value of each new row to each row: one edge, then a chain of the closure."""
    out[:] = edges
    for x in range(edges.shape[0]):
        for k in range(r.shape[0]):
            if edges[x, k] > 0.0:
                _join(edges[x, k], r[k], code, out[x])


@kernel
def _join(first, through, code, best):
    """Raise each entry of best to the value of the link ``first`` joined to ``through``."""
    n = best.shape[0]
    if code == MINIMUM:
        for j in range(n):
            value = first if first < through[j] else through[j]
            best[j] = value if value > best[j] else best[j]
    elif code == PRODUCT:
        for j in range(n):
            value = first * through[j]
            best[j] = value if value > best[j] else best[j]
    else:
        for j in range(n):
            value = first - (1.0 - through[j])  # exact where a link is 1
            best[j] = value if value > best[j] else best[j]
