"""Numbers as people write them: money, separators, percent, units (number parsing).

The reading of a column is decided from all its distinct strings together: "1,067" alone may be a
thousand or one and a bit, but "1,067" beside "12,5" may not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.neutral import SAMPLE, Words, all_match, join_notes
from lookalike.table.infer.reading import Reading
from lookalike.table.infer.vocabulary import CURRENCY, vocabulary

_BODY = r"\d(?:[\d.,'’ \x{00a0}\x{202f}]*\d)?\.?|[.,]\d+"
_PATTERN = (
    rf"^(?P<open>\(?)(?P<sign>[+\-−–]?)\s?(?P<before>{CURRENCY}|)\s?(?P<again>[+\-−]?)\s?"
    rf"(?P<body>{_BODY})(?P<exponent>(?:[eE][+\-]?\d+)?)(?P<space>\s*)"
    rf"(?P<after>[^\d\s.,()+\-:;|][^\d():;|]{{0,14}}|)\)?$"
)
_SPACES = " \u00a0\u202f"
# How digits may be grouped: (decimal, thousands, the pattern that every number must have)
_STYLES = (
    (".", "", r"^(?:\d+\.?\d*|\.\d+)$"),
    (".", ",", r"^(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}|\d{1,3}|\d+)(?:\.\d+)?$"),
    (",", ".", r"^(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?$"),
    (",", "", r"^\d*,?\d+$"),
    (".", " ", r"^(?:[1-9]\d{0,2}(?:[ \x{00a0}\x{202f}]\d{3})+|\d+)(?:\.\d+)?$"),
    (",", " ", r"^(?:[1-9]\d{0,2}(?:[ \x{00a0}\x{202f}]\d{3})+|\d+)(?:,\d+)?$"),
    (".", "'", r"^(?:[1-9]\d{0,2}(?:['’]\d{3})+|\d+)(?:\.\d+)?$"),
    (",", "'", r"^(?:[1-9]\d{0,2}(?:['’]\d{3})+|\d+)(?:,\d+)?$"),
)


@dataclass(frozen=True)
class NumbersFound:
    """What the strings of a column say as numbers.

    ``cells`` is an Arrow array, one entry per distinct string; ``open`` names the other decimal
    separator that would do, ``proves`` the one that is beyond doubt.
    """

    reading: Reading
    cells: Any
    note: str = ""
    open: str = ""
    proves: str = ""


def has_leading_zeros(distinct: Any) -> bool:
    """Whether some string is digits after a zero, as in "02139"."""
    return bool(pc.any(pc.match_substring_regex(distinct, r"^0\d+$")).as_py())


def find_numbers(words: Words, prefer: str = "") -> NumbersFound | None:
    """Find the one reading under which every string is a number; None where there is none.

    Parameters
    ----------
    words : Words
        Without the words that mean a gap.
    prefer : {"", ".", ","}
        The decimal separator to choose where the strings allow both.
    """
    plain = _plain(words.distinct)
    if plain is not None:
        reading = Reading("number")
        if prefer == "," and all_match(words.distinct, r"^[+\-]?[1-9]\d{0,2}\.\d{3}$"):
            return _read(words, replace(reading, decimal=",", thousands="."), open_to=".")
        return NumbersFound(reading, plain)
    sample = pc.extract_regex(words.distinct[:SAMPLE], _PATTERN)
    if sample.null_count:
        return None
    parts = pc.extract_regex(words.distinct, _PATTERN)
    if parts.null_count:
        return None
    affixes = _affixes(parts)
    if affixes is None:
        return None
    currency, unit, note = affixes
    bodies = parts.field("body")
    styles = [(d, t) for d, t, pattern in _STYLES if all_match(bodies, pattern)]
    if not styles:
        return None
    decimal, thousands = styles[0]
    other = [d for d, _ in styles if d != decimal]
    if decimal == "." and thousands == "" and prefer == "," and other and _grouped(bodies, "."):
        decimal, thousands = ",", "."
    elif other and prefer == other[0] and not thousands == "":
        decimal, thousands = next(style for style in styles if style[0] == prefer)
    doubtful = bool(other) and (decimal, thousands) != (".", "")
    reading = Reading("number", decimal=decimal, thousands=thousands, currency=currency, unit=unit)
    return _read(words, reading, note, open_to=other[0] if doubtful else "")


def _read(words: Words, reading: Reading, note: str = "", open_to: str = "") -> NumbersFound | None:
    cells, fits = parse_numbers(words.distinct, reading)
    if not fits.all():
        return None
    if open_to:
        at = int(pc.index(pc.match_substring_regex(words.distinct, r"\d[.,]\d"), True).as_py())
        shown, value = words.distinct[max(at, 0)].as_py(), cells[max(at, 0)].as_py()
        note = join_notes(note, f"{shown!r} is read as {value:.10g}")
    decides = reading.decimal == "," or reading.thousands
    return NumbersFound(
        reading, cells, note, open_to, reading.decimal if decides and not open_to else ""
    )


def misfit_numbers(distinct: Any) -> np.ndarray:
    """Return which strings are no plain number, money or percentage."""
    amount = r"(?:\d+|\d{1,3}(?:,\d{3})+)?(?:[.,]\d+)?(?:[eE][+\-]?\d+)?"
    plain = rf"^[+\-−]?(?:{CURRENCY}\s?)?{amount}\s?%?$"
    fits = pc.and_(
        pc.match_substring_regex(distinct, plain), pc.match_substring_regex(distinct, r"\d")
    )
    return ~np.asarray(fits.to_numpy(zero_copy_only=False))


def parse_numbers(distinct: Any, reading: Reading) -> tuple[Any, np.ndarray]:
    """Read strings by a reading that is known already.

    Returns
    -------
    cells : Arrow array of int64 or float64, missing where a string does not fit
    fits : boolean array
    """
    plain = _plain(distinct) if reading.decimal == "." else None
    if plain is not None and not reading.currency and not reading.unit:
        return plain, np.ones(len(distinct), dtype=bool)
    parts = pc.extract_regex(distinct, _PATTERN)
    bodies = parts.field("body")
    for mark in _SPACES if reading.thousands == " " else ("'", "’"):
        if reading.thousands in (" ", "'"):
            bodies = pc.replace_substring(bodies, mark, "")
    if reading.thousands in (".", ","):
        bodies = pc.replace_substring(bodies, reading.thousands, "")
    if reading.decimal == ",":
        bodies = pc.replace_substring(bodies, ",", ".")
    fits = pc.fill_null(pc.match_substring_regex(bodies, r"^(?:\d+\.?\d*|\.\d+)$"), False)
    fits = np.array(fits.to_numpy(zero_copy_only=False))
    fits &= ~pc.is_null(parts).to_numpy(zero_copy_only=False)
    known = {_one(word) for word in ("", reading.unit, reading.currency)}

    def factor(after: str) -> float:
        if _one(after) in known:
            return 1.0
        return vocabulary().multiples.get(after.casefold(), np.nan) if reading.currency else np.nan

    def allowed(before: str) -> float:
        return 1.0 if before in ("", reading.currency) or not reading.currency else np.nan

    factors = _each(parts.field("after"), factor) * _each(parts.field("before"), allowed)
    fits &= ~np.isnan(factors)
    full = pc.binary_join_element_wise(
        bodies, parts.field("exponent"), pa.scalar("", pa.large_string())
    )
    full = pc.if_else(pa.array(fits), full, pa.scalar(None, full.type))
    values = full.cast(pa.float64()).to_numpy(zero_copy_only=False) * factors
    minus = np.zeros(len(distinct), dtype=bool)
    for name in ("sign", "again"):
        sign = pc.is_in(parts.field(name), value_set=pa.array(["-", "−", "–"], pa.large_string()))
        minus ^= np.asarray(sign.to_numpy(zero_copy_only=False))
    bracket = pc.fill_null(pc.equal(parts.field("open"), "("), False)
    minus ^= np.asarray(bracket.to_numpy(zero_copy_only=False))
    values = np.where(minus, -values, values)
    cells = pa.array(values, mask=~fits)
    if fits.all() and np.all(values == np.floor(values)) and np.abs(values).max(initial=0) < 2**53:
        whole = pc.match_substring(full, ".")
        if not pc.any(whole).as_py():
            cells = cells.cast(pa.int64())
    return cells, fits


def _each(strings: Any, value: Callable[[str], float]) -> np.ndarray:
    """Apply a function to every string, once for each distinct one; 1 where missing."""
    encoded = strings.dictionary_encode()
    values = np.array([*map(value, encoded.dictionary.to_pylist()), 1.0])
    at = pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return np.asarray(values[at])


def _plain(distinct: Any) -> Any:
    """Read strings that programs write; None where one of them is not."""
    for kind in (pa.int64(), pa.float64()):
        try:
            distinct[:SAMPLE].cast(kind)  # a failing cast looks at every string before it says so
            return distinct.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _affixes(parts: Any) -> tuple[str, str, str] | None:
    """Find the one currency and the one unit; None where there are several."""
    before = {word for word in parts.field("before").unique().to_pylist() if word}
    after = parts.field("after")
    spaced = pc.not_equal(parts.field("space"), "")
    currency_after = pc.match_substring_regex(after, rf"^{CURRENCY}$")
    money = before | set(after.filter(currency_after).unique().to_pylist())
    near = set(after.filter(pc.invert(spaced)).unique().to_pylist())
    units = set(after.unique().to_pylist()) - money - {""}
    found = {unit: unit not in near for unit in units}  # whether a space stands before it
    if len(money) > 1:
        return None
    if money and found and {unit.casefold() for unit in found} <= set(vocabulary().multiples):
        names = ", ".join(sorted(found))
        return money.pop(), "", f"{names} after an amount multiplies it"
    if len({_one(unit) for unit in found}) > 1:
        return None
    unit = min(found, default="", key=lambda word: (len(word), word))
    if unit and not all(_is_unit(word, far) for word, far in found.items()):
        return None
    note = ""
    if unit:
        lacking = int(pc.sum(pc.equal(after, "")).as_py() or 0)
        if lacking and unit.casefold() not in vocabulary().units:
            return None
        note = f"the unit {unit!r} is left out"
        if lacking:
            note += f"; {lacking} distinct cells have none"
    if money:
        note = join_notes(note, f"amounts in {min(money)}")
    return (money.pop() if money else ""), unit, note


def _is_unit(word: str, spaced: bool) -> bool:
    units = vocabulary().units
    if word.casefold() in units or _one(word) in units:
        return spaced or len(word) > 1 or not word.isupper()  # 1A, 2A are not amperes
    letters = word.replace(" ", "").replace("/", "").replace(".", "")
    plain = letters.isalpha() and word.casefold() not in ("am", "pm", "bc", "ad")
    return spaced and plain and len(letters) >= 3 and word.count(" ") <= 1 and word.islower()


def _one(unit: str) -> str:
    """Return a unit in the singular, without case."""
    unit = unit.casefold().strip(".")
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def _grouped(bodies: Any, mark: str) -> bool:
    return all_match(bodies, rf"^[1-9]\d{{0,2}}\{mark}\d{{3}}$")
