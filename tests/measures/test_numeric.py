"""The columns of a table as one matrix."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import ColumnsLeftOut, InvalidInput
from lookalike.measures.numeric import (
    check_owners,
    numbers,
    plan,
    plan_inputs,
    read_inputs,
)
from lookalike.saving.fields import Misfit
from lookalike.table import as_table

TABLE = la.read_table(
    {"x": [1.0, -0.0, 3.0], "c": ["a", "b", None], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    kinds={"c": "category", "v": "vector"},
)


def test_number_columns_are_stacked_entry_by_entry():
    with pytest.warns(ColumnsLeftOut, match="Test leaves out 'c'; Gower takes"):
        layout = plan(TABLE, "Test")
    assert layout.names == ("x", "v")
    assert layout.owner == ("x", "v", "v")
    assert_array_equal(numbers(TABLE, layout, "Test"), [[1, 1, 2], [0, 3, 4], [3, 5, 6]])


def test_trees_see_categories_as_codes_and_missing_cells_as_nan():
    inputs = plan_inputs(TABLE, "Test", categories=True)
    values = read_inputs(TABLE, inputs)
    assert values[0, 1] != values[1, 1]
    assert np.isnan(values[2, 1])
    assert not np.signbit(values[1, 0])  # -0.0 is 0.0
    new = as_table({"x": [1.0], "c": ["never seen"], "v": [[1.0, 2.0]]}, TABLE.schema)
    assert read_inputs(new, inputs)[0, 1] < -1  # a category of its own
    with pytest.warns(ColumnsLeftOut, match="Test leaves out .*; Gower takes"):
        assert plan_inputs(TABLE, "Test", categories=False).names == ("x", "v")


def test_values_that_are_not_finite_are_named():
    layout = plan(la.read_table({"x": [1.0, 2.0], "y": [1.0, 2.0]}), "Test")
    for value, match in ((None, r"1 missing values \(NaN\), the first in row 1, column 'y'"),
                         (np.inf, "1 infinite values .*Replace the infinities")):  # fmt: skip
        table = la.read_table({"x": [1.0, 2.0], "y": [1.0, value]}, kinds={"y": "number"})
        with pytest.raises(InvalidInput, match=match):
            numbers(table, layout, "Test")
    huge = la.read_table({"x": [1e308, 1e308], "y": [1e308, 1e308]})  # the sum overflows
    assert_array_equal(numbers(huge, layout, "Test"), np.full((2, 2), 1e308))
    with pytest.raises(InvalidInput, match=r"at least one number column, found 'c' \(category\)"):
        plan(la.read_table({"c": ["a", "b"]}, kinds={"c": "category"}), "Test")
    empty = la.read_table({"x": [None, None], "y": [1.0, 2.0]}, kinds={"x": "number"})
    with pytest.raises(InvalidInput, match="'x' without any"):
        plan_inputs(empty, "Test", categories=True)


def test_loaded_owners_must_be_the_columns_of_the_table():
    schema = TABLE.schema
    check_owners(schema, ("x", "v"), ("x", "v", "v"), "Test")
    for names, owner in (
        (("x", "v"), ("x", "v")),
        (("x", "v"), ("v", "v", "x")),
        (("z",), ("z",)),
        (("x",), ("x", "v")),
    ):
        with pytest.raises(Misfit):
            check_owners(schema, names, owner, "Test")
