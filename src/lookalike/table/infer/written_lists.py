"""Lists that are written as text: ``['red', 'green']``, ``[0.1, 0.9]``, ``[{"name": "Drama"}]``.

Frames whose cells are lists end up like this in CSV files. JSON is read as JSON; what Python, R or
numpy print is cut into its items. Nothing is run.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.neutral import Words, all_match

PATTERN = r"(?s)^[\[({].*[\])}]$"
ENDS = {"[": "]", "(": ")", "{": "}"}
ITEM = re.compile(
    r"""\s*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|(?P<bare>[^,'"\[\](){}:]+))\s*"""
    r"(?:,|$)",
    re.DOTALL,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
CONSTANTS: dict[str, bool | None] = {
    "None": None,
    "null": None,
    "NA": None,
    "nan": None,
    "NaN": None,
}
CONSTANTS |= {"True": True, "False": False, "true": True, "false": False}


def find_lists(words: Words) -> Any:
    """Return the lists that the words of a column are, an Arrow array; None if they are not.

    A word in brackets alone proves nothing ("[A]"): some cell has several items, or quotes.
    """
    if not all_match(words.distinct, PATTERN):
        return None
    several = pc.match_substring_regex(words.distinct, r"""[,'"]|\S\s+\S""")
    if not pc.any(several).as_py():
        return None
    cells = parse_lists(words.distinct)
    return None if cells is None or pa.types.is_null(cells.type.value_type) else cells


def parse_lists(words: Any) -> Any:
    """Return strings as lists, an Arrow array; None where one of them is no list, or they differ.

    Parameters
    ----------
    words : Arrow array of strings

    Examples
    --------
    >>> parse_lists(pa.array(["['red', 'blue']", "[]"])).to_pylist()
    [['red', 'blue'], []]
    >>> parse_lists(pa.array(["[0.5 0.5]", "[1, 0]"])).to_pylist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    if not all_match(words, PATTERN):
        return None
    cells = _as_json(words)
    if cells is None:
        cells = [_items(word) for word in words.to_pylist()]
        if any(items is None for items in cells):
            return None
    try:
        return pa.array(_alike(cells))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):  # items of several types
        return None


def _as_json(words: Any) -> list[Any] | None:
    """Read all words as one JSON document."""
    try:
        cells = json.loads("[" + ",".join(words.to_pylist()) + "]")
    except (ValueError, RecursionError):
        return None
    if len(cells) != len(words) or not all(isinstance(cell, list) for cell in cells):
        return None
    return [_named(cell) for cell in cells]


def _named(items: list[Any]) -> list[Any]:
    """Return the names of records, ``[{"id": 18, "name": "Drama"}]``; other items as they are."""
    if items and all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in items
    ):
        return [item["name"] for item in items]
    return items


def _items(word: str) -> list[Any] | None:
    """Cut a list as Python prints it into its items; None where it is something else."""
    inside = word[1:-1].strip()
    if ENDS[word[0]] != word[-1]:
        return None
    items: list[Any] = []
    at = 0
    while at < len(inside):
        found = ITEM.match(inside, at)
        if found is None:
            return None
        at = found.end()
        bare = found["bare"]
        if bare is None:
            quoted = found["one"] if found["one"] is not None else found["two"]
            items.append(ESCAPED.sub(lambda m: LETTERS.get(m[1], m[1]), quoted))
        elif bare.strip():
            items.append(_value(bare.strip()))
        else:
            return None
    if len(items) == 1 and "," not in inside and isinstance(items[0], str) and " " in inside:
        numbers = [_value(part) for part in inside.split()]  # as numpy prints an array
        if all(isinstance(number, float) for number in numbers):
            return numbers
    return items


def _value(text: str) -> Any:
    if text in CONSTANTS:
        return CONSTANTS[text]
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text


def _alike(cells: list[Any]) -> list[Any]:
    """Make whole numbers whole where all are; one item that is a word makes words of all."""
    kinds = {type(item) for items in cells for item in items if item is not None}
    if kinds == {float}:
        flat = np.array([item for items in cells for item in items if item is not None])
        if np.isfinite(flat).all() and (flat == np.trunc(flat)).all() and abs(flat).max() < 2**53:
            return [[None if item is None else int(item) for item in items] for items in cells]
    elif str in kinds and len(kinds) > 1 and kinds <= {str, float, int, bool}:
        return [[None if item is None else _word(item) for item in items] for items in cells]
    return cells


def _word(item: Any) -> str:
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)
