"""Lists written as text: what Python, JSON and numpy print is read back, nothing is run."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.datasets import load_films
from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.table import as_table, read_table
from lookalike.table.infer.lists import parse_lists

words = st.lists(st.lists(st.text(max_size=6), max_size=4), min_size=1, max_size=8)
numbers = st.lists(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("write", [repr, json.dumps])
@given(cells=words)
def test_lists_of_words_come_back(write, cells):
    # A letter that Python does not print is printed as a number, which is left as it is.
    cells = [[word for word in cell if word.isprintable()] for cell in cells]
    assert parse_lists(pa.array([write(cell) for cell in cells])).to_pylist() == cells


@pytest.mark.parametrize("write", [repr, json.dumps])
@given(cells=numbers)
def test_lists_of_numbers_come_back(write, cells):
    assert parse_lists(pa.array([write(cell) for cell in cells])).to_pylist() == cells


@given(cells=st.lists(st.text("[](){}',\"0a :\\\n", max_size=12), min_size=1, max_size=4))
def test_nothing_else_is_an_error(cells):
    found = parse_lists(pa.array(cells))
    assert found is None or len(found) == len(cells)


def test_a_frame_of_lists_in_a_csv_file_is_the_frame(tmp_path):
    films = load_films()[:400]
    films.to_frame("pandas").to_csv(tmp_path / "films.csv", index=False)
    again = read_table(tmp_path / "films.csv")
    for name in ("genres", "ratings"):
        assert again.kinds[name].name == films.kinds[name].name
        for row in range(400):
            assert np.array_equal(again[name].cell(row), films[name].cell(row))


def test_records_are_read_by_their_names():
    cells = ['[{"id": 18, "name": "Drama"}, {"id": 35, "name": "Comedy"}]', "[]"] * 3
    column = read_table({"genres": cells})["genres"]
    assert column.kind.name == "set"
    assert column.cell(0) == {"Drama", "Comedy"}
    assert column.cell(1) == frozenset()


def test_a_kind_that_was_given_reads_lists_too():
    cells = {"place": ["[1, 2]", "[3, 4]"]}
    assert read_table(cells, kinds={"place": "vector"})["place"].values.tolist() == [[1, 2], [3, 4]]
    assert read_table(cells, kinds={"place": "text"})["place"].cell(0) == "[1, 2]"


def test_new_rows_may_be_lists_or_written_ones():
    table = read_table(pd.DataFrame({"tags": ["['a', 'b']", "['b']", "['c']"]}))
    for cell in (["a", "b"], "['a', 'b']", '["a", "b"]'):
        assert as_table([{"tags": cell}], table.schema)["tags"].cell(0) == {"a", "b"}
    assert as_table([{"tags": None}], table.schema)["tags"].cell(0) is None
    with pytest.raises(InvalidInput, match=r"'tags': needs lists such as.*'a and b', row 1"):
        as_table([{"tags": "['a']"}, {"tags": "a and b"}], table.schema)


def test_deep_nesting_is_text():
    deep = "[" * 100_000 + "]" * 100_000
    assert parse_lists(pa.array([deep])) is None
    assert read_table({"x": [deep, "[1]"], "y": [1, 2]}).kinds["x"].name in ("text", "category")


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["['a']", "[['x'], ['y']]"], r"1 of 2 cells that are not \(first: \"\[\['x'\]"),
        (["[[1]]", "['a']"], "2 of 2 cells"),  # each is a list for itself
        (['[{"z": 1}]', "['a']"], "2 of 2 cells"),
    ],
)
def test_new_lists_that_differ_from_each_other_are_named(cells, first):
    schema = read_table({"tags": ["['a', 'b']", "['b']", "['c']"]}).schema
    with pytest.raises(InvalidInput, match=first):
        as_table([{"tags": cell} for cell in cells], schema)


def test_written_records_without_a_name_wait_for_a_distance():
    cells = ['[{"a": 1}]', '[{"a": 2}, {"a": 3}]', "[]"] * 4
    table = read_table({"parts": cells, "size": range(12)})
    assert table.names == ("size",)
    count = Gower(distances={"parts": lambda a, b: abs(len(a) - len(b))}).fit(table)
    assert count.encode({"parts": ['[{"a": 7}, {"a": 8}]'], "size": [1]}) is not None
    assert count.schema_.kinds["parts"].name == "object"
