"""What the commands write: tables for people, CSV and JSON for programs, notes on standard error.

Standard output holds the answer and nothing else, so that it can be piped on.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lookalike._show import clean, plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

__all__ = [
    "Output",
    "cells",
    "complain",
    "grid",
    "headline",
    "make_console",
    "note",
    "on_terminal",
    "say",
    "speaks_unicode",
    "warn",
    "write_csv",
    "write_json",
]


ODD = re.compile(r"[^\n -~]")  # beyond ASCII, where letters are that cannot be shown
FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # with these a spreadsheet begins a formula


class Output(StrEnum):
    """Forms an answer can take."""

    table = "table"
    csv = "csv"
    safe_csv = "safe-csv"
    json = "json"

    @property
    def is_csv(self) -> bool:
        """Whether the answer is lines of cells, of either kind."""
        return self in (Output.csv, Output.safe_csv)


# -- lines on standard error ----------------------------------------------------------------------


def complain(text: str) -> None:
    """Say in one red line what is wrong."""
    _line(text, "bold red")


def warn(text: str) -> None:
    """Say in one yellow line what is worth knowing."""
    _line(text, "yellow")


def note(text: str) -> None:
    """Say in one quiet line what is going on."""
    _line(text, "dim")


def _line(text: str, style: str) -> None:
    from rich.console import Console
    from rich.text import Text

    # Soft wrapping leaves the breaking of long lines to the terminal: the line stays one line.
    Console(stderr=True).print(Text(clean(text), style), soft_wrap=True)


# -- tables for people ----------------------------------------------------------------------------


def make_console() -> Console:
    """Return the console that tables are written to."""
    from rich.console import Console

    return Console(highlight=False)


def say(console: Console, text: str, style: str = "dim") -> None:
    """Print a line beside a table, a quiet one if not told otherwise."""
    console.print(clean(text), style=style, markup=False)


def headline(console: Console, text: str) -> None:
    """Print the line above a table."""
    from rich.text import Text

    console.print(Text(clean(text), "bold"), soft_wrap=True)


def grid(heads: Sequence[tuple[str, str]]) -> Grid:
    """Return an empty table for people.

    Parameters
    ----------
    heads : pairs of a heading and "left", "right" or "fold"
        Where cells are put; a folding column takes several lines instead of being cut.
    """
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head, place in heads:
        fold = place == "fold"
        table.add_column(
            Text(clean(head)),
            justify="right" if place == "right" else "left",
            no_wrap=not fold,
            overflow="fold" if fold else "ellipsis",
        )
    return table


def cells(texts: Iterable[str | Sequence[str]]) -> list[Text]:
    """Return texts as cells of a grid; a square bracket in them is a bracket, not a style.

    Parameters
    ----------
    texts : texts, or sequences of texts
        A sequence takes a line for each of its texts; a line break within one is a space.
    """
    from rich.text import Text

    lines = ([text] if isinstance(text, str) else text for text in texts)
    return [Text("\n".join(map(clean, some))) for some in lines]


# -- files for programs ---------------------------------------------------------------------------


def speaks_unicode() -> bool:
    """Whether standard output can hold every letter."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def on_terminal() -> bool:
    """Whether standard output is looked at, not read by a program."""
    return sys.stdout.isatty()


def write_json(answer: Any) -> None:
    """Write an answer as one JSON document."""
    text = json.dumps(plain(answer), ensure_ascii=not speaks_unicode(), indent=2, allow_nan=False)
    sys.stdout.write(ODD.sub(_escape, text))
    sys.stdout.write("\n")
    sys.stdout.flush()  # a reader that went away is noticed here, not at the end of the process


def _escape(found: re.Match[str]) -> str:
    """Write a letter that cannot be shown, such as a C1 code, as JSON writes control codes."""
    letter = found[0]
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def write_csv(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], form: Output = Output.csv
) -> None:
    """Write an answer as CSV; a missing cell is empty, a list or a mapping is JSON.

    Cells are written as they are, for a program to read. A terminal gets no control characters,
    and the safe form has no text that a spreadsheet takes for a formula.
    """
    writer = csv.writer(sys.stdout, lineterminator="\n")
    shown = on_terminal()

    def field(cell: Any) -> Any:
        cell = plain(cell)
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, list | dict):
            cell = json.dumps(cell, ensure_ascii=False)
        if not isinstance(cell, str):
            return cell
        if form is Output.safe_csv and cell.startswith(FORMULA):
            cell = f"'{cell}"
        if shown:
            return clean(cell)
        # A lone surrogate is in no encoding: written as Python writes it.
        return cell.encode("utf-8", "backslashreplace").decode("utf-8")

    writer.writerow(map(field, heads))
    writer.writerows([field(cell) for cell in row] for row in rows)
    sys.stdout.flush()
