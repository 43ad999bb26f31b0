"""Ranking agreement: the worked number, its laws, and its edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.leaderboard import ranking_agreement
from lookalike.measures import Vector

S1 = np.array([[1, 0.9, 0.5, 0.1], [0.9, 1, 0.4, 0.2], [0.5, 0.4, 1, 0.3], [0.1, 0.2, 0.3, 1]])
S2 = np.array([[1, 0.8, 0.6, 0.2], [0.8, 1, 0.1, 0.3], [0.6, 0.1, 1, 0.2], [0.2, 0.3, 0.2, 1]])


def test_worked_example():
    found = ranking_agreement(S1, S2)
    assert_allclose(found, [0.5, 0.353553], atol=1e-6)
    assert_allclose(ranking_agreement(S2, S1), found)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 12))
def test_equals_spearman_row_by_row(seed, n):
    rng = np.random.default_rng(seed)
    one, other = (np.round(rng.random((n, n)), 1) for _ in range(2))
    expected = []
    for i in range(n):
        a, b = np.delete(one[i], i), np.delete(other[i], i)
        constant = [np.ptp(x) == 0 for x in (a, b)]
        if any(constant):
            expected.append(float(all(constant)))
        else:
            expected.append(spearmanr(a, b).statistic)
    found = ranking_agreement(one, other)
    assert_allclose(found, [np.mean(expected), np.std(expected)], atol=1e-12)


def test_monotone_changes():
    rng = np.random.default_rng(0)
    s = rng.random((300, 300))  # more rows than one block
    assert_allclose(ranking_agreement(s, np.exp(s)), [1, 0], atol=1e-12)
    assert_allclose(ranking_agreement(s, -s), [-1, 0], atol=1e-12)


def test_constant_rows():
    flat = np.ones((4, 4))
    assert ranking_agreement(flat, flat) == (1.0, 0.0)
    assert ranking_agreement(flat, S1) == (0.0, 0.0)


def test_fitted_measures_are_taken():
    x = np.random.default_rng(0).random((20, 3))
    assert ranking_agreement(Vector().fit(x), Vector().fit(2 * x)).mean == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (S1[:3], S2, r"an array of shape \(3, 4\)"),
        (np.full((4, 4), np.nan), S2, "undefined entries"),
        (S1[:3, :3], S2, r"shapes \(3, 3\) and \(4, 4\)"),
    ],
)
def test_what_is_no_pair_of_matrices_is_refused(one, other, words):
    with pytest.raises(InvalidInput, match=words):
        ranking_agreement(one, other)


def test_two_rows_have_no_ranking():
    with pytest.raises(TooFewRows, match="at least 3 rows, found n_samples=2"):
        ranking_agreement(np.ones((2, 2)), np.ones((2, 2)))
