"""What a summary says about columns, against facts counted by hand."""

import datetime as dt

import pytest

from lookalike.table import ColumnSummary, as_table, read_table

ROWS = {
    "id": [1, 2, 3, 4],
    "name": ["Old brick house", "New tower flat", "Garden shed, red", "A boat house"],
    "price": [10.0, None, None, None],
    "tags": [["a", "b"], ["b"], [], ["b"]],
}


def summarize(values, kind=None):
    table = read_table({"c": values, "other": [0.5] * len(values)}, kinds=kind and {"c": kind})
    return table.summary()["c"]


def test_every_column_in_order_with_its_facts():
    table = read_table(ROWS)
    summary = table.summary()
    assert [one.column for one in summary] == ["name", "price", "tags", "id"]
    assert (len(summary), summary.n_rows, summary.title) == (4, 4, "4 rows, 4 columns")
    price = summary["price"]
    assert price is summary[1]
    assert (price.kind, price.missing, price.missing_share) == ("number", 3, 0.75)
    assert (price.distinct, price.low, price.high) == (1, 10, 10)
    assert price.warnings == ("mostly missing: 3 of 4 cells",)
    assert (summary["tags"].distinct, summary["tags"].low) == (2, None)
    assert not summary["id"].compared
    assert summary["id"].warnings == (f"set aside: {summary['id'].reason}",)
    assert summary["name"].reason == table.kinds["name"].reason
    with pytest.raises(KeyError, match="Did you mean 'price'"):
        summary["prize"]


def test_text_form():
    lines = str(read_table(ROWS).summary()).splitlines()
    assert lines[0] == "table: 4 rows, 4 columns"
    assert lines[2].split() == ["column", "kind", "missing", "values", "why"]
    by_column = {line.split()[0]: line for line in lines[4:-2] if line.strip()}
    assert "b 75%, a 25%" in by_column["tags"]
    assert "(aside)" in by_column["id"]
    assert lines[-1] == "! price: mostly missing"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_and_records_hold_the_same(backend):
    table = read_table(
        ROWS | {"day": ["2020-01-05", "2021-03-01", None, "2020-02-01"]}, kinds={"day": "number"}
    )
    summary = table.summary()
    frame = summary.to_frame(backend)
    assert tuple(frame.shape) == (5, len(ColumnSummary.__dataclass_fields__))
    names = frame["column"].to_pylist() if backend == "pyarrow" else list(frame["column"])
    assert names == [one.column for one in summary]
    records = summary.records()
    assert [record["column"] for record in records] == [one.column for one in summary]
    assert records[-2]["low"] == "2020-01-05"
    assert records[1]["warnings"] == ["mostly missing: 3 of 4 cells"]


@pytest.mark.parametrize(
    ("values", "kind", "examples"),
    [
        ([3.0, 1.0, 2.0, 10.0], None, (1.0, 2.0, 10.0)),
        ([2.0, 2.0, None], None, (2.0,)),
        (["b", "a", "b", "c", "d", "b", "a", "c"], None, ("b", "a", "c")),
        ([["a", "b"], ["b"], []], None, ("b", "a")),
        ([[], []], "set", ()),
        ([[1.0, 2.0], [2.0, 3.0]], "vector", ([1.0, 2.0],)),
        ([None, "one long text here"], "text", ("one long text here",)),
        (
            ["2020-01-05", "2021-03-01"],
            "number",
            (dt.datetime(2020, 1, 5), dt.datetime(2021, 3, 1)),
        ),
    ],
)
def test_examples_are_values_of_the_column(values, kind, examples):
    assert summarize(values, kind).examples == examples


def test_a_category_that_is_new_is_named():
    known = read_table({"c": ["x", "y", "x"]}, kinds={"c": "category"})
    summary = as_table({"c": ["z", "x", "z"]}, known.schema).summary()
    assert summary["c"].examples == ("z", "x")


