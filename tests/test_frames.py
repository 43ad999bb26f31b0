"""Verbs of data frames, and Arrow streams in and out."""

import inspect
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lookalike as la
import lookalike.frames
from lookalike.verbs import VERBS

PETS = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
FRAMES = {
    "pandas": pd.DataFrame(PETS),
    "polars": pl.DataFrame(PETS),
    "lazy polars": pl.LazyFrame(PETS),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_has_the_verbs(library):
    asked = FRAMES[library].lookalike
    assert asked.search(0, k=2).ids == la.search(PETS, 0, k=2).ids
    assert asked.explain(0, 2).to_dict() == la.explain(PETS, 0, 2).to_dict()
    assert set(VERBS) <= set(dir(asked))


def test_the_methods_show_the_signature_without_the_table():
    search = FRAMES["pandas"].lookalike.search
    own = list(inspect.signature(la.search).parameters)
    assert list(inspect.signature(search).parameters) == own[1:]
    assert search.__doc__ == la.search.__doc__


def test_an_unknown_verb_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no verb 'serch'"):
        FRAMES["pandas"].lookalike.serch  # noqa: B018  the attribute is what fails


def test_importing_the_library_alone_imports_no_frames():
    code = "import sys, lookalike; print(sorted({'pandas', 'polars'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Stream:
    """Anything that exports an Arrow C stream and is no frame."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_arrow_streams_are_tables():
    table = pa.table(PETS)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for source in (Stream(table), reader, duckdb.from_arrow(table)):
        assert la.search(source, 0, k=3).ids == la.search(PETS, 0, k=3).ids


def test_ibis_tables_are_tables():
    ibis = pytest.importorskip("ibis", reason="needs ibis: pip install 'ibis-framework[duckdb]'")
    table = ibis.memtable(pa.table(PETS)).order_by("weight")
    rows = {name: [cells[i] for i in (0, 2, 3, 1)] for name, cells in PETS.items()}
    assert la.search(table, 0, k=3).to_dict() == la.search(rows, 0, k=3).to_dict()
    assert la.join(table, table).to_dict() == la.join(rows, rows).to_dict()
    assert ibis.memtable(pa.table(la.inspect(table))).count().to_pyarrow().as_py() == 2


def test_results_are_arrow_streams():
    hits = la.search(PETS, 0, k=2)
    expected = hits.to_frame("pyarrow")
    assert pa.table(hits).equals(expected)
    assert duckdb.sql("SELECT id FROM hits").fetchall() == [(id,) for id in hits.ids]
    assert la.read_table(la.inspect(PETS)).to_frame("pyarrow").num_rows == 2
    assert pa.table(la.read_table(PETS)).column_names == list(PETS)
