"""Elastic loops: blocks and pairs agree, windows are widened, empty series have their place."""

import numpy as np
import pytest

from lookalike.kernels.series import MSM, TWE, elastic_block


def distances(a, b, form, window=-1, prices=(0.5, 0.1)):
    sides = []
    for rows in (a, b):
        sides += [np.concatenate([np.empty(0), *rows]), np.cumsum([0, *map(len, rows)])]
    out = np.full((len(a), len(b)), np.nan)
    elastic_block(*sides, form, window, prices, out)
    return out


@pytest.mark.parametrize("form", [MSM, TWE])
@pytest.mark.parametrize("window", [-1, 0, 2])
def test_a_pair_has_the_same_bits_in_every_block(form, window):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=n) for n in (0, 5, 9, 1, 7, 7)]
    whole = distances(rows, rows, form, window)
    np.testing.assert_allclose(whole, whole.T, rtol=1e-12)
    for i, j in np.ndindex(whole.shape):
        assert distances(rows[i : i + 1], rows[j : j + 1], form, window)[0, 0] == whole[i, j]
    assert (np.diag(whole) == 0).all()
    assert np.isinf(whole[0, 1:]).all()
    # A narrower window never makes a distance smaller, and is as wide as lengths differ.
    free = distances(rows, rows, form)
    assert (whole >= free).all()
    assert np.isfinite(whole[1:, 1:]).all()


def test_the_window_keeps_to_the_diagonal():
    x, y = [np.array([0.0, 0.0, 1.0, 2.0])], [np.array([0.0, 1.0, 2.0, 2.0])]
    assert distances(x, y, MSM, 0)[0, 0] == 2.0  # |0 - 1| + |1 - 2|
    assert distances(x, y, MSM)[0, 0] == 1.0  # a merge and a split at 1/2
