"""The same table, whatever holds it."""

import datetime as dt
import decimal
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import lookalike.table
from lookalike.errors import WrongType
from lookalike.table import Graph, Table, read_table

DATA = {
    "size": [1.5, None, 3.25, -4.0],
    "count": [3, 1, 2, 2],
    "color": ["red", "blue", None, "red"],
    "seen": [True, False, None, True],
    "when": [dt.date(2001, 1, 3), None, dt.date(2004, 2, 29), dt.date(1969, 12, 31)],
}
LISTS = {
    "tags": [["a", "b"], [], None, ["b"]],
    "steps": [["a", "a"], ["b"], None, ["a", "c"]],
    "curve": [[1.0, 2.0], [3.0], None, [1.0, 1.0, 1.0]],
    "place": [[1.0, -2.0], [3.0, 4.0], None, [0.5, 0.5]],
}
KINDS = {
    "size": "number",
    "count": "number",
    "color": "category",
    "seen": "flag",
    "when": "number",
    "tags": "set",
    "steps": "sequence",
    "curve": "series",
    "place": "vector",
}
DAY = 86400.0
WHEN = [
    (dt.date(2001, 1, 3) - dt.date(1970, 1, 1)).days * DAY,
    np.nan,
    (dt.date(2004, 2, 29) - dt.date(1970, 1, 1)).days * DAY,
    -DAY,
]


def records(data):
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


def write(folder, name, data):
    """Write the data in the format that the ending names."""
    path = folder / name
    table = pa.table({key: pa.array(cells) for key, cells in data.items()})
    sink = pa.BufferOutputStream()
    if ".csv" in name or ".txt" in name:
        pyarrow.csv.write_csv(table, sink)
        content = sink.getvalue().to_pybytes()
    elif ".tsv" in name:
        pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(delimiter="\t"))
        content = sink.getvalue().to_pybytes()
    elif ".parquet" in name or ".pq" in name:
        pyarrow.parquet.write_table(table, sink)
        content = sink.getvalue().to_pybytes()
    elif ".json" in name or ".ndjson" in name:
        rows = [
            {k: str(v) if isinstance(v, dt.date) else v for k, v in r.items()}
            for r in records(data)
        ]
        lines = "\n".join(json.dumps(row) for row in rows)
        content = (lines if ".json" not in name or "jsonl" in name else json.dumps(rows)).encode()
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        content = sink.getvalue().to_pybytes()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def source(name, data, folder):
    table = pa.table({key: pa.array(cells) for key, cells in data.items()})
    return {
        "dict": lambda: data,
        "records": lambda: records(data),
        "pandas": lambda: pd.DataFrame(data),
        "pandas arrow": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.DataFrame(data),
        "polars lazy": lambda: pl.LazyFrame(data),
        "pyarrow": lambda: table,
        "duckdb": lambda: duckdb.from_arrow(table),
    }.get(name, lambda: write(folder, name, data))()


MEMORY = ["dict", "records", "pandas", "pandas arrow", "polars", "polars lazy", "pyarrow", "duckdb"]
FILES = ["t.parquet", "t.arrow", "t.feather", "t.ipc", "t.jsonl", "t.ndjson", "t.json", "t.pq"]
TEXT_FILES = ["t.csv", "t.tsv", "t.txt"]


def assert_is_the_table(table, names):
    assert isinstance(table, Table)
    assert table.shape == (4, len(names))
    assert {name: kind.name for name, kind in table.kinds.items()} == {n: KINDS[n] for n in names}
    assert not table.aside
    expected = [1.5, np.nan, 3.25, -4.0]
    np.testing.assert_array_equal(table["size"].values, expected)
    assert table["size"].values.dtype == np.float64
    np.testing.assert_array_equal(table["count"].values, [3.0, 1.0, 2.0, 2.0])
    assert table.kinds["color"].levels == ("blue", "red")
    np.testing.assert_array_equal(table["color"].values, [1, 0, -1, 1])
    np.testing.assert_array_equal(table["seen"].values, [1, 0, -1, 1])
    np.testing.assert_array_equal(table["when"].values, WHEN)
    assert table.kinds["when"].source == "datetime"
    assert table.kinds["when"].reason == "dates from 1969-12-31 to 2004-02-29"
    assert table.kinds["color"].reason == "2 distinct strings in 4 rows"
    assert table.record(1)["color"] == "blue"
    assert table.record(2)["when"] == dt.datetime(2004, 2, 29)


