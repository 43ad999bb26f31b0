"""What a column holds, with a reason that a person can read.

Cells are brought to one neutral form first (``formats/raw.py``), so that a file, a frame and a list
of the same cells end alike. Then the rules, in order; the first that fits decides (the numbers in
them stand in ``thresholds.py``):

1. Every cell missing: set aside.
2. An order declared by the source (ordered categories of pandas or Arrow, polars Enum): order.
3. Text is read as what all of its cells are in one reading, where written gaps ("n/a", "-", "?",
   "unknown") are missing cells: true/false; digits with leading zeros are a code; numbers (money,
   thousands, decimal comma, percent, one unit); dates and times; yes/no and its like: flag; an x or
   nothing: flag; words of one known scale (``data/scales.toml``), each on a level of its own,
   numbered answers, bands: order; lists in brackets (``lists.py``): rules 7 and 8; items
   between separators that come again in other cells: set.
4. Other strings, without the words NA, NaN and null (missing cells, except NA where all others are
   two capital letters too): identifier (set aside) without a repeat under a name such as "id", or
   where all are codes; name (set aside, to show and to search by) where nearly every row has
   another one and they are short, or they are e-mail or web addresses, UUIDs, paths; category where
   they come twice or more on average; text when they are more than 20 characters long on average,
   or half of them contain a space, or more than 20 are distinct and hardly one repeats; else
   category. Where most of them are numbers or dates, the note says so.
5. Numbers: number. Never order or flag, whatever the values: a 0/1 column is a number until
   ``kinds=`` says otherwise. Whole numbers under a name such as "store_id", "zip" or "account_no"
   are a code (category) where they repeat and an identifier (set aside) where they do not, as are
   those under a name such as "index" or "rownames"; 20200924 is a date under such a name. Under a
   name such as "subject" or "region" they stay numbers, with the code as the second reading.
6. True/false: flag. Dates, times and durations: number in seconds, with the role date or time.
   Strings that the source stores as categories without an order are read like other text;
   numbers and dates that it declares to be categories stay so.
7. Lists of numbers, all of one length from 2: histogram where nothing is negative and all sums
   agree within 1 %, else vector. Of several lengths: series, except whole numbers that never repeat
   in a row and come twice or more on average: set.
8. Lists of strings: set where no row repeats one, else sequence. Lists of lists: sequence of sets.
9. Sets: set. Graphs (``nodes`` and ``edges``): graph. Anything else, such as records, is an object:
   set aside until a measure brings a distance for it (``with_objects``).
10. One value in ten rows or more, and exact copies of another column in twenty rows or more: set
    aside.
"""

from __future__ import annotations

import datetime as dt
import decimal
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.table.formats.raw import Raw, is_number, neutralise, of_values
from lookalike.table.infer.codes import infer_flag
from lookalike.table.infer.dates import ORDERS, infer_dates
from lookalike.table.infer.lists import kind_of_lists
from lookalike.table.infer.nested import is_graph
from lookalike.table.infer.numbers import infer_numbers
from lookalike.table.infer.roles import Guess, guess_of
from lookalike.table.infer.text import EMPTY, infer_text
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Graph


def infer(raw: Raw, prefer: str = "") -> Guess:
    """Say what a column holds, and why.

    Parameters
    ----------
    raw : Raw
    prefer : {"", ",", ".", "dmy", "mdy"}
        What other columns of the table prove, where this one alone is open.

    Returns
    -------
    Guess
        Its kind may have no levels yet; those are learned when the cells are converted.
    """
    raw = neutralise(raw)
    if not raw.present().any():
        return EMPTY
    if not raw.is_arrow:
        return _objects(raw)
    if raw.declared:
        return _declared(raw, prefer)
    if raw.is_text:
        return infer_text(raw, prefer)
    for is_of_type, infer_type in _BY_TYPE:
        if is_of_type(raw.type):
            return infer_type(raw)
    return guess_of(Kind("object", f"cells of type {raw.type}"))


def _has_graphs(kind: Any) -> bool:
    return pa.types.is_struct(kind) and {"nodes", "edges"} <= {field.name for field in kind}


