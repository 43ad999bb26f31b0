"""Packed files are measured before they are unpacked."""

import gzip
import io
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import config
from lookalike.errors import InvalidInput, LookalikeError, TooLarge
from lookalike.table import read_table
from lookalike.table.formats import files
from lookalike.table.formats.sizes import (
    Counter,
    ReadLimits,
    _Compact,
    _read_footer,
    check_ipc,
    reading_at_most,
)


def write(path, table, **options):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, **options)
        return path
    kind = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    how = pa.ipc.IpcWriteOptions(compression="zstd")
    with kind(path, table.schema, options=how) as writer:
        writer.write_table(table)
    return path


def refused(path, limits, monkeypatch, kind=LookalikeError):
    """Return the error about a file, of which no batch was unpacked."""

    def gather(*parts):
        raise AssertionError("unpacked")

    monkeypatch.setattr(files, "_gather", gather)
    with reading_at_most(limits), pytest.raises(kind) as caught:
        read_table(path)
    return str(caught.value)


@pytest.mark.parametrize("ending", ["arrow", "feather", "parquet"])
def test_rows_are_counted_before_they_are_unpacked(tmp_path, monkeypatch, ending):
    table = pa.table({"a": np.zeros(1_000_000), "b": np.zeros(1_000_000)})
    path = write(tmp_path / f"bomb.{ending}", table)
    assert path.stat().st_size < 60_000
    said = refused(path, ReadLimits(rows=500_000), monkeypatch, TooLarge)
    assert "at most 500,000 rows" in said
    assert "at most 1 columns" in refused(path, ReadLimits(columns=1), monkeypatch, TooLarge)
    said = refused(path, ReadLimits(unpacked=2**20), monkeypatch, TooLarge)
    assert "content of at most" in said


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_the_memory_limit_is_checked_before_files_are_unpacked(tmp_path, monkeypatch, ending):
    path = write(tmp_path / f"bomb.{ending}", pa.table({"a": np.zeros(1_000_000)}))
    with config(memory_limit="5MB"):
        assert "content of at most 5 MB" in refused(path, ReadLimits(), monkeypatch)


@pytest.mark.parametrize(
    "cells",
    [["x" * 100_000] * 1_000, [["x" * 10_000] * 10] * 1_000, [{"k": "x" * 100_000}] * 1_000],
    ids=["text", "lists", "records"],
)
def test_repeated_strings_of_parquet_are_measured(tmp_path, monkeypatch, cells):
    path = write(tmp_path / "bomb.parquet", pa.table({"a": cells}))
    assert path.stat().st_size < 20_000
    assert "100 MB and more" in refused(path, ReadLimits(unpacked=2**24), monkeypatch)


def test_measuring_repeated_strings_counts_no_row_twice(tmp_path):
    # As many rows as are allowed: those whose strings are measured were counted by the footer.
    cells = ["x" * 20_000, "y"] * 500
    path = write(tmp_path / "large.parquet", pa.table({"a": cells}))
    with reading_at_most(ReadLimits(rows=1_000, columns=1, unpacked=15_000_000)):
        assert len(read_table(path)) == 1_000


def test_a_column_without_a_buffer_is_counted(tmp_path, monkeypatch):
    path = write(tmp_path / "bomb.arrow", pa.table({"a": pa.nulls(5_000_000)}))
    assert path.stat().st_size < 1_000
    with config(memory_limit="2MB"):
        assert "content of at most 2 MB" in refused(path, ReadLimits(), monkeypatch)


def test_the_rows_of_all_batches_are_counted(tmp_path, monkeypatch):
    table = pa.table({"a": np.zeros(10)})
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
        writer.write_table(table)
    path = tmp_path / "twice.arrow"
    path.write_bytes(sink.getvalue())
    assert "at most 19 rows" in refused(path, ReadLimits(rows=19), monkeypatch)


@pytest.mark.parametrize("footer", [True, False])
def test_words_of_a_dictionary_are_no_rows_and_a_batch_may_be_empty(tmp_path, footer):
    words = pa.array([f"word {i}" for i in range(9)])
    codes = pa.DictionaryArray.from_arrays(pa.array([8, 0, 8], pa.int8()), words)
    batch = pa.record_batch({"a": codes, "b": [1.5, 2.5, 3.5]})
    path = tmp_path / ("t.arrow" if footer else "t.arrows")
    with (pa.ipc.new_file if footer else pa.ipc.new_stream)(path, batch.schema) as writer:
        for part in (batch[:0], batch, batch[:0]):
            writer.write_batch(part)
    for rows, fits in ((3, True), (2, False)):
        limits = reading_at_most(ReadLimits(rows=rows))
        with limits, nullcontext() if fits else pytest.raises(TooLarge, match="at most 2 rows"):
            check_ipc(pa.memory_map(str(path)), 2, path, footer=footer)


def views_of(length, n):
    """n views of one string."""
    one = pa.array(["x" * length]).cast(pa.string_view())
    buffers = [None, pa.py_buffer(one.buffers()[1].to_pybytes()[:16] * n), *one.buffers()[2:]]
    try:
        return pa.Array.from_buffers(pa.string_view(), n, buffers)
    except ValueError as error:
        pytest.skip(f"pyarrow {pa.__version__} makes no views of buffers: {error}")


