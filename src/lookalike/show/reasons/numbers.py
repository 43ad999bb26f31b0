"""Phrases for numbers, years, dates and durations."""

from __future__ import annotations

import datetime as dt
from typing import Any

from lookalike.show.reasons.pair import Pair

ROUND = 0.05  # two numbers this near to a round one are both "about" it
APART = 0.1  # of the range without its tails: farther apart, where both stand says more
TIMES = 10  # so many times as much is not "a little"
CLOSE = ("similar", "close", "very close")
FAR = ("a little ", "", "much ")


def number_phrase(pair: Pair) -> str:
    """Say whether two numbers are the same, close, or which is higher.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> style = Style(Kind("number"), grouped=True)
    >>> number_phrase(Pair("votes", style, 134640.0, 58870.0, False, 2.0))
    '134,640 votes against 58,870 (lower)'
    >>> number_phrase(Pair("votes", style, 134640.0, 131002.0, True, 6.0))
    'both about 130,000 votes'
    >>> number_phrase(Pair("votes", style, 66030.0, 639.0, False, 0.1))
    '66,030 votes against 639 (lower)'
    """
    one, other = _amount(pair.query), _amount(pair.found)
    texts = [pair.style.write(cell) for cell in (pair.query, pair.found)]
    if one == other or texts[0] == texts[1]:
        noun = _is_noun(pair)
        return f"both {texts[1]} {pair.name}" if noun else f"same {pair.name}: {texts[1]}"
    if not pair.speaks_for:
        return _against(pair, one, other)
    about = _round(pair, one, other)
    if about is not None and pair.degree(4, 2, (0.97, 0.9)):
        noun = _is_noun(pair)
        return f"both about {about} {pair.name}" if noun else f"{pair.name} about {about} in both"
    first, second = _both(pair)
    place = _place(pair, one, other)
    if place:
        return f"{pair.name} {place} in both: {first} and {second}"
    word = CLOSE[pair.degree(5, 2, (0.97, 0.9))]
    return f"{pair.name} {word}: {first} and {second}"


def _against(pair: Pair, one: float, other: float) -> str:
    first, second = _both(pair)
    degree = pair.degree(4, 0.5, (0.6, 0.05))
    if not pair.style.is_date and 0 < TIMES * min(one, other) <= max(one, other):
        degree = max(degree, 1)  # few rows may lie between them, but nobody calls that a little
    word = FAR[degree]
    if pair.style.is_date:
        word += "later" if other > one else "earlier"
    elif pair.style.kind.source == "duration":
        word += "longer" if other > one else "shorter"
    else:
        word += "higher" if other > one else "lower"
    start = f"{first} {pair.name}" if _is_noun(pair) else f"{pair.name} {first}"
    return f"{start} against {second} ({word})"


def _both(pair: Pair) -> tuple[str, str]:
    """Write both cells; a unit stands once, behind the second."""
    spaced = pair.style.unit not in ("", "%")
    return pair.style.write(pair.query, unit=not spaced), pair.style.write(pair.found)


def _round(pair: Pair, one: float, other: float) -> str | None:
    """Return the round number that both are near to; None where there is none, or none is apt."""
    style = pair.style
    if style.is_date or style.kind.source or style.kind.role == "time":
        return None
    middle = (one + other) / 2
    near = float(f"{middle:.1e}")
    digits = max(len(f"{abs(v):.6g}".replace(".", "").strip("0")) for v in (one, other))
    if digits < 3 or near == 0 or max(abs(near - one), abs(near - other)) > ROUND * abs(near):
        return None
    decimals = style.decimals
    if decimals > 0 and near == round(near):
        return style.write(near).replace("." + "0" * decimals, "")
    return style.write(near)


def _place(pair: Pair, one: float, other: float) -> str:
    """Say where both stand in the column, if they stand at the same end of it."""
    style = pair.style
    if abs(one - other) < APART * (style.high - style.low):
        return ""  # so near that there is no more to say
    if min(one, other) >= style.high:
        return "late" if style.is_date else "high"
    if max(one, other) <= style.low:
        return "early" if style.is_date else "low"
    return ""


def _is_noun(pair: Pair) -> bool:
    """Whether the name can follow the number, as in "134,640 votes"."""
    name, style = pair.name, pair.style
    plain = name.isalpha() and name.islower() and len(name) > 3 and name.endswith("s")
    counts = style.decimals == 0 and not style.unit and not style.is_date and not style.kind.source
    return plain and counts and not name.endswith(("ss", "us", "is")) and not _is_money(pair)


def _is_money(pair: Pair) -> bool:
    reading = pair.style.kind.reading
    return reading is not None and bool(reading.currency)


def _amount(cell: Any) -> float:
    if isinstance(cell, dt.datetime):
        return cell.replace(tzinfo=dt.UTC).timestamp()
    return cell.total_seconds() if isinstance(cell, dt.timedelta) else float(cell)
