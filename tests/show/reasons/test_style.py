"""Formats of columns."""

import datetime as dt

import numpy as np

import lookalike as la
from lookalike.show.reasons import Styles
from lookalike.show.reasons.style import Style, style_of
from lookalike.table import Kind, Reading


def test_styles_are_worked_out_once():
    styles = Styles(la.read_table({"year": [1977.0, 1980.0], "color": ["a", "b"]}))
    assert list(styles) == ["year", "color"]
    assert len(styles) == 2
    assert "year" in styles
    assert "other" not in styles
    assert styles["year"] is styles["year"]
    assert styles["year"].is_year


def test_large_numbers_are_shortened_only_where_four_digits_are_exact():
    style = Style(Kind("number"), grouped=True)
    assert style.write(2_500_000.0) == "2.5M"
    assert style.write(2_512_345.0) == "2,512,345"
    assert style.write(1e6) == "1M"
    assert style.write(999_999.0) == "999,999"
    assert style.write(1_234_567_890.0) == "1.235G"
    assert Style(Kind("number"), is_year=True).write(2_000_000.0) == "2000000"
    assert Style(Kind("number")).write(float("-inf")) == "minus infinite"


def test_decimals_that_were_computed_are_rounded():
    values = np.array([1 / 3, 2 / 3, 1.0])
    assert style_of(la.read_table({"share": values})["share"]).decimals == -1
    assert style_of(la.read_table({"share": values.round(5)})["share"]).decimals == 5


def test_tails_are_known_from_twenty_cells_on():
    few, many = (la.read_table({"x": np.arange(float(n))})["x"] for n in (19, 21))
    assert np.isnan(style_of(few).high)
    np.testing.assert_allclose((style_of(many).low, style_of(many).high), (2.0, 18.0))


def number_style(**reading):
    return Style(Kind("number", reading=Reading("number", **reading)), decimals=2, grouped=True)


def test_numbers_are_written_as_they_were_read():
    value = 1234.5
    for reading, expected in (
        ({}, "1,234.50"),
        ({"decimal": ","}, "1.234,50"),
        ({"decimal": ",", "thousands": " "}, "1 234,50"),
        ({"thousands": "'"}, "1'234.50"),
        ({"thousands": ","}, "1,234.50"),
        ({"currency": "$"}, "$1,234.50"),
        ({"currency": "EUR"}, "1,234.50 EUR"),
        ({"unit": "kg"}, "1,234.50 kg"),
        ({"unit": "%"}, "1,234.50%"),
    ):
        style = number_style(**reading)
        assert style.write(value) == expected, reading
        assert style.unit == reading.get("unit", "")
    assert number_style(unit="kg").write(value, unit=False) == "1,234.50"
    assert number_style(unit="kg").write(float("inf")) == "infinite"
    assert Style(Kind("number"), decimals=1).write(1234.5) == "1234.5"
    assert Style(Kind("number"), decimals=-1).write(1234.56) == "1235"
    weights = Style(Kind("number"), decimals=3, grouped=True)
    assert [weights.write(kg) for kg in (521.0, 0.12, 6654.0, 0.005, 1e5)] == [
        "521", "0.12", "6,654", "0.005", "100,000"
    ]  # fmt: skip
    assert Style(Kind("category")).write(True) == "True"


def test_times_and_dates_are_written_as_the_column_has_them():
    day = dt.datetime(2024, 5, 6, 7, 8)
    assert Style(Kind("number", source="datetime")).write(day) == "2024-05-06"
    assert Style(Kind("number"), whole_days=False).write(day) == "2024-05-06 07:08"
    for form, expected in (
        ("year-month", "2024-05"),
        ("quarter", "2024 Q2"),
        ("ymd", "2024-05-06"),
    ):
        reading = Reading("date", form=form)
        assert Style(Kind("number", reading=reading)).write(day) == expected
    quarters = [day.replace(month=month) for month in (3, 4, 12)]
    style = Style(Kind("number", reading=Reading("date", form="quarter")))
    assert [style.write(one) for one in quarters] == ["2024 Q1", "2024 Q2", "2024 Q4"]
    for seconds, expected in (
        (59, "0:00:59"),
        (-3661, "-1:01:01"),
        (86_400, "1 d"),
        (86_399, "23:59:59"),
        (86_401, "24:00:01"),
        (93_600, "1 d 2 h"),
    ):
        assert style.write(dt.timedelta(seconds=seconds)) == expected
    clock = Style(Kind("number", role="time"))
    assert clock.write(3_660.0) == "01:01"
    assert clock.write(86_399.0) == "23:59:59"


def test_years_are_no_amounts():
    def is_year(name, *values):
        return style_of(
            la.read_table({name: np.array(values)}, kinds={name: "number"})[name]
        ).is_year

    assert is_year("made", 1800.0, 2099.0)
    assert not is_year("made", 1799.0, 1900.0)
    assert not is_year("made", 1900.0, 2100.0)
    assert not is_year("made", 1900.5, 2000.0)
    assert is_year("year", 1000.0, 2999.0)
    assert not is_year("year", 999.0, 1500.0)
    assert not is_year("year", 1000.0, 3000.0)
    votes = [
        style_of(la.read_table({"n": np.array([1.0, top])})["n"]) for top in (9_999.0, 10_000.0)
    ]
    assert [style.grouped for style in votes] == [False, True]
