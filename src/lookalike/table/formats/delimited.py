"""CSV and TSV files: encoding, delimiter, and cells as they are written where that matters."""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, UnreadableFile, suggest
from lookalike.table.formats.raw import Raw, as_number, of_arrow, of_values, written
from lookalike.table.infer.vocabulary import MISSING

CSV_GAPS = ("", *MISSING)  # among numbers and dates; what words mean is decided for every source
EXACT = 2**53  # whole numbers beyond lose digits as floats


def read_csv(
    path: Path,
    data: bytes | None,
    tabs: bool,
    missing: Sequence[Any],
    as_text: Collection[str],
    encoding: str | None,
    delimiter: str | None = None,
) -> list[Raw]:
    """Read a CSV file into columns.

    Arrow's reader finds fractions, dates and true/false. Whole numbers are read as text, since it
    would lose leading zeros, and so are floats where digits would be lost.

    Parameters
    ----------
    path : Path
    data : its content where it was compressed, else None
    tabs : bool
        Whether tabs part the fields, whatever else is seen.
    missing : tokens that mean "no cell"
    as_text : columns to be kept as they are written
    encoding : encoding of the file, UTF-8 unless given
    delimiter : what parts the fields, where it is not to be guessed
    """
    encoding = _encoding(path, data, encoding)
    if delimiter is not None:
        _check_delimiter(delimiter)
    else:
        delimiter = "\t" if tabs else _delimiter(_head(path, data, encoding))

    def options(types: dict[str, Any]) -> dict[str, Any]:
        return {
            "read_options": pyarrow.csv.ReadOptions(encoding=encoding),
            "parse_options": pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            "convert_options": pyarrow.csv.ConvertOptions(
                null_values=[*CSV_GAPS, *map(written, missing)],
                strings_can_be_null=False,
                quoted_strings_can_be_null=True,
                column_types=types,
            ),
        }

    def source() -> Any:
        return str(path) if data is None else pa.BufferReader(data)

    types = dict.fromkeys(as_text, pa.string())
    try:
        try:
            with pyarrow.csv.open_csv(source(), **options(types)) as start:
                types |= {f.name: pa.string() for f in start.schema if pa.types.is_integer(f.type)}
            table = pyarrow.csv.read_csv(source(), **options(types))
            if _loses_digits(table):
                types |= {f.name: pa.string() for f in table.schema if _is_float(f.type)}
                table = pyarrow.csv.read_csv(source(), **options(types))
        except pa.ArrowInvalid as error:
            names = next(csv.reader(_lines(path, data, encoding), delimiter=delimiter), [])
            if "Empty CSV file or block" in str(error):
                return [of_values(name, []) for name in names]  # a header and no row
            if "conversion error" not in str(error):
                raise
            # Arrow looks at the first megabyte only; read as text, then parsed as a whole.
            types = dict.fromkeys(names, pa.string())
            table = pyarrow.csv.read_csv(source(), **options(types))
        if any(pa.types.is_binary(column) for column in table.schema.types):
            raise pa.ArrowInvalid("text that is not UTF-8")
        named = list(zip(table.column_names, table.columns, strict=True))
    except (pa.ArrowInvalid, UnicodeError, csv.Error) as error:
        raise _csv_error(path, data, encoding, delimiter, error) from error
    _look_at_header(path, table.column_names)
    return [of_arrow(name, cells if name in as_text else _as_whole(cells)) for name, cells in named]


def _look_at_header(path: Path, names: list[str]) -> None:
    """Warn where the first line looks like a row: fractions are no names, and years go up by one.

    Names of most columns have to be numbers, as some tables have a column for each of some years.
    """
    values = [as_number(name) for name in names]
    numbers = [value for value in values if value is not None and isfinite(value)]
    if len(numbers) < max(2, 0.5 * len(names)):
        return
    steps = {b - a for a, b in pairwise(numbers)}
    if all(value.is_integer() for value in numbers) and len(steps) == 1 and steps != {0.0}:
        return
    warning = LookalikeWarning(
        f"File {str(path)!r}",
        "names of columns in the first line",
        f"numbers ({', '.join(names[:3])}), as in a row",
        "Write a line of names above it",
    )
    warnings.warn(warning, stacklevel=2)


def _as_whole(cells: Any) -> Any:
    """Take digits for whole numbers, unless a zero before them says that they are a name."""
    if not pa.types.is_string(cells.type):
        return cells
    start = next((chunk for chunk in cells.chunks if len(chunk)), None)
    if start is None or _whole(start[:100]) is None:
        return cells
    padded = pc.and_(pc.starts_with(cells, "0"), pc.greater(pc.binary_length(cells), 1))
    if pc.any(padded).as_py():
        return cells
    whole = _whole(cells)
    return cells if whole is None else whole


