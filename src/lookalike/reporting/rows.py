"""Single rows on a page: a name, and a few cells in the style of their column."""

from __future__ import annotations

from typing import Any

from lookalike._show import short
from lookalike.reasons import Styles
from lookalike.table import Table
from lookalike.table.display import label_first

__all__ = ["RowWriter"]

COLUMNS = 6  # cells of a row that are shown
LONGEST = 40  # letters of a cell


class RowWriter:
    """Writes rows of one table.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self._columns = label_first(table)[:COLUMNS]
        self._styles = Styles(table)
        first = self._columns[0] if self._columns else None
        roles = ("name", "identifier")
        self._has_names = first is not None and (
            first.kind.role in roles or first.kind.name == "text"
        )

    @property
    def heads(self) -> list[str]:
        """The names of the columns that are shown."""
        return [short(column.name, LONGEST) for column in self._columns]

    def cells(self, record: dict[str, Any]) -> list[str]:
        """Return the cells of a row that are shown."""
        out = []
        for column in self._columns:
            cell = record.get(column.name)
            styled = column.kind.name == "number" and cell is not None
            styled = styled and column.name in self._styles
            write = self._styles[column.name].write if styled else None
            out.append(short(cell, LONGEST) if write is None else write(cell))
        return out

    def name(self, record: dict[str, Any], position: int) -> str:
        """Return what a row is called: its name where it has one, else its number."""
        return self.cells(record)[0] if self._has_names else f"row {position}"

    def words(self, record: dict[str, Any]) -> str:
        """Return the cells of a row as one line, without its name."""
        pairs = list(zip(self.heads, self.cells(record), strict=True))[int(self._has_names) :]
        return ", ".join(f"{head} {cell}" for head, cell in pairs[:4])
