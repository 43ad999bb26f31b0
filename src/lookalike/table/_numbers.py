"""Numbers: from typed cells, from text, from dates and durations."""

from __future__ import annotations

import decimal
import numbers
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, WrongType, message
from lookalike.table.raw import Raw, dates, wrong
from lookalike.table.table import Column, Kind

__all__ = ["read_number", "to_seconds"]

_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def read_number(raw: Raw, kind: Kind, fitted: bool) -> Column:
    values, source = _floats(raw, kind)
    if not values.flags.writeable:  # memory shared with the source; kernels want arrays of one sort
        values = values.copy()
    if fitted:
        if source and source != kind.source:
            raise InvalidInput(
                message(
                    f"Column {raw.name!r}",
                    f"{kind.source or 'plain number'}s, as in the fitted table",
                    f"{source}s",
                    "Give the column the type it had before",
                )
            )
        return Column(raw.name, kind, values)
    return Column(raw.name, replace(kind, source=source or kind.source), values)


def _floats(raw: Raw, kind: Kind) -> tuple[np.ndarray, str]:
    if not raw.is_arrow:
        return _floats_of_objects(raw)
    if pa.types.is_dictionary(raw.type):
        return _floats(replace(raw, cells=raw.cells.dictionary_decode()), kind)
    if pa.types.is_null(raw.type):
        return np.full(len(raw), np.nan), ""
    if pa.types.is_floating(raw.type):
        return raw.cells.to_numpy(zero_copy_only=False), ""
    if pa.types.is_integer(raw.type) or pa.types.is_boolean(raw.type):
        return raw.cells.cast(pa.float64()).to_numpy(zero_copy_only=False), ""
    if pa.types.is_temporal(raw.type):
        return to_seconds(raw.cells)
    if pa.types.is_large_string(raw.type):
        return _floats_of_text(raw, kind)
    row = int(np.flatnonzero(raw.present())[0])
    raise wrong(
        raw,
        np.flatnonzero(raw.present()),
        raw.cells[row].as_py(),
        "numbers",
        f"Leave it to be guessed, or pass kinds={{{raw.name!r}: 'object'}}",
        WrongType,
    )


def _floats_of_text(raw: Raw, kind: Kind) -> tuple[np.ndarray, str]:
    text = pc.utf8_trim_whitespace(raw.cells)
    try:
        if kind.source != "datetime":
            return text.cast(pa.float64()).to_numpy(zero_copy_only=False), ""
    except pa.ArrowInvalid:
        pass
    try:
        return to_seconds(dates(text))
    except pa.ArrowInvalid:
        pass
    parses = _is_date if kind.source == "datetime" else _is_number
    distinct = text.dictionary_encode()
    fits = np.array([parses(word) for word in distinct.dictionary.to_pylist()])
    codes = pc.fill_null(distinct.indices, 0).to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~fits[codes] & raw.present())
    if len(bad) == 0:  # numbers and dates in one column
        bad = np.flatnonzero(raw.present())
    first = raw.cells[int(bad[0])].as_py()
    raise wrong(
        raw,
        bad,
        first,
        "dates" if kind.source == "datetime" else "numbers",
        f"Pass missing=[{first!r}] or kinds={{{raw.name!r}: 'text'}}",
    )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def _is_date(word: str) -> bool:
    try:
        dates(pa.array([word], pa.large_string()))
    except pa.ArrowInvalid:
        return False
    return True


def _floats_of_objects(raw: Raw) -> tuple[np.ndarray, str]:
    values = np.full(len(raw), np.nan)
    bad = []
    for row, cell in enumerate(raw.cells):
        if cell is None:
            continue
        if isinstance(cell, str) and _is_number(cell.strip()):
            values[row] = float(cell)
        elif isinstance(cell, numbers.Real | decimal.Decimal | np.bool_):
            values[row] = float(cell)
        else:
            bad.append(row)
    if bad:
        cell = raw.cells[bad[0]]
        if isinstance(cell, str):
            do = f"Pass missing=[{cell!r}] or kinds={{{raw.name!r}: 'category'}}"
            raise wrong(raw, bad, cell, "numbers", do)
        do = f"The argument must be a string or a real number, not {type(cell).__name__!r}"
        raise wrong(raw, bad, cell, "numbers", do, WrongType)
    return values, ""


def to_seconds(cells: Any) -> tuple[np.ndarray, str]:
    """Turn dates, times and durations into seconds; dates are counted from 1970 in UTC.

    Returns
    -------
    seconds : float64 array, NaN where missing
    source : "datetime" or "duration"
    """
    kind = cells.type
    if pa.types.is_date(kind):
        cells, kind = cells.cast(pa.timestamp("s")), pa.timestamp("s")
    gap = pc.is_null(cells).to_numpy(zero_copy_only=False)
    storage = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = pc.fill_null(cells.cast(storage).cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    seconds = ticks / _TICKS[kind.unit]
    seconds[gap] = np.nan
    return seconds, "datetime" if pa.types.is_timestamp(kind) else "duration"
