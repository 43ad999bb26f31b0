"""Typed cells: numbers, dates, flags and declared categories, with their roles."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.neutral import Words
from lookalike.table.formats.raw import Raw
from lookalike.table.infer.dates import find_dates
from lookalike.table.infer.lists import short_number
from lookalike.table.infer.numbers import to_seconds
from lookalike.table.infer.roles import (
    ROWS,
    is_code_name,
    is_identifier_name,
    is_row_name,
    names_things,
    says_date,
    sentinel_note,
)
from lookalike.table.model.kind import RECORD, Kind

COUNTED = 200_000  # rows up to which distinct numbers are counted for the reason
CONSTANT = 10  # rows from which a single value is believed to stay the only one
LONG = 1e12  # seconds beyond which Python has no durations, and nobody means one
EXACT = 2**53  # whole numbers beyond are not all floats


@dataclass(frozen=True)
class Guess:
    """A kind, and whether the column is better set aside.

    ``raw`` holds the cells as they were read where that is not as they came; ``proves`` names the
    decimal separator or the order of day and month that this column settles for others, ``open``
    says that another column may settle it for this one.
    """

    kind: Kind
    aside: bool = False
    raw: Raw | None = None
    proves: str = ""
    open: bool = False


def guess_of(kind: Kind, raw: Raw | None = None) -> Guess:
    """Set objects aside: nobody but the caller can say how far apart two records are."""
    if kind.name != "object":
        return Guess(kind, raw=raw)
    reason = f"{kind.reason}, which need a distance of their own"
    return Guess(replace(kind, reason=reason, role=RECORD), aside=True)


def infer_numbers(raw: Raw) -> Guess:
    """Say what a column of numbers is: a quantity, a code, an identifier, a date, one value."""
    cells = raw.cells.drop_null()
    values = cells.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(raw.type):
        values = values[~np.isnan(values)]
    low, high = values.min(), values.max()
    named = is_code_name(raw.name) or is_row_name(raw.name) or is_identifier_name(raw.name)
    whole = pa.types.is_integer(raw.type)
    if (named or says_date(raw.name)) and not whole and np.isfinite([low, high]).all():
        whole = bool((values == np.floor(values)).all()) and max(abs(low), abs(high)) < EXACT
        if whole:
            values = values.astype(np.int64)
    if low == high:
        return set_aside_constant(raw, Kind("number", f"one value, {short_number(low)}"))
    if whole:
        guess = _whole(raw, values, named)
        if guess is not None:
            return guess
    between = f"from {short_number(low)} to {short_number(high)}"
    reason = f"values {between}"
    if raw.count <= COUNTED:
        reason = f"{_distinct(raw, values):,} distinct {reason}"
    note, gaps = sentinel_note(values, _times(raw))
    if whole and max(abs(int(low)), abs(int(high))) > EXACT:
        note, gaps = "beyond 2**53, where the last digits are rounded", ()
    kind = Kind("number", reason, note=note, gaps=gaps, confidence=0.8 if note else 1.0)
    if names_things(raw.name) and low >= 0 and _counts(raw, values):
        kind = replace(kind, confidence=0.8, close="code")
    return Guess(kind)


def _counts(raw: Raw, values: np.ndarray) -> bool:
    """Whether there are at least three whole numbers, and each comes twice on average."""
    if not pa.types.is_integer(raw.type) and (values[:COUNTED] != np.floor(values[:COUNTED])).any():
        return False
    return 3 <= _distinct(raw, values) <= raw.count / 2


def _distinct(raw: Raw, values: np.ndarray) -> int:
    return len(np.unique(values)) if raw.distinct is None else raw.distinct


def _times(raw: Raw) -> np.ndarray | None:
    """Return how many rows have each number that is there; None: one each."""
    return None if raw.times is None else raw.times[raw.present()]


def _whole(raw: Raw, values: np.ndarray, named: bool) -> Guess | None:
    """Recognize whole numbers that are names or dates."""
    low, high = int(values.min()), int(values.max())
    between = f"from {low} to {high}"
    large = max(abs(low), abs(high)) > EXACT
    lossy = large and len(np.unique(values)) > len(np.unique(values.astype(np.float64)))
    if says_date(raw.name) and 19000101 <= low and high <= 21001231:
        dates = _compact(raw, values)
        if dates is not None:
            return dates
    if not named and not large:
        return None
    distinct, count = _distinct(raw, values), raw.count
    alone = large and not says_date(raw.name) and count >= ROWS
    if distinct == count == raw.rows and count > 1:
        key = is_identifier_name(raw.name)
        if is_row_name(raw.name) and low >= 0 and count >= ROWS and high - low >= count:
            reason = f"identifier: {distinct:,} distinct whole numbers, named {raw.name!r}"
            kind = Kind("number", reason, role="identifier", confidence=0.9, close="number")
            return Guess(kind, aside=True)
        if high - low == count - 1 and (key or is_row_name(raw.name)):
            reason = f"identifier: consecutive whole numbers {between}, named {raw.name!r}"
            return Guess(Kind("number", reason, role="identifier", confidence=0.95), aside=True)
        if key or lossy or alone or (is_code_name(raw.name) and count >= CONSTANT):
            reason = f"identifier: {distinct:,} distinct whole numbers in as many rows"
            why = f", named {raw.name!r}" if named else ", too long to be a quantity"
            kind = Kind("number", reason + why, role="identifier", confidence=0.9)
            kind = replace(kind, close="code")
            if large:  # kept to the last digit, which a float would not
                text = replace(raw, cells=raw.cells.cast(pa.large_string()).dictionary_encode())
                return Guess(replace(kind, name="text"), aside=True, raw=text)
            return Guess(kind, aside=True)
    if (is_code_name(raw.name) and distinct < count) or lossy:
        why = f"named {raw.name!r}" if named else "too long to be a quantity"
        reason = f"{distinct:,} distinct whole numbers in {raw.rows:,} rows, {why}"
        kind = Kind("category", reason, role="code", confidence=0.8, close="number")
        typed = raw if pa.types.is_integer(raw.type) else replace(raw, cells=_as_whole(raw))
        return Guess(kind, raw=typed)
    return None


def _as_whole(raw: Raw) -> Any:
    gap = ~raw.present()
    return pc.if_else(pa.array(gap), pa.scalar(None, raw.type), raw.cells).cast(pa.int64())


def _compact(raw: Raw, values: np.ndarray) -> Guess | None:
    """Read 20200924 as a date."""
    cells = raw.cells if pa.types.is_integer(raw.type) else _as_whole(raw)
    text = cells.cast(pa.large_string()).dictionary_encode()
    digits = text.dictionary
    words = Words(raw.name, digits, np.ones(len(digits), dtype=np.int64), 1, digits)
    found = find_dates(words, compact=True)
    if found is None:
        return None
    dates = replace(raw, cells=found.cells.take(text.indices))
    guess = infer_dates(dates)
    kind = replace(guess.kind, reading=found.reading, close="number", confidence=0.9)
    return replace(guess, kind=kind, raw=dates)


def infer_dates(raw: Raw) -> Guess:
    """Say from when to when dates go, or durations."""
    seconds, source = to_seconds(raw.cells)
    seconds = seconds[~np.isnan(seconds)]
    low, high = float(seconds.min()), float(seconds.max())
    if source == "duration":
        what = "times of day" if pa.types.is_time(raw.type) else "durations"
        ends = [
            dt.timedelta(seconds=end) if abs(end) < LONG else f"{end:g} s" for end in (low, high)
        ]
        reason = f"{what} from {ends[0]} to {ends[1]}"
        kind = Kind("number", reason, source=source, role="time")
        return set_aside_constant(raw, kind) if low == high else Guess(kind)
    days = [np.datetime64(round(end), "s") for end in (low, high)]
    if all(day == day.astype("datetime64[D]") for day in days):
        days = [day.astype("datetime64[D]") for day in days]
    kind = Kind("number", f"dates from {days[0]} to {days[1]}", source=source, role="date")
    if low == high:
        return set_aside_constant(raw, replace(kind, reason=f"one date, {days[0]}"), kind.reason)
    return Guess(kind)


def infer_flag(raw: Raw) -> Guess:
    """Say that a column is true or false, or only one of them."""
    if len(raw.cells.drop_null().unique()) == 1:
        one = str(raw.cells.drop_null()[0].as_py()).lower()
        return set_aside_constant(raw, Kind("flag", f"one value, {one}"), "true/false")
    return Guess(Kind("flag", "true/false"))


def set_aside_constant(raw: Raw, kind: Kind, otherwise: str = "") -> Guess:
    """Set a column of one value aside, where there are rows enough to believe it."""
    missing = raw.rows - raw.count
    if raw.rows < CONSTANT or raw.count < 2:
        return Guess(replace(kind, reason=otherwise or kind.reason))
    gaps = f", and {missing:,} missing" if missing else ""
    kind = replace(kind, reason=kind.reason + gaps, role="constant", close=kind.label)
    return Guess(kind, aside=True)
