"""A table for people and for other libraries: columns in order, rows as lines, HTML, frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.frames import make_frame
from lookalike._runtime.text import plain, short
from lookalike.show.html.document import fragment, grid
from lookalike.show.html.markup import Html, escape
from lookalike.show.layout import cut
from lookalike.table.infer.roles import is_row_name
from lookalike.table.model.table import CODED

if TYPE_CHECKING:
    from lookalike.table.model.table import Column, Table

# Rows of a table that are shown.
MAX_SHOWN_ROWS = 5
# Columns of a table that are shown.
MAX_SHOWN_COLUMNS = 12
# Characters of a cell in a row that is written as one line.
MAX_CELL_CHARACTERS = 24


def label_first(table: Table) -> list[Column]:
    """Return all columns in the order to show them: those that name a row come first.

    A title says more than a number that is only an identifier; what is the same in all rows, or
    counts them, comes last.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table(
    ...     {"x": [1.0, 2.0], "title": ["one film", "two films"]}, kinds={"title": "aside"}
    ... )
    >>> [column.name for column in label_first(table)]
    ['title', 'x']
    """

    def rank(column: Column) -> int:
        kind = column.kind
        if kind.role in ("constant", "empty", "copy") or is_row_name(column.name):
            return 4
        if kind.role == "name" or kind.name == "text":
            return 0
        if kind.role == "identifier" or kind.reason.startswith("identifier"):
            return 1
        return 2 + (column.name not in table)

    # Sorting is stable: within a rank the columns stay in the order of the table.
    return sorted(table.aside + table.columns, key=rank)


def name_row(table: Table, row: int, id: object) -> str:
    """Name a row, by its position: its id, behind its name where a column names the rows."""
    first, text = label_first(table)[0], short(id)
    named = first.kind.role == "name" and not first.missing[row]
    return f"{short(first.cell(row), MAX_CELL_CHARACTERS)} ({text})" if named else text


def write_row(table: Table, row: int, width: int) -> str:
    """Write a row, by its position, as one line: the column that names it, then its other cells.

    Cells are cut at ``MAX_CELL_CHARACTERS``, unless the width allows all of them to be longer.
    """
    record = table.record(row)
    known = [(c.name, record[c.name]) for c in label_first(table) if c.name in record]
    filled = [(name, cell) for name, cell in known if cell is not None]
    names = sum(len(name) + 3 for name, _ in filled)
    longest = max(MAX_CELL_CHARACTERS, (width - names) // max(1, len(filled)))
    return cut(", ".join(f"{n} {short(cell, longest)}" for n, cell in filled), width)


def record_columns(
    table: Table, positions: Sequence[int], ours: Sequence[str]
) -> dict[str, list[Any]]:
    """Return the cells of some rows by column; a column with one of our names gets a prefix.

    Parameters
    ----------
    table : Table
    positions : of the rows
    ours : names of the columns that stand before those of the table
    """
    return {
        f"table.{column.name}" if column.name in ours else column.name: [
            column.cell(row) for row in positions
        ]
        for column in table.aside + table.columns
    }


def table_html(table: Table) -> str:
    """Return the first rows of a table under the names and kinds of its columns, for a notebook."""
    every = label_first(table)
    shown, rest = every[:MAX_SHOWN_COLUMNS], len(every) - MAX_SHOWN_COLUMNS
    compared = set(table.names)
    heads = []
    for column in shown:
        kind = column.kind.label if column.name in compared else "set aside"
        mark = f'<span class="quiet" title="{escape(column.kind.reason)}">{escape(kind)}</span>'
        heads.append(Html(f"{escape(short(column.name, 40))}<br/>{mark}"))
    rows = [
        [short(column.cell(row)) for column in shown]
        for row in range(min(MAX_SHOWN_ROWS, len(table)))
    ]
    title = f"Table: {len(table):,} rows, {len(table.columns)} columns"
    if table.aside:
        title += f", {len(table.aside)} set aside"
    body = grid(heads, rows, numeric=[c.kind.name == "number" for c in shown], caption=title)
    left = [f"{len(table) - MAX_SHOWN_ROWS:,} more rows"] if len(table) > MAX_SHOWN_ROWS else []
    left += [f"{rest:,} more columns"] if rest > 0 else []
    note = f'<div class="quiet">… {escape(", ".join(left))}</div>' if left else ""
    return fragment(body + note)


# Kinds whose cells are lists.
LIST_KINDS = ("series", "histogram", "vector", "sequence", "set")


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
    if kind.name in LIST_KINDS:
        return _each(_list, cells)
    return cells if backend == "pandas" else _of_one_type(kind.name, cells)


def _of_one_type(kind: str, cells: list[Any]) -> list[Any]:
    """Return cells as polars and Arrow take them: text where they are of several types."""
    types = {type(cell) for cell in cells} - {type(None)}
    if kind in CODED and len(types) > 1:  # 1 beside "one"
        return _each(str, cells)
    if kind in ("graph", "object") and not (len(types) <= 1 and types <= {str, int, float, bool}):
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
