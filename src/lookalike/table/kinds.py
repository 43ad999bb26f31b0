"""What a column holds, with a reason that a person can read.

The rules, in order; the first that fits decides:

1. Every cell missing: set aside.
2. True/false: flag. Categories declared by the source (pandas Categorical, polars Enum, Arrow
   dictionary): category, or order where pandas or Arrow says so. A polars Enum is a category, since
   its order is only that of its list.
3. Dates, times and durations: number, in seconds.
4. Numbers: number. Never order, category or flag, whatever the values: a 0/1 column is a number
   until ``kinds=`` says otherwise. Two exceptions are set aside: whole numbers without a repeat
   under a name such as "id" or "user_key", and consecutive whole numbers under a name such as
   "index" or "rownames".
5. Strings without a repeat: set aside under a name such as "id"; also, in 20 rows or more, where
   all of them are short codes (no space, at least one digit).
6. Strings that come twice or more on average: category. Others: text when they are more than 20
   characters long on average, or half of them contain a space, or more than 20 are distinct; else
   category.
7. Lists of numbers, all of one length from 2: histogram where nothing is negative and all sums
   agree within 1 %, else vector. Of several lengths: series, except whole numbers that never repeat
   in a row and come twice or more on average: set.
8. Lists of strings: set where no row repeats one, else sequence. Lists of lists: sequence of sets.
9. Sets: set. Graphs (``nodes`` and ``edges``): graph. Scalars of mixed types: category. Anything
   else: object.
"""

from __future__ import annotations

import datetime as dt
import decimal
import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, WrongType, message, suggest
from lookalike.table._collections import is_graph
from lookalike.table._numbers import to_seconds
from lookalike.table.raw import Raw, of_values
from lookalike.table.table import KINDS, Graph, Kind

__all__ = ["ASIDE", "Guess", "given_kind", "infer", "read_as_text"]

ASIDE = "aside"
FEW = 20  # so many distinct short strings are a category even if none repeats
LONG = 20  # characters on average: longer strings that hardly repeat are text
CODES = 20  # rows from which strings without a repeat are believed to be codes
COUNTED = 200_000  # rows up to which distinct numbers are counted for the reason
_ID = re.compile(
    r"(^|[\s_.\-])(id|ids|uuid|guid|key|identifier)$|[a-z](Id|ID|Key|Uuid|UUID)$", re.ASCII
)
_ROW = re.compile(
    r"^(unnamed(: ?\d+)?|index|idx|row|rows|row[\s_.]?(names?|id|index|nr|no|num|number)|nr|no|#|"
    r"level_0|__index_level_\d+__)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Guess:
    """A kind, and whether the column is better set aside."""

    kind: Kind
    aside: bool = False


def infer(raw: Raw) -> Guess:
    """Say what a column holds, and why.

    Parameters
    ----------
    raw : Raw

    Returns
    -------
    Guess
        Its kind has no levels yet; those are learned when the cells are converted.
    """
    present = raw.present()
    if not present.any():
        return Guess(Kind("object", "every cell is missing"), aside=True)
    if not raw.is_arrow:
        return _objects(raw)
    kind = raw.type
    if pa.types.is_boolean(kind):
        return Guess(Kind("flag", "true/false"))
    if pa.types.is_dictionary(kind):
        count = len(raw.cells.dictionary)
        if raw.ordered:
            return Guess(Kind("order", f"{count:,} ordered levels declared by the source"))
        return Guess(Kind("category", f"{count:,} categories declared by the source"))
    if pa.types.is_temporal(kind):
        return Guess(_temporal(raw))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _numbers(raw, present)
    if pa.types.is_large_string(kind):
        return _strings(raw, int(present.sum()))
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind):
        return Guess(_lists(raw))
    if pa.types.is_struct(kind) and {"nodes", "edges"} <= {field.name for field in kind}:
        return Guess(Kind("graph", "records with nodes and edges"))
    return Guess(Kind("object", f"cells of type {kind}"))


def given_kind(name: str, given: Any) -> Kind | None:
    """Read what the caller says about a column: kind, levels, or None to set it aside."""
    if given is None or (isinstance(given, str) and given == ASIDE):
        return None
    if isinstance(given, Kind):
        _check_name(name, given.name)
        return given
    if isinstance(given, str):
        _check_name(name, given)
        return Kind(given)
    if isinstance(given, list | tuple | np.ndarray):
        levels = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
        if len(set(levels)) != len(levels) or len(levels) < 2:
            raise InvalidInput(
                message(
                    f"kinds[{name!r}]",
                    "at least two levels that differ, from low to high",
                    repr(levels),
                    "Name every level once",
                )
            )
        return Kind("order", f"given, {len(levels)} levels", levels)
    raise WrongType(
        message(
            f"kinds[{name!r}]",
            "the name of a kind, or a list of levels from low to high",
            f"{type(given).__name__}",
            "Known: " + ", ".join(repr(kind) for kind in (*KINDS, ASIDE)),
        )
    )


