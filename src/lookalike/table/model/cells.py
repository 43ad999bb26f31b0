"""From cells as they arrive to the arrays that each kind keeps, at fitting and for new rows alike.

Every reader takes the raw column, its kind and ``fitted``: False while levels and widths are still
learned, True when the kind comes from a fitted table and new values must fit it.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, is_missing, of_values, written
from lookalike.table.infer import codes, lists, numbers
from lookalike.table.infer.vocabulary import missing_words
from lookalike.table.model.kind import ID, PLACE, Kind, Reading
from lookalike.table.model.table import Column, Graph

_LISTS = (list, tuple, np.ndarray)
# Kinds whose cells hold several things; a sequence may be a string as it is.
LISTS = ("set", "sequence", "series", "histogram", "vector")


def convert(raw: Raw, kind: Kind, *, fitted: bool = False) -> Column:
    """Read a column as a kind.

    Parameters
    ----------
    raw : Raw
    kind : Kind
    fitted : bool
        Whether the kind was fitted on other rows: then its levels are final, and an unknown
        category is marked instead of learned.

    Returns
    -------
    Column
    """
    if kind.role == ID:
        # A blank names a row as any text does, but for the empty one.
        values = [v or None for v in raw.cells.to_pylist()] if raw.is_text else raw.values()
        return Column(raw.name, kind, np.fromiter(values, dtype=object, count=len(raw)))
    reading = kind.reading or Reading()
    raw = raw.neutral().without(reading.missing_words)
    # Numbers find their own words for missing; a code given by the caller keeps all its words.
    if raw.is_text and kind.name != "number" and (fitted or kind.role != "code"):
        raw = raw.without(_missing_words(raw, kind))
    if raw.is_text and (reading.what == "list" or kind.name in LISTS):
        raw, kind = lists.read_lists_as(raw, kind)
    return _READERS[kind.name](raw, kind, fitted)


def _missing_words(raw: Raw, kind: Kind) -> list[str]:
    """Return the words of a text column that mean "missing" beside its other words and levels."""
    words = pc.utf8_trim_whitespace(raw.words)
    levels = [level.strip() for level in kind.levels if isinstance(level, str)]
    if levels:
        words = pa.concat_arrays([words, pa.array(levels, words.type)])
    return [word for word in missing_words(words) if word not in levels]


def raw_of_column(column: Column) -> Raw:
    """Turn a typed column back into cells, so that it can be read as another kind."""
    name, kind = column.name, column.kind
    if kind.name == "number" and kind.source == "":
        return Raw(name, pa.array(np.ascontiguousarray(column.values), from_pandas=True))
    if kind.name in ("category", "order") and not column.unknown:
        levels = of_values(name, kind.levels)
        if levels.is_arrow:
            if levels.is_text:
                levels = replace(levels, cells=levels.cells.dictionary_decode())
            indices = pa.array(column.values, mask=column.values < 0)
            return Raw(name, pa.DictionaryArray.from_arrays(indices, levels.cells), kind.name)
    return of_values(name, [column.cell(row) for row in range(len(column))])


def set_aside(raw: Raw, reason: str) -> Column:
    """Keep a column for display only, with the reason for not comparing it."""
    name = "text" if raw.is_text else "object"
    if raw.is_arrow and arrow.is_number(raw.type):
        name = "number"
    return convert(raw, Kind(name, reason))


# -- text, sets, sequences -------------------------------------------------------------------------


def _cells(raw: Raw, read: Callable[[int, Any], Any]) -> np.ndarray:
    cells = (None if v is None else read(row, v) for row, v in enumerate(raw.values()))
    return np.fromiter(cells, object, len(raw))


def read_text(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a text column."""
    if raw.is_text:
        # The last is -1's: missing.
        # The last is -1's: missing.
        words = np.fromiter([*raw.words.to_pylist(), None], object)
        return Column(raw.name, kind, words[raw.codes])

    def read(row: int, value: Any) -> str:
        if isinstance(value, (set, frozenset, Mapping, bytes, *_LISTS)):
            raise raw.error(row, value, "texts", "Give each cell one string", WrongType)
        return written(value)

    return Column(raw.name, kind, _cells(raw, read))


def _items(raw: Raw, row: int, value: Any, needed: str, hint: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, set | frozenset | list | tuple):
        raise raw.error(row, value, needed, hint, WrongType)
    return [item for item in value if not is_missing(item)]


def _frozen(raw: Raw, row: int, items: list[Any]) -> frozenset[Any]:
    try:
        return frozenset(tuple(i) if isinstance(i, list) else i for i in items)
    except TypeError:
        needed = "items that can be compared"
        raise raw.error(row, items, needed, "Use strings", WrongType) from None


