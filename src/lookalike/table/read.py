"""From whatever holds a table to a ``Table``: with guessed kinds, or those of a fitted table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from lookalike._runtime.text import as_record, plural
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, name_some, suggest
from lookalike.table.formats import sources
from lookalike.table.formats.delimited import CsvOptions
from lookalike.table.formats.raw import Raw, of_array, of_values
from lookalike.table.infer.kinds import infer_columns
from lookalike.table.infer.roles import Guess, find_copies
from lookalike.table.model.cells import convert, raw_of_column, set_aside
from lookalike.table.model.kind import ID, RECORD, Kind, given_kinds, missing_tokens, read_as_text
from lookalike.table.model.labels import mark_label
from lookalike.table.model.table import Column, Schema, Table

if TYPE_CHECKING:
    from lookalike.table.formats.lazy import LazyTable

# Parts of kinds whose cells are kept alike.
STORED_ALIKE = ("name", "source", "levels", "width")
# Kinds whose cell is one value.
SINGLE = ("number", "category", "order", "flag", "text")
# Roles of columns that are set aside as uninteresting, and compared where nothing else is there.
BETTER_THAN_NONE = ("name", "constant", RECORD)
ARRAY_NUMBER = Kind("number", "column of a numeric array")


@overload
def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    label_column: str | None = None,
    lazy: Literal[False] = False,
) -> Table: ...


@overload
def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    label_column: str | None = None,
    lazy: Literal[True],
) -> LazyTable: ...


def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    label_column: str | None = None,
    lazy: bool = False,
) -> Table | LazyTable:
    """Read a table from a file, a frame, an array or plain Python, and say what each column holds.

    Parameters
    ----------
    source : path, frame, array, mapping, list or Table
        A file (.csv .tsv .txt .jsonl .ndjson .json .parquet .arrow .feather, each also with .gz;
        the first sheet of an .xlsx file with the extra "excel"); a pandas, polars (lazy too) or
        pyarrow table; a DuckDB relation; a dictionary of columns; a list of records; a numpy array
        with two axes, whose columns are then called "x0", "x1", ...
    kinds : mapping of column name to kind, optional
        Overrules the guess: one of ``KINDS``, a list of levels from low to high (an ordered
        column), a ``Kind``, or "aside" to leave the column out of comparisons. A column named here
        is never set aside by itself.
    missing : list of str or number, optional
        More cell values that mean "missing", besides None, NaN, empty text and the words NA, NaN
        and null. They are taken out before the kinds are guessed.
    encoding : str, optional
        Encoding of a CSV file; UTF-8 unless given.
    delimiter : str, optional
        The character between the fields of a CSV file; guessed unless given.
    label_column : str, optional
        The column that rows are shown and found by; chosen unless given: a title or a name, else a
        code, else words and the id.
    lazy : bool
        Do not keep the rows: the source is one Parquet file or several (a list, a folder, a
        pattern such as ``"rows/*.parquet"``), which are read once, in parts, to say what each
        column holds. The answer is a ``LazyTable``.

    Returns
    -------
    Table, or LazyTable
        Its ``kinds`` give the reason for each column; its ``aside`` holds identifiers and empty
        columns.

    Notes
    -----
    The rules of inference are listed in ``table.infer.kinds``. An array of numbers is taken as
    it is: every column is a number, and nothing is guessed. ``as_table`` reads new rows the way a
    table was read.

    Examples
    --------
    >>> from lookalike.table import read_table
    >>> table = read_table(
    ...     {"id": [7, 8, 9], "size": ["S", "L", "S"], "tags": [["a"], ["a", "b"], []]},
    ...     kinds={"size": ["S", "M", "L"]},
    ... )
    >>> table
    Table: 3 rows, 2 columns
      size: order: given, 3 levels
      tags: set: lists of strings without a repeat, 2 distinct in all
      id: set aside, identifier: consecutive integers from 7 to 9, named 'id'
    """
    tokens = missing_tokens(missing)
    label = [] if label_column is None else [label_column]
    if lazy:
        from lookalike.table.formats.lazy import read_lazy

        parts = read_lazy(source, kinds, tokens)
        parts.like = mark_label(parts.like, label) if label else parts.like
        return parts
    table = _read_now(source, kinds, tokens, CsvOptions(tokens, (), encoding, delimiter))
    return mark_label(table, label) if label else table


def _read_now(
    source: Any, kinds: Mapping[Any, Any] | None, tokens: tuple[Any, ...], options: CsvOptions
) -> Table:
    """Read all rows, guessing what each column holds."""
    # Known by its attributes: the module of LazyTable imports this one.
    if hasattr(source, "parts") and hasattr(source, "like"):
        source = source.read()
    source = sources.unwrap(source)
    if isinstance(source, Table):
        return _read_again(source, kinds, tokens)
    if (matrix := sources.numeric_array(source)) is not None:
        names = [f"x{j}" for j in range(matrix.shape[1])]
        chosen = dict.fromkeys(names, ARRAY_NUMBER) | given_kinds(kinds, names)
        typed = _array_columns(matrix, chosen, tokens)
        return make_table(*read_columns(typed, chosen, {}), tokens)
    raws = sources.raw_columns(source, options._replace(as_text=read_as_text(kinds)))
    chosen = given_kinds(kinds, [raw.name for raw in raws])
    # Blanks of a given kind are left to it: those that name rows are names.
    raws = [(raw if raw.name in chosen else raw.neutral()).without(tokens) for raw in raws]
    guesses = infer_columns([raw for raw in raws if raw.name not in chosen])
    columns, aside = read_columns(raws, chosen, guesses)
    columns, aside = without_copies(columns, aside, set(chosen), find_copies(columns))
    return make_table(columns, aside, tokens)


def _array_columns(
    matrix: np.ndarray, kinds: Mapping[str, Kind | None], tokens: tuple[Any, ...]
) -> list[Raw | Column]:
    """Return the columns of an array; a plain number is taken as it is, float32 included."""
    columns: list[Raw | Column] = []
    for (name, kind), cells in zip(kinds.items(), matrix.T, strict=True):
        number = kind is not None and kind.name == "number" and not tokens
        if kind and number and not (kind.source or kind.role or kind.reading):
            columns.append(Column(name, kind, cells))
        else:
            columns.append(of_array(name, cells).without(tokens))
    return columns


def read_columns(
    raws: Sequence[Raw | Column], chosen: Mapping[str, Kind | None], guesses: Mapping[str, Guess]
) -> tuple[list[Column], list[Column]]:
    """Read columns as what the caller said or as what was guessed: compared ones, others."""
    columns: list[Column] = []
    aside: list[Column] = []
    for raw in raws:
        if raw.name in chosen:
            kind = chosen[raw.name]
            (columns if _is_compared(kind) else aside).append(_read_as(raw, kind))
        else:
            guess = guesses[raw.name]
            (aside if guess.aside else columns).append(_read_as(guess.raw or raw, guess.kind))
    return columns, aside


def _is_compared(kind: Kind | None) -> bool:
    return kind is not None and kind.role != "name"


def _read_as(raw: Raw | Column, kind: Kind | None, fitted: bool = False) -> Column:
    """Read a column that is not typed yet as a kind; None, by the caller, sets it aside."""
    if isinstance(raw, Column):
        return raw
    return set_aside(raw, "by hand") if kind is None else convert(raw, kind, fitted=fitted)


def make_table(columns: list[Column], aside: list[Column], tokens: tuple[Any, ...]) -> Table:
    """Return the table of these columns; one that was set aside lightly is better than none."""
    # What was set aside as uninteresting is better than nothing.
    if not columns:
        back = [column for column in aside if column.kind.role in BETTER_THAN_NONE]
        aside = [column for column in aside if column not in back]
        columns = [replace(c, kind=replace(c.kind, role="")) for c in back]
    if not columns:
        reasons = "; ".join(f"{c.name!r} was set aside ({c.kind.reason})" for c in aside)
        hint = ("Add a column, or say what one is: ", Param("kinds", {aside[0].name: "category"}))
        raise InvalidInput("read_table", "a column to compare", f"none: {reasons}", hint)
    return Table(columns, aside, missing=tokens)


def without_copies(
    columns: list[Column], aside: list[Column], chosen: set[str], copies: Mapping[str, str]
) -> tuple[list[Column], list[Column]]:
    """Set aside what is the same as an earlier column, unless the caller named it."""
    kept, gone = [], []
    for column in columns:
        if column.name in copies and column.name not in chosen:
            reason = f"the same as {copies[column.name]!r} in every row"
            kind = replace(column.kind, reason=reason, role="copy", close=column.kind.label)
            gone.append(replace(column, kind=kind))
        else:
            kept.append(column)
    return kept, aside + gone


def _read_again(table: Table, kinds: Mapping[Any, Any] | None, tokens: tuple[Any, ...]) -> Table:
    """Return a table as it is, or with some columns read as another kind."""
    sources.check_shape(len(table), table.shape[1])
    if kinds is None and not tokens:
        return table
    chosen = given_kinds(kinds, [column.name for column in table.every])
    columns: list[Column] = []
    aside: list[Column] = []
    for column in table.every:
        name = column.name
        compared = _is_compared(chosen[name]) if name in chosen else name in table
        (columns if compared else aside).append(_reread(column, chosen, tokens))
    return make_table(columns, aside, table.missing + tokens)


def _reread(column: Column, chosen: dict[str, Kind | None], tokens: tuple[Any, ...]) -> Column:
    kind, known = chosen.get(column.name), column.name not in chosen
    # An id is read already, every word as it was written.
    is_id = column.kind.role == ID and kind is not None and kind.name == column.kind.name
    if is_id or (known and not tokens):
        return column
    raw = raw_of_column(column).without(tokens)
    return _read_as(raw, column.kind if known else kind, fitted=known)


# -- new rows --------------------------------------------------------------------------------------


def as_table(
    source: Any,
    schema: Schema | Table,
    *,
    who: str = "as_table",
    encoding: str | None = None,
    delimiter: str | None = None,
    partial: bool = False,
) -> Table:
    """Read new rows the way a fitted table was read.

    Columns are put in the fitted order. A missing column is an error, an extra one a warning. A
    category that the fitted table did not have keeps a code of its own (below -1, named in
    ``Column.unknown``). So does a level of an order that was guessed; it is compared as a missing
    cell, and one warning names all of them. An unknown level of an order that the caller declared,
    or a cell of the wrong type, is an error that names the row.

    Parameters
    ----------
    source : anything that ``read_table`` takes, or one record
        A dictionary of single values is one row.
    schema : Schema or Table
        ``table.schema`` of the fitted table.
    who : str
        Named first in error messages.
    encoding : str, optional
        Encoding of a CSV file.
    delimiter : str, optional
        The character between the fields of a CSV file.
    partial : bool
        Whether columns may be absent; their cells are then missing. An extra column is an error in
        this case: a mistyped name would be a missing cell that is never noticed.

    Returns
    -------
    Table

    Examples
    --------
    >>> from lookalike.table import as_table, read_table
    >>> fitted = read_table({"year": [1999, 2004], "color": ["red", "blue"]})
    >>> new = as_table({"color": "green", "year": 2001}, fitted.schema)
    >>> new.shape, new["color"].cell(0), fitted.kinds["color"].levels
    ((1, 2), 'green', ('blue', 'red'))
    """
    if isinstance(schema, Table):
        schema = schema.schema
    record = as_record(source)
    # A row of a frame is indexed by columns, a column by rows.
    if record is not source and not schema.kinds.keys().isdisjoint(map(str, record)):
        source = record
    source = sources.unwrap(source)
    if isinstance(source, Table):
        sources.check_shape(len(source), source.shape[1])
        return _fit_columns(_stored_columns(source, schema), schema, who, partial)
    if (matrix := sources.numeric_array(source)) is not None:
        names = _array_names(matrix.shape[1], schema, who)
        typed = _array_columns(matrix, {n: schema.kinds.get(n) for n in names}, schema.missing)
        return _fit_columns({column.name: column for column in typed}, schema, who)
    if isinstance(source, Mapping) and _is_record(source, schema):
        source = [source]
    options = CsvOptions(schema.missing, read_as_text(schema.kinds), encoding, delimiter)
    raws = sources.raw_columns(source, options)
    if sources.has_no_names(source):
        names = _array_names(len(raws), schema, who)
        raws = [replace(raw, name=name) for name, raw in zip(names, raws, strict=True)]
    raws = _by_position(raws, schema, who)
    given = {raw.name: raw.without(schema.missing) for raw in raws}
    return _fit_columns(given, schema, who, partial)


def _fit_columns(
    given: Mapping[str, Raw | Column], schema: Schema, who: str, partial: bool = False
) -> Table:
    """Read columns as the fitted kinds, but for those that are typed columns already."""
    given = {**given, **_fill(given, schema, who, partial)}
    columns = {n: _read_as(given[n], kind, fitted=True) for n, kind in schema.kinds.items()}
    # The others have been read by this schema, and warned about, before.
    _warn_new_levels([columns[n] for n in columns if isinstance(given[n], Raw)], who)
    extra = [(given[name], reason) for name, reason in schema.aside.items() if name in given]
    aside = [set_aside(c, reason) if isinstance(c, Raw) else c for c, reason in extra]
    return Table(columns.values(), aside, missing=schema.missing)


def _stored_columns(table: Table, schema: Schema) -> dict[str, Raw | Column]:
    """Take cells that are kept alike as they are; others are written back, to be read again."""
    stored: dict[str, Raw | Column] = {}
    for column in table.columns + table.aside:
        kind = schema.kinds.get(column.name, column.kind)
        alike = all(getattr(column.kind, part) == getattr(kind, part) for part in STORED_ALIKE)
        stored[column.name] = replace(column, kind=kind) if alike else raw_of_column(column)
    return stored


def _warn_new_levels(columns: Sequence[Column], who: str) -> None:
    """Say in one warning which levels of guessed orders the fitted table did not have."""
    new = [column for column in columns if column.kind.name == "order" and column.unknown]
    if not new:
        return
    found = "; ".join(f"{name_some([*c.unknown.values()], 5)} in {c.name!r}" for c in new)
    levels = Param("kinds", {new[0].name: ["lowest", "...", "highest"]})
    hint = ("They are taken as missing; ", levels, " gives them a place")
    warnings.warn(LookalikeWarning(who, "levels of the fitted table", found, hint), stacklevel=5)


def _fill(given: Mapping[str, Any], schema: Schema, who: str, partial: bool) -> dict[str, Raw]:
    """Return columns of missing cells for those absent from partial rows; refuse other rows."""
    every = [*schema.kinds, *schema.aside]
    missing = [name for name in schema.kinds if name not in given]
    extra = [name for name in given if name not in every]
    if partial and len(missing) < len(schema.kinds):
        if extra:
            raise InvalidInput(
                who, "columns of the table", repr(extra[0]), suggest(extra[0], every)
            )
        empty = [None] * len(next(iter(given.values())))
        return {name: of_values(name, empty) for name in missing}
    if missing:
        hint = suggest(missing[0], extra)
        if not hint.startswith("Did"):
            hint = "Add the column; its cells may be missing"
        needed = f"the {plural(len(schema.kinds), 'column')} of the fitted table"
        raise InvalidInput(who, needed, f"no column {name_some(missing, 5)}", hint)
    if extra:
        hint = "They are not used; leave them out to silence this"
        needed, found = "only the columns of the fitted table", f"also {name_some(extra, 5)}"
        warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=4)
    return {}


def _array_names(width: int, schema: Schema, who: str) -> list[str]:
    """Name the columns of an array by their position in the fitted table."""
    # Names that an array was given when it was fitted, columns set aside included.
    numbered = [f"x{j}" for j in range(len(schema.kinds) + len(schema.aside))]
    if width == len(numbered) and set(numbered) == {*schema.kinds, *schema.aside}:
        return numbered
    expected = len(schema.kinds)
    if width != expected:
        # The words that scikit-learn's own checks look for.
        words = f" (X has {width} features, but {who} is expecting {expected} features as input)"
        hint = "Give the columns that the table was fitted with"
        raise InvalidInput(who, f"{expected} columns", (f"{width}", InPython(words)), hint)
    return list(schema.kinds)


def _by_position(raws: list[Raw], schema: Schema, who: str) -> list[Raw]:
    """Take named columns by position where the fitted table came from an array without names."""
    names = [raw.name for raw in raws]
    if not _has_other_names(names, schema):
        return raws
    found = f"names ({name_some(names, 5)})"
    hint = "They are taken by position; fit on a table with names to match by name"
    needed = "columns without names, as the fitted array"
    warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=3)
    return [replace(raw, name=name) for name, raw in zip(schema.kinds, raws, strict=True)]


def _has_other_names(names: list[str], schema: Schema) -> bool:
    """Whether columns have names where the fitted table came from an array without names."""
    fitted = list(schema.kinds)
    unnamed = fitted == [f"x{j}" for j in range(len(fitted))]
    return unnamed and len(names) == len(fitted) and not set(names) & set(fitted)


def _is_record(source: Mapping[Any, Any], schema: Schema) -> bool:
    """Whether a dictionary is one row: single values decide first, then the depth of lists."""
    names, kinds = [str(name) for name in source], schema.kinds
    if _has_other_names(names, schema):
        kinds = dict(zip(names, kinds.values(), strict=True))
    cells = {str(name): value for name, value in source.items() if value is not None}
    known = [(kinds[name], cell) for name, cell in cells.items() if name in kinds]
    single = [cell for kind, cell in known if _is_single(kind)]
    if single:
        return not any(_is_column(cell) for cell in single)
    for kind, cell in known:
        if kind.name in ("graph", "object") or isinstance(cell, str | set | frozenset):
            return not isinstance(cell, list | tuple | np.ndarray)
        first = next((item for item in cell if item is not None), None)
        if first is not None or not len(cell):
            return not isinstance(first, list | tuple | set | frozenset | np.ndarray)
    # Only lists of None, if any: columns of missing cells, since a cell holds something.
    return not known


def _is_single(kind: Kind) -> bool:
    """Whether a cell of this kind is one value; a set may be written as one string."""
    return kind.name in SINGLE or bool(kind.reading and kind.reading.separator)


def _is_column(value: Any) -> bool:
    several = hasattr(value, "__len__") or hasattr(value, "__next__")
    return several and not isinstance(value, str | bytes)
