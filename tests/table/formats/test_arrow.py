"""Types of Arrow, and functions of all strings of an array."""

import pyarrow as pa

from lookalike.table.formats.arrow import (
    MAX_SAMPLE_STRINGS,
    all_match,
    is_list,
    is_numeric,
    map_distinct,
    matches,
)


def text(*strings):
    return pa.array(strings, pa.large_string())


def test_types():
    assert is_list(pa.list_(pa.int64()))
    assert not is_list(pa.struct([("a", pa.int64())]))
    assert not is_list(None)
    assert is_numeric(pa.bool_())
    assert is_numeric(pa.float32())
    assert not is_numeric(pa.string())


def test_a_function_of_distinct_strings():
    assert map_distinct(pa.array(["a", None, "b"]), len, 9).tolist() == [1, 9, 1]


def test_patterns_look_at_every_string():
    many = text(*["a"] * MAX_SAMPLE_STRINGS, "b")
    assert not all_match(many, "^a$")
    assert all_match(many[:-1], "^a$")
    assert all_match(many, "^[ab]$")
    assert not all_match(text("b", "a"), "^a$")
    assert matches(text("ab", "c"), "b").tolist() == [True, False]
