"""Cells as text for people and as plain values for programs."""

import datetime as dt

import numpy as np

from lookalike._runtime.text import MAX_CELL_CHARACTERS, clean, percent, plain, short, spark


def test_cells_become_what_json_can_hold():
    class Graph:
        nodes, edges = {1: "a"}, [(1, 1)]

    cases = [
        (None, None),
        (True, True),
        (1977.0, 1977),
        (0.5, 0.5),
        (2.0**53, 2.0**53),  # float64 counts no further
        (float("nan"), None),
        (float("inf"), "inf"),
        (-float("inf"), "-inf"),
        (dt.datetime(2005, 1, 2), "2005-01-02"),
        (dt.datetime(2005, 1, 2, 3), "2005-01-02T03:00:00"),
        (dt.date(2005, 1, 2), "2005-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(minutes=1, milliseconds=500), 60.5),
        (frozenset({2, 10, "b"}), [10, 2, "b"]),
        ({1: (2.0, {3})}, {"1": [2, [3]]}),
        (Graph(), {"nodes": {"1": "a"}, "edges": [[1, 1]]}),
        (np.array([1.0, 2.5]), [1, 2.5]),
        (np.float32(2.0), 2),
        (range(2), [0, 1]),
        (b"ab", "b'ab'"),
        (3j, "3j"),
    ]
    for cell, expected in cases:
        found = plain(cell)
        assert (found, type(found)) == (expected, type(expected)), cell


def test_cells_are_short_for_people():
    cases = [
        (None, "–"),
        (1234567.0, "1234567"),
        (1 / 3, "0.333333"),
        (1234567.5, "1.23457e+06"),
        (dt.timedelta(hours=3), "3:00:00"),
        (["b", "a"], "b, a"),
        ([], "(none)"),
        ([1.0, 2.5, 3.0], "1 2.5 3"),
        ([0, 1, 2, 8], "▁▂▃█"),
        ([1, "a"], '[1, "a"]'),
        ({"ä": 1}, '{"ä": 1}'),
        ("x" * MAX_CELL_CHARACTERS, "x" * MAX_CELL_CHARACTERS),
        ("x" * (MAX_CELL_CHARACTERS + 1), "x" * (MAX_CELL_CHARACTERS - 1) + "…"),
        ("a\tb", "a b"),
    ]
    for cell, expected in cases:
        assert short(cell) == expected, cell
    assert short("abcd", 3) == "ab…"


def test_bars_go_from_zero_or_the_lowest_to_the_highest():
    assert spark([4.0, 4.0]) == "██"
    assert spark([0.0, 0.0]) == "▁▁"
    assert spark([-1.0, 0.0, 1.0]) == "▁▅█"
    assert spark([0, 2, 4, 4], longest=2) == "▃█"  # means of neighbors: 1 and 4
    assert len(spark(range(100))) == MAX_CELL_CHARACTERS


def test_a_terminal_obeys_nothing_in_a_text():
    assert clean("a\x1b[0m\x9b\u202e\ud800é") == "a [0m   é"


def test_shares_are_not_rounded_to_none_or_all():
    shares = (0, 0.0099, 0.01, 0.5, 0.99, 0.9901, 1)
    assert [percent(s) for s in shares] == ["0%", "<1%", "1%", "50%", "99%", ">99%", "100%"]
