"""Ordered words: sizes, Likert scales, low to high, grades, frequencies, education and the like.

To teach the library a scale, add it to ``data/scales.toml``.
"""

from __future__ import annotations

from functools import cache

from lookalike.table._data import read_data
from lookalike.table.infer.scale import Scale
from lookalike.table.infer.vocabulary import vocabulary


@cache
def known_scales() -> tuple[Scale, ...]:
    """Return the scales in the order in which they are tried; the file is read once."""
    words = vocabulary()
    calendars = (Scale("weekdays", words.weekdays, 3), Scale("months", words.months, 3))
    written = (
        Scale(
            entry["what"],
            tuple(tuple(level.split("|")) for level in entry["levels"]),
            entry.get("least", 2),
            frozenset(entry.get("needs", ())),
            entry.get("name", ""),
            entry.get("open", False),
        )
        for entry in read_data("scales")["scale"]
    )
    return (*calendars, *written)