def _check_name(column: str, kind: str) -> None:
    if kind not in KINDS:
        raise InvalidInput(
            message(
                f"kinds[{column!r}]", "a known kind", repr(kind), suggest(kind, (*KINDS, ASIDE))
            )
        )


# -- one sort of raw column each -----------------------------------------------------------------


def _numbers(raw: Raw, present: np.ndarray) -> Guess:
    values = raw.cells.to_numpy(zero_copy_only=False)[present]
    low, high = values.min(), values.max()
    if pa.types.is_integer(raw.type) and present.all() and len(values) > 1:
        named_id, named_row = _ID.search(raw.name) or raw.name.lower() == "id", _ROW.match(raw.name)
        if (named_id or named_row) and len(np.unique(values)) == len(values):
            between = f"from {_number(low)} to {_number(high)}"
            if int(high) - int(low) == len(values) - 1:
                reason = f"identifier: consecutive whole numbers {between}, named {raw.name!r}"
                return Guess(Kind("number", reason), aside=True)
            if named_id:
                reason = f"identifier: {len(values):,} distinct whole numbers in as many rows"
                return Guess(Kind("number", f"{reason}, named {raw.name!r}"), aside=True)
    if low == high:
        return Guess(Kind("number", f"one value, {_number(low)}"))
    between = f"from {_number(low)} to {_number(high)}"
    if len(values) > COUNTED:
        return Guess(Kind("number", f"values {between}"))
    return Guess(Kind("number", f"{len(np.unique(values)):,} distinct values {between}"))


def _temporal(raw: Raw) -> Kind:
    seconds, source = to_seconds(raw.cells)
    seconds = seconds[~np.isnan(seconds)]
    low, high = float(seconds.min()), float(seconds.max())
    if source == "duration":
        what = "times of day" if pa.types.is_time(raw.type) else "durations"
        return Kind("number", f"{what} from {_number(low)} to {_number(high)} seconds", (), source)
    ends = [np.datetime64(round(end), "s") for end in (low, high)]
    if all(end == end.astype("datetime64[D]") for end in ends):
        ends = [end.astype("datetime64[D]") for end in ends]
    return Kind("number", f"dates from {ends[0]} to {ends[1]}", (), source)


def _strings(raw: Raw, count: int) -> Guess:
    distinct = pc.unique(raw.cells.drop_null())
    n, rows = len(distinct), len(raw)
    reason = f"{n:,} distinct string{'s' if n > 1 else ''} in {rows:,} row{'s' if rows > 1 else ''}"
    if n == count == rows and rows > 1:
        if (
            _ID.search(raw.name)
            or raw.name.lower() in ("id", "uuid", "key")
            or _ROW.match(raw.name)
        ):
            reason = f"identifier: {reason}, named {raw.name!r}"
            return Guess(Kind("text", reason), aside=True)
        if rows >= CODES and _all_codes(distinct):
            return Guess(Kind("text", f"identifier: {reason}, all of them codes"), aside=True)
    if 2 * n <= count:
        return Guess(Kind("category", reason))
    length = pc.mean(pc.utf8_length(distinct)).as_py()
    spaced = pc.sum(pc.match_substring(distinct, " ")).as_py()
    if length > LONG or 2 * spaced >= n or n > FEW:
        return Guess(Kind("text", f"{reason}, {length:.0f} characters on average"))
    return Guess(Kind("category", reason))


def _all_codes(distinct: Any) -> bool:
    # 40 holds a UUID or a SHA-1 digest; dots and colons appear in addresses and version numbers.
    code = pc.match_substring_regex(distinct, r"^[A-Za-z0-9_.:/\-]{1,40}$")
    digit = pc.match_substring_regex(distinct, r"[0-9]")
    return bool(pc.all(pc.and_(code, digit)).as_py())


def _lists(raw: Raw) -> Kind:
    cells = raw.cells.drop_null()
    item = cells.type.value_type
    lengths = pc.list_value_length(cells).to_numpy(zero_copy_only=False)
    items = pc.list_flatten(cells)
    if len(items) == items.null_count:
        return Kind("set", "empty lists")
    if pa.types.is_dictionary(item):
        item = item.value_type
        items = items.dictionary_decode()
    if pa.types.is_nested(item):
        inner = getattr(item, "value_type", None)
        if inner is None or pa.types.is_nested(inner) or pa.types.is_floating(inner):
            return Kind("object", f"lists of {item}")
        return Kind("sequence", f"lists of lists, from {lengths.min():,} to {lengths.max():,} long")
    if pa.types.is_decimal(item):
        items, item = items.cast(pa.float64()), pa.float64()
    if pa.types.is_floating(item) or pa.types.is_integer(item) or pa.types.is_boolean(item):
        return _number_lists(items, lengths)
    distinct, repeats = _token_facts(items, lengths)
    what = "strings" if pa.types.is_string(item) or pa.types.is_large_string(item) else str(item)
    if not repeats:
        return Kind("set", f"lists of {what} without a repeat, {distinct:,} distinct in all")
    return Kind("sequence", f"lists of {what} with repeats, {distinct:,} distinct in all")


