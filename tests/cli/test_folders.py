"""An index in a folder from the command line: built, asked, added to, checked, repaired."""

import json

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from cli.run import run
from table.parts import cut


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
