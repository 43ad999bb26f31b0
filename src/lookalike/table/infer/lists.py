"""Lists of numbers, of strings and of lists: which kind they are.

What decides is counted first (``ListFacts``), so that lists may be counted in parts: the facts of
several parts, merged in their order, are those of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.raw import Raw
from lookalike.table.model.kind import Kind


@dataclass(frozen=True)
class ListFacts:
    """What decides about a column of lists.

    Parameters
    ----------
    item : Arrow type of the items
    low, high : int, the least and the greatest length
    n_items, n_gaps : int, all items, and the missing ones among them
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
    n_gaps: int
    unsigned: bool = True
    sums: tuple[float, ...] = ()
    n_sums: int = 0
    distinct: Any = None
    repeats: bool = False

    def merge(self, other: ListFacts) -> ListFacts:
        """Return the facts of two parts, of which this one comes first."""
        sums = self.sums or other.sums
        if self.sums and other.sums:
            low, high = min(self.sums[1], other.sums[1]), max(self.sums[2], other.sums[2])
            sums = (self.sums[0], low, high)
        distinct = self.distinct if self.distinct is not None else other.distinct
        if self.distinct is not None and other.distinct is not None:
            distinct = pa.concat_arrays([self.distinct, other.distinct]).unique()
        return replace(
            self,
            item=other.item if self.n_items == self.n_gaps else self.item,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            n_items=self.n_items + other.n_items,
            n_gaps=self.n_gaps + other.n_gaps,
            unsigned=self.unsigned and other.unsigned,
            sums=sums if self.low == self.high == other.low == other.high else (),
            n_sums=self.n_sums + other.n_sums,
            distinct=distinct,
            repeats=self.repeats or other.repeats,
        )


def list_facts(cells: Any) -> ListFacts | None:
    """Count what decides about lists, an Arrow array; None where there is no list."""
    cells = cells.drop_null()
    if not len(cells):
        return None
    item = cells.type.value_type
    lengths = pc.list_value_length(cells).to_numpy(zero_copy_only=False)
    items = pc.list_flatten(cells)
    if pa.types.is_dictionary(item):
        item, items = item.value_type, items.dictionary_decode()
    if pa.types.is_decimal(item):
        items, item = items.cast(pa.float64()), pa.float64()
    low, high = int(lengths.min()), int(lengths.max())
    found = ListFacts(item, low, high, len(items), items.null_count)
    if pa.types.is_nested(item) or len(items) == items.null_count:
        return found
    if not _is_number(item):
        return _with_tokens(found, items, lengths)
    values = items.cast(pa.float64()).to_numpy(zero_copy_only=False)
    unsigned = bool(np.isfinite(values).all() and (values >= 0).all())
    found = replace(found, unsigned=unsigned)
    if low == high and low >= 2 and unsigned:
        sums = values.reshape(-1, low).sum(axis=1)
        full = sums[sums > 0]
        if len(full):
            ends = (float(full[0]), float(full.min()), float(full.max()))
            found = replace(found, sums=ends, n_sums=len(full))
    return _with_tokens(found, items, lengths) if pa.types.is_integer(item) else found


def kind_of_lists(raw: Raw) -> Kind:
    """Say what a column of lists holds."""
    facts = list_facts(raw.cells)
    assert facts is not None, "a column without cells is set aside before"
    return kind_of(facts)


def kind_of(facts: ListFacts) -> Kind:
    """Say what a column with such facts holds."""
    item = facts.item
    if facts.n_items == facts.n_gaps:
        return Kind("set", "empty lists")
    if pa.types.is_nested(item):
        inner = getattr(item, "value_type", None)
        if inner is None or pa.types.is_nested(inner) or pa.types.is_floating(inner):
            return Kind("object", f"lists of {item}")
        return Kind("sequence", f"lists of lists, from {facts.low:,} to {facts.high:,} long")
    if _is_number(item):
        return _number_lists(facts)
    distinct = _count(facts)
    what = "strings" if pa.types.is_string(item) or pa.types.is_large_string(item) else str(item)
    if not facts.repeats:
        return Kind("set", f"lists of {what} without a repeat, {distinct:,} distinct in all")
    return Kind("sequence", f"lists of {what} with repeats, {distinct:,} distinct in all")


def _is_number(item: Any) -> bool:
    return bool(
        pa.types.is_floating(item) or pa.types.is_integer(item) or pa.types.is_boolean(item)
    )


def _number_lists(facts: ListFacts) -> Kind:
    low, high = facts.low, facts.high
    if low == high and low >= 2:
        # Infinite entries make sums that agree with nothing: a vector, and no warning.
        if facts.unsigned and facts.n_sums > 1:
            first, least, most = facts.sums
            if most / 1.01 <= least:
                reason = f"lists of {low:,} numbers, none negative, "
                return Kind("histogram", reason + f"each with sum {short_number(first)}", width=low)
        return Kind("vector", f"lists of {low:,} numbers", width=low)
    if pa.types.is_integer(facts.item) and low != high:
        distinct = _count(facts)
        if not facts.repeats and 2 * distinct <= facts.n_items:
            return Kind(
                "set", f"lists of whole numbers without a repeat, {distinct:,} distinct in all"
            )
    if low == high:
        return Kind("series", f"lists of {low} number{'s' if low != 1 else ''}")
    return Kind("series", f"lists of {low:,} to {high:,} numbers")


def _count(facts: ListFacts) -> int:
    return 0 if facts.distinct is None else len(facts.distinct)


def _with_tokens(facts: ListFacts, items: Any, lengths: np.ndarray) -> ListFacts:
    """Add the distinct items, and whether any row repeats one."""
    codes = items.dictionary_encode()
    distinct = len(codes.dictionary)
    code = pc.fill_null(codes.indices.cast(pa.int64()), distinct).to_numpy(zero_copy_only=False)
    row = np.repeat(np.arange(len(lengths)), lengths)
    pairs = row * (distinct + 1) + code
    return replace(facts, distinct=codes.dictionary, repeats=len(np.unique(pairs)) < len(pairs))


def short_number(value: Any) -> str:
    """Write a number shortly: 5220, 0.25, 1e+06 only where nothing shorter is exact enough."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"
