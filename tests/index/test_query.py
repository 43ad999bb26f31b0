"""Queries: what is read as an id, a record or a table, in the order given."""

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, WrongType
from lookalike.index.query import read_query, read_some
from lookalike.measures import Vector


@pytest.fixture(scope="module")
def now():
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "color": ["red", "blue", "red", "green"]}
    return la.Index("gower").fit(rows).state_


def test_ids_and_records_keep_their_order(now):
    read = read_query(now, [2, {"x": 2.5}, 0, {"color": "red"}], "test")
    assert read.positions.tolist() == [2, -1, 0, -1]
    assert [table.record(row)["x"] for table, row in read.cells] == [3.0, 2.5, 1.0, None]
    assert not read.one
    whole = now.measure.block(read.rows, read.rows)
    for i, item in enumerate([2, {"x": 2.5}, 0, {"color": "red"}]):
        alone = read_query(now, item, "test")
        assert alone.one
        np.testing.assert_array_equal(now.measure.block(alone.rows, read.rows)[0], whole[i])


def test_what_is_one_query_and_what_are_several(now):
    assert read_query(now, np.int64(1), "test").positions.tolist() == [1]
    assert read_query(now, np.array([3, 1]), "test").positions.tolist() == [3, 1]
    assert read_query(now, {3, 1}, "test").positions.tolist() == [1, 3]
    frame = pd.DataFrame({"x": [1.0, 2.0], "color": ["red", "blue"]})
    assert read_query(now, frame[:1], "test").one
    assert read_query(now, frame.iloc[0], "test").one
    assert not read_query(now, frame, "test").one
    assert not read_query(now, [0], "test").one


def test_marks_may_be_none(now):
    assert read_some(now, None, "test") is read_some(now, [], "test") is None
    assert read_some(now, np.empty(0), "test") is None
    assert read_some(now, 2, "test").positions.tolist() == [2]
    assert read_some(now, {"x": 1.0}, "test").positions.tolist() == [-1]


def test_a_row_counts_once_and_records_always(now):
    read = read_query(now, [1, {"x": 1.0}, 1, 2, {"x": 1.0}], "test")
    assert len(read.once(-1)) == 4  # 1, 2 and both records
    assert len(read.once(2)) == 3
    assert read_query(now, [1, 1], "test").once(1) is None


@pytest.mark.parametrize(
    ("query", "error", "found"),
    [
        ([], InvalidInput, "an empty list"),
        ("red", WrongType, "an integer"),
        (True, WrongType, "found True"),
        ({"colour": "red"}, InvalidInput, "Did you mean 'color'"),
        ({}, InvalidInput, "a value in one of 'x', 'color'"),
        ({"x": None}, InvalidInput, "without any of them"),
        (9, InvalidInput, "an existing id"),
    ],
)
def test_bad_queries_are_named(now, query, error, found):
    with pytest.raises(error, match=found):
        read_query(now, query, "test")


def test_an_unknown_category_is_warned_of_until_a_row_has_it():
    index = la.Index("gower").fit({"color": ["red", "blue"], "x": [1.0, 2.0]})
    with pytest.warns(LookalikeWarning, match="Did you mean 'red'"):
        index.search({"color": "redd"})
    index.add({"color": ["redd"], "x": [1.5]})
    assert index.search({"color": "redd"}, k=1).ids == [2]  # no warning, which would be an error


def test_measures_of_numbers_name_what_is_missing():
    columns = {f"x{i}": [1.0, 2.0, float(i)] for i in range(7)}
    index = la.Index(Vector()).fit(columns)
    with pytest.raises(InvalidInput, match=r"without 'x1', 'x2', 'x3', 'x4', 'x5', \.\.\."):
        index.search({"x0": 1.0})
