"""Lists written as text: what Python, JSON and numpy print is read back, nothing is run."""

import json
import re

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
from lookalike.table.formats.raw import of_values
from lookalike.table.infer.lists import find_sets, kind_of, list_facts, parse_lists

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
    # In a new column this would prove nothing; the fitted one has lists.
    assert as_table([{"tags": "[a]"}], table.schema)["tags"].cell(0) == {"a"}
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


# -- sets written as text: every threshold on both sides -------------------------------------------


def separator_of(strings):
    """Return what the strings are cut at; "" where they are not sets."""
    found = find_sets(of_values("tags", strings).strings())
    return "" if found is None else found.reading.separator


def test_a_tenth_of_the_strings_must_have_several_items():
    # 30 of 90 items come again, which is enough for a comma; only the share of lists is at stake.
    lists = [",".join(f"w{3 * i + j}" for j in range(3)) for i in range(10)]
    singles = [f"w{i}" for i in range(90)]
    assert separator_of(lists + singles) == ","
    assert separator_of([*lists, *singles, "w90"]) == ""
    # A separator that is hardly ever punctuation needs one in fifty.
    rare = [";".join(f"w{15 * i + j}" for j in range(15)) for i in range(2)]
    assert separator_of([*rare, *singles]) == ";"
    assert separator_of([*rare, *(f"w{i}" for i in range(99))]) == ""


def test_three_tenths_of_the_items_must_come_again():
    enough = words_of(["a,b,c", "a,d,e", "b,f,g,c", "h,i,j"])
    too_few = words_of(["a,b,c", "a,d,e", "a,f,g,b", "a,h,i,j"])
    assert separator_of(enough) == ","
    assert separator_of(too_few) == ""
    assert separator_of([text.replace(",", "|") for text in too_few]) == "|"


def words_of(cells):
    """Words of four letters, too long for codes."""
    return [re.sub("[a-z]", lambda letter: 4 * letter[0], cell) for cell in cells]


def test_a_tenth_of_codes_must_come_again():
    codes = ["ar-AE,fa,en", "ca,es", "en-AG", "hy,en", "bs,hr-BA,sr"]
    assert separator_of(codes) == ","
    assert separator_of([cell.replace("en", "english") for cell in codes]) == ""
    assert separator_of(["ar-AE,fa,en", "ca,es", "en-AG", "hy,ru", "bs,hr-BA,sr"]) == ""


def test_items_are_few_words():
    def cells(n_words, separator):
        a, b, c = (" ".join([letter * 2] * n_words) for letter in "abc")
        return [separator.join(items) for items in ((a, b), (b, c), (a, b, c), (a, c))]

    for n_words, comma, semicolon in ((2, ",", ";"), (3, "", ";"), (4, "", ";"), (5, "", "")):
        assert separator_of(cells(n_words, ",")) == comma, n_words
        assert separator_of(cells(n_words, ";")) == semicolon, n_words
    for length, separator in ((25, ";"), (26, "")):
        a, b, c = (letter * length for letter in "abc")
        assert separator_of([f"{a};{b}", f"{b};{c}", f"{a};{b};{c}"]) == separator, length


def test_a_handful_of_strings_may_have_one_list():
    assert separator_of(["a;b", "a", "b", "c", "d", "e"]) == ";"
    assert separator_of(["a;b", "a", "b", "c", "d", "e", "f"]) == ""
    assert separator_of(["a;b"]) == ""


def test_a_fifth_of_the_lists_may_repeat_an_item():
    lists = ["a;b", "b;c", "a;c", "a;b;c", "c;c;a"]
    assert separator_of(lists) == ";"
    assert separator_of(lists[1:]) == ""


def test_items_that_are_nearly_all_new_are_punctuation():
    assert separator_of(["a;b;c;d", "a;e;f;g", "b;h"]) == ";"  # 8 of 10 items
    assert separator_of(["a;b;c;d", "a;e;f;g", "h;i"]) == ""  # 9 of 10


def test_items_in_fixed_positions_are_pairs():
    pairs = ["Ulm, BY", "Aue, SN", "Hof, BY", "Ems, RP"]
    assert separator_of(pairs) == ""
    assert separator_of([*pairs, "BY"]) == ""  # four of five are pairs
    assert separator_of(["red, blue", "blue, red", "red, green", "green, blue"]) == ","


def test_between_slashes_are_words():
    assert separator_of(["ab/cd", "cd/ef", "ab/cd/ef"]) == "/"
    assert separator_of(["a/cd", "cd/ef", "a/cd/ef"]) == ""
    assert separator_of(["1,2", "2,3", "1,2,3"]) == ""  # numbers between commas are no items


def kind_of_cells(cells, type=None):
    return kind_of(list_facts(pa.array(cells, type)))


def test_sums_that_agree_within_a_hundredth_are_histograms():
    assert kind_of_cells([[0.5, 0.5], [0.5, 0.51]]).name == "histogram"
    assert kind_of_cells([[0.5, 0.5], [0.5, 0.52]]).name == "vector"
    assert kind_of_cells([[0.5, 0.5], [1.5, -0.5]]).name == "vector"
    assert kind_of_cells([[0.5, 0.5]]).name == "vector"  # one sum agrees with itself
    assert kind_of_cells([[0.5, 0.5], [0.0, 0.0], [0.0, 1.0]]).name == "histogram"
    assert kind_of_cells([[1.0], [1.0]]).name == "series"


def test_ids_that_come_twice_on_average_are_sets():
    assert kind_of_cells([[1, 2], [1, 2, 3], [3]]).name == "set"
    assert kind_of_cells([[1, 2], [1, 2, 3], [4]]).name == "series"
    assert kind_of_cells([[1, 1], [1, 2, 2], [2]]).name == "series"


def test_facts_of_parts_are_those_of_the_whole():
    for cells in ([[1, 2], [3], [1], [2, 3]], [["a"], [], ["b", "a"]], [[0.5, 0.5], [0.1, 0.9]]):
        for middle in range(1, len(cells)):
            whole = pa.array(cells)
            parts = [list_facts(whole[:middle]), list_facts(whole[middle:])]
            assert kind_of(parts[0].merge(parts[1])) == kind_of(list_facts(whole))


@pytest.mark.parametrize("kind", [None, "series", "histogram", "vector", "set", "sequence"])
def test_large_integers_in_lists_are_read(kind):
    large = 2**53 + 1
    table = read_table({"x": [[large, 1], [2, 3], [4, 5]] * 3}, kinds={"x": kind} if kind else {})
    column = table["x"]
    assert max(column.cell(0)) in (large, float(large))
    if kind in ("series", "histogram", "vector"):
        assert column.kind.name == kind
