"""How hits are laid out on a terminal: one line per row, its reasons below it or beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lookalike._runtime.text import clean, short
from lookalike.show.reasons import Reason, Styles
from lookalike.table import Column, Table
from lookalike.table.model.display import label_first

if TYPE_CHECKING:
    from rich.text import Text

    from lookalike.index import Hit, Hits

BESIDE = 160  # width from which reasons stand beside a row
REASONS = 78  # characters that are kept for them there
LABEL = 0.4  # share of the width that the first column, which names the rows, may take
LONGEST = 28  # characters of a cell in any other column
GAP = 2  # spaces between columns
SIGNS = ("+ ", "- ")
LEAST = 12  # characters of a reason that are worth showing


class Layout:
    """Rows found, as lines of a given width.

    Parameters
    ----------
    hits : Hits
    table : Table
        Whose columns are shown.
    width : int
        Of the terminal.
    why : bool
        Whether to show reasons.
    only : names of the columns to show, instead of as many as fit

    Attributes
    ----------
    left : names of the columns for which there was no room
    """

    def __init__(
        self, hits: Hits, table: Table, width: int, *, why: bool, only: Sequence[str] = ()
    ) -> None:
        self.hits, self.why = hits, why
        self.width = width
        self.beside = why and width >= BESIDE
        self.styles = Styles(table)
        # With reasons, which add up to the similarity, the distance makes room.
        self.numbers = ("row", "similarity") if why else ("row", "distance", "similarity")
        ours = [self._ours(hit) for hit in hits]
        self.widths = [
            max(map(_length, [name, *(line[at] for line in ours)]))
            for at, name in enumerate(self.numbers)
        ]
        room = width - 1 - sum(self.widths) - GAP * len(self.widths)
        room -= (REASONS + GAP) if self.beside else 0
        self.columns, self.left = self._choose(table, only, room)
        used = 1 + sum(self.widths) + GAP * len(self.widths)
        self.indent = self.widths[0] + GAP + 1
        self.room = width - (used if self.beside else self.indent) - 1  # for a line of reasons

    def lines(self, row: int | None) -> Iterator[Text]:
        """Yield headings, the row that was asked about, and each row found with its reasons.

        Parameters
        ----------
        row : int or None
            The row that was asked about.
        """
        from rich.text import Text

        names = [short(c.name, self._longest(first=at == 0)) for at, c in enumerate(self.columns)]
        heads = [*self.numbers, *names]
        beside = "why: + for, - against" if self.beside else ""
        yield Text(self._join(heads, beside).rstrip(), "bold")
        start = ["" if row is None else str(row), *[""] * (len(self.numbers) - 1)]
        yield Text(self._join([*start, *self._cells(self.hits.query)]).rstrip(), "bold")
        rule = sum(self.widths) + GAP * (len(self.widths) - 1)
        yield Text(" " + "─" * min(rule + (REASONS if self.beside else 0), self.width - 2), "dim")
        for hit in self.hits:
            yield from self._hit(hit)

    def _hit(self, hit: Hit) -> Iterator[Text]:
        from rich.text import Text

        line = Text(self._join([*self._ours(hit), *self._cells(hit.row)]))
        reasons = self._reasons(hit) if self.why else []
        if not self.beside:
            line.rstrip()
            yield line
            yield from (Text(" " * self.indent + reason, "dim") for reason in reasons)
            return
        start = line.cell_len
        for at, reason in enumerate(reasons or ["–"]):
            first = line if at == 0 else Text(" " * start)
            yield first + Text(" " * GAP + reason, "dim")

    def _reasons(self, hit: Hit) -> list[str]:
        """Return a line for what speaks for the row and one for what speaks against it."""
        sides = zip(SIGNS, hit.phrases(), strict=True)
        return [sign + _fill(side, self.room - len(sign)) for sign, side in sides if side]

    def _ours(self, hit: Hit) -> list[str]:
        values = {
            "row": short(hit.id),
            "distance": _number(hit.distance),
            "similarity": "–" if hit.similarity is None else f"{hit.similarity:.3f}",
        }
        return [values[name] for name in self.numbers]

    def _choose(
        self, table: Table, only: Sequence[str], room: int
    ) -> tuple[list[Column], list[str]]:
        """Choose the columns that fit, those that name a row before the others."""
        shown: list[Column] = []
        left: list[str] = []
        wanted = [table[name] for name in only] or label_first(table)
        rows = [self.hits.query, *(hit.row for hit in self.hits)]
        for column in wanted:
            longest = self._longest(first=not shown)
            cells = [self._cell(column, r[column.name], longest) for r in rows if column.name in r]
            head = short(column.name, longest)
            width = max(map(_length, [head, *cells]))
            if shown and not only and width + GAP > room:
                left.append(column.name)
            else:
                shown.append(column)
                self.widths.append(width)
                room -= width + GAP
        return shown, left

    def _longest(self, *, first: bool) -> int:
        """Return how many characters a cell may have: the first column may be wider."""
        return max(8, int(LABEL * self.width)) if first else LONGEST

    def _cells(self, row: Mapping[str, object]) -> list[str]:
        """Return the cells of a row that are shown; of a record, those that it has."""
        return [
            self._cell(c, row[c.name], self._longest(first=at == 0)) if c.name in row else ""
            for at, c in enumerate(self.columns)
        ]

    def _cell(self, column: Column, cell: object, longest: int) -> str:
        if column.kind.name == "number" and cell is not None:
            style = self.styles[column.name]
            return style.write(cell, unit=style.unit == "%")
        return short(cell, longest)

    def _join(self, cells: Sequence[str], more: str = "") -> str:
        numbers = len(self.numbers)
        words = []
        for at, (cell, width) in enumerate(zip(cells, self.widths, strict=True)):
            space = " " * (width - _length(cell))
            right = at < numbers or self.columns[at - numbers].kind.name == "number"
            words.append(space + cell if right else cell + space)
        return " " + (" " * GAP).join([*words, *([more] if more else [])])


def _fill(reasons: Sequence[Reason], room: int) -> str:
    """Put reasons on one line, the strongest first; the last that does not fit is cut or left."""
    line = ""
    for reason in reasons:
        start = f"{line}; " if line else ""
        free = room - _length(start)
        if _length(reason.text) <= free:
            line = start + reason.text
        elif not line:
            return short(reason.text, max(free, LEAST))
        else:
            break
    return line


def _length(text: str) -> int:
    """Return how many columns a text takes on a terminal; some letters take two."""
    from rich.cells import cell_len

    return cell_len(clean(text))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
