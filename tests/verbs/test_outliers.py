"""Outliers by row, with reasons, as the library finds them."""

import csv
import io
import json

import pytest

from cli.run import run
from lookalike.prediction import find_outliers
from lookalike.table import read_table
from verbs.defaults import defaults_of


@pytest.fixture
def file(tmp_path):
    lines = ["name,size,color"] + [f"thing {i},{i % 7},{'ab'[i % 2]}" for i in range(60)]
    lines[41] = "thing 40,99,mauve"
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("method", ["combined", "isolation", "neighbors"])
def test_the_list_is_the_librarys(file, method):
    spec = "neighbors:k=4" if method == "neighbors" else method
    done = run("outliers", file, "--method", spec, "-n", 5, "--output", "json")
    result = json.loads(done.stdout)["outliers"]
    found = find_outliers(file, method, n_neighbors=4, measure=None, random_state=0)
    assert [one["id"] for one in result] == found.order[:5].tolist()
    assert [one["score"] for one in result] == pytest.approx(found.scores[found.order[:5]].tolist())
    assert result[0]["id"] == 40
    assert {cell["column"] for cell in result[0]["reasons"]} == {"size", "color"}
    assert result[0]["row"]["name"] == "thing 40"


def test_csv_and_people_read_the_reasons(file):
    out = run("outliers", file, "-n", 1).stdout
    assert "row 40" in out
    assert "size 99, higher than in all other rows" in " ".join(out.split())
    (row,) = csv.DictReader(io.StringIO(run("outliers", file, "-n", 1, "-o", "csv").stdout))
    assert (row["id"], row["color"]) == ("40", "mauve")
    assert "color 'mauve', in 1 of 60 rows" in row["reasons"]


def test_columns_and_weights_are_heeded(file):
    words = ("--method", "neighbors:k=3", "--output", "json", "-n", 60)
    alone = json.loads(run("outliers", file, "--columns", "color", *words).stdout)["outliers"]
    weighed = json.loads(run("outliers", file, "--weight", "size=0", *words).stdout)["outliers"]
    assert [o["score"] for o in alone] == pytest.approx([o["score"] for o in weighed])
    assert len(read_table(file)) == len(alone)


def test_the_default_is_that_of_the_library(file):
    result = json.loads(run("outliers", file, "-n", 60, "--output", "json").stdout)
    assert result["method"] == "combined"
    found = find_outliers(file, random_state=0)
    assert [one["id"] for one in result["outliers"]] == found.order.tolist()
    assert result["outliers"][0]["score"] == pytest.approx(found.scores.max())
    assert "bits" in run("outliers", file, "-n", 1).stdout


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("outliers") == {
        "n": 10,
        "method": "combined",
        "measure": None,
        "weights": None,
        "columns": None,
        "filter": None,
        "seed": 0,
    }
