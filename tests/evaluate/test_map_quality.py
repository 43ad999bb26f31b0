"""Trustworthiness, continuity and spread against their definitions, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.evaluate import continuity, spread, trustworthiness
from lookalike.measures import Gower, Vector


def slow(listing, ranking, k):
    """1 - 2 / (n k (2 n - 3 k - 1)) times the ranks beyond k of those listed, row by row."""
    n = len(listing)
    total = 0
    for i in range(n):
        lists = [
            sorted((x for x in range(n) if x != i), key=lambda j, d=d: (d[i, j], j))
            for d in (listing, ranking)
        ]
        for j in lists[0][:k]:
            total += max(0, lists[1].index(j) + 1 - k)
    return 1 - 2 * total / (n * k * (2 * n - 3 * k - 1))


def squares(x):
    return ((x[:, None] - x) ** 2).sum(axis=2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 25), k=st.integers(1, 3))
def test_both_are_what_they_are_defined_as(seed, n, k):
    rng = np.random.default_rng(seed)
    rows, points = rng.integers(0, 4, (n, 3)).astype(float), rng.random((n, 2))
    measure = Vector("cityblock").fit(rows)
    d = measure.distance()
    assert trustworthiness(measure, points, k) == pytest.approx(slow(squares(points), d, k))
    assert continuity(measure, points, k) == pytest.approx(slow(d, squares(points), k))


def test_scikit_learn_says_the_same():
    from sklearn.manifold import trustworthiness as theirs

    rng = np.random.default_rng(0)
    rows = rng.random((120, 6))
    points = rows[:, :2] + 0.1 * rng.random((120, 2))
    ours = trustworthiness(Vector().fit(rows), points, 7)
    assert ours == pytest.approx(theirs(rows, points, n_neighbors=7))
    assert 0.5 < ours < 1


def test_a_sample_comes_near_the_whole():
    rng = np.random.default_rng(0)
    rows = rng.random((600, 6))
    measure, points = Vector().fit(rows), rows[:, :2]
    whole = trustworthiness(measure, points)
    part = trustworthiness(measure, points, sample=150)
    assert part != whole
    assert whole == trustworthiness(measure, points, 10)
    assert continuity(measure, points) == continuity(measure, points, 10)
    assert part == pytest.approx(whole, abs=0.02)
    assert part == trustworthiness(measure, points, sample=150)
    assert part != trustworthiness(measure, points, sample=150, random_state=1)
    assert whole == trustworthiness(measure, points, sample=600)


def test_a_shuffled_map_is_worth_nothing():
    rng = np.random.default_rng(0)
    rows = rng.random((200, 2))
    measure = Vector().fit(rows)
    assert trustworthiness(measure, rows) == 1
    assert trustworthiness(measure, rng.permutation(rows)) < 0.6
    assert continuity(measure, rng.permutation(rows)) < 0.6


def test_pairs_that_cannot_be_compared_are_the_farthest():
    table = {"a": [1.0, 2.0, 3.0, None, None], "b": [None, None, None, 1.0, 2.0]}
    points = np.array([[0.0, 0], [1, 0], [2, 0], [9, 0], [10, 0]])
    assert trustworthiness(Gower().fit(table), points, 1) == 1


def test_spread_is_large_for_a_square_and_small_for_a_line_or_heaps():
    rng = np.random.default_rng(0)
    square = rng.random((2000, 2))
    heaps = np.round(square * 3) + 0.01 * rng.random((2000, 2))
    assert spread(square) == pytest.approx(1, abs=0.05)
    assert spread(heaps) < 0.3
    assert spread(square * [1, 1e-3]) < 0.1
    assert spread(np.zeros((9, 2))) == 0
    assert spread(np.zeros((1, 2))) == 1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 200))
def test_spread_counts_cells(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    g = max(1, int((n / 4) ** 0.5))
    low, side = points.min(axis=0), max(np.ptp(points[:, 0]), np.ptp(points[:, 1]))
    held = {tuple(min(int(v / side * g), g - 1) for v in point - low) for point in points}
    chance = 1 - (1 - 1 / g**2) ** n
    assert spread(points) == pytest.approx(len(held) / g**2 / chance)


def test_wrong_input():
    measure = Vector().fit(np.arange(9.0)[:, None])
    with pytest.raises(InvalidInput, match="coordinates for each of 9 rows"):
        trustworthiness(measure, np.zeros((4, 2)))
    with pytest.raises(TooFewRows, match="k < n / 2"):
        continuity(measure, np.zeros((9, 2)), k=5)
    with pytest.raises(InvalidInput, match="distances between all rows"):
        trustworthiness(measure.neighbors(None, 3), np.zeros((9, 2)), k=2)
    for wrong, found in (
        (np.full((9, 2), np.nan), "values that are not finite"),
        (np.zeros((0, 2)), r"an array of shape \(0, 2\)"),
        (np.zeros(9), r"an array of shape \(9,\)"),
    ):
        with pytest.raises(InvalidInput, match=f"coordinates for each row, found {found}"):
            spread(wrong)
    for k in (0, 1.0, 4.5):
        with pytest.raises(TooFewRows, match="k >= 1"):
            trustworthiness(measure, np.zeros((9, 2)), k=k)
    assert trustworthiness(measure, np.arange(9.0)[:, None], k=4) == 1
    with pytest.raises(InvalidInput, match="two coordinates"):
        spread(np.zeros((9, 3)))
