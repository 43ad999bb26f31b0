"""The verb ``match``: its options, and wrong input on the surfaces."""

import json

import pandas as pd
import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput, TooFewRows

TREATED = pd.DataFrame({"size": [1.0, 1.2, 8.0], "land": ["x", "y", "y"]})
CONTROL = pd.DataFrame({"size": [1.1, 1.3, 3.0, 7.0, 9.0], "land": ["x", "x", "y", "y", "x"]})


def pairs(**options):
    found = la.match(TREATED, CONTROL, measure="gower", **options)
    return list(zip(found.rows.tolist(), found.matches.tolist(), strict=True))


def test_options_decide_which_pairs_there_are():
    assert pairs(on="size", replace=True) == [(0, 0), (1, 0), (2, 3)]
    assert pairs(on="size") in ([(0, 0), (1, 1), (2, 3)], [(0, 1), (1, 0), (2, 3)])
    assert pairs(by="land") == [(0, 0), (1, 2), (2, 3)]
    assert len(pairs(on="size", max_distance={"size": 0.15})) == 2
    assert len(pairs(on="size", k=2)) == 5
    assert pairs(on="size", max_distance=0.001) == []


def test_the_answer_says_how_rows_were_matched(tmp_path):
    for name, frame in (("a", TREATED), ("b", CONTROL)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    done = run("match", tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.exit_code == 0, done.output
    assert "3 of 3 rows matched to 3 of 5 rows" in " ".join(done.stdout.split())
    assert "optimal" in done.stdout
    words = ("--on", "size", "--measure", "gower", "--replace", "--output", "json", "-q")
    answer = json.loads(run("match", tmp_path / "a.csv", tmp_path / "b.csv", *words).stdout)
    assert answer["sizes"]["control_matched"] == 2
    page = tmp_path / "balance.html"
    assert run("match", tmp_path / "a.csv", tmp_path / "b.csv", "-o", page, "-q").exit_code == 0
    assert "<svg" in page.read_text()


def test_wrong_input_is_refused_with_the_way_out(tmp_path):
    for options, error, match in (
        ({"k": 6}, TooFewRows, "Use k=5"),
        ({"by": "country"}, InvalidInput, "columns of both tables"),
        ({"max_distance": {"land": 1}}, InvalidInput, "numbers or dates"),
    ):
        with pytest.raises(error, match=match):
            pairs(**options)
    with pytest.raises(InvalidInput, match="a column with values in both tables"):
        la.match(TREATED, {"weight": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="labels of the rows that differ"):
        la.match(TREATED.set_index(pd.Index([1, 1, 2])), CONTROL)
    TREATED.to_csv(tmp_path / "a.csv", index=False)
    done = run("match", tmp_path / "a.csv", tmp_path / "a.csv", "-k", 4)
    assert done.exit_code == 1
    assert "-k 3" in done.output
