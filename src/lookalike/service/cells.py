"""Cells between the library, the store and JSON.

Answers hold plain values (``_runtime.text.plain``). Stored cells can be read back with the schema
of the collection: dates, durations, infinities, sets inside of sequences and graphs have a form of
their own there.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Param
from lookalike.table import Column, Kind, Schema, Table, as_table
from lookalike.table.model.kind import ROW_NAMES

SET = "$set"


def to_json(value: Any) -> bytes:
    """Write an answer as JSON, without NaN and in UTF-8; a lone surrogate is written as escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


# Made once: ``json.dumps`` makes one for every value, which takes longer than to write a short row.
_STORED = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Write a value for the store: ASCII, so that every database takes every letter."""
    return _STORED.encode(value)


def plain_id(cell: Any, row: int, column: str) -> str | int:
    """Return an id as string or as integer, which paths and JSON can hold."""
    value = plain(cell)
    # A float is refused: 7.0 in a path would not be found by the id 7.
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        who, found = Param("id_column", column), f"{value!r:.40} in row {row}"
        hint = "Use another column, or none: rows are then numbered"
        raise InvalidInput(who, "a string or an integer in every row", found, hint)
    return value


def plain_ids(column: Column) -> list[str | int]:
    """Return the ids of a column; texts are integers where all of them are written as such."""
    ids = [plain_id(column.cell(row), row, column.name) for row in range(len(column))]
    numbers = [integer_of(id) if isinstance(id, str) else id for id in ids]
    return ids if None in numbers else numbers  # type: ignore[return-value]


def integer_of(text: str) -> int | None:
    """Return the integer that a text is: none for "007", which is an id of its own.

    Examples
    --------
    >>> integer_of("7"), integer_of("007"), integer_of("null")
    (7, None, None)
    """
    # At most 18 digits: every such number fits in 64 bits, and int() of a huge text is slow.
    digits = text.removeprefix("-")
    is_int = digits.isascii() and digits.isdigit() and len(digits) <= 18 and str(int(text)) == text
    return int(text) if is_int else None


def stored_texts(table: Table) -> list[str]:
    """Return the rows as they are stored: as JSON texts."""
    columns = stored_columns(table)
    rows = zip(*columns.values(), strict=True)
    return [dumps(dict(zip(columns, row, strict=True))) for row in rows]


def stored_columns(table: Table) -> dict[str, list[Any]]:
    """Return the cells of all columns, those set aside included, as they are stored."""
    return {column.name: _stored_cells(column) for column in table.columns + table.aside}


def _stored_cells(column: Column) -> list[Any]:
    """Return the cells of a column as they are stored."""
    values, kind = column.values, column.kind
    if kind.name == "text":
        return values.tolist()
    if values.dtype == object:
        return [_stored(column.cell(row), kind) for row in range(len(column))]
    if values.ndim == 2:
        blank, rows = column.missing.tolist(), values.tolist()
        whole = np.isfinite(values).all(axis=1).tolist()
        return [
            None if blank[i] else row if whole[i] else list(map(plain, row))
            for i, row in enumerate(rows)
        ]
    # Each value once: a Python object for every cell takes five times as long for a table of films.
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    distinct = [_stored(column.cell(row), kind) for row in first.tolist()]
    return [distinct[at] for at in which.tolist()]


def read_stored(records: Sequence[Mapping[str, Any]], schema: Schema) -> Table:
    """Read stored records back, all cells as they were."""
    if not records:
        raise InvalidInput("collection", "at least one row", "none", "Add rows")
    # Columns set aside are only shown: they stay as JSON has them.
    kinds = dict(schema.kinds) | dict.fromkeys(schema.aside, Kind("object"))
    columns = [
        _read([record.get(name) for record in records], kind) for name, kind in kinds.items()
    ]
    rows = [dict(zip(kinds, row, strict=True)) for row in zip(*columns, strict=True)]
    return as_table(rows, schema, who="collection")


def _stored(cell: Any, kind: Kind) -> Any:
    if cell is None:
        return None
    if kind.source == "datetime":
        return cell.isoformat()
    if kind.source == "duration":
        return cell.total_seconds()
    if kind.name == "sequence":
        return [{SET: plain(item)} if isinstance(item, frozenset) else plain(item) for item in cell]
    if kind.name == "graph":
        nodes = [[plain(node), plain(label)] for node, label in cell.nodes.items()]
        return {"nodes": nodes, "edges": [[plain(a), plain(b)] for a, b in cell.edges]}
    return plain(cell)


def _read(cells: Sequence[Any], kind: Kind) -> Sequence[Any]:
    """Return the cells of a column as they were before they were stored."""
    by_source = READERS.get(kind.source) if kind.name == "number" else None
    read = by_source or READERS.get(kind.name)
    return cells if read is None else [None if cell is None else read(cell) for cell in cells]


def _read_floats(cell: Sequence[Any]) -> list[float]:
    return [math.nan if value is None else float(value) for value in cell]


def _read_set(cell: Sequence[Any]) -> frozenset[Any]:
    return frozenset(map(_hashable, cell))


def _read_sequence(cell: Sequence[Any]) -> list[Any]:
    return [_read_set(item[SET]) if isinstance(item, dict) else _hashable(item) for item in cell]


def _read_graph(cell: Mapping[str, Any]) -> dict[str, Any]:
    edges = [(a, b) for a, b in cell["edges"]]
    return {"nodes": dict(map(tuple, cell["nodes"])), "edges": edges}


def _hashable(item: Any) -> Any:
    """Return an item of a set: JSON has lists where there were tuples."""
    return tuple(map(_hashable, item)) if isinstance(item, list) else item


# Source or name of a kind -> how its cells are read; the others are stored as they are.
READERS: dict[str, Callable[[Any], Any]] = {
    "datetime": dt.datetime.fromisoformat,
    "duration": lambda seconds: dt.timedelta(seconds=seconds),
    "number": float,  # "inf" too, which JSON has no number for
    **dict.fromkeys(("series", "vector", "histogram"), _read_floats),
    "set": _read_set,
    "sequence": _read_sequence,
    "graph": _read_graph,
}


def id_column(name: str, ids: Sequence[str | int]) -> Column:
    """Return a column that names rows."""
    values = np.empty(len(ids), dtype=object)
    values[:] = ids
    return Column(name, ROW_NAMES, values)
