"""Secondary distances against hubness: mutual proximity, local scaling, shared neighbors."""

import math
from fractions import Fraction

import numpy as np

from lookalike.kernels._jit import inline, instruction, kernel
from lookalike.kernels.narrow import add_narrow

# -- counts behind mutual proximity ----------------------------------------------------------------
#
# How many objects are farther away from both rows of a pair. Counting looks at every third object
# for every pair, so it is done on ranks in two bytes wherever both rows were fitted: sixteen or
# more comparisons per instruction instead of four.

TILE_ROWS = 64  # rows of b kept near while the rows of a pass by
TILE_COLUMNS = 32  # rows of b whose correlations are summed together
MIN_KEPT_SHARE = 1e-6  # of a sum of squares; what is left below it has lost half of its digits


@kernel
def mutual_counts(ranks, rows, columns, zero, out):
    """Write the number of objects farther from both x and y than these are from each other.

    ``ranks[x, j]`` is the competition rank of the distance from x to j, -1 where that is undefined;
    ``zero`` is 0 in the type of the ranks. A pair whose own distance is undefined becomes NaN.
    """
    for start in range(0, columns.shape[0], TILE_ROWS):
        stop = min(columns.shape[0], start + TILE_ROWS)
        for i in range(rows.shape[0]):
            x = rows[i]
            mine = ranks[x]
            for c in range(start, stop):
                yours = ranks[columns[c]]
                to_y, from_y = mine[columns[c]], yours[x]
                count = zero
                for j in range(mine.shape[0]):
                    count = add_narrow(count, (mine[j] > to_y) & (yours[j] > from_y))
                out[i, c] = np.nan if to_y < 0 or from_y < 0 else np.float64(count)


@kernel
def farther_counts(from_a, from_b, d, back, out):
    """Write the same counts from distances: of a and b to all fitted rows, and to each other."""
    for start in range(0, from_b.shape[0], TILE_ROWS):
        stop = min(from_b.shape[0], start + TILE_ROWS)
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
    for start in range(0, b.shape[0], TILE_COLUMNS):
        stop = min(b.shape[0], start + TILE_COLUMNS)
        # Columns side by side, so that several sums are added to together, each in row order.
        transposed = np.ascontiguousarray(b[start:stop].T)
        transposed_known = np.ascontiguousarray(known_b[start:stop].T)
        for i in range(a.shape[0]):
            sums = np.zeros((6, stop - start))
            commons, xs, ys = sums[0], sums[1], sums[2]
            xxs, yys, xys = sums[3], sums[4], sums[5]
            for j in range(a.shape[1]):
                u, m = a[i, j], known_a[i, j]
                uu = u * u
                v, k = transposed[j], transposed_known[j]
                for c in range(stop - start):
                    commons[c] += m * k[c]
                    xs[c] += u * k[c]
                    ys[c] += m * v[c]
                    xxs[c] += uu * k[c]
                    yys[c] += m * (v[c] * v[c])
                    xys[c] += u * v[c]
            for c in range(stop - start):
                common, x, y, xx, yy = commons[c], xs[c], ys[c], xxs[c], yys[c]
                # Correlation of a single point is undefined; 0 says that nothing speaks for
                # likeness.
                if common < 2.0:
                    out[i, start + c] = 0.0
                    continue
                spread_x, spread_y = xx - x * x / common, yy - y * y / common
                # One pass over sums of squares, unless subtracting the means has canceled too many
                # digits.
                if spread_x > MIN_KEPT_SHARE * xx and spread_y > MIN_KEPT_SHARE * yy:
                    both = xys[c] - x * y / common
                else:  # far from the center that was taken off: once more, from their own
                    rows = a[i], known_a[i], b[start + c], known_b[start + c]
                    spread_x, spread_y, both = _spreads(*rows, x / common, y / common)
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


