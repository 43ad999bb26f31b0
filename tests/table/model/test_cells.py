"""From cells as they arrive to the arrays that each kind keeps."""

import datetime as dt
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.measures import Gower
from lookalike.table import Kind, as_table, read_table
from lookalike.table.formats.raw import Raw, objects, of_values
from lookalike.table.infer.kinds import infer_flag
from lookalike.table.model.cells import convert, is_graph, raw_of_column, set_aside
from lookalike.table.model.kind import ID, KINDS, Reading
from lookalike.table.model.table import Graph, check_cells

CELLS = {
    "number": [1.5, None], "category": ["a", None], "order": ["low", "high"], "flag": ["yes", "no"],
    "text": ["a b", None], "set": [["a", "b"], None], "sequence": [["a", "a"], None],
    "series": [[1.0, 2.0], [3.0]], "histogram": [[1.0, 2.0], None], "vector": [[1.0, -2.0], None],
    "graph": [{"nodes": ["a", "b"], "edges": [("b", "a")]}, None], "object": [{"x": 1}, None],
}  # fmt: skip


def read(kind, cells, **options):
    return convert(of_values("x", cells), kind if isinstance(kind, Kind) else Kind(kind), **options)


def test_every_kind_comes_back_as_it_was_read():
    assert set(CELLS) == set(KINDS)
    for kind, cells in CELLS.items():
        column = read(kind, cells)
        check_cells(column.values, column.kind, kind)
        again = convert(raw_of_column(column), column.kind, fitted=True)
        for row in range(len(cells)):
            np.testing.assert_equal(again.cell(row), column.cell(row), err_msg=kind)


def test_vectors_of_float32_stay_so_and_histograms_do_not():
    cells = pa.array([[1.0, 2.0], None], pa.list_(pa.float32()))
    assert convert(Raw("x", cells), Kind("vector")).values.dtype == np.float32
    assert convert(Raw("x", cells), Kind("histogram")).values.dtype == np.float64
    assert read("vector", [None, None]).values.shape == (2, 0)
    assert read(Kind("vector", width=3), [None]).values.shape == (1, 3)


def test_what_a_kind_cannot_hold_is_named_with_its_row():
    for kind, cells, error, words in (
        (
            "vector",
            [[1.0], [1.0, 2.0]],
            InvalidInput,
            "every vector, found 2 in row 1",
        ),
        ("histogram", [[1.0], [-2.0]], InvalidInput, "-2 in row 1"),
        ("set", [["a"], 3], WrongType, "row 1"),
        ("set", [["a"], [{"b": 1}]], WrongType, "items that can be compared"),
        ("text", ["a", {1}], WrongType, "row 1"),
        ("graph", [{"nodes": ["a"], "edges": [("a", "b")]}], InvalidInput, "an edge to 'b'"),
    ):
        with pytest.raises(error, match=words):
            read(kind, cells)


def test_graphs_of_any_form_are_one():
    expected = Graph({"a": "C", "b": None}, frozenset({("a", "b")}))
    for nodes in ({"a": "C", "b": None}, {"a": {"label": "C"}, "b": {}},
                  [{"id": "a", "label": "C"}, {"id": "b"}]):  # fmt: skip
        for edge in (("b", "a"), {"source": "a", "target": "b"}):
            assert read("graph", [{"nodes": nodes, "edges": [edge]}]).cell(0) == expected


def test_set_aside_columns_keep_their_cells():
    for cells, kind in ((["a"], "text"), ([1.5], "number"), ([[1]], "object")):
        column = set_aside(of_values("x", cells), "by hand")
        assert (column.kind.name, column.cell(0)) == (kind, cells[0])


