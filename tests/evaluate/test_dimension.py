"""Intrinsic dimension: worked numbers, a slow reference, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hubness import reference
from hubness.spaces import LINE, LONGER, line
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, UndefinedMeasure
from lookalike.evaluate import (
    distance_contrast,
    intrinsic_dimension,
)
from lookalike.evaluate.dimension import classical_scaling
from lookalike.hubness import (
    NICDM,
    MutualProximity,
)
from lookalike.measures import Gower, Vector


def test_dimension_on_a_line():
    space = Vector().fit(LONGER)
    assert_allclose(intrinsic_dimension(space, 3, 3), 0.905114, atol=5e-7)
    assert_allclose(intrinsic_dimension(space, 3, 3, average="mackay"), 0.617899, atol=5e-7)


def test_dimension_of_a_cube():
    x = np.random.default_rng(0).random((300, 3))
    space = Vector().fit(x)
    assert 2.6 < intrinsic_dimension(space) < 3.0
    assert 2.2 < intrinsic_dimension(space, average="mackay") < 2.6
    assert_allclose(intrinsic_dimension(Vector().fit(100 * x)), intrinsic_dimension(space))
    twice = Vector().fit(np.vstack([x, x[:50]]))  # duplicates are left out
    assert_allclose(intrinsic_dimension(twice), intrinsic_dimension(space))
    graph = space.neighbors(k=12)
    assert_allclose(intrinsic_dimension(graph), intrinsic_dimension(space))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), average=st.sampled_from(["levina", "mackay"]))
def test_dimension_matches_its_reference(seed, average):
    x = np.random.default_rng(seed).normal(size=(15, 2))
    d = Vector().fit(x).distance()
    ours = intrinsic_dimension(Vector().fit(x), 3, 6, average=average)
    assert_allclose(ours, reference.dimension(d, 3, 6, average), rtol=1e-9)
    with pytest.warns(LookalikeWarning, match="bare matrix"):
        assert_allclose(intrinsic_dimension(d, 3, 6, average=average), ours, rtol=1e-9)


def test_dimension_of_scaled_columns():
    rng = np.random.default_rng(0)
    x = rng.random((200, 3)) * [1, 1000, 0.01]
    assert intrinsic_dimension(Vector().fit(x)) < 1.5
    assert intrinsic_dimension(Vector().fit(x), scale="std") > 2.5
    unit = x / x.var(axis=0, ddof=1)
    scaled = intrinsic_dimension(Vector().fit(x), scale="variance")
    assert_allclose(scaled, intrinsic_dimension(Vector().fit(unit)), rtol=1e-2)


def test_dimension_of_embedded_spaces():
    x = np.random.default_rng(0).random((100, 2))
    plain = intrinsic_dimension(Vector().fit(x))
    assert_allclose(intrinsic_dimension(Vector().fit(x), embed=2), plain, rtol=1e-6)
    reducer = NICDM(Vector()).fit(x)
    reduced = intrinsic_dimension(reducer)
    assert 1.5 < reduced < 8
    assert reduced == intrinsic_dimension(reducer, embed=4)  # twice the columns by default
    assert reduced != intrinsic_dimension(reducer, embed=2)


def test_classical_scaling_gives_back_the_points_of_a_euclidean_space():
    x = np.random.default_rng(1).normal(size=(20, 3))
    measure = Vector().fit(x)
    points = classical_scaling(measure.distance(), 3)
    assert points.shape == (20, 3)
    assert_allclose(Vector().fit(points).distance(), measure.distance(), atol=1e-9)
    assert classical_scaling(measure.distance(), 50).shape == (20, 20)


def test_dimension_refuses():
    grid = Vector().fit(1 - np.eye(15))
    with pytest.raises(UndefinedMeasure, match="equally far"):
        intrinsic_dimension(grid)
    with pytest.raises(TooFewRows, match="different rows"):
        intrinsic_dimension(Vector().fit(np.repeat(LINE, 5, axis=0)), 3, 4)
    with pytest.raises(InvalidInput, match="3 <= k1 <= k2"):
        intrinsic_dimension(line, 2, 3)
    with pytest.raises(InvalidInput, match="Did you mean 'levina'"):
        intrinsic_dimension(line, 3, 3, average="levin")
    with pytest.raises(InvalidInput, match="a fitted Vector"):
        intrinsic_dimension(NICDM(Vector(), 2).fit(LINE), 3, 3, scale="std")
    graph = Vector().fit(np.repeat(LINE, 2, axis=0)).neighbors(k=5)
    with pytest.raises(InvalidInput, match="without duplicates"):
        intrinsic_dimension(graph, 3, 5)


def test_options_are_refused():
    graph = line.neighbors(k=3)
    for options in ({"scale": "std"}, {"embed": 2}):
        with pytest.raises(InvalidInput, match="rows to scale or embed"):
            intrinsic_dimension(graph, 3, 3, **options)
    for wrong, match in (
        ({"scale": "sdt"}, "Did you mean 'std'"),
        ({"embed": 0}, "embed"),
        ({"k1": 4, "k2": 3}, "3 <= k1 <= k2"),
        ({"k1": 3.0}, "3 <= k1 <= k2"),
    ):
        with pytest.raises(InvalidInput, match=match):
            intrinsic_dimension(line, **{"k1": 3, "k2": 3, **wrong})
    with pytest.raises(InvalidInput, match="lists of 3, 0 duplicates"):
        intrinsic_dimension(graph, 3, 4)


def test_equal_neighbors_are_reported():
    # Most rows of a grid have four neighbors at the same distance.
    grid = np.array([[i, j] for i in range(8) for j in range(8)], dtype=float)
    with pytest.warns(LookalikeWarning, match="which were left out"):
        intrinsic_dimension(Vector().fit(grid), 3, 4)


def test_rounding_is_neither_growth_nor_a_distance():
    # Steps of a third are tied but for their last bits; taken at their word, they gave 1e11.
    rng = np.random.default_rng(0)
    far = np.full((40, 12), 1 / 3) * (1 + 1e-15 * rng.random((40, 12)))
    graph = Vector().fit(rng.random((40, 2))).neighbors(k=12)
    tied = type(graph)(graph.indices, np.sort(far, axis=1), 40)
    with pytest.raises(UndefinedMeasure, match="equally far"):
        intrinsic_dimension(tied)


@pytest.mark.parametrize("reducer", [MutualProximity, NICDM])
@pytest.mark.parametrize("levels", [(2, 2, 2, 2, 2, 2, 2, 3), (2, 2, 2, 45, 6, 7)])
@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_duplicates_that_are_embedded_stay_duplicates(reducer, levels):
    # An embedding puts equal rows next to each other, some 1e-16 apart.
    rng = np.random.default_rng(1)
    table = {f"c{i}": rng.choice(list("abc"), 150).tolist() for i in range(3)}
    table |= {f"d{i}": rng.integers(0, level, 150).tolist() for i, level in enumerate(levels)}
    twice = {name: cells + cells[:75] for name, cells in table.items()}
    once = intrinsic_dimension(reducer(Gower()).fit(table))
    again = intrinsic_dimension(reducer(Gower()).fit(twice))
    assert 0.5 * once < again < 2 * once


# -- contrast --------------------------------------------------------------------------------------


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
