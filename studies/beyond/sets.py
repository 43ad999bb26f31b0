"""Every labelled set of the data folder, as a typed table of a stated number of rows.

The sets are cut into two halves before anything is scored: a rule is found on the one and checked
on the other. Sets made of the same rows (Pima with its zeros and Pima with gaps) are one family and
stay together; the hash of the family's name decides.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.table import Table, read_table
from studies.data import find_file, load_numbers
from studies.gower.problems import LEVELS

COLUMNS = 500  # of wider tables this many, those of the largest variance
TEXT_COLUMNS = 50  # principal components of tf-idf for a text
TEXTS = ("mini_newsgroups", "movie_reviews")
STRINGS = {"promoters": "sequence", "splice_dna": "sequence"}
LEAVE_OUT = {
    "auto_mpg": ("mpg",),  # where its classes come from
    "gas_drift_6697": ("batch",),
    "titanic": ("name",),  # every row has its own
    "adult": ("education",),  # education_num says the same in numbers
    "breast_cancer_libsvm": ("x1",),  # the number of the sample
}
# Sets that hold the same rows, or nearly.
FAMILIES = {
    "australian": "credit",
    "credit_approval": "credit",
    "pima": "pima",
    "pima_missing": "pima",
    "wbc": "wbc",
    "breast_cancer_libsvm": "wbc",
    "heart_statlog": "heart",
    "heart_cleveland": "heart",
    "horse_colic_lesion": "colic",
    "horse_colic_outcome": "colic",
    "mfeat_factors": "mfeat",
    "mfeat_karhunen": "mfeat",
    "mfeat_pixels": "mfeat",
    "sequences_of_sets_items": "sequences_of_sets",
    "sequences_of_sets_length": "sequences_of_sets",
    "sequences_of_sets_order": "sequences_of_sets",
    "splice_dna": "splice",
    "splice_scale": "splice",
}


@dataclass(frozen=True)
class Prepared:
    """A set as it is compared: a table, its classes, and what sort of table it is.

    Parameters
    ----------
    name : str
    sort : "numbers" (no gaps), "mixed" (other kinds or gaps) or "objects" (sequences, histograms)
    table : Table
    y : class codes
    """

    name: str
    sort: str
    table: Table
    y: np.ndarray


def half_of(name: str) -> str:
    """Return "selection" or "validation", by the hash of the set's family.

    Examples
    --------
    >>> from studies.beyond.sets import half_of
    >>> half_of("pima") == half_of("pima_missing")
    True
    """
    family = FAMILIES.get(name, name)
    odd = hashlib.sha256(family.encode()).digest()[0] % 2
    return "validation" if odd else "selection"


@lru_cache(maxsize=64)
def load_set(data: Path, name: str, rows: int) -> Prepared:
    """Return a set, cut to a fixed draw of rows.

    Parameters
    ----------
    data : path, the folder of the data sets
    name : str
    rows : int, the most rows
    """
    path = find_file(data, name)
    if path.suffix == ".npz":
        x, y = load_numbers(data, name)
        at = _draw(len(y), rows)
        return _of_numbers(name, x[at], y[at])
    import pyarrow.parquet as pq

    frame = pq.read_table(path)
    labels = frame["target"].to_pylist()
    there = np.flatnonzero([label is not None for label in labels])
    at = there[_draw(len(there), rows)]
    y = np.unique([str(labels[row]) for row in at], return_inverse=True)[1]
    if name in TEXTS:
        return _of_numbers(name, _text_columns(frame["text"].to_pylist())[at], y)
    return _of_columns(name, frame, at, y)


def _of_columns(name: str, frame: Any, at: np.ndarray, y: np.ndarray) -> Prepared:
    """Return the drawn rows of a file with typed columns."""
    letters = json.loads((frame.schema.metadata or {}).get(b"kinds", b"{}"))
    some = frame.take(at).drop_columns(
        ["target", *(one for one in LEAVE_OUT.get(name, ()) if one in frame.column_names)]
    )
    columns = {one: some[one].to_pylist() for one in some.column_names}
    kinds = {one: _kind(name, one, cells, letters) for one, cells in columns.items()}
    # Of the whole file: a sample without missing values does not change the sort of the table.
    missing = any(frame[one].null_count for one in columns)
    if set(kinds.values() if _plain(kinds) else []) == {"number"} and not missing:
        x = np.column_stack([np.asarray(cells, dtype=float) for cells in columns.values()])
        return _of_numbers(name, x, y)
    objects = _plain(kinds) and bool({"sequence", "histogram"} & set(kinds.values()))
    table = read_table(columns, kinds=kinds)
    return Prepared(name, "objects" if objects else "mixed", table, y)


def _plain(kinds: Mapping[str, Any]) -> bool:
    """Whether every kind is a word, none a list of levels."""
    return all(isinstance(kind, str) for kind in kinds.values())


def _draw(n: int, rows: int) -> np.ndarray:
    if n <= rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, rows, replace=False))


def _of_numbers(name: str, x: np.ndarray, y: np.ndarray) -> Prepared:
    """Return a table of numbers without columns that never change, cut to those that vary most."""
    x = x[:, np.ptp(x, axis=0) > 0]
    if x.shape[1] > COLUMNS:
        # By spread, not by chance: most columns of a sparse table are zero almost everywhere.
        x = x[:, np.sort(np.argsort(-x.var(axis=0), kind="stable")[:COLUMNS])]
    kinds = {f"x{at}": "number" for at in range(x.shape[1])}
    codes = np.unique(y, return_inverse=True)[1]
    return Prepared(name, "numbers", read_table(x, kinds=kinds), codes)


def _kind(name: str, column: str, cells: list[Any], letters: Mapping[str, str]) -> Any:
    letter = letters.get(column, "R")
    if name in STRINGS:
        return STRINGS[name]
    if letter == "S":
        return "sequence"
    if letter == "H":
        return "histogram"
    words = any(isinstance(cell, str) for cell in cells)
    if letter == "O" and words:
        return LEVELS.get(column) or sorted({cell for cell in cells if cell is not None})
    return "category" if words else "number"


def _text_columns(texts: list[str]) -> np.ndarray:
    """Return the first principal directions of tf-idf, as rows of length 1."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    counts = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True).fit_transform(texts)
    found = TruncatedSVD(TEXT_COLUMNS, random_state=0).fit_transform(counts)
    return np.asarray(normalize(found))
