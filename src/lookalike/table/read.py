"""From whatever holds a table to a ``Table``: with guessed kinds, or those of a fitted table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.errors import InvalidInput, LookalikeWarning, WrongType, message, suggest
from lookalike.table.cells import convert, raw_of_column
from lookalike.table.kinds import given_kind, infer
from lookalike.table.raw import Raw, of_array, parse_text
from lookalike.table.sources import (
    check_shape,
    has_no_names,
    numeric_array,
    raw_columns,
    unwrap,
)
from lookalike.table.table import Column, Kind, Schema, Table

__all__ = ["as_table", "read_table"]

SINGLE = ("number", "category", "order", "flag", "text")  # kinds whose cell is one value
BY_HAND = "by hand"


def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    schema: Schema | Table | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table from a file, a frame, an array or plain Python, and say what each column holds.

    Parameters
    ----------
    source : path, frame, array, mapping, list or Table
        A file (.csv .tsv .txt .jsonl .ndjson .json .parquet .arrow .feather, each also with .gz); a
        pandas, polars (lazy too) or pyarrow table; a DuckDB relation; a dictionary of columns; a
        list of records; a numpy array with two axes, whose columns are then called "x0", "x1", ...
    kinds : mapping of column name to kind, optional
        Overrules the guess: one of ``KINDS``, a list of levels from low to high (an ordered
        column), a ``Kind``, or "aside" to leave the column out of comparisons. A column named here
        is never set aside by itself.
    missing : list of str or number, optional
        More cell values that mean "missing", besides None, NaN and, in a CSV file, nothing at all
        or NA, NaN or null without quotes. They are taken out before the kinds are guessed.
    schema : Schema or Table, optional
        Read new rows the way a fitted table was read; see ``as_table``. Then ``kinds`` and
        ``missing`` are not used.
    encoding : str, optional
        Encoding of a CSV file; UTF-8 unless given.

    Returns
    -------
    Table
        Its ``kinds`` give the reason for each column; its ``aside`` holds identifiers and empty
        columns.

    Notes
    -----
    The rules of guessing are listed in ``lookalike.table.kinds``. An array of numbers is taken as
    it is: every column is a number, and nothing is guessed.

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
      id: set aside, identifier: consecutive whole numbers from 7 to 9, named 'id'
    """
    if schema is not None:
        if kinds is not None or missing is not None:
            raise InvalidInput(
                message(
                    "read_table(schema=...)",
                    "the kinds and missing values of the schema alone",
                    "kinds= or missing= besides it",
                    "Leave them out",
                )
            )
        return as_table(source, schema, who="read_table", encoding=encoding)
    tokens = _tokens(missing)
    source = unwrap(source)
    if isinstance(source, Table):
        return _read_again(source, kinds, tokens)
    matrix = numeric_array(source)
    if matrix is not None:
        names = [f"x{j}" for j in range(matrix.shape[1])]
        chosen = _given(kinds, names)
        matrix = _without(matrix, tokens)
        columns, aside = [], []
        for j, name in enumerate(names):
            if name not in chosen:
                columns.append(Column(name, ARRAY_NUMBER, matrix[:, j]))
            elif (kind := chosen[name]) is not None:
                columns.append(convert(of_array(name, matrix[:, j]), kind))
            else:
                aside.append(_set_aside(of_array(name, matrix[:, j]), BY_HAND))
        return _table(columns, aside, tokens)
    raws = raw_columns(source, _as_text(kinds), tokens, encoding)
    chosen = _given(kinds, [raw.name for raw in raws])
    columns, aside = [], []
    for raw in raws:
        raw = raw.without(tokens)
        if raw.name in chosen:
            kind = chosen[raw.name]
            if kind is None:
                aside.append(_set_aside(raw, BY_HAND))
            else:
                columns.append(convert(raw, kind))
            continue
        raw = parse_text(raw) if raw.from_text else raw
        guess = infer(raw)
        if guess.aside:
            aside.append(convert(raw, guess.kind))
        else:
            columns.append(convert(raw, guess.kind))
    return _table(columns, aside, tokens)


