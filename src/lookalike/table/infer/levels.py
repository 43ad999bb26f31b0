"""Words with an order: scales that everybody knows, numbered answers, bands such as "18-24"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from lookalike.table.infer.scale import Scale
from lookalike.table.infer.scales import known_scales
from lookalike.table.infer.vocabulary import CURRENCY, fold

MOST = 60  # distinct strings beyond which nothing is an ordered scale
_AMOUNT = rf"(?:{CURRENCY}\s?)?(\d+(?:[.,]\d+)*|Inf)\s?([kKmM](?![a-z]))?\s?(?:{CURRENCY})?"
_UNIT = (
    r"(?:\s?(?:[A-Za-z%°]+\.?(?:\s?/\s?[A-Za-z]+|\sper\s[A-Za-z]+)?|per\s[A-Za-z]+)"
    r"(?:\s(?:old|of age|ago))?)?"
)
_RANGE = re.compile(
    rf"^[\[(]?\s*(-?){_AMOUNT}{_UNIT}\s*(?:-|–|—|to|,|\.\.+|until|and)\s*(-?){_AMOUNT}{_UNIT}\s*[\])]?$"
)
_BELOW = re.compile(
    rf"^(?:(<=?|≤|under|below|less than|fewer than|up to|no more than|at most|younger than|lt\b)\s*"
    rf"{_AMOUNT}{_UNIT}|{_AMOUNT}{_UNIT}\s*(?:or|and)\s*"
    rf"(?:less|under|fewer|below|younger|lower){_UNIT})$",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"^(?:(>=?|≥|over|above|more than|greater than|older than|at least|[gm]t\b)\s*"
    rf"{_AMOUNT}{_UNIT}|"
    rf"{_AMOUNT}{_UNIT}?\s*(?:\+|(?:or|and)\s*(?:more|over|older|above|up|higher)){_UNIT})$",
    re.IGNORECASE,
)
_SINGLE = re.compile(rf"^(-?){_AMOUNT}{_UNIT}$")
_DASHED = re.compile(rf"^{_AMOUNT}\s?-$")  # "40-" ends a list of bands, or begins it
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDLESS = float("inf")
_AFTER = re.compile(r"\d\s?([A-Za-z]+)")  # the word that stands after a number
_JOINING = frozenset("to or and until k m".split())
_DAYS = {"min": 1 / 1440, "minute": 1 / 1440, "h": 1 / 24, "hr": 1 / 24, "hour": 1 / 24, "d": 1.0}
_DAYS |= {"day": 1.0, "wk": 7.0, "week": 7.0, "mo": 30.4375, "month": 30.4375}
_DAYS |= {"y": 365.25, "yr": 365.25, "year": 365.25}
_NUMBERED = re.compile(r"^\(?(\d{1,2})\s*(?:[.:)=]|\s[-–]|[-–]\s|\s?_)\s*(\D.*)$")


@dataclass(frozen=True)
class LevelsFound:
    """Strings from low to high as they are written, and what they are."""

    levels: tuple[str, ...]
    what: str
    open: bool = False


def find_levels(name: str, words: dict[str, int]) -> LevelsFound | None:
    """Find the scale that has a level of its own for every word.

    Two spellings of one level that both occur may be two values to their writer (platinum and
    diamond, normal and moderate, "Gold" and "GOLD"): such a scale is not taken.

    Parameters
    ----------
    name : str
        The name of the column.
    words : mapping of word to how often it occurs
    """
    for scale, ranks in _fitting_scales(name, words):
        if len(set(ranks.values())) == len(ranks):
            levels = tuple(sorted(ranks, key=ranks.__getitem__))
            return LevelsFound(levels, scale.what, scale.open)
    return None


def say_shared_level(name: str, words: dict[str, int]) -> str:
    """Say which two words keep a column from being ordered by a scale; "" where none do."""
    for scale, ranks in _fitting_scales(name, words):
        first: dict[int, str] = {}
        for word, rank in ranks.items():
            other = first.setdefault(rank, word)
            if other != word:
                return (
                    f"not ordered, since {other!r} and {word!r} are one level of the scale "
                    f"{scale.what!r}: pass kinds={{{name!r}: [lowest, ..., highest]}} to order it"
                )
    return ""


def _fitting_scales(name: str, words: dict[str, int]) -> Iterator[tuple[Scale, dict[str, int]]]:
    """Give the scales that hold every word and are believed, with the rank of each word."""
    if not 2 <= len(words) <= MOST:
        return
    for forms in _forms(words):
        for scale in known_scales():
            rank = scale.rank
            if all(form in rank for form in forms.values()) and _believed(scale, name, forms):
                yield scale, {word: rank[form] for word, form in forms.items()}


def without_number(word: str) -> str:
    """Return an answer without the number before it: "0_no" is "no"."""
    match = _NUMBERED.match(word.strip())
    return word.strip() if match is None else match.group(2).strip()


def _forms(words: dict[str, int]) -> Iterator[dict[str, str]]:
    """Give the words as a scale may have them: folded, cut at capitals, without what all share."""
    plain = {word: fold(word) for word in words}
    yield plain
    cut = {word: fold(_CAPITAL.sub(" ", word)) for word in words}  # StronglyAgree
    if cut != plain:
        yield cut
    shared = set.intersection(*(set(form.split()) for form in plain.values()))
    if shared:  # low risk, high risk
        less = [[token for token in form.split() if token not in shared] for form in plain.values()]
        yield {word: " ".join(tokens) for word, tokens in zip(words, less, strict=True)}


def _believed(scale: Scale, name: str, folded: dict[str, str]) -> bool:
    forms = set(folded.values())
    if scale.name and not re.search(scale.name, name, re.IGNORECASE):
        return False
    if scale.needs and not scale.needs & forms:
        return False
    return len({scale.rank[form] for form in forms}) >= scale.least


def is_partly_scale(name: str, words: dict[str, int]) -> bool:
    """Whether most words, but not all, belong to one scale."""
    if not 3 <= len(words) <= MOST:
        return False
    forms = {fold(word) for word in words}
    for scale in known_scales():
        known = scale.rank.keys()
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
    """Find answers that carry their rank, such as "1 - low" and "2. mid".

    A number may also be a code ("1. married", "2. widowed"): the order is beyond doubt only where
    the words alone have one.
    """
    if not 2 <= len(words) <= MOST:
        return None
    ranks, bare = {}, {}
    for word in words:
        match = _NUMBERED.match(word.strip())
        if match is None:
            return None
        ranks[word] = int(match.group(1))
        bare[word] = match.group(2).strip()
    if len(set(ranks.values())) < len(ranks):
        return None
    levels = tuple(sorted(ranks, key=lambda word: ranks[word]))
    alone = {bare[word]: words[word] for word in levels}
    known = find_levels("", alone) or find_bands(alone)
    doubt = known is None or known.open
    return LevelsFound(levels, "numbered answers", open=doubt)


# -- bands -----------------------------------------------------------------------------------------


def find_bands(words: dict[str, int]) -> LevelsFound | None:
    """Find ranges of numbers that do not overlap, such as "18-24", "65+", "<1 year"."""
    if not 2 <= len(words) <= MOST:
        return None
    factors = _factors(words)
    if factors is None:
        return None
    if all(
        _DASHED.match(word.strip()) for word in words
    ):  # 1935-, 1940-, ...: where each band begins
        starts = {word: _span(word) or (0.0, 0.0) for word in words}
        return LevelsFound(tuple(sorted(starts, key=lambda word: starts[word])), "bands")
    for dash in ("up", "down"):  # "40-" ends the list of bands more often than it begins one
        spans = {}
        for word in words:
            span = _span(word, dash)
            if span is None:
                return None
            spans[word] = (span[0] * factors[word], span[1] * factors[word])
        levels = _in_order(spans)
        if levels is not None:
            return LevelsFound(levels, "bands")
    return None


def is_partly_bands(words: dict[str, int]) -> bool:
    """Whether most words, but not all, are ranges or parts of one list of ranges."""
    if not 3 <= len(words) <= MOST:
        return False
    spans = {word: _span(word) for word in words}
    known = [word for word, span in spans.items() if span is not None]
    wide = [word for word in known if _SINGLE.match(word.strip()) is None]
    return len(wide) >= 2 and len(known) >= max(3, 0.6 * len(words))


def _in_order(spans: dict[str, tuple[float, float]]) -> tuple[str, ...] | None:
    """Return bands from low to high; None where two of them overlap, or none is wide."""
    if all(low == high for low, high in spans.values()):
        return None
    ordered = sorted(spans, key=lambda word: spans[word])
    for left, right in pairwise(ordered):
        low, high = spans[left]
        beyond = low == high == spans[right][0] and spans[right][1] == _ENDLESS  # 3, >3
        if (low >= spans[right][0] and not beyond) or high > spans[right][0]:
            return None
    return tuple(ordered)


def _factors(words: dict[str, int]) -> dict[str, float] | None:
    """Return what brings the bands to one unit; None where that is not known.

    "3 days" and "1-2 weeks" are bands of one scale, "3 kg" and "1-2 lb" are not for us.
    """
    units = {}
    for word in words:
        found = {unit.casefold() for unit in _AFTER.findall(word)} - _JOINING
        units[word] = {unit[:-1] if unit.endswith("s") else unit for unit in found}
    every = set().union(*units.values())
    if len(every) <= 1:
        return dict.fromkeys(words, 1.0)
    if not every <= set(_DAYS) or any(len(found) != 1 for found in units.values()):
        return None
    return {word: _DAYS[min(found)] for word, found in units.items()}


def _span(word: str, dash: str = "up") -> tuple[float, float] | None:
    """Return the two ends of a band, infinite where it is open."""
    word = word.strip()
    if match := _SINGLE.match(word):
        value = _value(match.group(1), match.group(2), match.group(3))
        return value, value
    if match := _RANGE.match(word):
        sign, low, times, sign2, high, times2 = match.groups()
        if low.isdigit() and high.isdigit() and len(low) == 4 and len(high) == 2:
            high = low[:2] + high  # 1960-64
        ends = _value(sign, low, times or (times2 if times2 else None)), _value(sign2, high, times2)
        return ends if ends[0] < ends[1] else None
    if match := _DASHED.match(word):
        value = _value("", match.group(1), match.group(2))
        return (value, _ENDLESS) if dash == "up" else (-_ENDLESS, value)
    if match := _BELOW.match(word):
        numbers = [group for group in match.groups()[1:] if group]
        return -_ENDLESS, _value("", numbers[0], numbers[1] if len(numbers) > 1 else None)
    if match := _ABOVE.match(word):
        numbers = [group for group in match.groups()[1:] if group]
        value = _value("", numbers[0], numbers[1] if len(numbers) > 1 else None)
        return value, _ENDLESS
    return None


def _value(sign: str, digits: str, times: str | None) -> float:
    if digits == "Inf":
        return -_ENDLESS if sign else _ENDLESS
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif digits.count(",") == 1:
        digits = digits.replace(",", ".")
    value = float(digits.replace(",", "") if digits.count(".") <= 1 else digits.replace(".", ""))
    value *= {"k": 1e3, "m": 1e6}.get((times or "").lower(), 1.0)
    return -value if sign else value
