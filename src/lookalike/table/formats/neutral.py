"""One neutral form for every source: text kept once per distinct string, blank cells missing.

Whether a cell came from a CSV file, a string column of Parquet, a pandas object column or a Python
list, it is the same string here, and everything that decides about kinds starts from it. Spaces
around a string are no part of what it means, but they are part of what was written: ``Words`` has
the strings without them to decide by, and as they are to keep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.raw import Raw
from lookalike.table.infer.vocabulary import MISSING, vocabulary

SAMPLE = 200  # distinct strings that a pattern must fit before all of them are tried


@dataclass(frozen=True)
class Words:
    """The distinct strings of a text column, and how often each occurs.

    Parameters
    ----------
    name : str
        The name of the column.
    distinct : Arrow array of strings, trimmed, none missing
        One twice where the column has it with other spaces around it.
    counts : int64 array
        How many rows have each of them.
    rows : int
        All rows of the table.
    written : Arrow array of strings, each once
        The same strings as they are written.
    """

    name: str
    distinct: Any
    counts: np.ndarray
    rows: int
    written: Any

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
        mask = pa.array(keep)
        return replace(
            self,
            distinct=self.distinct.filter(mask),
            counts=self.counts[keep],
            written=self.written.filter(mask),
        )

    def counted(self) -> dict[str, int]:
        """Return the strings as they are written, and how many rows have each."""
        return dict(zip(self.written.to_pylist(), self.counts.tolist(), strict=True))


def neutralise(raw: Raw) -> Raw:
    """Make blank strings missing; typed cells stay as they are."""
    if not raw.is_text:
        return raw
    blank = pc.or_(pc.utf8_is_space(raw.words), pc.equal(pc.binary_length(raw.words), 0))
    if not raw.words.null_count and not pc.any(blank).as_py():
        return raw
    return raw.with_words(~pc.fill_null(blank, True).to_numpy(zero_copy_only=False))


def words_of(raw: Raw) -> Words:
    """Return the distinct strings that some row has."""
    codes = raw.codes
    here = codes >= 0
    counts = np.zeros(len(raw.words), np.int64)
    if raw.times is None:
        counts = np.bincount(codes[here], minlength=len(raw.words))
    else:
        np.add.at(counts, codes[here], raw.times[here])
    trimmed = pc.utf8_trim_whitespace(raw.words)
    return Words(raw.name, trimmed, counts, raw.rows, raw.words).where(counts > 0)


def gap_words(distinct: Any) -> np.ndarray:
    """Return which strings are written gaps such as "n/a", "-" or "unknown"."""
    short = pc.less_equal(pc.utf8_length(distinct), 20).to_numpy(zero_copy_only=False)
    if not short.any():
        return short
    known = pa.array(sorted(vocabulary().gaps), pa.large_string())
    found = pc.is_in(pc.utf8_lower(distinct), value_set=known)
    return np.asarray(found.to_numpy(zero_copy_only=False))


def missing_words(distinct: Any) -> tuple[str, ...]:
    """Return which of the words NA, NaN and null mean "missing" beside the others.

    NA is a word where all others are two capital letters as well: it may be Namibia among
    countries, or North America among continents.

    Parameters
    ----------
    distinct : Arrow array of strings, trimmed
    """
    found = pc.is_in(distinct, value_set=pa.array(MISSING, pa.large_string()))
    gone = set(distinct.filter(found).to_pylist())
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
