"""Conditions on columns, against a plain test of every record."""

import datetime

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, WrongType
from lookalike.index import filters
from lookalike.measures import Gower
from lookalike.table.model.cells import convert

ROWS = {
    "year": [1980.0, 1990.0, None, 2000.0, 2010.0],
    "genre": ["drama", "comedy", "drama", None, "crime"],
    "size": ["low", "high", "mid", "mid", "low"],
    "seen": [True, False, True, True, False],
    "title": ["The Sea", "A Day", "Sea View", "Night", None],
    "tags": [["a"], ["a", "b"], [], ["b"], ["c"]],
    "day": [datetime.datetime(2000 + i, 1, 1) for i in range(5)],
    "shape": [[1.0, 2.0]] * 5,
    "note": ["n0", "n1", "n2", "n3", "n4"],
}
KINDS = {"size": ["low", "mid", "high"], "title": "text", "shape": "vector", "note": "aside"}


@pytest.fixture(scope="module")
def index():
    index = la.Index(Gower(), kinds=KINDS).fit({n: v[:3] for n, v in ROWS.items()})
    index.add([{n: v[i] for n, v in ROWS.items()} for i in (3, 4)])
    return index


def chosen(index, condition):
    return sorted(index.search({"seen": True}, 9, filter=condition).ids)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"year": 1990}, [1]),
        ({"year": (">=", 1990)}, [1, 3, 4]),
        ({"year": (">", 1990)}, [3, 4]),
        ({"year": ("<", 1990)}, [0]),
        ({"year": ("<=", 1990)}, [0, 1]),
        ({"year": {">=": 1990, "<": 2010}}, [1, 3]),
        ({"year": {"in": [1980, 2010]}}, [0, 4]),
        ({"year": ("not in", [1980, 2010])}, [1, 3]),
        ({"year": None}, [2]),
        ({"year": ("!=", None)}, [0, 1, 3, 4]),
        ({"year": float("nan")}, [2]),
        ({"genre": "drama"}, [0, 2]),
        ({"genre": ("!=", "drama")}, [1, 4]),
        ({"genre": "crime"}, [4]),  # came with a row that was added
        ({"genre": "western"}, []),
        ({"genre": {"in": ["crime", "comedy"]}}, [1, 4]),
        ({"genre": {"in": ["crime", None]}}, [3, 4]),
        ({"size": (">", "low")}, [1, 2, 3]),
        ({"size": ("<=", "mid"), "seen": True}, [0, 2, 3]),
        ({"seen": False}, [1, 4]),
        ({"title": ("contains", "Sea")}, [0, 2]),
        ({"title": "Night"}, [3]),
        ({"title": ("!=", "Night")}, [0, 1, 2]),
        ({"tags": ("contains", "b")}, [1, 3]),
        ({"tags": ["b", "a"]}, [1]),
        ({"tags": {"==": {"b"}}}, [3]),
        ({"day": (">=", "2002-01-01")}, [2, 3, 4]),
        ({"day": datetime.datetime(2001, 1, 1)}, [1]),
        ({"shape": None}, []),
        ({"shape": ("!=", None)}, [0, 1, 2, 3, 4]),
        ({"note": ("in", ["n1", "n4"])}, [1, 4]),
        ("year=1990", [1]),
        ("year == 1990", [1]),
        ("year>=1990", [1, 3, 4]),
        ("year>1990", [3, 4]),
        ("year<=1990", [0, 1]),
        ("year!=1990", [0, 3, 4]),
        ("year=", [2]),
        ("year!=", [0, 1, 3, 4]),
        (["year>=1990", "year<2010"], [1, 3]),
        (("seen=yes", "size<=mid"), [0, 2, 3]),
        ("genre=drama", [0, 2]),
        ("title~Sea", [0, 2]),
        ("title=The Sea and its years", []),  # no second condition: no operator follows
        ("tags~b", [1, 3]),
        ("day>=2002-01-01", [2, 3, 4]),
        ("note=n4", [4]),
        (lambda record: record["year"] is not None and record["year"] > 1985, [1, 3, 4]),
        (lambda record: np.bool_(record["seen"]), [0, 2, 3]),
        ([4, 0], [0, 4]),
        ({3}, [3]),
        ([], []),
        ([True, False, False, True, False], [0, 3]),
        (np.array([False, True, False, False, True]), [1, 4]),
    ],
)
def test_only_rows_that_meet_the_condition_are_found(index, condition, expected):
    assert chosen(index, condition) == expected


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("year", [1990, 2010.0, 1990, 7]),
        ("year", ["1990", "2010"]),
        ("year", [1990, "2010", None]),
        ("genre", ["crime", "crime", "western"]),
        ("genre", [None, "drama", float("nan")]),
        ("title", ["Night", "no such title"]),
        ("seen", [True]),
        ("tags", [["b", "a"], {"b"}]),
        ("day", ["2001-01-01", "2003-01-01"]),
    ],
)
def test_one_of_several_values_is_any_of_them(index, column, values):
    each = [set(chosen(index, {column: {"==": value}})) for value in values]
    assert set(chosen(index, {column: {"in": values}})) == set().union(*each)


def test_many_values_are_read_together(index, monkeypatch):
    calls = []
    monkeypatch.setattr(filters, "convert", lambda *a, **b: calls.append(a) or convert(*a, **b))
    assert index.count({"genre": {"in": [f"g{i}" for i in range(5000)] + ["crime"]}}) == 1
    assert len(calls) <= 2 * len(index.state_.segments.segments)


def test_the_value_that_cannot_be_read_is_named(index):
    with pytest.raises(InvalidInput, match="'soon'"):
        index.count({"year": {"in": ["1990", "soon", "later"]}})


