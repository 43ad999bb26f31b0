"""Sets that are written as text: "red;green", "Drama, Comedy", "a|b"."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow.compute as pc

from lookalike.table.formats.neutral import Words

SEPARATORS = (";", "|", ",", "/")
LOOKED_AT = 20_000  # distinct strings that are split to decide


@dataclass(frozen=True)
class SetsFound:
    """The separator of the items, and how many distinct items there are."""

    separator: str
    items: int
    note: str = ""
    open: bool = False


def find_sets(words: Words) -> SetsFound | None:
    """Find the separator that parts the cells into short items which come again in other cells."""
    for separator in SEPARATORS:
        with_it = pc.sum(pc.match_substring(words.distinct, separator)).as_py() or 0
        if with_it >= 2 or (with_it == 1 and 2 <= len(words) <= 6):
            found = _by(words, separator)
            if found is not None:
                return found
    return None


def _by(words: Words, separator: str) -> SetsFound | None:
    cells = [split_items(word, separator) for word in words.distinct[:LOOKED_AT].to_pylist()]
    several = [items for items in cells if len(items) > 1]
    share = len(several) / len(cells)
    if share < (0.02 if separator in ";|" else 0.1):
        return None
    seen = Counter(item for items in cells for item in set(items))
    if any(not item for items in several for item in items) and separator in ",/":
        return None
    lengths = [len(item) for item in seen]
    wordy = sum(item.count(" ") + 1 for item in seen) / len(seen)
    if sum(lengths) / len(lengths) > 25 or wordy > (4 if separator in ";|" else 2.5):
        return None
    if all(not any(c.isalpha() for c in item) for item in seen) and separator not in ";|":
        return None
    if separator == "/" and min(lengths) < 2:
        return None
    again = sum(1 for count in seen.values() if count > 1)
    if again < max(1, (0.05 if separator in ";|" else 0.3) * len(seen)):
        return None
    if len(seen) > 0.8 * sum(len(items) for items in cells):
        return None
    if separator in ",/" and _is_pairs(several, cells):
        return None
    repeats = sum(1 for items in several if len(set(items)) < len(items))
    if repeats > 0.2 * len(several):
        return None
    return SetsFound(separator, len(seen), open=separator in ",/")


def _is_pairs(several: list[list[str]], cells: list[list[str]]) -> bool:
    """Whether the items have fixed places, as in "Boston, MA" or "Smith, John"."""
    width = {len(items) for items in several}
    if len(width) > 1 or len(several) < len(cells) * 0.8:
        return False
    first, last = {items[0] for items in several}, {items[-1] for items in several}
    return not first & last


def split_items(cell: str, separator: str) -> list[str]:
    """Cut a cell into trimmed items."""
    return [item.strip() for item in cell.split(separator)]
