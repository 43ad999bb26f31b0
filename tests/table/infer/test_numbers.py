"""Numbers as people write them."""

import numpy as np
import pyarrow as pa
import pytest

from lookalike.table.formats.raw import Words
from lookalike.table.infer.numbers import _is_unit, are_integers, find_numbers, read_amount


def find(*strings, prefer=""):
    return find_numbers(Words.once("x", pa.array(strings, pa.large_string())), prefer)


def test_one_reading_fits_every_string():
    for strings, values in (
        (("1", "2.5"), [1, 2.5]),
        (("1,067", "12,5"), [1.067, 12.5]),
        (("1,067", "12.5"), [1067, 12.5]),
        (("1.234,5", "7"), [1234.5, 7]),
        (("1 234", "5"), [1234, 5]),
        (("1'234.5", "5"), [1234.5, 5]),
        (("$3", "($4)", "-$5"), [3, -4, -5]),
        (("3 kg", "4 kg"), [3, 4]),
        (("$3k", "$2m"), [3000, 2e6]),
        (("1e3", "5%"), [1000, 5]),
        (("3 kg", "4 lb"), None),
        (("$3", "€4"), None),
        (("1A", "2A"), None),
    ):
        found = find(*strings)
        assert (None if found is None else found.cells.to_pylist()) == values, strings


def test_what_is_open_and_what_is_proven():
    assert (find("1,067").open, find("1,067").proves) == (",", "")
    assert (find("12,5").open, find("12,5").proves) == ("", ",")
    assert find("1.234", prefer=",").cells.to_pylist() == [1234]
    assert find("1.23", prefer=",").cells.to_pylist() == [1.23]
    assert find("1,067", prefer=",").cells.to_pylist() == [1.067]


def test_amounts_of_bands():
    for digits, multiple, value in (
        ("12", "", 12), ("1,000", "", 1000), ("1,5", "", 1.5), ("1.000.000", "", 1e6),
        ("1,000.5", "", 1000.5), ("2", "k", 2000), ("2", "M", 2e6), ("Inf", "", np.inf),
    ):  # fmt: skip
        assert read_amount(digits, multiple) == pytest.approx(value), digits


def test_integers_that_a_float_holds():
    assert are_integers(np.array([1.0, -2.0]))
    assert are_integers(np.array([]))
    assert are_integers(np.array([2.0**53 - 1]))
    for values in ([0.5], [np.inf], [np.nan], [2.0**53], [-(2.0**53)]):
        assert not are_integers(np.array(values)), values


def test_unknown_units_are_words_of_three_letters_after_a_space():
    assert _is_unit("zzz", True)
    assert not _is_unit("zz", True)
    assert not _is_unit("zzz", False)
    assert not _is_unit("Zzz", True)
    assert _is_unit("zzz yyy", True)
    assert not _is_unit("zzz yyy xxx", True)
