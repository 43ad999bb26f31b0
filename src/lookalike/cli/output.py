"""What the commands write: text for people, CSV and JSON for programs, notes on standard error.

Standard output holds the answer and nothing else, so that it can be piped on.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike._runtime.text import clean, plain
from lookalike.cli.reading import STDIN
from lookalike.cli.spelling import spell_option
from lookalike.errors import spelled, suggest
from lookalike.show.layout import grid as grid
from lookalike.show.layout import headline as headline
from lookalike.show.layout import make_console as make_console
from lookalike.show.layout import say as say
from lookalike.verbs.annotations import Spelling

if TYPE_CHECKING:
    from lookalike.show.result import Result

NOT_ASCII = re.compile(r"[^\n -~]")
# First characters that a spreadsheet takes for a formula (OWASP, CSV injection), the full-width
# ones as well, which some programs convert.
FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
FORMS = ("text", "csv", "safe-csv", "json")
PAGE = "page"
Form = Annotated[
    str | None,
    Spelling(
        flags=("--output", "-o"),
        metavar="FORM|PAGE",
        help="text for people; csv or json for programs; safe-csv for spreadsheets; or NAME.html, "
        "a page to write, or NAME.parquet.",
    ),
]


def check_page(output: str, file: str) -> str | Path:
    """Return the page or file to write, or else the form of an answer, before any work is done.

    Parameters
    ----------
    output : str
        A form, the name of a page, or ``PAGE`` for one that is named like the table.
    file : str
        The table.
    """
    if output == PAGE:  # of a verb whose answer is a page unless another form is given
        output = "report.html" if file == STDIN else Path(file).name.split(".")[0] + ".html"
    if not output.lower().endswith((".html", ".htm", ".parquet")):
        return check_form(output)
    from lookalike._runtime.files import check_writable

    check_writable(output)
    return Path(output)


def check_form(output: str) -> str:
    """Return the form of an answer; an unknown one is wrong usage."""
    if output not in FORMS:
        known, near = ", ".join(map(repr, FORMS)), suggest(output, FORMS)
        problem = f"{output!r} is neither NAME.html, NAME.parquet nor one of {known}."
        problem += f" {near}" if near.startswith("Did") else ""
        raise typer.BadParameter(problem, param_hint="--output")
    return output


def write_result(result: Result, output: str | Path) -> None:
    """Write an answer to standard output, or as a page.

    Parameters
    ----------
    result : Result
    output : form, or path of the page or Parquet file
    """
    # A page is a file; everything else is the answer on standard output.
    if isinstance(output, Path):
        write_file = result.to_parquet if output.suffix.lower() == ".parquet" else result.to_html
        write_file(output)
        note_file(output)
    elif output == "text":
        result.render(make_console(), lambda text: spelled(text, spell_option))
    else:
        write(output, result.cells, result.to_dict)


def write(
    form: str, columns: Callable[[], Mapping[str, Sequence[Any]]], document: Callable[[], Any]
) -> None:
    """Write an answer for a program.

    Parameters
    ----------
    form : str, any but "text"
    columns : function that returns the answer as columns
    document : function that returns the answer as JSON has it
    """
    if form == "json":
        write_json(document())
    else:
        write_csv(columns(), safe=form == "safe-csv")


# -- lines on standard error ----------------------------------------------------------------------

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def be_quiet(wanted: bool) -> None:
    """Suppress notes and warnings from now on, if that is wanted; every command says so."""
    _quiet.set(wanted)


def complain(text: str) -> None:
    """Print an error in one red line."""
    _line(text, "bold red")


def warn(text: str) -> None:
    """Print a warning in one yellow line."""
    if not _quiet.get():
        _line(text, "yellow")


def note(text: str) -> None:
    """Print a note in one dim line."""
    if not _quiet.get():
        _line(text, "dim")


def note_file(path: Path) -> None:
    """Print a note that a file was written."""
    note(f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")


def _line(text: str, style: str) -> None:
    from rich.console import Console
    from rich.text import Text

    # Soft wrapping leaves the breaking of long lines to the terminal: the line stays one line.
    Console(stderr=True).print(Text(clean(text), style), soft_wrap=True)


COMPILING = "compiling the loops that this command needs"
KEPT = "this happens once, later runs find them on disk"
NOT_KEPT = "no folder can be written to keep them in: NUMBA_CACHE_DIR names another"


@contextmanager
def compile_note() -> Iterator[None]:
    """Write a note, once, if something is compiled inside this block.

    A loop found on disk is silent.

    Examples
    --------
    >>> with compile_note():
    ...     pass
    """
    from lookalike.kernels import cache_folder, when_compiling

    # A callback of the compiler: loops that are read from the cache on disk do not call it.
    def write() -> None:
        if write in when_compiling:  # once
            when_compiling.remove(write)
            note(f"{COMPILING}; {NOT_KEPT if cache_folder() is None else KEPT}")

    when_compiling.append(write)
    try:
        yield
    finally:
        if write in when_compiling:
            when_compiling.remove(write)


# -- files for programs ---------------------------------------------------------------------------


def speaks_unicode() -> bool:
    """Whether standard output can encode every character."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def write_json(answer: Any) -> None:
    """Write an answer as one JSON document."""
    text = json.dumps(plain(answer), ensure_ascii=not speaks_unicode(), indent=2, allow_nan=False)
    sys.stdout.write(NOT_ASCII.sub(_escape, text))
    sys.stdout.write("\n")
    sys.stdout.flush()  # a reader that went away is noticed here, not at the end of the process


def _escape(found: re.Match[str]) -> str:
    """Escape a character that is not printable: a C1 code could control the terminal."""
    letter = found[0]
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def write_csv(cells: Mapping[str, Sequence[Any]], *, safe: bool = False) -> None:
    """Write an answer as CSV; a missing cell is empty, a list or a mapping is JSON.

    Cells are written as they are, for a program to read. A terminal gets no control characters,
    and the safe form has no text that a spreadsheet takes for a formula.
    """
    writer, shown = csv.writer(sys.stdout, lineterminator="\n"), on_terminal()

    def field(cell: Any) -> Any:
        cell = plain(cell)
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, list | dict):
            cell = json.dumps(cell, ensure_ascii=False)
        if not isinstance(cell, str):
            return cell
        if safe and cell.startswith(FORMULA_STARTS):
            cell = f"'{cell}"
        # A lone surrogate is in no encoding: written as Python writes it.
        return clean(cell) if shown else cell.encode("utf-8", "backslashreplace").decode("utf-8")

    writer.writerows(map(field, row) for row in (cells, *zip(*cells.values(), strict=True)))
    sys.stdout.flush()