def test_words_that_mean_missing_by_kind():
    cells = ["a", "NA", "a b", "n/a"]
    assert [read("text", cells).cell(row) for row in range(4)] == ["a", None, "a b", "n/a"]
    assert read("category", cells).values.tolist()[1] == -1
    assert read(Kind("category", role="code"), cells).cell(1) == "NA"
    fitted = Kind("category", levels=("NA", "a"), role="code")
    assert read(fitted, ["NA", "a"], fitted=True).values.tolist() == [0, 1]
    assert read(Kind("category", levels=("US", "DE")), ["NA", "US"], fitted=True).unknown
    assert read(Kind("category", levels=("Rio", "DE")), ["NA", "DE"], fitted=True).cell(0) is None
    marked = Kind("text", reading=Reading(missing_words=("a",)))
    assert read(marked, cells).cell(0) is None
    names = read(Kind("text", role=ID), ["NA", None, " "])
    assert names.values.tolist() == ["NA", None, " "]
    assert read(Kind("text", role=ID), [1.5, None]).values.tolist() == [1.5, None]


def test_cells_of_lists_and_sequences():
    assert read("set", [["a", None, "a"], {"b"}]).values.tolist() == [{"a"}, {"b"}]
    assert read("set", [[["a", "b"]]]).cell(0) == {("a", "b")}
    assert read("set", [np.array([1, 2])]).cell(0) == {1, 2}
    split = read("set", ["a;b", "b", None, "a;c"])
    assert split.values.tolist() == [{"a", "b"}, {"b"}, None, {"a", "c"}]
    assert split.kind.reading.separator == ";"
    again = convert(of_values("x", ["a,b;;c"]), split.kind, fitted=True)
    assert again.cell(0) == {"a,b", "c"}
    assert read("sequence", ["ab", None]).values.tolist() == [("a", "b"), None]
    assert read("sequence", [["a", None, ["b", None]]]).cell(0) == ("a", frozenset({"b"}))
    assert read("text", [1.0, 2.5, None]).values.tolist() == ["1", "2.5", None]
    for kind, cells, words in (
        ("set", ["ab cd", "ef"], r"a string is not a set.*\(first: 'ab cd', row 0\)"),
        ("sequence", [["a"], {"b"}], "items in order.*row 1"),
        ("sequence", [["a"], [{"b": 1}]], "items that can be compared.*row 1"),
        ("sequence", [["a"], 7], "lists of items or strings.*row 1"),
        ("series", [[1.0], "a"], "row 1"),
        ("series", [[1.0], [["a"]]], "lists of numbers.*row 1"),
        ("vector", [[1.0], {"a": 1}], "lists of numbers.*row 1"),
        ("graph", [{"nodes": []}], "graphs with nodes and edges.*row 0"),
        ("text", ["a", [1]], "texts.*row 1"),
    ):
        with pytest.raises(WrongType, match=words):
            read(kind, cells)


def test_numbers_in_lists_are_cut_out_of_one_array():
    series = read("series", [[1, 2], None, [3], []])
    assert [None if cell is None else cell.tolist() for cell in series.values] == [
        [1.0, 2.0], None, [3.0], [],
    ]  # fmt: skip
    assert series.values[0].dtype == np.float64
    flags = convert(Raw("x", pa.array([[True, False]])), Kind("series"))
    assert flags.values[0].tolist() == [1.0, 0.0]
    assert read("series", [(1.5, None), None]).cell(1) is None
    matrix = read("vector", [None, [1.0, 2.0], [3.0, None]])
    np.testing.assert_array_equal(matrix.values, [[np.nan] * 2, [1.0, 2.0], [3.0, np.nan]])
    assert (matrix.kind.width, matrix.values.dtype) == (2, np.float64)
    assert read("histogram", [[0.0, 2.0]]).values.tolist() == [[0.0, 2.0]]
    assert read("vector", [[-1.0, 2.0]]).values.tolist() == [[-1.0, 2.0]]
    with pytest.raises(InvalidInput, match=r"3 numbers in every vector, found 1 in row 0"):
        read(Kind("vector", width=3), [[1.0]])


