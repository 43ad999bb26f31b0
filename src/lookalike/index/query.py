"""Queries of a search: ids, records, rows of a table, or several of these."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.text import as_record
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, WrongType, suggest
from lookalike.index.segments import rows_at
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.measures.numeric import NUMERIC
from lookalike.table import Schema, Table, as_table

if TYPE_CHECKING:
    from lookalike.index.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Queries:
    """One query or several, read and encoded.

    Parameters
    ----------
    rows : Rows, encoded
    cells : each row as it was read: a table, and the position of the row in it
    positions : int64, the position of each row in the index, -1 for one that is not in it
    one : bool, whether a single row was given, so that a single result is expected
    """

    rows: Rows
    cells: Sequence[tuple[Table, int]]
    positions: np.ndarray
    one: bool

    def __len__(self) -> int:
        return len(self.rows)

    def once(self, without: int) -> Rows | None:
        """Return each row of the index once, and every record; the row ``without`` is left out."""
        used, kept = {without}, []
        for row, position in enumerate(self.positions.tolist()):
            if position < 0 or position not in used:
                kept.append(row)
                used.add(position)
        return self.rows[np.array(kept)] if kept else None


def read_query(now: Snapshot, query: Any, who: str) -> Queries:
    """Read an id, a record, a table, or a list of ids and records."""
    query = as_record(query)
    if isinstance(query, Mapping) or _is_id(now, query):
        return _read_several(now, [query], who, one=True)
    query = _listed(query)
    if isinstance(query, list | tuple):
        if not query:
            hint = "Pass at least one id or record"
            raise InvalidInput(who, "something to start from", "an empty list", hint)
        items = [as_record(item) for item in query]
        if all(isinstance(item, Mapping) or _is_scalar(item) for item in items):
            return _read_several(now, items, who, one=False)
    if _is_scalar(query):
        needed = "an id (an integer), a record, or a table of rows"
        hints = (InPython("Use index.ids to see the ids, or "), Param("id_column"))
        raise WrongType(who, needed, repr(query), (*hints, " names rows by a column"))
    table = read_rows(now, query, who)
    positions, cells = np.full(len(table), -1), _cells_of(table)
    return Queries(now.measure.encode(table), cells, positions, one=len(table) == 1)


def read_rows(now: Snapshot, source: Any, who: str, partial: bool = False) -> Table:
    """Read rows by the schema of the fitted ones; partial ones may be without some columns."""
    # Rows of a precomputed measure are distances to the fitted rows, not cells of columns.
    if now.measure.traits.pairwise:
        return now.measure.read_new(source)
    return as_table(source, now.schema, who=who, partial=partial)


def read_some(now: Snapshot, items: Any, who: str) -> Queries | None:
    """Read rows that were marked: one or several ids or records; None for none."""
    items = as_record(items)
    if items is not None and (isinstance(items, Mapping) or _is_scalar(items)):
        items = [items]
    several = isinstance(items, list | tuple | set | frozenset | np.ndarray)
    return None if items is None or (several and not len(items)) else read_query(now, items, who)


def _read_several(now: Snapshot, items: Sequence[Any], who: str, one: bool) -> Queries:
    """Read ids and records in the order given; all records in one call, which is faster."""
    is_id = [not isinstance(item, Mapping) for item in items]
    records = [item for item in items if isinstance(item, Mapping)]
    ids = [now.names.position(item, who) for item in items if not isinstance(item, Mapping)]
    rows: list[Rows] = []
    cells: list[tuple[Table, int]] = []
    if records:
        table = read_records(records, now.schema, who)
        _check_complete(now, table, who)
        _warn_unknown(now, table, who)
        rows.append(now.measure.encode(table))
        cells += _cells_of(table)
    if ids:
        locations = now.segments.look_up(ids)
        rows.append(rows_at(locations))
        cells += [(segment.table, offset) for segment, offset in locations]
    positions = np.concatenate([np.full(len(records), -1), np.array(ids, dtype=np.int64)])
    # From "records, then ids" back to the order in which they were given.
    order = np.argsort(np.argsort(is_id, kind="stable"), kind="stable")
    cells = [cells[i] for i in order.tolist()]
    return Queries(join_rows(rows)[order], cells, positions[order], one)


def _check_complete(now: Snapshot, table: Table, who: str) -> None:
    """Refuse records with missing numbers if the measure does not take missing values."""
    if now.measure.traits.missing:
        return
    missing = [c.name for c in table if c.kind.name in NUMERIC and c.missing.any()]
    if missing:
        needed, found = "a value in every number column", f"a record without {_first(missing)}"
        hint = "Fill them in, or use a measure that takes missing values, such as Gower"
        raise InvalidInput(f"{who} with {type(now.measure).__name__}", needed, found, hint)


def _warn_unknown(now: Snapshot, table: Table, who: str) -> None:
    """Warn of categories that no row has: they are usually mistyped."""
    segments = now.segments.segments
    # Unknown levels of an order are warned of when the table is read.
    for column in table.of_kind("category"):
        for code, value in column.unknown.items():
            # Rows that were added may have it: they keep categories the schema does not know.
            if any(code in segment.table[column.name].unknown for segment in segments):
                continue
            needed = f"a category that occurs in the column {column.name!r}"
            hint = "No row shares it. " + suggest(str(value), column.kind.levels[:20])
            warning = LookalikeWarning(who, needed, repr(value), hint)
            warnings.warn(warning, stacklevel=6)


def _is_id(now: Snapshot, item: Any) -> bool:
    if isinstance(item, bool | np.bool_):
        return False
    named = now.id_column is not None  # ids are values of a column instead of integers
    return isinstance(item, int | np.integer) or (named and _is_scalar(item))


def read_records(records: Sequence[Mapping[Any, Any]], schema: Schema, who: str) -> Table:
    """Read records by the schema of the table; columns that they do not name are missing."""
    compared = list(schema.kinds)
    every = [*compared, *schema.aside]
    # Columns set aside stay out unless they are named.
    whole = []
    for record in records:
        for name in record:
            if name not in every:
                hint = suggest(str(name), every)
                raise InvalidInput(who, "columns of the table", repr(name), hint)
        cells = {name: record.get(name) for name in compared}
        whole.append(cells | {n: record[n] for n in schema.aside if n in record})
    table = as_table(whole, schema, who=who)
    # A record without a value is at no distance from any row: all would be tied.
    if np.all([column.missing for column in table], axis=0).any():
        needed, found = f"a value in one of {_first(compared)}", "a record without any of them"
        raise InvalidInput(who, needed, found, "Fill in one")
    return table


def _cells_of(table: Table) -> list[tuple[Table, int]]:
    return [(table, row) for row in range(len(table))]


def _first(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _is_scalar(item: Any) -> bool:
    """Whether something is one value, not a collection; the path of a file is read as an id."""
    return isinstance(item, str | bytes | np.generic) or not hasattr(item, "__len__")


def _listed(query: Any) -> Any:
    """Return a vector or a set as a list, everything else unchanged."""
    # A vector is a list of ids, a matrix a table of rows.
    if isinstance(query, np.ndarray) and query.ndim == 1:
        return query.tolist()
    # A fixed order: that of a set of texts differs from process to process.
    return sorted(query, key=repr) if isinstance(query, set | frozenset) else query
