"""What the commands write: tables for people, CSV and JSON for programs, notes on standard error.

Standard output holds the answer and nothing else, so that it can be piped on.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import clean, plain
from lookalike.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

ODD = re.compile(r"[^\n -~]")  # beyond ASCII, where letters are that cannot be shown
GAP = 2  # characters between the columns of a table for people
FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # with these a spreadsheet begins a formula


class Output(StrEnum):
    """Forms an answer can take."""

    table = "table"
    csv = "csv"
    safe_csv = "safe-csv"
    json = "json"
    parquet = "parquet"

    @property
    def is_csv(self) -> bool:
        """Whether the answer is lines of cells, of either kind."""
        return self in (Output.csv, Output.safe_csv)


# -- lines on standard error ----------------------------------------------------------------------

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet(wanted: bool) -> Iterator[None]:
    """Leave out notes and warnings inside this block, if that is wanted."""
    before = _quiet.set(wanted)
    try:
        yield
    finally:
        _quiet.reset(before)


def complain(text: str) -> None:
    """Say in one red line what is wrong."""
    _line(text, "bold red")


def warn(text: str) -> None:
    """Say in one yellow line what is worth knowing."""
    if not _quiet.get():
        _line(text, "yellow")


def note(text: str) -> None:
    """Say in one quiet line what is going on."""
    if not _quiet.get():
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


def say(console: Console, text: str, style: str = "dim", indent: int = 0) -> None:
    """Print a line beside a table, a quiet one if not told otherwise.

    Parameters
    ----------
    console : where to print
    text : str
    style : str, of rich
    indent : int
        Characters that all its lines are moved to the right by, where it takes several.
    """
    from rich.text import Text

    if indent:  # not rich's padding, which fills every line with spaces up to the edge
        for line in Text(clean(text), style).wrap(console, max(20, console.width - indent)):
            line.rstrip()
            console.print(Text(" " * indent) + line, soft_wrap=True)
    else:
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


def cut(text: str, room: int) -> str:
    """Cut a text at so many places of a line; some letters take two.

    Examples
    --------
    >>> cut("a dog and a cat", 9), cut("犬と猫", 5), cut("犬", 5)
    ('a dog an…', '犬と…', '犬')
    """
    from rich.cells import cell_len, set_cell_size

    text = clean(text)
    return text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


def fitting(
    heads: Sequence[str], rows: Sequence[Sequence[str]], room: int, least: Sequence[str]
) -> list[int]:
    """Return which columns of a table fit into a line, in their order.

    Parameters
    ----------
    heads, rows
        The table; its first column always stays.
    room : int
        Characters of a line.
    least : headings that may go, the first to go first
    """
    wide = {
        head: max(len(head), *(len(row[at]) for row in rows), 0) + GAP
        for at, head in enumerate(heads)
    }
    kept = list(heads)  # one character is left free at either end
    for head in least:
        if sum(wide[one] for one in kept) + 2 <= room:
            break
        if head in kept:
            kept.remove(head)
    return [heads.index(head) for head in kept]


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


def write(
    form: Output, heads: Sequence[str], rows: Iterable[Sequence[Any]], document: Callable[[], Any]
) -> None:
    """Write an answer for a program.

    Parameters
    ----------
    form : Output, any but the table for people
    heads, rows
        The answer as lines of cells.
    document : function that returns the answer as JSON has it
    """
    if form is Output.json:
        write_json(document())
    elif form is Output.parquet:
        write_parquet(heads, rows)
    else:
        write_csv(heads, rows, form)


def write_parquet(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write an answer as a Parquet file; a mapping is JSON, a column of several types is text."""
    import io

    import pyarrow as pa
    import pyarrow.parquet

    if on_terminal():
        hint = "Send it to a file: ... --output parquet > answer.parquet"
        raise InvalidInput("--output parquet", "a file or a pipe", "a terminal", hint)

    def column(cells: list[Any]) -> Any:
        cells = [json.dumps(c, ensure_ascii=False) if isinstance(c, dict) else c for c in cells]
        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            texts = [c if c is None or isinstance(c, str) else json.dumps(c) for c in cells]
            safe = [
                None if t is None else t.encode("utf-8", "backslashreplace").decode() for t in texts
            ]
            return pa.array(safe, pa.string())

    lines = [[plain(cell) for cell in row] for row in rows]
    columns = [column([line[at] for line in lines]) for at in range(len(heads))]
    names = [head.encode("utf-8", "backslashreplace").decode() for head in heads]
    whole = io.BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_arrays(columns, names), whole)
    sys.stdout.buffer.write(whole.getvalue())  # at once: nothing half written
    sys.stdout.buffer.flush()


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
