"""Sources that are no table, each with an error in four parts."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, WrongType
from lookalike.table import as_table, read_table


@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (
            np.empty((0, 3)),
            InvalidInput,
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a ",
        ),
        (
            np.empty((12, 0)),
            InvalidInput,
            r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\.",
        ),
        (pd.DataFrame(), InvalidInput, r"0 feature\(s\)"),
        (pd.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\)"),
        (pl.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\)"),
        (pd.DataFrame(index=range(12)), InvalidInput, r"0 feature\(s\) \(shape=\(12, 0\)\)"),
        ({}, InvalidInput, r"0 feature\(s\)"),
        ({"a": []}, InvalidInput, r"0 sample\(s\)"),
        ([], InvalidInput, r"0 feature\(s\)"),
        ([{}], InvalidInput, r"0 feature\(s\)"),
        ([[]], InvalidInput, r"0 feature\(s\)"),
        (
            np.arange(20.0),
            InvalidInput,
            r"Expected 2D array\), found a 1D array of shape \(20,\)\. Reshape your data",
        ),
        (pd.Series([1, 2]), InvalidInput, r"Expected 2D array.*Reshape your data"),
        (np.zeros((2, 2, 2)), InvalidInput, r"Expected 2D array.*a 3D array"),
        (np.array(5.0), InvalidInput, r"a 0D array"),
        ([1, 2, 3], InvalidInput, r"Expected 2D array.*Reshape your data"),
        (["a", "b"], InvalidInput, r"Expected 2D array.*a list of str"),
        (np.ones((2, 2)) + 1j, InvalidInput, "Column 'x0': .*Complex data not supported"),
        ({"a": np.ones(2) + 1j}, InvalidInput, "Column 'a': .*Complex data not supported"),
        ({"a": [1j, None]}, InvalidInput, "Column 'a': .*Complex data not supported"),
        (scipy.sparse.csr_array(np.eye(3)), WrongType, r"Sparse input is not supported.*toarray"),
        (scipy.sparse.dok_matrix(np.eye(3)), WrongType, "[Ss]parse"),
        ([[1, 2], [3]], InvalidInput, r"2 cells in every row, found \[3\] in row 1"),
        ([{"a": 1}, 5], InvalidInput, r"list of records.*found int 5 at row 1"),
        ({"a": [1, 2], "b": [1]}, InvalidInput, r"equal length, found 'a' has 2, 'b' has 1"),
        (
            {"a": 1, "b": 2},
            InvalidInput,
            r"each a list of cells, found int 1 in column 'a'\. Give one row",
        ),
        ({"a": "text"}, InvalidInput, r"found str 'text' in column 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), InvalidInput, "names that differ"),
        ({1: [1], "1": [2]}, InvalidInput, r"names that differ, found '1' 2 times"),
        (5, WrongType, "a file, a frame, an array"),
        (None, WrongType, "found NoneType"),
        ({"id": [1, 2, 3]}, InvalidInput, r"a column to compare, found none: 'id' was set aside"),
        ({"a": [None]}, InvalidInput, r"'a' was set aside \(every cell is missing\)"),
    ],
)
def test_what_is_no_table_is_an_error_in_four_parts(source, error, text):
    with pytest.raises(error, match=text) as caught:
        read_table(source)
    assert str(caught.value).startswith(("read_table: needs ", "Column 'a': ", "Column 'x0': "))
    assert ", found " in str(caught.value)
    if type(source) is dict and source.get("b") == 2:
        return  # one record, once the columns are known
    with pytest.raises((ValueError, TypeError)):
        as_table(source, read_table({"a": [1, 2], "b": ["x", "y"]}))


def test_a_dictionary_among_numbers_is_a_type_error():
    X = np.random.default_rng(0).normal(size=(6, 3)).astype(object)
    X[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        read_table(X)
    fitted = read_table(np.eye(3))
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        as_table(X, fitted)


def test_an_empty_slice_of_a_table_is_an_empty_table():
    table = read_table({"a": [1, 2]})
    with pytest.raises(InvalidInput, match=r"0 sample\(s\)"):
        read_table(table[[]])


def endless():
    cell = []
    cell.append(cell)
    return cell


def deep(levels):
    cell = ["a"]
    for _ in range(levels):
        cell = [cell, "b"]
    return cell


@pytest.mark.parametrize("cell", [endless(), {"a": endless()}, (endless(),), deep(5_000)])
@pytest.mark.parametrize("kind", [None, "set", "sequence", "vector", "text", "category"])
def test_cells_without_end_are_refused(cell, kind):
    kinds = None if kind is None else {"x": kind}
    with pytest.raises(InvalidInput, match="row 1.*holds itself"):
        read_table({"x": [["a"], cell]}, kinds=kinds)


@given(st.recursive(st.integers(), lambda cells: st.lists(cells, max_size=3), max_leaves=20))
def test_cells_with_an_end_are_read(cell):
    assert len(read_table({"x": [cell, 1]})) == 2


@pytest.mark.parametrize("words", [["NAN"], ["Nan", "nan"], ["NAN"] * 12, ["-nan", "NAN"]])
def test_words_that_are_numbers_without_a_value_stay_words(words):
    assert read_table({"x": words, "y": range(len(words))})["x"].kind.name == "category"
