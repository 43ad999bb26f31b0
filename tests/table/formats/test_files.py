"""Files: what is read, and what is said about those that cannot be."""

import gzip
import json

import numpy as np
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
    # As polars before 1.18 wrote it.
    before = pa.field("e", pa.dictionary(pa.int32(), pa.string()))
    before = before.with_metadata({"POLARS.CATEGORICAL_TYPE": "ENUM"})
    before = pa.table([pa.array(["S", "L"]).dictionary_encode()], pa.schema([before]))
    pyarrow.parquet.write_table(before, tmp_path / "before.parquet")
    assert read_table(tmp_path / "before.parquet").kinds["e"].name == "order"


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


def test_an_array_of_numpy_is_a_column_of_vectors(tmp_path):
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    np.save(tmp_path / "plots.npy", rows)
    table = read_table(tmp_path / "plots.npy")
    assert [(c.name, c.kind.name) for c in table] == [("plots", "vector")]
    np.testing.assert_array_equal(table["plots"].values, rows)
    np.save(tmp_path / "sizes.npy", np.arange(5))
    assert read_table(tmp_path / "sizes.npy")["sizes"].values.tolist() == [0, 1, 2, 3, 4]


def test_vectors_beside_a_csv_file_are_a_column_of_it(tmp_path):
    (tmp_path / "films.csv").write_text("title,year\nA,1990\nB,1991\nC,1995\n")
    np.save(tmp_path / "films.plot.npy", [[0.1, -2.0], [3.0, 1.0], [0.5, 0.5]])
    np.save(tmp_path / "others.plot.npy", np.eye(2))
    table = read_table(tmp_path / "films.csv")
    assert table["plot"].kind.name == "vector"
    assert "plot" in table.names
    np.save(tmp_path / "films.plot.npy", np.eye(2))
    with pytest.raises(UnreadableFile, match=r"2 beside 3 rows of films\.csv"):
        read_table(tmp_path / "films.csv")


def test_a_link_beside_a_csv_file_is_not_followed(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out.npy"
    inside.mkdir()
    np.save(outside, np.eye(2))
    (inside / "a.csv").write_text("x\n1\n2\n")
    (inside / "a.v.npy").symlink_to(outside)
    assert read_table(inside / "a.csv").names == ("x",)


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.zeros((2, 2, 2)), np.zeros((0, 3))])
def test_other_arrays_are_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(UnreadableFile, match="rows of numbers"):
        read_table(tmp_path / "x.npy")


def test_a_damaged_array_or_a_pickle_is_an_error(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UnreadableFile):
        read_table(path)
    np.save(path, np.ones((100, 100)))
    path.write_bytes(path.read_bytes()[:500])  # the header claims more than there is
    with pytest.raises(UnreadableFile):
        read_table(path)
