"""What the commands write: tables for people, CSV and JSON for programs, notes on standard error.

Standard output holds the answer and nothing else, so that it can be piped on.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

__all__ = [
    "Output",
    "cells",
    "clean",
    "complain",
    "grid",
    "headline",
    "note",
    "paper",
    "plain",
    "short",
    "spark",
    "speaks_unicode",
    "warn",
    "write_csv",
    "write_json",
]

LONGEST = 28  # characters of a cell in a table for people


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


def paper() -> Console:
    """Return the console that tables are written on."""
    from rich.console import Console

    return Console(highlight=False)


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


def short(cell: Any, longest: int = LONGEST) -> str:
    """Write a cell in a few characters, for people.

    Examples
    --------
    >>> short(1977.0), short(frozenset({"b", "a"})), short(None)
    ('1977', 'a, b', '–')
    """
    if cell is None:
        return "–"
    cell = plain(cell)
    if isinstance(cell, float):
        text = f"{cell:.6g}"
    elif isinstance(cell, list) and all(isinstance(item, str) for item in cell):
        text = ", ".join(cell) or "(none)"
    elif isinstance(cell, list) and all(isinstance(item, int | float) for item in cell):
        text = spark(cell, longest) if len(cell) > 3 else " ".join(f"{x:.3g}" for x in cell)
    elif isinstance(cell, list | dict):
        text = json.dumps(cell, ensure_ascii=False)
    else:
        text = str(cell)
    text = clean(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def spark(values: Sequence[float], longest: int = LONGEST) -> str:
    """Draw numbers as a row of bars, from 0 (or the lowest, if below) to the highest.

    Examples
    --------
    >>> spark([0, 1, 2, 4, 8])
    '▁▂▃▅█'
    """
    if len(values) > longest:  # neighbors are drawn as one bar, at their mean
        ends = [len(values) * i // longest for i in range(longest + 1)]
        parts = [values[ends[i] : ends[i + 1]] for i in range(longest)]
        values = [sum(part) / len(part) for part in parts]
    low = min(0.0, *values)
    span = max(values) - low
    heights = [int(8 * (value - low) / span) if span > 0 else 0 for value in values]
    return "".join("▁▂▃▄▅▆▇█"[min(height, 7)] for height in heights)


def clean(text: str) -> str:
    r"""Replace what a terminal would obey instead of show: line breaks and control characters.

    Examples
    --------
    >>> clean("one\ntwo \x1b[31m")
    'one two  [31m'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


# -- files for programs ---------------------------------------------------------------------------


def plain(cell: Any) -> Any:
    """Return a cell as something JSON can hold.

    Whole numbers lose their point, sets become sorted lists, dates are written in ISO form,
    durations in seconds, graphs as nodes and edges; what JSON has no word for becomes text.

    Examples
    --------
    >>> import datetime as dt
    >>> plain(1977.0), plain(frozenset({"b", "a"})), plain(dt.datetime(2005, 1, 2))
    (1977, ['a', 'b'], '2005-01-02')
    """
    if cell is None or isinstance(cell, bool | str | int):
        return cell
    if isinstance(cell, float):
        if cell != cell:
            return None
        if abs(cell) == float("inf"):
            return "inf" if cell > 0 else "-inf"
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, dt.timedelta):
        return plain(cell.total_seconds())
    if isinstance(cell, frozenset | set):
        return sorted(map(plain, cell), key=lambda item: (str(type(item)), str(item)))
    if isinstance(cell, Mapping):
        return {str(key): plain(value) for key, value in cell.items()}
    if hasattr(cell, "nodes") and hasattr(cell, "edges"):
        return {"nodes": plain(cell.nodes), "edges": plain(cell.edges)}
    if hasattr(cell, "tolist"):
        return plain(cell.tolist())
    if isinstance(cell, Iterable) and not isinstance(cell, bytes):
        return [plain(item) for item in cell]
    return str(cell)


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
