"""Columns as they arrive."""

import datetime as dt
import decimal
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table.formats.arrow import is_list, is_number
from lookalike.table.formats.raw import (
    Raw,
    Words,
    as_number,
    is_missing,
    of_array,
    of_arrow,
    of_values,
    short_number,
    written,
)
from lookalike.table.infer.vocabulary import means_missing, missing_words


def test_numbers_are_written_as_files_have_them():
    assert [written(v) for v in (4.0, 4.5, True, np.bool_(False), "4.0", 10**20)] == [
        "4", "4.5", "true", "false", "4.0", "100000000000000000000",
    ]  # fmt: skip
    assert [short_number(v) for v in (5220.0, 0.25, 1e15, 1 / 3)] == [
        "5220", "0.25", "1e+15", "0.333333",
    ]  # fmt: skip
    assert [as_number(word) for word in ("4", "1e3", "1_000", "x", "")] == [
        4,
        1000,
        None,
        None,
        None,
    ]


def test_what_means_no_cell():
    for value in (
        None,
        float("nan"),
        np.datetime64("NaT"),
        decimal.Decimal("NaN"),
        np.float32("nan"),
    ):
        assert is_missing(value), value
    for value in ("", 0, False, np.inf, [], np.datetime64("2020")):
        assert not is_missing(value), value


def test_tokens_are_taken_out_in_every_form():
    assert of_values("x", [1.0, 4.0, None]).without(["4"]).values() == [1.0, None, None]
    assert of_values("x", ["a", " ?", "?"]).without(["?"]).values() == ["a", None, None]
    assert of_values("x", [{1}, "4", 4.0]).without([4]).values() == [{1}, None, None]
    days = of_values("x", [dt.date(2020, 1, 1)])
    assert days.without(["2020-01-01"]) is days
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([1, 2]), ordered=True)
    raw = of_arrow("x", ordered).without(["2"])
    assert (raw.declared, raw.values()) == ("order", [1, None, None])


def test_strings_are_counted_once_and_spread_again():
    raw = of_values("x", ["b", " b", None, "a", "b"])
    words = raw.strings()
    assert words.counted() == {"b": 2, " b": 1, "a": 1}
    assert (words.rows, words.count, len(words)) == (5, 4, 3)
    typed = raw.spread(words.where(np.array([True, True, False])), pa.array([1, 2]))
    assert typed.values() == [1, 2, None, None, 1]
    rows, first, every = raw.misfits(words, np.array([True, True, False]))
    assert (rows.tolist(), first, every) == ([3], "a", False)
    rows, first, every = raw.misfits(words, np.array([True, True, True]))
    assert (rows.tolist(), first, every) == ([0, 1, 3, 4], "b", True)


def test_words_keep_their_order_or_take_another():
    raw = of_values("x", ["b", "a", None, "c"])
    assert raw.with_order(np.array([2, 0])).values() == ["b", None, None, "c"]
    assert raw.with_order(np.array([2, 0])).words.to_pylist() == ["c", "b"]
    assert of_values("x", ["a", " ", ""]).neutral().values() == ["a", None, None]


def test_an_error_counts_the_cells_and_names_the_first():
    error = of_values("x", ["a", "b", "c"]).error([1, 2], "b", "numbers", "Drop them")
    assert isinstance(error, InvalidInput)
    assert "2 of 3 cells that are not (first: 'b', row 1)" in str(error)


def test_words_for_missing():
    assert missing_words(pa.array(["NA", "US", "DE"], pa.large_string())) == ()
    assert missing_words(pa.array(["NA", "US", "Rio"], pa.large_string())) == ("NA",)
    assert missing_words(pa.array(["NA", "null", "US"], pa.large_string())) == ("null",)
    assert missing_words(pa.array(["NA"], pa.large_string())) == ("NA",)
    strings = pa.array(["n/a", "N/A", "x", "-"], pa.large_string())
    assert means_missing(strings).tolist() == [True, True, False, True]


def test_cells_within_cells_have_an_end():
    deepest = 1
    for _ in range(64):
        deepest = [deepest]
    assert of_values("x", [deepest]).rows == 1
    with pytest.raises(InvalidInput, match="at most 64 lists within lists"):
        of_values("x", [[deepest]])


def text(*strings):
    return pa.array(strings, pa.large_string())


