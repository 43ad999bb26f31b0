"""Dates and times as people write them (date parsing).

The order of day and month is decided from all distinct strings of a column together: one "24/09"
settles it for every "03/04" beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.neutral import SAMPLE, Words, join_notes
from lookalike.table.infer.reading import Reading
from lookalike.table.infer.vocabulary import vocabulary

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d{1,9})?))?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_TIME = rf"(?:(?:[T ]|, ?|,? at ){_CLOCK}\s?(?P<zone>Z|UTC|GMT|[+\-]\d{{2}}:?\d{{2}})?)?$"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_AB = rf"(?P<a>\d{{1,2}})[\-/.](?P<b>\d{{1,2}})[\-/.]{_YEAR}"

DAY = 86_400_000_000  # microseconds


@cache
def date_forms() -> dict[str, str]:
    """Return how dates may be written, by name; made once, since months have many spellings.

    "compact" is believed only where the name of the column says date.
    """
    words = vocabulary()
    name = rf"(?P<name>{_any_of(words.months)})\.?"
    week = rf"(?:(?:{_any_of(words.weekdays)})\.?,?\s+)?"
    return {
        "ymd": r"(?P<year>\d{4})[\-/.](?P<month>\d{1,2})[\-/.](?P<day>\d{1,2})" + _TIME,
        "dmy": _AB + _TIME,
        "mdy": _AB + _TIME,
        "month day year": rf"{week}{name}\s+{_DAY},?\s+{_YEAR}" + _TIME,
        "day month year": rf"{week}{_DAY}[\s\-.]+(?:of )?{name},?[\s\-]+{_YEAR}" + _TIME,
        "year month day": rf"(?P<year>\d{{4}})[\s\-/]{name}[\s\-/]{_DAY}" + _TIME,
        "year-month": r"(?P<year>(?:1[5-9]|20|21)\d{2})[\-/](?P<month>0?[1-9]|1[0-2])$",
        "month/year": r"(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d{2})$",
        "month year": rf"{name},?[\s\-]+{_YEAR}$",
        "year month": rf"(?P<year>\d{{4}}),?[\s\-]+{name}$",
        "week": r"(?P<year>(?:19|20)\d{2})[\s\-]?W(?P<week>\d{2})$",
        "quarter": r"(?P<year>(?:19|20)\d{2})[\s\-]?[qQ](?P<quarter>[1-4])$",
        "quarter year": r"[qQ](?P<quarter>[1-4])[\s\-/]?(?P<year>(?:19|20)\d{2})$",
        "compact": r"(?P<year>(?:19|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])$",
        "clock": _CLOCK.replace("{1,2}", "{1,3}", 1) + "$",
    }


@cache
def _month_numbers() -> dict[str, int]:
    return {word: at for at, level in enumerate(vocabulary().months, 1) for word in level}


def _any_of(levels: tuple[tuple[str, ...], ...]) -> str:
    # The longest spelling first: "sep" would leave the "tember" of "september" over.
    return "|".join(word for level in levels for word in sorted(level, key=len, reverse=True))


@dataclass(frozen=True)
class DatesFound:
    """What the strings of a column say as dates: cells (Arrow), and what stays open."""

    reading: Reading
    cells: Any
    note: str = ""
    open: str = ""
    proves: str = ""


def find_dates(words: Words, prefer: str = "", compact: bool = False) -> DatesFound | None:
    """Find the one form in which every string is a date or a time; None where there is none.

    Parameters
    ----------
    words : Words
        Without the words that mean a gap.
    prefer : {"", "dmy", "mdy"}
        The order to choose where every day could be a month.
    compact : bool
        Whether 20200924 may be a date.
    """
    sample = words.distinct[:SAMPLE]
    for form, pattern in date_forms().items():
        if form in ("mdy", "compact") and not (compact and form == "compact"):
            continue
        if not pc.all(pc.match_substring_regex(sample, _full(pattern))).as_py():
            continue
        if form == "dmy":
            return _find_order(words, prefer)
        what = "time" if form == "clock" else "date"
        found = _found(words, Reading(what, form=form))
        if found is not None:
            return found
    return None


def misfit_dates(distinct: Any) -> np.ndarray:
    """Return which strings are no date or time in the form that most of the first ones have."""
    sample = distinct[:SAMPLE]
    for form, pattern in date_forms().items():
        if form in ("mdy", "compact"):
            continue
        hits = pc.sum(pc.match_substring_regex(sample, _full(pattern))).as_py() or 0
        if 2 * hits > len(sample):
            fits = pc.match_substring_regex(distinct, _full(pattern))
            return ~np.asarray(fits.to_numpy(zero_copy_only=False))
    return np.ones(len(distinct), dtype=bool)


def _found(words: Words, reading: Reading, note: str = "", open_to: str = "") -> DatesFound | None:
    cells, fits = parse_dates(words.distinct, reading)
    if not fits.all():
        return None
    if reading.form in ("dmy", "mdy", "month day year", "day month year", "month year"):
        short = r"[^\d]'?\d{2}(?:[T ,].*)?$"
        if not pc.any(pc.match_substring_regex(words.distinct, r"\d{4}")).as_py():
            if pc.any(pc.match_substring_regex(words.distinct, short)).as_py():
                shown, at = words.distinct[0].as_py(), str(cells[0].as_py())[:10]
                note = join_notes(note, f"{shown!r} is read as {at}")
    if reading.form == "year-month" and _is_short_count(words.distinct):
        note = join_notes(note, f"{words.distinct[0].as_py()!r} is read as a year and a month")
        open_to = open_to or "category"  # or a semester, a term, a quarter
    proves = reading.form if reading.form in ("dmy", "mdy") and not open_to else ""
    return DatesFound(reading, cells, note, open_to, proves)


def _is_short_count(distinct: Any) -> bool:
    """Whether what stands after the year is 1 to 4 everywhere, without a zero before it."""
    return bool(pc.all(pc.match_substring_regex(distinct, r"^\d{4}[-/][1-4]$")).as_py())


def _find_order(words: Words, prefer: str) -> DatesFound | None:
    parts = pc.extract_regex(words.distinct, _full(date_forms()["dmy"]))
    if parts.null_count:
        return None
    largest = [pc.max(parts.field(name).cast(pa.int64())).as_py() for name in ("a", "b")]
    if min(largest) > 12 or max(largest) > 31:
        return None
    if max(largest) > 12:
        form = "dmy" if largest[0] > 12 else "mdy"
        return _found(words, Reading("date", form=form))
    if prefer in ("dmy", "mdy"):
        form = prefer
    else:
        dotted = pc.all(pc.match_substring_regex(words.distinct, r"^\d+\.\d+\.")).as_py()
        half = pc.any(pc.not_equal(parts.field("half"), "")).as_py()
        form = "mdy" if half and not dotted else "dmy"
    shown = words.distinct[0].as_py()
    first = "day" if form == "dmy" else "month"
    note = f"no day above 12 tells day from month: {shown!r} is read with the {first} first"
    return _found(words, Reading("date", form=form), note, "mdy" if form == "dmy" else "dmy")


def parse_dates(distinct: Any, reading: Reading) -> tuple[Any, np.ndarray]:
    """Read strings in a form that is known already.

    Returns
    -------
    cells : Arrow array of timestamps (of durations for times of day), missing where none fits
    fits : boolean array
    """
    parts = pc.extract_regex(distinct, _full(date_forms()[reading.form]))
    fits = ~pc.is_null(parts).to_numpy(zero_copy_only=False)
    names = {field.name for field in parts.type}

    def whole(name: str, default: int = 0) -> np.ndarray:
        if name not in names:
            return np.full(len(distinct), default, dtype=np.int64)
        digits = pc.replace_substring_regex(parts.field(name), r"\D", "")
        digits = pc.if_else(pc.equal(digits, ""), str(default), digits)
        return np.asarray(pc.fill_null(digits, "0").cast(pa.int64()).to_numpy(zero_copy_only=False))

    micros, valid = _clock(parts, names, whole, len(distinct))
    fits &= valid
    if reading.what == "time":
        cells = pa.array(micros, mask=~fits)
        within = micros.max(initial=0) < DAY and micros.min(initial=0) >= 0
        return cells.cast(pa.time64("us") if within else pa.duration("us")), fits
    year, month, day = whole("year"), whole("month", 1), whole("day", 1)
    if reading.form in ("dmy", "mdy"):
        first, second = whole("a"), whole("b")
        day, month = (first, second) if reading.form == "dmy" else (second, first)
    if "name" in names:
        lower = pc.utf8_lower(parts.field("name")).dictionary_encode()
        months = _month_numbers()
        numbers = np.array([months.get(word or "", 0) for word in lower.dictionary.to_pylist()])
        at = pc.fill_null(lower.indices, 0).to_numpy(zero_copy_only=False)
        month = numbers[at] if len(numbers) else month
    if "week" in names:  # the Monday of an ISO week; 4 January is always in the first
        week = whole("week", 1)
        fits &= (week >= 1) & (week <= 53)
        start = np.where(fits, year - 1970, 0).astype("datetime64[Y]").astype("datetime64[D]") + 3
        weekday = (start.astype(np.int64) + 3) % 7
        monday = start - weekday + 7 * (np.where(fits, week, 1) - 1)
        return pa.array(monday.astype("datetime64[us]"), pa.timestamp("us"), mask=~fits), fits
    if "quarter" in names:
        month = 3 * whole("quarter", 1) - 2
    if "year" in names:
        two = pc.fill_null(pc.less(pc.utf8_length(parts.field("year")), 4), False)
        short = np.asarray(two.to_numpy(zero_copy_only=False))
        year = np.where(short, np.where(year < 69, 2000, 1900) + year, year)
    fits &= (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    start = np.where(fits, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = (start + 1).astype("datetime64[D]") - start.astype("datetime64[D]")
    fits &= day <= days.astype(np.int64)
    stamps = start.astype("datetime64[D]").astype("datetime64[us]")
    stamps = stamps + (np.where(fits, day - 1, 0) * DAY + micros).astype("timedelta64[us]")
    return pa.array(stamps, pa.timestamp("us"), mask=~fits), fits


def _clock(parts: Any, names: set[str], whole: Any, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return microseconds since midnight, less the time zone, and where they are possible."""
    if "hour" not in names:
        return np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    hour, minute = whole("hour"), whole("minute")
    text = pc.replace_substring(parts.field("second"), ",", ".")
    text = pc.fill_null(pc.if_else(pc.equal(text, ""), "0", text), "0")
    second = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
    half = pc.fill_null(pc.utf8_lower(parts.field("half")), "").to_numpy(zero_copy_only=False)
    valid = (minute < 60) & (second < 61) & ((hour < 25) | ("day" not in names))
    marked = half != ""
    valid &= ~marked | ((hour >= 1) & (hour <= 12))
    hour = np.where(marked, hour % 12 + 12 * (half == "p"), hour)
    micros = (hour * 3600 + minute * 60) * 1_000_000 + np.round(second * 1e6).astype(np.int64)
    if "zone" in names:
        zones = parts.field("zone").dictionary_encode()
        shift = np.array([_offset(zone or "") for zone in zones.dictionary.to_pylist()] or [0])
        at = pc.fill_null(zones.indices, 0).to_numpy(zero_copy_only=False)
        micros = micros - shift[at] * 1_000_000
    return micros, valid


def _offset(zone: str) -> int:
    """Return a time zone such as +02:00 in seconds."""
    match = re.match(r"([+-])(\d{2}):?(\d{2})", zone)
    if match is None:
        return 0
    sign, hours, minutes = match.groups()
    return (-1 if sign == "-" else 1) * (int(hours) * 3600 + int(minutes) * 60)


def _full(pattern: str) -> str:
    return "^(?i:" + pattern[:-1] + ")$" if pattern.endswith("$") else f"^(?i:{pattern})$"