def test_columns_turn_back_into_cells():
    number = raw_of_column(read("number", [1.5, None]))
    assert (number.type, number.values()) == (pa.float64(), [1.5, None])
    for kind in ("category", "order"):
        back = raw_of_column(read(Kind(kind, levels=("b", "a")), ["a", None, "b"]))
        assert (back.declared, back.values()) == (kind, ["a", None, "b"])
        assert back.words.to_pylist() == ["b", "a"]
    fitted = Kind("category", levels=("a",))
    unknown = raw_of_column(read(fitted, ["a", "z"], fitted=True))
    assert (unknown.declared, unknown.values()) == ("", ["a", "z"])
    assert is_graph({"nodes": 1, "edges": 2})
    assert not is_graph({"nodes": 1})
    assert not is_graph({"edges": 1})
    assert not is_graph("nodes")
    assert is_graph(SimpleNamespace(nodes=1, edges=2))
    assert not is_graph(SimpleNamespace(nodes=1))


def test_graphs_of_objects_with_a_direction():
    def graph(directed):
        return SimpleNamespace(
            nodes={"a": {}, "b": {}}, edges=[("b", "a", 7)], is_directed=lambda: directed
        )

    assert read("graph", [graph(True)]).cell(0).edges == {("b", "a")}
    assert read("graph", [graph(False)]).cell(0).edges == {("a", "b")}
    assert read("graph", [{"nodes": None, "edges": None}]).cell(0) == Graph({}, frozenset())
    same = Graph({"a": None}, frozenset())
    assert read("graph", [same]).cell(0) is same
    with pytest.raises(InvalidInput, match="an edge to 'z', which is not a node, in row 1"):
        read("graph", [same, {"nodes": ["a"], "edges": [("z", "a")]}])


# -- category, order, flag -------------------------------------------------------------------------


DATES = ["2020-01-15", "2020-12-15", "2020-07-01", None]


@pytest.mark.parametrize(
    "cells",
    [
        DATES,
        [None if d is None else dt.date.fromisoformat(d) for d in DATES],
        ["Jan", "december", "July", None],
        [1, 12, 7, None],
        ["15.01.2020", "15.12.2020", "01.07.2020", None],
    ],
)
def test_months_from_anything(cells):
    table = read_table({"when": cells, "x": [1, 2, 3, 4]}, kinds={"when": "month"})
    assert table["when"].values.tolist() == [0, 11, 6, -1]
    assert table["when"].cell(1) == "December"
    assert table.kinds["when"].label == "month"
    again = as_table({"when": cells, "x": [1, 2, 3, 4]}, table.schema)
    assert again["when"].values.tolist() == [0, 11, 6, -1]


def test_weekdays():
    days = [f"2024-01-0{day}" for day in range(1, 8)]  # from a Monday to a Sunday
    table = read_table({"day": days}, kinds={"day": "weekday"})
    assert table["day"].values.tolist() == list(range(7))
    assert table["day"].cell(6) == "Sunday"


def test_december_is_next_to_january():
    measure = Gower(kinds={"when": "month"}).fit({"when": ["Jan", "Dec", "Jul", "Feb"]})
    similarity = measure.similarity()
    np.testing.assert_allclose(similarity[0], [1, 1 - 1 / 6, 0, 1 - 1 / 6])


def test_what_is_no_month_is_said():
    with pytest.raises(InvalidInput, match="a month: dates, names or 1 to 12"):
        read_table({"when": [1, 13]}, kinds={"when": "month"})


def test_flags_are_read_in_words_and_others_are_refused():
    table = read_table({"x": ["yes", "no", None, "YES"]}, kinds={"x": "flag"})
    assert table["x"].values.tolist() == [1, 0, -1, 1]
    # The fitted column writes yes and no; new rows may use other words for the same.
    again = as_table({"x": ["true", "f", "y", "no", None]}, table.schema)
    assert again["x"].values.tolist() == [1, 0, 1, 0, -1]
    with pytest.raises(InvalidInput, match="yes or no"):
        read_table({"x": ["yes", "no", "perhaps"]}, kinds={"x": "flag"})


def test_a_level_written_with_spaces_is_found_without_them():
    table = read_table({"x": ["a ", "b", "a "]}, kinds={"x": Kind("category", levels=("a ", "b"))})
    assert as_table({"x": ["a", "b", "a "]}, table.schema)["x"].values.tolist() == [0, 1, 0]


def cycle(cells, kind="cycle", name="x"):
    return read_table({name: cells}, kinds={name: kind})[name]


