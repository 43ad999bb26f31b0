"""Checks of a space: what is accepted, what is refused, and the lists and blocks read from it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from hubness.spaces import distances, every_space
from lookalike.errors import InvalidInput, TooFewRows, WrongType
from lookalike.evaluate.space import (
    as_space,
    distance_blocks,
    lists_of,
    needs_distances,
    size_of,
    without_self,
)
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.neighbors import NeighborGraph

POINTS = np.array([[0.0], [1.0], [3.0], [7.0], [8.0]])


def test_matrices_become_fitted_measures_and_sparse_ones_graphs():
    d = Vector().fit(POINTS).distance()
    for matrix in (d, d.tolist(), pd.DataFrame(d)):
        space = as_space(matrix, "Test")
        assert isinstance(space, Precomputed), type(matrix)
        assert_array_equal(space.distance(), d)
    measure = Vector().fit(POINTS)
    assert as_space(measure, "Test") is measure
    graph = measure.neighbors(k=2)
    assert as_space(graph, "Test") is graph
    sparse = as_space(graph.to_csr(include_self=True), "Test")
    assert isinstance(sparse, NeighborGraph)
    assert_array_equal(sparse.indices, graph.indices)
    assert_array_equal(sparse.distances, graph.distances)


def test_wrong_spaces_are_refused():
    with pytest.raises(WrongType, match="Test: .*a fitted measure, a NeighborGraph or a square"):
        as_space("rows", "Test")
    with pytest.raises(NotFittedError):
        as_space(Gower(), "Test")
    with pytest.raises(InvalidInput, match="a symmetric matrix"):
        as_space(np.array([[0.0, 1.0], [2.0, 0.0]]), "Test")
    with pytest.raises(InvalidInput, match="2 lists over 5 rows"):
        as_space(Vector().fit(POINTS).neighbors(POINTS[:2], 3), "Test")


def test_own_rows_are_taken_out_of_their_lists():
    """Where a row is not in its own list, its last neighbor goes, so that lists stay even."""
    indices = np.array([[0, 1, 2], [2, 0, 3], [3, 2, 1], [2, 1, 3]])
    lists = NeighborGraph(indices, np.arange(12.0).reshape(4, 3), 4, has_self=True)
    other = without_self(lists, "Test")
    assert_array_equal(other.indices, [[1, 2], [2, 0], [3, 1], [2, 1]])
    assert_array_equal(other.distances, [[1, 2], [3, 4], [6, 8], [9, 10]])
    assert not other.has_self
    assert other.n_indexed == 4
    assert without_self(other, "Test") is other


def test_all_forms_of_a_space_have_the_same_size_and_lists():
    d = distances(3)
    expected = Precomputed().fit(d).neighbors(k=4)
    for form in every_space(d):
        space = as_space(form, "Test")
        assert size_of(space) == 10
        for k in (1, 4, 9):
            lists = lists_of(space, k, "Test")
            assert lists.k == k
            assert_array_equal(lists.indices[:, :4], expected.indices[:, :k])
            assert_array_equal(lists.distances[:, :4], expected.distances[:, :k])


def test_lists_that_are_too_short_are_refused():
    graph = Vector().fit(POINTS).neighbors(k=2)
    with pytest.raises(TooFewRows, match="lists of 3 neighbors.*lists of 2"):
        lists_of(graph, 3, "Test")
    for space in (graph, Vector().fit(POINTS)):
        with pytest.raises(TooFewRows, match="at least 6 rows"):
            lists_of(space, 5, "Test")
        with pytest.raises(InvalidInput, match="k"):
            lists_of(space, 0, "Test")
    holes = NeighborGraph(np.array([[1, -1], [0, -1]]), np.array([[1.0, np.inf]] * 2), 2)
    assert lists_of(holes, 1, "Test").indices.tolist() == [[1], [0]]


def test_neighbors_at_an_undefined_distance_stay_at_the_end_of_a_list():
    graph = NeighborGraph(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, np.inf]] * 3), 3)
    assert_array_equal(lists_of(graph, 2, "Test").indices, graph.indices)


def test_a_graph_does_not_have_all_distances():
    measure = Vector().fit(POINTS)
    assert needs_distances(measure, "Test") is measure
    with pytest.raises(InvalidInput, match="Test: .*distances between all rows"):
        needs_distances(measure.neighbors(k=2), "Test")


def test_blocks_cover_every_pair_once_and_leave_out_the_row_itself():
    measure = Vector().fit(np.random.default_rng(0).normal(size=(11, 2)))
    expected = measure.distance()
    np.fill_diagonal(expected, np.nan)
    for tall, wide in ((4, 3), (3, 4), (1, 11), (20, 20)):
        whole, count = np.full((11, 11), -1.0), 0
        for down, across, d in distance_blocks(measure, tall, wide):
            assert d.shape == (down.stop - down.start, across.stop - across.start)
            whole[down, across] = d
            count += d.size
        assert count == 121, (tall, wide)
        assert_array_equal(whole, expected, err_msg=f"blocks of {tall} x {wide}")
