"""Text, sets, sequences, series, histograms, vectors and graphs: cells with something inside."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, Param, WrongType
from lookalike.table.formats.raw import (
    Raw,
    is_missing,
    is_number,
    to_numpy,
    words_of,
    written,
    wrong,
)
from lookalike.table.infer.lists import find_sets, split_items
from lookalike.table.model.kind import Kind, Reading
from lookalike.table.model.table import Column, Graph

_LISTS = (list, tuple, np.ndarray)


def _cells(raw: Raw, read: Callable[[int, Any], Any]) -> np.ndarray:
    cells = np.empty(len(raw), dtype=object)
    for row, value in enumerate(raw.values()):
        if value is not None:
            cells[row] = read(row, value)
    return cells


def read_text(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a text column."""
    if raw.is_text:
        words = np.empty(len(raw.words) + 1, dtype=object)  # the last is -1's: missing
        words[:-1] = to_numpy(raw.words)
        return Column(raw.name, kind, words[raw.codes])

    def read(row: int, value: Any) -> str:
        if isinstance(value, (set, frozenset, Mapping, bytes, *_LISTS)):
            raise wrong(raw, row, value, "texts", "Give each cell one string", WrongType)
        return written(value)

    return Column(raw.name, kind, _cells(raw, read))


def _items(raw: Raw, row: int, value: Any, needed: str, hint: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, set | frozenset | list | tuple):
        raise wrong(raw, row, value, needed, hint, WrongType)
    return [item for item in value if not is_missing(item)]


def _frozen(raw: Raw, row: int, items: list[Any]) -> frozenset[Any]:
    try:
        return frozenset(tuple(i) if isinstance(i, list) else i for i in items)
    except TypeError:
        raise _not_comparable(raw, row, items) from None


def _not_comparable(raw: Raw, row: int, value: Any) -> Exception:
    return wrong(raw, row, value, "items that can be compared", "Use strings", WrongType)


