"""Lists of numbers, of strings and of lists: which kind they are.

What decides is counted first (``ListFacts``), so that lists may be counted in parts: the facts of
several parts, merged in their order, are those of the whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, Words, as_number, short_number
from lookalike.table.infer import thresholds
from lookalike.table.infer.numbers import are_integers
from lookalike.table.model.kind import PLACE, Kind, Reading


@dataclass(frozen=True)
class ListFacts:
    """What decides about a column of lists.

    Parameters
    ----------
    item : Arrow type of the items
    low, high : int, the least and the greatest length
    n_items, n_missing : int, all items, and the missing ones among them
    unsigned : bool, whether no number is negative or infinite
    sums : float64 (first, smallest, largest), of the lists with a sum above 0, if all lists are of
        one length; else nothing
    n_sums : int, how many such lists there are
    distinct : Arrow array, the different items in the order of their coming
    repeats : bool, whether a list has an item twice
    """

    item: Any
    low: int
    high: int
    n_items: int
    n_missing: int
    unsigned: bool = True
    sums: tuple[float, ...] = ()
    n_sums: int = 0
    distinct: Any = None
    repeats: bool = False

    @property
    def n_distinct(self) -> int:
        """How many different items there are."""
        return 0 if self.distinct is None else len(self.distinct)

    def merge(self, other: ListFacts) -> ListFacts:
        """Return the facts of two parts, of which this one comes first."""
        sums = self.sums + other.sums
        if sums:
            sums = (sums[0], min(sums[1::3]), max(sums[2::3]))
        items = [part.distinct for part in (self, other) if part.distinct is not None]
        return replace(
            self,
            item=other.item if self.n_items == self.n_missing else self.item,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            n_items=self.n_items + other.n_items,
            n_missing=self.n_missing + other.n_missing,
            unsigned=self.unsigned and other.unsigned,
            sums=sums if self.low == self.high == other.low == other.high else (),
            n_sums=self.n_sums + other.n_sums,
            distinct=pa.concat_arrays(items).unique() if items else None,
            repeats=self.repeats or other.repeats,
        )


def list_facts(cells: Any) -> ListFacts | None:
    """Count what decides about lists, an Arrow array; None where there is no list."""
    cells = cells.drop_null()
    if not len(cells):
        return None
    item = cells.type.value_type
    lengths = arrow.to_numpy(pc.list_value_length(cells))
    items = pc.list_flatten(cells)
    if pa.types.is_dictionary(item):
        item, items = item.value_type, items.dictionary_decode()
    if pa.types.is_decimal(item):
        items, item = items.cast(pa.float64()), pa.float64()
    low, high = int(lengths.min()), int(lengths.max())
    facts = ListFacts(item, low, high, len(items), items.null_count)
    if pa.types.is_nested(item) or len(items) == items.null_count:
        return facts
    if arrow.is_numeric(item):
        facts = _with_sums(facts, arrow.to_numpy(items.cast(pa.float64(), safe=False)))
        if not pa.types.is_integer(item):
            return facts
    codes = items.dictionary_encode()
    distinct = len(codes.dictionary)
    code = arrow.to_numpy(pc.fill_null(codes.indices.cast(pa.int64()), distinct))
    # One number per (row, item): a repeat in a row is a number that comes twice. A missing item
    # counts as one more distinct item.
    pairs = np.repeat(np.arange(len(lengths)), lengths) * (distinct + 1) + code
    return replace(facts, distinct=codes.dictionary, repeats=len(np.unique(pairs)) < len(pairs))


def _with_sums(facts: ListFacts, values: np.ndarray) -> ListFacts:
    """Add whether no number is negative, and the sums of lists of one length."""
    if not (np.isfinite(values) & (values >= 0)).all():
        return replace(facts, unsigned=False)
    if facts.low < facts.high or facts.low < 2:
        return facts
    sums = values.reshape(-1, facts.low).sum(axis=1)
    sums = sums[sums > 0]
    ends = (float(sums[0]), float(sums.min()), float(sums.max())) if len(sums) else ()
    return replace(facts, sums=ends, n_sums=len(sums))


def kind_of_lists(cells: Any) -> Kind:
    """Say what lists hold, an Arrow array."""
    facts = list_facts(cells)
    assert facts is not None, "a column without cells is set aside before"
    return kind_of(facts)


def kind_of(facts: ListFacts) -> Kind:
    """Say what a column with such facts holds."""
    item = facts.item
    if facts.n_items == facts.n_missing:
        return Kind("set", "empty lists")
    if pa.types.is_nested(item):
        inner = getattr(item, "value_type", None)
        if inner is None or pa.types.is_nested(inner) or pa.types.is_floating(inner):
            return Kind("object", f"lists of {item}")
        return Kind("sequence", f"lists of lists, from {facts.low:,} to {facts.high:,} long")
    if arrow.is_numeric(item):
        return _kind_of_numbers(facts)
    what = "strings" if pa.types.is_string(item) or pa.types.is_large_string(item) else str(item)
    name, repeats = ("sequence", "with repeats") if facts.repeats else ("set", "without a repeat")
    return Kind(name, f"lists of {what} {repeats}, {facts.n_distinct:,} distinct in all")


def _kind_of_numbers(facts: ListFacts) -> Kind:
    low, high = facts.low, facts.high
    if low != high:
        # Ids that come again are items; numbers that do not are measurements.
        again = pa.types.is_integer(facts.item) and 2 * facts.n_distinct <= facts.n_items
        if again and not facts.repeats:
            what = f"{facts.n_distinct:,} distinct in all"
            return Kind("set", f"lists of integers without a repeat, {what}")
        return Kind("series", f"lists of {low:,} to {high:,} numbers")
    if low < 2:
        return Kind("series", f"lists of {low} number{'s' if low != 1 else ''}")
    # Infinite entries make sums that agree with nothing: a vector, and no warning.
    several = facts.unsigned and facts.n_sums > 1
    if several and facts.sums[2] / thresholds.MAX_RATIO_OF_SUMS <= facts.sums[1]:
        total = f"none negative, each with sum {short_number(facts.sums[0])}"
        return Kind("histogram", f"lists of {low:,} numbers, {total}", width=low)
    return Kind("vector", f"lists of {low:,} numbers", width=low)


# -- sets written as text --------------------------------------------------------------------------


_CODE = re.compile(r"^[A-Za-z0-9]{1,3}([-_][A-Za-z0-9]{1,4})?$")


def find_sets(words: Words) -> Kind | None:
    """Find the separator that parts the cells into short items which come again in other cells."""
    for separator, rule in thresholds.SET_RULES:
        with_it = pc.sum(pc.match_substring(words.distinct, separator)).as_py() or 0
        # One cell may hold all there is to see in a handful of strings.
        if with_it >= (1 if 2 <= len(words) <= 6 else 2):
            some = words.distinct[: thresholds.MAX_STRINGS_TO_SPLIT].to_pylist()
            cells = [split_items(word, separator) for word in some]
            counts = Counter(item for items in cells for item in set(items))
            if _are_sets(cells, counts, rule) and _are_items(counts, separator, rule):
                reason = f"items between {separator!r}, {len(counts):,} distinct in all"
                sure = 0.7 if rule.punctuation else 0.9
                reading = Reading("set", separator=separator)
                return Kind("set", reason, confidence=sure, close="category", reading=reading)
    return None


def _are_sets(cells: list[list[str]], counts: Counter[str], rule: thresholds.SetRule) -> bool:
    """Whether cells hold several items, in no fixed places, which come again in other cells."""
    several = [items for items in cells if len(items) > 1]
    again = sum(count > 1 for count in counts.values())
    repeats = sum(len(set(items)) < len(items) for items in several)
    # "a,,b" has an empty item, and "Boston, MA" items in fixed places: neither is a set.
    if rule.punctuation and (any("" in items for items in several) or _is_pairs(several, cells)):
        return False
    return (
        len(several) / len(cells) >= rule.min_share
        and again >= max(1, rule.min_again * len(counts))
        and (rule.codes or len(counts) <= thresholds.MAX_DISTINCT_ITEMS * sum(map(len, cells)))
        and repeats <= thresholds.MAX_SHARE_OF_REPEATS * len(several)
    )


def _are_items(counts: Counter[str], separator: str, rule: thresholds.SetRule) -> bool:
    """Whether items are short words, not sentences, numbers or single letters between slashes."""
    lengths = [len(item) for item in counts]
    n_words = sum(item.count(" ") + 1 for item in counts) / len(counts)
    if sum(lengths) / len(lengths) > thresholds.MAX_MEAN_ITEM_LENGTH or n_words > rule.max_words:
        return False
    if rule.punctuation and not any(c.isalpha() for item in counts for c in item):
        return False
    if rule.codes and not all(map(_CODE.match, counts)):
        return False
    return separator != "/" or min(lengths) >= 2


def _is_pairs(several: list[list[str]], cells: list[list[str]]) -> bool:
    """Whether the items have fixed places, as in "Boston, MA" or "Smith, John"."""
    width = {len(items) for items in several}
    if len(width) > 1 or len(several) < len(cells) * thresholds.MIN_SHARE_OF_PAIRS:
        return False
    first, last = {items[0] for items in several}, {items[-1] for items in several}
    return not first & last


def split_items(cell: str, separator: str) -> list[str]:
    """Cut a cell into trimmed items."""
    return [item.strip() for item in cell.split(separator)]


# -- lists written as text: ['red', 'green'], [0.1, 0.9], [{"name": "Drama"}] ----------------------

# Frames whose cells are lists end up like this in CSV files. JSON is read as JSON; what Python, R
# or numpy print is cut into its items. Nothing is run.
_BRACKETED = r"(?s)^[\[({].*[\])}]$"
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_ITEM = re.compile(
    r"""\s*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|(?P<bare>[^,'"\[\](){}:]+))\s*"""
    r"(?:,|$)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("None", "null", "NA", "nan", "NaN")),
    **{"True": True, "False": False, "true": True, "false": False},
}


def find_lists(words: Words) -> Any:
    """Return the lists that the words of a column are, an Arrow array; None if they are not.

    A word in brackets alone proves nothing ("[A]"): some cell has several items, or quotes.
    """
    if not arrow.all_match(words.distinct, _BRACKETED):
        return None
    if not arrow.matches(words.distinct, r"""[,'"]|\S\s+\S""").any():
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
    if not arrow.all_match(words, _BRACKETED):
        return None
    if (cells := _as_json(words)) is None:
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
        # One document for all words: JSON is parsed in C, and one failure is enough.
        cells = json.loads("[" + ",".join(words.to_pylist()) + "]")
    except (ValueError, RecursionError):
        return None
    if len(cells) != len(words) or not all(isinstance(cell, list) for cell in cells):
        return None
    return [_named(cell) for cell in cells]


def _named(items: list[Any]) -> list[Any]:
    """Return the names of records, ``[{"id": 18, "name": "Drama"}]``; other items as they are."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    return names if all(isinstance(name, str) for name in names) else items


def _items(word: str) -> list[Any] | None:
    """Cut a list as Python prints it into its items; None where it is something else."""
    inside = word[1:-1].strip()
    if _CLOSING[word[0]] != word[-1]:
        return None
    items: list[Any] = []
    at = 0
    while at < len(inside):
        match = _ITEM.match(inside, at)
        if match is None or (match["bare"] is not None and not match["bare"].strip()):
            return None
        at = match.end()
        items.append(_item(match))
    if len(items) == 1 and isinstance(items[0], str) and "," not in inside and " " in inside:
        numbers = [_value(part) for part in inside.split()]  # as numpy prints an array
        items = numbers if set(map(type, numbers)) == {float} else items
    return items


def _item(match: re.Match[str]) -> Any:
    """Return an item: a bare word for what it says, a quoted one without its escapes."""
    if match["bare"] is not None:
        return _value(match["bare"].strip())
    quoted = match["one"] if match["one"] is not None else match["two"]
    return _ESCAPED.sub(lambda letter: _LETTERS.get(letter[1], letter[1]), quoted)


def _value(text: str) -> Any:
    number = as_number(text)
    return _CONSTANTS.get(text, text if number is None else number)


def _alike(cells: list[Any]) -> list[Any]:
    """Make integers of floats where all are; one item that is a word makes words of all."""
    flat = [item for items in cells for item in items if item is not None]
    types = set(map(type, flat))
    if types == {float} and are_integers(np.array(flat)):
        return _each(int, cells)
    if str in types and len(types) > 1 and types <= {str, float, int, bool}:
        return _each(_word, cells)
    return cells


def _each(make: Callable[[Any], Any], cells: list[Any]) -> list[Any]:
    return [[None if item is None else make(item) for item in items] for items in cells]


def _word(item: Any) -> str:
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def read_lists_as(raw: Raw, kind: Kind) -> tuple[Raw, Kind]:
    """Read lists in brackets where the column was fitted with them, or its cells show them.

    Parameters
    ----------
    raw : Raw
        A text column.
    kind : Kind
        One whose cells hold several things.

    Returns
    -------
    raw : Raw
        Lists, or the text as it was.
    kind : Kind
        With the reading that made them.
    """
    reading = kind.reading or Reading()
    known = reading.what == "list"
    if not known and reading.separator:
        return raw, kind
    words = raw.strings()
    if kind.role == PLACE:  # "52.5, 13.4" needs no brackets
        bare = pc.replace_substring_regex(words.distinct, r"^([^\[({].*)$", r"[\1]")
        words = replace(words, distinct=bare)
    cells = parse_lists(words.distinct) if known else find_lists(words)
    if cells is not None:
        return raw.spread(words, cells), replace(kind, reading=replace(reading, what="list"))
    if not known or not len(words):
        return raw, kind
    fits = [parse_lists(words.distinct[at : at + 1]) is not None for at in range(len(words))]
    rows, first, _ = raw.misfits(words, np.array(fits))
    needed = "lists such as ['a', 'b'], alike in all cells"
    raise raw.error(rows, first, needed, "Write it alike, or give a list")