@pytest.mark.parametrize("name", [*MEMORY, *FILES, *(f"{file}.gz" for file in FILES)])
def test_a_table_is_the_same_in_every_source(name, tmp_path):
    table = read_table(source(name, DATA | LISTS, tmp_path))
    assert_is_the_table(table, list(DATA | LISTS))
    assert list(table["tags"].values) == [frozenset("ab"), frozenset(), None, frozenset("b")]
    assert list(table["steps"].values) == [("a", "a"), ("b",), None, ("a", "c")]
    assert [None if c is None else c.tolist() for c in table["curve"].values] == LISTS["curve"]
    np.testing.assert_array_equal(
        table["place"].values, [[1, -2], [3, 4], [np.nan, np.nan], [0.5, 0.5]]
    )


@pytest.mark.parametrize("name", [*TEXT_FILES, *(f"{file}.gz" for file in TEXT_FILES)])
def test_a_text_file_gives_the_same_table(name, tmp_path):
    path = source(name, DATA, tmp_path)
    assert_is_the_table(read_table(path), list(DATA))
    assert_is_the_table(read_table(str(path)), list(DATA))


def test_numbers_of_an_array_are_taken_as_they_are():
    X = np.array([[1.0, 0.0], [2.0, np.inf], [np.nan, 1.0]])
    table = read_table(X)
    assert table.names == ("x0", "x1")
    assert {kind.name for kind in table.kinds.values()} == {"number"}
    assert np.shares_memory(table["x0"].values, X)
    np.testing.assert_array_equal(table["x1"].values, [0.0, np.inf, 1.0])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.float64, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (bool, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_the_type_of_an_array_decides_the_type_of_its_numbers(given, kept):
    table = read_table(np.array([[1, 0], [0, 1]], dtype=given))
    assert table["x0"].values.dtype == kept
    np.testing.assert_array_equal(table["x0"].values, [1, 0])


def test_float32_of_a_frame_stays_float32():
    for frame in (
        pd.DataFrame({"a": np.array([1, 2], np.float32)}),
        pl.DataFrame({"a": np.array([1, 2], np.float32)}),
        {"a": np.array([1, 2], np.float32)},
    ):
        assert read_table(frame)["a"].values.dtype == np.float32


def test_numbers_from_a_frame_may_be_written_to():
    table = read_table(pd.DataFrame({"a": [1.0, 2.0]}))
    assert table["a"].values.flags.writeable


def test_an_integer_array_with_ids_in_it_is_still_all_numbers():
    table = read_table(np.arange(30).reshape(10, 3))
    assert table.shape == (10, 3)
    assert not table.aside


def test_rows_and_other_arrays():
    rows = [[1, "a"], [2, "b"], [2, "a"]]
    for given in (rows, tuple(map(tuple, rows)), np.array(rows, dtype=object), np.array(rows)):
        table = read_table(given)
        assert {n: k.name for n, k in table.kinds.items()} == {"x0": "number", "x1": "category"}
        np.testing.assert_array_equal(table["x0"].values, [1, 2, 2])
    assert read_table([[1, 2], [3, 4]])["x1"].values.tolist() == [2.0, 4.0]
    structured = np.array([(1, "a"), (2, "b")], dtype=[("n", "i4"), ("s", "U3")])
    assert read_table(structured).names == ("n", "s")


def test_an_object_with_an_array_inside_is_that_array():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.eye(3)

    assert read_table(Holder()).shape == (3, 3)


def test_an_object_array_of_numbers_is_numbers():
    table = read_table(np.array([[1, 2.5], [None, 3], [np.float32(4), 2**70]], dtype=object))
    assert {kind.name for kind in table.kinds.values()} == {"number"}
    np.testing.assert_array_equal(table["x0"].values, [1, np.nan, 4])
    np.testing.assert_array_equal(table["x1"].values, [2.5, 3, 2.0**70])


def test_pandas_types():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "yes": pd.array([True, None, False], dtype="boolean"),
            "word": pd.array(["x", None, "x"], dtype="string"),
            "grade": pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True),
            "group": pd.Categorical(["b", "a", None], ["b", "a", "c"]),
            "na": [pd.NA, 1.5, 2],
            "time": pd.to_datetime(["2001-01-01", None, "2001-01-02"]),
            "zone": pd.to_datetime(["2001-01-01", None, "2001-01-02"]).tz_localize("Europe/Berlin"),
            "wait": pd.to_timedelta([1, None, 90], unit="s"),
            "mixed": [1, "a", None],
            "sets": [{1, 2}, None, {3}],
            "price": [decimal.Decimal("1.5"), None, decimal.Decimal("2.5")],
        }
    )
    table = read_table(frame)
    assert {name: kind.name for name, kind in table.kinds.items()} == {
        "whole": "number",
        "yes": "flag",
        "word": "category",
        "grade": "order",
        "group": "category",
        "na": "number",
        "time": "number",
        "zone": "number",
        "wait": "number",
        "mixed": "category",
        "sets": "set",
        "price": "number",
    }
    assert table.kinds["grade"].levels == ("low", "mid", "high")
    assert table["grade"].values.tolist() == [0, 2, -1]
    assert table.kinds["group"].levels == ("b", "a", "c")
    np.testing.assert_array_equal(table["whole"].values, [1, np.nan, 3])
    np.testing.assert_array_equal(table["na"].values, [np.nan, 1.5, 2])
    np.testing.assert_array_equal(table["wait"].values, [1, np.nan, 90])
    assert table.kinds["wait"].source == "duration"
    assert table["wait"].cell(2) == dt.timedelta(seconds=90)
    assert table["time"].values[0] - table["zone"].values[0] == 3600  # Berlin is ahead of UTC
    assert table["mixed"].cell(0) == "1"  # as a file would say it
    assert table["mixed"].cell(1) == "a"
    assert list(table["sets"].values) == [frozenset({1, 2}), None, frozenset({3})]
    assert table["price"].values[2] == 2.5


