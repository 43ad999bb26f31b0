"""Excel workbooks: the first sheet, its first line as the names of the columns."""

from __future__ import annotations

import warnings
import zipfile
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from lookalike._runtime.config import settings, show_bytes
from lookalike.errors import LookalikeWarning, MissingExtra
from lookalike.table.formats.delimited import unreadable
from lookalike.table.formats.raw import Raw, of_values

MAX_ROWS = 2**20  # of a sheet in this format
CELL = 8  # bytes of the reference to a value, the least that a cell takes in memory
ERRORS = {"#N/A", "#DIV/0!", "#NULL!", "#NAME?", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA"}


def unpacked_size(file: BinaryIO) -> int:
    """Return how many bytes a workbook, which is a zip file, says it unpacks to."""
    with zipfile.ZipFile(file) as archive:
        return sum(member.file_size for member in archive.infolist())


def read_excel(file: BinaryIO, path: Path) -> list[Raw]:
    """Read the first sheet of a workbook; formulas count by their last result.

    Parameters
    ----------
    file : the content
    path : Path
        Its name, for messages.
    """
    try:
        import openpyxl
    except ImportError as error:
        hint = 'Install it with: pip install "lookalike[excel]"'
        who = f"File {str(path)!r}"
        raise MissingExtra(who, "the package openpyxl", "it is not installed", hint) from error
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    try:
        sheets = book.worksheets
        if not sheets:
            raise unreadable(path, "a sheet with rows", "none", "Save the workbook again")
        if len(sheets) > 1:
            others = ", ".join(repr(sheet.title) for sheet in sheets[1:6])
            warnings.warn(
                f"{path.name}: the first sheet, {sheets[0].title!r}, is read, not {others}.",
                LookalikeWarning,
                stacklevel=2,
            )
        lines = _lines(sheets[0], path)
    finally:
        book.close()
    if not lines:
        raise unreadable(path, "a sheet with rows", "an empty one", "Fill the first sheet")
    columns = zip_longest(*lines)
    return [of_values("" if head is None else str(head), cells) for head, *cells in columns]


def _lines(sheet: Any, path: Path) -> list[list[Any]]:
    """Return the lines of a sheet that have a cell, each up to its last one."""
    # The dimension tag is what the writing program claims. Some claim too little, and openpyxl
    # would leave out the cells beyond; a file can also claim 17 thousand million empty ones.
    sheet.reset_dimensions()
    limit = settings().memory_limit
    lines: list[list[Any]] = []
    width = 0
    for number, line in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MAX_ROWS:  # lines between two row numbers are filled in, without end
            found, hint = "a row of a higher number", "Save the workbook again"
            raise unreadable(path, f"at most {MAX_ROWS:,} rows", found, hint)
        cells = [_cell(cell) for cell in line]
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            continue
        lines.append(cells)
        width = max(width, len(cells))
        # One cell far to the right makes every line that long: 20 bytes of XML can stand for
        # 18,278 cells, so the size of the file bounds nothing.
        if CELL * width * len(lines) > limit:
            needed = f"cells of at most {show_bytes(limit)}"
            hint = "Delete the cells far to the right, or raise config(memory_limit=...)"
            raise unreadable(path, needed, f"{width:,} columns and {len(lines):,} rows", hint)
    return lines


def _cell(value: Any) -> Any:
    return None if isinstance(value, str) and value in ERRORS else value
