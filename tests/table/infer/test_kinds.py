"""What is guessed, why, and what the caller may say instead."""

import datetime as dt
import decimal
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table import KINDS, Kind, read_table
from lookalike.table.formats.raw import Raw, objects, of_arrow, of_values
from lookalike.table.infer.kinds import EMPTY, infer, infer_columns

TITLES = ["The Third Man", "Some Like It Hot", "Alien"]
WORDS = [f"{a}{b}{c}" for a in "abc" for b in "def" for c in "ghi"]


@pytest.mark.parametrize(
    ("cells", "kind", "reason"),
    [
        ([1, 5220, 7], "number", "3 distinct values from 1 to 5220"),
        ([0, 1, 1], "number", "2 distinct values from 0 to 1"),
        ([2.5, 2.5, None], "number", "one value, 2.5"),
        ([0.0, np.inf, -np.inf], "number", "3 distinct values from -inf to inf"),
        ([1 / 3, 2.0, 1e20], "number", "3 distinct values from 0.333333 to 1e+20"),
        ([True, None, False], "flag", "true/false"),
        ([True, 1, 2.5], "number", "2 distinct values from 1 to 2.5"),
        (["a", "b", "a"], "category", "2 distinct strings in 3 rows"),
        (["a"], "category", "1 distinct string in 1 row"),
        (["1", "2", "2"], "number", "2 distinct values from 1 to 2"),
        (TITLES, "text", "3 distinct strings in 3 rows, 11 characters on average"),
        (WORDS, "text", "27 distinct strings in 27 rows, nearly a different one in every row"),
        (WORDS * 2, "category", "27 distinct strings in 54 rows"),
        (["x" * 30, "y" * 30], "text", "2 distinct strings in 2 rows, 30 characters on average"),
        ([1, "a", 2.5], "category", "3 distinct strings in 3 rows"),
        ([dt.datetime(2001, 1, 1, 12), None], "number", "dates from 2001-01-01T12:00:00 to"),
        ([dt.date(2001, 1, 1), dt.datetime(2001, 1, 1, 6)], "number", "dates from 2001-01-01T00"),
        ([dt.time(0, 1), dt.time(0, 2)], "number", "times of day from 0:01:00 to 0:02:00"),
        ([dt.timedelta(seconds=5), None], "number", "durations from 0:00:05 to 0:00:05"),
        (
            [[0.5, 0.5], [0.2, 0.8]],
            "histogram",
            "lists of 2 numbers, none negative, each with sum 1",
        ),
        ([[5, 5], [0, 0], [2, 8]], "histogram", "lists of 2 numbers, none negative, each with sum"),
        ([[0.5, 0.5], [1.0, 3.0]], "vector", "lists of 2 numbers"),
        ([[-0.5, 1.5], [0.2, 0.8]], "vector", "lists of 2 numbers"),
        ([[np.inf, 1.0], [0.2, 0.8]], "vector", "lists of 2 numbers"),
        ([np.array([1.0, 5.0]), None, (2.0, 9.0)], "vector", "lists of 2 numbers"),
        ([[1.5], [2.0, 3.0]], "series", "lists of 1 to 2 numbers"),
        ([[1.5], [2.0]], "series", "lists of 1 number"),
        ([[3, 5], [5, 3, 9], [9, 3], [5]], "set", "lists of integers without a repeat, 3 d"),
        ([[3, 3], [5, 3, 9]], "series", "lists of 2 to 3 numbers"),
        ([["a", "b"], ["b"]], "set", "lists of strings without a repeat, 2 distinct in all"),
        ([["a", "b", "a"], ["b"]], "sequence", "lists of strings with repeats, 2 distinct in all"),
        ([[], []], "set", "empty lists"),
        ([[["a", "b"], ["c"]], [[]]], "sequence", "lists of lists, from 1 to 2 long"),
        ([[{1, 2}, {3}], [{1}]], "sequence", "lists of lists, from 1 to 2 long"),
        ([[1, "a"], ["b"]], "sequence", "lists of mixed items"),
        ([{1, 2}, frozenset({2})], "set", "sets, 2 distinct items in all"),
        ([{"a": 1}, {"b": 2}], "object", "cells of type dict"),
        ([b"ab", b"c"], "object", "cells of type"),
        ([object, 5], "object", "cells of type int, type"),
    ],
)
def test_the_guess_and_its_reason(cells, kind, reason):
    table = read_table({"column": cells})
    assert table.kinds["column"].name == kind
    assert table.kinds["column"].reason.startswith(reason)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("id", [3, 1, 2], "identifier: consecutive integers from 1 to 3, named 'id'"),
        ("user_id", [30, 10, 20], "identifier: 3 distinct integers in as many rows"),
        ("userId", [30, 10, 20], "identifier: 3 distinct integers in as many rows"),
        ("rownames", [1, 2, 3], "identifier: consecutive"),
        ("Unnamed: 0", [0, 1, 2], "identifier: consecutive"),
        ("index", [0, 1, 2], "identifier: consecutive"),
        ("key", ["x", "y", "z"], "identifier: 3 distinct strings in 3 rows, named 'key'"),
        (
            "code",
            [f"tt{i:05d}" for i in range(40)],
            "identifier: 40 distinct strings in 40 rows, all",
        ),
        ("empty", [None, float("nan"), None], "every cell is missing"),
    ],
)
def test_identifiers_and_empty_columns_are_set_aside(name, cells, reason):
    table = read_table({name: cells, "x": list(range(len(cells)))})
    assert table.names == ("x",)
    assert table.aside[0].name == name
    assert table.aside[0].kind.reason.startswith(reason)
    assert f"{name}: set aside, " in repr(table)
    assert table.record(1)[name] == (cells[1] if name != "empty" else None)
    assert table.schema.aside == {name: table.aside[0].kind.reason}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("id", [1, 2, 2]),
        ("id", [1, None, 3]),
        ("id", [1.5, 2.5, 3.5]),
        ("id", [4]),
        ("paid", [1, 2, 3]),
        ("grid", [1, 2, 3]),
        ("index", [10, 25, 3]),
        ("price_index", [1, 2, 3]),
        ("code", ["a1", "b2", "c3"]),
        ("code", [*(f"a{i}" for i in range(39)), "no digit"]),
    ],
)
def test_what_only_looks_like_an_identifier_is_kept(name, cells):
    table = read_table({name: cells, "x": [1.0] * len(cells)})
    assert name in table.names
    assert not table.aside