def as_table(
    source: Any, schema: Schema | Table, *, who: str = "as_table", encoding: str | None = None
) -> Table:
    """Read new rows the way a fitted table was read.

    Columns are put in the fitted order. A lacking column is an error, an extra one a warning. A
    category that the fitted table did not have keeps a code of its own (below -1, named in
    ``Column.unknown``); an unknown level of an ordered column, or a cell of the wrong type, is an
    error that names the row.

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
    source = unwrap(source)
    if isinstance(source, Table):
        return _fit_table(source, schema, who)
    matrix = numeric_array(source)
    if matrix is not None:
        matrix = _without(matrix, schema.missing)
        names = _array_names(matrix.shape[1], schema, who)
        found: dict[str, Raw | Column] = {}
        for j, name in enumerate(names):
            kind = schema.kinds.get(name)
            if kind is not None and kind.name == "number" and not kind.source:
                found[name] = Column(name, kind, matrix[:, j])
            else:
                found[name] = of_array(name, matrix[:, j])
        return _fit_found(found, schema, who)
    if isinstance(source, Mapping) and _is_record(source, schema):
        source = [source]
    raws = raw_columns(source, _as_text(schema.kinds), schema.missing, encoding)
    if has_no_names(source):
        names = _array_names(len(raws), schema, who)
        raws = [replace(raw, name=name) for name, raw in zip(names, raws, strict=True)]
    raws = _by_position(raws, schema, who)
    return _fit_found({raw.name: raw.without(schema.missing) for raw in raws}, schema, who)


ARRAY_NUMBER = Kind("number", "column of a numeric array")


# -- building -------------------------------------------------------------------------------------


def _table(columns: list[Column], aside: list[Column], tokens: tuple[Any, ...]) -> Table:
    if not columns:
        reasons = "; ".join(f"{c.name!r} was set aside ({c.kind.reason})" for c in aside)
        name = aside[0].name
        raise InvalidInput(
            message(
                "read_table",
                "a column to compare",
                f"none: {reasons}",
                f'Add a column, or say what one is: kinds={{{name!r}: "category"}}',
            )
        )
    return Table(columns, aside, missing=tokens)


def _set_aside(raw: Raw, reason: str) -> Column:
    if raw.is_arrow and (pa.types.is_integer(raw.type) or pa.types.is_floating(raw.type)):
        return convert(raw, Kind("number", reason))
    if raw.is_arrow and pa.types.is_large_string(raw.type):
        return convert(raw, Kind("text", reason))
    return convert(raw, Kind("object", reason))


def _tokens(missing: Any) -> tuple[Any, ...]:
    if missing is None:
        return ()
    if isinstance(missing, str | int | float):
        return (missing,)
    if isinstance(missing, Iterable):
        return tuple(missing)
    raise WrongType(
        message(
            "read_table(missing=...)",
            "a list of strings or numbers",
            type(missing).__name__,
            'Pass for example missing=["?"]',
        )
    )


def _given(kinds: Mapping[Any, Any] | None, names: Sequence[str]) -> dict[str, Kind | None]:
    """Check what the caller says about columns; a position may stand for a name."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise WrongType(
            message(
                "read_table(kinds=...)",
                "a mapping of column to kind",
                type(kinds).__name__,
                'Pass for example kinds={"size": "category"}',
            )
        )
    chosen = {}
    for key, given in kinds.items():
        name = key
        if isinstance(key, int | np.integer) and str(key) not in names:
            name = names[int(key)] if -len(names) <= key < len(names) else str(key)
        name = str(name)
        if name not in names:
            raise InvalidInput(
                message(
                    "read_table(kinds=...)", "columns of the table", repr(key), suggest(name, names)
                )
            )
        chosen[name] = given_kind(name, given)
    return chosen


def _as_text(kinds: Mapping[Any, Any] | None) -> set[str]:
    """Name the columns that a CSV file must hand over as they are written ("007", not 7)."""
    names = set()
    for name, given in kinds.items() if isinstance(kinds, Mapping) else ():
        kind = (
            given if isinstance(given, Kind) else Kind(given if isinstance(given, str) else "order")
        )
        levels = kind.levels if isinstance(given, Kind) else given
        if kind.name in ("text", "sequence") or (kind.name == "category" and not kind.levels):
            names.add(str(name))
        elif not isinstance(levels, str) and isinstance(levels, Iterable):
            if any(isinstance(level, str) for level in levels):
                names.add(str(name))
    return names


def _read_again(table: Table, kinds: Mapping[Any, Any] | None, tokens: tuple[Any, ...]) -> Table:
    """Return a table as it is, or with some columns read as another kind."""
    check_shape(len(table), table.shape[1])
    if kinds is None and not tokens:
        return table
    every = {column.name: column for column in table.columns + table.aside}
    chosen = _given(kinds, list(every))
    columns: list[Column] = []
    aside: list[Column] = []
    for name, column in every.items():
        if name not in chosen:
            if tokens:
                column = convert(raw_of_column(column).without(tokens), column.kind, fitted=True)
            (columns if name in table else aside).append(column)
            continue
        kind = chosen[name]
        raw = raw_of_column(column).without(tokens)
        if kind is None:
            aside.append(_set_aside(raw, BY_HAND))
        else:
            columns.append(convert(raw, kind))
    return _table(columns, aside, table.missing + tokens)