def test_the_order_is_that_of_the_search_without_condition(index):
    everything = index.search(0, 9).ids
    kept = index.search(0, 2, filter={"seen": True}).ids
    assert kept == [id for id in everything if id in (2, 3)]
    marked = index.search(0, 9, like=3, filter={"seen": True}).ids
    assert marked == [2]


def test_deleted_rows_meet_no_condition():
    index = la.Index(Gower()).fit({"x": [1.0, 2.0, 3.0]})
    index.delete(1)
    assert index.search(0, filter={"x": (">", 0)}).ids == [2]
    assert index.search(0, filter=[True, True]).ids == [2]
    with pytest.raises(InvalidInput, match="2 booleans"):
        index.search(0, filter=[True, True, True])
    with pytest.raises(InvalidInput, match="deleted"):
        index.search(0, filter=[1])


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ({"yaer": 1990}, InvalidInput, "Did you mean 'year'"),
        ({"year": ("=>", 1990)}, InvalidInput, "'=>'.*Did you mean"),
        ({"year": {"between": [1, 2]}}, InvalidInput, "'between'"),
        ({"year": (">=", 1, 2)}, InvalidInput, "tuple of 3"),
        ({"year": (">", None)}, InvalidInput, "missing values"),
        ({"year": "many"}, (InvalidInput, WrongType), "year"),
        ({"year": ("in", 1990)}, InvalidInput, "list of values"),
        ({"genre": ("in", "drama")}, InvalidInput, "list of values"),
        ({"genre": ("<", "drama")}, InvalidInput, "numbers or ordered levels"),
        ({"genre": ("contains", "d")}, InvalidInput, "texts, sets or sequences"),
        ({"title": ("contains", 3)}, InvalidInput, "a text"),
        (
            {"size": (">", "huge")},
            InvalidInput,
            r"'size' \(>\): needs one of its levels, found 'huge'",
        ),
        ({"year": (">", ">3")}, InvalidInput, r"'year' \(>\): needs a number, found '>3'.*1980"),
        ({"shape": [1.0, 2.0]}, InvalidInput, "shape"),
        (3, WrongType, "conditions on columns, found 3.*filter='year>=1990'"),
        ("yaer>1990", InvalidInput, "Did you mean 'year'"),
        ("year=>1990", InvalidInput, "Did you mean 'year>=1990'"),
        ("year", InvalidInput, "COLUMN, an operator and a value, found 'year'"),
        (["year>1980", "year>1990"], InvalidInput, "each condition once, found > twice"),
        ("year>many", InvalidInput, r"'year' \(>\): needs a number, found 'many'"),
        (
            "genre=drama and year>=1990",
            InvalidInput,
            r"one condition in a text, .* Use filter=\['genre=drama', 'year>=1990'\]",
        ),
        ("genre=drama,year=1", InvalidInput, r"Use filter=\['genre=drama', 'year=1'\]"),
        ("genre=drama & year = 1 ", InvalidInput, r"Use filter=\['genre=drama', 'year = 1'\]"),
        (["n1"], InvalidInput, "an existing id, found 'n1'"),
        ([99], InvalidInput, "99"),
        (lambda record: record["year"], WrongType, "True or False"),
    ],
)
def test_bad_conditions_are_named(index, condition, error, message):
    with pytest.raises(error, match=message):
        chosen(index, condition)


def test_texts_are_ids_where_rows_are_called_so():
    rows = {"name": ["a=1", "b", "c"], "a": [1.0, 2.0, 3.0]}
    index = la.Index(id_column="name").fit(rows)
    assert chosen_ids(index, ["b", "c"]) == ["b", "c"]
    assert chosen_ids(index, ["a=1"]) == ["a=1"]
    assert chosen_ids(index, "a=2") == ["b"]
    assert chosen_ids(index, ["a>=2", "name!=c"]) == ["b"]
    assert index.count("a>1") == 2
    with pytest.raises(InvalidInput, match="an existing id, found 'd'"):
        chosen_ids(index, ["b", "d"])


def chosen_ids(index, condition):
    return sorted(index.search({"a": 2.0}, 9, filter=condition).ids)


def test_numbers_in_texts_are_read_as_they_are_written():
    kinds = la.read_table({"year": [1990.0, 1999.5], "mpaa": ["PG", "R"]}).kinds
    words = ["year>=1990", "year<1999.5", "year!=1e3", "mpaa=7"]
    found = filters.read_texts(words, kinds)
    assert found == {"year": {">=": 1990, "<": 1999.5, "!=": 1000.0}, "mpaa": {"==": "7"}}
    assert [type(value) for value in found["year"].values()] == [int, float, float]
    assert filters.read_texts(["year=soon"], kinds) == {"year": {"==": "soon"}}


def test_the_longest_name_of_a_column_is_meant():
    assert filters.read_texts(["a>b>3"], {"a": "", "a>b": ""}) == {"a>b": {">": "3"}}


def test_a_column_that_added_rows_do_not_have_is_missing_in_all_of_them():
    table = la.read_table({"x": [1.0, None]})
    for condition, expected in (
        (("y", "==", None), [True, True]),
        (("y", "!=", None), [False, False]),
        (("y", "==", 3), [False, False]),
        (("x", "==", None), [False, True]),
    ):
        assert filters.meets(table, [condition]).tolist() == expected


def test_a_text_of_very_many_signs_is_one_value():
    """Were it tried from each sign to the last one, this would take hours."""
    value = "&" * 10**6
    assert filters.read_texts([f"mpaa={value}"], {"mpaa": "", "year": ""}) == {
        "mpaa": {"==": value}
    }
