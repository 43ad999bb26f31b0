"""What the caller may say about a column."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table.model.kind import (
    KINDS,
    SPELLINGS,
    Kind,
    Reading,
    given_kind,
    join_notes,
    period_of,
    read_as_text,
)


def test_every_word_is_a_kind():
    for word in KINDS:
        assert given_kind("x", word).name == word
    for word, (name, role, reading) in SPELLINGS.items():
        kind = given_kind("x", word)
        assert (kind.name, kind.role, kind.reading) == (name, role, reading)
    assert given_kind("x", None) is given_kind("x", "aside") is None
    own = Kind("flag", levels=("no", "yes"))
    assert given_kind("x", own) is own


def test_lists_are_levels():
    for levels in (["a", "b"], ("a", "b"), np.array(["a", "b"])):
        kind = given_kind("x", levels)
        assert (kind.name, kind.levels) == ("order", ("a", "b"))
        assert not kind.takes_new_levels  # declared by the caller
    for levels in (["a"], ["a", "a"], []):
        with pytest.raises(InvalidInput, match="at least two levels that differ"):
            given_kind("x", levels)


def test_other_words_are_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match="Did you mean 'order'"):
        given_kind("x", "ordinal")
    with pytest.raises(InvalidInput, match="Did you mean 'number'"):
        given_kind("x", "numbr")
    with pytest.raises(WrongType, match="the name of a kind"):
        given_kind("x", 3)


def test_which_columns_a_csv_file_returns_as_written():
    kinds = {"a": "text", "b": "category", "c": "number", "d": ["low", "high"], "e": [1, 2],
             "f": Kind("category", levels=(1, 2)), "g": Kind("sequence"), "h": None}  # fmt: skip
    assert read_as_text(kinds) == {"a", "b", "d", "g"}
    assert read_as_text(None) == set()


def test_words_about_a_kind():
    kind = Kind("category", "why", role="code", close="number")
    assert (str(kind), str(kind.paste("zip"))) == ("code: why", "kinds={'zip': 'number'}")
    assert str(Kind("text").paste("x")) == "kinds={'x': 'aside'}"
    assert Kind("number", note="odd").remark == "odd"
    assert Kind("number", note="odd", missing_values=(-9,)).remark == (
        "odd: use missing=[-9] if that means missing"
    )
    assert Kind("order", reading=Reading("level")).takes_new_levels
    assert not Kind("category", reading=Reading("level")).takes_new_levels


def test_a_cycle_has_a_period_or_levels_in_turn():
    hours = given_kind("x", "cycle:24")
    assert (hours.name, hours.period, hours.label) == ("number", 24, "cycle:24")
    assert given_kind("x", "cycle:6.2832").period == 6.2832
    points = given_kind("x", "cycle:N, E,S,W")
    assert (points.name, points.role, points.period) == ("order", "cycle", 0)
    assert (points.levels, points.label) == (("N", "E", "S", "W"), "cycle")
    assert not points.takes_new_levels
    assert given_kind("x", "cycle:a,b,c").levels == ("a", "b", "c")
    for wrong in ("", "0", "-24", "inf", "nan", "a,b", "a,b,a", "a,,b", ",,,"):
        with pytest.raises(InvalidInput, match="a period above 0, or three levels or more"):
            given_kind("x", f"cycle:{wrong}")
    with pytest.raises(InvalidInput, match="'cycle'"):
        given_kind("x", "cyclic")


def test_only_a_role_that_names_one_has_a_period():
    for role in ("", "cycle", "cycle:", "cycle:x", "cycle:0", "cycle:-1", "24", "month"):
        assert period_of(role) == 0
    assert period_of("cycle:7") == 7
    # Times of day are read alike whether their seconds are named or not.
    assert Kind("number", role="cycle:86400").label == "cycle"


def test_notes_are_joined_without_the_empty_ones():
    assert join_notes("a", "", "b") == "a; b"
    assert join_notes("", "") == ""
