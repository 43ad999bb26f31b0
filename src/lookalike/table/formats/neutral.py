"""One neutral form for every door: text trimmed and kept once per distinct string.

Whether a cell came from a CSV file, a string column of Parquet, a pandas object column or a Python
list, it is the same string here, and everything that decides about kinds starts from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.raw import Raw
from lookalike.table.infer.vocabulary import GAPS, MISSING

SAMPLE = 200  # distinct strings that a pattern must fit before all of them are tried


@dataclass(frozen=True)
class Words:
    """The distinct strings of a text column, and how often each occurs.

    Parameters
    ----------
    name : str
        The name of the column.
    distinct : Arrow array of strings, each once, trimmed, none missing
    counts : int64 array
        How many rows have each of them.
    rows : int
        All rows of the table.
    """

    name: str
    distinct: Any
    counts: np.ndarray
    rows: int

    def __len__(self) -> int:
        return len(self.distinct)

    @property
    def count(self) -> int:
        """Rows that have a cell."""
        return int(self.counts.sum())

    def where(self, keep: np.ndarray) -> Words:
        """Return some of the words."""
        if keep.all():
            return self
        return replace(
            self, distinct=self.distinct.filter(pa.array(keep)), counts=self.counts[keep]
        )


def neutralise(raw: Raw) -> Raw:
    """Trim text and make empty strings missing; typed cells stay as they are."""
    if not raw.is_text:
        return raw
    trimmed = pc.utf8_trim_whitespace(raw.words)
    same = trimmed.equals(raw.words)
    empty = pc.index(trimmed, pa.scalar("", pa.large_string())).as_py() >= 0
    if same and not empty and raw.words.null_count == 0:
        return raw
    again = trimmed.dictionary_encode()  # " a" and "a" are one word now
    to = pc.fill_null(again.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    codes = np.append(to, -1)[raw.codes]
    cells = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), again.dictionary)
    return replace(raw, cells=cells).without([""])


def words_of(raw: Raw) -> Words:
    """Return the distinct strings that some row has."""
    codes = raw.codes
    here = codes >= 0
    counts = np.zeros(len(raw.words), np.int64)
    if raw.times is None:
        counts = np.bincount(codes[here], minlength=len(raw.words))
    else:
        np.add.at(counts, codes[here], raw.times[here])
    return Words(raw.name, raw.words, counts, raw.rows).where(counts > 0)


def gap_words(distinct: Any) -> np.ndarray:
    """Return which strings are written gaps such as "n/a", "-" or "unknown"."""
    short = pc.less_equal(pc.utf8_length(distinct), 20).to_numpy(zero_copy_only=False)
    if not short.any():
        return short
    known = pa.array(sorted(GAPS), pa.large_string())
    found = pc.is_in(pc.utf8_lower(distinct), value_set=known)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def missing_words(distinct: Any) -> tuple[str, ...]:
    """Return which of the words NA, NaN and null mean "missing" beside the others.

    NA is a word where all others are two capital letters as well: it may be Namibia among
    countries, or North America among continents.

    Parameters
    ----------
    distinct : Arrow array of strings, each once
    """
    found = pc.is_in(distinct, value_set=pa.array(MISSING, pa.large_string()))
    gone = distinct.filter(found).to_pylist()
    if "NA" in gone:
        others = distinct.filter(pc.invert(found))
        if len(others) and all_match(others, r"^[A-Z]{2}$"):
            gone.remove("NA")
    return tuple(sorted(gone))


def all_match(strings: Any, pattern: str) -> bool:
    """Whether every string has a pattern; a sample is asked first, as most columns fail there."""
    if not pc.all(pc.match_substring_regex(strings[:SAMPLE], pattern)).as_py():
        return False
    return bool(pc.all(pc.match_substring_regex(strings, pattern)).as_py())


def join_notes(*notes: str) -> str:
    """Put notes together, without the empty ones."""
    return "; ".join(note for note in notes if note)
