"""K-medoids by FasterPAM: swaps of one medoid for one row, judged for all medoids at once.

``d[c]`` holds the distances of all rows to the candidate c: for distances that are not symmetric
the caller hands over the transposed matrix. Missing values are not allowed. Schubert and Rousseeuw
(2021), doi:10.1016/j.is.2021.101804.
"""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def build(d, k):
    """Return k medoids chosen greedily (BUILD): each lowers the cost most; ties to the lower."""
    n = d.shape[0]
    medoids = np.empty(k, np.int64)
    taken = np.zeros(n, np.bool_)
    near = np.empty(n)
    best, at = np.inf, 0
    for c in range(n):
        total = 0.0
        for o in range(n):
            total += d[c, o]
        if total < best:
            best, at = total, c
    medoids[0] = at
    taken[at] = True
    for o in range(n):
        near[o] = d[at, o]
    for m in range(1, k):
        best, at = -1.0, -1
        for c in range(n):
            if taken[c]:
                continue
            gain = 0.0
            for o in range(n):
                gain += max(near[o] - d[c, o], 0.0)
            if gain > best:
                best, at = gain, c
        medoids[m] = at
        taken[at] = True
        for o in range(n):
            near[o] = min(near[o], d[at, o])
    return medoids


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
def settle(d, medoids, first, second, near, far):
    """Find the nearest and second nearest medoid of each row; return the cost (total deviation)."""
    total = 0.0
    for o in range(d.shape[0]):
        first[o], second[o], near[o], far[o] = two_nearest(d, medoids, o)
        total += near[o]
    return total


@kernel
def settle_after_swap(d, medoids, place, first, second, near, far):
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


@kernel
def swap_until_stable(d, medoids, eager, most, first, second, near, far):
    """Improve the medoids in place; return the cost and the number of swaps.

    ``eager`` takes every swap that lowers the cost as soon as it is found (FasterPAM); otherwise
    the best of all swaps is taken each time (PAM, as FastPAM1 computes it). A swap that only
    round-off makes look better is not taken.
    """
    n, k = d.shape[0], len(medoids)
    cost = settle(d, medoids, first, second, near, far)
    if k >= n:
        return cost, 0
    losses, change = np.empty(k), np.empty(k)
    taken = np.zeros(n, np.bool_)
    for m in range(k):
        taken[medoids[m]] = True
    if k == 1:
        far[:] = near  # no second medoid: a row always follows its only one
        best, at = cost, medoids[0]
        for c in range(n):
            total = 0.0
            for o in range(n):
                total += d[c, o]
            if total < best:
                best, at = total, c
        swaps = 0 if at == medoids[0] else 1
        medoids[0] = at
        return settle(d, medoids, first, second, near, far), swaps
    removal_losses(first, near, far, losses)
    swaps, since, sweeps, c = 0, 0, 0, 0
    gain, place, row = 0.0, 0, -1
    while sweeps < most:
        if not taken[c]:
            found, m = swap_change(d[c], first, near, far, losses, change)
            if found < gain:
                gain, place, row = found, m, c
        since += 1
        c += 1
        ended = c == n
        if ended:
            c = 0
            sweeps += 1
        if row >= 0 and (eager or ended):
            old = medoids[place]
            medoids[place] = row
            lower = settle_after_swap(d, medoids, place, first, second, near, far)
            if lower < cost:
                taken[old], taken[row] = False, True
                cost = lower
                removal_losses(first, near, far, losses)
                swaps += 1
                since = 0
            else:  # only round-off made it look better
                medoids[place] = old
                settle(d, medoids, first, second, near, far)
                if not eager:
                    break
            gain, row = 0.0, -1
        elif ended and not eager:
            break
        if eager and since >= n:
            break
    return cost, swaps