def test_polars_types():
    frame = pl.DataFrame(
        {
            "size": pl.Series(["S", "L", None], dtype=pl.Enum(["S", "M", "L"])),
            "word": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
            "pair": pl.Series([[1.0, -2.0], [2.0, 3.0], None], dtype=pl.Array(pl.Float32, 2)),
            "clock": [dt.time(1), None, dt.time(2, 30)],
            "thing": pl.Series([{1}, {2}, None], dtype=pl.Object),
            "big": pl.Series([1, 2, 2], dtype=pl.Int128),
        }
    )
    table = read_table(frame)
    assert table.kinds["size"].name == "order"
    assert table.kinds["size"].close == "category"
    assert table.kinds["size"].levels == ("S", "M", "L")
    assert read_table(frame, kinds={"size": "order"})["size"].values.tolist() == [0, 2, -1]
    assert read_table(frame, kinds={"size": "order"}).kinds["size"].levels == ("S", "M", "L")
    assert table.kinds["word"].name == "category"
    assert table["pair"].values.dtype == np.float32
    np.testing.assert_array_equal(table["clock"].values, [3600, np.nan, 9000])
    assert table.kinds["thing"].name == "set"
    assert table.kinds["big"].name == "number"


def test_duckdb_types():
    relation = duckdb.sql(
        "select 'b'::enum('b', 'a') e, 1::hugeint h, map {'x': 1} m, interval 3 day i, "
        "1.5::decimal d, interval 2 month l"
    )
    table = read_table(relation)
    kinds = {name: kind.name for name, kind in table.kinds.items()}
    assert kinds == {"e": "category", "h": "number", "i": "number", "d": "number"}
    # Records wait for a distance, and a month has no fixed length.
    assert [(c.name, c.kind.name) for c in table.aside] == [("m", "object"), ("l", "object")]
    assert table["i"].cell(0) == dt.timedelta(days=3)
    assert table["m"].cell(0) == {"x": 1}


def test_arrow_types():
    table = read_table(
        pa.table(
            {
                "view": pa.array(["a", "b", "a"], pa.string_view()),
                "dictionary": pa.array(["x", None, "x"]).dictionary_encode(),
                "null": pa.nulls(3),
                "half": pa.array(np.array([1, 2, 3], np.float16)),
                "bytes": pa.array([b"a", None, b"b"]),
            }
        )
    )
    assert {name: kind.name for name, kind in table.kinds.items()} == {
        "view": "category",
        "dictionary": "category",
        "half": "number",
    }
    assert [column.name for column in table.aside] == ["null", "bytes"]


def test_chunks_with_dictionaries_of_their_own_are_one_column():
    chunks = pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    )
    table = read_table(pa.table({"letter": chunks}))
    assert [table["letter"].cell(row) for row in range(4)] == ["a", "b", "c", "a"]


