"""Columns as they arrive."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput
from lookalike.table.formats.raw import (
    as_number,
    is_list,
    is_missing,
    is_numeric,
    map_distinct,
    means_missing,
    missing_words,
    of_arrow,
    of_values,
    short_number,
    written,
)


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


def test_types():
    assert is_list(pa.list_(pa.int64()))
    assert not is_list(pa.struct([("a", pa.int64())]))
    assert not is_list(None)
    assert is_numeric(pa.bool_())
    assert is_numeric(pa.float32())
    assert not is_numeric(pa.string())


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
    assert map_distinct(pa.array(["a", None, "b"]), len, 9).tolist() == [1, 9, 1]


def test_cells_within_cells_have_an_end():
    deepest = 1
    for _ in range(64):
        deepest = [deepest]
    assert of_values("x", [deepest]).rows == 1
    with pytest.raises(InvalidInput, match="at most 64 lists within lists"):
        of_values("x", [[deepest]])
