"""Statistics of measures, against reference implementations and numbers worked out by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from lookalike.errors import InvalidInput, TooFewRows, UndefinedMeasure
from lookalike.leaderboard import ranking_agreement
from lookalike.leaderboard.scores import (
    best_silhouette,
    check_rows,
    distances_among,
    expected_hubness,
    precision_at_k,
    smallest_eigenvalue,
    some_rows,
    tied_share,
    violated_share,
    zero_share,
)
from lookalike.measures import Gower, Vector

MATRICES = {"seed": st.integers(0, 10**6), "n": st.integers(4, 9), "values": st.integers(2, 12)}


def matrix(seed, n, values, symmetric=True):
    """Distances with ties: integers from 1 to ``values``."""
    found = np.random.default_rng(seed).integers(1, values + 1, (n, n)).astype(float)
    if symmetric:
        found = np.triu(found, 1) + np.triu(found, 1).T
    np.fill_diagonal(found, 0)
    return found


@settings(max_examples=40, deadline=None)
@given(**MATRICES)
def test_ties(seed, n, values):
    d = matrix(seed, n, values)
    tied = 0
    for i in range(n):
        for j in range(n):
            if i != j:
                tied += any(d[i, j] == d[i, m] for m in range(n) if m not in (i, j))
    assert tied_share(d) == pytest.approx(tied / (n * (n - 1)))


@settings(max_examples=40, deadline=None)
@given(**MATRICES, symmetric=st.booleans())
def test_triangles(seed, n, values, symmetric):
    d = matrix(seed, n, values, symmetric)
    broken = 0
    triples = list(combinations(range(n), 3))
    for triple in triples:
        ways = permutations(triple)
        broken += any(d[x, z] > d[x, y] + d[y, z] for x, y, z in ways)
    assert violated_share(d) == pytest.approx(broken / len(triples))


def test_triangles_are_drawn_where_there_are_many():
    rng = np.random.default_rng(0)
    d = matrix(1, 60, 12)
    whole = violated_share(d, n_triples=10**6)
    drawn = violated_share(d, seed=3, n_triples=9_999)
    assert 0 < abs(whole - drawn) < 0.03
    assert drawn == violated_share(d, seed=3, n_triples=9_999)
    points = rng.random((60, 2))
    metric = np.linalg.norm(points[:, None] - points, axis=2)
    assert violated_share(metric) == 0
    assert violated_share(metric**4) > 0.1


def test_as_many_triples_as_are_allowed_are_all_of_them():
    d = np.ones((5, 5))
    d[0, 1] = d[1, 0] = 3.0  # one side too long for the three triples that have it
    assert violated_share(d, n_triples=10) == 0.3


def test_a_straight_line_is_no_violation():
    points = np.arange(8) * 0.1
    assert violated_share(np.abs(points[:, None] - points)) == 0  # equal but for rounding


@settings(max_examples=40, deadline=None)
@given(**MATRICES, k=st.integers(1, 3))
def test_hubness_with_ties_shared_out(seed, n, values, k):
    d = matrix(seed, n, values)
    counts = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        last = sorted(d[i, j] for j in others)[k - 1]
        sure = [j for j in others if d[i, j] < last]
        tied = [j for j in others if d[i, j] == last]
        counts[sure] += 1
        counts[tied] += (k - len(sure)) / len(tied)
    gaps = counts - counts.mean()
    spread = (gaps**2).mean()
    expected = 0.0 if spread < 1e-20 else (gaps**3).mean() / spread**1.5
    assert expected_hubness(d, k) == pytest.approx(expected, abs=1e-9)


def test_hubness_of_four_points():
    points = np.array([0.0, 1.0, 3.0, 7.0])
    d = np.abs(points[:, None] - points)
    assert expected_hubness(d, 1) == pytest.approx(0)
    assert expected_hubness(d, 2) == pytest.approx(-0.816497, abs=1e-6)
    assert expected_hubness(np.ones((4, 4)) - np.eye(4), 1) == 0  # by position it would not be


def test_zeros_and_precision():
    s = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    assert zero_share(s) == pytest.approx(4 / 6)
    assert precision_at_k(np.array([[0, 1], [1, 1], [0, 2]]), np.array([0, 1, 1])) == 0.5


def test_smallest_eigenvalue_of_gower_with_missing_cells():
    # Similarities 11/12, 11/16 and 1 of rows with a gap: their determinant is -121/2304.
    s = np.array([[1, 11 / 12, 11 / 16], [11 / 12, 1, 1], [11 / 16, 1, 1]])
    low, high = smallest_eigenvalue(s)
    third = 3 - low - high
    assert low < 0
    assert low * high * third == pytest.approx(-121 / 2304)
    assert smallest_eigenvalue(np.eye(3)) == (1.0, 1.0)


def test_silhouette_of_six_points():
    points = np.array([0, 1, 2, 10, 11, 12.0])
    d = np.abs(points[:, None] - points)
    assert best_silhouette(d) == pytest.approx(0.865657, abs=1e-6)
    assert best_silhouette(d[:2, :2]) == -1.0  # two rows cannot be two clusters and a neighbor


def test_pairs_that_cannot_be_compared_are_as_far_as_the_farthest():
    table = {"a": [1.0, None, 3.0, 2.0], "b": [None, 1.0, 5.0, 5.0]}
    measure = Gower().fit(table)
    d, undefined = distances_among(measure, np.arange(4))
    assert undefined == pytest.approx(2 / 12)
    assert d[0, 1] == d[1, 0] == d[np.isfinite(d)].max()
    assert d[0, 2] == measure.block(measure.rows_, measure.rows_)[0, 2]
    with pytest.raises(UndefinedMeasure, match="something to compare"):
        distances_among(measure, np.array([0, 1]))


def test_distances_of_some_rows_are_those_of_all():
    measure = Vector().fit(np.random.default_rng(0).random((600, 3)))
    at = some_rows(600, 300, 7)
    assert len(set(at.tolist())) == 300
    assert (np.diff(at) > 0).all()
    np.testing.assert_array_equal(
        distances_among(measure, at)[0], measure.distance()[np.ix_(at, at)]
    )
    np.testing.assert_array_equal(some_rows(5, 300, 7), np.arange(5))


def test_lists_of_k_need_more_rows_than_k_and_three_in_any_case():
    check_rows(1, 3, "task")
    check_rows(5, 6, "task")
    for k, n, message in (
        (1, 2, "task(k=1): needs at least 3 rows, found n_samples=2. Add rows."),
        (2, 2, "task(k=2): needs at least 3 rows, found n_samples=2. Add rows."),
        (3, 3, "task(k=3): needs at least 4 rows, found n_samples=3. Use k=2."),
        (5, 5, "task(k=5): needs at least 6 rows, found n_samples=5. Use k=4."),
    ):
        with pytest.raises(TooFewRows) as refused:
            check_rows(k, n, "task")
        assert str(refused.value) == message


# -- agreement of two measures ---------------------------------------------------------------------


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
