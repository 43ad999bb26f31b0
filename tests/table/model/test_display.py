"""A table goes back to a data frame, and from there comes back the same."""

import datetime as dt

import numpy as np
import pytest

import lookalike as la
from lookalike.table import Kind

ROWS = {
    "when": [dt.datetime(2020, 1, 1), None, dt.datetime(2020, 2, 1)],
    "size": [1.5, None, 3.0],
    "color": ["red", None, "blue"],
    "has": [True, None, False],
    "tags": [frozenset({"b", "a"}), None, frozenset()],
    "path": [("a", "b"), ("c",), None],
    "point": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "name": ["one two three", None, "four five"],
    "note": [1, "x", None],
}
KINDS = {"tags": "set", "path": "sequence", "point": "vector", "name": "text", "note": "object"}


@pytest.fixture(scope="module")
def table():
    return la.read_table(ROWS, kinds=KINDS)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_cells_come_back(table, backend):
    frame = table.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    kinds = KINDS if backend == "pandas" else KINDS | {"note": "category"}
    again = la.read_table(frame, kinds=kinds)
    for row in range(3):
        ours, theirs = table.record(row), again.record(row)
        if backend != "pandas":  # one type per column: what is mixed becomes text
            ours["note"] = None if ours["note"] is None else str(ours["note"])
        assert ours == theirs


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_levels_of_several_types_become_text_and_of_one_type_stay(backend):
    mixed = la.read_table({"x": [1, "one", None, 1]}, kinds={"x": "category"})
    assert list(mixed.to_frame(backend)["x"].to_pylist() if backend == "pyarrow"
                else mixed.to_frame(backend)["x"]) == ["1", "one", None, "1"]  # fmt: skip
    kinds = {"x": Kind("category", levels=(1, 2))}
    whole = la.read_table({"x": [1, 2, None, 1]}, kinds=kinds).to_frame(backend)["x"]
    assert (whole.to_pylist() if backend == "pyarrow" else list(whole)) == [1, 2, None, 1]


def test_columns_set_aside_come_last():
    table = la.read_table({"id": ["a", "b"], "x": [1.0, 2.0]}, kinds={"id": "aside"})
    assert list(table.to_frame().columns) == ["x", "id"]


def test_numbers_are_not_made_into_objects(table):
    assert table.to_frame()["size"].dtype == np.float64


def test_a_table_without_columns_keeps_its_rows():
    table = la.read_table({"x": [1.0, 2.0]}).select([])
    assert table.to_frame().shape == (2, 0)
