"""Lists of numbers, of strings and of lists: which kind they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.kind import Kind
from lookalike.table.raw import Raw

__all__ = ["kind_of_lists", "short_number"]


def kind_of_lists(raw: Raw) -> Kind:
    """Say what a column of lists holds."""
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
            if len(full) > 1 and full.max() / 1.01 <= full.min():
                reason = f"lists of {low:,} numbers, none negative, "
                reason += f"each with sum {short_number(full[0])}"
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


def short_number(value: Any) -> str:
    """Write a number shortly: 5220, 0.25, 1e+06 only where nothing shorter is exact enough."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"
