"""Single rows on a page: a name, and a few cells in the style of their column."""

from __future__ import annotations

from typing import Any

from lookalike._runtime.text import short
from lookalike.show.reasons import Styles
from lookalike.table import Table
from lookalike.table.model.display import label_first

MANY = 20  # items from which a set or a list is not told in a line
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

    @property
    def numbers(self) -> list[bool]:
        """Which of the columns that are shown hold numbers."""
        return [column.kind.name == "number" for column in self._columns]

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
        every = list(zip(self._columns, self.heads, self.cells(record), strict=True))
        pairs = [
            f"{head} {cell}"
            for column, head, cell in every[int(self._has_names) :]
            if _says_much(record.get(column.name))
        ]
        return ", ".join(pairs[:4])


def _says_much(cell: Any) -> bool:
    """Whether a cell is told in a line: a gap says nothing about a row, and a list too much."""
    if cell is None:
        return False
    return not isinstance(cell, set | frozenset | list | tuple) or len(cell) <= MANY
