"""Where a table comes from: files, standard input, a saved index; and which of its rows."""

import csv
import io
import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from cli.run import PLAIN, run
from lookalike.cli.app import app
from lookalike.cli.reading import FileSource, ending_of, need_shards
from lookalike.errors import InvalidInput

ROWS = "id,size,color,tags\na,1.5,red,x;y\nb,2.5,blue,y\nc,2.0,red,\nd,9.0,,x;z\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def answer(*words):
    done = run(*words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def one_line(*words):
    done = run(*words)
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    (line,) = done.stderr.splitlines()
    return line


def piped(data, *words):
    done = CliRunner().invoke(app, list(map(str, words)), input=data, env=PLAIN)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_standard_input_is_a_table_of_any_form(tmp_path, form):
    records = list(csv.DictReader(io.StringIO(ROWS)))
    if form == "parquet":
        path = tmp_path / "a.parquet"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), path)
        data = path.read_bytes()
    else:
        data = {
            "csv": ROWS,
            "tsv": ROWS.replace(",", "\t"),
            "json": json.dumps(records),
            "jsonl": "\n".join(map(json.dumps, records)),
        }[form].encode()
    code, out, _ = piped(data, "inspect", "-", "--output", "json")
    assert code == 0
    result = json.loads(out)
    assert result["rows"] == 4
    assert {one["column"] for one in result["columns"]} == {"id", "size", "color", "tags"}
    code, out, _ = piped(data, "inspect", "-")
    assert out.startswith("standard input: 4 rows, 4 columns")


def test_what_is_wrong_with_standard_input_is_said_without_a_path():
    code, out, err = piped(b"a,b\n1,\xe9\n", "inspect", "-")
    assert (code, out) == (1, "")
    assert err.startswith("standard input: needs text in UTF-8")
    assert "--encoding latin-1" in err
    code, out, err = piped(b"", "inspect", "-")
    assert (code, out) == (1, "")
    assert "an empty file" in err


def test_endings():
    assert ending_of(b"\x1f\x8b123") == ".csv.gz"
    assert ending_of(b"\xef\xbb\xbf [1]") == ".json"
    assert ending_of(b'{"a":\n1}') == ".json"


def test_encoding_delimiter_and_sets(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe|tags\n1|rot+grün\n2|grün\n3|rot\n".encode("latin-1"))
    assert "--encoding latin-1" in one_line("inspect", path)
    words = ("inspect", path, "--encoding", "latin-1", "--delimiter", "|")
    result = {one["column"]: one for one in answer(*words)["columns"]}
    assert list(result) == ["größe", "tags"]
    result = {one["column"]: one for one in answer(*words, "--split", "tags=+")["columns"]}
    assert result["tags"]["kind"] == "set"
    assert result["tags"]["distinct"] == 2
    assert "one character" in one_line("inspect", path, "--delimiter", "||")
    assert "COLUMN=CHAR" in one_line("inspect", path, "--split", "tags")


def test_other_words_for_kinds_are_understood(file):
    assert "Did you mean 'order'?" in one_line("inspect", file, "--kinds", "color=ordinal")
    line = one_line("inspect", file, "--kinds", "id=id")
    assert line.startswith("--kinds id=id: needs a known kind")
    assert "'name' or 'code'" in line


@pytest.fixture
def saved(tmp_path, file):
    path = tmp_path / "rows.lookalike"
    words = ("index", "build", file, "-o", path, "--id-column", "id", "--measure", "gower", "-q")
    assert run(*words).exit_code == 0
    return path


def test_what_a_saved_index_refuses(saved, file, tmp_path):
    assert "when the index is built" in one_line("inspect", saved, "--kinds", "size=category")
    assert "which has its own" in one_line("search", saved, "--row", "a", "--measure", "ranked")
    assert "the id or the name of a row" in one_line("search", saved, "--row", "zz")
    assert "file not found" in one_line("inspect", tmp_path / "none.lookalike")


@pytest.mark.parametrize(
    "words",
    [
        ("inspect",),
        ("search", "--row", "0"),
        ("cluster", "-n", "2"),
        ("outliers",),
        ("hubs", "-k", "1"),
        ("compare", "--measures", "gower", "-k", "1"),
    ],
)
def test_parquet_says_what_csv_says(file, words, tmp_path):
    verb, *rest = words
    text = run(verb, file, *rest, "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(text.stdout)))
    done = run(verb, file, *rest, "--output", tmp_path / "answer.parquet")
    assert (text.exit_code, done.exit_code, done.stdout) == (0, 0, "")
    table = pyarrow.parquet.read_table(tmp_path / "answer.parquet")
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows)


def test_standard_input_exists_and_a_mistyped_file_does_not(file, tmp_path):
    FileSource("-").check_exists()
    FileSource(str(file)).check_exists()
    done = run("search", tmp_path / "rowz.csv", "--row", 0)
    assert done.exit_code == 1
    assert "file not found. Did you mean" in done.stderr
    done = run("hubs", tmp_path / "none.csv", "-o", tmp_path / "page.html")
    assert "none.csv" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_workers_need_the_folder_of_an_index(tmp_path):
    for path in (tmp_path, tmp_path / "rows.csv"):
        with pytest.raises(InvalidInput) as caught:
            need_shards(str(path))
        assert str(caught.value) == (
            "--scheduler: needs the folder of an index, whose shards are distributed, found "
            f"{str(path)!r}. Make one with: lookalike index build FILES -o FOLDER --shards."
        )
    (tmp_path / "manifest.json").touch()
    assert need_shards(str(tmp_path)) is None
