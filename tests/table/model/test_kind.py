"""What the caller may say about a column."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table.model.kind import KINDS, SPELLINGS, Kind, Reading, given_kind, read_as_text


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
