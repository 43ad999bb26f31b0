"""From whatever holds a table to a ``Table``: with guessed kinds, or those of a fitted table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from lookalike.errors import InvalidInput, Param, WrongType, suggest
from lookalike.table.formats.raw import Raw, of_array
from lookalike.table.formats.sources import (
    check_shape,
    numeric_array,
    raw_columns,
    unwrap,
    without_tokens,
)
from lookalike.table.infer.kinds import infer_columns
from lookalike.table.infer.roles import find_copies
from lookalike.table.infer.typed import Guess
from lookalike.table.model.cells import convert, raw_of_column, set_aside
from lookalike.table.model.given import given_kind, read_as_text
from lookalike.table.model.kind import RECORD, Kind
from lookalike.table.model.new_rows import as_table
from lookalike.table.model.table import Column, Schema, Table

if TYPE_CHECKING:
    from lookalike.table.formats.lazy import LazyTable

BY_HAND = "by hand"


@overload
def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    schema: Schema | Table | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    lazy: Literal[False] = False,
) -> Table: ...


@overload
def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    schema: Schema | Table | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    lazy: Literal[True],
) -> LazyTable: ...


def read_table(
    source: Any,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
    *,
    schema: Schema | Table | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
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
    schema : Schema or Table, optional
        Read new rows the way a fitted table was read; see ``as_table``. Then ``kinds`` and
        ``missing`` are not used.
    encoding : str, optional
        Encoding of a CSV file; UTF-8 unless given.
    delimiter : str, optional
        The character between the fields of a CSV file; guessed unless given.
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
                Param("schema", of="read_table"),
                "the kinds and missing values of the schema alone",
                "others besides it",
                "Leave them out",
            )
        return as_table(source, schema, who="read_table", encoding=encoding, delimiter=delimiter)
    tokens = missing_tokens(missing)
    if lazy:
        from lookalike.table.formats.lazy import read_lazy

        return read_lazy(source, kinds, tokens)
    if hasattr(source, "parts") and hasattr(source, "like"):  # a LazyTable, which imports this
        source = source.read()
    source = unwrap(source)
    if isinstance(source, Table):
        return _read_again(source, kinds, tokens)
    matrix = numeric_array(source)
    if matrix is not None:
        names = [f"x{j}" for j in range(matrix.shape[1])]
        chosen = given_kinds(kinds, names)
        matrix = without_tokens(matrix, tokens)
        columns, aside = [], []
        for j, name in enumerate(names):
            if name not in chosen:
                columns.append(Column(name, ARRAY_NUMBER, matrix[:, j]))
            elif (kind := chosen[name]) is not None:
                columns.append(convert(of_array(name, matrix[:, j]), kind))
            else:
                aside.append(set_aside(of_array(name, matrix[:, j]), BY_HAND))
        return make_table(columns, aside, tokens)
    raws = raw_columns(source, read_as_text(kinds), tokens, encoding, delimiter)
    chosen = given_kinds(kinds, [raw.name for raw in raws])
    raws = [raw.without(tokens) for raw in raws]
    guesses = infer_columns([raw for raw in raws if raw.name not in chosen])
    columns, aside = read_columns(raws, chosen, guesses)
    columns, aside = without_copies(columns, aside, set(chosen), find_copies(columns))
    return make_table(columns, aside, tokens)


def read_columns(
    raws: Sequence[Raw], chosen: Mapping[str, Kind | None], guesses: Mapping[str, Guess]
) -> tuple[list[Column], list[Column]]:
    """Read columns as what the caller said or as what was guessed: compared ones, others."""
    columns: list[Column] = []
    aside: list[Column] = []
    for raw in raws:
        if raw.name not in chosen:
            guess = guesses[raw.name]
            column = convert(guess.raw or raw, guess.kind)
            (aside if guess.aside else columns).append(column)
        elif (kind := chosen[raw.name]) is None:
            aside.append(set_aside(raw, BY_HAND))
        else:
            (aside if kind.role == "name" else columns).append(convert(raw, kind))
    return columns, aside


BETTER_THAN_NONE = ("name", "constant", RECORD)
ARRAY_NUMBER = Kind("number", "column of a numeric array")


# -- building -------------------------------------------------------------------------------------


def make_table(columns: list[Column], aside: list[Column], tokens: tuple[Any, ...]) -> Table:
    """Return the table of these columns; one that was set aside lightly is better than none."""
    if not columns:  # what was set aside as uninteresting is better than nothing
        columns = [column for column in aside if column.kind.role in BETTER_THAN_NONE]
        aside = [column for column in aside if column.kind.role not in BETTER_THAN_NONE]
        columns = [replace(c, kind=replace(c.kind, role="")) for c in columns]
    if not columns:
        reasons = "; ".join(f"{c.name!r} was set aside ({c.kind.reason})" for c in aside)
        name = aside[0].name
        raise InvalidInput(
            "read_table",
            "a column to compare",
            f"none: {reasons}",
            ("Add a column, or say what one is: ", Param("kinds", {name: "category"})),
        )
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


def missing_tokens(missing: Any) -> tuple[Any, ...]:
    """Read ``missing=``."""
    if missing is None:
        return ()
    if isinstance(missing, str | int | float):
        return (missing,)
    if isinstance(missing, Iterable):
        return tuple(missing)
    raise WrongType(
        Param("missing", of="read_table"),
        "a list of strings or numbers",
        type(missing).__name__,
        ("Pass for example ", Param("missing", ["?"])),
    )


def given_kinds(kinds: Mapping[Any, Any] | None, names: Sequence[str]) -> dict[str, Kind | None]:
    """Check what the caller says about columns; a position may stand for a name."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise WrongType(
            Param("kinds", of="read_table"),
            "a mapping of column to kind",
            type(kinds).__name__,
            ("Pass for example ", Param("kinds", {"size": "category"})),
        )
    chosen = {}
    for key, given in kinds.items():
        name = key
        if isinstance(key, int | np.integer) and str(key) not in names:
            name = names[int(key)] if -len(names) <= key < len(names) else str(key)
        name = str(name)
        if name not in names:
            raise InvalidInput(
                Param("kinds", of="read_table"),
                "columns of the table",
                repr(key),
                suggest(name, names),
            )
        chosen[name] = given_kind(name, given)
    return chosen


def _read_again(table: Table, kinds: Mapping[Any, Any] | None, tokens: tuple[Any, ...]) -> Table:
    """Return a table as it is, or with some columns read as another kind."""
    check_shape(len(table), table.shape[1])
    if kinds is None and not tokens:
        return table
    every = {column.name: column for column in table.columns + table.aside}
    chosen = given_kinds(kinds, list(every))
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
            aside.append(set_aside(raw, BY_HAND))
        else:
            (aside if kind.role == "name" else columns).append(convert(raw, kind))
    return make_table(columns, aside, table.missing + tokens)
