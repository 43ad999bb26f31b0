"""Cells as text for people and as values for programs."""

import csv
import datetime as dt
import io
import json

import numpy as np
import pytest

from lookalike._runtime.text import clean, percent, plain, short, spark
from lookalike.cli.output import be_quiet, compile_note, write_csv, write_json
from lookalike.table import Graph


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (None, None),
        (True, True),
        (3.0, 3),
        (0.25, 0.25),
        (1e300, 1e300),
        (float("nan"), None),
        (float("-inf"), "-inf"),
        (np.float32(0.5), 0.5),
        (np.array([1.0, 2.5]), [1, 2.5]),
        ((1, "a", frozenset({"c", "b"})), [1, "a", ["b", "c"]]),
        (frozenset({2, "a", 1}), [1, 2, "a"]),
        (dt.datetime(2020, 1, 2, 3, 4), "2020-01-02T03:04:00"),
        (dt.datetime(2020, 1, 2), "2020-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(minutes=2), 120),
        (Graph({1: "x"}, frozenset({(1, 1)})), {"nodes": {"1": "x"}, "edges": [[1, 1]]}),
        (b"raw", "b'raw'"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_plain_values(cell, value):
    found = plain(cell)
    assert found == value
    assert type(found) is type(value)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (1977.0, "1977"),
        (1 / 3, "0.333333"),
        (frozenset({"b", "a"}), "a, b"),
        (frozenset(), "(none)"),
        ([0.5, 2.0], "0.5 2"),
        ([1, 2, 3, 4], "▃▅▇█"),
        (("a", 1), '["a", 1]'),
        ("x" * 40, "x" * 27 + "…"),
        ("two\nlines\x1b[0m", "two lines [0m"),
    ],
)
def test_short_text(cell, text):
    assert short(cell) == text


def test_spark_draws_from_zero_and_shortens_by_means():
    assert spark([0, 0, 8, 8], longest=2) == "▁█"
    assert spark([-1.0, 0.0, 1.0]) == "▁▅█"
    assert spark([0.0, 0.0]) == "▁▁"
    assert len(spark(list(range(1000)))) == 28


def test_clean_keeps_letters_of_every_script():
    assert clean("Łódź 東京 😀") == "Łódź 東京 😀"


def test_csv_and_json_on_standard_output(capsys):
    rows = [
        [1.0, None, True, ["a"], 'say "hi", twice'],
        [0.1, float("nan"), False, [], "two\nlines"],
    ]
    heads = ["n", "gap", "flag", "list", "text"]
    write_csv(dict(zip(heads, zip(*rows, strict=True), strict=True)))
    first, second = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert first == {
        "n": "1",
        "gap": "",
        "flag": "true",
        "list": '["a"]',
        "text": 'say "hi", twice',
    }
    assert second["n"] == "0.1"
    assert second["text"] == "two\nlines"
    write_json({"a": [float("inf"), 2.0]})
    assert json.loads(capsys.readouterr().out) == {"a": ["inf", 2]}


def test_percent_never_rounds_to_nothing_or_all():
    shares = [0, 0.001, 0.29, 0.666, 0.995, 1]
    assert [percent(share) for share in shares] == ["0%", "<1%", "29%", "67%", ">99%", "100%"]


@pytest.mark.parametrize(
    ("folder", "rest"),
    [
        ("kernels", "this happens once, later runs find them on disk"),
        (None, "no folder can be written to keep them in: NUMBA_CACHE_DIR names another"),
    ],
)
def test_compiling_is_noted_once(monkeypatch, capsys, folder, rest):
    from lookalike import kernels

    monkeypatch.setattr(kernels, "cache_folder", lambda: folder)

    def compile_some():
        with compile_note():
            for _ in range(2):
                for call in tuple(kernels.when_compiling):
                    call()

    def lines():
        return capsys.readouterr().err.replace("\n", " ").split("compiling ")[1:]

    be_quiet(True)
    compile_some()
    assert lines() == []
    be_quiet(False)
    compile_some()
    assert lines() == [f"the loops that this command needs; {rest} "]
    assert kernels.when_compiling == []
