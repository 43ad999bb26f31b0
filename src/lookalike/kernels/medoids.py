"""K-medoids by FasterPAM: swaps of one medoid for one row, judged for all medoids at once.

``d[c]`` holds the distances of all rows to the candidate c: for distances that are not symmetric
the caller hands over the transposed matrix. Missing values are not allowed. Schubert and Rousseeuw
(2021), doi:10.1016/j.is.2021.101804.
"""

import numpy as np

from lookalike.kernels._jit import kernel


@kernel
def least_total(d, start, stop, best, at):
    """Return the least sum of distances to a candidate, and whose: ties to the lower."""
    for c in range(start, stop):
        total = 0.0
        for o in range(d.shape[0]):
            total += d[c, o]
        if total < best:
            best, at = total, c
    return best, at


@kernel
def largest_gain(d, near, taken, start, stop, best, at):
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


# Where the search for swaps stands, in an array of whole numbers: the next candidate, how many were
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
            lower = settle_after_swap(d, medoids, place, first, second, near, far)
            if lower < real[COST]:
                taken[old], taken[row] = False, True
                real[COST] = lower
                removal_losses(first, near, far, losses)
                whole[SWAPS] += 1
                whole[SINCE] = 0
            else:  # only round-off made it look better
                medoids[place] = old
                settle(d, medoids, first, second, near, far)
                if not eager:
                    return True
            real[GAIN], whole[ROW] = 0.0, -1
        elif ended and not eager:
            return True
        if eager and whole[SINCE] >= n:
            return True
    return False