def test_a_column_named_by_the_caller_is_never_set_aside():
    table = read_table({"id": [1, 2, 3]}, kinds={"id": "number"})
    assert table.names == ("id",)
    assert table.kinds["id"].reason == "given"


@pytest.mark.parametrize("by_hand", [None, "aside"])
def test_setting_a_column_aside_by_hand(by_hand):
    table = read_table({"a": ["u", "v"], "b": [1, 2]}, kinds={"a": by_hand})
    assert table.names == ("b",)
    assert table["a"].kind.reason == "by hand"
    assert table["a"].cell(1) == "v"
    assert read_table(np.eye(2), kinds={"x0": by_hand}).names == ("x1",)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", " 2.5", None, "1e3"], "number", [1, 2.5, np.nan, 1000]),
        ([True, False], "number", [1, 0]),
        (["2001-01-01", "1970-01-01 00:00:01"], "number", [978307200, 1]),
        ([dt.date(1970, 1, 2)], "number", [86400]),
        (pd.Categorical(["2", "1"]), "number", [2, 1]),
        ([1, "2", None], "number", [1, 2, np.nan]),
        ([3, 1, 3, None], "category", [1, 0, 1, -1]),
        ([True, False], "category", [1, 0]),
        (["b", "a", None], "category", [1, 0, -1]),
        ([3, 10, None, 3], "order", [0, 1, -1, 0]),
        (pd.Categorical(["lo", "hi"], ["lo", "hi"]), "order", [0, 1]),
        (["lo", "hi", None], ["lo", "mid", "hi"], [0, 2, -1]),
        ([2, 3.0, "1"], [1, 2, 3], [1, 2, 0]),
        (["2", "1"], (1, 2), [1, 0]),
        (["a", "b"], np.array(["b", "a"]), [1, 0]),
        ([1, 0, None], "flag", [1, 0, -1]),
        ([1.0, np.nan, 0.0], "flag", [1, -1, 0]),
        (["Yes", "no", None], "flag", [1, 0, -1]),
        (["T", "f"], "flag", [1, 0]),
        (["y", "y"], "flag", [1, 1]),
        (["TRUE", "False"], "flag", [1, 0]),
        (["never", "often"], Kind("flag", levels=("never", "often")), [0, 1]),
        (["c", "a"], Kind("category", levels=("c", "b", "a")), [0, 2]),
        ([1.0, 2.5], "text", ["1", "2.5"]),
        (["a b", None], "text", ["a b", None]),
        ([["a", "a"], {"b"}, None], "set", [{"a"}, {"b"}, None]),
        ([[1, 2], []], "set", [{1, 2}, set()]),
        (["abca", None], "sequence", [("a", "b", "c", "a"), None]),
        ([["x", "y"]], "sequence", [("x", "y")]),
        ([[["x", "x"], ["y"]]], "sequence", [(frozenset("x"), frozenset("y"))]),
        ([[1, 2], [3, 4]], "sequence", [(1, 2), (3, 4)]),
        ([[1, 2], None], "histogram", [[1, 2], [np.nan, np.nan]]),
        ([[1, -2], None], "vector", [[1, -2], [np.nan, np.nan]]),
        ([{"a": 1}, 5], "object", [{"a": 1}, 5]),
    ],
)
def test_what_the_caller_says_is_done(cells, kind, values):
    column = read_table({"c": cells}, kinds={"c": kind})["c"]
    found = column.values.tolist()
    if isinstance(values[0], float | int | list):
        np.testing.assert_array_equal(np.array(found, dtype=float), np.array(values, dtype=float))
    else:
        assert found == values


