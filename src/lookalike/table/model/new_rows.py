"""New rows, read the way a fitted table was read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.errors import (
    InPython,
    InvalidInput,
    LookalikeWarning,
    Param,
    Phrase,
    name_some,
    suggest,
)
from lookalike.table.formats.raw import Raw, of_array
from lookalike.table.formats.sources import (
    check_shape,
    has_no_names,
    numeric_array,
    raw_columns,
    unwrap,
    without_tokens,
)
from lookalike.table.model.cells import convert, raw_of_column, set_aside
from lookalike.table.model.given import read_as_text
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, Schema, Table

SINGLE = ("number", "category", "order", "flag", "text")  # kinds whose cell is one value


def as_table(
    source: Any,
    schema: Schema | Table,
    *,
    who: str = "as_table",
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Table:
    """Read new rows the way a fitted table was read.

    Columns are put in the fitted order. A lacking column is an error, an extra one a warning. A
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
        matrix = without_tokens(matrix, schema.missing)
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
    raws = raw_columns(source, read_as_text(schema.kinds), schema.missing, encoding, delimiter)
    if has_no_names(source):
        names = _array_names(len(raws), schema, who)
        raws = [replace(raw, name=name) for name, raw in zip(names, raws, strict=True)]
    raws = _by_position(raws, schema, who)
    return _fit_found({raw.name: raw.without(schema.missing) for raw in raws}, schema, who)


def _fit_found(found: Mapping[str, Raw | Column], schema: Schema, who: str) -> Table:
    """Read columns as the fitted kinds; an array's numbers are columns already."""
    _check_names(list(found), schema, who)
    columns = []
    for name, kind in schema.kinds.items():
        cells = found[name]
        columns.append(cells if isinstance(cells, Column) else convert(cells, kind, fitted=True))
    _warn_new_levels(columns, who)
    aside = []
    for name, reason in schema.aside.items():
        present = found.get(name)
        if isinstance(present, Raw):
            aside.append(set_aside(present, reason))
    return Table(columns, aside, missing=schema.missing)


def _fit_table(table: Table, schema: Schema, who: str) -> Table:
    check_shape(len(table), table.shape[1])
    every = {column.name: column for column in table.columns + table.aside}
    _check_names(list(every), schema, who)
    columns, read = [], []
    for name, kind in schema.kinds.items():
        column = every[name]
        same = (column.kind.name, column.kind.source) == (kind.name, kind.source)
        if same and column.kind.levels == kind.levels and column.kind.width == kind.width:
            column = Column(name, kind, column.values, column.unknown)
        else:
            column = convert(raw_of_column(column), kind, fitted=True)
            read.append(column)  # others have been read by this schema, and warned about, before
        columns.append(column)
    _warn_new_levels(read, who)
    aside = [every[name] for name in schema.aside if name in every]
    return Table(columns, aside, missing=schema.missing)


def _warn_new_levels(columns: Sequence[Column], who: str) -> None:
    """Say in one warning which levels of guessed orders the fitted table did not have."""
    new = [column for column in columns if column.kind.name == "order" and column.unknown]
    if not new:
        return
    found = "; ".join(
        f"{name_some(list(column.unknown.values()), 5)} in {column.name!r}" for column in new
    )
    levels = Param("kinds", {new[0].name: ["lowest", ..., "highest"]})
    hint = Phrase("They are taken as missing; ", levels, " gives them a place")
    warning = LookalikeWarning(who, "levels of the fitted table", found, hint)
    warnings.warn(warning, stacklevel=5)


def _check_names(names: list[str], schema: Schema, who: str) -> None:
    known = set(names)
    lacking = [name for name in schema.kinds if name not in known]
    extra = [name for name in names if name not in schema.kinds and name not in schema.aside]
    if lacking:
        hint = suggest(lacking[0], extra) if extra else ""
        raise InvalidInput(
            who,
            f"the {len(schema.kinds)} columns of the fitted table",
            f"no column {name_some(lacking, 5)}",
            hint if hint.startswith("Did") else "Add the column; its cells may be missing",
        )
    if extra:
        warnings.warn(
            LookalikeWarning(
                who,
                "only the columns of the fitted table",
                f"also {name_some(extra, 5)}",
                "They are not used; leave them out to silence this",
            ),
            stacklevel=4,
        )


def _array_names(width: int, schema: Schema, who: str) -> list[str]:
    """Name the columns of an array by their place in the fitted table."""
    numbered = [f"x{j}" for j in range(len(schema.kinds) + len(schema.aside))]
    if width == len(numbered) and set(numbered) == {*schema.kinds, *schema.aside}:
        return numbered
    expected = len(schema.kinds)
    if width != expected:
        found = Phrase(
            f"{width}",
            InPython(
                f" (X has {width} features, but {who} is expecting {expected} features as input)"
            ),
        )
        hint = "Give the columns that the table was fitted with"
        raise InvalidInput(who, f"{expected} columns", found, hint)
    return list(schema.kinds)


def _by_position(raws: list[Raw], schema: Schema, who: str) -> list[Raw]:
    """Take named columns by position where the fitted table came from an array without names."""
    names = list(schema.kinds)
    unnamed = names == [f"x{j}" for j in range(len(names))]
    if not unnamed or len(raws) != len(names) or any(raw.name in names for raw in raws):
        return raws
    warnings.warn(
        LookalikeWarning(
            who,
            "columns without names, as the fitted array",
            f"names ({name_some([raw.name for raw in raws], 5)})",
            "They are taken by position; fit on a table with names to match by name",
        ),
        stacklevel=3,
    )
    return [replace(raw, name=name) for name, raw in zip(names, raws, strict=True)]


def _is_record(source: Mapping[Any, Any], schema: Schema) -> bool:
    """Whether a dictionary is one row: single values decide first, then the depth of lists."""
    known = [
        (_cell_kind(schema.kinds[str(name)]), value)
        for name, value in source.items()
        if str(name) in schema.kinds
    ]
    single = [value for kind, value in known if kind in SINGLE and value is not None]
    if single:
        return not any(_is_column(value) for value in single)
    gaps_alone = False
    for kind, value in known:
        if value is None:
            continue
        if kind in ("graph", "object"):
            return not isinstance(value, list | tuple | np.ndarray)
        if isinstance(value, str | set | frozenset):
            return True
        if len(value) and all(item is None for item in value):
            gaps_alone = True  # a column of missing cells; no cell holds nothing but gaps
            continue
        first = next((item for item in value if item is not None), None)
        return not isinstance(first, list | tuple | set | frozenset | np.ndarray)
    return not gaps_alone


def _cell_kind(kind: Kind) -> str:
    """Return the kind of a cell as it is given: a set may be written as one string."""
    return "text" if kind.reading is not None and kind.reading.separator else kind.name


def _is_column(value: Any) -> bool:
    return not isinstance(value, str | bytes) and (
        hasattr(value, "__len__") or hasattr(value, "__next__")
    )
