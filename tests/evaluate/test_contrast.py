"""Concentration of distances and relative contrast, against numpy on the whole matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.evaluate import distance_contrast
from lookalike.measures import Gower, Vector


def slow(d):
    others = [[d[i, j] for j in range(len(d)) if j != i] for i in range(len(d))]
    mean = np.mean(others)
    return np.std(others) / mean, mean / np.mean([min(row) for row in others])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(3, 40), columns=st.integers(1, 30))
def test_values_are_those_of_the_definition(seed, n, columns):
    rows = np.random.default_rng(seed).normal(size=(n, columns))
    measure = Vector().fit(rows)
    assert_allclose(distance_contrast(measure), slow(measure.distance()), rtol=1e-9)
    assert_allclose(distance_contrast(measure.distance()), slow(measure.distance()), rtol=1e-9)


def test_close_large_distances_and_many_blocks():
    rng = np.random.default_rng(0)
    d = 1e9 + rng.random((600, 600))
    d = (d + d.T) / 2
    np.fill_diagonal(d, 0.0)
    assert_allclose(distance_contrast(d), slow(d), rtol=1e-6)


def test_by_hand():
    """Distances 1, 2, 3 of three rows: mean 2, variance 2/3, nearest 1, 1 and 2."""
    found = distance_contrast(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    assert_allclose(found, (np.sqrt(2 / 3) / 2, 2 / (4 / 3)))


def test_rows_alike_and_rows_that_cannot_be_compared():
    assert distance_contrast(Vector().fit(np.zeros((4, 2)))) == (0.0, 1.0)
    assert distance_contrast(Vector().fit([[0.0], [0.0], [5.0], [5.0]])).relative_contrast == np.inf
    table = {"x": [0.0, 1.0, None], "y": [None, 1.0, 2.0]}  # the first and the last share nothing
    found = distance_contrast(Gower(undefined=1.0).fit(table))
    assert found.concentration >= 0.0
    with pytest.raises(TooFewRows, match="two rows that can be compared"):
        distance_contrast(Vector().fit([[1.0]]))
    with pytest.raises(InvalidInput, match="distances between all rows"):
        distance_contrast(Vector().fit([[1.0], [2.0], [4.0]]).neighbors(None, 1))
