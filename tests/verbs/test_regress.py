"""The scores of regress are the library's, beside what guessing gives."""

import csv
import io
import json

import numpy as np
import pytest

from cli.run import run
from lookalike.prediction import (
    NeighborRegressor,
    RandomSimilarityForestRegressor,
    cross_validate,
)
from lookalike.table import read_table
from verbs.defaults import defaults_of

WORDS = ("--method", "forest:trees=10", "--folds", 3)


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    lines = ["size,color,price"]
    for i in range(60):
        size, color = round(float(random.random()), 3), "rgb"[i % 3]
        price = 10 * size + 5 * (color == "r") + 0.1 * float(random.random())
        lines.append(f"{size},{color},{price:.3f}" if i else f"{size},{color},")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


def answer(*words):
    done = run("regress", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_figures_are_those_of_cross_validation(file):
    result = answer(file, "--label", "price", *WORDS)
    table = read_table(file)
    known = table[np.arange(1, 60)]
    y = np.asarray(known["price"].values)
    model = RandomSimilarityForestRegressor(10, random_state=0)
    expected = cross_validate(model, known.drop("price"), y, n_splits=3, random_state=0)
    assert result["cross_validation"] == pytest.approx({"folds": 3, **expected.scores})
    assert result["baseline"] == pytest.approx(dict(expected.baseline))
    assert (result["rows"], result["rows_left_out"]) == (59, 1)
    assert (
        result["cross_validation"]["mean_absolute_error"]
        < result["baseline"]["mean_absolute_error"]
    )
    assert {one["column"] for one in result["importances"]} == {"size", "color"}


def test_neighbors_predict_as_well(file):
    result = answer(file, "--label", "price", "--method", "neighbors:k=3", "--folds", 3)
    table = read_table(file)[np.arange(1, 60)]
    y = np.asarray(table["price"].values)
    rest = table.drop("price")
    expected = cross_validate(NeighborRegressor("auto", 3), rest, y, n_splits=3, random_state=0)
    assert result["cross_validation"] == pytest.approx({"folds": 3, **expected.scores})
    assert (result["out_of_bag"], result["importances"]) == (None, [])


def test_new_rows_are_predicted(file, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("size,color\n0.0,g\n1.0,r\n")
    words = (file, "--label", "price", *WORDS, "--predict", new)
    low, high = answer(*words)["predictions"]
    assert (low["row"], high["row"]) == (0, 1)
    assert low["predicted"] + 5 < high["predicted"]
    done = run("regress", *words, "--output", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [float(row["predicted"]) for row in rows] == [low["predicted"], high["predicted"]]


def test_the_table_for_people_names_the_guess(file):
    out = " ".join(run("regress", file, "--label", "price", *WORDS).stdout.split())
    assert "mean absolute error" in out
    assert "always saying the median" in out
    assert "out-of-bag R2" in out


def test_shuffled_numbers_are_no_better_than_guessing(file, tmp_path):
    head, *lines = file.read_text().splitlines()
    prices = [line.rsplit(",", 1)[1] for line in lines]
    random = np.random.default_rng(1).permutation(prices)
    rest = [line.rsplit(",", 1)[0] for line in lines]
    path = tmp_path / "shuffled.csv"
    path.write_text("\n".join([head, *(f"{a},{b}" for a, b in zip(rest, random, strict=True))]))
    judged = answer(path, "--label", "price", *WORDS)
    assert judged["cross_validation"]["r2"] < 0.2


def test_words_are_refused_and_amounts_sent_here(file):
    done = run("regress", file, "--label", "color")
    assert done.exit_code == 1
    assert "Use classify" in done.stderr
    done = run("classify", file, "--label", "price")
    assert done.exit_code == 1
    assert "59 different numbers" in done.stderr
    assert "Use regress" in done.stderr
    done = run(
        "classify",
        file,
        "--label",
        "price",
        "--kinds",
        "price=category",
        "--method",
        "forest:trees=2",
    )
    assert done.exit_code == 0, done.output


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("regress") == {
        "predict": None,
        "method": "forest",
        "measure": None,
        "weights": None,
        "folds": 5,
        "columns": None,
        "filter": None,
        "seed": 0,
    }