# -- normal tails and Gaussian affinities ----------------------------------------------------------
#
# Both need an exponential. The one of the C library is called number by number, so it is written
# out here in plain arithmetic: the compiler then works on several numbers together, and since
# nothing but basic operations in a fixed order is used, an entry has the same bits in every
# block. Facts about the rows of ``b`` come as an array of shape (1, columns), or of shape (rows,
# columns) where every row has columns of its own (candidates of a neighbor list). Distances are
# replaced in place: with one array for both, the compiler knows that no write changes what it
# reads.

LOG2_E = 1.4426950408889634
LN2_HIGH = (
    6.93147180369123816490e-01  # ln 2 in two parts: the first is short enough for exact products
)
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
ONE = 1023 << 52  # the bits of 1.0
MIN_EXPONENT = -708.0  # below it exp leaves the normal range and becomes 0 here
HALF_ROOT = 0.7071067811865476


def polynomial(*coefficients):
    """Make a function of x that evaluates a polynomial, highest power first (Horner's rule).

    Each step ``p * x + c`` is rounded once: one instruction, and the same bits on every machine.
    """

    def build(builder, x):
        total = x.type(coefficients[0])
        for c in coefficients[1:]:
            total = builder.fma(total, x, x.type(c))
        return total

    @instruction(build)
    def evaluate(x):
        total = coefficients[0]
        for c in coefficients[1:]:
            # In exact fractions, which is slow and rounds once as well.
            exact = math.isfinite(total * x + c)
            total = float(Fraction(total) * Fraction(x) + Fraction(c)) if exact else total * x + c
        return total

    return evaluate


# Of exp on [-ln 2 / 2, ln 2 / 2]: Taylor's, 1 / 13! to 1 / 0!.
exp_near_0 = polynomial(
    1.6059043836821613e-10, 2.08767569878681e-09, 2.505210838544172e-08, 2.755731922398589e-07,
    2.7557319223985893e-06, 2.48015873015873e-05, 0.0001984126984126984, 0.001388888888888889,
    0.008333333333333333, 0.041666666666666664, 0.16666666666666666, 0.5, 1.0, 1.0,
)  # fmt: skip
# Of erfc(y) * exp(y * y) / t, see ``normal_tail``: the Chebyshev interpolant of degree 22.
scaled_erfc = polynomial(
    1.7602723938901524e-10, 7.764148541844648e-10, -5.305272494992451e-10, -9.13635280583506e-09,
    -4.00189029996265e-09, 6.80560027415832e-08, 7.058581059277393e-08, -4.3962866499116624e-07,
    -8.740478311362504e-07, 2.3732809204054434e-06, 9.990932771704295e-06, -2.8246764402692103e-06,
    -9.297203992666777e-05, -0.0002119529084309362, 0.00026302341003851473, 0.003342901353433685,
    0.013098340970436707, 0.03518810698061366, 0.07441654640892612, 0.1307920776553587,
    0.1963517133924549, 0.25566442044077764, 0.29117944255007744,
)  # fmt: skip


@inline
def exp_negative(x):
    """Return exp(x) for x <= 0, within a few units of the last place; NaN stays NaN."""
    # A comparison that is false for NaN lets it through to the polynomial.
    safe = MIN_EXPONENT if x < MIN_EXPONENT else x
    # exp(x) = 2^whole * exp(r) with |r| <= ln 2 / 2; ln 2 in two parts keeps r exact (Cody and
    # Waite).
    shifted = safe * LOG2_E + ROUND
    whole = shifted - ROUND
    r = (safe - whole * LN2_HIGH) - whole * LN2_LOW
    # The integer is still in the low bits of ``shifted``: moved to the exponent it is 2^whole.
    power = np.int64((np.float64(shifted).view(np.int64) << 52) + ONE).view(np.float64)
    return 0.0 if x < MIN_EXPONENT else exp_near_0(r) * power


@inline
def normal_tail(z):
    """Return P(Z > z) of a standard normal Z, with full relative accuracy far out as well.

    With y = |z| / sqrt(2) and t = 3.75 / (3.75 + y), erfc(y) = exp(-y * y) * t * q(2 t - 1); q is
    the Chebyshev interpolant of degree 22 of what remains, which is smooth on [-1, 1].
    """
    y = abs(z) * HALF_ROOT
    t = 3.75 / (3.75 + y)
    tail = 0.5 * (t * scaled_erfc(2.0 * t - 1.0)) * exp_negative(-(y * y))
    return 1.0 - tail if z < 0.0 else tail


