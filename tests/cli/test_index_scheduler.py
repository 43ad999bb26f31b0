"""``lookalike index build --scheduler``: mistakes are one line; clusters are in tests/scale."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.run import run

pytest.importorskip("distributed")


@pytest.fixture
def rows(tmp_path):
    pq.write_table(pa.table({"size": [1.0, 2.5, 4.0]}), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def test_a_scheduler_that_does_not_answer_is_named(rows, tmp_path):
    address = "tcp://127.0.0.1:1"
    done = run("index", "build", rows, "-o", tmp_path / "index", "--scheduler", address)
    assert done.exit_code == 1
    assert address in done.stderr
    assert "dask scheduler" in done.stderr
    assert not (tmp_path / "index" / "manifest.json").exists()


def test_a_table_that_workers_cannot_read_in_parts_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("size\n1\n2\n")
    words = ("-o", tmp_path / "index", "--scheduler", "tcp://127.0.0.1:1")
    done = run("index", "build", tmp_path / "rows.csv", *words)
    assert done.exit_code == 1
    assert "Parquet" in done.stderr
