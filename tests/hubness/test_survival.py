"""Moments with one more distance, steps, and the bivariate normal distribution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from lookalike.hubness.survival import bivariate_normal, grown, step


@pytest.mark.parametrize("rho", [-0.95, -0.3, 0.0, 0.5, 0.99])
def test_bivariate_normal(rho):
    grid = np.array([-2.5, -1.0, 0.0, 0.4, 3.0])
    h, k = np.meshgrid(grid, grid)
    ours = bivariate_normal(h, k, np.full(h.shape, rho))
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    assert_allclose(ours, law.cdf(np.dstack([h, k])), atol=2e-6)
    assert_array_equal(ours, ours.T)


def test_bivariate_normal_at_its_ends():
    h, k = np.array([0.3]), np.array([-0.2])
    assert_allclose(bivariate_normal(h, k, np.array([1.0])), ndtr(-0.2))
    assert_allclose(bivariate_normal(h, k, np.array([-1.0])), ndtr(0.3) + ndtr(-0.2) - 1)
    assert_allclose(bivariate_normal(h, k, np.array([0.0])), ndtr(0.3) * ndtr(-0.2))
    zero = np.zeros(1)
    assert_allclose(bivariate_normal(zero, zero, np.array([0.5])), 1 / 3)


def test_only_a_new_partner_is_added_to_the_moments():
    known = np.array([1.0, 2.0, 6.0])
    mean, sd, count = np.full(2, known.mean()), np.full(2, known.std()), np.full(2, 3.0)
    found = grown(mean, sd, count, np.array([5.0, 5.0]), np.array([1.0, 0.0]))
    more = np.append(known, 5.0)
    assert_allclose(found, [[more.mean(), known.mean()], [more.std(), known.std()]], rtol=1e-14)
    tiny = grown(np.zeros(1), np.full(1, 1e-200), np.full(1, 3.0), np.zeros(1), np.ones(1))
    assert_allclose(tiny[1], 1e-200 * np.sqrt(3 / 4))  # its square is 0


def test_a_row_without_spread_takes_a_step():
    d = np.array([1.0, 2.0, 3.0, np.nan])
    assert_array_equal(step(d, np.full(4, 2.0)), [1.0, 0.5, 0.0, np.nan])
