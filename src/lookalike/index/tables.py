"""Tables put one under the other, as an index that grows needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lookalike.saving.fields import require
from lookalike.table import Column, Kind, Table
from lookalike.table.infer.kinds import infer
from lookalike.table.model.cells import convert, raw_of_column


def concatenate(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables that were read by one schema.

    Columns that are set aside may be absent from some of the tables, or be of another kind there;
    their cells are then kept as they are.
    """
    if len(tables) == 1:
        return tables[0]
    columns = [_join([table[name] for table in tables]) for name in tables[0].names]
    names = dict.fromkeys(column.name for table in tables for column in table.aside)
    aside = [_join_aside(name, tables) for name in names]
    return Table(columns, aside, sum(map(len, tables)), tables[0].missing)


def _join(columns: Sequence[Column]) -> Column:
    unknown = {code: value for column in columns for code, value in column.unknown.items()}
    values = np.concatenate([column.values for column in columns])
    return Column(columns[0].name, columns[0].kind, values, unknown)


def _join_aside(name: str, tables: Sequence[Table]) -> Column:
    found = [next((c for c in table.aside if c.name == name), None) for table in tables]
    present = [column for column in found if column is not None]
    first = present[0].kind
    alike = all(
        (column.kind.name, column.kind.levels, column.kind.source, column.kind.width)
        == (first.name, first.levels, first.source, first.width)
        for column in present
    )
    if alike and len(present) == len(tables):
        return _join(present)
    cells = np.empty(sum(map(len, tables)), dtype=object)
    at = 0
    for table, column in zip(tables, found, strict=True):
        for row in range(len(table) if column is not None else 0):
            cells[at + row] = column.cell(row)  # type: ignore[union-attr]
        at += len(table)
    return Column(name, Kind("object", first.reason), cells)


def learn_levels(table: Table) -> Table:
    """Return the table with categories and levels that were new among the known ones.

    Levels of an order that was guessed stay new where nothing says what their place is.
    """
    columns = [_learn(column) if column.unknown else column for column in table]
    return Table(columns, table.aside, len(table), table.missing)


def _learn(column: Column) -> Column:
    raw = raw_of_column(column)
    if column.kind.name == "order":
        kind = infer(raw).kind
        return convert(raw, kind) if kind.name == "order" else column
    return convert(raw, replace(column.kind, levels=()))


def check_alike(table: Table, first: Table, where: str) -> None:
    """Refuse loaded rows that could not be joined with the first ones."""
    for some, others in ((table.columns, first.columns), (table.aside, first.aside)):
        mine = [(c.name, c.kind.name, c.values.shape[1:], c.values.dtype.kind) for c in some]
        theirs = [(c.name, c.kind.name, c.values.shape[1:], c.values.dtype.kind) for c in others]
        require(mine == theirs, where, "the columns of the first segment", "others")
