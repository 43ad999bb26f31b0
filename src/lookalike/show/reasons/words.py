"""Phrases for categories, ordered levels, flags and texts."""

from __future__ import annotations

import re
from typing import Any

from lookalike._runtime.text import clean, short
from lookalike.show.reasons.pair import Pair

WORDS = 4  # shared words that are named
LONG = 12  # words from which a text is not quoted
NUMBERS = ("", "one level", "two levels", "three levels")
YES = {"1", "1.0", "true", "yes", "y", "x"}
NO = {"0", "0.0", "false", "no", "n", ""}
_WORD = re.compile(r"\w+")
_FILLERS = frozenset("a an and at by for from in is it of on or the to with".split())


def category_phrase(pair: Pair) -> str:
    """Say whether two categories are the same.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> category_phrase(Pair("mpaa", Style(Kind("category")), "PG", "PG-13", False))
    'mpaa PG-13, not PG'
    """
    one, other = (pair.style.write(cell) for cell in (pair.query, pair.found))
    if pair.query == pair.found:
        return f"same {pair.name}: {other}"
    if pair.speaks_for:
        return f"{pair.name} close: {one} and {other}"
    return f"{pair.name} {other}, not {one}"


def order_phrase(pair: Pair) -> str:
    """Say how many levels lie between two cells."""
    levels = list(pair.style.kind.levels)
    known = pair.query in levels and pair.found in levels
    if pair.query == pair.found or not known or pair.style.kind.role in ("month", "weekday"):
        return category_phrase(pair)
    apart = levels.index(pair.found) - levels.index(pair.query)
    count = abs(apart)
    many = NUMBERS[count] if count < len(NUMBERS) else f"{count} levels"
    one, other = (pair.style.write(cell) for cell in (pair.query, pair.found))
    if pair.speaks_for:
        return f"{pair.name} {many} apart: {one} and {other}"
    return f"{pair.name} {many} {'higher' if apart > 0 else 'lower'}: {other}, not {one}"


def flag_phrase(pair: Pair) -> str:
    """Say whether two rows have a flag; answers and words of their own are read as categories."""
    levels = pair.style.kind.levels
    if pair.style.kind.role == "answer":
        return category_phrase(pair)
    if len(levels) != 2 or not (_is_word(levels[0], NO) and _is_word(levels[1], YES)):
        return category_phrase(pair)
    if pair.query == pair.found:
        return f"{pair.name} in {'both' if pair.found == levels[1] else 'neither'}"
    return f"{pair.name} only {'here' if pair.found == levels[1] else 'in the query'}"


def text_phrase(pair: Pair) -> str:
    """Say which words two texts share, or what they are."""
    if pair.query == pair.found:
        return f"same {pair.name}: {_quote(pair.found)}"
    ours, theirs = (_words(cell) for cell in (pair.query, pair.found))
    shared = [word for word in theirs if word in ours]
    # Words without weight are named only where they are all there is.
    telling = [word for word in shared if word not in _FILLERS] or shared
    long = min(len(ours), len(theirs)) > LONG
    if long:  # of many words the longest are the rarest, as a rule
        telling.sort(key=len, reverse=True)
    if pair.speaks_for and telling:
        named = " ".join(theirs[word] for word in telling[:WORDS])
        more = len(telling) - WORDS
        return f"{pair.name} shares “{named}”" + (f" and {more} more words" if more > 0 else "")
    if pair.speaks_for:
        return f"{pair.name} spelled alike: {_quote(pair.query)} and {_quote(pair.found)}"
    if long:
        few = f"{len(telling):,} of {len(ours):,} words shared"
        return f"{pair.name} differs: only {few}" if telling else f"{pair.name} shares no word"
    return f"{pair.name} {_quote(pair.found)}, not {_quote(pair.query)}"


def _words(text: str) -> dict[str, str]:
    """Return the words of a text without case, each with its spelling, in their order."""
    return {word.casefold(): clean(word) for word in _WORD.findall(str(text))}


def _quote(text: Any) -> str:
    return f"“{short(text, 40)}”"


def _is_word(level: Any, words: set[str]) -> bool:
    return str(level).strip().casefold() in words