def test_a_series_given_by_the_caller():
    cells = read_table({"c": [[1, 2], [3, 4], None]}, kinds={"c": "series"})["c"].values
    assert cells[0].dtype == np.float64
    assert cells[1].tolist() == [3, 4]
    assert cells[2] is None


@pytest.mark.parametrize(
    ("cells", "levels"),
    [
        ([1, 0], (0, 1)),
        ([True], (False, True)),
        (["Yes", "no"], ("no", "Yes")),
        (["y"], ("n", "y")),
        (["off"], ("off", "on")),
    ],
)
def test_a_flag_remembers_its_words(cells, levels):
    assert read_table({"c": cells}, kinds={"c": "flag"}).kinds["c"].levels == levels


@pytest.mark.parametrize(
    ("cells", "kind", "error", "text"),
    [
        (
            ["1", "few", "2", "few"],
            "number",
            InvalidInput,
            "Column 'c': needs numbers, found 2 of 4 cells that are not (first: 'few', row 1). "
            "Use missing=['few'] or kinds={'c': 'text'}.",
        ),
        ([1, "x"], "number", InvalidInput, "found 1 of 2 cells that are not (first: 'x', row 1)"),
        (["1", "2001-01-01"], "number", InvalidInput, "(first: '2001-01-01', row 1)"),
        ([[1], [2]], "number", WrongType, "needs numbers"),
        ([1, {"a": 1}], "number", WrongType, "argument must be a string or a real number"),
        ([["a"]], "category", WrongType, "needs single values"),
        ([{1}, {2}], "category", WrongType, "needs single values"),
        (["lo", "top"], ["lo", "hi"], InvalidInput, "one of the levels 'lo', 'hi'"),
        (
            ["lo", "left"],
            "order",
            InvalidInput,
            "from low to high, as in kinds={'c': ['lo', 'left']}",
        ),
        (["yes", "maybe"], "flag", InvalidInput, "(first: 'maybe', row 1)"),
        ([0, 2], "flag", InvalidInput, "(first: 2, row 1)"),
        (["a,b", "c"], "set", WrongType, "a string is not a set"),
        ([[{"a": 1}]], "set", WrongType, "items that can be compared"),
        ([{1, 2}], "sequence", WrongType, "items in order"),
        ([5, 6], "sequence", WrongType, "lists of items or strings"),
        ([["a"]], "text", WrongType, "needs texts"),
        ([["a"], ["b"]], "series", WrongType, "lists of numbers"),
        ([5.0], "series", WrongType, "lists of numbers"),
        ([[[1.0]]], "series", WrongType, "lists of numbers"),
        ([[1, 2], [1, 2, 3]], "histogram", InvalidInput, "found 3 in row 1"),
        ([[1, 2], [1, -2]], "histogram", InvalidInput, "not negative, found -2 in row 1"),
        (
            [[1, 2], [1]],
            "vector",
            InvalidInput,
            "needs 2 numbers in every vector, found 1 in row 1",
        ),
        ([{"a": 1}], "graph", WrongType, "nodes and edges"),
        ([{"nodes": ["a"], "edges": [("a", "b")]}], "graph", InvalidInput, "an edge to 'b'"),
        (["x"], "categry", InvalidInput, "Did you mean 'category'?"),
        (["x"], Kind("nummer"), InvalidInput, "Did you mean 'number'?"),
        (["x"], 5, WrongType, "a list of levels"),
        (["x"], ["x"], InvalidInput, "at least two levels"),
        (["x"], ["x", "x"], InvalidInput, "at least two levels that differ"),
        (["x"], ["x", ["y"]], InvalidInput, "at least two levels that differ"),
    ],
)
def test_what_cannot_be_done_is_said(cells, kind, error, text):
    with pytest.raises(error) as caught:
        read_table({"c": cells, "other": [0] * len(cells)}, kinds={"c": kind})
    assert text in str(caught.value)
    assert not str(caught.value).endswith("..")