@kernel
def tails(z):
    """Replace every entry z by P(Z > z); NaN stays NaN."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            row[j] = normal_tail(row[j])


@kernel
def gauss_block(d, mean_a, inverse_a, mean_b, inverse_b):
    """Replace d by P(A > d) * P(B > d) for independent normal A, B; inverses of their spreads."""
    for i in range(d.shape[0]):
        row = d[i]
        at = min(i, mean_b.shape[0] - 1)
        means, inverses = mean_b[at], inverse_b[at]
        mean, inverse = mean_a[i], inverse_a[i]
        for j in range(row.shape[0]):
            one = normal_tail((row[j] - mean) * inverse)
            two = normal_tail((row[j] - means[j]) * inverses[j])
            row[j] = one * two


@kernel
def affinity_block(d, scale_a, scale_b):
    """Replace d by exp(-d * d / (scale_a * scale_b)); for a scale of 0 by 1 if d is 0, else 0."""
    for i in range(d.shape[0]):
        row = d[i]
        scales = scale_b[min(i, scale_b.shape[0] - 1)]
        scale = scale_a[i]
        for j in range(row.shape[0]):
            x = row[j]
            none = scale == 0.0 or scales[j] == 0.0
            one, other = (1.0, 1.0) if none else (scale, scales[j])
            # Two divisions, because the product of two small scales could vanish.
            y = exp_negative(-((x / one) * (x / other)))
            flat = 0.0 if x > 0.0 else 1.0 + x  # NaN stays NaN
            row[j] = flat if none else y


# -- mean and variance of the distances of each row, updated chunk by chunk ------------------------

# Running sums next to each other: a fixed order, and the compiler uses them as one vector.
N_PARTIAL_SUMS = 8


@kernel
def fold_moments(d, count, mean, square, low, high):
    """Work a chunk of distances into count, mean, sum of squared deviations and range of each row.

    NaN is skipped. Within a chunk the deviations are taken from the chunk's own mean, and chunks
    are put together by the formula of Chan, Golub and LeVeque, so no digits are lost to large
    means.
    """
    n_rows, width = d.shape
    totals, counts = np.empty(N_PARTIAL_SUMS), np.empty(N_PARTIAL_SUMS)
    lows, highs = np.empty(N_PARTIAL_SUMS), np.empty(N_PARTIAL_SUMS)
    for i in range(n_rows):
        row = d[i]
        totals[:] = 0.0
        counts[:] = 0.0
        lows[:] = np.inf
        highs[:] = -np.inf
        for start in range(0, width, N_PARTIAL_SUMS):
            here = row[start : start + N_PARTIAL_SUMS]
            for c in range(here.shape[0]):
                v = here[c]
                there = v == v
                totals[c] += v if there else 0.0
                counts[c] += 1.0 if there else 0.0
                lows[c] = v if v < lows[c] else lows[c]
                highs[c] = v if v > highs[c] else highs[c]
        n, total = 0.0, 0.0
        for c in range(N_PARTIAL_SUMS):
            n += counts[c]
            total += totals[c]
            low[i] = min(low[i], lows[c])
            high[i] = max(high[i], highs[c])
        if n == 0.0:
            continue
        center = total / n
        totals[:] = 0.0
        for start in range(0, width, N_PARTIAL_SUMS):
            here = row[start : start + N_PARTIAL_SUMS]
            for c in range(here.shape[0]):
                gap = here[c] - center
                totals[c] += gap * gap if gap == gap else 0.0
        squares = 0.0
        for c in range(N_PARTIAL_SUMS):
            squares += totals[c]
        # Chan, Golub and LeVeque (1983): the squares of two parts, and that of the distance of
        # their means weighted by both counts.
        both = count[i] + n
        gap = center - mean[i]
        square[i] += squares + gap * gap * (count[i] * n / both)
        mean[i] += gap * (n / both)
        count[i] = both
