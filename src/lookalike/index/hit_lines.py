"""Layout of hits on a terminal: one line per row, its reasons below it or beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lookalike._runtime.text import clean, short
from lookalike.index.hits import Hit, Hits, shown
from lookalike.show.reasons import Reason, Styles
from lookalike.table import Column, Table

if TYPE_CHECKING:
    from rich.text import Text

# All chosen by hand.
MIN_WIDTH_FOR_SIDE_REASONS = 160  # from here reasons are beside a row, else below it
REASONS_WIDTH = 78  # characters for reasons beside a row
LABEL_SHARE = 0.4  # share of the width that the first column, the label of the rows, may take
MAX_CELL_WIDTH = 28  # characters of a cell in any other column
GAP = 2  # spaces between columns
SIGNS = ("+ ", "- ")
MIN_REASON_WIDTH = 12  # characters of a reason that are worth showing


class HitLines:
    """Hits as lines of a given width.

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
    left : names of the columns that do not fit
    """

    def __init__(
        self, hits: Hits, table: Table, width: int, *, why: bool, only: Sequence[str] = ()
    ) -> None:
        self.hits, self.why, self.width = hits, why, width
        self.beside = why and width >= MIN_WIDTH_FOR_SIDE_REASONS
        self.styles = Styles(table)
        # Reasons add up to the similarity: with them the distance is left out, to save space.
        # Rows are ordered by the score where it is not the distance.
        second = "score" if hits.by_score else "" if why else "distance"
        last = "compared" if hits.has_gaps else ""
        self.numbers = tuple(filter(None, ("row", second, "similarity", last)))
        lines: list[Sequence[str]] = [self.numbers, *map(self._ours, hits)]
        self.widths = [max(map(_length, column)) for column in zip(*lines, strict=True)]
        free = width - self._used() - ((REASONS_WIDTH + GAP) if self.beside else 0)
        self.columns, self.left = self._choose(table, only, free)
        self.indent = self.widths[0] + GAP + 1
        self.reason_width = width - (self._used() if self.beside else self.indent) - 1

    def _used(self) -> int:
        return 1 + sum(self.widths) + GAP * len(self.widths)

    def lines(self, row: int | None) -> Iterator[Text]:
        """Yield headings, the query, and each row found with its reasons.

        Parameters
        ----------
        row : id of the query, None for a record
        """
        from rich.text import Text

        names = [short(c.name, self._longest(first=i == 0)) for i, c in enumerate(self.columns)]
        heads = [*self.numbers, *names]
        beside = "why: + for, - against" if self.beside else ""
        yield Text(self._join(heads, beside).rstrip(), "bold")
        start = ["" if row is None else str(row), *[""] * (len(self.numbers) - 1)]
        yield Text(self._join([*start, *self._cells(self.hits.query)]).rstrip(), "bold")
        rule = self._used() - 1 - GAP + (REASONS_WIDTH if self.beside else 0)
        yield Text(" " + "─" * min(rule, self.width - 2), "dim")
        for hit in self.hits:
            yield from self._hit(hit)

    def _hit(self, hit: Hit) -> Iterator[Text]:
        from rich.text import Text

        line = Text(self._join([*self._ours(hit), *self._cells(hit.row)]))
        # A line for what speaks for the row, and one for what speaks against it.
        both = zip(SIGNS, hit.phrases() if self.why else (), strict=False)
        free = self.reason_width - len(SIGNS[0])
        reasons = [sign + _fill(side, free) for sign, side in both if side]
        if not self.beside:
            line.rstrip()
            yield line
            yield from (Text(" " * self.indent + reason, "dim") for reason in reasons)
            return
        start = line.cell_len
        for i, reason in enumerate(reasons or ["–"]):
            first = line if i == 0 else Text(" " * start)
            yield first + Text(" " * GAP + reason, "dim")

    def _ours(self, hit: Hit) -> list[str]:
        values = hit.texts(".4g") | {
            "row": short(hit.id),
            "similarity": shown(hit.similarity, ".3f"),
        }
        return [values[name] for name in self.numbers]

    def _choose(
        self, table: Table, only: Sequence[str], free: int
    ) -> tuple[list[Column], list[str]]:
        """Choose the columns that fit, those that name a row before the others."""
        shown: list[Column] = []
        left: list[str] = []
        rows = [self.hits.query, *(hit.row for hit in self.hits)]
        for column in [table[name] for name in only] or self.hits.shown_columns(table):
            longest = self._longest(first=not shown)
            cells = [self._cell(column, r[column.name], longest) for r in rows if column.name in r]
            width = max(map(_length, [short(column.name, longest), *cells]))
            if shown and not only and width + GAP > free:
                left.append(column.name)
            else:
                shown.append(column)
                self.widths.append(width)
                free -= width + GAP
        return shown, left

    def _longest(self, *, first: bool) -> int:
        """Return how many characters a cell may have: the first column may be wider."""
        return max(8, int(LABEL_SHARE * self.width)) if first else MAX_CELL_WIDTH

    def _cells(self, row: Mapping[str, object]) -> list[str]:
        """Return the cells of a row that are shown; of a record, those that it has."""
        return [
            self._cell(c, row[c.name], self._longest(first=i == 0)) if c.name in row else ""
            for i, c in enumerate(self.columns)
        ]

    def _cell(self, column: Column, cell: object, longest: int) -> str:
        if column.kind.name == "number" and cell is not None:
            style = self.styles[column.name]
            return style.write(cell, unit=style.unit == "%")
        return short(cell, longest)

    def _join(self, cells: Sequence[str], more: str = "") -> str:
        numbers = len(self.numbers)
        words = []
        for i, (cell, width) in enumerate(zip(cells, self.widths, strict=True)):
            space = " " * (width - _length(cell))
            right = i < numbers or self.columns[i - numbers].kind.name == "number"
            words.append(space + cell if right else cell + space)
        return " " + (" " * GAP).join([*words, *([more] if more else [])])


def _fill(reasons: Sequence[Reason], width: int) -> str:
    """Join reasons that fit on one line, the strongest first; the first one is cut if need be."""
    line = ""
    for reason in reasons:
        start = f"{line}; " if line else ""
        free = width - _length(start)
        if _length(reason.text) <= free:
            line = start + reason.text
        elif not line:
            return short(reason.text, max(free, MIN_REASON_WIDTH))
        else:
            break
    return line


def _length(text: str) -> int:
    """Return the width of a text on a terminal, where some letters take two cells."""
    from rich.cells import cell_len

    return cell_len(clean(text))