def test_what_a_column_says_of_itself():
    raw = of_values("x", ["b", None, "a", "b"])
    assert (len(raw), raw.rows, raw.count, raw.is_arrow, raw.is_text) == (4, 4, 3, True, True)
    assert raw.codes.tolist() == [0, -1, 1, 0]
    assert of_values("x", ["b", "a"]).codes.tolist() == [0, 1]
    assert (raw.declared, raw.times, raw.distinct, raw.typed) == ("", None, None, False)
    for declared, is_text in (("order", False), ("enum", False), ("category", True)):
        assert replace(raw, declared=declared).is_text is is_text
    weighted = replace(raw, times=np.array([5, 7, 1, 2]))
    assert (weighted.rows, weighted.count) == (15, 8)
    assert weighted.strings().counted() == {"b": 7, "a": 1}
    assert weighted.spread(weighted.strings(), pa.array([1, 2])).times.tolist() == [5, 7, 1, 2]
    things = of_values("x", [{1}, None, {2}])
    assert (things.is_arrow, things.type, things.is_text, things.count) == (False, None, False, 2)
    assert things.present().tolist() == [True, False, True]
    assert things.values() == [{1}, None, {2}]
    numbers = Raw("x", pa.array([1.0, np.nan, None]))
    assert numbers.present().tolist() == [True, False, False]
    assert numbers.values() == [1.0, None, None]
    assert not numbers.is_text
    # Levels of integers are a dictionary, and no text.
    levels = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([1, 2]))
    assert not Raw("x", levels).is_text


def test_tokens_change_only_what_they_mean():
    same = of_values("x", [1.0, 2.0])
    assert same.without([]) is same
    assert same.without(["3", "x"]) is same
    nothing = Raw("x", pa.nulls(2))
    assert nothing.without(["a"]) is nothing
    words = of_values("x", ["a", "b"])
    assert words.without(["c"]) is words
    # Declared levels are compared as they are, without the spaces of text.
    levels = pa.DictionaryArray.from_arrays(pa.array([0, 1]), text(" ?", "?"), ordered=True)
    assert of_arrow("x", levels).without(["?"]).values() == [" ?", None]
    truths = of_values("x", [{1}, True, [4], decimal.Decimal(7)]).without([True, "[4]", 7])
    assert truths.values() == [{1}, None, [4], None]
    blank = of_values("x", ["a", " b "])
    assert blank.neutral() is blank
    assert same.neutral() is same


def test_errors_write_their_value_as_python_does():
    raw = of_values("x", [1, 2, 3])
    error = raw.error(2, np.int64(3), "words", "Drop it", WrongType)
    assert isinstance(error, WrongType)
    assert "Column 'x'" in str(error)
    assert "1 of 3 cells that are not (first: 3, row 2)" in str(error)
    long = raw.error([0], "y" * 100, "words", "Drop it")
    assert f"(first: '{'y' * 59}, row 0)" in str(long)
    words = of_values("x", ["a", "b"]).strings()
    rows, first, every = of_values("x", ["a", "b"]).misfits(words, np.array([False, False]))
    assert (rows.tolist(), first, every) == ([0, 1], "a", True)


def test_every_arrow_type_becomes_one_of_a_few():
    def kept(cells):
        raw = of_arrow("x", cells)
        return raw.values(), str(raw.type), raw.declared

    string = "dictionary<values=large_string, indices=int32, ordered=0>"
    assert kept(pa.array(["a", None])) == (["a", None], string, "")
    assert kept(pa.chunked_array([["a"], ["b", "a"]])) == (["a", "b", "a"], string, "")
    assert kept(pa.chunked_array([], pa.string())) == ([], string, "")
    assert kept(pa.chunked_array([[1], [2]])) == ([1, 2], "int64", "")
    assert kept(pa.array([decimal.Decimal("1.5")])) == ([1.5], "double", "")
    assert kept(pa.array([np.float16(1.5)])) == ([1.5], "float", "")
    assert kept(pa.array(["a"]).cast(pa.string_view())) == (["a"], string, "")
    maps = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    assert kept(maps) == ([{"a": 1}, None], "None", "")
    for cells, declared in ((["b", "a"], "category"), ([2.5, 1.5], "category")):
        one = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(cells))
        two = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(cells[::-1]))
        assert kept(one)[::2] == (cells[::-1], declared)
        assert kept(pa.chunked_array([one, two]))[0] == [*cells[::-1], cells[1]]
    ordered = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["b", "a"]), ordered=True)
    assert of_arrow("x", ordered).declared == "order"
    assert of_arrow("x", ordered, declared="enum").declared == "enum"
    assert of_arrow("x", ordered).words.to_pylist() == ["b", "a"]
    holes = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    assert kept(holes) == (["a", None], string, "")
    spans = pa.array([pa.MonthDayNano([0, 2, 3_000]), None], pa.month_day_nano_interval())
    assert kept(spans)[:2] == ([dt.timedelta(2, microseconds=3), None], "duration[us]")
    months = [pa.MonthDayNano([1, 0, 0]), None]
    assert kept(pa.array(months, pa.month_day_nano_interval()))[:2] == (months, "None")


