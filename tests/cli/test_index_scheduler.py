"""``lookalike index --scheduler``: mistakes are one line; clusters are in tests/scale."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.run import run
from lookalike.index.dask import connect

pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Do not wait ten seconds for an answer that never comes."""
    monkeypatch.setitem(connect.__wrapped__.__kwdefaults__, "timeout", 1.0)


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


@pytest.mark.parametrize("words", [("query", "--row", 0), ("add",), ("check",)], ids=lambda w: w[0])
def test_only_folders_are_shared_out(rows, tmp_path, words):
    verb, *options = words
    run("index", "build", rows, "-o", tmp_path / "one.lookalike")
    named = [rows] if verb == "add" else []
    done = run(
        "index",
        verb,
        tmp_path / "one.lookalike",
        *named,
        *options,
        "--scheduler",
        "tcp://unknown:1",
    )
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "--scheduler: needs the folder of an index" in line
    assert "index build FILES -o FOLDER" in line


@pytest.mark.parametrize("verb", ["query", "add", "check"])
def test_nobody_at_the_address_changes_nothing(rows, tmp_path, verb):
    folder = tmp_path / "index"
    run("index", "build", rows, "-o", folder, "--shards")
    words = {"query": ("--row", 0), "add": (rows,), "check": ()}[verb]
    done = run("index", verb, folder, *words, "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 1
    assert "an answer from the scheduler at tcp://127.0.0.1:1" in done.stderr
    # Lines are as wide as the terminal, so a long path may push the count to the next one.
    assert "3 rows" in " ".join(run("index", "check", folder).stdout.split())
