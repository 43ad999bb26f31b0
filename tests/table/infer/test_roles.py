"""Columns that name rows, and numbers that mean missing."""

import numpy as np
import pytest

from lookalike.table import read_table
from lookalike.table.infer import roles


def test_names_of_columns():
    for name in ("zip", "store_id", "account_no", "phone_number", "schoolid", "fcode"):
        assert roles.is_code_name(name), name
    for name in ("paid", "no", "atomic_number", "valid", "size"):
        assert not roles.is_code_name(name), name
    for name in ("id", "userId", "row_uuid", "KEY_id"):
        assert roles.is_identifier_name(name), name
    for name in ("index", "Unnamed: 0", "#", "row_names", "level_0"):
        assert roles.is_row_name(name), name
    assert not roles.is_row_name("rowing")
    assert roles.names_things("subject")
    assert not roles.names_things("subject_weight")
    assert roles.says_date("birthdate")
    assert not roles.says_date("price")


@pytest.mark.parametrize("times", [None, "ones"])
def test_sentinels_lie_far_from_the_rest(times):
    def found(values):
        values = np.array(values, float)
        weights = None if times is None else np.ones(len(values), np.int64)
        return roles.sentinel_note(values, weights)[1]

    usual = list(range(1, 11))
    assert found([*usual, -999]) == (-999,)  # one is enough where nothing is negative
    assert found([*usual, -2, -999]) == ()
    assert found([*usual, 999, 999]) == (999,)
    assert found([*usual, 999]) == ()
    assert found([*usual, 999, 998]) == (999, 998)
    assert found([*usual, 20, 99, 99]) == (99,)
    assert found([*usual, 45, 99, 99]) == ()  # 99 is within three ranges
    assert found([*usual, -1, -1]) == (-1,)
    assert found([0, *usual, -1, -1]) == ()
    assert found([1, 2, 3, -999, -999]) == ()  # too few cells to know
    assert found([*[1, 2] * 5, -999]) == ()  # two other values are codes


def test_sentinels_are_weighted_by_their_rows():
    values = np.array([-999.0, 1.0, 2.0, 3.0])
    assert roles.sentinel_note(values, np.array([1, 3, 3, 3]))[1] == (-999,)
    assert roles.sentinel_note(values, np.array([1, 2, 2, 2]))[1] == ()
    assert roles.sentinel_note(values, np.array([99, 1, 1, 1]))[1] == ()  # hardly anything else


def test_copies_need_twenty_rows_and_variety():
    def aside(values, n):
        table = read_table({"x": (values * n)[:n], "y": (values * n)[:n]})
        return table["y"].kind.role == "copy"

    assert aside([1.5, 2.5, 3.5, 4.5, 5.5], 20)
    assert not aside([1.5, 2.5, 3.5, 4.5, 5.5], 19)
    assert aside([0.5, 1.5], 20)  # ten of each
    assert not aside([0.5] * 11 + [1.5] * 9, 20)
