"""Columns of a similarity forest: distances, refused functions, cells as kernels read them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.kernels.cells import CATEGORY, NUMBER, SQUARED, TABLE, TABLE_SQUARED, UNCACHED, VALUE
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns

SETS = [{"a"}, {"a", "b"}, {"x"}, {"a"}, None]
TABLE_OF_ALL = {"n": [1.0, 2.0, None, 8.0, 9.0], "c": list("uvuvu"), "s": SETS}


@pytest.fixture
def table():
    return la.read_table(TABLE_OF_ALL, kinds={"c": "category", "s": "set"})


def kinds(columns):
    return [column.kind for column in columns]


def test_kinds_of_projections(table):
    assert kinds(fit_columns(table)) == [NUMBER, CATEGORY, TABLE]
    squared = fit_columns(table, projection="squared")
    assert kinds(squared) == [SQUARED, CATEGORY, TABLE_SQUARED]
    assert kinds(fit_columns(table, numeric="value")) == [VALUE, CATEGORY, TABLE]
    several = fit_columns(table, {"s": ["jaccard", "overlap"]})
    assert [column.column for column in several] == [0, 1, 2, 2]


def test_unknown_columns_and_ranges_whose_squares_are_infinite(table):
    with pytest.raises(InvalidInput, match="a column 'm'"):
        fit_columns(table, {"m": "jaccard"})
    wide = la.read_table({"n": [0.0, 1e200]})
    fit_columns(wide)
    with pytest.raises(InvalidInput, match="a range whose square is a number"):
        fit_columns(wide, projection="squared")


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (lambda a, b: 1.0, "needs 0 between equal cells, found 1 for row 0 and itself"),
        (
            lambda a, b: float(len(a) > len(b)),
            "in both directions, found 0 from row 0 to row 1 and 1 back",
        ),
    ],
)
def test_a_function_that_is_no_distance_is_refused(table, distance, words):
    with pytest.raises(InvalidInput, match=words):
        fit_columns(table, {"s": distance})


def test_given_distances_are_not_negative():
    train = la.read_table({"d": list(np.array([[0.0, 2.0], [2.0, 0.0]]))}, kinds={"d": "vector"})
    columns = fit_columns(train, {"d": "precomputed"})
    encode_columns(columns, train, fitted=True)
    new = la.read_table({"d": list(np.array([[1.0, -0.5]]))}, kinds={"d": "vector"})
    with pytest.raises(InvalidInput, match="-0.5 in row 0, column 1"):
        encode_columns(columns, new, fitted=False)


@pytest.mark.parametrize("pairs", [16, 15])
def test_cells_and_their_distances(table, pairs):
    """Four different sets: 16 distances are kept if they may be, else computed as needed."""
    columns = fit_columns(table)
    cache = CellCache.of(columns, encode_columns(columns, table, fitted=True), pairs)
    arrays = cache.arrays
    assert len(cache) == 5
    assert arrays.kinds[2] == (TABLE if pairs == 16 else UNCACHED)
    assert_array_equal(np.isnan(arrays.values), [[0, 0, 1, 0, 0], [0] * 5, [0, 0, 0, 0, 1]])
    assert cache.same[2].tolist() == [0, 1, 2, 0, 4]
    block = cache.block(2, np.arange(4))
    assert_array_equal(block, [[0, 0.5, 1, 0], [0.5, 0, 1, 0.5], [1, 1, 0, 1], [0, 0.5, 1, 0]])
    assert_array_equal(cache.distances(2, 1, np.arange(4)), block[1])
    moved = cache.take(np.array([[3, 3], [0, 1], [1, 0]]))
    assert_array_equal(moved.block(2, np.arange(2)), [[0, 0.5], [0.5, 0]])
    assert_array_equal(moved.arrays.values[0], arrays.values[0, [3, 3]])
