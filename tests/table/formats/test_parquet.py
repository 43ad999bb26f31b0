"""Rows of several Parquet files, read as if they were one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.table.formats import parquet
from lookalike.table.formats.parquet import ParquetParts, find_files
from table.parts import cut


@pytest.fixture
def parts(tmp_path):
    rows = pa.table({"x": range(30), "y": [str(i) for i in range(30)]})
    return ParquetParts.open(find_files(cut(rows, tmp_path / "rows", [7, 7, 20], group=4)))


def test_any_rows_of_any_columns(parts, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 3)
    for start, stop in ((0, 30), (5, 9), (6, 7), (7, 7), (20, 30), (29, 99), (30, 40)):
        expected = list(range(30))[start:stop]
        assert parts.read(start, stop, ["x"])["x"].to_pylist() == expected, (start, stop)
    assert parts.read(3, 5).column_names == ["x", "y"]
    assert max(len(batch) for batch in parts.batches()) <= 3
    assert sum(len(batch) for batch in parts.batches(4, 21)) == 17


def test_single_rows_in_any_order(parts):
    for rows in ([29, 0, 7, 6, 7], [20], [], [19, 20]):
        found = parts.take(np.array(rows, np.int64), ["x"])["x"].to_pylist()
        assert found == rows


def test_names_twice_are_refused(tmp_path):
    rows = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pyarrow.parquet.write_table(rows, tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="'a' twice"):
        ParquetParts.open(find_files(tmp_path))
    with pytest.raises(InvalidInput, match="at least one file"):
        find_files([])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="none in it"):
        find_files(tmp_path / "empty")
