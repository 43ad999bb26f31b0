"""Long texts are compared by their words."""

import numpy as np

import lookalike as la
from lookalike.show.report import by_words

VOID = ("meta", "br")


def long_texts():
    """Twelve texts that differ, of three sorts, each with a word that all of them have."""
    sorts = ("the cat sat on a mat ", "the dog ran after a ball ", "the night was dark ")
    return [f"{sort * 12} {i}{i}{i}" for i in range(4) for sort in sorts]


def test_long_texts_are_compared_by_words():
    texts = {"size": np.arange(12.0), "said": long_texts()}
    made = by_words(la.read_table(texts))
    assert made.names == ("size", "words of said")
    assert made["words of said"].values[0] == {"cat", "sat", "mat", "000"}  # not "the", "on", "a"
    assert made["said"].kind.role == "name"  # rows are still called by it
    assert by_words(la.read_table(texts, kinds={"said": "text"})).names == ("size", "said")
    short = la.read_table({"said": ["a cat", "a dog", "a mouse"]}, kinds={"said": "text"})
    assert by_words(short) is short