# -- new rows -------------------------------------------------------------------------------------


def _fit_found(found: Mapping[str, Raw | Column], schema: Schema, who: str) -> Table:
    """Read columns as the fitted kinds; an array's numbers are columns already."""
    _check_names(list(found), schema, who)
    columns = []
    for name, kind in schema.kinds.items():
        cells = found[name]
        columns.append(cells if isinstance(cells, Column) else convert(cells, kind, fitted=True))
    aside = []
    for name, reason in schema.aside.items():
        present = found.get(name)
        if isinstance(present, Raw):
            aside.append(_set_aside(present, reason))
    return Table(columns, aside, missing=schema.missing)


def _fit_table(table: Table, schema: Schema, who: str) -> Table:
    check_shape(len(table), table.shape[1])
    every = {column.name: column for column in table.columns + table.aside}
    _check_names(list(every), schema, who)
    columns = []
    for name, kind in schema.kinds.items():
        column = every[name]
        same = (column.kind.name, column.kind.source) == (kind.name, kind.source)
        if same and column.kind.levels == kind.levels and column.kind.width == kind.width:
            column = Column(name, kind, column.values, column.unknown)
        else:
            column = convert(raw_of_column(column), kind, fitted=True)
        columns.append(column)
    aside = [every[name] for name in schema.aside if name in every]
    return Table(columns, aside, missing=schema.missing)


def _check_names(names: list[str], schema: Schema, who: str) -> None:
    known = set(names)
    lacking = [name for name in schema.kinds if name not in known]
    extra = [name for name in names if name not in schema.kinds and name not in schema.aside]
    if lacking:
        do = suggest(lacking[0], extra) if extra else ""
        raise InvalidInput(
            message(
                who,
                f"the {len(schema.kinds)} columns of the fitted table",
                f"no column {_listed(lacking)}",
                do if do.startswith("Did") else "Add the column; a cell may be missing (None)",
            )
        )
    if extra:
        warnings.warn(
            message(
                who,
                "only the columns of the fitted table",
                f"also {_listed(extra)}",
                "They are not used; leave them out to silence this",
            ),
            LookalikeWarning,
            stacklevel=4,
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _array_names(width: int, schema: Schema, who: str) -> list[str]:
    """Name the columns of an array by their place in the fitted table."""
    numbered = [f"x{j}" for j in range(len(schema.kinds) + len(schema.aside))]
    if width == len(numbered) and set(numbered) == {*schema.kinds, *schema.aside}:
        return numbered
    expected = len(schema.kinds)
    if width != expected:
        found = (
            f"{width} (X has {width} features, but {who} is expecting {expected} features as input)"
        )
        do = "Give the columns that the table was fitted with"
        raise InvalidInput(message(who, f"{expected} columns", found, do))
    return list(schema.kinds)


def _by_position(raws: list[Raw], schema: Schema, who: str) -> list[Raw]:
    """Take named columns by position where the fitted table came from an array without names."""
    names = list(schema.kinds)
    unnamed = names == [f"x{j}" for j in range(len(names))]
    if not unnamed or len(raws) != len(names) or any(raw.name in names for raw in raws):
        return raws
    warnings.warn(
        message(
            who,
            "columns without names, as the fitted array",
            f"names ({_listed([raw.name for raw in raws])})",
            "They are taken by position; fit on a table with names to match by name",
        ),
        LookalikeWarning,
        stacklevel=3,
    )
    return [replace(raw, name=name) for name, raw in zip(names, raws, strict=True)]


def _is_record(source: Mapping[Any, Any], schema: Schema) -> bool:
    """Whether a dictionary is one row: single values decide first, then the depth of lists."""
    known = [(schema.kinds[str(n)].name, v) for n, v in source.items() if str(n) in schema.kinds]
    single = [value for kind, value in known if kind in SINGLE and value is not None]
    if single:
        return not any(_is_column(value) for value in single)
    for kind, value in known:
        if value is None:
            continue
        if kind in ("graph", "object"):
            return not isinstance(value, list | tuple | np.ndarray)
        if isinstance(value, str | set | frozenset):
            return True
        first = next((item for item in value if item is not None), None)
        return not isinstance(first, list | tuple | set | frozenset | np.ndarray)
    return True


def _is_column(value: Any) -> bool:
    return not isinstance(value, str | bytes) and (
        hasattr(value, "__len__") or hasattr(value, "__next__")
    )


def _without(matrix: np.ndarray, tokens: Sequence[Any]) -> np.ndarray:
    if not tokens:
        return matrix
    cells = Raw("", pa.array(matrix.reshape(-1))).without(tokens).cells
    return np.asarray(cells.to_numpy(zero_copy_only=False).reshape(matrix.shape))
