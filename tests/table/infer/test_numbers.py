"""Numbers as people write them."""

import datetime as dt
import decimal
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from lookalike.errors import InvalidInput, WrongType
from lookalike.table import Kind, as_table, read_table
from lookalike.table.formats.raw import Raw, Words, of_values
from lookalike.table.infer.numbers import (
    PLAIN,
    _is_unit,
    _singular,
    are_integers,
    are_measured,
    find_numbers,
    infer_numbers,
    misfit_numbers,
    parse_numbers,
    read_amount,
    read_number,
)
from lookalike.table.model.kind import Reading


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


def test_hours_are_guessed_to_come_round():
    cells = {"hour": [0, 23, 11, 4], "hours": [0, 23, 11, 4], "month": ["1", "12", "n/a", "3"]}
    kinds = read_table(cells).kinds
    hour = kinds["hour"]
    assert (hour.name, hour.role, hour.close, hour.confidence) == (
        "number",
        "cycle:24",
        "number",
        0.9,
    )
    assert hour.reason == "4 distinct values from 0 to 23, which come round after 24"
    assert (kinds["hours"].role, kinds["month"].role) == ("", "cycle:12")
    again = as_table({"hour": 25, "hours": 1, "month": 7}, read_table(cells).schema)
    assert again["hour"].cell(0) == 25  # as it was written; where on the circle the distance knows


def test_sentinels_are_counted_by_how_often_their_cells_come():
    """A distinct cell may occur in many rows; missing ones are left out with their number."""
    cells = pa.array([-999.0, 1.5, 2.5, 3.5, None])
    times = np.array([3, 40, 50, 60, 1000])
    guess = infer_numbers(Raw("x", cells, times=times))
    assert guess.kind.note == "3 cells are -999, far from the rest (1.5 to 3.5)"
    assert guess.kind.missing_values == (-999.0,)
    assert infer_numbers(Raw("x", cells)).kind.note == ""


def shown(guess):
    kind = guess.kind
    return kind.name, kind.role, kind.confidence, kind.close, guess.aside


def guess(name, cells, **facts):
    cells = cells if isinstance(cells, pa.Array) else pa.array(cells)
    return infer_numbers(Raw(name, cells, **facts))


def test_readings_of_the_separators_affixes_and_notes():
    for strings, prefer, reading, note, values in (
        (("1,234.5", "7"), "", (".", ",", "", ""), "", [1234.5, 7]),
        (("1.234,5", "7"), "", (",", ".", "", ""), "", [1234.5, 7]),
        (("1 234,5", "7"), "", (",", " ", "", ""), "", [1234.5, 7]),
        (("1’234.5", "7"), "", (".", "'", "", ""), "", [1234.5, 7]),
        (("1'234,5", "7"), "", (",", "'", "", ""), "", [1234.5, 7]),
        (("1,23,456", "1"), "", (".", ",", "", ""), "", [123456, 1]),
        ((".5 kg", "7 kg"), "", (".", "", "", "kg"), "the unit 'kg' is left out", [0.5, 7]),
        (("5 kg", "7"), "", (".", "", "", "kg"),
         "the unit 'kg' is left out; 1 distinct cells have none", [5, 7]),
        (("1 day", "2 days"), "", (".", "", "", "day"), "the unit 'day' is left out", [1, 2]),
        (("$3k", "$2"), "", (".", "", "$", ""), "k after an amount multiplies it", [3000, 2]),
        (("€ 3", "4 €"), "", (".", "", "€", ""), "amounts in €", [3, 4]),
        (("1.234 kg", "2.345 kg"), ",", (",", ".", "", "kg"),
         "the unit 'kg' is left out; '1.234 kg' is read as 1234", [1234, 2345]),
        (("1,067 kg",), "", (".", ",", "", "kg"),
         "the unit 'kg' is left out; '1,067 kg' is read as 1067", [1067]),
        (("1,067 kg",), ",", (",", ".", "", "kg"),
         "the unit 'kg' is left out; '1,067 kg' is read as 1.067", [1.067]),
        (("[98]", "[ 7.5 ]", "3"), "", (".", "", "", ""),
         "numbers are read without their brackets", [98, 7.5, 3]),
        (("<0.006", "1.25"), "", (".", "", "", ""),
         "'<0.006', a limit of detection, is read as half of it", [0.003, 1.25]),
        (("[98]", "< 5"), "", (".", "", "", ""), "numbers are read without their brackets; "
         "'< 5', a limit of detection, is read as half of it", [98, 2.5]),
    ):  # fmt: skip
        found = find(*strings, prefer=prefer)
        got = found.reading
        assert (got.decimal, got.thousands, got.currency, got.unit) == reading, strings
        assert (found.note, found.cells.to_pylist()) == (note, values), strings
    for strings in (
        ("<5", "<6"), ("<5", "2.5", "7"), ("5 kg", "x"), ("5 zzz", "7"), ("$3", "€4", "5 kg"),
        ("1.2.3",), ("1,2,3",), ("3 kg", "4 m"), ("1:2",), ("$3q",),
    ):  # fmt: skip
        assert find(*strings) is None, strings
    # Plain digits do not become thousands unless a comma is proven, and all of them may be.
    assert find("1.234", "5", prefer=",").reading == PLAIN
    assert find("1.234", "-9.876", prefer=",").open == "."
    assert find("1.234").reading == PLAIN
    assert (find("1.234,5").open, find("1.234,5").proves) == ("", ",")
    assert (find("1,234.5").open, find("1,234.5").proves) == ("", ".")
    assert find("5 kg").proves == ""
    assert find("5", "[6]").reading.marks == "["
    assert find("<5", "[6]").reading.marks == "[<"


