"""Numbers: from typed cells, from text, from dates and durations."""

from __future__ import annotations

import decimal
import numbers
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats.neutral import neutralise
from lookalike.table.formats.raw import Raw, of_arrow, of_values, written, wrong
from lookalike.table.infer.parse import read_text_as
from lookalike.table.infer.reading import Reading
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def read_number(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a number column."""
    reading = kind.reading
    if raw.declared and not raw.is_text and pa.types.is_dictionary(raw.type):
        raw = neutralise(of_arrow(raw.name, raw.cells.dictionary_decode()))
    if raw.is_text:
        raw, reading = read_text_as(raw, kind, fitted)
    elif kind.role == "date" and (not fitted or (reading is not None and reading.form)):
        raw, reading = _compact(raw, kind)
    values, source = _floats(raw)
    if not values.flags.writeable:  # memory shared with the source; kernels want arrays of one sort
        values = values.copy()
    if fitted:
        if source and source != kind.source:
            raise InvalidInput(
                f"Column {raw.name!r}",
                f"{kind.source or 'plain number'}s, as in the fitted table",
                f"{source}s",
                "Give the column the type it had before",
            )
        return Column(raw.name, kind, values)
    role = kind.role or {"datetime": "date", "duration": "time"}.get(source, "")
    kind = replace(kind, source=source or kind.source, role=role, reading=reading)
    return Column(raw.name, kind, values)


def _compact(raw: Raw, kind: Kind) -> tuple[Raw, Reading | None]:
    """Take whole numbers such as 20200924 for what they say."""
    if not raw.is_arrow or not (pa.types.is_integer(raw.type) or pa.types.is_floating(raw.type)):
        return raw, kind.reading
    text = [None if value is None else written(value) for value in raw.values()]
    if not any(text):
        return raw, kind.reading
    return read_text_as(of_values(raw.name, text), kind)


def _floats(raw: Raw) -> tuple[np.ndarray, str]:
    if not raw.is_arrow:
        return _floats_of_objects(raw)
    if pa.types.is_null(raw.type):
        return np.full(len(raw), np.nan), ""
    if pa.types.is_floating(raw.type):
        return raw.cells.to_numpy(zero_copy_only=False), ""
    if pa.types.is_integer(raw.type) or pa.types.is_boolean(raw.type):
        # safe=False: whole numbers beyond 2**53 are rounded, which the kind's note says
        cells = raw.cells.cast(pa.float64(), safe=False)
        return cells.to_numpy(zero_copy_only=False), ""
    if pa.types.is_temporal(raw.type):
        return to_seconds(raw.cells)
    row = int(np.flatnonzero(raw.present())[0])
    raise wrong(
        raw,
        np.flatnonzero(raw.present()),
        raw.cells[row].as_py(),
        "numbers",
        Phrase("Leave it to be guessed, or use ", Param("kinds", {raw.name: "object"})),
        WrongType,
    )


def _floats_of_objects(raw: Raw) -> tuple[np.ndarray, str]:
    values = np.full(len(raw), np.nan)
    bad = []
    for row, cell in enumerate(raw.cells):
        if cell is None:
            continue
        if isinstance(cell, numbers.Real | decimal.Decimal | np.bool_):
            values[row] = float(cell)
        else:
            bad.append(row)
    if bad:
        cell = raw.cells[bad[0]]
        hint = f"The argument must be a string or a real number, not {type(cell).__name__!r}"
        raise wrong(raw, bad, cell, "numbers", hint, WrongType)
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
