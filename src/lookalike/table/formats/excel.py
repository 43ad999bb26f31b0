"""Excel workbooks: the first sheet, its first line as the names of the columns."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from lookalike.errors import LookalikeWarning, MissingExtra
from lookalike.table.formats.delimited import unreadable
from lookalike.table.formats.raw import Raw, of_values

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
        lines = [[_cell(cell) for cell in line] for line in sheets[0].iter_rows(values_only=True)]
    finally:
        book.close()
    lines = [line for line in lines if any(cell is not None for cell in line)]
    if not lines:
        raise unreadable(path, "a sheet with rows", "an empty one", "Fill the first sheet")
    heads, *rows = lines
    width = max(at + 1 for line in lines for at, cell in enumerate(line) if cell is not None)
    return [
        of_values(
            "" if at >= len(heads) or heads[at] is None else str(heads[at]),
            [row[at] if at < len(row) else None for row in rows],
        )
        for at in range(width)
    ]


def _cell(value: Any) -> Any:
    return None if isinstance(value, str) and value in ERRORS else value