@pytest.mark.parametrize("inside", ["", "struct", "list"])
def test_one_value_that_many_cells_refer_to_counts_for_each(tmp_path, inside):
    def column(length, n):
        cells = views_of(length, n)
        if inside == "struct":
            return pa.StructArray.from_arrays([cells], ["a"])
        if inside == "list":
            return pa.LargeListArray.from_arrays(pa.array(range(n + 1), pa.int64()), cells)
        return cells

    path = tmp_path / "t.arrow"
    for n, fits in ((1, True), (3_000, False)):
        batch = pa.record_batch({"a": column(10_000, n)})
        with pa.ipc.new_file(path, batch.schema) as writer:
            writer.write_batch(batch)
        limits = reading_at_most(ReadLimits(unpacked=2**22))
        with limits, nullcontext() if fits else pytest.raises(TooLarge, match="content of at most"):
            with pa.ipc.open_file(path) as file:
                assert len(files._gather([file.get_batch(0)], file.schema, path)) == n


RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"]))
LISTS = pa.array([[1], [2]], pa.list_view(pa.int64()))
UNION = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])


@pytest.mark.parametrize("cells", [RUNS, LISTS, UNION], ids=["runs", "lists", "union"])
@pytest.mark.parametrize("inside", [False, True])
def test_types_whose_cells_refer_to_values_are_named(tmp_path, cells, inside):
    cells = pa.StructArray.from_arrays([cells], ["a"]) if inside else cells
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, pa.schema([("tags", cells.type)])) as writer:
        writer.write_table(pa.table({"tags": cells}))
    for source in (path, {"tags": cells}):
        with pytest.raises(InvalidInput, match="Column 'tags': .*the Arrow type .*Cast"):
            read_table(source)


def test_files_within_the_limits_are_read(tmp_path):
    table = pa.table({"a": np.arange(2_000) * 1.5, "b": ["x", "yz"] * 1_000})
    limits = ReadLimits(rows=2_000, columns=2, unpacked=2**20)
    for ending in ("arrow", "feather", "parquet"):
        with reading_at_most(limits):
            assert len(read_table(write(tmp_path / f"t.{ending}", table))) == 2_000
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    with reading_at_most(limits):
        assert len(read_table(packed)) == 2_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\n" + "1,2\n" * 11),
        ("t.csv", "a,b\n" + '"1\n",2\n' * 11),
        ("t.jsonl", '{"a": 1}\n' * 11),
        ("t.csv.gz", "a,b\n" + "1,2\n" * 11),
    ],
)
def test_lines_are_counted_before_they_are_columns(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with reading_at_most(ReadLimits(rows=11)):
        assert len(read_table(path)) == 11
    with reading_at_most(ReadLimits(rows=10)), pytest.raises(TooLarge, match="at most 10 rows"):
        read_table(path)


def test_a_line_break_or_comma_in_quotes_is_not_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a,a,a",b\n' + '"1\n\n\n,,,",2\n' * 5)
    with reading_at_most(ReadLimits(rows=5, columns=2)):
        assert len(read_table(path)) == 5
    path.write_text("," * 5_000 + "\n")
    with reading_at_most(ReadLimits(rows=5, columns=20)), pytest.raises(TooLarge, match="20 col"):
        read_table(path)


COLUMNS = st.one_of(
    st.lists(st.none() | st.integers(-5, 5), min_size=6, max_size=6),
    st.lists(st.none() | st.text(max_size=9), min_size=6, max_size=6),
    st.lists(st.none() | st.lists(st.floats(), max_size=4), min_size=6, max_size=6),
)


@given(
    columns=st.lists(COLUMNS, min_size=1, max_size=4),
    compression=st.sampled_from([None, "lz4", "zstd"]),
    footer=st.booleans(),
    size=st.integers(1, 6),
)
def test_what_is_counted_is_what_is_read(tmp_path_factory, columns, compression, footer, size):
    table = pa.table({f"c{j}": pa.array(cells) for j, cells in enumerate(columns)})
    sink = pa.BufferOutputStream()
    kind = pa.ipc.new_file if footer else pa.ipc.new_stream
    how = pa.ipc.IpcWriteOptions(compression=compression)
    with kind(sink, table.schema, options=how) as writer:
        writer.write_table(table, max_chunksize=size)
    counted = []

    class Kept(Counter):
        def add(self, rows, columns, size):
            super().add(rows, columns, size)
            counted.append((rows, size))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.table.formats.sizes.Counter", Kept)
        path = tmp_path_factory.getbasetemp() / "any"
        path.touch()
        check_ipc(pa.BufferReader(sink.getvalue()), len(columns), path, footer=footer)
    read = pa.ipc.open_file if footer else pa.ipc.open_stream
    back = read(pa.BufferReader(sink.getvalue())).read_all()
    assert sum(rows for rows, _ in counted) == len(back)
    # Buffers that are compressed together with their padding may be a little larger.
    assert sum(size for _, size in counted) >= back.nbytes - 8 * len(counted) * len(columns)


@given(columns=st.lists(COLUMNS, min_size=1, max_size=20), size=st.integers(1, 6))
def test_the_footer_says_what_pyarrow_reads_in_it(columns, size):
    table = pa.table({f"c{j}": pa.array(cells) for j, cells in enumerate(columns)})
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, row_group_size=size)
    source = pa.BufferReader(sink.getvalue())
    footer = pyarrow.parquet.ParquetFile(source).metadata
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    names = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY"]
    wanted = [
        (
            group.num_rows,
            [
                (
                    names.index(chunk.physical_type),
                    chunk.path_in_schema,
                    chunk.num_values,
                    chunk.total_uncompressed_size,
                    chunk.has_dictionary_page,
                )
                for chunk in map(group.column, range(group.num_columns))
            ],
        )
        for group in groups
    ]
    read = [
        (group[3], [_chunk(chunk[3]) for chunk in group[1]])
        for group in _Compact(_read_footer(source)).struct()[4]
    ]
    assert read == wanted


def _chunk(about):
    """Return type, path, values, size and dictionary by the numbers of their fields."""
    return about.get(1, 0), b".".join(about[3]).decode(), about[5], about[6], 11 in about
