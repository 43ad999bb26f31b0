import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.errors import InvalidInput, UndefinedMeasure
from lookalike.measures import Precomputed
from lookalike.testing import matrices

D = np.array([[0.0, 1, 3, 7], [1, 0, 2, 6], [3, 2, 0, 4], [7, 6, 4, 0]])


@given(d=matrices())
def test_distances_come_back(d):
    assert_array_equal(Precomputed().fit(d).distance(), d)


@given(d=matrices(symmetric=False))
def test_directed_distances_come_back(d):
    assert_array_equal(Precomputed(symmetric=False).fit(d).distance(), d)


def test_new_rows_bring_their_distances():
    measure = Precomputed().fit(D)
    assert_array_equal(measure.distance([[2, 1, 1, 5]]), [[2, 1, 1, 5]])
    assert_array_equal(measure.kneighbors([[2, 1, 1, 5]], n_neighbors=2)[1], [[1, 2]])


def test_two_new_rows_cannot_be_compared():
    measure = Precomputed().fit(D)
    with pytest.raises(UndefinedMeasure, match="rows 0 and 0"):
        measure.distance([[2, 1, 1, 5]], [[1, 1, 1, 5]])


def test_round_off_is_averaged_away():
    off = D.copy()
    off[0, 3] *= 1 + 1e-10
    found = Precomputed().fit(off).distance()
    assert_array_equal(found, found.T)
    assert_allclose(found, D, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((0, 1, -1.0), "distances of at least 0, found -1 in row 0, column 1"),
        ((0, 1, np.nan), "finite distances, found nan in row 0, column 1"),
        ((0, 1, np.inf), "finite distances, found inf"),
        ((0, 1, 5.0), "a symmetric matrix, found 5 from row 0 to row 1 but 1 back"),
        ((2, 2, 0.5), "a zero diagonal, found 0.5 for row 2"),
    ],
)
def test_bad_matrices_are_refused(change, words):
    i, j, value = change
    bad = D.copy()
    bad[i, j] = value
    with pytest.raises(InvalidInput, match=words):
        Precomputed().fit(bad)


def test_shapes_are_checked():
    with pytest.raises(InvalidInput, match=r"a square matrix, found shape \(3, 4\)"):
        Precomputed().fit(D[:3])
    with pytest.raises(InvalidInput, match="all 4 fitted rows"):
        Precomputed().fit(D).distance([[1.0, 2.0]])


def test_a_table_is_not_a_matrix_of_distances():
    with pytest.raises(InvalidInput, match=r"a matrix of distances, found .*'Lima'.*fit a measure"):
        Precomputed().fit([["Lima", 1.0], ["Oslo", 2.0]])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rounding_is_no_asymmetry_in_any_unit(unit):
    """A difference between the two directions counts in relation to the distance."""
    d = unit * np.array([[0.0, 2.0], [2.0 + 1e-9, 0.0]])
    assert_allclose(Precomputed().fit(d).distance(), d, rtol=1e-8)
    with pytest.raises(InvalidInput, match="a symmetric matrix"):
        Precomputed().fit(unit * np.array([[0.0, 2.0], [2.0 + 1e-7, 0.0]]))
