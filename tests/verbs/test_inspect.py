"""What inspect says about columns, against facts counted by hand."""

import csv
import io
import json

import pytest

from cli.run import run

RECORDS = [
    {"id": 1, "name": "Old brick house", "price": 10, "tags": ["a", "b"], "v": [1, 2, 3]},
    {"id": 2, "name": "New tower flat", "price": None, "tags": ["b"], "v": [3, 2, 1]},
    {"id": 3, "name": "Garden shed, red", "price": None, "tags": [], "v": [0, 5, 1]},
    {"id": 4, "name": "A boat house", "price": None, "tags": ["b"], "v": None},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)))
    return path


def test_json_has_every_fact(file):
    done = run("inspect", file, "--output", "json")
    assert done.exit_code == 0
    answer = json.loads(done.stdout)
    assert (answer["file"], answer["rows"]) == (str(file), 4)
    result = {one["column"]: one for one in answer["columns"]}
    assert list(result) == ["name", "price", "tags", "v", "id"]
    price = result["price"]
    assert (price["kind"], price["missing"], price["missing_share"]) == ("number", 3, 0.75)
    assert (price["distinct"], price["low"], price["high"]) == (1, 10, 10)
    assert price["warnings"] == ["mostly missing: 3 of 4 cells"]
    assert result["tags"]["distinct"] == 2
    assert result["tags"]["low"] is None
    assert result["v"]["missing"] == 1
    assert not result["id"]["compared"]
    assert result["id"]["warnings"] == [f"set aside: {result['id']['reason']}"]
    assert result["name"]["reason"].startswith("4 distinct strings in 4 rows")


def test_csv_has_one_row_per_column(file):
    done = run("inspect", file, "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["column"] for row in rows] == ["name", "price", "tags", "v", "id"]
    assert rows[1]["missing_share"] == "0.75"
    assert rows[1]["compared"] == "true"
    assert rows[2]["low"] == ""


def test_table_shows_kinds_reasons_and_warnings(file):
    out = run("inspect", file).stdout
    assert f"{file}: 4 rows, 5 columns" in " ".join(out.split())
    assert "b 75%, a 25%" in out
    assert "lists of strings without a repeat" in " ".join(out.split())
    assert "! price: mostly missing" in out
    assert "(aside)" in out


def test_kinds_and_missing_tokens(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("zip,size,x\n01,S,1\n02,L,?\n01,M,-9\n02,S,4\n")
    words = ["--kinds", "zip=category", "--kinds", '{"size": ["S", "M", "L"]}']
    words += ["--missing", "?", "--missing", "-9", "--output", "json"]
    result = json.loads(run("inspect", path, *words).stdout)["columns"]
    assert [one["kind"] for one in result] == ["category", "order", "number"]
    assert result[2]["missing"] == 2
    words = ["--kinds", 'size=["S", "M", "L"]', "--kinds", "x=aside", "--output", "json"]
    result = json.loads(run("inspect", path, *words).stdout)["columns"]
    assert [one["kind"] for one in result[:2]] == ["code", "order"]
    assert [one["column"] for one in result if not one["compared"]] == ["x"]


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("size", "needs COLUMN=KIND or a JSON object, found 'size'"),
        ("=category", "needs COLUMN=KIND"),
        ("siez=category", "Did you mean 'size'?"),
        ("size=categry", "Did you mean 'category'?"),
        ("{'size': 1}", "Put names and strings in double quotes"),
        ("size=[S, M]", "needs a JSON list"),
        ("[1]", "needs COLUMN=KIND"),
        ('{"size": 3}', "needs the name of a kind"),
    ],
)
def test_wrong_kinds_are_one_line(tmp_path, word, complaint):
    path = tmp_path / "rows.csv"
    path.write_text("size,x\nS,1\nL,2\n")
    done = run("inspect", path, "--kinds", word)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert complaint in line


def test_an_empty_column_is_described(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,\n2,\n")
    result = json.loads(run("inspect", path, "--output", "json").stdout)["columns"]
    assert result[1]["warnings"] == ["set aside: every cell is missing"]
    assert result[1]["missing_share"] == 1


def test_of_very_many_columns_the_first_are_shown_and_the_others_counted(tmp_path):
    names = [f"c{i}" for i in range(150)]
    rows = [[str(i * at % 7) for i in range(1, 151)] for at in range(9)]
    (tmp_path / "wide.csv").write_text("\n".join(",".join(row) for row in [names, *rows]))
    shown = run("inspect", tmp_path / "wide.csv").stdout
    assert " c99 " in shown
    assert " c100 " not in shown
    assert "not shown: 50 more columns: 50 number" in shown
    result = json.loads(run("inspect", tmp_path / "wide.csv", "--output", "json").stdout)
    assert len(result["columns"]) == 150
