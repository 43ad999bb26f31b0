"""Clusters from distances: connected components, DBSCAN, spanning trees, k-medoids, closures."""

import numpy as np

from lookalike.kernels._jit import kernel

# -- connected components (union-find) -------------------------------------------------------------
#
# ``parents[i]`` leads from i towards the root of its component; the root is the smallest index of
# the component, so components do not depend on the order in which they were joined.


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
    # The smaller root wins, not the larger tree: shortening paths alone keeps searches short
    # enough, and components have a name that does not depend on the order of joins.
    parents[max(a, b)] = min(a, b)
    return True


@kernel
def join_edges(parents, ends, others):
    """Join along edges in their order; return which of them joined two components."""
    kept = np.empty(ends.shape[0], np.bool_)
    for e in range(ends.shape[0]):
        kept[e] = join(parents, ends[e], others[e])
    return kept


@kernel
def roots_of(parents):
    """Return the root of everything."""
    roots = np.empty_like(parents)
    for i in range(parents.shape[0]):
        roots[i] = root_of(parents, i)
    return roots


# -- DBSCAN from pairs of rows ---------------------------------------------------------------------
#
# A row is core if at least ``needed`` rows, itself among them, are within ``eps``. Clusters are
# the components of core rows within eps of each other.


@kernel
def count_close_pairs(left, right, needed, counts, parents, waiting, filled):
    """Count pairs of rows that are within eps, each pair once.

    A pair of rows that are both core by now is joined immediately; another one waits at the end
    that is not: such a row has fewer than ``needed`` neighbors yet, so no row ever keeps more than
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


# -- spanning trees of mutual reachability ---------------------------------------------------------
#
# The core distance of a row is the one within which it has as many rows as make it core; rows are
# connected by an edge that costs max(distance, both core distances).


@kernel
def spanning_tree(distances, core, ends, others, weights):
    """Find the shortest tree over all rows, an edge costing max(distance, both core distances)."""
    n = distances.shape[0]
    nearest = np.zeros(n, np.int64)
    # Prim's algorithm on a full matrix: O(n^2), which reading the matrix costs anyway.
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
def cheapest_edges_of_block(block, rows, column, core, parts, cost, target):
    """Work a block of distances (some rows, columns from ``column``) into their ways out.

    Reaching j from i costs max(distance, both core distances); ties go to the lower j.
    """
    for a in range(block.shape[0]):
        i = rows[a]
        for b in range(block.shape[1]):
            j = column + b
            if parts[i] == parts[j] or np.isnan(block[a, b]):
                continue
            d = max(block[a, b], max(core[i], core[j]))
            if d < cost[i] or (d == cost[i] and j < target[i]):
                cost[i], target[i] = d, j


# -- k-medoids by FasterPAM ------------------------------------------------------------------------
#
# Swaps of one medoid for one row, evaluated for all medoids together: Schubert and Rousseeuw
# (2021), doi:10.1016/j.is.2021.101804. ``d[c]`` holds the distances of all rows to the candidate
# c: for distances that are not symmetric the caller passes the transposed matrix. Missing values
# are not allowed.


@kernel
def best_first_medoid(d, start, stop, best, at):
    """Return the least sum of distances to a candidate, and whose: ties to the lower."""
    for c in range(start, stop):
        total = 0.0
        for o in range(d.shape[0]):
            total += d[c, o]
        if total < best:
            best, at = total, c
    return best, at


@kernel
def best_next_medoid(d, near, taken, start, stop, best, at):
    """Return by how much another medoid lowers the cost at most, and which: ties to the lower."""
    for c in range(start, stop):
        if taken[c]:
            continue
        gain = 0.0
        for o in range(d.shape[0]):
            gain += max(near[o] - d[c, o], 0.0)
        if gain > best:
            best, at = gain, c
    return best, at


@kernel
def two_nearest(d, medoids, o):
    """Return the places of the nearest and second nearest medoid of a row, and both distances."""
    one, two, d1, d2 = -1, -1, np.inf, np.inf
    for m in range(len(medoids)):
        # A medoid belongs to itself, even where another one is at distance 0.
        value = -1.0 if medoids[m] == o else d[medoids[m], o]
        if value < d1:
            one, two, d1, d2 = m, one, value, d1
        elif value < d2:
            two, d2 = m, value
    return one, two, d[o, o] if d1 < 0 else d1, d2


@kernel
def assign_medoids(d, medoids, first, second, near, far):
    """Find the nearest and second nearest medoid of each row; return the cost (total deviation)."""
    total = 0.0
    for o in range(d.shape[0]):
        first[o], second[o], near[o], far[o] = two_nearest(d, medoids, o)
        total += near[o]
    return total


@kernel
def assign_after_swap(d, medoids, place, first, second, near, far):
    """Do the same after the medoid at one place was replaced: most rows need one look."""
    new = medoids[place]
    total = 0.0
    for o in range(d.shape[0]):
        value = d[new, o]
        if o == new or first[o] == place or second[o] == place or medoids[first[o]] == o:
            first[o], second[o], near[o], far[o] = two_nearest(d, medoids, o)
        elif value < near[o]:
            first[o], second[o], near[o], far[o] = place, first[o], value, near[o]
        elif value < far[o]:
            second[o], far[o] = place, value
        total += near[o]
    return total


@kernel
def removal_losses(first, near, far, losses):
    """Fill in what the cost grows by if a medoid is taken away without a substitute."""
    # Every row of the medoid would move to its second nearest one.
    losses[:] = 0.0
    for o in range(len(first)):
        losses[first[o]] += far[o] - near[o]


@kernel
def swap_change(row, first, near, far, losses, change):
    """Return the change of cost, and which medoid to give up, if a candidate became a medoid.

    ``row`` holds the distances of all rows to the candidate; ``change`` is working space.
    """
    for m in range(len(losses)):  # as a whole it would bring the text of an error along
        change[m] = losses[m]
    shared = 0.0
    for o in range(len(row)):
        value = row[o]
        if value < near[o]:
            shared += value - near[o]
            change[first[o]] += near[o] - far[o]
        elif value < far[o]:
            change[first[o]] += value - far[o]
    best = 0
    for m in range(1, len(change)):
        if change[m] < change[best]:
            best = m
    return change[best] + shared, best


# Where the search for swaps stands, in an array of integers: the next candidate, how many were
# tried since the last swap, whole sweeps, swaps, and the best swap so far (its place, its row).
NEXT, SINCE, SWEEPS, SWAPS, PLACE, ROW = range(6)
COST, GAIN = range(2)  # and in an array of numbers: the cost, the change of it by that best swap


@kernel
def swap_some(d, medoids, eager, most, steps, first, second, near, far, taken, losses, whole, real):
    """Try some candidates and improve the medoids in place; return whether all is done.

    ``eager`` takes every swap that lowers the cost as soon as it is found (FasterPAM); otherwise
    the best of all swaps is taken each time (PAM, as FastPAM1 computes it). A swap that only
    round-off makes look better is not taken. ``whole`` and ``real`` say where the search stands.
    """
    n = d.shape[0]
    change = np.empty(len(medoids))
    for _ in range(steps):
        if whole[SWEEPS] >= most:
            return True
        c = whole[NEXT]
        if not taken[c]:
            found, m = swap_change(d[c], first, near, far, losses, change)
            if found < real[GAIN]:
                real[GAIN], whole[PLACE], whole[ROW] = found, m, c
        whole[SINCE] += 1
        ended = c + 1 == n
        whole[NEXT] = 0 if ended else c + 1
        whole[SWEEPS] += ended
        if whole[ROW] >= 0 and (eager or ended):
            place, row = whole[PLACE], whole[ROW]
            old = medoids[place]
            medoids[place] = row
            lower = assign_after_swap(d, medoids, place, first, second, near, far)
            # The change was a sum of differences and may be off by rounding; the cost itself
            # decides.
            if lower < real[COST]:
                taken[old], taken[row] = False, True
                real[COST] = lower
                removal_losses(first, near, far, losses)
                whole[SWAPS] += 1
                whole[SINCE] = 0
            else:  # only round-off made it look better
                medoids[place] = old
                assign_medoids(d, medoids, first, second, near, far)
                if not eager:
                    return True
            real[GAIN], whole[ROW] = 0.0, -1
        elif ended and not eager:
            return True
        if eager and whole[SINCE] >= n:
            return True
    return False


# -- transitive closures of a relation with values in [0, 1] ---------------------------------------
#
# Links of a chain are joined by a t-norm: the minimum, the product, or max(a + b - 1, 0).

MINIMUM, PRODUCT, LUKASIEWICZ = 0, 1, 2
CODES = {"min": MINIMUM, "product": PRODUCT, "lukasiewicz": LUKASIEWICZ}


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
    for j in range(best.shape[0]):
        if code == MINIMUM:
            value = first if first < through[j] else through[j]
        elif code == PRODUCT:
            value = first * through[j]
        else:
            value = first - (1.0 - through[j])  # exact where a link is 1
        best[j] = value if value > best[j] else best[j]