def test_compare_by_sets_the_rest_aside_and_brings_columns_back():
    table = read_table(ROWS)
    some = table.compare_by(["tags", "id"])
    assert some.names == ("tags", "id")
    assert [column.name for column in some.aside] == ["name", "price"]
    assert some.record(0) == {name: table.record(0)[name] for name in table.record(0)}
    assert table.compare_by("price").names == ("price",)
    with pytest.raises(KeyError, match="Did you mean 'price'"):
        table.compare_by(["prize"])


@pytest.mark.parametrize(
    ("values", "kind", "warning"),
    [
        ([2.5, 2.5, 2.5], None, "constant"),
        (["x"] * 4, None, "constant"),
        ([["a"], ["a"]], None, "constant"),
        ([[1.0, 2.0], [1.0, 2.0]], "vector", "constant"),
        ([1.0, None, None, 3.0, None], None, "mostly missing: 3 of 5 cells"),
        ([1.0, 2.0, float("inf")], None, "infinite: 1 of its numbers"),
        (["ab", "cd", "ef", "gh"], None, "hardly a category: 4 values in 4 rows"),
        (list(range(100, 120)), None, "looks like row numbers"),
        (list(range(100, 140, 2)), None, "looks like an identifier"),
    ],
)
def test_what_deserves_a_warning(values, kind, warning):
    (warned,) = summarize(values, kind).warnings
    assert warned.startswith(warning)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 2.0, 2.0], None),
        ([5.0, None], None),  # one value alone is not constant, and half is not mostly
        (["ab", "cd", "ab", "cd"], None),
        (list(range(19)), None),  # too few to tell
        ([i + 0.5 for i in range(20)], None),
        ([*range(19), 18], None),
        ([[1.0, 2.0], [1.0, 2.5]], "vector"),
        ([[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]], "series"),
    ],
)
def test_what_deserves_none(values, kind):
    assert summarize(values, kind).warnings == ()


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ([3.0, 1.0, 2.0, 10.0], None, "1 to 10, median 2"),
        (["b", "a", "b", "c", "d", "b", "a", "c"], None, "b 38%, a 25%, c 25%, …"),
        (["lo", "hi", "lo"], ["lo", "mid", "hi"], "lo < mid < hi"),
        ([True, False, None, True], None, "True 67%, False 33%"),
        (
            ["one long text here", "and another one of them"],
            None,
            "such as and another one of them",
        ),
        ([["a", "b"], ["b"], []], None, "b 67%, a 33%"),
        ([[], []], "set", "all empty"),
        ([[1.0], [2.0, 3.0]], "series", "1 to 2 values each"),
        ([[1.0, 2.0], [2.0, 3.0]], "series", "2 values each"),
        ([[0.5, 0.5], [0.2, 0.8]], None, "2 bins"),
        ([[0.5, 1.5], [0.2, -0.8]], None, "2 entries"),
        ([{"nodes": [1, 2], "edges": [[1, 2]]}], None, "2 nodes each"),
    ],
)
def test_values_in_words(values, kind, words):
    assert summarize(values, kind).values == words


def test_dates_keep_their_form():
    found = summarize(["2020-01-05", "2021-03-01", "2020-06-01"], "number").to_dict()
    assert (found["low"], found["high"]) == ("2020-01-05", "2021-03-01")


def test_the_ends_of_numbers_and_dates_are_in_a_frame():
    numbers = read_table({"x": [3.0, 1.0, None], "y": ["a", "b", "a"]}).summary().to_frame()
    assert numbers["low"].tolist()[0] == 1.0
    assert numbers["high"].tolist()[0] == 3.0
    assert numbers["low"].isna().tolist() == [False, True]
    dates = read_table({"d": ["2020-01-05", "2021-02-03"], "x": [1.0, 2.0]}).summary().to_frame()
    assert dates["low"].tolist() == ["2020-01-05", "1"]