def test_a_cycle_of_words_is_completed():
    days = cycle(["Tue", "Sun", None])
    assert days.kind.levels == ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    assert (days.values.tolist(), days.kind.label) == ([1, 6, -1], "cycle")
    schema = read_table({"x": ["Tue", "Sun"]}, {"x": "cycle"}).schema
    with pytest.warns(match="found 'noon' in 'x'. They are taken as missing"):
        new = as_table({"x": ["Wed", "noon"]}, schema)
    assert new["x"].values[0] == 2  # of a day that was not fitted
    assert new["x"].cell(1) == "noon"
    measure = Gower(kinds={"x": "cycle"}).fit({"x": ["Tue", "Sun", "Mon"]})
    np.testing.assert_allclose(measure.distance()[1], [2 / 3, 0, 1 / 3])


def test_a_cycle_of_levels_is_declared_in_turn():
    seasons = ["winter", "spring", "autumn"]
    kinds = {"x": "cycle:spring,summer,autumn,winter"}
    measure = Gower(kinds=kinds).fit({"x": seasons})
    np.testing.assert_array_equal(measure.distance(), [[0, 0.5, 0.5], [0.5, 0, 1], [0.5, 1, 0]])
    with pytest.raises(InvalidInput, match="one of the levels 'spring', 'summer'"):
        measure.distance({"x": ["monsoon"]})
    ordered = pd.Series(pd.Categorical(seasons, seasons, ordered=True))
    assert cycle(ordered).kind.levels == tuple(seasons)


def test_a_cycle_of_numbers_has_the_period_of_its_name():
    hours = cycle([9, 17, None], name="hour")
    assert (hours.kind.name, hours.kind.role) == ("number", "cycle:24")
    np.testing.assert_array_equal(hours.values, [9, 17, np.nan])
    assert cycle([3, 5], name="month").kind.role == "cycle:12"
    assert cycle(["9 h", "17 h"], name="hour").cell(1) == 17
    assert cycle([None, None], name="hour").kind.role == "cycle:24"
    clock = cycle(["09:30", "10:00"])
    assert (clock.kind.role, clock.cell(0)) == ("cycle:86400", dt.timedelta(hours=9, minutes=30))
    assert cycle([1.0, 2.0], "cycle:6.5").kind.period == 6.5


def test_a_cycle_of_which_nothing_is_known_is_refused_with_the_way_out():
    with pytest.raises(InvalidInput, match=r"numbers from 3 to 17.5.*kinds=.'x': 'cycle:18'"):
        cycle([3.0, 17.5])
    with pytest.raises(InvalidInput, match=r"words of no known one.*'x': 'cycle:b,a'"):
        cycle(["b", "a", "b"])


def read_coded(cells, kind, fitted=False, **facts):
    kind = Kind(kind) if isinstance(kind, str) else kind
    return convert(replace(of_values("x", cells), **facts), kind, fitted=fitted)


def test_levels_are_sorted_and_found_however_they_are_written():
    assert read_coded(["b", None, "a"], "category").kind.levels == ("a", "b")
    assert read_coded([2, 10, 1], "category").kind.levels == (1, 2, 10)
    mixed = np.array([2, "b", 1, "a", None], object)
    column = convert(Raw("x", mixed), Kind("category"))
    assert column.kind.levels == (1, 2, "a", "b")
    assert column.values.tolist() == [1, 3, 0, 2, -1]
    declared = pd.Series(pd.Categorical(["b", "a"], ["b", "a", "c"]))
    kept = read_table({"x": declared}, kinds={"x": "category"})["x"]
    assert (kept.kind.levels, kept.values.tolist()) == (("b", "a", "c"), [0, 1])
    fitted = Kind("category", levels=(4, 7))
    again = read_coded([4.0, "7", "8", None], fitted, fitted=True)
    assert again.values[[0, 1, 3]].tolist() == [0, 1, -1]
    assert list(again.unknown.values()) == ["8"]
    assert again.values[2] < -1
    for levels, cells, codes in (
        ((0, 1), ["false", "true", "0", "1"], [0, 1, 0, 1]),
        ((1, 0), ["false", "true"], [1, 0]),
        ((False, True), ["0", "1"], [0, 1]),
        ((0, 2), ["false", "2"], [0, 1]),
        ((" a", "b"), ["a", " a"], [0, 0]),
        ((" a", "a"), ["a", " a"], [1, 0]),
    ):
        found = read_coded(cells, Kind("category", levels=levels), fitted=True)
        assert found.values.tolist() == codes, levels
    # Two levels that are written alike are neither of them.
    alike = read_coded(["a"], Kind("category", levels=(" a", "a ")), fitted=True)
    assert list(alike.unknown.values()) == ["a"]
    alike = read_coded(["4"], Kind("category", levels=(4, "4 ", 4.5)), fitted=True)
    assert list(alike.unknown.values()) == ["4"]
    with pytest.raises(WrongType, match=r"single values.*first: \[1\], row 1"):
        convert(Raw("x", objects(["a", [1]])), Kind("category"))


