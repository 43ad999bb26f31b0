"""The data sets of the paper that are available, as its authors used them.

Seventeen are tables of numbers; two are texts. Where the name in the paper has "(sc)", each column
is brought to [-1, 1], as the files of LibSVM are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike.table import Table, read_table
from studies.data import load_frame, load_numbers, rescale
from studies.hubs.stemmer import stem


class HubsSet(NamedTuple):
    """Where a set of the paper comes from, and how it was prepared."""

    file: str
    scaled: bool = False
    metric: str = "euclidean"
    least: int = 0  # of a text: in how many texts a word has to stand


# ``least`` was chosen so that the number of words comes nearest to the printed one.
SOURCES = {
    "fourclass": HubsSet("fourclass"),
    "arcene": HubsSet("arcene"),
    "liver-disorders": HubsSet("liver_disorders", scaled=True),
    "australian": HubsSet("australian"),
    "diabetes": HubsSet("pima", scaled=True),
    "heart": HubsSet("heart_statlog", scaled=True),
    "breast-cancer": HubsSet("breast_cancer_libsvm", scaled=True),
    "mfeat-factors": HubsSet("mfeat_factors"),
    "colon-cancer": HubsSet("colon_cancer"),
    "ger.num": HubsSet("german_numer", scaled=True),
    "amlall": HubsSet("amlall"),
    "mfeat-karhunen": HubsSet("mfeat_karhunen"),
    "mfeat-pixels": HubsSet("mfeat_pixels"),
    "sonar": HubsSet("sonar", scaled=True),
    "ionosphere": HubsSet("ionosphere", scaled=True),
    "movie-reviews": HubsSet("movie_reviews", metric="cosine", least=4),
    "dexter": HubsSet("dexter", metric="cosine"),
    "splice": HubsSet("splice_scale"),
    "mini-newsgroups": HubsSet("mini_newsgroups", metric="cosine", least=3),
}
WORD = re.compile(r"[a-z]+")
WIDE = 500  # columns above which rows are given as one vector each: a table of 20,000 is slow


def files_of(names: Iterable[str]) -> dict[str, str]:
    """Return the file of each of these sets."""
    return {name: SOURCES[name].file for name in names}


def load_set(data: Path, name: str) -> tuple[Any, np.ndarray]:
    """Return the rows of a set and its classes; texts as a sparse matrix of word weights."""
    x, y = _rows(data, name)
    if isinstance(x, np.ndarray) and x.shape[1] > WIDE:
        return as_vectors(x), y
    return x, y


def as_vectors(x: np.ndarray) -> Table:
    """Return a table of one column, each row a vector."""
    return read_table({"row": list(x)}, kinds={"row": "vector"})


@lru_cache(maxsize=1)
def _rows(data: Path, name: str) -> tuple[Any, np.ndarray]:
    source = SOURCES[name]
    if source.least:
        return _texts(data, source)
    x, y = load_numbers(data, source.file)
    return (rescale(x, -1.0, 1.0) if source.scaled else x), y


def _texts(data: Path, source: HubsSet) -> tuple[Any, np.ndarray]:
    table, y = load_frame(data, source.file)
    counts, _ = frequencies(bodies(table["text"].to_pylist(), source.file), source.least)
    return weigh_words(counts), y


def bodies(texts: Sequence[str], file: str) -> list[str]:
    """Return messages without their headers, which name the newsgroup: the class to be found."""
    return [text.split("\n\n", 1)[-1] if file == "mini_newsgroups" else text for text in texts]


def frequencies(texts: Sequence[str], least: int, in_all: bool = False) -> tuple[Any, list[str]]:
    """Return the word counts of each text as a sparse matrix, and the words.

    Words are runs of letters in lower case, without scikit-learn's English stop words, stemmed, and
    such that occur in ``least`` texts or more, or (``in_all``) as often in all texts together.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    bags = []
    for text in texts:
        words = (word for word in WORD.findall(text.lower()) if len(word) > 1)
        bags.append(Counter(stem(word) for word in words if word not in ENGLISH_STOP_WORDS))
    spread = Counter(word for bag in bags for word in (bag.elements() if in_all else bag))
    kept = sorted(word for word, count in spread.items() if count >= least)
    place = {word: at for at, word in enumerate(kept)}
    cells = [
        (row, place[word], count)
        for row, bag in enumerate(bags)
        for word, count in bag.items()
        if word in place
    ]
    rows, columns, counts = np.array(cells).T
    shape = (len(bags), len(kept))
    return csr_matrix((counts.astype(float), (rows, columns)), shape=shape), kept


def weigh_words(counts: Any, how: str = "frequency") -> Any:
    """Return frequency times the logarithm of how rare a word is (tf-idf), as a sparse matrix.

    ``how`` takes the frequency itself, one more than its logarithm, or only that it is not 0. The
    paper also brings all texts to the mean length, which a cosine does not see unless it is done
    before something that is not linear: "mean length" takes the logarithm of one more than such a
    frequency, "saturating" is Robertson's weight (BM25, k1 = 1.2, b = 0.75). "root" takes the
    square root of the whole weight.
    """
    rare = np.log(counts.shape[0] / np.maximum(np.bincount(counts.indices, minlength=1), 1))
    weighed = counts.copy()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    longer = np.repeat(lengths / lengths.mean(), np.diff(counts.indptr))  # of each entry's text
    if how == "logarithm":
        weighed.data = 1 + np.log(weighed.data)
    elif how == "presence":
        weighed.data = np.ones_like(weighed.data)
    elif how == "mean length":
        weighed.data = np.log1p(weighed.data / longer)
    elif how == "saturating":
        weighed.data *= 2.2 / (weighed.data + 1.2 * (0.25 + 0.75 * longer))
    weighed.data *= rare[weighed.indices]
    if how == "root":
        weighed.data = np.sqrt(weighed.data)
    return weighed
