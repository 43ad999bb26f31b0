"""Cells as normalized texts, compared value by value with plain loops."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.linkage.pooled import MIN_DIGITS, normalize, pool, pool_columns, write

WORDS = st.lists(st.one_of(st.none(), st.text("abc é-'9 ", max_size=9)), min_size=2, max_size=12)


def reference(a, b):
    """The better of equal letters and of equal words, on normalized cells."""
    a, b = ("" if cell is None else normalize(cell) for cell in (a, b))
    if not a or not b:
        return np.nan
    if a == b:
        return 1.0
    return max(Levenshtein.normalized_similarity(a, b), fuzz.token_sort_ratio(a, b) / 100)


@given(WORDS)
def test_texts_are_compared_as_by_the_reference(cells):
    table = la.read_table({"x": [*cells, "filled"]}, kinds={"x": "text"})
    column = pool("x", [table["x"]])
    i, j = (index.ravel() for index in np.indices((len(cells), len(cells))))
    expected = [reference(cells[a], cells[b]) for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(column.similarity(i, j), expected, rtol=0, atol=1e-12)


def test_numbers_are_alike_by_their_digits_or_by_how_near_they_are():
    random = np.random.default_rng(0)
    table = la.read_table({"x": [19560409.0, 19560490.0, *(random.random(50) * 9e7)]})
    column = pool("x", [table["x"]])
    assert column.similarity(np.array([0]), np.array([1]))[0] > 0.95  # nearer than random ones
    signs = pool("x", [la.read_table({"x": [-5.0, 5.0, 0.5]})["x"]])
    assert sorted(signs.texts) == ["-5", "0.5", "5"]
    small = pool("x", [la.read_table({"x": [1.0, 2.0, 50.0, 90.0, 20.0]})["x"]])
    assert all(len(text) < MIN_DIGITS for text in small.texts)
    near, far = small.similarity(np.array([0, 0]), np.array([1, 3]))
    assert far < near < 1.0


def test_two_tables_may_read_a_column_differently():
    left = la.read_table({"born": ["1956-04-09", "1970-12-31"]}, kinds={"born": "date"})
    right = la.read_table({"born": [19701231.0, 19560409.0]})
    column = pool("born", [left["born"], right["born"]])
    assert column.codes.tolist() == [0, 1, 1, 0]
    assert column.numbers is None  # seconds are not comparable with these
    words = pool("x", [la.read_table({"x": [["b", "a"], ["c"], ["a", "d"]]})["x"]])
    assert words.texts[0] == "a b"
    assert words.numbers is None


def test_missing_cells_have_no_similarity():
    table = la.read_table({"x": ["a", None, "--", "b"]}, kinds={"x": "text"})
    column = pool("x", [table["x"]])
    assert column.codes.tolist()[1:3] == [-1, -1]
    assert np.isnan(column.similarity(np.array([0, 1]), np.array([1, 2]))).all()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""), (3.25, "3.25"), (3.0, "3"), (True, "True"), (("b", "a"), "b a"),
        (dt.datetime(2001, 2, 3, 4, 5), "20010203040500"), (frozenset({"y", "x"}), "x y"),
    ],
)  # fmt: skip
def test_cells_are_written_as_typed(cell, text):
    assert write(cell) == text


def test_texts_are_normalized():
    assert normalize("  Ménage à-Trois, 12 ") == "menage a trois 12"
    assert normalize("x" * 1000) == "x" * 256


def names_of(found):
    return [column.name for column in found]


def test_names_are_compared_and_identifiers_only_if_they_are_named():
    n = 40
    table = la.read_table(
        {
            "id": range(n),
            "name": [f"person {i} b{i * 7}" for i in range(n)],
            "land": ["x", "y"] * 20,
        }
    )
    assert set(table.names) == {"land"}
    assert names_of(pool_columns(table, None, None)[0]) == ["land", "name"]
    assert names_of(pool_columns(table, None, ["name", "id"])[0]) == ["name", "id"]
    compared, by = pool_columns(table, None, None, ["land"])
    assert (names_of(compared), names_of(by)) == (["name"], ["land"])


def test_columns_that_cannot_be_compared_are_refused():
    table = la.read_table({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]})
    with pytest.raises(InvalidInput, match="one name in both"):
        pool_columns(table, la.read_table({"c": [1.0, 2.0]}), None)
    with pytest.raises(InvalidInput, match="columns of both tables"):
        pool_columns(table, la.read_table({"a": [1.0, 2.0]}), ["b"])
    empty = la.read_table({"a": [None, None]}, kinds={"a": "number"})
    with pytest.raises(InvalidInput, match="only missing cells"):
        pool_columns(table.only(["a"]), empty, None)
    ids = la.read_table({"id": range(30), "a": [1.0, 2.0] * 15})
    with pytest.raises(InvalidInput, match="on='id'"):
        pool_columns(ids, ids.drop("a"), None)
    curves = la.read_table({"s": [[1.0, 2.0], [3.0, 4.0, 5.0]]}, kinds={"s": "series"})
    with pytest.raises(InvalidInput, match="cells that can be equal"):
        pool_columns(curves, None, ["s"])
