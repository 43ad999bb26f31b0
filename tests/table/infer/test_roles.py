"""Columns that name rows, and numbers that mean missing."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from lookalike.table import Column, Kind, read_table
from lookalike.table.formats.raw import Raw, Words
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


def same_cells(one, other):
    return roles.key_of_cells(one) == roles.key_of_cells(other)


def test_missing_cells_of_two_columns_are_the_same():
    values = np.array([1.5, np.nan, 3.5])
    one, other = (Column(name, Kind("number"), values.copy()) for name in "ab")
    assert same_cells(one, other)
    assert not same_cells(one, Column("b", Kind("number"), values[::-1] * [1, 1, 2]))


def test_copies_need_twenty_rows_and_variety():
    def aside(values, n):
        table = read_table({"x": (values * n)[:n], "y": (values * n)[:n]})
        return table["y"].kind.role == "copy"

    assert aside([1.5, 2.5, 3.5, 4.5, 5.5], 20)
    assert not aside([1.5, 2.5, 3.5, 4.5, 5.5], 19)
    assert aside([0.5, 1.5], 20)  # ten of each
    assert not aside([0.5] * 11 + [1.5] * 9, 20)


@pytest.mark.parametrize(
    ("name", "low", "high", "period"),
    [
        ("hour", 0, 23, 24), ("pickup_hour", 1, 24, 24), ("hour", 6, 18, 0), ("hour", 6, 18.5, 24),
        ("hour", 0, 24.5, 0), ("hour", -1, 20, 0), ("hours", 0, 23, 0),
        ("price_per_hour", 0, 23, 0), ("hour_rate", 0, 23, 0), ("month", 1, 12, 12),
        ("birthMonth", 2, 9, 12),
        ("month", 0, 12, 0), ("month", 1, 7, 0), ("months", 1, 12, 0),
        ("day_of_week", 0, 6, 7), ("wday", 1, 7, 7), ("day", 1, 31, 0),
        ("yday", 1, 366, 365.25), ("minute", 0, 59, 60), ("minute", 0, 60, 0),
        ("wind_dir", 0, 360, 360), ("WindDirection", -180, 180, 360), ("aspect", 0, 359, 360),
        ("bearing", -180, 181, 0), ("lon", -176.6, 174.1, 0),
        ("wind", 0, 360, 0), ("", 0, 23, 0),
    ],
)  # fmt: skip
def test_numbers_come_round_by_name_and_range(name, low, high, period):
    assert roles.find_period(name, low, high) == period


def test_a_narrow_range_comes_round_where_the_caller_says_so():
    assert roles.find_period("hour", 9, 17, wide=False) == 24
    assert roles.find_period("hour", 9, 25, wide=False) == 0
    assert roles.find_period("height", 9, 17, wide=False) == 0


def words(name, strings, counts=None, rows=None):
    distinct = pa.array(strings, pa.large_string())
    counts = np.ones(len(strings), np.int64) if counts is None else np.array(counts)
    return Words(name, distinct, counts, int(counts.sum()) if rows is None else rows, distinct)


def test_more_names_of_columns():
    assert roles.is_joined_id("caseid")
    assert roles.is_joined_id("geonameid")
    for name in ("paid", "unpaid", "valid", "xpaid", "abid", ""):
        assert not roles.is_joined_id(name), name
    for name in ("cowcode2", "order_nr", "patnr", "countyfips", "phone_num"):
        assert roles.is_code_name(name), name
    for name in ("", "nr", "number", "num", "code2x", "2", "red_number"):
        assert not roles.is_code_name(name), name
    for name, counts, row in (
        ("case", True, False), ("X", True, False), ("x", False, False), ("...1", True, False),
        ("row", True, True), ("size", False, False),
    ):  # fmt: skip
        assert (roles.may_count_rows(name), roles.is_row_name(name)) == (counts, row), name
    for name in ("zip", "case", "userId"):
        assert roles.is_key_name(name), name
    assert not roles.is_key_name("size")
    assert roles.says_name("song_title")
    assert not roles.says_name("title_size")
    assert not roles.says_name("")
    assert not roles.says_date("")
    assert not roles.is_identifier_name("")
    assert roles.says_date("date_of_birth")
    assert not roles.names_things("")
    assert roles.is_zero_padded_count("month", pa.array(["01", "12"]))
    assert not roles.is_zero_padded_count("month", pa.array(["001", "12"]))
    assert not roles.is_zero_padded_count("size", pa.array(["01", "12"]))


def test_one_value_is_believed_in_ten_rows():
    kind = Kind("number", "one value, 3")
    for cells, aside, reason in (
        ([3] * 10, True, "one value, 3"),
        ([3] * 9, False, "otherwise"),
        ([3] * 2 + [None] * 8, True, "one value, 3, and 8 missing"),
        ([3] + [None] * 9, False, "otherwise"),
    ):
        guess = roles.set_aside_constant(Raw("x", pa.array(cells)), kind, "otherwise")
        assert (guess.aside, guess.kind.reason) == (aside, reason)
        assert (guess.kind.role, guess.kind.close) == (
            ("constant", "number") if aside else ("", "")
        )
    short = roles.set_aside_constant(Raw("x", pa.array([3])), kind)
    assert short.kind.reason == "one value, 3"


def test_objects_are_set_aside_and_others_keep_their_cells():
    raw = Raw("x", pa.array([1]))
    kept = roles.guess_of(Kind("set", "sets"), raw)
    assert (kept.raw, kept.aside, kept.kind.reason) == (raw, False, "sets")
    aside = roles.guess_of(Kind("object", "records"), raw)
    assert (aside.aside, aside.kind.role, aside.raw) == (True, "record", None)
    assert aside.kind.reason == "records, which need a distance of their own"


def test_strings_that_are_codes_addresses_or_labels():
    for strings, codes in ((["a1", "B-2"], True), (["a1", "b"], False), (["a 1"], False),
                           (["1" * 40], True), (["1" * 41], False)):  # fmt: skip
        assert roles.looks_like_codes(pa.array(strings)) is codes, strings
    mails = ["a@b.de", "c@d.org", "e@f.com"]
    assert roles.address_kind(words("x", mails)) == "e-mail addresses"
    assert roles.address_kind(words("x", mails[:2])) == ""
    assert roles.address_kind(words("x", mails[:2], [1, 2])) == "e-mail addresses"
    assert roles.address_kind(words("x", mails[:2], [2, 2])) == ""
    assert roles.address_kind(words("x", [*mails, "g"])) == ""
    assert roles.address_kind(words("x", ["http://a", "www.b", "https://c"])) == "web addresses"
    assert roles.are_labels(pa.array(["New York", "Bosnia and Herzegovina", "Korea, Rep."]))
    assert not roles.are_labels(pa.array(["New York", "some prose"]))


def test_why_strings_are_names_of_rows():
    letters = [f"word{chr(97 + i)}" for i in range(26)]
    for name, strings, counts, reason in (
        ("title", letters[:5], None, ("named 'title'", 0.9)),
        ("title", letters[:4], None, None),
        ("title", letters[:5], [1, 1, 1, 1, 2], None),
        ("title", letters[:21], [15] + [1] * 20, ("named 'title'", 0.9)),  # 21 of 35: 0.6
        ("title", letters[:21], [16] + [1] * 20, None),
        ("title", letters[:20], [2] + [1] * 19, ("nearly a different one in every row", 0.7)),
        ("x", letters[:20], None, ("nearly a different one in every row", 0.7)),
        ("x", letters[:19], None, None),
        ("x", letters[:18], [3] + [1] * 17, ("nearly a different one in every row", 0.7)),
        ("x", letters[:18], [4] + [1] * 17, None),
        ("title", ["z" * 40] * 5, None, ("named 'title'", 0.9)),
        ("title", ["z" * 41] * 5, None, None),
        ("title", ["a b c d e f g"] * 5, None, ("named 'title'", 0.9)),
        ("title", ["a b c d e f g h"] * 5, None, None),
        ("title", ["ACGT", "CCGT", "GGTA", "TTTA", "TACG"], None, None),
        ("x", ["a@b.de", "c@d.org", "e@f.com"], None, ("e-mail addresses", 0.95)),
    ):
        assert roles.name_reason(words(name, strings, counts)) == reason, (name, strings)
    people = ["Mary Smith", "John Brown", "Qq Ww", "Zz Xx", "Vv Yy"]
    assert roles.name_reason(words("x", people)) == ("names of persons", 0.8)
    assert roles.name_reason(words("x", people[:4])) is None
    assert roles.name_reason(words("x", people[2:] + ["Kk Jj", "Hh Gg"])) is None
    assert (
        roles.name_reason(words("x", ["Mary Smith", *people[2:], "Kk Jj"])) is not None
    )  # a fifth
    unknown = [f"Qq {letter.title()}" for letter in letters[:9]]
    assert roles.name_reason(words("senator", unknown)) == ("names of persons", 0.8)
    assert roles.name_reason(words("senator", [*unknown, "vacant"])) == ("names of persons", 0.8)
    assert roles.name_reason(words("senator", [*unknown[:8], "vacant"])) is None


def test_how_far_a_sentinel_must_be():
    def found(values):
        return roles.sentinel_note(np.array(values, float))

    usual = list(range(1, 11))  # nine wide
    assert found([*usual, 999, 999]) == ("2 cells are 999, far from the rest (1 to 10)", (999,))
    assert found([*usual, 999, 998, 997, 997])[0] == (
        "4 cells are 999 or 998 or 997, far from the rest (1 to 10)"
    )
    assert found([*usual, 999, 996, 999])[1] == ()
    assert found([*range(1, 10), -999])[1] == (-999,)  # ten cells
    assert found([*range(1, 9), -999])[1] == ()
    assert found([33, 30, 20, 10, 0, 1, 2, 3, 99, 99])[1] == ()  # 99 is 33 + 2 * 33
    assert found([32.9, 30, 20, 10, 0, 1, 2, 3, 99, 99])[1] == (99,)
    below = [-1, -2, -3, -4, -5, -6, -7, -8]
    assert found([*below, -999, -999])[1] == (-999,)
    assert found([*[0, -0.5, -18.2] * 4, -99, -99])[1] == ()  # within five widths
    assert found([*[0, -0.5, -16.4] * 4, -99, -99])[1] == (-99,)
    assert found([*[0, 5, 17] * 4, -9, -9])[1] == (-9,)  # beyond half of the highest
    assert found([*[0, 5, 18] * 4, -9, -9])[1] == ()
    assert found([*[0, 0.2, 0.4] * 4, -1, -1])[1] == (-1,)
    assert found([*[0, 0.2, 0.5] * 4, -1, -1])[1] == ()
    assert found([*[0.5, 2, 5] * 4, -1, -1])[1] == (-1,)
    assert found([-999] * 10)[1] == ()
    assert found([-999] * 57 + [1, 2, 3])[1] == (-999,)  # 57 of 60: 0.95
    assert found([-999] * 58 + [1, 2, 3])[1] == ()


def column(values, kind="number", levels=()):
    return Column("x", Kind(kind, levels=levels), np.asarray(values))


def test_what_is_the_same_has_the_same_key():
    assert same_cells(column([0.0, np.nan]), column([-0.0, -np.nan]))
    assert not same_cells(column([0.0, 1.0]), column([0.0, 2.0]))
    pair = "a", "b"
    small, wide = (np.array([0, 1, -1], kind) for kind in (np.int8, np.int64))
    assert same_cells(column(small, "category", pair), column(wide, "category", pair))
    assert not same_cells(column(small, "category", pair), column(wide, "category", ("a", "c")))
    assert not same_cells(column(small, "category", pair), column(-wide, "category", pair))
    texts = [column(np.array([*cells], object), "text") for cells in ("ab", "ab", "ac")]
    assert same_cells(texts[0], texts[1])
    assert not same_cells(texts[0], texts[2])
    assert not same_cells(column([1.0], "vector"), column([1.0], "vector"))
    assert roles.tells_rows_apart(texts[0])
    assert roles.tells_rows_apart(column([1.0, 2, 3, 4, 5]))
    assert not roles.tells_rows_apart(column([1.0, 2, 3, 4]))
    assert not roles.tells_rows_apart(column([1.0] * 30))
    assert not roles.tells_rows_apart(column([1.0] * 30 + [2.0] * 9))
    assert roles.tells_rows_apart(column([1.0] * 30 + [2.0] * 10))
    twenty = np.arange(22.0)
    named = [replace(column(values), name=name) for name, values in (
        ("a", twenty), ("b", twenty), ("c", twenty + 1), ("d", twenty), ("e", twenty + 1),
    )]  # fmt: skip
    assert roles.find_copies(named) == {"b": "a", "d": "a", "e": "c"}
    short = [replace(part, values=part.values[:19]) for part in named]
    assert roles.find_copies(short) == {}