def read_set(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of sets."""
    hint = f"Split a string first, for example [cell.split(',') for cell in {raw.name}]"
    needed = "lists or sets of items (a string is not a set)"
    if not raw.is_text:
        cells = _cells(raw, lambda row, v: _frozen(raw, row, _items(raw, row, v, needed, hint)))
        return Column(raw.name, kind, cells)
    reading = kind.reading
    # Else the one that the column was fitted with.
    if reading is None or not reading.separator:
        if (found := lists.find_sets(raw.strings())) is None:
            row = int(np.flatnonzero(raw.present())[0])
            raise raw.error(row, raw.cells[row].as_py(), needed, hint, WrongType)
        reading = Reading("set", separator=found.separator)
    # The last is -1's: missing.
    cut = (lists.split_items(word, reading.separator) for word in raw.words.to_pylist())
    sets = np.fromiter([*(frozenset(filter(None, items)) for items in cut), None], object)
    return Column(raw.name, replace(kind, reading=reading), sets[raw.codes])


def read_sequence(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of sequences."""

    def item(row: int, value: Any) -> Any:
        if isinstance(value, list | tuple | set | frozenset):
            return _frozen(raw, row, [i for i in value if not is_missing(i)])
        if not isinstance(value, Hashable):
            raise raw.error(row, value, "items that can be compared", "Use strings", WrongType)
        return value

    def read(row: int, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):
            return tuple(value)
        if isinstance(value, set | frozenset):
            raise raw.error(row, value, "items in order", "Give lists, not sets", WrongType)
        items = _items(raw, row, value, "lists of items or strings", "Give each cell as a list")
        return tuple(item(row, value) for value in items)

    return Column(raw.name, kind, _cells(raw, read))


# -- numbers in lists -----------------------------------------------------------------------------


def _number_rows(raw: Raw) -> np.ndarray:
    """Return each cell as a 1-D array of floats; None where missing."""
    if not arrow.is_list(raw.type) or not arrow.is_numeric(raw.type.value_type):
        return _cells(raw, partial(_numbers, raw))
    # Lists of numbers are cut out of one flat array, without a Python object per number.
    full = raw.cells.drop_null()
    dtype = np.float32 if full.type.value_type == pa.float32() else np.float64
    # Integers beyond 2**53 become the nearest float, as they do in a column of numbers.
    values = arrow.to_numpy(pc.list_flatten(full).cast(pa.from_numpy_dtype(dtype), safe=False))
    ends = np.cumsum(arrow.to_numpy(pc.list_value_length(full)))
    cells = iter(np.split(values, ends[:-1]))
    return np.fromiter((next(cells) if here else None for here in raw.present()), object, len(raw))


def _numbers(raw: Raw, row: int, value: Any) -> np.ndarray:
    numbers = None
    if isinstance(value, _LISTS):
        try:
            numbers = np.array([np.nan if is_missing(v) else v for v in value], dtype=np.float64)
        except (TypeError, ValueError):
            pass  # named below
    if numbers is None or numbers.ndim != 1:
        hint = "Give each cell as a list of numbers"
        raise raw.error(row, value, "lists of numbers", hint, WrongType)
    return numbers


def read_series(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of time series."""
    cells = (None if cell is None else cell.astype(np.float64) for cell in _number_rows(raw))
    return Column(raw.name, kind, np.fromiter(cells, object, len(raw)))


def read_matrix(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a column of vectors or histograms."""
    if kind.role == PLACE and raw.is_arrow and arrow.is_number(raw.type):
        pair = Param("kinds", {("latitude", "longitude"): PLACE})
        hint = Phrase("Write '52.5, 13.4' in a cell, or join two columns: ", pair)
        who = f"Column {raw.name!r}"
        raise InvalidInput(who, "latitude and longitude in every cell", "single numbers", hint)
    cells = {row: cell for row, cell in enumerate(_number_rows(raw)) if cell is not None}
    width = kind.width or next(map(len, cells.values()), 0)
    # float32 stays float32 where all cells are; embeddings take half the memory so.
    dtypes = {cell.dtype for cell in cells.values()} if kind.name == "vector" else ()
    matrix = np.full((len(raw), width), np.nan, np.result_type(*dtypes or (np.float64,)))
    for row, cell in cells.items():
        _check_entries(raw, row, kind, cell, width)
        matrix[row] = cell
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


def _graph(raw: Raw, row: int, value: Any) -> Graph:
    if isinstance(value, Graph):
        return value
    if not is_graph(value):
        hint = 'Give {"nodes": {node: label}, "edges": [(a, b)]} or a networkx graph'
        raise raw.error(row, value, "graphs with nodes and edges", hint, WrongType)
    directed = bool(getattr(value, "is_directed", lambda: False)())
    part = value.__getitem__ if isinstance(value, Mapping) else partial(getattr, value)
    nodes = _nodes(part("nodes"))
    edges = set()
    for edge in part("edges") or ():
        # Records of edges, as JSON has them; networkx may have a key after the two nodes.
        record = isinstance(edge, Mapping)
        a, b = (edge["source"], edge["target"]) if record else tuple(edge)[:2]
        unknown = [end for end in (a, b) if end not in nodes]
        if unknown:
            found = f"an edge to {unknown[0]!r}, which is not a node, in row {row}"
            needed = "edges between nodes of the graph"
            raise InvalidInput(f"Column {raw.name!r}", needed, found, "Add the node")
        # Sorted by repr, since ends of different types have no order.
        edges.add((a, b) if directed or repr(a) <= repr(b) else (b, a))
    return Graph(nodes, frozenset(edges))


def _nodes(given: Any) -> dict[Any, Any]:
    # Mappings of node to label; networkx has a dictionary of attributes there. Lists hold nodes,
    # or records of them as JSON has.
    if not isinstance(given, Mapping):
        records = (node if isinstance(node, Mapping) else {"id": node} for node in given or ())
        given = {record["id"]: record for record in records}
    return {n: v.get("label") if isinstance(v, Mapping) else v for n, v in given.items()}


_READERS: dict[str, Callable[[Raw, Kind, bool], Column]] = {
    "number": numbers.read_number,
    "category": codes.read_category,
    "order": codes.read_order,
    "flag": codes.read_flag,
    "text": read_text,
    "set": read_set,
    "sequence": read_sequence,
    "series": read_series,
    "histogram": read_matrix,
    "vector": read_matrix,
    "graph": lambda raw, kind, _: Column(raw.name, kind, _cells(raw, partial(_graph, raw))),
    "object": lambda raw, kind, _: Column(raw.name, kind, _cells(raw, lambda _, value: value)),
}
