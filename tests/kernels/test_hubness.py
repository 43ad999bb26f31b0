"""The loops below the hubness reducers, against scipy and numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from lookalike.hubness.mutual_proximity import competition_ranks
from lookalike.kernels.hubness import (
    affinity_block,
    correlations,
    farther_counts,
    fold_moments,
    gauss_block,
    mutual_counts,
    tails,
)


def test_tails_are_exact_far_out():
    z = np.linspace(-12, 37, 20_001)[None]
    ours = z.copy()
    tails(ours)
    assert_allclose(ours, ndtr(-z), rtol=3e-13)
    assert (np.diff(ours) <= 0).all()
    ends = np.array([[-np.inf, -40.0, 0.0, 40.0, np.inf, np.nan]])
    tails(ends)
    assert_allclose(ends, [[1, 1, 0.5, 0, 0, np.nan]])


def test_affinities_are_exponentials():
    d = np.random.default_rng(0).random((7, 100)) * 30
    a, b = np.random.default_rng(1).random(7) + 0.1, np.random.default_rng(2).random((1, 100)) + 0.1
    ours = d.copy()
    affinity_block(ours, a, b)
    assert_allclose(ours, np.exp(-(d**2) / (a[:, None] * b)), rtol=1e-12, atol=1e-300)


def test_moments_of_chunks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    d = rng.random((6, 1000)) + 1e6  # a large mean: naive sums of squares would lose the spread
    d[0, :997] = np.nan
    d[1] = np.nan
    folded = [np.zeros(6), np.zeros(6), np.zeros(6), np.full(6, np.inf), np.full(6, -np.inf)]
    for start in (0, 300, 513):
        stop = {0: 300, 300: 513, 513: 1000}[start]
        fold_moments(d[:, start:stop], *folded)
    count, mean, square, low, high = folded
    assert_array_equal(count, [3, 0, 1000, 1000, 1000, 1000])
    some = [0, 2, 3, 4, 5]
    assert_allclose(mean[some], np.nanmean(d[some], axis=1), rtol=1e-14)
    assert_allclose(square[some] / count[some], np.nanvar(d[some], axis=1), rtol=1e-8)
    assert_array_equal(low[some], np.nanmin(d[some], axis=1))
    assert_array_equal(high[some], np.nanmax(d[some], axis=1))


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_ranks_and_counts_in_both_widths(kind):
    rng = np.random.default_rng(0)
    d = rng.integers(0, 6, (9, 9)).astype(float)
    np.fill_diagonal(d, np.nan)
    d[2, 5] = np.nan
    ranks = np.empty((9, 9), dtype=kind)
    tied = competition_ranks(d.copy(), ranks)
    for i in range(9):
        for j in range(9):
            expected = -1 if np.isnan(d[i, j]) else sum(d[i] < d[i, j])
            assert ranks[i, j] == expected
    assert tied == sum(np.sum(d[i] == d[i, j]) > 1 for i in range(9) for j in range(9))
    out = np.empty((9, 9))
    mutual_counts(ranks, np.arange(9), np.arange(9), kind(0), out)
    assert np.isnan(out[2, 5])
    assert np.isnan(out[5, 2])
    assert out[0, 1] == np.sum((d[0] > d[0, 1]) & (d[1] > d[1, 0]))


def test_products_of_tails():
    """Facts about columns come for all rows together, or for each row its own."""
    rng = np.random.default_rng(3)
    d, a, b = rng.random((4, 9)), rng.random((2, 4)) + 0.5, rng.random((2, 4, 9)) + 0.5
    d[1, 2] = np.nan
    for each in (b, b[:, :1]):
        gauss = d.copy()
        gauss_block(gauss, a[0], a[1], each[0], each[1])
        one, two = (d - a[0][:, None]) * a[1][:, None], (d - each[0]) * each[1]
        assert_allclose(gauss, ndtr(-one) * ndtr(-two), rtol=1e-12)


def test_affinities_at_a_scale_of_zero():
    d = np.array([[0.0, 1.0, np.nan]])
    affinity_block(d, np.array([0.0]), np.ones((1, 3)))
    assert_array_equal(d, [[1.0, 0.0, np.nan]])


def test_objects_farther_from_both():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 5, (3, 20)).astype(float), rng.integers(0, 5, (70, 20)).astype(float)
    d, back = rng.integers(0, 5, (2, 3, 70)).astype(float)
    a[0, 3], d[1, 5], back[2, 69] = np.nan, np.nan, np.nan
    out = np.empty((3, 70))
    farther_counts(a, b, d, back, out)
    wanted = ((a[:, None] > d[..., None]) & (b > back[..., None])).sum(axis=2).astype(float)
    wanted[1, 5] = wanted[2, 69] = np.nan
    assert_array_equal(out, wanted)


def test_correlations_of_what_both_rows_know():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(3, 1100)), rng.normal(size=(40, 1100))
    b[0], b[1] = a[0] * 2 + 1, 7.0  # perfectly correlated; constant
    known_a, known_b = (rng.random(x.shape) < 0.5 for x in (a, b))
    known_b[2] = False
    known_b[2, :1] = known_a[0, :1] = True
    out = np.empty((3, 40))
    correlations(a * known_a, known_a * 1.0, b * known_b, known_b * 1.0, out)
    for i in range(3):
        for j in range(40):
            both = known_a[i] & known_b[j]
            spread = both.sum() > 1 and j != 1
            wanted = np.corrcoef(a[i, both], b[j, both])[0, 1] if spread else 0.0
            assert_allclose(out[i, j], wanted, atol=1e-12)


def test_correlations_far_from_the_center_keep_their_digits():
    """Sums of squares of 1e8 + x leave no digits of x: those are summed from their own mean."""
    rng = np.random.default_rng(3)
    a, b = 1e8 + rng.normal(size=(2, 50)), 1e8 + rng.normal(size=(2, 50))
    out = np.empty((2, 2))
    correlations(a, np.ones_like(a), b, np.ones_like(b), out)
    assert_allclose(out, np.corrcoef(a - 1e8, b - 1e8)[:2, 2:], atol=1e-6)
