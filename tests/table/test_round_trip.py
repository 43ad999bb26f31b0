"""A table written to a file and read again is the same table."""

import csv
import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.table import as_table, read_table

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]))
NUMBERS = st.floats(allow_nan=False, width=64)
WHOLE = st.integers(-(2**53), 2**53)
LISTS = {
    "tokens": st.lists(st.sampled_from(["a", "b", "c"]), max_size=4),
    "numbers": st.lists(NUMBERS, max_size=4),
}


@st.composite
def tables(draw, lists):
    """Columns of one to six rows, with gaps; at least one cell of each column is there."""
    n = draw(st.integers(1, 6))
    kinds = {
        "number": NUMBERS,
        "whole": WHOLE,
        "word": WORDS.filter(str.strip),
        "flag": st.booleans(),
    }
    if lists:
        kinds |= LISTS
    names = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=2, max_size=5))
    data = {}
    for i, name in enumerate(names):
        cells = draw(st.lists(kinds[name] | st.none(), min_size=n, max_size=n))
        if all(cell is None for cell in cells):
            cells[0] = draw(kinds[name])
        data[f"c{i}"] = cells
    return data


def assert_same_table(one, other):
    assert one.names == other.names
    assert one.schema == other.schema
    for column in one:
        for row in range(len(one)):
            left, right = column.cell(row), other[column.name].cell(row)
            if isinstance(left, np.ndarray):
                np.testing.assert_array_equal(left, right)
            else:
                assert left == right


@given(tables(lists=True))
@settings(max_examples=60, deadline=None)
def test_parquet(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "round.parquet"
    columns = {name: pa.array(cells) for name, cells in data.items()}
    pyarrow.parquet.write_table(pa.table(columns), path)
    # Compared with a source that has types too: there, digits kept as text are names.
    assert_same_table(read_table(pa.table(columns)), read_table(path))


def as_written(cells):
    """Say how Python's csv module writes a column, gaps as nothing."""
    return ["" if cell is None else cell for cell in cells]


@given(tables(lists=False), st.sampled_from([",", ";", "\t"]))
@settings(max_examples=60, deadline=None)
def test_csv(tmp_path_factory, data, delimiter):
    path = tmp_path_factory.getbasetemp() / "round.csv.gz"
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(data)
    writer.writerows(zip(*map(as_written, data.values()), strict=True))
    path.write_bytes(gzip.compress(text.getvalue().encode()))
    assert_same_table(read_table(data), read_table(path))


@given(tables(lists=True), st.data())
@settings(max_examples=60, deadline=None)
def test_rows_read_again_by_the_schema_are_the_same_rows(data, draw):
    table = read_table(data)
    row = draw.draw(st.integers(0, len(table) - 1))
    one = as_table(table.record(row), table.schema)
    assert_same_table(one, table[[row]])