def test_values_of_python_in_every_mixture():
    def kept(*values):
        return of_values("x", values).values()

    assert kept(1, "n/a", 2.0, True, None) == ["1", "n/a", "2", "true", None]
    assert kept(10**30, 5) == [str(10**30), "5"]
    assert kept(10**30, True) == [str(10**30), "1"]
    day, hour = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)
    assert kept(day, hour) == [dt.datetime(2020, 1, 2), hour]
    assert kept(day, None) == [day, None]
    assert kept(day, "x") == ["2020-01-02", "x"]
    assert kept(pd.Period("2020-01"), pd.Interval(0, 1), None) == ["2020-01", "(0, 1]", None]
    assert kept("\ud800", "a") == ["\ud800", "a"]
    assert kept({1}, "a", float("nan")) == [{1}, "a", None]
    assert kept(b"a", None) == [b"a", None]
    assert kept([1, 2], "a") == [[1, 2], "a"]
    for cell in (1j, np.complex64(1)):
        with pytest.raises(InvalidInput, match="Column 'x'.*real numbers"):
            of_values("x", [1, cell])
    deep = {}
    deep["a"] = deep
    with pytest.raises(InvalidInput, match="Column 'x', row 1"):
        of_values("x", [{}, deep])


def test_arrays_of_numpy():
    def kept(values):
        raw = of_array("x", values)
        return raw.values(), str(raw.type)

    assert kept(np.array([[1, 2], [3, 4]])) == (
        [[1, 2], [3, 4]],
        "fixed_size_list<item: double>[2]",
    )
    single = np.array([[1, 2]], np.float32)
    assert kept(single) == ([[1, 2]], "fixed_size_list<item: float>[2]")
    assert kept(np.ones((1, 1, 1)))[0] == [[[1.0]]]
    assert kept(np.array([["a", "b"]]))[0] == [["a", "b"]]
    assert kept(np.array([b"a\xc3\xa4"]))[0] == ["aä"]
    assert kept(np.array(["a", None], object))[0] == ["a", None]
    assert kept(np.arange(6)[::2]) == ([0, 2, 4], "int64")
    assert kept(np.array([1.5, np.nan])) == ([1.5, None], "double")
    assert kept(np.array([1.5], np.longdouble)) == ([1.5], "double")
    assert kept(np.array(["2020-01-02"], "M8[D]"))[1] == "timestamp[s]"
    assert kept(np.array([90], "m8[m]")) == ([dt.timedelta(minutes=90)], "duration[s]")
    assert kept(np.array(["2020-01-02"], "M8[ms]"))[1] == "timestamp[ms]"
    with pytest.raises(InvalidInput, match="complex ones"):
        of_array("x", np.array([1j]))


def test_words_are_strings_and_their_counts():
    words = Words.once("x", text("a", "b"))
    assert (words.counts.tolist(), words.rows, words.count) == ([1, 1], 1, 2)
    assert words.where(np.array([True, True])) is words
    some = words.where(np.array([False, True]))
    assert (some.counted(), some.distinct.to_pylist()) == ({"b": 1}, ["b"])
    # Text beyond every word for missing is not looked up, but one short string among it is.
    assert means_missing(text("n/a", "x" * 81)).tolist() == [True, False]
    assert means_missing(text("x" * 81)).tolist() == [False]
    assert means_missing(text()).tolist() == []
    assert [short_number(v) for v in (-1e15, 1e15 - 1, -5.0)] == ["-1e+15", "999999999999999", "-5"]
    assert [is_number(kind) for kind in (pa.int8(), pa.float64(), pa.bool_())] == [
        True,
        True,
        False,
    ]
    assert not is_list(pa.int64())
    assert is_missing(pd.NA)
    assert is_missing(pd.NaT)
