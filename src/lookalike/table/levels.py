"""Words with an order: scales that everybody knows, numbered answers, bands such as "18-24"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from lookalike.table.scale import Scale
from lookalike.table.scales import SCALES
from lookalike.table.vocabulary import CURRENCY, fold

__all__ = ["LevelsFound", "find_bands", "find_levels", "find_numbered", "is_partly_scale"]

MOST = 60  # distinct strings beyond which nothing is an ordered scale
_AMOUNT = rf"(?:{CURRENCY}\s?)?(\d+(?:[.,]\d+)*)\s?([kKmM](?![a-z]))?\s?(?:{CURRENCY})?"
_UNIT = r"(?:\s?[A-Za-z%°]+\.?(?:\s(?:old|of age))?)?"
_RANGE = re.compile(
    rf"^[\[(]?\s*(-?){_AMOUNT}{_UNIT}\s*(?:-|–|—|to|,|\.\.+|until|and)\s*(-?){_AMOUNT}{_UNIT}\s*[\])]?$"
)
_BELOW = re.compile(
    rf"^(?:(<=?|≤|under|below|less than|fewer than|up to|no more than|at most|younger than)\s*"
    rf"{_AMOUNT}{_UNIT}|{_AMOUNT}{_UNIT}\s*(?:or|and)\s*(?:less|under|fewer|below|younger|lower)|"
    rf"{_AMOUNT}\s?-$)$",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"^(?:(>=?|≥|over|above|more than|greater than|older than|at least)\s*{_AMOUNT}{_UNIT}|"
    rf"{_AMOUNT}{_UNIT}?\s*(?:\+|(?:or|and)\s*(?:more|over|older|above|up|higher)){_UNIT})$",
    re.IGNORECASE,
)
_SINGLE = re.compile(rf"^(-?){_AMOUNT}{_UNIT}$")
_NUMBERED = re.compile(r"^\(?(\d{1,2})\s*(?:[.:)=]|\s[-–]|[-–]\s|\s?_)\s*(\D.*)$")


@dataclass(frozen=True)
class LevelsFound:
    """Strings from low to high, and what they are.

    ``same`` maps every other spelling of a level ("HIGH") to the one that is kept ("High").
    """

    levels: tuple[str, ...]
    what: str
    same: dict[str, str]
    open: bool = False
    note: str = ""


def find_levels(name: str, words: dict[str, int]) -> LevelsFound | None:
    """Find the scale that holds every word.

    Parameters
    ----------
    name : str
        The name of the column.
    words : mapping of word to how often it occurs
    """
    if not 2 <= len(words) <= MOST:
        return None
    folded = {word: fold(word) for word in words}
    for scale in SCALES:
        rank = {spelling: at for at, level in enumerate(scale.levels) for spelling in level}
        if all(form in rank for form in folded.values()) and _believed(scale, name, folded, rank):
            ranks = {word: rank[form] for word, form in folded.items()}
            kept: dict[int, str] = {}
            for word in sorted(words, key=lambda word: (-words[word], word)):
                kept.setdefault(ranks[word], word)
            levels = tuple(kept[at] for at in sorted(kept))
            same = {word: kept[ranks[word]] for word in words if kept[ranks[word]] != word}
            return LevelsFound(levels, scale.what, same, scale.open)
    return None


def _believed(scale: Scale, name: str, folded: dict[str, str], rank: dict[str, int]) -> bool:
    forms = set(folded.values())
    if scale.name and not re.search(scale.name, name, re.IGNORECASE):
        return False
    if scale.needs and not scale.needs & forms:
        return False
    return len({rank[form] for form in forms}) >= scale.least


def is_partly_scale(name: str, words: dict[str, int]) -> bool:
    """Whether most words, but not all, belong to one scale."""
    if not 3 <= len(words) <= MOST:
        return False
    forms = {fold(word) for word in words}
    for scale in SCALES:
        known = {word for level in scale.levels for word in level}
        if scale.name and not re.search(scale.name, name, re.IGNORECASE):
            if scale.what == "roman numerals" and forms <= known and scale.needs & forms:
                return True
            continue
        if len(forms & known) >= max(3, 0.6 * len(forms)):
            return True
    letters = {form[0] for form in forms if re.fullmatch(r"[a-g][+\-]?", form)}
    run = "abcdefg"[: len(letters)]
    return len(letters) >= 3 and len(letters) == len(forms) and "".join(sorted(letters)) == run


def find_numbered(words: dict[str, int]) -> LevelsFound | None:
    """Find answers that carry their rank, such as "1 - low" and "2. mid"."""
    if not 2 <= len(words) <= MOST:
        return None
    ranks = {}
    for word in words:
        match = _NUMBERED.match(word)
        if match is None:
            return None
        ranks[word] = int(match.group(1))
    if len(set(ranks.values())) < len(ranks):
        return None
    return LevelsFound(tuple(sorted(ranks, key=lambda word: ranks[word])), "numbered answers", {})


# -- bands -----------------------------------------------------------------------------------------


def find_bands(words: dict[str, int]) -> LevelsFound | None:
    """Find ranges of numbers that do not overlap, such as "18-24", "65+", "<1 year"."""
    if not 2 <= len(words) <= MOST:
        return None
    spans = {}
    for word in words:
        span = _span(word)
        if span is None:
            return None
        spans[word] = span
    if all(low == high for low, high in spans.values()):
        return None
    ordered = sorted(spans, key=lambda word: spans[word])
    for left, right in pairwise(ordered):
        if spans[left][0] >= spans[right][0] or spans[left][1] > spans[right][0]:
            return None
    return LevelsFound(tuple(ordered), "bands", {})


def _span(word: str) -> tuple[float, float] | None:
    """Return the two ends of a band, infinite where it is open."""
    endless = float("inf")
    if match := _SINGLE.match(word):
        value = _value(match.group(1), match.group(2), match.group(3))
        return value, value
    if match := _RANGE.match(word):
        sign, low, times, sign2, high, times2 = match.groups()
        ends = _value(sign, low, times or (times2 if times2 else None)), _value(sign2, high, times2)
        return ends if ends[0] < ends[1] else None
    if match := _BELOW.match(word):
        numbers = [group for group in match.groups()[1:] if group]
        return -endless, _value("", numbers[0], numbers[1] if len(numbers) > 1 else None)
    if match := _ABOVE.match(word):
        numbers = [group for group in match.groups()[1:] if group]
        value = _value("", numbers[0], numbers[1] if len(numbers) > 1 else None)
        return value, endless
    return None


def _value(sign: str, digits: str, times: str | None) -> float:
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif digits.count(",") == 1:
        digits = digits.replace(",", ".")
    value = float(digits.replace(",", "") if digits.count(".") <= 1 else digits.replace(".", ""))
    value *= {"k": 1e3, "m": 1e6}.get((times or "").lower(), 1.0)
    return -value if sign else value