def test_signs_cancel_and_integers_stay_integers():
    for strings, values in (
        (
            ("-$5", "$-5", "-$-5", "($5)", "(-$5)", "−$5", "–$5", "+$5"),
            [-5, -5, 5, -5, 5, -5, -5, 5],
        ),
        (("$5", "$1e3"), [5, 1000]),
        (("5.0%", "6%"), [5.0, 6.0]),
    ):
        assert find(*strings).cells.to_pylist() == values
    assert find("$5", "$1e3").cells.type == pa.int64()
    assert find("5.0%", "6%").cells.type == pa.float64()
    assert find("$9007199254740993").cells.type == pa.float64()
    reading = replace(PLAIN, currency="$")
    cells, fits = parse_numbers(
        pa.array(["$5", "€5", "5 kg", "x", "5k"], pa.large_string()), reading
    )
    assert (cells.to_pylist(), fits.tolist()) == (
        [5, None, None, None, 5000], [True, False, False, False, True],
    )  # fmt: skip
    cells, fits = parse_numbers(
        pa.array(["€5", "5k", "7"], pa.large_string()), replace(PLAIN, unit="kg")
    )
    assert (cells.to_pylist(), fits.tolist()) == ([5, None, 7], [True, False, True])
    marked = replace(PLAIN, marks="<")
    cells, fits = parse_numbers(pa.array(["<5", "[6]", "7"], pa.large_string()), marked)
    assert (cells.to_pylist(), fits.tolist()) == ([2.5, None, 7], [True, False, True])
    comma = replace(PLAIN, decimal=",")
    cells, fits = parse_numbers(pa.array(["1,5", "2"], pa.large_string()), comma)
    assert (cells.to_pylist(), fits.all()) == ([1.5, 2.0], True)


def test_bands_and_codes_are_told_from_measurements():
    assert are_measured(pa.array(np.arange(21)))
    assert not are_measured(pa.array(np.arange(20)))
    assert not are_measured(pa.array([2.5, 5, 6]))
    assert are_measured(pa.array([2.25, 5, 6]))
    strings = ["5", "-5.5", "$5", "1,234", "5%", "1e3", "", "%", "x", "12,34", "1,23,4", "5 %"]
    expected = [s in ("", "%", "x", "1,23,4") for s in strings]
    assert misfit_numbers(pa.array(strings, pa.large_string())).tolist() == expected


def test_units_that_are_known_or_look_like_one():
    assert _is_unit("kg", False)
    assert _is_unit("days", False)
    assert not _is_unit("A", False)
    assert _is_unit("A", True)
    assert _is_unit("m", False)
    for word in ("am", "pm", "bc", "ad", "z3z", "zz"):
        assert not _is_unit(word, True), word
    assert _is_unit("zz/z.", True)
    assert [_singular(unit) for unit in ("Days", "gas", "yds.", "day")] == [
        "day",
        "gas",
        "yds",
        "day",
    ]


