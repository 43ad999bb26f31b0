"""Answers as data frames."""

import sys

import pytest

from lookalike._runtime.frames import frame_of_records, make_frame
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
