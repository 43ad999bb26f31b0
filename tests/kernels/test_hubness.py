"""The loops below the hubness reducers, against scipy and numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from lookalike.kernels.hubness import (
    affinity_block,
    competition_ranks,
    fold_moments,
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
    tied = competition_ranks(d, np.argsort(np.where(np.isnan(d), np.inf, d), axis=1), ranks)
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
