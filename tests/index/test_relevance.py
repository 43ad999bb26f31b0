"""Scores of rows under feedback."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lookalike as la
from index import reference
from lookalike.errors import InvalidInput
from lookalike.index import rocchio

numbers = st.floats(0, 100)
lists = st.lists(numbers, min_size=1, max_size=5)


def test_worked_number():
    assert rocchio([1, 3], [4], gamma=0.5) == 0.0


@given(lists, st.lists(numbers, max_size=5), st.floats(0, 2))
def test_equals_the_formula(positive, negative, gamma):
    ours = rocchio(positive, negative, gamma)
    assert_allclose(ours, reference.rocchio(positive, negative, gamma), atol=1e-9)


@given(lists, lists)
def test_gamma_zero_ignores_what_is_not_wanted(positive, negative):
    assert rocchio(positive, negative, gamma=0) == rocchio(positive)


@given(lists, lists, st.floats(0, 1), st.floats(0, 10))
def test_a_constant_moves_all_scores_alike(positive, negative, gamma, c):
    moved = rocchio([d + c for d in positive], [d + c for d in negative], gamma)
    assert_allclose(moved, rocchio(positive, negative, gamma) + c * (1 - gamma), atol=1e-9)


def test_many_rows_in_one_call_have_the_scores_of_single_ones():
    random = np.random.default_rng(0)
    near, far = random.random((4, 30)), random.random((3, 30))
    whole = rocchio(near, far)
    assert [rocchio(near[:, j], far[:, j]) for j in range(30)] == whole.tolist()
    assert rocchio(near[:, 7:9], far[:, 7:9]).tolist() == whole[7:9].tolist()


def test_unknown_distances_are_left_out():
    nan = np.nan
    scores = rocchio([[1.0, nan, nan], [3.0, 4.0, nan]], [[nan, 2.0, 2.0]])
    assert scores[:2].tolist() == [2.0, 3.0]
    assert np.isnan(scores[2])


@pytest.mark.parametrize("gamma", [-0.1, np.nan, np.inf, "half", True])
def test_gamma_must_be_a_weight(gamma):
    with pytest.raises(InvalidInput, match="gamma"):
        rocchio([1.0], [1.0], gamma)


def test_something_must_be_wanted():
    with pytest.raises(InvalidInput, match="at least one wanted row"):
        rocchio([], [1.0])
    with pytest.raises(InvalidInput, match="the same rows"):
        rocchio([[1.0, 2.0]], [[1.0]])


def test_columns_that_a_record_leaves_open_are_no_part_of_the_question():
    """A missing cell of a record is not asked about; one of a row in the index is compared."""
    rows = {"x": [0.0, 0.0, 9.0, 4.0], "y": [None, 8.0, 1.0, 2.0]}
    index = la.Index("gower:missing=midpoint").fit(rows)
    assert index.search({"x": 0.0, "y": None}, k=2)[0].distance == 0.0
    # Half of the weight of y, where one of the two cells is missing.
    assert index.search(0, k=3)[0].distance == pytest.approx(0.25)
    both = index.search([{"x": 0.0, "y": None}, {"x": 9.0, "y": 1.0}], k=2)
    assert both[0][0].distance == pytest.approx(0.25)  # y is part of the other question
    assert both[1][0].distance == 0.0


def test_columns_that_are_not_named_count_nothing():
    rows = {"x": [0.0, 1.0, 9.0], "y": [0.0, 9.0, 1.0]}
    index = la.Index("gower").fit(rows)
    assert index.search(0, columns=["x"]).ids == [1, 2]
    assert index.search(0, columns=["y"]).ids == [2, 1]
    assert index.search(0, columns=["x"], weights={"x": 2.0})[0].distance == pytest.approx(1 / 9)
    with pytest.raises(InvalidInput, match="a weight for 'y', which is not compared"):
        index.search(0, columns=["x"], weights={"y": 2.0})