def test_unknown_columns_in_kinds_are_named():
    with pytest.raises(InvalidInput, match=r"found 'colour'\. Did you mean 'color'\?"):
        read_table({"color": ["a"], "x": [1]}, kinds={"colour": "text"})
    with pytest.raises(WrongType, match="needs a mapping of column to kind"):
        read_table({"color": ["a"]}, kinds=["text"])


def test_a_few_misfits_are_shown_in_a_note():
    for words, shown in (("abc", "'a', 'b', 'c'"), ("abcd", "'a', 'b', 'c', ...")):
        cells = [str(i) for i in range(40)] + list(words)
        kind = read_table({"x": cells * 2, "y": range(2 * len(cells))}).kinds["x"]
        assert kind.note == f"80 of {2 * len(cells)} cells are numbers, not {shown}"


def test_a_position_counts_as_a_name():
    table = read_table(np.array([[1, 5], [2, 5]]), kinds={1: "category"})
    assert table.kinds["x1"].levels == (5.0,)
    with pytest.raises(InvalidInput, match="columns of the table"):
        read_table(np.eye(2), kinds={2: "category"})


@pytest.mark.parametrize(
    ("cells", "missing", "kind", "gaps"),
    [
        (["1", "2", "?"], ["?"], "number", [0, 0, 1]),
        (["a", "n/a", "a"], ["?", "n/a"], "category", [0, 1, 0]),
        ([1, -999, 3], [-999], "number", [0, 1, 0]),
        ([1.5, -999.0, 3], ["-999"], "number", [0, 1, 0]),
        (["true", "-", "false"], "-", "flag", [0, 1, 0]),
        (pd.Categorical(["a", "?", "a"]), ["?"], "category", [0, 1, 0]),
        ([True, False, True], [0, 1], "flag", [0, 0, 0]),
        ([{1}, "?", {2}], ["?"], "set", [0, 1, 0]),
        ([[1.0, 2.0], "?", [4.0, -3.0]], ["?"], "vector", [0, 1, 0]),
    ],
)
def test_missing_tokens_are_gone_before_the_guess(cells, missing, kind, gaps):
    table = read_table({"c": cells, "x": [1, 2, 2]}, missing=missing)
    assert table.kinds["c"].name == kind
    assert table["c"].missing.tolist() == [bool(gap) for gap in gaps]
    assert "?" not in table.kinds["c"].levels


