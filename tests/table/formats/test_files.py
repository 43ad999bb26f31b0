"""Files: what is read, and what is said about those that cannot be."""

import gzip
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from lookalike.errors import UnreadableFile
from lookalike.table import read_table


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_json_of_columns_dates_and_odd_values(tmp_path):
    content = {"a": [1, None, 2.5], "d": ["2001-01-01", "2001-01-02", None], "s": ["1", "2", "2"]}
    table = read_table(put(tmp_path, "t.json", json.dumps(content)))
    assert {name: kind.name for name, kind in table.kinds.items()} == {
        "a": "number",
        "d": "number",
        "s": "number",
    }
    lines = '{"a": 1, "b": NaN}\n\n{"a": "x", "b": 2, "c": [1]}\n'
    table = read_table(put(tmp_path, "t.jsonl", lines))
    assert table.record(0) == {"a": "1", "b": None, "c": None}
    assert table.record(1)["a"] == "x"


def test_frames_saved_by_pandas_and_polars(tmp_path):
    frame = pd.DataFrame(
        {"g": pd.Categorical(["b", "a", "b"], ["a", "b"], ordered=True), "x": [1.5, 2.5, None]},
        index=["u", "v", "w"],
    )
    frame.to_parquet(tmp_path / "p.parquet")
    table = read_table(tmp_path / "p.parquet")
    assert table.kinds["g"].name == "order"
    assert table.names == ("g", "x")
    assert table.aside[0].name == "__index_level_0__"
    polars = pl.DataFrame({"e": pl.Series(["S", "L"], dtype=pl.Enum(["S", "L"])), "x": [1, 2]})
    for name, save in (("q.parquet", polars.write_parquet), ("q.arrow", polars.write_ipc)):
        save(tmp_path / name)
        table = read_table(tmp_path / name)
        assert table.kinds["e"].name == "order"
        assert table.kinds["e"].close == "category"
        assert table["e"].cell(1) == "L"


def test_a_damaged_arrow_file_is_not_tried_as_a_stream(tmp_path, monkeypatch):
    path = tmp_path / "t.feather"
    pyarrow.feather.write_feather(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    path.write_bytes(path.read_bytes()[:-9])

    def open_stream(file):
        raise AssertionError("the mark of a file is no length of a message")

    monkeypatch.setattr(pyarrow.ipc, "open_stream", open_stream)
    with pytest.raises(UnreadableFile, match="a complete arrow file"):
        read_table(path)


def test_an_arrow_stream(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as w,
    ):
        w.write_table(table)
    assert read_table(tmp_path / "t.arrow")["a"].values.tolist() == [1.0, 2.0]


def parquet_bytes():
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.table({"a": list(range(1000))}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("t.csv", "Sales\n\na,b\n1,2\n", ["1 field in every line", "the lines above the header"]),
        ("r.csv", "a,b\n1,2\n3\n4,5\n", ["2 fields in every line", "found 1 in line 3"]),
        ("r.csv", 'a,b\n"x\ny",2\n3,4,5\n', ["found 3 in line 4"]),
        ("r.tsv", "a\tb\n1\t2\t3\n", ["found 3 in line 2"]),
        (
            "n.csv",
            b"a,b\nx,1\nJos\xe9,2\n",
            ["byte 0xe9 at position 11, line 3", "encoding='latin-1'"],
        ),
        ("h.csv", b"a\xe9,b\nx,1\n", ["byte 0xe9 at position 1, line 1"]),
        ("n.jsonl", b'{"a": "\xe9"}\n', ["byte 0xe9 in line 1"]),
        ("e.csv", "", ["an empty file"]),
        ("e.parquet", "", ["an empty file"]),
        ("c.parquet", parquet_bytes()[:-60], ["a complete parquet file", "Write the file again"]),
        ("c.parquet", "a,b\n1,2\n", ["a complete parquet file"]),
        ("c.arrow", "a,b\n1,2\n", ["a complete arrow file"]),
        ("c.csv.gz", "a,b\n1,2\n", ["a complete gzip file"]),
        (
            "c.csv.gz",
            gzip.compress(b"a,b\n" + b"1,2\n" * 1000, mtime=0)[:-20],
            ["a complete gzip file"],
        ),
        (
            "c.parquet.gz",
            gzip.compress(parquet_bytes()[:-60], mtime=0),
            ["a complete parquet file"],
        ),
        ("b.jsonl", '{"a": 1}\n{"a": \n', ["one JSON record per line", "in line 2"]),
        ("b.jsonl", '{"a": 1}\n[1]\n', ["list in line 2"]),
        ("b.json", '{"a": 1}\n{"a": 2}\n', ["the ending .jsonl"]),
        ("b.json", "5", ["found a int"]),
        ("b.json", '{"a": [1], "b": [1, 2]}', ["columns of equal length"]),
        ("t.ods", "x", ["a file name whose ending tells the format", "found '.ods'", "'.csv'"]),
        ("t.parqet", "x", ["Did you mean '.parquet'?"]),
        ("t", "x", ["no ending"]),
    ],
)
def test_bad_files_say_what_is_wrong(name, content, parts, tmp_path):
    path = put(tmp_path, name, content)
    with pytest.raises(UnreadableFile) as caught:
        read_table(path)
    text = str(caught.value)
    assert text.startswith(f"File {str(path)!r}: needs ")
    for part in parts:
        assert part in text


def test_a_file_that_is_not_there(tmp_path):
    put(tmp_path, "films.csv", "a\n1\n")
    with pytest.raises(UnreadableFile, match=r"file not found\. Did you mean .*films"):
        read_table(tmp_path / "filsm.csv")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        read_table(tmp_path / "no" / "films.csv")


def test_a_directory(tmp_path):
    with pytest.raises(UnreadableFile, match=r"needs a file, found a directory\. Name one file"):
        read_table(tmp_path)
