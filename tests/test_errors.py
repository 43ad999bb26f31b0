"""Messages: four parts in one sentence, kept apart as well, and advice that does not repeat."""

import inspect
import pickle

import numpy as np
import pytest

import lookalike as la
from lookalike.clustering import SimilarityClustering
from lookalike.errors import (
    InPython,
    InvalidInput,
    LookalikeError,
    LookalikeWarning,
    MissingFile,
    Param,
    Phrase,
    message,
    missing_file,
    spelled,
    suggest,
)
from lookalike.hubness import NICDM
from lookalike.measures import Gower, StochasticForest, Vector
from lookalike.prediction import NeighborRegressor, cross_validate
from lookalike.table import read_table


def test_the_four_parts_are_kept():
    error = InvalidInput("Vote(k=9)", "10 rows", "4", "Lower k")
    assert str(error) == "Vote(k=9): needs 10 rows, found 4. Lower k."
    assert (error.who, error.needed, error.found, error.hint) == (
        "Vote(k=9)",
        "10 rows",
        "4",
        "Lower k",
    )
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.hint) == (str(error), "Lower k")


def in_json(param):
    return f"<{param.name}>" if param.value is ... else f"<{param.name}: {param.value}>"


def test_a_surface_spells_the_parameters():
    error = InvalidInput(
        Param("k", 9, of="search"), "rows", Param("n_samples", 4), ("Use ", Param("k", 3))
    )
    assert str(error) == "search(k=9): needs rows, found n_samples=4. Use k=3."
    assert error.text(in_json) == "<k: 9>: needs rows, found <n_samples: 4>. Use <k: 3>."
    assert error.words(in_json)["hint"] == "Use <k: 3>"
    assert error.params == (Param("k", 3),)
    again = pickle.loads(pickle.dumps(error))
    assert (again.text(in_json), again.params) == (error.text(in_json), error.params)


def test_a_function_is_named_in_python_only():
    error = InvalidInput("Index.search", "rows", "none", ("Add rows", InPython(": index.add(X)")))
    assert str(error) == "Index.search: needs rows, found none. Add rows: index.add(X)."
    assert error.text(lambda param: param.of and "the command") == (
        "the command: needs rows, found none. Add rows."
    )
    assert InvalidInput("compare", "rows", "none").text(in_json).startswith("compare: ")


def test_a_phrase_is_a_text_that_can_be_spelled_anew():
    inner = Phrase("use ", Param("missing", ["?"]))
    phrase = Phrase("note: ", inner, InPython(" in read_table"))
    assert phrase == "note: use missing=['?'] in read_table"
    assert spelled(phrase, in_json) == "note: use <missing: ['?']>"
    assert spelled(pickle.loads(pickle.dumps(phrase)), in_json) == spelled(phrase, in_json)
    warning = LookalikeWarning("Vector", "numbers", "words", ("Use ", Param("measure", "gower")))
    assert warning.phrase() == str(warning).rstrip(".")


ROWS = {"size": [1.0, 2.0, 4.0, 8.0, 9.0], "word": ["a", "b", "a", "b", "c"]}
SIZES = np.arange(10.0).reshape(-1, 1)


@pytest.mark.parametrize(
    ("call", "function"),
    [
        (lambda: read_table(ROWS, kinds={"word": "order"}), read_table),
        (lambda: read_table(ROWS, kinds={"word": "number"}), read_table),
        (lambda: read_table(ROWS, kinds=3), read_table),
        (lambda: read_table(ROWS, kinds={"word": "month"}), read_table),
        (lambda: Gower().fit(ROWS).kneighbors(n_neighbors=9), Gower.kneighbors),
        (lambda: NICDM(Vector(), n_neighbors=99).fit(SIZES), NICDM),
        (lambda: SimilarityClustering(n_clusters=90).fit(ROWS), SimilarityClustering),
        (lambda: SimilarityClustering(n_clusters=2, landmarks=90).fit(ROWS), SimilarityClustering),
        (
            lambda: SimilarityClustering(method="density", min_neighbors=90).fit(ROWS),
            SimilarityClustering,
        ),
        (
            lambda: cross_validate(NeighborRegressor(), SIZES, SIZES[:, 0], n_splits=20),
            cross_validate,
        ),
        (lambda: la.compare(ROWS, k=90), la.compare),
        (lambda: la.Index().fit(ROWS).search(0, weights=3), la.Index.search),
        (lambda: la.Index().fit(ROWS).search(0, columns=3), la.Index.search),
        (lambda: la.Index().fit(ROWS).search("word"), la.Index),
        (lambda: StochasticForest(2, height=9).fit(SIZES), StochasticForest),
    ],
)
def test_a_hint_names_a_parameter_of_the_function(call, function):
    with pytest.raises(LookalikeError) as error:
        call()
    assert error.value.params, str(error.value)
    known = inspect.signature(function).parameters
    assert {param.name for param in error.value.params} <= set(known), str(error.value)
    assert str(error.value.params[0]) in str(error.value)


def test_an_error_written_otherwise_has_empty_parts():
    error = InvalidInput("plain words")
    assert (error.who, error.hint, str(error)) == ("", "", "plain words")
    assert InvalidInput().who == ""


def test_a_list_is_not_given_twice():
    words = ("ab", "cd")
    needed = "one of " + ", ".join(map(repr, words))
    said = message("f(x='zz')", needed, "'zz'", suggest("zz", words))
    assert said.count("'ab'") == 1
    assert said.endswith("Use one of them.")
    other = message("f", "a known word", "'zz'", suggest("zz", words))
    assert other.endswith("Known: 'ab', 'cd'.")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("ordinal", "'order'"),
        ("id", "'name' or 'code'"),
        ("datetime", "'date'"),
        ("dates", "'date'"),
        ("Boolean", "'flag'"),
        ("string", "'text'"),
        ("ignore", "'aside'"),
        ("categry", "'category'"),
    ],
)
def test_kinds_are_understood_in_other_peoples_words(word, meant):
    with pytest.raises(InvalidInput, match=f"Did you mean {meant}"):
        read_table({"a": [1, 2], "b": [2, 3]}, kinds={"a": word})


def test_a_missing_file_proposes_only_what_looks_alike(tmp_path):
    (tmp_path / "films.csv").write_text("a\n1\n")
    (tmp_path / "penguins.csv").write_text("a\n1\n")

    def said(name):
        error = missing_file(tmp_path / name)
        assert isinstance(error, MissingFile)
        return str(error)

    assert "Did you mean" in said("flims.csv")
    assert "films.csv" in said("films.tsv")
    assert said("nothing.csv").endswith("file not found. Check the path.")
    assert "There is no folder" in said("other/films.csv")
