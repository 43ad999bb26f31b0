"""Distances of texts."""

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from columns import reference
from columns.make import assert_errors, assert_worked, between, column, compare, few
from lookalike.columns import JaroWinkler, Levenshtein, TfIdf, TokenSet
from lookalike.columns.text import letters, matrix, strings
from lookalike.errors import LookalikeError
from lookalike.table import LazyTable, read_table
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


# -- long texts, by their words --------------------------------------------------------------------


WORDS = ["ant", "Ant", "bee", "cat", "dog", "eel", "x", "Über", "-"]
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
corpora = st.lists(st.one_of(texts, texts, st.none()), min_size=1, max_size=8)


def compared(fitted, asked, **options):
    distance = TfIdf(**options).fit(column("text", fitted))
    cells = [distance.encode(column("text", side)) for side in (asked, fitted)]
    return distance.compare(*cells)


@few
@given(fitted=corpora, asked=corpora, sublinear=st.booleans())
def test_documents_equal_their_reference(fitted, asked, sublinear):
    found = compared(fitted, asked, sublinear=sublinear)
    for i, u in enumerate(asked):
        for j, v in enumerate(fitted):
            if u is None or v is None:
                assert np.isnan(found[i, j])
            else:
                expected = reference.tfidf(u, v, fitted, sublinear)
                assert found[i, j] == pytest.approx(expected, abs=1e-12)


@few
@given(fitted=st.lists(texts, min_size=2, max_size=8), sublinear=st.booleans())
def test_documents_equal_those_of_scikit_learn(fitted, sublinear):
    if not any(re.search(r"\w\w", text) for text in fitted):
        return  # scikit-learn refuses an empty vocabulary
    rows = TfidfVectorizer(preprocessor=str.casefold, sublinear_tf=sublinear).fit_transform(fitted)
    found = compared(fitted, fitted, sublinear=sublinear)
    empty = ~np.asarray(rows.sum(axis=1) > 0).ravel()
    expected = 1 - (rows @ rows.T).toarray()
    expected[np.ix_(empty, empty)] = 0
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_worked_numbers_of_long_texts():
    # "ship" is in both texts and counts 1, "sinks" and "sails" are in one: 1 + log(3/2)
    rare = 1 + math.log(1.5)
    found = compared(["ship sinks", "ship sails"], ["Ship SINKS", "whale", "", None])
    assert found[0] == pytest.approx([0, 1 - 1 / (1 + rare**2)])
    np.testing.assert_array_equal(found[1:], [[1, 1], [1, 1], [np.nan, np.nan]])


def test_a_text_of_new_words_alone_equals_an_empty_one():
    assert compared(["ship", ""], ["whale"]).tolist() == [[1, 0]]


def test_a_bad_cell_of_long_texts_is_named():
    assert_errors([(TfIdf(), "text", ["a", 5], TypeError, r"row 1: needs a text, found 5")])


def test_bits_do_not_depend_on_the_block():
    rng = np.random.default_rng(0)
    cells = [" ".join(f"w{i}" for i in rng.zipf(1.4, 60) % 50) for _ in range(40)]
    distance = TfIdf().fit(column("text", cells))
    code = distance.encode(column("text", cells))
    whole = distance.compare(code, code)
    assert (np.diag(whole) == 0).all()
    np.testing.assert_array_equal(whole, whole.T)
    for i in range(0, 40, 7):
        np.testing.assert_array_equal(distance.compare(code[[i]], code[5:])[0], whole[i, 5:])


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, 7.0), (0, 0.5), (2, 0.0), (1, 1.5), (1, -1.0)],
    ids=["beyond", "fraction", "descending", "heavy", "negative"],
)
def test_cells_of_other_words_are_refused(at, value):
    fitted = column("text", ["ship sinks", "ship"])
    distance = TfIdf().fit(fitted)
    code = distance.encode(fitted)
    distance.check_cells(code, 2, "cells")
    code.values[at] = value
    with pytest.raises(LookalikeError):
        distance.check_cells(code, 2, "cells")


def test_files_in_parts_learn_the_same_words(tmp_path):
    said = ["the ship sinks in the bay", "a whale in the bay", "no ship"] * 3
    path = tmp_path / "said.parquet"
    pq.write_table(pa.table({"said": said, "n": range(9)}), path)
    kinds = {"said": "document"}
    lazy = read_table(path, kinds=kinds, lazy=True)
    assert isinstance(lazy, LazyTable)
    whole = TfIdf().fit(read_table(path, kinds=kinds)["said"])
    parts = TfIdf().fit_in_parts(lazy, "said")
    np.testing.assert_array_equal(parts.words_, whole.words_)
    np.testing.assert_array_equal(parts.weights_, whole.weights_)
    assert parts.scale_ == whole.scale_
