"""Tails of the normal distribution and Gaussian affinities, for whole blocks of distances.

Both need an exponential. The one of the C library is called number by number, so it is written out
here in plain arithmetic: the compiler then works on several numbers at once, and since nothing but
basic operations in a fixed order is used, each entry has the same last bit in every block.

Facts about the rows of ``b`` come as an array of shape (1, columns), or of shape (rows, columns)
where every row has columns of its own (candidates of a neighbor list). Distances are replaced where
they stand: with one array for both, the compiler need not fear that writing changes what it reads.
"""

import math
from fractions import Fraction

import numpy as np

from lookalike.kernels._jit import COMPILED, inline, intrinsic, kernel

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts: the first has room for exact products
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest whole number in the low bits
ONE = 1023 << 52  # the bits of 1.0
LOWEST = -708.0  # below it exp leaves the normal range and becomes 0 here
HALF_ROOT = 0.7071067811865476

if COMPILED:

    @intrinsic
    def fused(context, a, b, c):
        """Return a * b + c, rounded once: one instruction, and the same bits on every machine."""
        from numba import float64

        def build(target, builder, signature, arguments):
            return builder.fma(*arguments)

        return float64(float64, float64, float64), build

else:

    def fused(a, b, c):
        """Return a * b + c, rounded once: in whole fractions, which is slow and exact."""
        if not math.isfinite(a * b + c):
            return a * b + c
        return float(Fraction(a) * Fraction(b) + Fraction(c))


@inline
def exp_negative(x):
    """Return exp(x) for x <= 0, within a few units of the last place; NaN stays NaN."""
    # A comparison that is false for NaN lets it through to the polynomial.
    safe = LOWEST if x < LOWEST else x
    shifted = safe * LOG2_E + ROUND
    whole = shifted - ROUND
    r = (safe - whole * LN2_HIGH) - whole * LN2_LOW
    p = fused(1.6059043836821613e-10, r, 2.08767569878681e-09)  # 1/13!, 1/12!, ...
    p = fused(p, r, 2.505210838544172e-08)
    p = fused(p, r, 2.755731922398589e-07)
    p = fused(p, r, 2.7557319223985893e-06)
    p = fused(p, r, 2.48015873015873e-05)
    p = fused(p, r, 0.0001984126984126984)
    p = fused(p, r, 0.001388888888888889)
    p = fused(p, r, 0.008333333333333333)
    p = fused(p, r, 0.041666666666666664)
    p = fused(p, r, 0.16666666666666666)
    p = fused(p, r, 0.5)
    p = fused(p, r, 1.0)
    p = fused(p, r, 1.0)
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
    q = fused(1.7602723938901524e-10, u, 7.764148541844648e-10)
    q = fused(q, u, -5.305272494992451e-10)
    q = fused(q, u, -9.13635280583506e-09)
    q = fused(q, u, -4.00189029996265e-09)
    q = fused(q, u, 6.80560027415832e-08)
    q = fused(q, u, 7.058581059277393e-08)
    q = fused(q, u, -4.3962866499116624e-07)
    q = fused(q, u, -8.740478311362504e-07)
    q = fused(q, u, 2.3732809204054434e-06)
    q = fused(q, u, 9.990932771704295e-06)
    q = fused(q, u, -2.8246764402692103e-06)
    q = fused(q, u, -9.297203992666777e-05)
    q = fused(q, u, -0.0002119529084309362)
    q = fused(q, u, 0.00026302341003851473)
    q = fused(q, u, 0.003342901353433685)
    q = fused(q, u, 0.013098340970436707)
    q = fused(q, u, 0.03518810698061366)
    q = fused(q, u, 0.07441654640892612)
    q = fused(q, u, 0.1307920776553587)
    q = fused(q, u, 0.1963517133924549)
    q = fused(q, u, 0.25566442044077764)
    q = fused(q, u, 0.29117944255007744)
    tail = 0.5 * (t * q) * exp_negative(-(y * y))
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


@kernel
def ratio_block(d, root_a, root_b, factor):
    """Replace d by factor * d / (root_a * root_b); the roots are above 0."""
    for i in range(d.shape[0]):
        row = d[i]
        roots = root_b[min(i, root_b.shape[0] - 1)]
        root = root_a[i]
        for j in range(row.shape[0]):
            row[j] = factor * (row[j] / (root * roots[j]))


@kernel
def excess_block(d, level_a, level_b):
    """Replace d by 2 d - level_a - level_b."""
    for i in range(d.shape[0]):
        row = d[i]
        levels = level_b[min(i, level_b.shape[0] - 1)]
        level = level_a[i]
        for j in range(row.shape[0]):
            row[j] = 2.0 * row[j] - (level + levels[j])
