"""New rows on a map: at equal rows, amid their neighbors, and nowhere without any."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels.layout import place_new_rows

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [50.0, 50.0]])


def settle(near, equal, rounds=10):
    out = np.empty((len(near), 2))
    place_new_rows(np.array(near), np.array(equal), PLACES, rounds, out)
    return out


def slow(near, rounds):
    """The weighted mean, step by step as the docstring of ``place_new_rows`` says."""
    points = PLACES[near]
    gaps = np.linalg.norm(points[:, None] - points, axis=2)
    at = points[gaps.sum(axis=1).argmin()]
    width = np.sort(((points - at) ** 2).sum(axis=1))[len(points) // 2]
    for _ in range(rounds if width > 0 else 0):
        weight = 1 / (1 + ((points - at) ** 2).sum(axis=1) / width)
        at = at + (weight[:, None] * (points - at)).sum(axis=0) / weight.sum()
    return at


def test_new_rows_are_placed_amid_their_neighbors():
    for near in ([0, 1, 2, 3], [0, 1, 2, 4], [0, 4], [3]):
        for rounds in (0, 1, 10):
            lists = [[*near, *[-1] * (4 - len(near))]]
            assert_allclose(settle(lists, [0], rounds)[0], slow(near, rounds), atol=1e-12)


def test_equal_rows_and_rows_without_neighbors():
    found = settle([[4, 0, 1, 2], [-1, -1, -1, -1], [1, 3, 0, 2]], [1, 0, 3])
    assert_array_equal(found[0], PLACES[4])
    assert np.isnan(found[1]).all()
    assert_array_equal(found[2], PLACES[1])  # the medoid of the three equal ones
