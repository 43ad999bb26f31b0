"""The leaderboard: its choice, and its forms as text, frame, page and plain values."""

import numpy as np
import pytest

from lookalike.evaluate import mcnemar
from lookalike.leaderboard import compare
from lookalike.measures import (
    Gower,
    StochasticForest,
    Vector,
)

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3)) + 2.0])
NAMES = np.repeat(["left", "right"], 40)
LEARNED = Gower(weights="relieff")


def test_reason_names_what_is_not_significantly_worse():
    noise = RNG.random(80)
    board = compare(
        {"x": BLOBS[:, 0], "y": BLOBS[:, 1], "z": noise},
        {
            "good": Vector(),
            "same": Vector(scale="minmax"),
            "bad": Gower(weights={"x": 0, "y": 0, "z": 1}),
        },
        NAMES,
    )
    first = board.usable[0]
    equal = {e.name for e in board.usable[1:] if not mcnemar(first.right, e.right).significant}
    assert equal
    assert "bad" not in equal
    assert board.reason.startswith(f"Take {first.name}: the 5 nearest rows give the right label")
    assert f"Not significantly worse: {', '.join(equal)}." in board.reason
    assert board.best.get_params() == first.measure.get_params()
    one = compare({"x": BLOBS[:, 0], "z": noise}, {"a": Gower(), "b": Gower(weights=[0, 1])}, NAMES)
    assert "It is significantly better than the next, b" in one.reason


def test_reason_says_when_nothing_is_better_than_guessing():
    labels = np.where(np.arange(80) < 70, "often", "rare")
    board = compare(np.random.default_rng(3).random((80, 2)), [Vector()], labels)
    assert board.entries[0].score <= board.chance == 0.875
    assert "No measure is better than guessing" in board.reason


@pytest.fixture(scope="module")
def board():
    bad = {"<b>bold</b>": Vector(), "learned": LEARNED, "no": StochasticForest(height=9)}
    return compare(BLOBS, bad, NAMES)


def test_as_frames(board):
    for backend in ("pandas", "polars", "pyarrow"):
        frame = board.to_frame(backend)
        assert frame.shape == (3, len(board.records()[0]))
    frame = board.to_frame()
    assert frame["measure"].tolist() == [entry.name for entry in board.entries]
    assert frame["accuracy"].iloc[-1] != frame["accuracy"].iloc[-1]
    assert frame["scored_by"].tolist()[:2].count("cross-validation") == 1


def test_without_labels_the_choice_is_among_measures_of_all_columns():
    rng = np.random.default_rng(0)
    table = {"x": rng.random(60), "y": rng.random(60), "c": rng.choice(list("abc"), 60).tolist()}
    board = compare(table, measures=[Gower(), Vector()])
    assert {entry.name: entry.partial for entry in board.entries} == {
        "Vector": True,
        "Gower": False,
    }
    assert isinstance(board.best, Gower)
    assert board.reason.startswith("Take Gower: ")
    above = board["Vector"].score > board["Gower"].score
    assert ("Higher, but with columns left out: Vector." in board.reason) is bool(above)
    labelled = compare(table, [Gower(), Vector()], rng.integers(0, 2, 60))
    assert labelled.chosen is labelled.usable[0]
    assert isinstance(compare({"x": table["x"], "t": table["c"]}, measures=[Vector()]).best, Vector)


def test_as_text(board):
    lines = str(board).splitlines()
    assert lines[0] == "2 of 3 measures on 80 rows, 5 neighbors, labels"
    assert lines[1].startswith(f"Take {board.entries[0].name}: ")
    table = next(
        i for i, line in enumerate(lines) if line.split()[:3] == ["measure", "right", "label"]
    )
    assert lines[table + 2].split()[0] == board.entries[0].name.split()[0]
    assert any(line.startswith("not used: no: ") for line in lines)
    assert any(line.startswith("* learned from the labels") for line in lines)


def test_as_a_page(board, tmp_path):
    page = board.to_html()
    board.to_html(tmp_path / "board.html")
    assert (tmp_path / "board.html").read_text(encoding="utf-8") == page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>" not in page
    assert page.count("<tr") == 1 + len(board.usable)
    assert "http" not in page
    assert "<script" not in page
    assert board.html_body() in page
    assert board.html_body() in board._repr_html_()


def test_as_plain_values(board):
    import json

    reported = json.loads(json.dumps(board.to_dict()))
    assert reported["measures"][-1]["error"]
    assert reported["measures"][-1]["score"] is None
    assert reported["reason"] == board.reason
