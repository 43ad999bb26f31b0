"""New rows are read the way the fitted table was."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lookalike.errors import InvalidInput, LookalikeWarning, WrongType
from lookalike.table import Kind, as_table, read_table
from transcript import assert_transcript

FITTED = {
    "id": [1, 2, 3],
    "year": [1999, 2004, 2004],
    "color": ["red", "blue", "red"],
    "size": ["S", "L", "M"],
    "seen": [True, False, True],
    "tags": [["a"], ["a", "b"], []],
    "when": [dt.date(2001, 1, 1), dt.date(2002, 1, 1), dt.date(2003, 1, 1)],
    "bins": [[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]],
}
KINDS = {"size": ["S", "M", "L"]}
ROW = {
    "bins": [0.25, 0.75],
    "year": 2000,
    "color": "green",
    "size": "M",
    "tags": ["z"],
    "seen": None,
    "when": "2001-06-01",
}


@pytest.fixture(scope="module")
def fitted():
    return read_table(FITTED, kinds=KINDS)


def column_form(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: rows,
        column_form,
        lambda rows: pd.DataFrame(rows),
        lambda rows: pl.DataFrame(rows),
        lambda rows: read_table(column_form(rows), kinds={"size": "category", "when": "text"}),
    ],
    ids=["records", "columns", "pandas", "polars", "table"],
)
def test_columns_are_put_in_the_fitted_order(form, fitted):
    rows = [ROW, ROW | {"color": "blue", "seen": True, "size": None}]
    new = as_table(form(rows), fitted.schema)
    assert new.names == fitted.names
    assert new.kinds == fitted.kinds
    assert new["year"].values.tolist() == [2000, 2000]
    assert new["size"].values.tolist() == [1, -1]
    assert new["seen"].values.tolist() == [-1, 1]
    assert new["tags"].cell(0) == frozenset("z")
    assert new["when"].cell(0) == dt.datetime(2001, 6, 1)
    assert new["bins"].values.tolist() == [[0.25, 0.75]] * 2
    assert new["color"].values[1] == 0
    assert new["color"].values[0] < -1
    assert new["color"].cell(0) == "green"
    assert list(new["color"].unknown.values()) == ["green"]


def test_one_record(fitted):
    new = as_table(ROW, fitted.schema)
    assert new.shape == (1, 7)
    again = as_table(ROW, fitted)
    assert again["color"].values[0] == new["color"].values[0] < -1
    assert as_table(fitted.record(1), fitted.schema).record(0) == fitted.record(1)


def test_the_same_unknown_value_has_the_same_code(fitted):
    codes = [as_table(ROW | {"color": c}, fitted)["color"].values[0] for c in ("u", "v", "u")]
    assert codes[0] == codes[2] != codes[1]


def test_a_table_read_the_same_way_is_taken_without_copying(fitted):
    part = fitted[[2, 0]]
    new = as_table(part, fitted.schema)
    assert new["color"].values is part["color"].values
    assert new.aside[0].values.tolist() == [3, 1]


def test_the_identifier_is_no_extra_column(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = as_table([ROW | {"id": 77}], fitted.schema)
    assert new.aside[0].cell(0) == 77
    assert new.aside[0].kind.reason == fitted.aside[0].kind.reason


def test_extra_columns_are_a_warning(fitted):
    with pytest.warns(LookalikeWarning, match=r"found also 'more', 'other'\. They are not used"):
        new = as_table([ROW | {"more": 1, "other": 2}], fitted.schema, who="Gower")
    assert new.names == fitted.names


def test_lacking_columns_are_an_error(fitted):
    row = {name: value for name, value in ROW.items() if name not in ("year", "color")}
    with pytest.raises(
        InvalidInput, match=r"Gower: needs the 7 columns .* no column 'year', 'color'"
    ):
        as_table(row, fitted.schema, who="Gower")
    with pytest.raises(InvalidInput, match=r"Did you mean 'yaer'\?"):
        as_table([row | {"yaer": 1, "color": "red"}], fitted.schema)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"year": "soon"}, InvalidInput, "1 of 1 cells that are not (first: 'soon', row 0)"),
        ({"year": dt.date(2001, 1, 1)}, InvalidInput, "needs plain numbers"),
        ({"year": {"a": 1}}, WrongType, "argument must be a string or a real number"),
        ({"size": "XL"}, InvalidInput, "one of the levels 'S', 'M', 'L'"),
        ({"seen": "perhaps"}, InvalidInput, "needs yes or no"),
        ({"tags": "a,b"}, WrongType, "a string is not a set"),
        ({"when": "soon"}, InvalidInput, "needs dates"),
        ({"bins": [0.1, 0.2, 0.7]}, InvalidInput, "needs 2 numbers in every histogram, found 3"),
        ({"color": {"r", "g"}}, WrongType, "needs single values"),
    ],
)
def test_wrong_cells_are_errors(change, error, text, fitted):
    with pytest.raises(error) as caught:
        as_table([ROW | change], fitted.schema)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("fit", "new", "codes"),
    [
        (["1", "2", "2"], [2, 1.0, "1"], [1, 0, 0]),
        ([1, 2, 2], ["2", 1.0, True], [1, 0, 0]),
        ([True, False, True], ["true", 0, True], [1, 0, 1]),
    ],
)
def test_a_category_written_otherwise_is_the_same(fit, new, codes):
    table = read_table({"c": fit}, kinds={"c": "category"})
    assert as_table({"c": new}, table)["c"].values.tolist() == codes


def test_numbers_may_come_as_text_or_flags(fitted):
    assert as_table(ROW | {"year": "2001"}, fitted)["year"].values[0] == 2001
    assert as_table(ROW | {"year": None}, fitted)["year"].missing[0]
    assert as_table(ROW | {"seen": "yes"}, fitted)["seen"].values[0] == 1
    assert as_table(ROW | {"seen": 0}, fitted)["seen"].values[0] == 0


def test_missing_tokens_hold_for_new_rows():
    table = read_table({"a": ["1", "?"], "b": ["u", "v"]}, missing=["?"])
    assert as_table({"a": "?", "b": "?"}, table).record(0) == {"a": None, "b": None}


def test_a_csv_file_keeps_the_writing_of_its_categories(tmp_path):
    (tmp_path / "a.csv").write_text("code,x\n01,1\nA,2\n01,3\n")
    (tmp_path / "b.csv").write_text("x,code\n5,01\n6,1\n")
    table = read_table(tmp_path / "a.csv")
    new = as_table(tmp_path / "b.csv", table.schema)
    assert new["code"].values[0] == 0
    assert new["code"].cell(1) == "1"
    assert new["code"].values[1] < -1


@pytest.mark.parametrize(
    ("fit", "one", "many"),
    [
        ({"s": [["a"], ["b"]]}, {"s": ["a", "b"]}, {"s": [["a"], None]}),
        ({"s": [{"a"}, {"b"}]}, {"s": {"a"}}, {"s": [{"a"}, {"b"}]}),
        ({"v": [[1.0, -2.0], [3.0, 4.0]]}, {"v": [1.0, 2.0]}, {"v": [[1.0, 2.0], [0.0, 0.0]]}),
        ({"o": [{"a": 1}, {"b": 1}]}, {"o": {"c": 1}}, {"o": [{"c": 1}, {"d": 1}]}),
        ({"n": [1, 2]}, {"n": 3}, {"n": [3, 4]}),
        ({"n": [1, 2]}, {"n": None}, {"n": np.array([3, 4])}),
    ],
)
def test_one_row_or_a_column_is_decided_by_the_kind(fit, one, many):
    schema = read_table(fit).schema
    assert len(as_table(one, schema)) == 1
    assert len(as_table(many, schema)) == 2


def test_arrays_are_matched_by_position():
    table = read_table(np.eye(4))
    new = as_table(np.arange(8).reshape(2, 4), table.schema)
    assert new["x3"].values.tolist() == [3, 7]
    assert new.kinds == table.kinds
    message = r"X has 3 features, but Ranked is expecting 4 features as input"
    for rows in (np.ones((2, 3)), [[1, 2, 3]], np.ones((2, 3), dtype=object)):
        with pytest.raises(InvalidInput, match=message):
            as_table(rows, table.schema, who="Ranked")
    named = read_table({"a": [1, 2], "b": ["u", "v"]})
    assert as_table([[5, "u"]], named)["b"].values.tolist() == [0]
    assert as_table(np.array([[5, "w"]], dtype=object), named).record(0) == {"a": 5, "b": "w"}


def test_an_array_with_a_column_set_aside_keeps_its_width():
    X = np.array([[1, None, "u"], [2, None, "v"], [3, None, "u"]], dtype=object)
    table = read_table(X)
    assert table.names == ("x0", "x2")
    assert as_table(X, table)["x2"].values.tolist() == [0, 1, 0]
    assert as_table(X[:, [0, 2]], table)["x2"].values.tolist() == [0, 1, 0]


def test_names_after_an_array_are_taken_by_position_with_a_warning():
    table = read_table(np.eye(2))
    with pytest.warns(LookalikeWarning, match="taken by position"):
        new = as_table(pd.DataFrame({"a": [1], "b": [2]}), table)
    assert new.record(0) == {"x0": 1, "x1": 2}


def test_a_dictionary_with_names_is_columns_by_position_for_an_array():
    """Names that the array did not have must not make one record of columns of length one."""
    schema = read_table(np.arange(8.0).reshape(4, 2)).schema
    for source, expected in (
        ({"a": [1.5], "b": [2.5]}, [[1.5], [2.5]]),
        ({"a": [1.5, 3.5], "b": [2.5, 4.5]}, [[1.5, 3.5], [2.5, 4.5]]),
        ({"a": 1.5, "b": 2.5}, [[1.5], [2.5]]),  # one record
    ):
        with pytest.warns(LookalikeWarning, match="taken by position"):
            new = as_table(source, schema)
        assert [column.values.tolist() for column in new] == expected
    # Names of the array are matched by name, whatever their order.
    assert as_table({"x1": [2.5], "x0": [1.5]}, schema)["x0"].values.tolist() == [1.5]
    with pytest.raises(InvalidInput, match="no column .x0., .x1."):
        as_table({"a": [1.5], "b": [2.5], "c": [3.5]}, schema)


def test_a_given_category_may_meet_values_outside_its_levels():
    table = read_table({"c": ["a", "z"]}, kinds={"c": Kind("category", levels=("a", "b"))})
    assert table.kinds["c"].levels == ("a", "b")
    assert table["c"].values[1] < -1
    assert table["c"].cell(1) == "z"


@pytest.mark.parametrize("kind", ["set", "sequence", "series", "vector"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_columns_of_missing_cells_alone_are_columns(kind, n):
    cells = [[1.0, 2.0], [3.0, 4.0]] if kind in ("series", "vector") else [["a"], ["b", "c"]]
    fitted = read_table({"t": cells, "u": cells}, kinds={"t": kind, "u": kind})
    assert len(as_table({"t": [None] * n, "u": [None] * n}, fitted.schema)) == n
    assert len(as_table({"t": [None] * n, "u": [cells[0]] * n}, fitted.schema)) == n
    assert len(as_table({"t": None, "u": cells[0]}, fitted.schema)) == 1


@pytest.mark.filterwarnings("ignore")
def test_every_answer_of_the_transcript_is_as_it_was():
    assert_transcript("table/read")


def test_partial_rows_may_lack_columns_but_have_no_unknown_one():
    fitted = read_table({"size": [1.5, 2.5, 9.0], "color": ["red", "blue", "red"]})
    row = as_table({"size": 2.0}, fitted, partial=True)
    assert row.names == fitted.names
    assert row["color"].missing.tolist() == [True]
    with pytest.raises(InvalidInput, match="columns of the table, found 'colour'.*color"):
        as_table({"size": 2.0, "colour": "red"}, fitted, partial=True)
    with pytest.raises(InvalidInput, match="color"):
        as_table({"size": 2.0}, fitted)
