"""Distances of texts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from columns import reference
from columns.make import assert_errors, assert_worked, between, compare, few
from lookalike.columns import JaroWinkler, Levenshtein, TokenSet
from lookalike.columns.text import letters, matrix, strings
from lookalike.table.model.table import Column, Kind

WORKED = [
    (Levenshtein(normalized=False), "text", "GGGC", "AGGCG", 2),
    (Levenshtein(normalized=False), "text", "kitten", "sitting", 3),
    (Levenshtein(), "text", "kitten", "sitting", 3 / 7),
    (Levenshtein(), "text", "", "", 0),
    (TokenSet(), "text", "new york mets", "mets of new york", 0),
    (TokenSet(), "text", "", " ", 0),
    (TokenSet(), "text", "", "a", 1),
    (JaroWinkler(), "text", "martha", "marhta", 1 - 0.9611111111111111),
    (JaroWinkler(prefix_weight=0), "text", "martha", "marhta", 1 - 17 / 18),
]  # fmt: skip

BAD = [
    (Levenshtein(), "text", ["a", 5], TypeError, r"row 1: needs a text, found 5"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


def pack(texts):
    return letters(Column("t", Kind("text"), np.array(texts, dtype=object)))


@few
@given(texts=st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=5))
def test_texts_survive_packing(texts):
    packed = pack(texts)
    assert strings(packed) == ["" if text is None else text for text in texts]
    assert packed.missing.tolist() == [text is None for text in texts]


def test_texts_cut_inside_a_character_survive_packing():
    assert strings(pack(["\ud800", "a\udfff"])) == ["\ud800", "a\udfff"]


def test_texts_without_words_are_equal_whatever_their_white_space():
    blanks = ["", " ", "\t\n", "\x1c", "\u2003"]
    assert (compare(TokenSet(), "text", blanks) == 0).all()


@few
@given(st.lists(st.text("ab", max_size=130), min_size=2, max_size=2))
def test_long_texts_equal_the_reference(pair):
    u, v = pair
    assert between(Levenshtein(normalized=False), "text", u, v) == reference.edit(u, v)


def test_no_texts_have_a_matrix_of_their_shape():
    def never(*_, **options):
        raise AssertionError("nothing is scored")

    assert matrix([], ["a", "b"], never).shape == (0, 2)
    assert matrix(["a"], [], never).shape == (1, 0)
