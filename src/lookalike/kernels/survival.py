"""Tails of the normal distribution and Gaussian affinities, for whole blocks of distances.

Both need an exponential. The one of the C library is called number by number, so it is written out
here in plain arithmetic: the compiler then works on several numbers at once, and since nothing but
basic operations in a fixed order is used, each entry has the same last bit in every block.

Facts about the rows of ``b`` come as an array of shape (1, columns), or of shape (rows, columns)
where every row has columns of its own (candidates of a neighbor list).
"""

import math

import numpy as np

from lookalike.kernels._jit import inline, kernel

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts: the first has room for exact products
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest whole number in the low bits
ONE = 1023 << 52  # the bits of 1.0
LOWEST = -708.0  # below it exp leaves the normal range and becomes 0 here
HALF_ROOT = 0.7071067811865476


@inline
def exp_negative(x):
    """Return exp(x) for x <= 0, within a few units of the last place; NaN stays NaN."""
    # A comparison that is false for NaN lets it through to the polynomial.
    safe = LOWEST if x < LOWEST else x
    shifted = safe * LOG2_E + ROUND
    whole = shifted - ROUND
    r = (safe - whole * LN2_HIGH) - whole * LN2_LOW
    p = 1.6059043836821613e-10 * r + 2.08767569878681e-09  # 1/13!, 1/12!, ...
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = np.int64((np.float64(shifted).view(np.int64) << 52) + ONE).view(np.float64)
    return 0.0 if x < LOWEST else p * power


@inline
def normal_tail(z):
    """Return P(Z > z) of a standard normal Z, with full relative accuracy far out as well.

    With y = |z| / sqrt(2) and t = 3.75 / (3.75 + y), erfc(y) = exp(-y * y) * t * q(2 t - 1); q is
    the Chebyshev interpolant of degree 22 of what remains, which is smooth on [-1, 1].
    """
    y = abs(z) * HALF_ROOT
    t = 3.75 / (3.75 + y)
    u = 2.0 * t - 1.0
    q = 1.7602723938901524e-10 * u + 7.764148541844648e-10
    q = q * u - 5.305272494992451e-10
    q = q * u - 9.13635280583506e-09
    q = q * u - 4.00189029996265e-09
    q = q * u + 6.80560027415832e-08
    q = q * u + 7.058581059277393e-08
    q = q * u - 4.3962866499116624e-07
    q = q * u - 8.740478311362504e-07
    q = q * u + 2.3732809204054434e-06
    q = q * u + 9.990932771704295e-06
    q = q * u - 2.8246764402692103e-06
    q = q * u - 9.297203992666777e-05
    q = q * u - 0.0002119529084309362
    q = q * u + 0.00026302341003851473
    q = q * u + 0.003342901353433685
    q = q * u + 0.013098340970436707
    q = q * u + 0.03518810698061366
    q = q * u + 0.07441654640892612
    q = q * u + 0.1307920776553587
    q = q * u + 0.1963517133924549
    q = q * u + 0.25566442044077764
    q = q * u + 0.29117944255007744
    tail = 0.5 * (t * q) * exp_negative(-(y * y))
    return 1.0 - tail if z < 0.0 else tail


@kernel
def tails(z, out):
    """Write P(Z > z) for every entry of z into out; NaN stays NaN."""
    for i in range(z.shape[0]):
        row, to = z[i], out[i]
        for j in range(row.shape[0]):
            to[j] = normal_tail(row[j])


@kernel
def gauss_block(d, back, mean_a, sd_a, mean_b, sd_b, out):
    """Write P(A > d) * P(B > back) for independent normal A, B; standard deviations are above 0."""
    for i in range(d.shape[0]):
        there, home, to = d[i], back[i], out[i]
        at = min(i, mean_b.shape[0] - 1)
        means, sds = mean_b[at], sd_b[at]
        mean, sd = mean_a[i], sd_a[i]
        for j in range(there.shape[0]):
            one = normal_tail((there[j] - mean) / sd)
            two = normal_tail((home[j] - means[j]) / sds[j])
            to[j] = one * two


@kernel
def affinity_block(d, scale_a, scale_b, out):
    """Write exp(-d * d / (scale_a * scale_b)); where a scale is 0, 1 if d is 0 and else 0."""
    for i in range(d.shape[0]):
        row, to = d[i], out[i]
        scales = scale_b[min(i, scale_b.shape[0] - 1)]
        scale = scale_a[i]
        for j in range(row.shape[0]):
            x = row[j]
            # Two divisions, because the product of two small scales could vanish.
            to[j] = exp_negative(-((x / scale) * (x / scales[j])))
            if scale == 0.0 or scales[j] == 0.0:
                to[j] = 0.0 if x > 0.0 else (1.0 if x == 0.0 else math.nan)


@kernel
def ratio_block(d, root_a, root_b, factor, out):
    """Write factor * d / (root_a * root_b); the roots are above 0."""
    for i in range(d.shape[0]):
        row, to = d[i], out[i]
        roots = root_b[min(i, root_b.shape[0] - 1)]
        root = root_a[i]
        for j in range(row.shape[0]):
            to[j] = factor * (row[j] / (root * roots[j]))


@kernel
def excess_block(d, level_a, level_b, offset, out):
    """Write 2 * d - level_a - level_b + offset, never below 0 as levels are at most offset / 2."""
    for i in range(d.shape[0]):
        row, to = d[i], out[i]
        levels = level_b[min(i, level_b.shape[0] - 1)]
        level = level_a[i]
        for j in range(row.shape[0]):
            to[j] = (offset - (level + levels[j])) + 2.0 * row[j]