def test_missing_tokens_in_an_array():
    X = np.array([[1.0, -9.0], [-9.0, 2.0]])
    table = read_table(X, missing=[-9])
    assert table["x0"].missing.tolist() == [False, True]
    assert X[1, 0] == -9  # what the caller passed is not changed
    with pytest.raises(WrongType, match="a list of strings or numbers"):
        read_table(X, missing=object())


def test_every_kind_is_reachable_by_name():
    for kind in KINDS:
        cell = {"graph": {"nodes": [], "edges": []}, "number": 1.0, "flag": 1, "order": 1}.get(kind)
        cell = [1.0, 2.0] if kind in ("series", "histogram", "vector", "set", "sequence") else cell
        table = read_table({"c": [cell or "a"]}, kinds={"c": kind})
        assert table.kinds["c"].name == kind
        assert len(table["c"].missing) == 1


def test_lists_written_as_text_are_sets():
    cells = ["['red', 'green']", "['green']", "['blue', 'red']"] * 5
    column = read_table({"x": cells})["x"]
    assert column.kind.name == "set"
    assert column.kind.reason.startswith("written ")
    assert column.cell(0) == {"red", "green"}


def test_codes_that_repeat_need_more_than_twenty_different_ones():
    for n, role in ((20, ""), (21, "code")):
        codes = [f"AB-{number:03d}" for number in range(n)]
        kind = read_table({"part": [*codes, *codes[:8]]}).kinds["part"]
        assert (kind.name, kind.role) == ("category", role)


def test_words_that_come_round_are_a_cycle_as_written():
    column = read_table({"day": ["SAT", "MON", "WED", "SUN", None]})["day"]
    assert (column.kind.label, column.kind.confidence) == ("cycle", 0.9)
    assert column.kind.reason == "weekdays, which come round: MON, TUE, ..., SUN"
    assert [column.cell(row) for row in range(5)] == ["SAT", "MON", "WED", "SUN", None]
    kind = read_table({"day": ["SAT", "FRI", "THU"]}).kinds["day"]
    assert (kind.role, kind.reason) == ("", "weekdays: THU < FRI < SAT")


def guess(cells, name="x", prefer="", **facts):
    return infer(replace(of_values(name, cells), **facts), prefer)


def shown(found):
    kind = found.kind
    return kind.name, kind.role, kind.confidence, kind.close, found.aside


