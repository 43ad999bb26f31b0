"""What the commands write: tables for people, CSV and JSON for programs, notes on standard error.

Standard output holds the answer and nothing else, so that it can be piped on.
"""

from __future__ import annotations

import csv
import json
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
    "say",
    "speaks_unicode",
    "warn",
    "write_csv",
    "write_json",
]


class Output(StrEnum):
    """Forms an answer can take."""

    table = "table"
    csv = "csv"
    json = "json"


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


def say(console: Console, text: str) -> None:
    """Print a quiet line beside a table."""
    console.print(clean(text), style="dim", markup=False)


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


def cells(texts: Iterable[str]) -> list[Text]:
    """Return texts as cells of a grid; a square bracket in them is a bracket, not a style."""
    from rich.text import Text

    return [Text(text) for text in texts]


# -- files for programs ---------------------------------------------------------------------------


def speaks_unicode() -> bool:
    """Whether standard output can hold every letter."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def write_json(answer: Any) -> None:
    """Write an answer as one JSON document."""
    text = json.dumps(plain(answer), ensure_ascii=not speaks_unicode(), indent=2, allow_nan=False)
    sys.stdout.write(text)
    sys.stdout.write("\n")
    sys.stdout.flush()  # a reader that went away is noticed here, not at the end of the process


def write_csv(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write an answer as CSV; a missing cell is empty, a list or a mapping is JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_field(cell) for cell in row] for row in rows)
    sys.stdout.flush()


def _field(cell: Any) -> Any:
    cell = plain(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict) else cell
