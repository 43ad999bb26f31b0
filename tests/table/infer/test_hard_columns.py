"""The same cells from every source: one kind, one reason, the same values, and the right ones."""

import json
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lookalike.table import as_table, read_table
from table.hard_columns import CASES


def _csv(columns, folder, delimiter=","):
    path = folder / ("t.tsv" if delimiter == "\t" else "t.csv")
    lines = [delimiter.join(f'"{name}"' for name in columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(delimiter.join("" if cell is None else f'"{cell}"' for cell in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _bare_csv(columns, folder):
    """Quotes only where a cell needs them."""
    pd.DataFrame(columns, dtype=object).to_csv(folder / "bare.csv", index=False)
    return folder / "bare.csv"


def _tsv(columns, folder):
    return _csv(columns, folder, "\t")


def _records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _json(columns, folder):
    path = folder / "t.json"
    path.write_text(json.dumps(_records(columns)))
    return path


def _lines(columns, folder):
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in _records(columns)) + "\n")
    return path


def _parquet(columns, folder):
    pyarrow.parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def _feather(columns, folder):
    pyarrow.feather.write_feather(pa.table(columns), folder / "t.feather")
    return folder / "t.feather"


def _pandas(dtype):
    return lambda columns, folder: pd.DataFrame(columns, dtype=dtype)


def _arrow_pandas(columns, folder):
    return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)


def _duckdb(columns, folder):
    held = pa.table(columns)  # noqa: F841, named in the query
    return duckdb.sql("select * from held")


SOURCES = {
    "csv": _csv,
    "csv without quotes": _bare_csv,
    "tsv": _tsv,
    "json": _json,
    "jsonl": _lines,
    "parquet": _parquet,
    "feather": _feather,
    "arrow": lambda columns, folder: pa.table(columns),
    "pandas object": _pandas(object),
    "pandas string": _pandas("string"),
    "pandas category": _pandas("category"),
    "pandas arrow": _arrow_pandas,
    "polars": lambda columns, folder: pl.DataFrame(columns),
    "duckdb": _duckdb,
    "records": lambda columns, folder: _records(columns),
}


# Those that have types, where digits kept as text were a choice of the user.
UNTYPED = ("csv", "csv without quotes", "tsv", "json", "jsonl", "records")


def _is_choice(case):
    """Whether the cells are digits that a source with types could have kept as numbers."""
    present = [cell.strip() for cell in case.cells if cell and cell.strip()]
    plain = all(re.fullmatch(r"0|[1-9]\d{0,17}", cell) for cell in present)
    return bool(present) and plain and case.label != "date"


def _cells(column):
    cells = [column.cell(row) for row in range(len(column))]
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]


PARTS = 8  # tests that share the cases, so that several processes can


@pytest.mark.parametrize("part", range(PARTS))
def test_hard_columns(part, tmp_path):
    # Each source meets a fifth of the columns, each column a fifth of the sources.
    for position, case in enumerate(CASES[part::PARTS]):
        assert_hard_column(case, list(SOURCES)[position % 5 :: 5], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_hard_columns_from_every_source(part, tmp_path):
    for case in CASES[part::PARTS]:
        assert_hard_column(case, SOURCES, tmp_path)


def assert_hard_column(case, sources, folder):
    columns = {case.name: case.cells, "anchor": [f"a{i % 2}" for i in range(len(case.cells))]}
    table = read_table(columns)
    assert_as_expected(case, table)
    for source in sources:
        found = read_table(SOURCES[source](columns, folder))
        if _is_choice(case) and source not in UNTYPED:
            assert_names(case, found, source)
        else:
            assert_same_column(case, found, table, source)
    assert_new_rows_are_read_alike(case, columns, table)


def assert_as_expected(case, table):
    column = table[case.name]
    kind = column.kind
    assert (kind.label, case.name not in table) == (case.label, case.aside), (case, str(kind))
    if case.close is not None:
        assert kind.close == case.close, case
    if case.note is not None:
        assert case.note in kind.note if case.note else not kind.note, case
    if case.values is not None:
        assert _cells(column)[: len(case.values)] == case.values, case
    assert 0 < kind.confidence <= 1, case


def assert_same_column(case, found, expected, source):
    other, column = found[case.name], expected[case.name]
    for part in ("label", "reason", "close", "note", "levels"):
        assert getattr(other.kind, part) == getattr(column.kind, part), (case, source, part)
    assert _cells(other) == _cells(column), (case, source)


def assert_names(case, found, source):
    """Digits kept as text are names: categories, identifiers where no two are the same."""
    kind = found[case.name].kind
    assert kind.role in ("code", "identifier", "constant"), (case, source, kind)
    if kind.role != "constant":
        assert "kept as text where numbers could be" in kind.reason, (case, source)
        assert f"kinds={{{case.name!r}: 'number'}}" in kind.note, (case, source)
    assert _cells(found[case.name]) == case.cells, (case, source)


def assert_new_rows_are_read_alike(case, columns, table):
    again = as_table(_records(columns), table.schema)
    assert again.names == table.names, case
    if not case.aside:
        assert _cells(again[case.name]) == _cells(table[case.name]), case
        one = as_table(_records(columns)[0], table.schema)
        assert _cells(one[case.name]) == _cells(table[case.name])[:1], case


def test_there_are_enough_hard_columns():
    assert len(CASES) >= 100