def test_digits_that_are_names():
    code, date = (
        ("category", "code", 0.9, "number", False),
        ("number", "date", 0.9, "number", False),
    )
    for cells, name, facts, expected in (
        (["02139", "7", "7"], "x", {}, code),
        (["01", "12", "12"], "month", {}, ("number", "cycle:12", 0.9, "number", False)),
        (["01", "12", "12"], "x", {}, code),
        (["1" * 19, "2" * 19, "2" * 19], "x", {}, code),
        (["1" * 18, "2" * 18, "2" * 18], "x", {}, None),
        (["1", "2", "2"], "x", {"typed": True}, code),
        (["1", "2", "n/a"], "x", {"typed": True}, None),
        (["20200924", "20200925"], "date", {"typed": True}, date),
        ([f"0{i}" for i in range(10, 30)], "x", {}, ("text", "identifier", 0.9, "code", True)),
        ([f"0{i}" for i in range(10, 29)], "x", {}, code),
        ([*(f"0{i}" for i in range(10, 30)), None], "x", {}, code),
        ([str(i) for i in range(10, 30)], "x", {"typed": True},
         ("text", "identifier", 0.9, "number", True)),
        (["01"] * 10, "x", {}, ("category", "constant", 1.0, "category", True)),
    ):  # fmt: skip
        found = guess(cells, name, **facts)
        if expected is None:
            assert (found.kind.name, found.kind.role) == ("number", ""), cells
        else:
            assert shown(found) == expected, (name, cells)
    assert guess(["02139", "7", "7"]).kind.reason == (
        "2 distinct digit strings in 3 rows, some with leading zeros"
    )
    chosen = guess(["1", "2", "2"], typed=True).kind
    assert chosen.reason.endswith("in 3 rows, kept as text where numbers could be")
    assert chosen.note == "pass kinds={'x': 'number'} to compare them as numbers"
    assert guess(["02139", "7", "7"]).kind.note == ""


def test_truths_flags_and_marks():
    assert shown(guess(["true", "False", None]))[0] == "flag"
    assert guess(["TRUE", "false"]).raw.values() == [True, False]
    flag = guess(["yes", "no", "yes"])
    assert shown(flag) == ("flag", "answer", 0.95, "category", False)
    assert (flag.kind.reason, flag.kind.levels) == ("no or yes", ("no", "yes"))
    assert guess(["yes", "no", "Yes"]).kind.name == "category"
    assert guess(["yes", "yes"]).kind.name == "category"
    mark = guess(["x", None, "x", None, None])
    assert shown(mark) == ("flag", "", 0.8, "category", False)
    assert (mark.kind.reason, mark.kind.levels) == ("'x' or nothing", ("", "x"))
    assert mark.kind.note == "a cell without 'x' is read as no"
    for cells in (
        ["x", None, "x", None],
        ["x"] * 5,
        ["x", None, "y", None, None],
        ["qq", *[None] * 4],
    ):
        assert guess(cells).kind.name == "category", cells


def test_words_for_missing_beside_others():
    found = guess(["5", "n/a", "7", "6"])
    assert shown(found) == ("number", "", 0.9, "", False)
    assert found.kind.note == "1 cell 'n/a' read as missing"
    assert found.kind.reading.missing_words == ("n/a",)
    two = guess(["5", "n/a", "-", "7"])
    assert (two.kind.note, two.kind.confidence) == ("2 cells '-', 'n/a' read as missing", 0.9)
    most = guess(["5", "n/a", "-", "?", "7"])
    assert most.kind.note == "3 cells '-', '?', 'n/a' read as missing"
    assert shown(most)[2:4] == (0.6, "category")
    assert guess(["5", "NA", "7"]).kind.note == ""
    assert guess(["5", "NA", "7"]).kind.confidence == 1.0
    words = guess(["red", "blue", "red", "NA"])
    assert words.kind.note == "1 cell 'NA' read as missing (the kind 'code' keeps the words)"
    assert shown(words) == ("category", "", 0.9, "code", False)
    null = guess(["red", "blue", "red", "null"])
    assert (null.kind.note, null.kind.close) == ("1 cell 'null' read as missing", "")
    empty = guess(["NA", "null"])
    assert (empty.kind.role, empty.aside, empty.raw.count) == ("empty", True, 0)
    assert guess([None, " "]) is EMPTY
    kept = guess(["red", "blue", "red", "unknown", "unknown"])
    assert kept.kind.note == "2 cells are the word 'unknown'"
    assert kept.kind.missing_values == ("unknown",)


