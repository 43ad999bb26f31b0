"""How many objects lie farther away from both: the counts behind mutual proximity.

Counting looks at every third object for every pair, so it is done on ranks in two bytes wherever
both rows were fitted: sixteen or more comparisons per instruction instead of four.
"""

import numpy as np

from lookalike.kernels._jit import kernel
from lookalike.kernels.narrow import add_narrow

TILE = 64  # rows of b kept near while the rows of a pass by
DEPTH = 1024  # third objects looked at in one go
CANCELED = 1e-6  # below this share of a sum of squares, what is left has lost half of its digits


@kernel
def competition_ranks(d, order, out):
    """Write how many smaller distances each row has into out; return how many entries are tied.

    ``order`` sorts each row of d with NaN last or at infinity; NaN gets rank -1, below every other.
    """
    tied = 0
    for i in range(d.shape[0]):
        row, places, ranks = d[i], order[i], out[i]
        first, alone, before = 0, True, np.nan
        for at in range(row.shape[0]):
            v = row[places[at]]
            if v != v:
                ranks[places[at]] = -1
                continue
            if v != before:
                first, alone = at, True
            else:
                tied += 2 if alone else 1
                alone = False
            before = v
            ranks[places[at]] = first
    return tied


@kernel
def mutual_counts(ranks, rows, columns, zero, out):
    """Write the number of objects farther from both x and y than these are from each other.

    ``ranks[x, j]`` is the competition rank of the distance from x to j, -1 where that is undefined;
    ``zero`` is 0 in the type of the ranks. A pair whose own distance is undefined becomes NaN.
    """
    for start in range(0, columns.shape[0], TILE):
        stop = min(columns.shape[0], start + TILE)
        for i in range(rows.shape[0]):
            x = rows[i]
            mine = ranks[x]
            # Two partners at a time share what is read of x; an odd last one is its own partner.
            for c in range(start, stop, 2):
                e = min(c + 1, stop - 1)
                y, z = columns[c], columns[e]
                yours, theirs = ranks[y], ranks[z]
                to_y, from_y = mine[y], yours[x]
                to_z, from_z = mine[z], theirs[x]
                one, other = zero, zero
                for j in range(mine.shape[0]):
                    rank = mine[j]
                    one = add_narrow(one, (rank > to_y) & (yours[j] > from_y))
                    other = add_narrow(other, (rank > to_z) & (theirs[j] > from_z))
                out[i, c] = np.nan if to_y < 0 or from_y < 0 else np.float64(one)
                out[i, e] = np.nan if to_z < 0 or from_z < 0 else np.float64(other)


@kernel
def farther_counts(from_a, from_b, d, back, out):
    """Write the same counts from distances: of a and b to all fitted rows, and to each other."""
    for start in range(0, from_b.shape[0], TILE):
        stop = min(from_b.shape[0], start + TILE)
        for i in range(from_a.shape[0]):
            mine = from_a[i]
            for c in range(start, stop):
                yours = from_b[c]
                there, home = d[i, c], back[i, c]
                if np.isnan(there) or np.isnan(home):
                    out[i, c] = np.nan
                    continue
                count = 0
                for j in range(mine.shape[0]):
                    count += (mine[j] > there) & (yours[j] > home)
                out[i, c] = count


@kernel
def correlations(a, known_a, b, known_b, out):
    """Write Pearson's correlation of each row of a with each of b over the columns known to both.

    Rows hold deviations from any center, 0 where unknown; ``known`` is 1.0 or 0.0. Fewer than two
    common columns, or no spread in one of the rows, give 0.
    """
    n_a, n = a.shape
    n_b = b.shape[0]
    width = 32
    turned, turned_known = np.empty((DEPTH, width)), np.empty((DEPTH, width))
    sums = np.empty((n_a, 6, width))
    for start in range(0, n_b, width):
        cut = min(width, n_b - start)
        sums[:] = 0.0
        for low in range(0, n, DEPTH):
            deep = min(DEPTH, n - low)
            turned[:] = 0.0
            turned_known[:] = 0.0
            for c in range(cut):
                for j in range(deep):
                    turned[j, c] = b[start + c, low + j]
                    turned_known[j, c] = known_b[start + c, low + j]
            for i in range(n_a):
                common, x, y = sums[i, 0], sums[i, 1], sums[i, 2]
                xx, yy, xy = sums[i, 3], sums[i, 4], sums[i, 5]
                for j in range(deep):
                    u, m = a[i, low + j], known_a[i, low + j]
                    uu = u * u
                    v, k = turned[j], turned_known[j]
                    for c in range(width):
                        common[c] += m * k[c]
                        x[c] += u * k[c]
                        y[c] += m * v[c]
                        xx[c] += uu * k[c]
                        yy[c] += m * (v[c] * v[c])
                        xy[c] += u * v[c]
        for i in range(n_a):
            for c in range(cut):
                common, x, y = sums[i, 0, c], sums[i, 1, c], sums[i, 2, c]
                xx, yy, xy = sums[i, 3, c], sums[i, 4, c], sums[i, 5, c]
                if common < 2.0:
                    out[i, start + c] = 0.0
                    continue
                spread_x, spread_y = xx - x * x / common, yy - y * y / common
                if spread_x > CANCELED * xx and spread_y > CANCELED * yy:
                    both = xy - x * y / common
                else:  # far from the center that was taken off: once more, from their own
                    spread_x, spread_y, both = _spreads(
                        a[i], known_a[i], b[start + c], known_b[start + c], x / common, y / common
                    )
                out[i, start + c] = _correlation(spread_x, spread_y, both, xx, yy)


@kernel
def _spreads(u, known_u, v, known_v, center_u, center_v):
    """Return the sums of squares and of products about the centers of the common columns."""
    n, x, y, xx, yy, xy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(u.shape[0]):
        if known_u[j] != 0.0 and known_v[j] != 0.0:
            p, q = u[j] - center_u, v[j] - center_v
            n += 1.0
            x += p
            y += q
            xx += p * p
            yy += q * q
            xy += p * q
    return xx - x * x / n, yy - y * y / n, xy - x * y / n


@kernel
def _correlation(spread_x, spread_y, both, xx, yy):
    # What is left of equal values is round-off, thirteen digits below the values themselves.
    if spread_x <= 1e-26 * xx or spread_y <= 1e-26 * yy:
        return 0.0
    # The product of two roots is the same for (x, y) and (y, x).
    r = both / (np.sqrt(spread_x) * np.sqrt(spread_y))
    return min(1.0, max(-1.0, r))


@kernel
def overlaps(near_a, near_b, n_fitted, out):
    """Write how many positions two lists share; -1 in a list stands for nothing."""
    inside = np.zeros(n_fitted, dtype=np.uint8)
    for i in range(near_a.shape[0]):
        for at in near_a[i]:
            if at >= 0:
                inside[at] = 1
        for c in range(near_b.shape[0]):
            count = 0
            for at in near_b[c]:
                if at >= 0:
                    count += inside[at]
            out[i, c] = count
        for at in near_a[i]:
            if at >= 0:
                inside[at] = 0
