"""Dates and times as people write them (date parsing).

The order of day and month is decided from all distinct strings of a column together: one "24/09"
settles it for every "03/04" beside it.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, Words
from lookalike.table.infer.roles import Guess, set_aside_constant
from lookalike.table.infer.thresholds import MAX_DURATION_SECONDS
from lookalike.table.infer.vocabulary import patterns, vocabulary
from lookalike.table.model.kind import CLOCK, Kind, Reading, join_notes

DAY = 86_400_000_000  # microseconds
_TICKS_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_MAY_HAVE_SHORT_YEARS = ("dmy", "mdy", "month day year", "day month year", "month year")
# Forms without a day of the calendar.
_TIMES = ("days", "clock")
# The ways to write day, month and year as numbers.
ORDERS = ("dmy", "mdy")


@dataclass(frozen=True)
class Found:
    """What the strings of a column say as dates or as numbers.

    ``cells`` is an Arrow array, one entry per distinct string; ``open`` names the other order of
    day and month, or the other decimal separator, that would do, ``proves`` the one that is beyond
    doubt.
    """

    reading: Reading
    cells: Any
    note: str = ""
    open: str = ""
    proves: str = ""


def find_dates(words: Words, prefer: str = "", compact: bool = False) -> Found | None:
    """Find the one form in which every string is a date or a time; None where no form fits.

    Parameters
    ----------
    words : Words
        Without the words that mean missing.
    prefer : {"", "dmy", "mdy"}
        The order to choose where every day could be a month.
    compact : bool
        Whether 20200924 may be a date.
    """
    sample = words.distinct[: arrow.MAX_SAMPLE_STRINGS]
    fitting = (form for form, pattern in _tried(compact) if arrow.matches(sample, pattern).all())
    for form in fitting:
        if form == "dmy":
            return _find_order(words, prefer)
        what = "time" if form in _TIMES else "date"
        if found := _found(words, Reading(what, form=form)):
            return found
    return None


def _tried(compact: bool = False) -> Iterator[tuple[str, str]]:
    """Give the forms and their patterns; "mdy" has the pattern of "dmy", so one is enough."""
    for form, pattern in patterns("dates").items():
        if form != "mdy" and (compact or form != "compact"):
            yield form, pattern


def misfit_dates(distinct: Any) -> np.ndarray:
    """Return which strings are no date or time in the form that most of the first ones have."""
    sample = distinct[: arrow.MAX_SAMPLE_STRINGS]
    for _, pattern in _tried():
        if 2 * arrow.matches(sample, pattern).sum() > len(sample):
            return ~arrow.matches(distinct, pattern)
    return np.ones(len(distinct), dtype=bool)


def _found(words: Words, reading: Reading, note: str = "", open_to: str = "") -> Found | None:
    cells, fits = parse_dates(words.distinct, reading)
    if not fits.all():
        return None
    first = words.distinct[0].as_py()
    if reading.form in _MAY_HAVE_SHORT_YEARS and _has_short_years(words.distinct):
        note = join_notes(note, f"{first!r} is read as {str(cells[0].as_py())[:10]}")
    if reading.form == "year-month" and arrow.matches(words.distinct, r"^\d{4}[-/][1-4]$").all():
        note = join_notes(note, f"{first!r} is read as a year and a month")
        # Or a semester, a term, a quarter.
        open_to = open_to or "category"
    proves = reading.form if reading.form in ORDERS and not open_to else ""
    return Found(reading, cells, note, open_to, proves)


def _has_short_years(distinct: Any) -> bool:
    """Whether no year has four digits, and some year has two."""
    forms = r"\d{4}", r"[^\d]'?\d{2}(?:[T ,].*)?$"
    long, short = (arrow.matches(distinct, form).any() for form in forms)
    return bool(short and not long)


def _find_order(words: Words, prefer: str) -> Found | None:
    """Decide whether the day or the month comes first, by the largest number in either place."""
    parts = pc.extract_regex(words.distinct, patterns("dates")["dmy"])
    if parts.null_count:
        return None
    a, b = (pc.max(parts.field(name).cast(pa.int64())).as_py() for name in ("a", "b"))
    if min(a, b) > 12 or max(a, b) > 31:
        return None
    # A number above 12 can only be a day.
    if max(a, b) > 12:
        return _found(words, Reading("date", form="dmy" if a > 12 else "mdy"))
    form = prefer
    if prefer not in ORDERS:
        # With dots days come first; AM and PM are written where months do.
        dotted = arrow.matches(words.distinct, r"^\d+\.\d+\.").all()
        half = pc.any(pc.not_equal(parts.field("half"), "")).as_py()
        form = "mdy" if half and not dotted else "dmy"
    first, other = ("day", "mdy") if form == "dmy" else ("month", "dmy")
    shown = f"{words.distinct[0].as_py()!r} is read with the {first} first"
    note = f"no day above 12 tells day from month: {shown}"
    return _found(words, Reading("date", form=form), note, other)


# -- parsing ---------------------------------------------------------------------------------------


class _Parts:
    """The named groups of a pattern, one entry per string."""

    def __init__(self, distinct: Any, form: str) -> None:
        self.groups = pc.extract_regex(distinct, patterns("dates")[form])
        self.names = {field.name for field in self.groups.type}

    def integers(self, name: str, default: int = 0) -> np.ndarray:
        """Return the digits of a group as integers; the default where there are none."""
        if name not in self.names:
            return np.full(len(self.groups), default, dtype=np.int64)
        digits = pc.replace_substring_regex(self.groups.field(name), r"\D", "")
        digits = pc.if_else(pc.equal(digits, ""), str(default), digits)
        return arrow.to_numpy(pc.fill_null(digits, "0").cast(pa.int64()))


def parse_dates(distinct: Any, reading: Reading) -> tuple[Any, np.ndarray]:
    """Read strings in a form that is known already.

    Returns
    -------
    cells : Arrow array of timestamps (of durations for times of day), missing where none fits
    fits : boolean array
    """
    parts = _Parts(distinct, reading.form)
    fits = ~arrow.to_numpy(pc.is_null(parts.groups))
    # Impossible times (25:00, minute 61) make a string no date, not another one.
    micros, valid = _clock(parts)
    fits &= valid
    if reading.form in _TIMES:
        days = parts.integers("days")
        if "minus" in parts.names:  # "-1 days +23:59:59" is a second below 0
            minus = pc.fill_null(pc.equal(parts.groups.field("minus"), "-"), False)
            days = np.where(arrow.to_numpy(minus), -days, days)
        micros = micros + days * DAY
        clock = reading.form == "clock" and micros.max(initial=0) < DAY
        within = clock and micros.min(initial=0) >= 0
        cells = pa.array(micros, mask=~fits).cast(pa.time64("us") if within else pa.duration("us"))
        return cells, fits
    days = _mondays(parts, fits) if reading.form == "week" else _days(parts, reading.form, fits)
    stamps = days.astype("datetime64[us]") + micros.astype("timedelta64[us]")
    return pa.array(stamps, pa.timestamp("us"), mask=~fits), fits


def _mondays(parts: _Parts, fits: np.ndarray) -> np.ndarray:
    """Return the Monday of each ISO week; 4 January is always in the first."""
    year, week = parts.integers("year"), parts.integers("week", 1)
    fits &= (week >= 1) & (week <= 53)
    start = np.where(fits, year - 1970, 0).astype("datetime64[Y]").astype("datetime64[D]") + 3
    weekday = (start.astype(np.int64) + 3) % 7
    return np.asarray(start - weekday + 7 * (np.where(fits, week, 1) - 1))


def _days(parts: _Parts, form: str, fits: np.ndarray) -> np.ndarray:
    """Return the day of each string; one that the calendar has not makes ``fits`` False."""
    year, month, day = parts.integers("year"), parts.integers("month", 1), parts.integers("day", 1)
    if form in ORDERS:
        first, second = parts.integers("a"), parts.integers("b")
        day, month = (first, second) if form == "dmy" else (second, first)
    elif "name" in parts.names:
        names = enumerate(vocabulary().months, 1)
        number = {word: month for month, level in names for word in level}
        named = parts.groups.field("name")
        month = arrow.map_distinct(named, lambda word: number.get(word.lower(), 0), 0)
    elif "quarter" in parts.names:
        month = 3 * parts.integers("quarter", 1) - 2
    two = pc.fill_null(pc.less(pc.utf8_length(parts.groups.field("year")), 4), False)
    # Two digits: 1969 to 2068, as POSIX reads them.
    year = np.where(arrow.to_numpy(two), np.where(year < 69, 2000, 1900) + year, year)
    fits &= (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    # Counted in months, then in days: numpy knows how long each month is.
    start = np.where(fits, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = (start + 1).astype("datetime64[D]") - start.astype("datetime64[D]")
    fits &= day <= days.astype(np.int64)
    return np.asarray(start.astype("datetime64[D]") + np.where(fits, day - 1, 0))


def _clock(parts: _Parts) -> tuple[np.ndarray, np.ndarray]:
    """Return microseconds since midnight, less the time zone, and where they are possible."""
    size = len(parts.groups)
    if "hour" not in parts.names:
        return np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    hour, minute = parts.integers("hour"), parts.integers("minute")
    text = pc.replace_substring(parts.groups.field("second"), ",", ".")
    text = pc.fill_null(pc.if_else(pc.equal(text, ""), "0", text), "0")
    second = arrow.to_numpy(text.cast(pa.float64()))
    half = arrow.to_numpy(pc.fill_null(pc.utf8_lower(parts.groups.field("half")), ""))
    # 61 seconds are a leap second; hours beyond a day are durations, which have no day.
    valid = (minute < 60) & (second < 61) & ((hour < 25) | ("day" not in parts.names))
    marked = half != ""
    valid &= ~marked | ((hour >= 1) & (hour <= 12))
    hour = np.where(marked, hour % 12 + 12 * (half == "p"), hour)
    micros = (hour * 3600 + minute * 60) * 1_000_000 + np.round(second * 1e6).astype(np.int64)
    if "zone" in parts.names:
        micros = micros - arrow.map_distinct(parts.groups.field("zone"), _offset, 0) * 1_000_000
    return micros, valid


def _offset(zone: str) -> int:
    """Return a time zone such as +02:00 in seconds."""
    if (match := re.match(r"([+-])(\d{2}):?(\d{2})", zone)) is None:
        return 0
    sign, hours, minutes = match.groups()
    return (-1 if sign == "-" else 1) * (int(hours) * 3600 + int(minutes) * 60)


# -- typed cells -----------------------------------------------------------------------------------


def to_seconds(cells: Any) -> tuple[np.ndarray, str]:
    """Turn dates, times and durations into seconds; dates are counted from 1970 in UTC.

    Returns
    -------
    seconds : float64 array, NaN where missing
    source : "datetime" or "duration"
    """
    kind = cells.type
    # Days have no unit below them; seconds do for all that follows.
    if pa.types.is_date(kind):
        cells, kind = cells.cast(pa.timestamp("s")), pa.timestamp("s")
    storage = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = arrow.to_numpy(pc.fill_null(cells.cast(storage).cast(pa.int64()), 0))
    seconds = ticks / _TICKS_PER_SECOND[kind.unit]
    seconds[arrow.to_numpy(pc.is_null(cells))] = np.nan
    return seconds, "datetime" if pa.types.is_timestamp(kind) else "duration"


def infer_dates(raw: Raw) -> Guess:
    """Say from when to when dates go, or durations."""
    seconds, source = to_seconds(raw.cells)
    seconds = seconds[~np.isnan(seconds)]
    low, high = float(seconds.min()), float(seconds.max())
    if source == "duration":
        what, role = "times of day" if pa.types.is_time(raw.type) else "durations", "time"
        first, last = (
            str(dt.timedelta(seconds=end)) if abs(end) < MAX_DURATION_SECONDS else f"{end:g} s"
            for end in (low, high)
        )
        # Times of one half of the day are never nearer the other way round.
        if pa.types.is_time(raw.type) and 2 * (high - low) > DAY / 1e6:
            role = CLOCK
    else:
        what, role = "dates", "date"
        ends = np.array([round(low), round(high)], "datetime64[s]")
        days = ends.astype("datetime64[D]")
        first, last = map(str, days if (days == ends).all() else ends)
    kind = Kind("number", f"{what} from {first} to {last}", source=source, role=role)
    if low != high:
        return Guess(kind)
    constant = kind if source == "duration" else replace(kind, reason=f"one date, {first}")
    return set_aside_constant(raw, constant, kind.reason)


def guess_dates(raw: Raw, words: Words, prefer: str = "", compact: bool = False) -> Guess | None:
    """Say from when to when the dates of a text column go; None where it holds others.

    Parameters
    ----------
    raw : Raw
    words, prefer, compact : as in ``find_dates``; all distinct strings of the column, or some
    """
    found = find_dates(words, prefer if prefer in ORDERS else "", compact)
    if found is None:
        return None
    typed = raw.spread(words, found.cells)
    guess = infer_dates(typed)
    guess = guess.with_kind(note=join_notes(guess.kind.note, found.note), reading=found.reading)
    if found.open:
        guess = guess.with_kind(confidence=0.6, close=found.open)
    return Guess(guess.kind, guess.aside, typed, found.proves, found.open in ORDERS)
