"""Shared neighbors: worked numbers, the reference, new rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hubness import reference
from hubness.test_reducer import native, points
from lookalike.hubness import SharedNeighbors
from lookalike.measures import Vector

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # four points on a line


def test_shared_neighbors_on_a_line():
    s = SharedNeighbors(Vector(), 2).fit(LINE).similarity()
    expected = np.full((4, 4), 0.5)
    expected[0, 3] = expected[3, 0] = 1.0
    np.fill_diagonal(expected, 1.0)
    assert_array_equal(s, expected)


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_shared_lists_match_their_reference(x, k):
    d = Vector("cityblock").fit(x).distance()
    assert_array_equal(native(SharedNeighbors(Vector("cityblock"), k), x), reference.shared(d, k))
    with_self = native(SharedNeighbors(Vector("cityblock"), k, include_self=True), x)
    assert_allclose(with_self, reference.shared(d, k, True))


def test_new_rows_are_in_no_list():
    measure = SharedNeighbors(Vector(), 2, include_self=True).fit(LINE)
    assert_array_equal(measure.rows_.arrays["near"][:, 2], [0, 1, 2, 3])
    new = measure.encode([[0.4]])
    assert_array_equal(new.arrays["near"], [[0, 1, -1]])
    # The lists of the rows at 0, 1, 3 and 7 with themselves: {1, 2, 0}, {0, 2, 1}, {1, 0, 2}, ...
    assert_allclose(measure.compare(new, measure.rows_)[0], [2 / 3, 2 / 3, 2 / 3, 1 / 3])
    assert measure.traits.symmetric
    assert measure.traits.unseen_pairs


def test_the_number_of_shared_rows_is_a_factor():
    measure = SharedNeighbors(Vector(), 2).fit(LINE)
    assert measure.explain(0, 3).factors["shared"] == 2
    assert measure.explain(0, 1).factors["shared"] == 1
    assert measure.rows_shape()[0]["near"].dims == ("n", 2)