def test_what_one_column_proves_settles_another():
    def settled(**columns):
        found = infer_columns([of_values(name, cells) for name, cells in columns.items()])
        return {name: (one.kind.confidence, one.kind.note) for name, one in found.items()}, found

    notes, found = settled(a=["1,067", "2,345"], b=["12,5", "1,25"])
    assert notes["a"] == (0.8, "'1,067' is read as 1.067, as another column is")
    assert found["a"].raw.values() == [1.067, 2.345]
    notes, found = settled(a=["1,067", "2,345"], b=["1,067.5", "3"])
    assert notes["a"] == (0.8, "'1,067' is read as 1067, as another column is")
    notes, _ = settled(a=["1,067", "2,345"], b=["12,5", "1,25"], c=["1,067.5", "3"])
    assert notes["a"] == (0.6, "'1,067' is read as 1067")
    notes, found = settled(a=["1.234", "2.345"], b=["12,5", "1,25"])
    assert (notes["a"][0], found["a"].raw.values()) == (0.8, [1234, 2345])
    notes, found = settled(a=["1.23", "2.3"], b=["12,5", "1,25"])
    assert notes["a"] == (1.0, "")
    notes, found = settled(a=["03/04/2020", "05/06/2020"], b=["24/09/2020", "01/02/2020"])
    assert notes["a"][0] == 0.8
    assert found["a"].raw.values()[0].month == 4
    notes, found = settled(a=["03/04/2020", "05/06/2020"], b=["09/24/2020", "01/02/2020"])
    assert found["a"].raw.values()[0].month == 3


def test_declared_levels_and_python_objects():
    levels = pd.Categorical(["b", "a", "b"], ["b", "a"], ordered=True)
    raw = of_arrow("x", pa.array(levels))
    assert shown(infer(raw)) == ("order", "", 1.0, "", False)
    assert infer(raw).kind.reason == "2 ordered levels declared by the source"
    assert shown(infer(replace(raw, declared="enum"))) == ("order", "", 0.7, "category", False)
    codes = of_arrow("x", pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([5, 6])))
    assert infer(codes).kind.reason == "2 categories declared by the source"
    stored = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["no", "x", "yes"]))
    assert infer(of_arrow("x", stored)).kind.levels == ("no", "yes")

    def things(*cells):
        return infer(Raw("x", objects(list(cells))))

    assert things({1}, frozenset({2}), None).kind.reason == "sets, 2 distinct items in all"
    assert things({"nodes": ["a"], "edges": []}, None).kind.name == "graph"
    assert things(1, decimal.Decimal(2), None).kind.reason == "2 distinct values from 1 to 2"
    assert things(1, "a", None, 1).kind.reason == "2 distinct values of mixed types (int, str)"
    assert things("a", "b").kind.reason == "2 distinct values of type str"
    assert things([1, "a"], (2,)).kind.reason == "lists of mixed items"
    record = things({"a": 1}, [1])
    assert (record.kind.name, record.aside) == ("object", True)
    assert record.kind.reason == "cells of type dict, list, which need a distance of their own"
    assert things([{"a": 1}], [1]).kind.name == "object"
    assert things([np.ones(2)], [1]).kind.name == "object"


