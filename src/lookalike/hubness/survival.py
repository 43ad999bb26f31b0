"""Tail probabilities of the distances of a row; mutual proximity of a neighbor graph."""

from __future__ import annotations

import numpy as np


def grown(
    mean: np.ndarray, sd: np.ndarray, count: np.ndarray, d: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation with the distance d added where the partner is new."""
    # Welford's update of the moments by one value.
    delta = np.where(new > 0, d - mean, 0.0)
    weight = np.where(new > 0, count, 1.0)
    variance = (sd * sd * weight + delta * delta * (weight / (weight + 1))) / (weight + 1)
    # Squaring a tiny sd and taking the root again would lose it to underflow.
    grown_sd = np.where(delta == 0, sd * np.sqrt(weight / (weight + 1)), np.sqrt(variance))
    return mean + delta / (weight + 1), np.where(new > 0, grown_sd, sd)


def step(d: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return 1 below the mean, 1/2 at it, 0 above: the limit for a spread of 0."""
    return np.where(np.isnan(d), np.nan, np.where(d < mean, 1.0, np.where(d > mean, 0.0, 0.5)))


def gauss_survival(d: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return P(X > d) for a normal X."""
    from lookalike.kernels.hubness import tails

    z = (d - mean) * (1 / np.where(sd == 0, 1.0, sd))
    tails(z)
    return np.where(sd == 0, step(d, mean), z)


def gauss_product(
    d: np.ndarray, mean_a: np.ndarray, sd_a: np.ndarray, mean_b: np.ndarray, sd_b: np.ndarray
) -> np.ndarray:
    """Return P(A > d) * P(B > d) for independent normal variables, all with sd > 0.

    The same values as by ``gauss_survival``, to the last bit, in one pass.
    """
    from lookalike.kernels.hubness import gauss_block

    gauss_block(d, mean_a, 1 / sd_a, mean_b, 1 / sd_b)
    return d


def gamma_survival(d: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return P(X > d) for a Gamma variable X of this mean and standard deviation."""
    from scipy.special import gammaincc

    flat = (sd == 0) | (mean == 0)
    safe_mean, safe_sd = np.where(flat, 1.0, mean), np.where(flat, 1.0, sd)
    relative = safe_mean / safe_sd
    # By moments: shape (mean / sd)**2, scale sd**2 / mean. Divided before it is squared, since
    # sd**2 may underflow.
    shape = relative * relative
    tail = gammaincc(shape, d / safe_mean * shape)
    return np.where(flat, step(d, mean), tail)


def bivariate_tail(
    d: np.ndarray,
    back: np.ndarray,
    mean_a: np.ndarray,
    sd_a: np.ndarray,
    mean_b: np.ndarray,
    sd_b: np.ndarray,
    rho: np.ndarray,
) -> np.ndarray:
    """Return P(A > d and B > back) for two normal variables with correlation rho."""
    flat = (sd_a == 0) | (sd_b == 0)
    h = -(d - mean_a) / np.where(sd_a == 0, 1.0, sd_a)
    k = -(back - mean_b) / np.where(sd_b == 0, 1.0, sd_b)
    joint = bivariate_normal(h, k, rho)
    if not flat.any():
        return joint
    apart = gauss_survival(d, mean_a, sd_a) * gauss_survival(back, mean_b, sd_b)
    return np.where(flat, apart, joint)


def bivariate_normal(h: np.ndarray, k: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Return P(X <= h and Y <= k) for standard normal X, Y with correlation rho.

    By Owen's T function: Owen (1956), Tables for Computing Bivariate Normal Probabilities,
    Annals of Mathematical Statistics 27. doi:10.1214/aoms/1177728074
    """
    from scipy.special import ndtr, owens_t

    # At a correlation of 1 or -1 the formula divides by 0; the limits are below, in ``ends``.
    tight = np.abs(rho) > 1 - 1e-12
    r = np.where(tight, 0.0, rho)
    root = np.sqrt(1 - r * r)

    def term(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        safe = np.where(x == 0, 1.0, x)
        return np.where(x == 0, np.sign(y) / 4, owens_t(x, (y - r * x) / (safe * root)))

    below = (h * k > 0) | ((h * k == 0) & (h + k >= 0))
    # The two terms are added first: the sum is then the same for (h, k) and (k, h), so that the
    # measure is symmetric to the last bit.
    value = (ndtr(h) + ndtr(k)) / 2 - (term(h, k) + term(k, h)) - np.where(below, 0.0, 0.5)
    value = np.where((h == 0) & (k == 0), 0.25 + np.arcsin(r) / (2 * np.pi), value)
    ends = np.where(rho > 0, ndtr(np.minimum(h, k)), np.maximum(0.0, ndtr(h) + ndtr(k) - 1))
    value = np.where(tight, ends, value)
    value = np.where(np.isnan(h) | np.isnan(k), np.nan, value)
    return np.clip(value, 0.0, 1.0)
