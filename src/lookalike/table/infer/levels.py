"""Words with an order: scales that everybody knows, numbered answers, bands such as "18-24"."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from lookalike.table.infer import thresholds
from lookalike.table.infer.numbers import read_amount
from lookalike.table.infer.vocabulary import Scale, fold, known_scales, patterns, vocabulary
from lookalike.table.model.kind import Kind, Reading

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBERED = re.compile(r"^\(?(\d{1,2})\s*(?:[.:)=]|\s[-–]|[-–]\s|\s?_)\s*(\D.*)$")
# The word that stands after a number.
_AFTER = re.compile(r"\d\s?([A-Za-z]+)")
_JOINING = frozenset("to or and until k m".split())
_INFINITY = float("inf")
# Characters of a band of numbers; the time to see that a text is none grows with the cube of them.
MAX_BAND_LENGTH = 100


def _ordered(levels: tuple[str, ...], what: str, sure: bool = True) -> Kind:
    """Return the kind of strings from low to high as they are written; what they are."""
    names = " < ".join(levels[:12]) + (" < ..." if len(levels) > 12 else "")
    kind = Kind("order", f"{what}: {names}", levels, confidence=0.9, reading=Reading("level"))
    return kind if sure else replace(kind, confidence=0.6, close="category")


def find_levels(name: str, words: dict[str, int]) -> Kind | None:
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
            # Within half of the circle nothing is nearer the other way round: an order like others.
            if scale.cycle and 2 * (ranks[levels[-1]] - ranks[levels[0]]) > len(scale.levels):
                kind = _ordered(_full_circle(scale, ranks), scale.what)
                names = f"{kind.levels[0]}, {kind.levels[1]}, ..., {kind.levels[-1]}"
                reason = f"{scale.what}, which come round: {names}"
                return replace(kind, reason=reason, role="cycle")
            return _ordered(levels, scale.what, not scale.open)
    return None


def find_circle(words: Iterable[str]) -> tuple[str, ...] | None:
    """Return all levels of the circle that has a level of its own for every word; None: none."""
    for scale in known_scales():
        ranks = {word: scale.rank.get(fold(word), -1) for word in words if scale.cycle}
        if ranks and -1 not in ranks.values() and len(set(ranks.values())) == len(ranks):
            return _full_circle(scale, ranks)
    return None


def _full_circle(scale: Scale, ranks: dict[str, int]) -> tuple[str, ...]:
    """Return all levels of a circle: as they are written, and the others as these are."""
    written = {rank: word for word, rank in ranks.items()}
    # "May" is long and short; any other word says which spelling of the rest is meant.
    known = [(fold(word), scale.levels[rank]) for rank, word in written.items()]
    place = int(all(word != level[0] for word, level in known if len(level) > 1))
    word = max(ranks, key=len)
    case = next((c for c in (str.lower, str.upper) if c(word) == word), str.title)
    others = [case(level[min(place, len(level) - 1)]) for level in scale.levels]
    return tuple(written.get(rank, other) for rank, other in enumerate(others))


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
    if not 2 <= len(words) <= thresholds.MAX_LEVELS:
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
    # "low risk" and "high risk" are low and high: what all words have says nothing.
    shared = set.intersection(*(set(form.split()) for form in plain.values()))
    if shared:  # low risk, high risk
        less = [[token for token in form.split() if token not in shared] for form in plain.values()]
        yield {word: " ".join(tokens) for word, tokens in zip(words, less, strict=True)}


def _believed(scale: Scale, name: str, folded: dict[str, str]) -> bool:
    forms = set(folded.values())
    if not scale.suits(name) or (scale.needs and not scale.needs & forms):
        return False
    return len({scale.rank[form] for form in forms}) >= scale.least


def is_partly_scale(name: str, words: dict[str, int]) -> bool:
    """Whether most words, but not all, belong to one scale."""
    if not 3 <= len(words) <= thresholds.MAX_LEVELS:
        return False
    forms = {fold(word) for word in words}
    # Three at least: two words of a scale are found in many columns by chance.
    enough = max(3, thresholds.MIN_SHARE_OF_SCALE * len(forms))
    for scale in known_scales():
        known = scale.rank.keys()
        if scale.suits(name):
            if len(forms & known) >= enough:
                return True
        elif scale.what == "roman numerals" and forms <= known and scale.needs & forms:
            # Under any name they may be grades.
            return True
    return _are_letter_grades(forms)


def _are_letter_grades(forms: set[str]) -> bool:
    """Whether words are the first letters of the alphabet, three or more, as in a, b, c+."""
    letters = sorted(form[0] for form in forms if re.fullmatch(r"[a-g][+\-]?", form))
    return len(letters) == len(forms) >= 3 and letters == list("abcdefg"[: len(forms)])


def find_numbered(words: dict[str, int]) -> Kind | None:
    """Find answers that carry their rank, such as "1 - low" and "2. mid".

    A number may also be a code ("1. married", "2. widowed"): the order is beyond doubt only where
    the words alone have one.
    """
    if not 2 <= len(words) <= thresholds.MAX_LEVELS:
        return None
    ranks, bare = {}, {}
    for word in words:
        if (match := _NUMBERED.match(word.strip())) is None:
            return None
        ranks[word] = int(match.group(1))
        bare[word] = match.group(2).strip()
    if len(set(ranks.values())) < len(ranks):
        return None
    levels = tuple(sorted(ranks, key=ranks.__getitem__))
    alone = {bare[word]: words[word] for word in levels}
    known = find_levels("", alone) or find_bands(alone)
    return _ordered(levels, "numbered answers", known is not None and not known.close)


# -- bands -----------------------------------------------------------------------------------------


def find_bands(words: dict[str, int]) -> Kind | None:
    """Find ranges of numbers that do not overlap, such as "18-24", "65+", "<1 year"."""
    if not 2 <= len(words) <= thresholds.MAX_LEVELS:
        return None
    if (factors := _factors(words)) is None:
        return None
    if all(re.match(patterns("bands")["dashed"], word.strip()) for word in words):
        # 1935-, 1940-, ...: where each band begins
        starts = {word: _span(word) or (0.0, 0.0) for word in words}
        return _ordered(tuple(sorted(starts, key=starts.__getitem__)), "bands")
    # "40-" ends the list of bands more often than it begins one.
    for dash in ("up", "down"):
        levels = _in_order({word: _span(word, dash) for word in words}, factors)
        if levels is not None:
            return _ordered(levels, "bands")
    return None


def is_partly_bands(words: dict[str, int]) -> bool:
    """Whether most words, but not all, are ranges or parts of one list of ranges."""
    if not 3 <= len(words) <= thresholds.MAX_LEVELS:
        return False
    spans = {word: _span(word) for word in words}
    known = [word for word, span in spans.items() if span is not None]
    wide = [word for word in known if not re.match(patterns("bands")["single"], word.strip())]
    return len(wide) >= 2 and len(known) >= max(3, thresholds.MIN_SHARE_OF_SCALE * len(words))


Span = tuple[float, float]


def _in_order(read: dict[str, Span | None], factors: dict[str, float]) -> tuple[str, ...] | None:
    """Return bands from low to high; None where two of them overlap, or none is wide."""
    spans = {w: (s[0] * factors[w], s[1] * factors[w]) for w, s in read.items() if s is not None}
    if len(spans) < len(read) or all(low == high for low, high in spans.values()):
        return None
    ordered = sorted(spans, key=spans.__getitem__)
    for left, right in pairwise(ordered):
        low, high = spans[left]
        # A single number may stand before the open band that begins with it.
        beyond = low == high == spans[right][0] and spans[right][1] == _INFINITY  # 3, >3
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
        units[word] = {unit.removesuffix("s") for unit in found}
    every = set().union(*units.values())
    if len(every) <= 1:
        return dict.fromkeys(words, 1.0)
    days = vocabulary().days
    if not every <= set(days) or any(len(found) != 1 for found in units.values()):
        return None
    return {word: days[min(found)] for word, found in units.items()}


def _span(word: str, dash: str = "up") -> Span | None:
    """Return the two ends of a band, infinite where it is open.

    Parameters
    ----------
    word : str
    dash : {"up", "down"}
        Where a band such as "40-" goes to.
    """
    word = word.strip()
    if len(word) > MAX_BAND_LENGTH:
        return None
    for form, pattern in patterns("bands").items():
        if (match := re.match(pattern, word)) is None:
            continue
        if form == "range":
            return _range(*match.groups(""))
        if form == "single":
            value = _signed(*match.groups(""))
            return value, value
        # Which of the alternatives matched is open: a number, and "k" or "m" behind it or not.
        groups = match.groups() if form == "dashed" else match.groups()[1:]
        value = read_amount(*(group for group in groups if group))
        goes_up = form == "above" or (form == "dashed" and dash == "up")
        return (value, _INFINITY) if goes_up else (-_INFINITY, value)
    return None


def _range(sign: str, low: str, factor: str, sign2: str, high: str, factor2: str) -> Span | None:
    if low.isdigit() and high.isdigit() and len(low) == 4 and len(high) == 2:
        # Years: the century is written once.
        high = low[:2] + high  # 1960-64
    ends = _signed(sign, low, factor or factor2), _signed(sign2, high, factor2)
    return ends if ends[0] < ends[1] else None


def _signed(sign: str, digits: str, multiple: str) -> float:
    return read_amount(digits, multiple) * (-1.0 if sign else 1.0)