def _number_lists(items: Any, lengths: np.ndarray) -> Kind:
    low, high = int(lengths.min()), int(lengths.max())
    whole = pa.types.is_integer(items.type)
    values = items.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if low == high and low >= 2:
        # Infinite entries make sums that agree with nothing: a vector, and no warning.
        if np.isfinite(values).all() and (values >= 0).all():
            sums = values.reshape(-1, low).sum(axis=1)
            full = sums[sums > 0]
            if len(full) > 1 and full.max() <= 1.01 * full.min():
                reason = (
                    f"lists of {low:,} numbers, none negative, each with sum {_number(full[0])}"
                )
                return Kind("histogram", reason, width=low)
        return Kind("vector", f"lists of {low:,} numbers", width=low)
    if whole and low != high:
        distinct, repeats = _token_facts(items, lengths)
        if not repeats and 2 * distinct <= len(values):
            return Kind(
                "set", f"lists of whole numbers without a repeat, {distinct:,} distinct in all"
            )
    if low == high:
        return Kind("series", f"lists of {low} number{'s' if low != 1 else ''}")
    return Kind("series", f"lists of {low:,} to {high:,} numbers")


def _token_facts(items: Any, lengths: np.ndarray) -> tuple[int, bool]:
    """Count the distinct items, and say whether any row repeats one."""
    codes = items.dictionary_encode()
    distinct = len(codes.dictionary)
    code = pc.fill_null(codes.indices.cast(pa.int64()), distinct).to_numpy(zero_copy_only=False)
    row = np.repeat(np.arange(len(lengths)), lengths)
    pairs = row * (distinct + 1) + code
    return distinct, len(np.unique(pairs)) < len(pairs)


def _objects(raw: Raw) -> Guess:
    cells = [cell for cell in raw.cells if cell is not None]
    types = {type(cell) for cell in cells}
    names = ", ".join(sorted(kind.__name__ for kind in types))
    if all(issubclass(kind, set | frozenset) for kind in types):
        distinct = len(frozenset().union(*cells))
        return Guess(Kind("set", f"sets, {distinct:,} distinct items in all"))
    if all(issubclass(kind, Graph) for kind in types) or all(is_graph(cell) for cell in cells):
        return Guess(Kind("graph", "cells with nodes and edges"))
    if all(issubclass(kind, numbers.Number | decimal.Decimal) for kind in types):
        values = np.array([float(cell) for cell in cells])
        return _numbers(of_values(raw.name, values), np.ones(len(values), dtype=bool))
    scalars = (str, numbers.Number, decimal.Decimal, dt.date, dt.time, dt.timedelta, np.generic)
    if all(issubclass(kind, scalars) for kind in types):
        distinct = len(set(cells))
        what = f"mixed types ({names})" if len(types) > 1 else f"type {names}"
        return Guess(Kind("category", f"{distinct:,} distinct values of {what}"))
    if types <= {list, tuple, np.ndarray} and _is_sequences(cells):
        return Guess(Kind("sequence", "lists of mixed items"))
    return Guess(Kind("object", f"cells of type {names}"))


def _is_sequences(cells: list[Any]) -> bool:
    return not any(isinstance(item, Mapping | np.ndarray) for cell in cells for item in cell)


def _number(value: Any) -> str:
    """Write a number shortly: 5220, 0.25, 1e+06 only where nothing shorter is exact enough."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"


def read_as_text(kinds: Mapping[Any, Any] | None) -> set[str]:
    """Name the columns that a CSV file must hand over as they are written ("007", not 7)."""
    names = set()
    for name, given in kinds.items() if isinstance(kinds, Mapping) else ():
        kind = (
            given if isinstance(given, Kind) else Kind(given if isinstance(given, str) else "order")
        )
        levels = kind.levels if isinstance(given, Kind) else given
        if kind.name in ("text", "sequence") or (kind.name == "category" and not kind.levels):
            names.add(str(name))
        elif not isinstance(levels, str) and isinstance(levels, Iterable):
            if any(isinstance(level, str) for level in levels):
                names.add(str(name))
    return names