def test_strings_that_stay_strings_at_every_boundary():
    def words(n, form="{}"):
        return [form.format(f"{a}{b}") for a in "zyxwvu" for b in "qrstklm"][:n]

    few, many = words(4), words(21)
    for cells, name, expected in (
        (few * 2, "x", ("category", "", 0.9, "", False)),
        ([*few, *few[:3]], "x", ("category", "", 0.9, "", False)),
        ([*words(20), *words(5)], "x", ("category", "", 0.9, "", False)),
        ([*many, *many[:5]], "x", ("category", "", 0.9, "text", False)),
        ([*many, *many[:2]], "x", ("text", "name", 0.7, "text", True)),
        ([f"{word} {word}" for word in few], "x", ("text", "", 0.8, "", False)),
        ([f"{word} {word}" for word in few[:2]] + few[2:], "x", ("text", "", 0.8, "", False)),
        ([f"{word} {word}" for word in few[:1]] + few[1:], "x", ("category", "", 0.9, "", False)),
        ([word * 10 for word in few], "x", ("category", "", 0.9, "", False)),
        ([word * 10 + "z" for word in few], "x", ("text", "", 0.8, "", False)),
        (few, "id", ("text", "identifier", 0.9, "text", True)),
        ([*few, few[0]], "id", ("category", "", 0.9, "", False)),
        (words(20, "A1{}"), "x", ("text", "identifier", 0.9, "text", True)),
        (words(19, "A1{}"), "x", ("category", "", 0.9, "", False)),
        (["qq"] * 10, "x", ("category", "constant", 1.0, "category", True)),
        (["z1", "z2", "z1", "z2"], "zip", ("category", "code", 0.9, "", False)),
        (["z1", "z", "z1", "z"], "zip", ("category", "", 0.9, "", False)),
    ):
        assert shown(guess(cells, name)) == expected, (name, cells)
    assert guess(["New York", "Los Angeles", "New York"]).kind.name == "category"
    assert guess(["New York", "Los Angeles", "San Jose"]).kind.name == "text"
    assert guess(few, "id").kind.reason == "identifier: 4 distinct strings in 4 rows, named 'id'"
    assert guess(words(20, "A1{}")).kind.reason.endswith("rows, all of them codes")
    assert guess(["qq"]).kind.reason == "1 distinct string in 1 row"
    assert guess(["qq", "qq"]).kind.reason == "1 distinct string in 2 rows"


def test_what_is_nearly_numbers_or_dates_is_said():
    numbers = [str(i) for i in range(10, 18)]
    found = guess([*numbers, "abc", "def"] * 2).kind
    assert found.note == "16 of 20 cells are numbers, not 'abc', 'def'"
    assert (found.missing_values, found.confidence) == (("abc", "def"), 0.7)
    assert guess([*numbers, "abc", "def", "ghi"] * 2).kind.note == ""
    assert guess([*numbers[:4], "abc"] * 2).kind.note == "8 of 10 cells are numbers, not 'abc'"
    assert guess([*numbers[:3], "abc"] * 2).kind.note == ""
    assert guess([*numbers[:4], *["abc"] * 2] * 2).kind.note == ""
    days = [f"2020-09-{i}" for i in range(10, 18)]
    assert guess([*days, "abc"] * 2).kind.note == "16 of 18 cells are dates or times, not 'abc'"
    wide = [str(i) for i in range(100, 160)]
    some = ["aq", "bq", "cq", "dq", "eq", "fq"]
    five, six = (guess([*wide, *some[:n]] * 2).kind for n in (5, 6))
    assert five.missing_values == tuple(some[:5])
    assert five.note == "120 of 130 cells are numbers, not 'aq', 'bq', 'cq', ..."
    assert six.missing_values == ()
    assert guess([*wide, *some[:3]] * 2).kind.note.endswith("not 'aq', 'bq', 'cq'")
    mixed = guess([*wide, "100", *some])  # nearly a different one in every row, but no names
    assert (mixed.kind.name, mixed.kind.role, mixed.aside) == ("text", "", False)
    assert mixed.kind.note == "61 of 67 cells are numbers, not 'aq', 'bq', 'cq', ..."


def test_long_texts_are_documents():
    prose = [f"row {i}: " + "the ship sinks in the bay, again " * (i % 3 + 3) for i in range(9)]
    kind = read_table({"said": prose}).kinds["said"]
    assert (kind.name, kind.label, kind.close) == ("text", "document", "text")
    assert kind.reason.endswith("compared by their words")
    genes = ["ACGT" * 30 + "ACGT"[i % 4] * (i + 1) for i in range(9)]
    assert read_table({"gene": genes}).kinds["gene"].role == ""
    short = read_table({"said": [f"the ship {i} sinks" for i in range(9)]}, kinds={"said": "text"})
    assert short.kinds["said"].role == ""
