"""``lookalike compare``: the library's leaderboard in every form."""

import csv
import io
import json

import numpy as np
import pytest

from cli.run import run
from lookalike.leaderboard import compare
from lookalike.measures import Gower, Vector
from lookalike.verbs.compare import read_measures
from verbs.defaults import defaults_of

FAST = ("--measures", "gower,vector:metric=cityblock,scale=minmax")


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(["up", "down"], 25)
    rows = rng.normal(size=(50, 2)) + 2.0 * (groups == "up")[:, None]
    path = tmp_path / "rows.csv"
    lines = [f"{a:.4f},{b:.4f},{who}" for (a, b), who in zip(rows, groups, strict=True)]
    path.write_text("\n".join(["a,b,who", *lines]))
    return path


def answer(*words):
    done = run("compare", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_json_is_what_the_library_says(file):
    result = answer(file, *FAST, "--label", "who", "-k", 3)
    board = compare(str(file), {"g": Gower(), "v": Vector("cityblock", scale="minmax")}, "who", k=3)
    found = {line["measure"]: line for line in result["measures"]}
    assert found["gower"]["accuracy"] == board["g"].score
    assert (
        found["vector:metric=cityblock,scale=minmax"]["precision"]
        == (board["v"].values["precision"])
    )
    assert result["chance"] == 0.5
    assert result["rows"] == 50


def test_without_labels_and_with_a_sample(file):
    result = answer(file, *FAST, "--sample", 20, "--seed", 3, "--kinds", "who=aside")
    assert (result["rows"], result["rows_in_table"], result["chance"]) == (20, 50, None)
    assert all("silhouette" in line for line in result["measures"])


def test_csv_form(file):
    done = run("compare", file, *FAST, "--label", "who", "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert {row["scored_by"] for row in rows} == {"leave-one-out"}


def test_table_form_and_page(file, tmp_path):
    page = tmp_path / "board.html"
    words = ("compare", file, "--measures", "gower,stochastic-forest:height=9")
    done = run(*words)
    assert "2 measures on 50 rows, 5 neighbors, no labels" in " ".join(done.stdout.split())
    assert "Take gower" in done.stdout
    assert "not used: stochastic-forest:height=9: " in done.stdout.replace("\n", " ")
    assert f"wrote {page}" in run(*words, "-o", page).stderr
    assert "<h1>Leaderboard" in page.read_text(encoding="utf-8")


def test_all_measures_and_a_time_budget(file):
    result = answer(file, "--label", "who", "--max-seconds", 0)
    assert len(result["measures"]) == 1
    assert "not tried in 0 seconds" in result["notes"][0]
    assert "Vector" in result["notes"][0]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--label", "wo"], "Did you mean 'who'?"),
        (
            ["--measures", "gowr"],
            "--measures: needs a known measure, found 'gowr'. Did you mean 'gower'?",
        ),
        (["--measures", ","], "--measures: needs names of measures"),
        (["--label", "a"], "an amount"),
        (["-k", "50"], "Use -k 49"),
        (["--measures", "precomputed"], "needs a known measure"),
    ],
)
def test_wrong_questions_are_one_line(file, words, complaint):
    done = run("compare", file, *words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert complaint in line


def test_options_belong_to_the_measure_before():
    text = 'gower:weights={"a": 1, "b": 2},alpha=2,vector,nicdm:measure=gower,n_neighbors=4'
    found = read_measures(text)
    assert list(found) == [
        'gower:weights={"a": 1, "b": 2},alpha=2',
        "vector",
        "nicdm:measure=gower,n_neighbors=4",
    ]
    assert found["nicdm:measure=gower,n_neighbors=4"].n_neighbors == 4


def test_options_belong_to_the_name_before_them():
    assert list(
        read_measures("vector:metric=cosine,vector:metric=cityblock,scale=minmax,gower")
    ) == [
        "vector:metric=cosine",
        "vector:metric=cityblock,scale=minmax",
        "gower",
    ]


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("compare") == {
        "measures": None,
        "label": None,
        "k": 5,
        "columns": None,
        "filter": None,
        "sample": None,
        "max_seconds": None,
        "seed": 0,
    }
