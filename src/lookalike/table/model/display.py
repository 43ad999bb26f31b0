"""A table for people and for other libraries: columns in order, rows as lines, HTML, frames."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lookalike._runtime.frames import make_frame
from lookalike._runtime.text import plain, short
from lookalike.show.html.document import fragment
from lookalike.show.html.markup import Html, escape
from lookalike.show.html.markup import table as html_table
from lookalike.show.layout import cut
from lookalike.table.model.cells import LISTS
from lookalike.table.model.labels import MAX_CELL_CHARACTERS, label_first
from lookalike.table.model.table import CODED, Column, Table

# Rows of a table that are shown.
MAX_SHOWN_ROWS = 5
# Columns of a table that are shown.
MAX_SHOWN_COLUMNS = 12


def filled_rows(table: Table) -> np.ndarray:
    """Return which rows may represent others: those with at most half of their cells missing.

    All rows where there is no such row.
    """
    missing = sum((column.missing.astype(int) for column in table), np.zeros(len(table)))
    filled = 2 * missing <= len(table.columns)
    return np.asarray(filled if filled.any() else ~filled)


def write_row(table: Table, row: int, width: int) -> str:
    """Write a row, by its position, as one line: the column that names it, then its other cells.

    Cells are cut at ``MAX_CELL_CHARACTERS``, unless the width allows all of them to be longer.
    """
    record = table.record(row)
    known = ((column.name, record[column.name]) for column in label_first(table))
    filled = [(name, cell) for name, cell in known if cell is not None]
    names = sum(len(name) + 3 for name, _ in filled)
    longest = max(MAX_CELL_CHARACTERS, (width - names) // max(1, len(filled)))
    return cut(", ".join(f"{n} {short(cell, longest)}" for n, cell in filled), width)


def record_columns(table: Table, rows: Sequence[int], ours: Sequence[str]) -> dict[str, list[Any]]:
    """Return the cells of some rows by column; a column with one of our names gets a prefix.

    Parameters
    ----------
    table : Table
    rows : positions of the rows
    ours : names of the columns that stand before those of the table
    """
    return {
        ("table." if c.name in ours else "") + c.name: [c.cell(row) for row in rows]
        for c in table.aside + table.columns
    }


def table_html(table: Table) -> str:
    """Return the first rows of a table under the names and kinds of its columns, for a notebook."""
    shown = label_first(table)[:MAX_SHOWN_COLUMNS]
    heads = []
    for column in shown:
        kind = column.kind.label if column.name in table else "set aside"
        mark = f'<span class="quiet" title="{escape(column.kind.reason)}">{escape(kind)}</span>'
        heads.append(Html(f"{escape(short(column.name, 40))}<br/>{mark}"))
    first = range(min(MAX_SHOWN_ROWS, len(table)))
    rows = [[short(column.cell(row)) for column in shown] for row in first]
    title = f"Table: {len(table):,} rows, {len(table.columns)} columns"
    if table.aside:
        title += f", {len(table.aside)} set aside"
    text = [i for i, column in enumerate(shown) if column.kind.name != "number"]
    more = {"rows": len(table) - len(rows), "columns": len(table.every) - len(shown)}
    left = ", ".join(f"{count:,} more {what}" for what, count in more.items() if count)
    note = f'<div class="quiet">… {left}</div>' if left else ""
    return fragment(html_table(rows, heads, title, text=text) + note)


def frame_of(table: Table, backend: str) -> Any:
    """Return the cells of a table as a data frame.

    Parameters
    ----------
    table : Table
    backend : {"pandas", "polars", "pyarrow"}
    """
    columns = {column.name: _cells(column, backend) for column in table.columns + table.aside}
    if columns or backend != "pandas":
        return make_frame(columns, backend)
    import pandas as pd

    return pd.DataFrame(index=range(len(table)))


def _cells(column: Column, backend: str) -> Any:
    """Return a column as a frame takes it."""
    kind = column.kind
    if kind.name == "number" and kind.source == "" and backend == "pandas":
        # As they are: pandas takes NaN for a missing cell.
        return column.values
    cells = [column.cell(row) for row in range(len(column))]
    if kind.name in LISTS:
        return _each(_list, cells)
    if backend == "pandas":
        return cells
    # Polars and Arrow take cells of one type.
    types = {type(cell) for cell in cells} - {type(None)}
    if kind.name in CODED and len(types) > 1:  # 1 beside "one"
        return _each(str, cells)
    simple = len(types) <= 1 and types <= {str, int, float, bool}
    if kind.name in ("graph", "object") and not simple:
        return _each(lambda cell: str(plain(cell)), cells)
    return cells


def _each(make: Callable[[Any], Any], cells: list[Any]) -> list[Any]:
    return [None if cell is None else make(cell) for cell in cells]


def _list(cell: Any) -> list[Any]:
    if isinstance(cell, np.ndarray):
        return list(cell.tolist())
    if isinstance(cell, frozenset | set):
        return list(plain(cell))
    return [list(plain(item)) if isinstance(item, frozenset) else item for item in cell]