def _whole(cells: Any) -> Any:
    """Return cells as whole numbers, gaps among them; None where others are."""
    try:
        return cells.cast(pa.int64())
    except pa.ArrowInvalid:
        pass
    try:
        return _without_gaps(cells).cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _without_gaps(cells: Any) -> Any:
    gap = pc.is_in(cells, value_set=pa.array(CSV_GAPS, cells.type))
    return pc.if_else(gap, pa.scalar(None, cells.type), cells)


def _is_float(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind))


def _loses_digits(table: Any) -> bool:
    """Whether the writing of some float says more than the float.

    Whole numbers of very many digits are names; and beside 3,5 a cell 1.234 may be a thousand.
    """
    floats = [table.column(at) for at, kind in enumerate(table.schema.types) if _is_float(kind)]
    if not floats:
        return False
    for at, kind in enumerate(table.schema.types):
        if pa.types.is_string(kind):
            start = table.column(at)[:100]
            if pc.any(pc.match_substring_regex(start, r"^-?\d+,\d+$")).as_py():
                return True
    return any(map(_is_long, floats))


def _is_long(cells: Any) -> bool:
    """Whether floats are whole numbers too long to be kept as floats."""
    ends = pc.min_max(cells).as_py()
    if ends["min"] is None or max(abs(ends["min"]), abs(ends["max"])) < EXACT:
        return False
    return bool(pc.all(pc.equal(pc.floor(cells), cells)).as_py())


def _encoding(path: Path, data: bytes | None, encoding: str | None) -> str:
    if encoding is not None:
        try:
            return codecs.lookup(encoding).name
        except LookupError:
            known = (
                "utf-8",
                "latin-1",
                "cp1252",
                "utf-16",
                "shift_jis",
                "gb18030",
                "big5",
                "koi8-r",
            )
            raise InvalidInput(
                Param("encoding", encoding, of="read_table"),
                "an encoding that Python knows",
                repr(encoding),
                suggest(encoding, known),
            ) from None
    start = data[:2] if data is not None else _first_bytes(path, 2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"  # the mark at the start of the file leaves no doubt
    return "utf-8"


def _first_bytes(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _head(path: Path, data: bytes | None, encoding: str) -> str:
    start = data[: 1 << 16] if data is not None else _first_bytes(path, 1 << 16)
    return codecs.getincrementaldecoder(encoding)(errors="replace").decode(start)


def _lines(path: Path, data: bytes | None, encoding: str) -> Iterator[str]:
    file = path.open("rb") if data is None else io.BytesIO(data)
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    with io.TextIOWrapper(file, encoding=name, errors="replace", newline="") as text:
        yield from text


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"':
        hint = Phrase("Use for example ", Param("delimiter", ";"))
        raise InvalidInput(
            Param("delimiter", of="read_table"), "one character", repr(delimiter), hint
        )


def _delimiter(head: str) -> str:
    """Choose the delimiter that cuts the first records into the most, equally many, fields."""
    best, choice = (False, 1), ","
    complete = head.rsplit("\n", 1)[0] if "\n" in head else head
    for delimiter in ",;\t|":
        reader = csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter)
        widths = [len(record) for record, _ in zip(reader, range(50), strict=False) if record]
        if widths and widths[0] > 1:
            score = (len(set(widths)) == 1, widths[0])
            if score > best:
                best, choice = score, delimiter
    return choice


def _csv_error(
    path: Path, data: bytes | None, encoding: str, delimiter: str, error: Exception
) -> UnreadableFile:
    content = path.read_bytes() if data is None else data
    try:
        content.decode(encoding)
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        found = f"byte 0x{content[wrong.start]:02x} at position {wrong.start:,}, line {line:,}"
        other = "utf-8" if encoding not in ("utf-8", "utf-8-sig") else "latin-1"
        return unreadable(
            path,
            f"text in {encoding.upper()}",
            found,
            Phrase("Give the encoding of the file, for example ", Param("encoding", other)),
        )
    reader = csv.reader(_lines(path, data, encoding), delimiter=delimiter)
    width = 0
    try:
        for record in reader:
            width = width or len(record)
            if record and len(record) != width:
                hint = "Correct that line, or quote a delimiter that belongs to a value"
                if width == 1:  # a title or a remark
                    hint = "Delete the lines above the header, or quote a delimiter within a value"
                return unreadable(
                    path,
                    f"{width} field{'' if width == 1 else 's'} in every line, as in the header",
                    f"{len(record)} in line {reader.line_num:,}",
                    hint,
                )
    except csv.Error as wrong:
        needed = f"fields of at most {csv.field_size_limit():,} characters"
        hint = "Look for a quote that is not closed"
        return unreadable(path, needed, f"{wrong} in line {reader.line_num:,}", hint)
    reason = str(error).splitlines()[0].rstrip(".")
    return unreadable(path, "rows of fields", reason, "Check the file in an editor")


def unreadable(path: Path, needed: str, found: str, hint: str) -> UnreadableFile:
    """Say what is wrong with a file."""
    return UnreadableFile(f"File {str(path)!r}", needed, found, hint)
