"""Distances that users bring."""

import datetime

import numpy as np
import pytest

from columns.make import column, objects
from lookalike.columns import CallableDistance, MatrixDistance, variance
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column


def gap(u, v):
    return abs(len(u) - len(v))


def compare(distance, cells):
    own = distance.fit(cells)
    code = own.encode(cells)
    return own.compare(code, code)


def test_a_callable_is_called_for_every_pair_and_never_with_a_missing_cell():
    asked = []

    def noted(u, v):
        asked.append((u, v))
        return gap(u, v)

    found = compare(CallableDistance(noted, scale=1), column("text", ["a", None, "abc"]))
    np.testing.assert_array_equal(found, [[0, np.nan, 2], [np.nan] * 3, [2, np.nan, 0]])
    assert asked == [("a", "a"), ("a", "abc"), ("abc", "a"), ("abc", "abc")]


def test_a_batch_is_used_where_there_is_one():
    class Gap:
        def __call__(self, u, v):
            raise AssertionError("the batch is faster")

        def batch(self, cells, cell):
            return np.array([gap(cell, other) for other in cells])

    found = compare(CallableDistance(Gap()), column("text", ["a", None, "abc"]))
    np.testing.assert_array_equal(found, [[0, np.nan, 2], [np.nan] * 3, [2, np.nan, 0]])
    assert np.isnan(compare(CallableDistance(Gap()), column("text", [None, None]))).all()


def test_a_callable_sees_cells_as_python_values():
    seen = []

    def look(u, v):
        seen.append(u)
        return 0

    day = Column("day", Kind("number", source="datetime"), np.array([86400.0]))
    for cells in [
        column("category", [1], levels=("red", "blue")),
        column("vector", [[1.0, 2.0]]),
        column("set", [frozenset("a")]),
        Column("thing", Kind("object"), objects([{"any": 1}])),
        day,
    ]:
        compare(CallableDistance(look, scale=1), cells)
    assert seen[0] == "blue"
    assert isinstance(seen[1], np.ndarray)
    assert seen[1].tolist() == [1, 2]
    assert seen[2:4] == [frozenset("a"), {"any": 1}]
    assert seen[4].replace(tzinfo=None) == datetime.datetime(1970, 1, 2)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(float("nan"), "nan"), (-1, "-1"), ("far", "'far'"), (None, "None"), (1j, "1j"), ([1], "1")],
)
def test_a_callable_that_returns_no_distance_is_named_with_both_rows(value, shown):
    def odd(u, v):
        return value if (u, v) == ("b", "c") else 0

    cells = column("text", ["a", "b", "c"], name="title")
    own = CallableDistance(odd, scale=1).fit(cells)
    code = own.encode(cells)
    with pytest.raises(ValueError, match=rf"odd, column 'title', rows 1 and 2.*{shown}"):
        own.compare(code[[1]], code)


def test_a_callable_that_raises_is_named_with_both_rows():
    def odd(u, v):
        return 1 / (3 - len(v))

    cells = column("text", ["a", "b", "abc"], name="title")
    with pytest.raises(
        ValueError, match=r"odd, column 'title', rows 0 and 2.*ZeroDivision"
    ) as found:
        CallableDistance(odd).fit(cells)
    assert isinstance(found.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda cells: [0.0], "1 numbers for 2 cells"),
        (lambda cells: 1 / 0, "ZeroDivisionError"),
        (lambda cells: 5.0, "TypeError"),
        (lambda cells: [0.0, np.nan], "rows 0 and 1.*nan"),
    ],
)
def test_a_batch_that_goes_wrong_is_named(answer, words):
    class Odd:
        def __call__(self, u, v):
            return 0

        def batch(self, cells, cell):
            return answer(cells)

    with pytest.raises(ValueError, match=rf"Odd, column 'thing', {words}|{words}"):
        compare(CallableDistance(Odd()), column("text", ["a", "b"]))


def test_truth_values_round_off_and_endless_distances_are_distances():
    cells = column("text", ["a", "b"])
    np.testing.assert_array_equal(
        compare(CallableDistance(lambda u, v: u != v), cells), 1 - np.eye(2)
    )
    np.testing.assert_array_equal(
        compare(CallableDistance(lambda u, v: -1e-17), cells), np.zeros((2, 2))
    )
    own = CallableDistance(lambda u, v: 0 if u == v else np.inf).fit(cells)
    code = own.encode(cells)
    assert own.scale_ == 0  # an endless distance is no scale
    np.testing.assert_array_equal(own.similarity(code, code), np.eye(2))


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(ValueError, match="callable of two cells"):
        CallableDistance(5).fit(column("text", ["a"]))


def test_variance_takes_a_callable():
    cells = column("text", ["a", "abc", "abcde"])
    own = CallableDistance(gap).fit(cells)
    assert variance(own, own.encode(cells)) == pytest.approx(8 / 3)


# -- a matrix ------------------------------------------------------------------------------------

MILES = np.array([[0.0, 3.0, 9.0], [3.0, 0.0, 7.0], [9.0, 7.0, 0.0]])


def test_a_matrix_is_looked_up_by_position():
    found = compare(MatrixDistance(MILES), column("number", [2, 0, None, 2]))
    nan = np.nan
    np.testing.assert_array_equal(found[0], [0, 9, nan, 0])
    assert np.isnan(found[2]).all()


def test_scale_of_a_matrix_is_the_largest_distance_of_the_fitted_rows():
    assert MatrixDistance(MILES).fit(column("number", [0, 1, 2])).scale_ == 9
    assert MatrixDistance(MILES).fit(column("number", [1, 2, None])).scale_ == 7
    assert MatrixDistance(MILES).fit(column("number", [None])).scale_ == 0


@pytest.mark.parametrize("cell", [-1.0, 3.0, 0.5])
def test_positions_outside_the_matrix_are_refused(cell):
    with pytest.raises(ValueError, match=r"column 'thing', row 1: needs an integer from 0 to 2"):
        MatrixDistance(MILES).fit(column("number", [0, cell]))


def changed(row, place, value):
    out = MILES.copy()
    out[row, place] = value
    return out


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (MILES[:2], r"a square matrix, found shape \(2, 3\)"),
        (changed(0, 1, np.nan), "nan in row 0, column 1"),
        (changed(0, 1, -2), "-2 in row 0, column 1"),
        (changed(1, 1, 2), "a zero diagonal, found 2 for row 1"),
        (changed(0, 1, 4), "a symmetric matrix, found 4 from row 0 to row 1 but 3 back"),
        (np.array([["a"]]), "numbers"),
        (MILES.tolist(), "numpy array"),
    ],
)
def test_a_matrix_that_holds_no_distances_is_refused(matrix, words):
    with pytest.raises(ValueError, match=words):
        MatrixDistance(matrix).fit(column("number", [0]))


def test_a_directed_matrix_is_allowed_on_request():
    directed = MatrixDistance(changed(0, 1, 4), symmetric=False)
    found = compare(directed, column("number", [0, 1]))
    np.testing.assert_array_equal(found, [[0, 4], [3, 0]])
