"""An index in a file: built, added to, shown, on a cluster; a failed command changes nothing."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from cli.run import run
from lookalike.index.dask import connect
from table.parts import cut

ROWS = "id,size,color\na,1,red\nb,2,blue\nc,3,red\nd,4,blue\n"


@pytest.fixture
def saved(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    path = tmp_path / "rows.lookalike"
    words = (tmp_path / "rows.csv", "-o", path, "--id-column", "id", "--weight", "size=3")
    done = run("index", "build", *words, "--measure", "gower")
    assert done.exit_code == 0, done.output
    assert "4 rows" in done.stdout
    return path


def test_what_is_built_is_an_index(saved):
    index = la.load(saved)
    assert isinstance(index, la.Index)
    assert index.ids == list("abcd")
    assert index.measure_.weights == {"size": 3.0}
    assert run("search", saved, "--row", "a", "-k", 1, "-q").exit_code == 0


def test_rows_are_added(saved, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("id,size,color\ne,2.5,red\n")
    done = run("index", "add", saved, more)
    assert done.exit_code == 0, done.output
    assert "1 row added, 5 in all" in done.stdout
    assert la.load(saved).ids == list("abcde")
    assert run("index", "add", saved, more).exit_code == 1  # e is there
    assert la.load(saved).ids == list("abcde")
    more.write_text("id,size,color\nf,2.5,red\n")
    assert run("index", "add", saved, more, "--refit").exit_code == 0
    assert la.load(saved).ids == list("abcdef")


def test_rows_are_deleted_then_dropped_for_good(saved):
    assert "2 rows deleted, 2 left" in read(run("index", "delete", saved, "a", "c"))
    text = read(run("index", "compact", saved))
    assert text.endswith("2 rows in 1 part (1 before), 2 rows dropped for good")
    assert la.load(saved).ids == ["b", "d"]
    assert "0 rows dropped for good" in read(run("index", "compact", saved))


def read(done):
    """Return what a command printed in one line: headlines wrap where a path is long."""
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def test_info_and_check(saved):
    result = json.loads(run("index", "info", saved, "--output", "json").stdout)
    assert (result["rows"], result["measure"], result["id_column"]) == (4, "Gower", "id")
    assert [one["column"] for one in result["columns"]] == ["size", "color", "id"]
    assert "compared by Gower" in read(run("index", "info", saved))
    assert "the file is whole, 4 rows" in read(run("index", "check", saved))
    saved.write_bytes(saved.read_bytes()[:-60])
    done = run("index", "check", saved)
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1


def test_info_is_about_all_rows(saved, tmp_path):
    """Rows that were added count, those that were deleted do not."""

    def summary():
        return " ".join(run("index", "info", saved).stdout.split())

    more = tmp_path / "more.csv"
    more.write_text("id,size,color\ne,7,red\n")
    assert run("index", "add", saved, more).exit_code == 0
    assert "5 rows, 3 columns" in summary()
    assert "1 to 7" in summary()
    assert run("index", "delete", saved, "a", "b").exit_code == 0
    assert "3 rows, 3 columns" in summary()
    assert "3 to 7" in summary()


def test_mistakes_are_one_line(saved, tmp_path):
    rows = tmp_path / "rows.csv"
    for words, complaint in [
        (("build", rows, "-o", tmp_path / "x"), "a name that ends in .lookalike"),
        (("build", rows, "-o", tmp_path / "no" / "x.lookalike"), "a folder that exists"),
        (("info", rows), "a saved index"),
        (("check", tmp_path / "none.lookalike"), "file not found"),
        (("add", saved, tmp_path / "none.csv"), "file not found"),
    ]:
        done = run("index", *words)
        assert (done.exit_code, done.stdout) == (1, ""), words
        (line,) = done.stderr.splitlines()
        assert complaint in line
    model = tmp_path / "model.lookalike"
    la.measures.Gower().fit({"a": [1, 2, 3]}).save(model)
    assert "a saved Gower" in run("inspect", model).stderr


# -- in a folder -----------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    n = 60
    rows = {
        "code": [f"c{at:03d}" for at in range(n)],
        "size": np.arange(n) * 7 % 31 * 1.0,
        "color": [["red", "blue"][at % 2] for at in range(n)],
    }
    return cut(pa.table(rows), tmp_path / "rows", [20, 45])


def ask(*words):
    done = run(*words)
    assert done.exit_code == 0, done.output
    return done


def test_from_files_to_answers(files, tmp_path):
    folder = tmp_path / "index"
    paths = sorted(files.iterdir())
    done = ask("index", "build", *paths, "-o", folder, "--id-column", "code", "--measure", "gower")
    assert "60 rows of 3 files, compared by Gower" in " ".join(done.stdout.split())
    assert "bytes per row" in done.stdout
    assert "rows/s" in done.stdout
    assert "shard 1: 60 rows" in done.stderr
    words = ("--row", "c003", "-k", 2, "--filter", "size>3", "--output", "json", "-q")
    found = json.loads(ask("search", folder, *words).stdout)
    index = la.Index.open(folder)
    assert [hit["id"] for hit in found["hits"]] == index.search(
        "c003", k=2, filter={"size": (">", 3)}
    ).ids
    more = tmp_path / "more.csv"
    more.write_text("code,size,color\nx1,3,red\nx2,4,blue\n")
    assert "2 rows added, 62 in all" in ask("index", "add", folder, more).stdout
    assert "1 row deleted, 61 left" in ask("index", "delete", folder, "x1").stdout
    assert "61 rows in 2 shards" in " ".join(ask("index", "check", folder).stdout.split())
    assert "61 rows in 2 shards" in " ".join(ask("index", "info", folder).stdout.split())
    assert json.loads(ask("index", "info", folder, "--output", "json").stdout)["rows"] == 61
    before = ask("search", folder, *words).stdout
    result = ask("index", "compact", folder).stdout
    assert "61 rows in 2 parts (2 before), 1 row dropped for good" in " ".join(result.split())
    assert ask("search", folder, *words).stdout == before
    assert "0 rows dropped" in " ".join(ask("index", "compact", folder).stdout.split())
    assert "61 rows in 2 shards" in " ".join(ask("index", "check", folder).stdout.split())
    assert run("index", "add", folder, more, "--refit").exit_code == 1
    assert run("index", "delete", folder, "unknown").exit_code == 1


def test_one_file_is_called_one(files, tmp_path):
    path = sorted(files.iterdir())[0]
    done = ask("index", "build", path, "-o", tmp_path / "index", "--shards", "--measure", "gower")
    assert "20 rows of 1 file, compared by Gower" in " ".join(done.stdout.split())


def test_damage_is_found_and_repaired(files, tmp_path):
    folder = tmp_path / "index"
    ask("index", "build", files, "-o", folder, "-q")
    path = folder / "shards" / "000000" / "0.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    done = run("index", "check", folder)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--repair" in done.stderr
    shown = ask("index", "check", folder, "--repair").stdout
    assert "1 of 1 shards written again" in " ".join(shown.split())
    ask("index", "check", folder)


def test_a_folder_by_request_and_mistakes(tmp_path, files):
    (tmp_path / "rows.csv").write_text("size,color\n1,red\n2,blue\n3,red\n")
    ask("index", "build", tmp_path / "rows.csv", "--shards", "-o", tmp_path / "one", "-q")
    assert len(la.Index.open(tmp_path / "one")) == 3
    columns = ("--columns", "size", "--weight", "size=2")
    ask("index", "build", files, "-o", tmp_path / "two", *columns, "-q")
    index = la.Index.open(tmp_path / "two")
    assert list(index.schema_.kinds) == ["size"]
    assert index.measure_.weights == {"size": 2.0}
    for words in (
        (files, "-o", tmp_path / "three", "--filter", "size>1"),
        (files, "-o", tmp_path / "three", "--measure", "mutual_proximity"),
        (files, "-o", tmp_path / "three", "--measure", "ranked", "--weight", "size=2"),
        (files, "-o", tmp_path / "two"),  # another build is there
        (tmp_path / "rows.csv", files, "-o", tmp_path / "three"),
    ):
        done = run("index", "build", *words)
        assert (done.exit_code, done.stdout) == (1, ""), words
    (tmp_path / "half" / "shards").mkdir(parents=True)
    (tmp_path / "half" / "plan.json").write_text("{}")
    done = run("search", tmp_path / "half", "--row", "1")
    assert done.exit_code == 1
    assert "a finished build" in done.stderr


# -- on a cluster ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("words", ["index add", "index check"])
def test_only_folders_are_shared_out(rows, tmp_path, words):
    run("index", "build", rows, "-o", tmp_path / "one.lookalike")
    more = (rows,) if words == "index add" else ()
    scheduler = ("--scheduler", "tcp://unknown:1")
    done = run(*words.split(), tmp_path / "one.lookalike", *more, *scheduler)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "--scheduler: needs the folder of an index" in line
    assert "index build FILES -o FOLDER" in line


@pytest.mark.parametrize("words", ["index add", "index check"])
def test_an_address_without_a_scheduler_changes_nothing(rows, tmp_path, words):
    folder = tmp_path / "index"
    run("index", "build", rows, "-o", folder, "--shards")
    more = (rows,) if words == "index add" else ()
    done = run(*words.split(), folder, *more, "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 1
    assert "an answer from the scheduler at tcp://127.0.0.1:1" in done.stderr
    # Lines are as wide as the terminal, so a long path may push the count to the next one.
    assert "3 rows" in " ".join(run("index", "check", folder).stdout.split())