def _has_lists(kind: Any) -> bool:
    return bool(pa.types.is_nested(kind) and not pa.types.is_struct(kind))


_BY_TYPE: tuple[tuple[Callable[[Any], bool], Callable[[Raw], Guess]], ...] = (
    (pa.types.is_boolean, infer_flag),
    (pa.types.is_temporal, infer_dates),
    (is_number, infer_numbers),
    (_has_lists, lambda raw: guess_of(kind_of_lists(raw.cells))),
    (_has_graphs, lambda raw: Guess(Kind("graph", "records with nodes and edges"))),
)


def infer_columns(raws: Sequence[Raw]) -> dict[str, Guess]:
    """Say what each column holds; what one leaves open, another may settle.

    A column of "24/09/2020" proves that days come first, also for the "03/04/2020" beside it.
    """
    guesses = {raw.name: infer(raw) for raw in raws}
    for pair in ((",", "."), ORDERS):
        proven = {guess.proves for guess in guesses.values() if guess.proves in pair}
        if len(proven) == 1:
            settled = proven.pop()
            for raw in raws:
                guesses[raw.name] = _settle(raw, guesses[raw.name], settled)
    return guesses


def _settle(raw: Raw, guess: Guess, settled: str) -> Guess:
    """Guess again where a column left open what another one proves."""
    comma = settled == "," and guess.kind.name == "number" and raw.is_text
    if not guess.open and not comma:
        return guess
    again = infer(raw, settled)
    if again.kind.reading == guess.kind.reading and not guess.open:
        return guess
    note = again.kind.note + ", as another column is"
    return replace(again, kind=replace(again.kind, note=note, confidence=0.8))


def _declared(raw: Raw, prefer: str) -> Guess:
    count = len(raw.words)
    if raw.declared in ("order", "enum"):
        kind = Kind("order", f"{count:,} ordered levels declared by the source")
        if raw.declared == "enum":
            kind = replace(kind, confidence=0.7, close="category")
        return Guess(kind)
    if raw.is_text:  # how strings are stored (factors, dictionaries) is no statement about them
        return infer_text(_as_they_come(raw), prefer)
    return Guess(Kind("category", f"{count:,} categories declared by the source"))


def _as_they_come(raw: Raw) -> Raw:
    """Put the words of a text column into the order in which rows have them, as text has it."""
    codes = raw.codes
    used, first = np.unique(codes[codes >= 0], return_index=True)
    used = used[np.argsort(first)]
    to = np.full(len(raw.words) + 1, -1)
    to[used] = np.arange(len(used))
    at = to[codes]
    words = raw.words.take(pa.array(used))
    return replace(raw, cells=pa.DictionaryArray.from_arrays(pa.array(at, mask=at < 0), words))


def _objects(raw: Raw) -> Guess:
    """Say what Python objects are, by their types."""
    cells = [cell for cell in raw.cells if cell is not None]
    types = {type(cell) for cell in cells}

    def every(*classes: Any) -> bool:
        return all(issubclass(kind, classes) for kind in types)

    if every(set, frozenset):
        distinct = len(frozenset().union(*cells))
        return Guess(Kind("set", f"sets, {distinct:,} distinct items in all"))
    if every(Graph) or all(map(is_graph, cells)):
        return Guess(Kind("graph", "cells with nodes and edges"))
    if every(numbers.Number, decimal.Decimal):
        values = [None if cell is None else float(cell) for cell in raw.cells]
        return infer_numbers(of_values(raw.name, values))
    names = ", ".join(sorted(kind.__name__ for kind in types))
    if every(str, numbers.Number, decimal.Decimal, dt.date, dt.time, dt.timedelta, np.generic):
        what = f"mixed types ({names})" if len(types) > 1 else f"type {names}"
        return Guess(Kind("category", f"{len(set(cells)):,} distinct values of {what}"))
    if types <= {list, tuple, np.ndarray} and _are_sequences(cells):
        return Guess(Kind("sequence", "lists of mixed items"))
    return guess_of(Kind("object", f"cells of type {names}"))


def _are_sequences(cells: list[Any]) -> bool:
    return not any(isinstance(item, Mapping | np.ndarray) for cell in cells for item in cell)
