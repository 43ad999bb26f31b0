"""Messages: four parts in one sentence, kept apart as well, and advice that does not repeat."""

import pickle

import pytest

from lookalike.errors import InvalidInput, MissingFile, message, missing_file, suggest
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