def test_a_quantity_says_its_range_and_what_is_near_it():
    plain = guess("size", [1.5, 2.5, 2.5])
    assert shown(plain) == ("number", "", 1.0, "", False)
    assert plain.kind.reason == "2 distinct values from 1.5 to 2.5"
    assert guess("size", [1.5, np.nan, 2.5]).kind.reason == "2 distinct values from 1.5 to 2.5"
    facts = {"times": np.array([100_000, 100_000])}
    assert guess("size", [1, 2], **facts).kind.reason == "2 distinct values from 1 to 2"
    facts = {"times": np.array([100_000, 100_001])}
    assert guess("size", [1, 2], **facts).kind.reason == "values from 1 to 2"
    assert guess("size", [1, 2], distinct=7).kind.reason == "7 distinct values from 1 to 2"
    one = guess("size", [3.0] * 10)
    assert shown(one) == ("number", "constant", 1.0, "number", True)
    assert one.kind.reason == "one value, 3"
    assert shown(guess("size", [1, 2, 3] * 5 + [-999] * 2))[2] == 0.8
    large = guess("size", [2**53 + 2, 1, 5])
    assert large.kind.note == "beyond 2**53, where the last digits are rounded"
    assert large.kind.missing_values == ()
    assert guess("size", [2**53, 1, 5]).kind.note == ""
    assert guess("size", [-(2**53) - 2, 1, 5]).kind.note != ""
    # Under the name of things three integers that come twice may be codes.
    for cells, close in (
        ([1, 2, 3] * 2, "code"), ([1, 2, 3] * 2 + [4], ""), ([1, 2] * 3, ""), ([-1, 2, 3] * 2, ""),
        ([0, 2, 3] * 2, "code"), ([1.0, 2.0, 3.0] * 2, "code"), ([1.5, 2.0, 3.0] * 2, ""),
    ):  # fmt: skip
        assert guess("subject", cells).kind.close == close, cells
        assert guess("subject", cells).kind.confidence == (0.8 if close else 1.0)
        assert guess("size", cells).kind.close == ""


def test_integers_that_name_rows_or_things():
    many = list(range(1, 21))
    for name, cells, expected in (
        ("case", many, ("number", "identifier", 0.95, "", True)),
        ("case", [0, *many], ("number", "identifier", 0.95, "", True)),
        ("case", [x + 1 for x in many], ("number", "", 1.0, "", False)),
        ("case", many[:-1], ("number", "", 1.0, "", False)),
        ("index", [7, 5, 6], ("number", "identifier", 0.95, "", True)),
        ("index", [7, 5, 8], ("number", "", 1.0, "", False)),
        ("index", [*many[:-1], 99], ("number", "identifier", 0.9, "number", True)),
        ("index", [*many[1:], -5], ("number", "", 1.0, "", False)),
        ("user_id", [7, 5, 9], ("number", "identifier", 0.9, "code", True)),
        ("user_id", [7, 5, 5], ("category", "code", 0.8, "number", False)),
        ("zip", [10 * x for x in range(10)], ("number", "identifier", 0.9, "code", True)),
        ("zip", [10 * x for x in range(9)], ("number", "", 1.0, "", False)),
        ("zip", [7, 5, 5], ("category", "code", 0.8, "number", False)),
        ("zip", [7.0, None, 5.0, 5.0], ("category", "code", 0.8, "number", False)),
        ("zip", [7.5, 5.0, 5.0], ("number", "", 1.0, "", False)),
        ("zip", [0, 1, 1], ("number", "", 1.0, "", False)),
        ("zip", [0, 2, 2], ("category", "code", 0.8, "number", False)),
        ("size", many, ("number", "", 1.0, "", False)),
    ):
        assert shown(guess(name, cells)) == expected, (name, cells)
    code = guess("zip", [7.0, None, 5.0, 5.0])
    assert code.kind.reason == "2 distinct integers in 4 rows, named 'zip'"
    assert (code.raw.cells.to_pylist(), code.raw.type) == ([7, None, 5, 5], pa.int64())
    assert guess("index", [7, 5, 6]).kind.reason == (
        "identifier: consecutive integers from 5 to 7, named 'index'"
    )
    assert guess("user_id", [7, 5, 9]).kind.reason == (
        "identifier: 3 distinct integers in as many rows, named 'user_id'"
    )
    assert guess("index", [*many[:-1], 99]).kind.reason == (
        "identifier: 20 distinct integers, named 'index'"
    )
    # Beyond 2**53 twenty of them are keys, or two that one float would make equal.
    long = guess("size", [2**53 + 2 * x for x in many])
    assert shown(long) == ("text", "identifier", 0.9, "code", True)
    assert long.kind.reason == (
        "identifier: 20 distinct integers in as many rows, too long to be a quantity"
    )
    assert long.raw.values()[0] == str(2**53 + 2)
    assert shown(guess("size", [2**53 + 2 * x for x in many[:-1]]))[1:3] == ("", 0.8)
    assert shown(guess("size", [2**53, 2**53 + 1]))[:2] == ("text", "identifier")
    assert shown(guess("size", [2**53, 2**53 + 1, 2**53]))[:2] == ("category", "code")
    assert shown(guess("size", [2**53, 5, 2**53]))[:2] == ("number", "")