def test_columns_of_a_dictionary_may_be_any_arrays():
    table = read_table(
        {
            "series": pd.Series([1, 2, 3]),
            "polars": pl.Series(["a", "b", "a"]),
            "arrow": pa.array([1.5, None, 2.5]),
            "range": range(3),
            "points": np.array([[1.0, -1.0], [2.0, 0.0], [3.0, 3.0]]),
            "days": np.array(["2001-01-01", "NaT", "2001-01-02"], dtype="datetime64[D]"),
        }
    )
    kinds = {name: kind.name for name, kind in table.kinds.items()}
    assert kinds == {
        "series": "number",
        "polars": "category",
        "arrow": "number",
        "range": "number",
        "points": "vector",
        "days": "number",
    }
    assert table["points"].values.shape == (3, 2)
    assert np.isnan(table["days"].values[1])


def test_graphs():
    plain = {"nodes": {"a": "C", "b": "O"}, "edges": [("b", "a")]}
    drawn = nx.Graph()
    drawn.add_node("a", label="C")
    drawn.add_node("b", label="O")
    drawn.add_edge("a", "b")
    arrow = nx.DiGraph([("b", "a")])
    listed = {"nodes": ["a", "b"], "edges": []}
    table = read_table({"g": [plain, drawn, arrow, listed, None]})
    assert table.kinds["g"].name == "graph"
    cells = table["g"].values
    assert cells[0] == cells[1] == Graph({"a": "C", "b": "O"}, frozenset({("a", "b")}))
    assert cells[2].edges == {("b", "a")}  # a directed edge keeps its direction
    assert cells[3] == Graph({"a": None, "b": None}, frozenset())
    assert cells[4] is None


def test_graphs_of_a_json_file_keep_their_own_nodes(tmp_path):
    path = tmp_path / "g.jsonl"
    rows = [
        {"g": {"nodes": {"a": "C"}, "edges": []}},
        {"g": {"nodes": {"b": "O", "c": "H"}, "edges": [["c", "b"]]}},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    cells = read_table(path)["g"].values
    assert cells[0] == Graph({"a": "C"}, frozenset())
    assert cells[1] == Graph({"b": "O", "c": "H"}, frozenset({("b", "c")}))


def test_columns_of_two_levels_and_numbered_columns():
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert read_table(frame).names == ("a_b", "a_c")
    assert read_table(pd.DataFrame([[1, 2]])).names == ("0", "1")


def test_a_table_is_returned_as_it_is():
    table = read_table(DATA)
    assert read_table(table) is table
    again = read_table(table, kinds={"count": "category", "color": ["blue", "red"]})
    assert again.kinds["count"].name == "category"
    assert again.kinds["count"].levels == (1.0, 2.0, 3.0)
    assert again["color"].values.tolist() == [1, 0, -1, 1]
    assert again["size"] is table["size"]
    assert read_table(table, missing=[-4])["size"].missing.tolist() == [False, True, False, True]
    assert read_table(table, missing=["red"])["color"].values.tolist() == [-1, 0, -1, -1]


def test_masked_arrays_and_matrices():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(read_table(masked)["x1"].values, [np.nan, 4])
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert read_table(matrix)["x1"].values.tolist() == [2.0, 4.0]


def test_no_dataframe_library_is_imported():
    # Arrow itself looks for pandas when it makes an array from Python values, so only an array
    # of numbers, which never meets Arrow, can show that nothing else is loaded.
    code = (
        "import sys, numpy as np\n"
        "from lookalike.table import as_table, read_table\n"
        "as_table(np.ones((1, 2)), read_table(np.eye(2)))\n"
        "print(sorted({'pandas', 'polars', 'duckdb'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_two_modules_alone_know_frames():
    known = re.compile(r"^\s*(import|from) (narwhals|pandas|polars|duckdb)\b", re.MULTILINE)
    folder = Path(lookalike.table.__file__).parent
    found = [path.name for path in folder.rglob("*.py") if known.search(path.read_text())]
    assert sorted(found) == ["display.py", "sources.py"]


def test_sparse_data_are_refused_with_what_to_do():
    from scipy.sparse import csr_array

    with pytest.raises(WrongType, match=r"a dense table.*csr_array.*toarray"):
        read_table(csr_array(np.eye(3)))
