"""Answers as data frames."""

import sys

import numpy as np
import pytest

from lookalike._runtime.frames import (
    frame_of_records,
    is_frame,
    make_frame,
    replace_cells,
    stack_frames,
)
from lookalike.errors import InvalidInput, MissingExtra

COLUMNS = {"id": [3, 1], "name": ["a", None]}


def test_columns_become_a_frame_of_any_library():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    import pyarrow as pa

    assert make_frame(COLUMNS)["id"].tolist() == [3, 1]
    assert isinstance(make_frame(COLUMNS), pd.DataFrame)
    assert make_frame(COLUMNS, "polars").equals(pl.DataFrame(COLUMNS))
    assert make_frame(COLUMNS, "pyarrow").equals(pa.table(COLUMNS))


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match="to_frame: polars is not installed"):
        make_frame(COLUMNS, "polars")


def test_records_of_different_keys_and_types_are_one_frame():
    records = [{"a": 1, "b": {"c": 2}}, {"a": "x"}, {"a": None, "d": 0.5}]
    frame = frame_of_records(records, "pyarrow").to_pydict()
    assert frame == {
        "a": ["1", "x", None],
        "b": ['{"c": 2}', None, None],
        "d": [None, None, 0.5],
    }
    assert frame_of_records([{"a": 1}, {"a": 2}], "pyarrow").to_pydict() == {"a": [1, 2]}


def test_other_libraries_are_refused():
    with pytest.raises(InvalidInput, match=r"to_frame\(backend='panda'\).*'pandas'\?"):
        make_frame(COLUMNS, "panda")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_cells_are_replaced_and_types_stay(backend):
    frame = make_frame({"n": [1, 2, 3], "c": ["a", None, "b"], "l": [["x"], None, ["y"]]}, backend)
    rows = np.array([1])
    done = replace_cells(frame, {"n": (rows, [7.2]), "c": (rows, ["z"]), "l": (rows, [["w", "v"]])})
    assert type(done) is type(frame)
    cells = {name: list(done[name].to_pylist() if backend == "pyarrow" else done[name])
             for name in "ncl"}  # fmt: skip
    assert cells["n"] == [1, 7, 3]
    assert cells["c"] == ["a", "z", "b"]
    assert [list(cell) for cell in cells["l"]] == [["x"], ["w", "v"], ["y"]]
    if backend != "pandas":
        assert done.schema == frame.schema
    numbers = replace_cells(frame, {"c": (np.arange(3), [1.0, 2.0, 3.0])})
    assert [float(cell) for cell in numbers["c"].to_numpy()] == [1.0, 2.0, 3.0]
    assert replace_cells(frame, {}) is frame
    stacked = stack_frames([frame, done], "draw")
    assert len(stacked) == 6
    assert list(stacked["draw"].to_numpy()) == [1, 1, 1, 2, 2, 2]
    assert is_frame(frame)
    assert not is_frame({"n": [1]})