def test_integers_under_the_name_of_a_date():
    first = guess("order_date", [20200924, 20200925, None])
    assert shown(first) == ("number", "date", 0.9, "number", False)
    assert first.raw.cells.to_pylist()[2] is None
    assert str(first.raw.cells[0].as_py())[:10] == "2020-09-24"
    assert guess("order_date", [20200924.0, 20200925.0]).kind.role == "date"
    for cells in ([19000101, 20991231], [20200229, 20200301]):
        assert guess("order_date", cells).kind.role == "date"
    for cells in ([19000101, 21001232], [19000100, 20200101], [18991231, 20200101], [20200924, 5]):
        assert guess("order_date", cells).kind.role == ""
    assert guess("price", [20200924, 20200925]).kind.role == ""


def test_cells_of_every_type_become_floats():
    def read(cells, kind="number", fitted=False):
        kind = Kind(kind) if isinstance(kind, str) else kind
        raw = cells if isinstance(cells, Raw) else of_values("x", cells)
        return read_number(raw, kind, fitted)

    for cells, values in (
        ([1, None, 3], [1, np.nan, 3]),
        ([True, False], [1, 0]),
        ([None, None], [np.nan, np.nan]),
        (["1", "n/a"], [1, np.nan]),
        (["n/a", "-"], [np.nan, np.nan]),
        ([2**53 + 1], [2.0**53]),
    ):
        assert_array_equal(read(cells).values, values)
    single = read(Raw("x", pa.array([1.5], pa.float32())))
    assert (single.values.dtype, single.values.flags.writeable) == (np.float32, True)
    things = np.array([decimal.Decimal("1.5"), None, True, np.bool_(False)], object)
    assert_array_equal(read(Raw("x", things)).values, [1.5, np.nan, 1, 0])
    with pytest.raises(WrongType, match=r"1 of 3 cells .*first: \{1\}, row 2.*not 'set'"):
        read(Raw("x", np.array([1, None, {1}], object)))
    with pytest.raises(WrongType, match=r"2 of 3 cells that are not \(first: \[1\], row 0\)"):
        read([[1], None, [2]])
    with pytest.raises(InvalidInput, match=r"numbers.*1 of 3 cells .*first: 'x', row 1.*missing="):
        read(["5", "x", "6"])
    with pytest.raises(InvalidInput, match="as the fitted cells are written"):
        read(["5", "x", "6"], fitted=True)
    days = read([dt.date(1970, 1, 2)])
    assert (days.values.tolist(), days.kind.source, days.kind.role) == ([86400], "datetime", "date")
    spans = read([dt.timedelta(seconds=5)])
    assert (spans.values.tolist(), spans.kind.source, spans.kind.role) == ([5], "duration", "time")
    assert read([dt.date(1970, 1, 2)], days.kind, fitted=True).values.tolist() == [86400]
    with pytest.raises(InvalidInput, match="plain numbers, as in the fitted table.*datetimes"):
        read([dt.date(1970, 1, 2)], "number", fitted=True)
    with pytest.raises(InvalidInput, match="Write them alike, for example 2020-09-24"):
        read(["1/2/3/4", "x"], Kind("number", role="date"))
    dated = read([19700102, None], Kind("number", role="date"))
    assert_array_equal(dated.values, [86400, np.nan])
    money = read(["$5", "$6"])
    assert (money.kind.reading.currency, read(["5"]).kind.reading) == ("$", None)
    assert read(["$7"], money.kind, fitted=True).values.tolist() == [7]
    comma = Kind("number", reading=Reading("number", decimal=","))
    assert read(["1,5", "2"], comma).values.tolist() == [1.5, 2]
    assert read(["1.234"], comma).values.tolist() == [1234]


@pytest.mark.parametrize("name", ["customer_id", "id", "seqn", "geonameid", "row"])
def test_keys_that_hardly_repeat_or_are_missing_are_set_aside(name):
    keys = [(37 * i) % 1009 for i in range(1, 101)]
    missing = [None if i % 9 == 0 else key for i, key in enumerate(keys)]
    repeated = [keys[i // 2 * 2] if i < 8 else key for i, key in enumerate(keys)]
    others = {"x": [i % 7 for i in range(100)]}
    for cells, words in ((missing, "88 distinct integers in 88 of 100"), (repeated, "96 distinct")):
        table = read_table({name: cells, **others})
        assert name not in table
        assert words in table[name].kind.reason
    # Codes that come again stay codes, and few rows prove nothing.
    assert read_table({name: keys[:50] * 2, **others})[name].kind.name in ("category", "number")
    assert name in read_table({name: [*keys[:8], None], "x": range(9)})
