"""From the text of a column to typed cells: by a known reading, or the one that fits all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import Param, Phrase
from lookalike.table.formats.neutral import Words, gap_words, words_of
from lookalike.table.formats.raw import Raw, wrong
from lookalike.table.infer.dates import find_dates, parse_dates
from lookalike.table.infer.numbers_text import find_numbers, parse_numbers
from lookalike.table.infer.reading import Reading
from lookalike.table.infer.written_lists import find_lists, parse_lists
from lookalike.table.model.kind import Kind


def spread(raw: Raw, words: Words, cells: Any) -> Raw:
    """Give every row of a text column the value of its string; a string not in words is a gap."""
    place = pc.index_in(raw.words, value_set=words.written)
    place = pc.fill_null(place.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    at = np.append(place, -1)[raw.codes]
    if at.min(initial=0) >= 0:
        return Raw(raw.name, cells.take(pa.array(at)), times=raw.times)
    return Raw(raw.name, cells.take(pa.array(at, mask=at < 0)), times=raw.times)


def read_text_as(raw: Raw, kind: Kind, fitted: bool = False) -> tuple[Raw, Reading | None]:
    """Read a text column as numbers or dates, as its kind asks; say which cell does not fit.

    Parameters
    ----------
    raw : Raw
        A text column.
    kind : Kind
        Of name "number"; its reading, its role and its source say what the text should be.
    fitted : bool
        Whether the kind is that of a fitted table.

    Returns
    -------
    raw : Raw
        Typed cells.
    reading : Reading or None
        How they were read; None where numbers are written plainly.
    """
    every = words_of(raw)
    words = every.where(~gap_words(every.distinct))
    if len(words) == 0:
        return Raw(raw.name, pa.nulls(len(raw), pa.float64())), kind.reading
    date = kind.role in ("date", "time") or kind.source in ("datetime", "duration")
    known = kind.reading
    if known is not None and known.what in ("date", "time") and known.form:
        if known.what == "date" and known.form in ("dmy", "mdy"):
            found = find_dates(words, known.form)
            if found is not None and found.reading.form == known.form:
                return spread(raw, words, found.cells), found.reading
        cells, fits = parse_dates(words.distinct, known)
        if fits.all():
            return spread(raw, words, cells), known
    elif known is not None and known.what == "number" and (known != Reading("number")):
        if known.decimal == "," and not known.thousands:
            found_numbers = find_numbers(words, ",")
            if found_numbers is not None and found_numbers.reading.decimal == ",":
                return spread(raw, words, found_numbers.cells), found_numbers.reading
        cells, fits = parse_numbers(words.distinct, known)
        if fits.all():
            return spread(raw, words, cells), known
    if not date:
        numbers = find_numbers(words, known.decimal if known is not None else "")
        if numbers is not None:
            plain = numbers.reading == Reading("number")
            return spread(raw, words, numbers.cells), None if plain else numbers.reading
    dates = find_dates(words, known.form if known is not None else "", compact=date)
    if dates is not None:
        return spread(raw, words, dates.cells), dates.reading
    raise _misfit(raw, words, kind, date, fitted)


def read_lists_as(raw: Raw, kind: Kind) -> tuple[Raw, Kind]:
    """Read lists in brackets where the column was fitted with them, or its cells show them.

    Parameters
    ----------
    raw : Raw
        A text column.
    kind : Kind
        One whose cells hold several things.

    Returns
    -------
    raw : Raw
        Lists, or the text as it was.
    kind : Kind
        With the reading that made them.
    """
    known = kind.reading is not None and kind.reading.what == "list"
    if not known and kind.reading is not None and kind.reading.separator:
        return raw, kind
    words = words_of(raw)
    cells = parse_lists(words.distinct) if known else find_lists(words)
    if cells is not None:
        reading = replace(kind.reading or Reading(), what="list")
        return spread(raw, words, cells), replace(kind, reading=reading)
    if known and len(words):
        ones = (words.distinct[at : at + 1] for at in range(len(words)))
        rows, first, _ = _misfits(raw, words, np.array([parse_lists(o) is not None for o in ones]))
        hint = "Write it alike, or give a list"
        raise wrong(raw, rows, first, "lists such as ['a', 'b'], alike in all cells", hint)
    return raw, kind


def _misfit(raw: Raw, words: Words, kind: Kind, date: bool, fitted: bool) -> Exception:
    """Name the first cell that is not what the others are."""
    fits = np.array([_alone(word, words.name, kind, date) for word in words.distinct.to_pylist()])
    rows, first, every = _misfits(raw, words, fits)
    needed = "dates" if date else "numbers"
    hint = Phrase("Use ", Param("missing", [first]), " or ", Param("kinds", {raw.name: "text"}))
    if every and date:
        hint = Phrase(
            "Write them alike, for example 2020-09-24, or use ", Param("kinds", {raw.name: "text"})
        )
    if fitted:  # how cells are read was settled by the fitted table
        hint = Phrase("Write it as the fitted cells are written, or leave it missing")
    return wrong(raw, rows, first, needed, hint)


def _misfits(raw: Raw, words: Words, fits: np.ndarray) -> tuple[np.ndarray, str, bool]:
    """Return the rows of words that do not fit, the first of them, and whether these are all."""
    every = not fits.any() or bool(fits.all())  # each fits for itself, but not in one reading
    bad = words.written if every else words.where(~fits).written
    hit = pc.is_in(raw.cells.dictionary_decode(), value_set=bad).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(hit)
    return rows, raw.cells[int(rows[0])].as_py(), every


def _alone(word: str, name: str, kind: Kind, date: bool) -> bool:
    alone = pa.array([word], pa.large_string())
    one = Words(name, alone, np.ones(1, dtype=np.int64), 1, alone)
    known = kind.reading
    if date:
        if known is not None and known.form:
            return bool(parse_dates(one.distinct, known)[1].all())
        return find_dates(one, compact=True) is not None
    if known is not None and known.what == "number":
        return bool(parse_numbers(one.distinct, known)[1].all())
    return find_numbers(one) is not None
