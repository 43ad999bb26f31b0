"""From cells as they arrive to the arrays that each kind keeps, at fitting and for new rows alike.

Every reader takes the raw column, its kind and ``fitted``: False while levels and widths are still
learned, True when the kind comes from a fitted table and new values must fit it.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.errors import LISTED, InPython, InvalidInput, Param, Phrase, WrongType
from lookalike.table.formats import arrow
from lookalike.table.formats.raw import Raw, is_missing, of_values, written
from lookalike.table.infer import lists
from lookalike.table.infer.levels import find_bands, find_circle, find_levels, find_numbered
from lookalike.table.infer.numbers import read_number
from lookalike.table.infer.roles import find_period
from lookalike.table.infer.thresholds import MAX_LEVELS
from lookalike.table.infer.vocabulary import fold, known_scales, missing_words, vocabulary
from lookalike.table.model.kind import CYCLE, ID, PLACE, Kind, Reading
from lookalike.table.model.table import Column, Graph, unknown_code

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
        found = lists.find_sets(raw.strings())
        if found is None or found.reading is None:
            row = int(np.flatnonzero(raw.present())[0])
            raise raw.error(row, raw.cells[row].as_py(), needed, hint, WrongType)
        reading = found.reading
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


# -- category, order, flag: cells that become codes into a list of levels --------------------------


_TRUTH = ("true", "false")
# However either is written.
_TRUE_IS_1 = (("0", "false"), ("1", "true"))
# Cells that hold several values.
_SEVERAL = (set, frozenset, Mapping, *_LISTS)


# In the order of the known scales.
CYCLES = ("weekday", "month")


@cache
def _answers() -> tuple[dict[str, str], dict[str, str]]:
    """Return the words for yes and those for no, each with its opposite."""
    # The first of several opposites is written last.
    flags = vocabulary().flags[::-1]
    return {yes: no for no, yes in flags} | {"1": "0"}, dict(flags) | {"0": "1"}


def _encode(raw: Raw) -> tuple[list[Any], np.ndarray]:
    """Return the distinct scalars of a column and a code per row, -1 where missing."""
    if not raw.is_arrow or pa.types.is_nested(raw.type):
        values: dict[Any, int] = {}
        codes = np.full(len(raw), -1, dtype=np.int64)
        for row, cell in enumerate(raw.values()):
            if cell is None:
                continue
            if isinstance(cell, _SEVERAL) or not isinstance(cell, Hashable):
                hint = "Leave the kind to be guessed, or give each cell one value"
                raise raw.error(row, cell, "single values", hint, WrongType)
            codes[row] = values.setdefault(cell, len(values))
        return list(values), codes
    cells = raw.cells if pa.types.is_dictionary(raw.type) else raw.cells.dictionary_encode()
    # NaN may be among the values: who reads them finds it missing.
    return cells.dictionary.to_pylist(), replace(raw, cells=cells).codes.astype(np.int64)


def _recode(codes: np.ndarray, new_codes: list[int]) -> np.ndarray:
    # The last entry is for code -1.
    return np.array([*new_codes, -1], dtype=np.int64)[codes]


def _finder(levels: tuple[Any, ...]) -> Callable[[Any], int | None]:
    """Return a function from value to code: equal first, else written alike (4, 4.0 and "4")."""
    exact = {level: code for code, level in enumerate(levels)}
    # Made when the first value is not a level: those of the column itself all are.
    alike = cache(lambda: _written_alike(levels))

    def find(value: Any) -> int | None:
        code = exact.get(value)
        return alike().get(written(value)) if code is None else code

    return find


def _written_alike(levels: tuple[Any, ...]) -> dict[str, int | None]:
    """Return the codes of levels by their writing; None where two levels are written alike.

    A string without spaces around it is also the one level that has some: people ask for "Private"
    where a file has " Private". One with spaces is never taken for a level without, since it would
    come back as something else than was written.
    """
    alike: dict[str, int | None] = {}
    known = set(levels)
    for code, level in enumerate(levels):
        alike[written(level)] = None if written(level) in alike else code
    for code, level in enumerate(levels):
        if isinstance(level, bool | int | float) and level in (0, 1):
            for word in _TRUE_IS_1[int(level)]:
                alike.setdefault(word, code)
    for code, level in enumerate(levels):
        bare = level.strip() if isinstance(level, str) else level
        if bare != level and bare not in known:
            alike[bare] = None if bare in alike else code
    return alike


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def read_category(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a category column."""
    values, codes = _encode(raw)
    levels = kind.levels
    if not fitted and not levels:
        known = [value for value in values if not is_missing(value)]
        # Sorted, so that the codes do not depend on the order of the rows.
        levels = tuple(known if raw.declared else _sorted(known))
    codes, unknown = _place(values, codes, levels)
    return Column(raw.name, replace(kind, levels=levels), codes, unknown)