def read_set(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of sets."""
    hint = f"Split a string first, for example [cell.split(',') for cell in {raw.name}]"
    needed = "lists or sets of items (a string is not a set)"
    if not raw.is_text:
        cells = _cells(raw, lambda row, v: _frozen(raw, row, _items(raw, row, v, needed, hint)))
        return Column(raw.name, kind, cells)
    reading = kind.reading
    if reading is None or not reading.separator:  # else the one that the column was fitted with
        found = find_sets(words_of(raw))
        if found is None:
            row = int(np.flatnonzero(raw.present())[0])
            raise wrong(raw, row, raw.cells[row].as_py(), needed, hint, WrongType)
        reading = Reading("set", separator=found.separator)
    sets = np.empty(len(raw.words) + 1, dtype=object)  # the last is -1's: missing
    for at, word in enumerate(raw.words.to_pylist()):
        sets[at] = frozenset(item for item in split_items(word, reading.separator) if item)
    return Column(raw.name, replace(kind, reading=reading), sets[raw.codes])


def read_sequence(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of sequences."""

    def item(row: int, value: Any) -> Any:
        if isinstance(value, list | tuple | set | frozenset):
            return _frozen(raw, row, [i for i in value if not is_missing(i)])
        if not isinstance(value, Hashable):
            raise _not_comparable(raw, row, value)
        return value

    def read(row: int, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):
            return tuple(value)
        if isinstance(value, set | frozenset):
            raise wrong(raw, row, value, "items in order", "Give lists, not sets", WrongType)
        items = _items(raw, row, value, "lists of items or strings", "Give each cell as a list")
        return tuple(item(row, value) for value in items)

    return Column(raw.name, kind, _cells(raw, read))


# -- numbers in lists -----------------------------------------------------------------------------


def _number_rows(raw: Raw) -> list[np.ndarray | None]:
    """Return each cell as a 1-D array of floats; None where missing."""
    if raw.is_arrow and pa.types.is_nested(raw.type) and not pa.types.is_struct(raw.type):
        item = raw.type.value_type
        if is_number(item) or pa.types.is_boolean(item):
            return _rows_of_lists(raw)
    return [
        None if value is None else _numbers(raw, row, value)
        for row, value in enumerate(raw.values())
    ]


def _numbers(raw: Raw, row: int, value: Any) -> np.ndarray:
    numbers = None
    if isinstance(value, _LISTS):
        try:
            numbers = np.array([np.nan if is_missing(v) else v for v in value], dtype=np.float64)
        except (TypeError, ValueError):
            pass  # named below
    if numbers is None or numbers.ndim != 1:
        hint = "Give each cell as a list of numbers"
        raise wrong(raw, row, value, "lists of numbers", hint, WrongType)
    return numbers


def _rows_of_lists(raw: Raw) -> list[np.ndarray | None]:
    full = raw.cells.drop_null()
    keep = np.float32 if full.type.value_type == pa.float32() else np.float64
    values = to_numpy(pc.list_flatten(full).cast(pa.from_numpy_dtype(keep)))
    ends = np.cumsum(to_numpy(pc.list_value_length(full)))
    parts = iter(np.split(values, ends[:-1]))
    return [next(parts) if here else None for here in raw.present()]


def read_series(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of time series."""
    cells = np.empty(len(raw), dtype=object)
    for row, values in enumerate(_number_rows(raw)):
        cells[row] = None if values is None else values.astype(np.float64)
    return Column(raw.name, kind, cells)


def read_matrix(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of vectors or histograms."""
    rows = _number_rows(raw)
    width = kind.width or next((len(row) for row in rows if row is not None), 0)
    # float32 stays float32 where all cells are; embeddings take half the memory so.
    dtype = np.result_type(*{row.dtype for row in rows if row is not None} or {np.dtype(float)})
    if kind.name == "histogram":
        dtype = np.dtype(np.float64)
    matrix = np.full((len(raw), width), np.nan, dtype=dtype)
    for row, values in enumerate(rows):
        if values is None:
            continue
        _check_entries(raw, row, kind, values, width)
        matrix[row] = values
    return Column(raw.name, replace(kind, width=width), matrix)


def _check_entries(raw: Raw, row: int, kind: Kind, values: np.ndarray, width: int) -> None:
    who = f"Column {raw.name!r}"
    if len(values) != width:
        hint = ("Pad it, or use ", Param("kinds", {raw.name: "series"}), " for lists of any length")
        needed = f"{width} numbers in every {kind.name}"
        raise InvalidInput(who, needed, f"{len(values)} in row {row}", hint)
    if kind.name == "histogram" and (values < 0).any():
        found = f"{values.min():g} in row {row}"
        vector = ("Use ", Param("kinds", {raw.name: "vector"}))
        raise InvalidInput(who, "bins that are not negative", found, vector)


# -- graph, object --------------------------------------------------------------------------------


def is_graph(cell: Any) -> bool:
    """Whether a cell is a graph: a dictionary or an object with nodes and edges."""
    if isinstance(cell, Mapping):
        return "nodes" in cell and "edges" in cell
    return hasattr(cell, "nodes") and hasattr(cell, "edges")


def read_graph(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of graphs."""
    return Column(raw.name, kind, _cells(raw, lambda row, value: _graph(raw, row, value)))


def _graph(raw: Raw, row: int, value: Any) -> Graph:
    if isinstance(value, Graph):
        return value
    if not is_graph(value):
        hint = 'Give {"nodes": {node: label}, "edges": [(a, b)]} or a networkx graph'
        raise wrong(raw, row, value, "graphs with nodes and edges", hint, WrongType)
    directed = bool(getattr(value, "is_directed", lambda: False)())
    mapping = isinstance(value, Mapping)
    nodes = _nodes(value["nodes"] if mapping else value.nodes)
    edges = set()
    for edge in (value["edges"] if mapping else value.edges) or ():
        a, b = (edge["source"], edge["target"]) if isinstance(edge, Mapping) else tuple(edge)[:2]
        other = [end for end in (a, b) if end not in nodes]
        if other:
            found = f"an edge to {other[0]!r}, which is not a node, in row {row}"
            needed = "edges between nodes of the graph"
            raise InvalidInput(f"Column {raw.name!r}", needed, found, "Add the node")
        # Sorted by repr, since ends of different types have no order.
        edges.add((a, b) if directed or repr(a) <= repr(b) else (b, a))
    return Graph(nodes, frozenset(edges))


def _nodes(given: Any) -> dict[Any, Any]:
    if isinstance(given, Mapping):  # also networkx: node -> dictionary of attributes
        return {
            node: label.get("label") if isinstance(label, Mapping) else label
            for node, label in given.items()
        }
    return {
        node["id"] if isinstance(node, Mapping) else node: (
            node.get("label") if isinstance(node, Mapping) else None
        )
        for node in given or ()
    }


def read_object(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Keep the cells of a column of objects as given."""
    return Column(raw.name, kind, _cells(raw, lambda row, value: value))
