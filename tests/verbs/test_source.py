"""The table of a verb: which of its rows, by filters as text and as JSON; saved indexes."""

import json
import subprocess
import sys

import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput, MissingFile
from lookalike.verbs.source import as_source, select_columns

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
        assert found["reason"].startswith("the measure of the saved index; columns are weighted to")


def test_a_list_of_operator_and_value_is_a_condition():
    """JSON has no pairs: [">=", 3] is read as one; other lists are cells of sets."""
    sets = [{"a", "b"}, {"b"}, {"c"}, {"a"}]
    table = la.read_table({"x": [1.0, 2.0, 3.0, 4.0], "y": list("abca"), "tags": sets})
    rows = as_source(table)
    assert rows.rows({"x": [">=", 3]}).ids == [2, 3]
    assert rows.rows('{"x": [">", 3]}').ids == [3]
    assert rows.rows({"tags": ["b", "a"]}).ids == [0]
    assert rows.rows({"y": ["in", ["b", "c"]]}).ids == [1, 2]
    assert rows.rows({}).ids == rows.rows(None).ids == [0, 1, 2, 3]
    assert rows.rows(lambda row: row["y"] == "a").ids == [0, 3]
    assert rows.rows([1, 2]).ids == [1, 2]


def test_columns_are_named_with_commas():
    table = la.read_table({"a": [1.0, 2.0], "b": [1.0, 2.0], "a, b": [3.0, 4.0]})
    assert list(select_columns(table, "a, b").names) == ["a, b"]  # the name of a column
    assert list(select_columns(table, "b,a").names) == ["b", "a"]
    assert select_columns(table, None) is table
    for columns in ("", "c", ["a", "c"]):
        with pytest.raises(InvalidInput, match="columns of the table"):
            select_columns(table, columns)


def test_a_missing_file_is_refused_before_anything_is_imported(tmp_path):
    """Reading and fitting import about a second of modules: a mistyped name need not wait."""
    code = (
        "import sys\n"
        "from lookalike.errors import MissingFile\n"
        "from lookalike.verbs import get_verb\n"
        "try:\n"
        f"    get_verb('search')({str(tmp_path / 'rowz.csv')!r}, 0)\n"
        "except MissingFile as error:\n"
        "    print(error, {'numpy', 'lookalike.table', 'lookalike.index'} & set(sys.modules))\n"
    )
    (tmp_path / "rows.csv").write_text(ROWS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "file not found. Did you mean" in done.stdout
    assert done.stdout.endswith("set()\n")


def test_what_may_exist_is_not_refused(tmp_path, file):
    for given in (
        file,
        str(file),
        tmp_path,
        f"{tmp_path}/*.csv",
        "row?.csv",
        "a[1].csv",
        {"a": [1]},
    ):
        as_source(given)
    for given in (tmp_path / "none.csv", f"{tmp_path}/none.lookalike", "~/none-of-these.csv"):
        with pytest.raises(MissingFile, match="file not found"):
            as_source(given)
