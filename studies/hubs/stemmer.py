"""Porter's stemmer, for the text collections of the paper."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

# Endings of steps 2, 3 and 4 (M. F. Porter, 1980. An algorithm for suffix stripping. Program 14(3),
# 130-137. doi:10.1108/eb046814); of those that fit, the longest one counts.
STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
STEP3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _consonant(word: str, at: int) -> bool:
    letter = word[at]
    if letter in "aeiou":
        return False
    return letter != "y" or at == 0 or not _consonant(word, at - 1)


def _measure(part: str) -> int:
    """Count how often a vowel is followed by a consonant."""
    kinds = [_consonant(part, at) for at in range(len(part))]
    return sum(not one and two for one, two in pairwise(kinds))


def _has_vowel(part: str) -> bool:
    return any(not _consonant(part, at) for at in range(len(part)))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _short_end(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    return [_consonant(word, len(word) - 3 + at) for at in range(3)] == [True, False, True]


def _longest(word: str, endings: dict[str, str] | tuple[str, ...]) -> str:
    return max((one for one in endings if word.endswith(one)), key=len, default="")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of an English word in lower case.

    Examples
    --------
    >>> from studies.hubs.stemmer import stem
    >>> [stem(word) for word in ("relational", "hopping", "happy", "generalizations")]
    ['relat', 'hop', 'happi', 'gener']
    """
    if len(word) < 3:
        return word
    word = _plurals(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for endings in (STEP2, STEP3):
        end = _longest(word, endings)
        if end and _measure(word[: -len(end)]) > 0:
            word = word[: -len(end)] + endings[end]
    end = _longest(word, STEP4)
    if end:
        rest = word[: -len(end)]
        if _measure(rest) > 1 and (end != "ion" or rest.endswith(("s", "t"))):
            word = rest
    return _final(word)


def _plurals(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for end in ("ed", "ing"):
        if word.endswith(end) and _has_vowel(word[: -len(end)]):
            word = word[: -len(end)]
            if word.endswith(("at", "bl", "iz")) or (_measure(word) == 1 and _short_end(word)):
                return word + "e"
            if _doubled(word) and word[-1] not in "lsz":
                return word[:-1]
            return word
    return word


def _final(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        m = _measure(rest)
        if m > 1 or (m == 1 and not _short_end(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
