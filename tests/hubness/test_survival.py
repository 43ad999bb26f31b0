"""The bivariate normal distribution behind the Gaussian model, against scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from lookalike.hubness.survival import bivariate_normal


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
