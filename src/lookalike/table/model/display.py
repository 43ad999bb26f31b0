"""Which columns of a table are shown first, and a table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike._runtime.text import short
from lookalike.show.html.markup import Html, escape
from lookalike.show.html.notebook import fragment, grid
from lookalike.table.infer.roles import is_row_name

if TYPE_CHECKING:
    from lookalike.table.model.table import Column, Table

ROWS = 5  # rows of a table that are shown
COLUMNS = 12  # columns of a table that are shown


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


def table_html(table: Table) -> str:
    """Return the first rows of a table under the names and kinds of its columns, for a notebook."""
    every = label_first(table)
    shown, rest = every[:COLUMNS], len(every) - COLUMNS
    compared = set(table.names)
    heads = []
    for column in shown:
        kind = column.kind.label if column.name in compared else "set aside"
        mark = f'<span class="quiet" title="{escape(column.kind.reason)}">{escape(kind)}</span>'
        heads.append(Html(f"{escape(short(column.name, 40))}<br/>{mark}"))
    rows = [[short(column.cell(row)) for column in shown] for row in range(min(ROWS, len(table)))]
    title = f"Table: {len(table):,} rows, {len(table.columns)} columns"
    if table.aside:
        title += f", {len(table.aside)} set aside"
    body = grid(heads, rows, numeric=[c.kind.name == "number" for c in shown], caption=title)
    left = [f"{len(table) - ROWS:,} more rows"] if len(table) > ROWS else []
    left += [f"{rest:,} more columns"] if rest > 0 else []
    note = f'<div class="quiet">… {escape(", ".join(left))}</div>' if left else ""
    return fragment(body + note)
