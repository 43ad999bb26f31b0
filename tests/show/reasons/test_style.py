"""Formats of columns."""

import numpy as np

import lookalike as la
from lookalike.show.reasons import Styles
from lookalike.show.reasons.style import Style, style_of
from lookalike.table import Kind


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