def test_orders_take_known_levels_and_name_others():
    assert read_coded(["high", "low"], "order").kind.levels == ("low", "high")
    assert read_coded([3, 1, 2], "order").kind.levels == (1, 2, 3)
    assert read_coded(["5-10", "1-5"], "order").kind.levels == ("1-5", "5-10")
    with pytest.raises(InvalidInput, match=r"levels from low to high.*'qq', 'rr'.*kinds="):
        read_coded(["qq", "rr"], "order")
    kind = Kind("order", levels=("a", "b"))
    with pytest.raises(InvalidInput, match=r"one of the levels 'a', 'b'.*2 of 3.*'z', row 1"):
        read_coded(["a", "z", "y"], kind)
    with pytest.raises(InvalidInput, match="one of the levels"):
        read_coded(["a", "z"], kind, fitted=True)
    learned = replace(kind, reading=Reading("level"))
    assert list(read_coded(["a", "z"], learned, fitted=True).unknown.values()) == ["z"]


def test_flags_find_their_own_words():
    for cells, levels, codes in (
        (["yes", "no", None], ("no", "yes"), [1, 0, -1]),
        (["Yes"], ("no", "Yes"), [1]),
        (["no"], ("no", "yes"), [0]),
        ([1, 0], (0, 1), [1, 0]),
        ([1.0], (0, 1), [1]),
        (["true", "false"], (False, True), [1, 0]),
        ([True, None], (False, True), [1, -1]),
        ([None], (False, True), [-1]),
    ):
        found = read_coded(cells, "flag")
        assert (found.kind.levels, found.values.tolist()) == (levels, codes), cells
    mark = Kind("flag", levels=("", "x"), reading=Reading("mark"))
    assert read_coded(["x", None], mark).values.tolist() == [1, 0]
    with pytest.raises(InvalidInput, match=r"yes or no .*2 of 3 cells.*first: 2, row 0"):
        read_coded([2, 1, 2], "flag")
    for cells, aside, reason in (
        ([True, False], False, "true/false"), ([True] * 10, True, "one value, true"),
        ([False] * 9, False, "true/false"),
    ):  # fmt: skip
        guess = infer_flag(of_values("x", cells))
        assert (guess.aside, guess.kind.reason) == (aside, reason)


def test_days_before_1970_and_numbers_beyond_a_cycle():
    weekday, month = Kind("order", role="weekday"), Kind("order", role="month")
    days = [dt.datetime(1969, 12, 31, 23), dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 4, 1)]
    assert read_coded(days, weekday).values.tolist() == [2, 3, 6]
    assert read_coded(days, month).values.tolist() == [11, 0, 0]
    assert read_coded([1, 7, None], weekday).values.tolist() == [0, 6, -1]
    assert read_coded([1, 12], month).values.tolist() == [0, 11]
    for kind, wrong, shown in (
        (weekday, 8, 8),
        (weekday, 0, 0),
        (month, 13, 13),
        (month, 1.5, 1.5),
    ):
        with pytest.raises(InvalidInput, match=rf"a {kind.role}: .*first: {shown}.*row 1"):
            read_coded([1, wrong], kind)
