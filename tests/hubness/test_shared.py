"""Shared neighbors: worked numbers, the reference, new rows."""

import numpy as np
from numpy.testing import assert_array_equal

from lookalike.hubness import (
    SharedNeighbors,
)
from lookalike.measures import Vector

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # four points on a line


def test_shared_neighbors_on_a_line():
    s = SharedNeighbors(Vector(), 2).fit(LINE).similarity()
    expected = np.full((4, 4), 0.5)
    expected[0, 3] = expected[3, 0] = 1.0
    np.fill_diagonal(expected, 1.0)
    assert_array_equal(s, expected)
