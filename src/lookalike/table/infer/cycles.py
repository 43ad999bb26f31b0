"""Months and weekdays, out of dates, names or numbers: levels in a circle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.table.formats.neutral import words_of
from lookalike.table.formats.raw import Raw, wrong
from lookalike.table.infer.numbers import read_number
from lookalike.table.infer.vocabulary import fold, vocabulary
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

CYCLES = ("month", "weekday")


def read_cycle(raw: Raw, kind: Kind) -> Column:
    """Read the month or the weekday of each cell.

    Dates have one; names ("Feb", "Tuesday") and numbers from 1 (January, Monday) say it.
    """
    names = vocabulary().months if kind.role == "month" else vocabulary().weekdays
    levels = tuple(level[0].capitalize() for level in names)
    codes = _named(raw, names) if raw.is_text else None
    if codes is None:
        codes = _dated(raw, kind.role, len(levels))
    kind = replace(kind, levels=levels, reading=None)
    return Column(raw.name, kind, codes)


def _named(raw: Raw, names: tuple[tuple[str, ...], ...]) -> np.ndarray | None:
    """Return the places of names; None where a cell is something else."""
    if len(words_of(raw)) > 60:
        return None
    place = {word: at for at, level in enumerate(names) for word in level}
    found = [place.get(fold(word)) for word in raw.words.to_pylist()]
    if any(at is None for at in found):
        return None
    return np.array([*found, -1], dtype=np.int64)[raw.codes]


def _dated(raw: Raw, role: str, count: int) -> np.ndarray:
    try:
        column = read_number(raw, Kind("number", role="date" if raw.is_text else ""), False)
    except InvalidInput:
        column = read_number(raw, Kind("number"), False)
    gap = np.isnan(column.values)
    values = np.where(gap, 0.0, column.values)
    if column.kind.source == "datetime":
        days = np.floor(values / 86_400).astype("datetime64[D]")
        if role == "month":
            codes = days.astype("datetime64[M]").astype(np.int64) % 12
        else:
            codes = (days.astype(np.int64) + 3) % 7  # 1 January 1970 was a Thursday
    else:
        codes = values.astype(np.int64) - 1
        odd = np.flatnonzero(~gap & ((codes < 0) | (codes >= count) | (codes + 1 != values)))
        if len(odd):
            hint = Phrase("Give dates or names, or use ", Param("kinds", {raw.name: "number"}))
            raise wrong(raw, odd, values[odd[0]], f"a {role}: dates, names or 1 to {count}", hint)
    return np.asarray(np.where(gap, -1, codes), dtype=np.int64)
