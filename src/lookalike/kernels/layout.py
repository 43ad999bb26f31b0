"""Moving the rows of a map: neighbors attract each other, rows drawn at random repel.

A step reads what the one before has written, so it is serial by nature; random numbers come
from one stream, so the answer is the same every time.
"""

import numpy as np

from lookalike.kernels._jit import inline, kernel
from lookalike.kernels.growing import draw_bits


@kernel
def move_rows(places, starts, near, shares, rates, levels, n_negative, state):
    """Move every row along its edges for each of some epochs, in place.

    ``near[starts[i] : starts[i + 1]]`` are the neighbors of row i, and ``shares`` says in which
    share of the epochs, drawn at random, each of them counts; an epoch has a rate (the length of
    its steps) and a level of noise. With ``q = 1 / (1 + d**2)``, both ends of an edge climb
    ``log(q / (q + level))`` toward each other, and row i climbs ``log(level / (q + level))`` away
    from ``n_negative`` rows drawn at random for each edge (noise-contrastive negative sampling).
    """
    n = places.shape[0]
    for epoch in range(rates.shape[0]):
        rate, level = rates[epoch], levels[epoch]
        for i in range(n):
            x, y = places[i, 0], places[i, 1]
            for edge in range(starts[i], starts[i + 1]):
                if draw_bits(state) >= shares[edge] * 4294967296.0:
                    continue
                j = near[edge]
                across, up = places[j, 0] - x, places[j, 1] - y
                q = 1.0 / (1.0 + across * across + up * up)
                pull = 2.0 * rate * q * level / (q + level)
                x += pull * across
                y += pull * up
                places[j, 0] -= pull * across
                places[j, 1] -= pull * up
                for _ in range(n_negative):
                    j = (draw_bits(state) * n) >> 32
                    if j == i:
                        continue
                    across, up = x - places[j, 0], y - places[j, 1]
                    q = 1.0 / (1.0 + across * across + up * up)
                    push = 2.0 * rate * q * q / (q + level)
                    x += push * across
                    y += push * up
            places[i, 0], places[i, 1] = x, y


@inline
def _squared(places, i, x, y):
    across, up = places[i, 0] - x, places[i, 1] - y
    return across * across + up * up


@kernel
def place_new_rows(near, equal, places, rounds, out):
    """Fill in where new rows go: amid most of their neighbors, wherever those are on the map.

    ``near[r]`` are the neighbors of a new row, -1 behind the last; the first ``equal[r]`` of them
    are equal to it. The row begins at the neighbor that is nearest to all the others (their
    medoid) and moves to their mean, neighbors counting ``1 / (1 + (d / h)**2)`` with h the median
    distance from the medoid, so that a few far ones do not draw it into the empty. A row without
    neighbors is given NaN.
    """
    k = near.shape[1]
    gaps = np.empty(k)
    for r in range(near.shape[0]):
        m = 0
        while m < k and near[r, m] >= 0:
            m += 1
        if equal[r] > 0:
            m = equal[r]
        if m == 0:
            out[r, 0], out[r, 1] = np.nan, np.nan
            continue
        best, middle = np.inf, 0
        for a in range(m):
            total = 0.0
            x, y = places[near[r, a], 0], places[near[r, a], 1]
            for b in range(m):
                total += np.sqrt(_squared(places, near[r, b], x, y))
            if total < best:
                best, middle = total, a
        x, y = places[near[r, middle], 0], places[near[r, middle], 1]
        if equal[r] == 0:
            for a in range(m):
                gaps[a] = _squared(places, near[r, a], x, y)
            gaps[:m].sort()
            width = gaps[m // 2]
            for _ in range(rounds if width > 0 else 0):
                weights, sum_x, sum_y = 0.0, 0.0, 0.0
                for a in range(m):
                    across, up = places[near[r, a], 0] - x, places[near[r, a], 1] - y
                    weight = 1.0 / (1.0 + (across * across + up * up) / width)
                    weights += weight
                    sum_x += weight * across
                    sum_y += weight * up
                x += sum_x / weights
                y += sum_y / weights
        out[r, 0], out[r, 1] = x, y
