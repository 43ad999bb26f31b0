"""Where a table comes from: files, standard input, a saved index; and which of its rows."""

import csv
import io
import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from cli.run import PLAIN, run
from lookalike.cli.app import app
from lookalike.cli.reading import ending_of

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


# -- standard input -------------------------------------------------------------------------------


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
    told = json.loads(out)
    assert told["rows"] == 4
    assert {one["column"] for one in told["columns"]} == {"id", "size", "color", "tags"}
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


# -- how a file is read ---------------------------------------------------------------------------


def test_encoding_delimiter_and_sets(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe|tags\n1|rot+grün\n2|grün\n3|rot\n".encode("latin-1"))
    assert "--encoding latin-1" in one_line("inspect", path)
    words = ("inspect", path, "--encoding", "latin-1", "--delimiter", "|")
    told = {one["column"]: one for one in answer(*words)["columns"]}
    assert list(told) == ["größe", "tags"]
    told = {one["column"]: one for one in answer(*words, "--split", "tags=+")["columns"]}
    assert told["tags"]["kind"] == "set"
    assert told["tags"]["distinct"] == 2
    assert "one character" in one_line("inspect", path, "--delimiter", "||")
    assert "COLUMN=CHAR" in one_line("inspect", path, "--split", "tags")


def test_other_words_for_kinds_are_understood(file):
    assert "Did you mean 'order'?" in one_line("inspect", file, "--kinds", "color=ordinal")
    line = one_line("inspect", file, "--kinds", "id=id")
    assert line.startswith("--kinds id=id: needs a known kind")
    assert "'name' or 'code'" in line


# -- which rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "rows"),
    [
        (["size>=2"], [1, 2, 3]),
        (["size>=2", "size < 9"], [1, 2]),
        (["color=red"], [0, 2]),
        (["color!=red"], [1]),
        (["color="], [3]),
        (["color!="], [0, 1, 2]),
        (["tags~x"], [0, 3]),
        (['{"size": {"in": [1.5, 9]}}'], [0, 3]),
    ],
)
def test_filters_choose_rows_and_keep_their_numbers(file, conditions, rows):
    words = [word for condition in conditions for word in ("--filter", condition)]
    found = answer("outliers", file, "--split", "tags=;", "-n", 9, *words)
    assert sorted(one["id"] for one in found["outliers"]) == rows


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        ("size", "COLUMN, an operator and a value"),
        ("siez>3", "Did you mean 'size'?"),
        ("size>90", "none of 4"),
        ("color>3", "a column of numbers or ordered levels"),
        ("{1}", "JSON object"),
    ],
)
def test_wrong_filters_are_one_line(file, condition, complaint):
    assert complaint in one_line("inspect", file, "--filter", condition)


def test_a_name_with_an_operator_in_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,a>b\n1,5\n2,6\n3,9\n")
    assert answer("inspect", path, "--filter", "a>b>=6")["rows"] == 2


def test_search_filters_what_is_found_not_what_is_asked(file):
    found = answer("search", file, "--row", 3, "--filter", "color=red", "-k", 9)
    assert [hit["id"] for hit in found["hits"]] == [2, 0]


def test_marks_change_the_list(file):
    words = ("search", file, "--columns", "size", "-k", 1)
    assert answer(*words, "--row", 0)["hits"][0]["id"] == 2
    assert answer(*words, "--row", 0, "--like", 1, "--like", 3)["hits"][0]["id"] == 2
    assert answer(*words, "--row", 2, "--unlike", 0)["hits"][0]["id"] == 1
    assert answer(*words, "--like", 0)["query"]["id"] == 0
    assert "a row from 0 to 3" in one_line(*words, "--row", 0, "--unlike", 9)


# -- a saved index in place of a table ------------------------------------------------------------


@pytest.fixture
def saved(tmp_path, file):
    path = tmp_path / "rows.lookalike"
    words = ("index", "build", file, "-o", path, "--id-column", "id", "--measure", "gower", "-q")
    assert run(*words).exit_code == 0
    return path


def test_a_saved_index_answers_like_its_table(saved, file):
    mine = answer("search", saved, "--row", "a", "-k", 3)
    theirs = answer("search", file, "--row", 0, "-k", 3, "--measure", "gower")
    names = "abcd"
    assert [hit["id"] for hit in mine["hits"]] == [names[h["id"]] for h in theirs["hits"]]
    assert [h["distance"] for h in mine["hits"]] == [h["distance"] for h in theirs["hits"]]


@pytest.mark.parametrize(
    "words",
    [
        ("inspect",),
        ("cluster", "-n", "2"),
        ("hubs", "-k", "1"),
        ("outliers", "--method", "neighbors:k=2"),
        ("compare", "--measures", "gower", "-k", "1"),
    ],
)
def test_a_saved_index_is_taken_wherever_a_table_is(saved, words):
    verb, *rest = words
    found = answer(verb, saved, *rest)
    if verb == "outliers":
        assert {one["id"] for one in found["outliers"]} == set("abcd")
    if verb == "cluster":
        assert found["ids"] == list("abcd")
        assert found["reason"] == "the measure of the saved index"


def test_what_a_saved_index_refuses(saved, file, tmp_path):
    assert "when the index is built" in one_line("inspect", saved, "--kinds", "size=category")
    assert "which has its own" in one_line("search", saved, "--row", "a", "--measure", "ranked")
    assert "the id of a row" in one_line("search", saved, "--row", "zz")
    assert "file not found" in one_line("inspect", tmp_path / "none.lookalike")


# -- forms of the answer --------------------------------------------------------------------------


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
def test_parquet_says_what_csv_says(file, words):
    verb, *rest = words
    text = run(verb, file, *rest, "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(text.stdout)))
    done = run(verb, file, *rest, "--output", "parquet")
    assert (text.exit_code, done.exit_code) == (0, 0)
    table = pyarrow.parquet.read_table(io.BytesIO(done.stdout_bytes))
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows)


def test_quiet_leaves_errors_and_the_answer(file, tmp_path):
    words = ("search", file, "--row", 0, "-k", 9, "--measure", "ranked")
    loud, still = run(*words), run(*words, "--quiet")
    assert "leaves out" in loud.stderr
    assert "rows can be found" in loud.stdout
    assert still.stderr == ""
    assert still.stdout == loud.stdout
    assert "file not found" in run("inspect", tmp_path / "x.csv", "-q").stderr


def test_memory_is_an_option(file):
    assert "--memory: needs a number of bytes, or a size" in one_line(
        "inspect", file, "--memory", "much"
    )
    assert run("inspect", file, "--memory", "1GB").exit_code == 0
