"""Density clusters out of blocks of distances that stream past.

A row is core if at least ``needed`` rows, itself among them, are within ``eps``. Clusters are the
components of core rows within eps of each other. NaN is never within eps.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.components import join, root_of


@kernel
def absorb(left, right, needed, counts, parents, waiting, filled):
    """Count pairs of rows that are within eps, each pair once.

    A pair of rows that are both core by now is joined at once; another one waits at the end that is
    not: such a row has fewer than ``needed`` neighbors yet, so no row ever keeps more than
    ``needed - 2`` of them, however many pairs are within eps.
    """
    for at in range(left.shape[0]):
        i, j = left[at], right[at]
        counts[i] += 1
        counts[j] += 1
        if counts[i] < needed:
            waiting[i, filled[i]] = j
            filled[i] += 1
        elif counts[j] < needed:
            waiting[j, filled[j]] = i
            filled[j] += 1
        else:
            join(parents, i, j)


@kernel
def settle(needed, counts, parents, waiting, filled, labels):
    """Join what waited, number the clusters by first core row, give border rows their cluster.

    A border row joins the lowest-numbered cluster with a core row within eps. Returns the number of
    clusters.
    """
    n = counts.shape[0]
    for i in range(n):
        for s in range(filled[i]):
            if counts[i] >= needed and counts[waiting[i, s]] >= needed:
                join(parents, i, waiting[i, s])
    found = 0
    for i in range(n):
        labels[i] = -1
        if counts[i] >= needed:
            root = root_of(parents, i)  # the smallest index, so it has its number already
            if root == i:
                labels[i] = found
                found += 1
            else:
                labels[i] = labels[root]
    for i in range(n):
        for s in range(filled[i]):
            j = waiting[i, s]
            if counts[i] < needed and counts[j] >= needed:
                if labels[i] < 0 or labels[j] < labels[i]:
                    labels[i] = labels[j]
            elif counts[j] < needed and counts[i] >= needed:
                if labels[j] < 0 or labels[i] < labels[j]:
                    labels[j] = labels[i]
    return found


@kernel
def spanning_tree(distances, core, ends, others, weights):
    """Find the shortest tree over all rows, an edge costing max(distance, both core distances)."""
    n = distances.shape[0]
    nearest = np.zeros(n, np.int64)
    cost = np.full(n, np.inf)
    inside = np.zeros(n, np.bool_)
    at = 0
    for step in range(n - 1):
        inside[at] = True
        best, best_cost = -1, np.inf
        for j in range(n):
            if inside[j]:
                continue
            d = max(distances[at, j], max(core[at], core[j]))
            if d < cost[j]:
                cost[j] = d
                nearest[j] = at
            if best < 0 or cost[j] < best_cost:
                best, best_cost = j, cost[j]
        ends[step], others[step], weights[step] = nearest[best], best, best_cost
        at = best


@kernel
def labels_within(eps, core, ends, others, weights, lists, gaps, parents, labels):
    """Label rows at one eps from the edges of the spanning tree, sorted by weight.

    ``lists`` and ``gaps`` hold the nearest rows of each row: a row that is not core has all its
    neighbors within eps among them. Returns the number of clusters.
    """
    n = core.shape[0]
    for i in range(n):
        parents[i] = i
    for e in range(ends.shape[0]):
        if weights[e] > eps:
            break
        join(parents, ends[e], others[e])
    found = 0
    for i in range(n):
        labels[i] = -1
        if core[i] <= eps:
            root = root_of(parents, i)
            if root == i:
                labels[i] = found
                found += 1
            else:
                labels[i] = labels[root]
    for i in range(n):
        if core[i] <= eps:
            continue
        for s in range(lists.shape[1]):
            if not gaps[i, s] <= eps:
                break
            j = lists[i, s]
            if core[j] <= eps and (labels[i] < 0 or labels[j] < labels[i]):
                labels[i] = labels[j]
    return found


@kernel
def ways_out_of_lists(lists, gaps, core, parts, wanted, cost, target):
    """Find for each wanted row the cheapest way to a listed row of another part; inf if none.

    Reaching j from i costs max(distance, both core distances); ties go to the lower j.
    """
    for i in range(lists.shape[0]):
        if not wanted[i]:
            continue
        cost[i], target[i] = np.inf, -1
        for s in range(lists.shape[1]):
            j = lists[i, s]
            if j < 0 or parts[i] == parts[j]:
                continue
            d = max(gaps[i, s], max(core[i], core[j]))
            if d < cost[i] or (d == cost[i] and j < target[i]):
                cost[i], target[i] = d, j


@kernel
def ways_out_of_block(block, rows, column, core, parts, cost, target):
    """Work a block of distances (some rows, columns from ``column``) into their ways out."""
    for a in range(block.shape[0]):
        i = rows[a]
        for b in range(block.shape[1]):
            j = column + b
            if parts[i] == parts[j] or np.isnan(block[a, b]):
                continue
            d = max(block[a, b], max(core[i], core[j]))
            if d < cost[i] or (d == cost[i] and j < target[i]):
                cost[i], target[i] = d, j
