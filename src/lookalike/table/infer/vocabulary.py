"""Words that mean something in tables everywhere: gaps, yes and no, calendars, units, money.

The words are in ``data/words.toml``, the scales in ``data/scales.toml``. They stand in the form
that ``fold`` gives them: lower case, one space between words, no dots or apostrophes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from lookalike.table._data import read_data

# Read as missing among words too, in exactly this spelling: R and pandas write gaps so.
MISSING = ("NA", "NaN", "nan", "NULL", "null")
CURRENCY = (
    r"(?:US\$|C\$|CA\$|A\$|AU\$|R\$|HK\$|NZ\$|S\$|[$€£¥₹₩₽₺₫₱฿₪₴₦]|Rs\.?|kr\.?|zł|Kč|Ft|"
    r"USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|INR|CNY|HKD|SGD|KRW|BRL|MXN|"
    r"ZAR|ILS|THB|AED|SAR|UAH|IDR|PHP|VND|BTC|ETH)"
)


@dataclass(frozen=True)
class Vocabulary:
    """The words of ``data/words.toml``, which says what each of them is for."""

    gaps: frozenset[str]
    flags: tuple[tuple[str, str], ...]
    marks: frozenset[str]
    months: tuple[tuple[str, ...], ...]
    weekdays: tuple[tuple[str, ...], ...]
    multiples: dict[str, float]
    units: frozenset[str]


@cache
def vocabulary() -> Vocabulary:
    """Return the words; the file is read once."""
    words = read_data("words")
    return Vocabulary(
        frozenset(words["gaps"]),
        tuple((no, yes) for no, yes in words["flags"]),
        frozenset(words["marks"]),
        tuple(map(tuple, words["months"])),
        tuple(map(tuple, words["weekdays"])),
        words["multiples"],
        frozenset(words["units"]),
    )


def fold(word: str) -> str:
    """Bring the spellings of a word together (case folding): "Very_High" is "very high"."""
    plain = re.sub(r"[.'’]", "", word.casefold())
    return re.sub(r"[\s_/]+|(?<=\w)-(?=\w)", " ", plain).strip()