def _place(
    values: list[Any], codes: np.ndarray, levels: tuple[Any, ...]
) -> tuple[np.ndarray, dict[int, Any]]:
    """Return a code in the levels per row, and the values behind codes that no level has."""
    find = _finder(levels)
    new_codes: list[int] = []
    new: dict[int, tuple[int, Any]] = {}
    for old, value in enumerate(values):
        code = -1 if is_missing(value) else find(value)
        if code is None:
            code = unknown_code(value)
            new[old] = code, value
        new_codes.append(code)
    # Declared levels that no row has are not worth a warning about unknown ones.
    used = set(np.unique(codes).tolist()) if new else set()
    unknown = {code: value for old, (code, value) in new.items() if old in used}
    return _recode(codes, new_codes), unknown


def read_order(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of an ordered column."""
    if kind.role in CYCLES:
        return _read_cycle(raw, kind)
    if kind.role == "cycle" and not kind.levels:
        return _find_cycle(raw, kind)
    values, codes = _encode(raw)
    if not fitted and not kind.levels:
        kind = _with_levels(raw, kind, [value for value in values if not is_missing(value)])
    codes, unknown = _place(values, codes, kind.levels)
    if unknown and not (fitted and kind.takes_new_levels):
        bad = np.flatnonzero(codes < -1)
        value = unknown[int(codes[bad[0]])]
        needed = f"one of the levels {', '.join(map(repr, kind.levels))}"
        hint = Phrase("Add the level in its place, or use ", Param("missing", [value]))
        raise raw.error(bad, value, needed, hint)
    return Column(raw.name, kind, codes, unknown)


def _with_levels(raw: Raw, kind: Kind, values: list[Any]) -> Kind:
    """Learn the levels from low to high: as declared, by a known order, or by size."""
    if raw.declared:
        return replace(kind, levels=tuple(values))
    # Found in these cells: others may have more.
    kind = replace(kind, reading=replace(kind.reading or Reading(), what="level"))
    words = dict.fromkeys((value for value in values if isinstance(value, str)), 1)
    if not words:
        return replace(kind, levels=tuple(_sorted(values)))
    found = None
    if len(words) == len(values):
        found = find_levels(raw.name, words) or find_numbered(words) or find_bands(words)
    if found is None:
        names = ", ".join(repr(value) for value in values[:5])
        who, needed = f"Column {raw.name!r}", "levels from low to high to be ordered"
        hint = ("List them from low to high, as in ", Param("kinds", {raw.name: values[:LISTED]}))
        raise InvalidInput(who, needed, f"strings ({names}) without an order", hint)
    return replace(kind, levels=found.levels)


def read_flag(raw: Raw, kind: Kind, fitted: bool) -> Column:
    """Read the cells of a flag column."""
    values, codes = _encode(raw)
    levels = kind.levels or _flag_levels(values)
    find = _finder(levels)
    answers: list[int] = []
    for code, value in enumerate(values):
        answer = -1 if is_missing(value) else find(value)
        answer = _answer(value) if answer is None else answer
        rows = np.flatnonzero(codes == code) if answer is None else ()
        if len(rows):
            category = Param("kinds", {raw.name: "category"})
            levels_too = InPython(', or Kind("flag", levels=(no, yes)) with its two values')
            needed = "yes or no (also true/false, t/f, y/n, 1/0)"
            raise raw.error(rows, value, needed, Phrase("Use ", category, levels_too))
        # A declared category that no row has.
        answers.append(-1 if answer is None else answer)
    codes = _recode(codes, answers)
    if kind.reading is not None and kind.reading.what == "mark":
        codes = np.maximum(codes, 0)  # nothing means no
    return Column(raw.name, replace(kind, levels=levels or (False, True)), codes)


def _answer(value: Any) -> int | None:
    """Return 1 for a word that means yes, 0 for no, None for another."""
    yes, no = _answers()
    word = written(value).strip().lower()
    return 1 if word in yes else 0 if word in no else None


def _flag_levels(values: list[Any]) -> tuple[Any, ...]:
    """Return (no, yes) as the column writes them; a word that no row has is filled in."""
    known: dict[int | None, Any] = {}
    for value in values:
        known.setdefault(_answer(value), value)
    for value in (known[answer] for answer in (0, 1) if answer in known):
        if isinstance(value, bool) or (isinstance(value, str) and value.lower() in _TRUTH):
            return (False, True)
        if isinstance(value, int | float):
            return (0, 1)
    if not known.keys() & {0, 1}:
        return ()
    for answer, opposites in enumerate(_answers()):
        if answer not in known:
            known[answer] = opposites[written(known[1 - answer]).strip().lower()]
    return known[0], known[1]


# -- months and weekdays, out of dates, names or numbers: levels in a circle -----------------------


def _read_cycle(raw: Raw, kind: Kind) -> Column:
    """Read the month or the weekday of each cell.

    Dates have one; names ("Feb", "Tuesday") and numbers from 1 (January, Monday) say it.
    """
    scale = known_scales()[CYCLES.index(kind.role)]
    levels = tuple(level[0].capitalize() for level in scale.levels)
    codes = None
    if raw.is_text and len(raw.strings()) <= MAX_LEVELS:
        ranks = [scale.rank.get(fold(word), -1) for word in raw.words.to_pylist()]
        codes = None if -1 in ranks else _recode(raw.codes, ranks)
    if codes is None:
        codes = _dated(raw, kind.role, len(levels))
    return Column(raw.name, replace(kind, levels=levels, reading=None), codes)


def _find_cycle(raw: Raw, kind: Kind) -> Column:
    """Read a cycle that the caller left to the words, or to the name of the column."""
    values = _encode(raw)[0] if raw.is_text or raw.declared else []
    words = [value for value in values if isinstance(value, str)]
    levels = find_circle(words)
    if levels is not None or raw.declared in ("order", "enum"):
        reading = Reading("level") if levels else None
        kind = replace(kind, levels=levels or tuple(values), reading=reading)
        return read_order(raw, kind, fitted=False)
    try:
        column = read_number(raw, Kind("number"), False)
    except InvalidInput:
        raise _unknown_cycle(raw, "words of no known one", ",".join(words[:LISTED])) from None
    here = column.values[~np.isnan(column.values)]
    low, high = (float(here.min()), float(here.max())) if len(here) else (0.0, 0.0)
    clock = column.kind.source == "duration"
    period = 86_400.0 if clock else find_period(raw.name, low, high, wide=False)
    if not period:
        found = f"numbers from {low:g} to {high:g}"
        raise _unknown_cycle(raw, found, f"{max(1.0, np.ceil(high)):g}")
    return replace(column, kind=replace(column.kind, role=f"{CYCLE}{period:g}"))


def _unknown_cycle(raw: Raw, found: str, example: str) -> InvalidInput:
    needed, kinds = "a cycle, by its period or its levels", {raw.name: f"{CYCLE}{example}"}
    hint = ("Say how it comes round, as in ", Param("kinds", kinds))
    return InvalidInput(f"Column {raw.name!r}", needed, found, hint)


def _dated(raw: Raw, role: str, count: int) -> np.ndarray:
    try:
        column = read_number(raw, Kind("number", role="date" if raw.is_text else ""), False)
    except InvalidInput:
        column = read_number(raw, Kind("number"), False)
    missing = np.isnan(column.values)
    values = np.where(missing, 0.0, column.values)
    if column.kind.source == "datetime":
        # Floored, so that times before 1970 fall on their own day.
        days = np.floor(values / 86_400).astype("datetime64[D]")
        if role == "month":
            codes = days.astype("datetime64[M]").astype(np.int64) % 12
        else:
            # 1 January 1970 was a Thursday.
            codes = (days.astype(np.int64) + 3) % 7
    else:
        codes = values.astype(np.int64) - 1
        odd = np.flatnonzero(~missing & ((codes < 0) | (codes >= count) | (codes + 1 != values)))
        if len(odd):
            hint = Phrase("Give dates or names, or use ", Param("kinds", {raw.name: "number"}))
            raise raw.error(odd, values[odd[0]], f"a {role}: dates, names or 1 to {count}", hint)
    return np.asarray(np.where(missing, -1, codes), dtype=np.int64)


_READERS: dict[str, Callable[[Raw, Kind, bool], Column]] = {
    "number": read_number,
    "category": read_category,
    "order": read_order,
    "flag": read_flag,
    "text": read_text,
    "set": read_set,
    "sequence": read_sequence,
    "series": read_series,
    "histogram": read_matrix,
    "vector": read_matrix,
    "graph": lambda raw, kind, _: Column(raw.name, kind, _cells(raw, partial(_graph, raw))),
    "object": lambda raw, kind, _: Column(raw.name, kind, _cells(raw, lambda _, value: value)),
}
