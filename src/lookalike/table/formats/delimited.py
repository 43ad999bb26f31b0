"""CSV and TSV files: encoding, delimiter, and cells as they are written where that matters."""

import codecs
import csv
import io
import warnings
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, pairwise
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, UnreadableFile, suggest
from lookalike.table.formats.raw import Raw, as_number, of_arrow, written
from lookalike.table.formats.sizes import check_counts, read_limits
from lookalike.table.infer.thresholds import MAX_EXACT_INTEGER
from lookalike.table.infer.vocabulary import MISSING

# Among numbers and dates; words are decided for every source alike.
CSV_MISSING = ("", *MISSING)
COMMON_ENCODINGS = "utf-8 latin-1 cp1252 utf-16 shift_jis gb18030 big5 koi8-r".split()
# Bytes that the delimiter is guessed from.
GUESSED_FROM_BYTES = 2**16
# The largest block that Arrow's reader takes, and so the largest row.
MAX_BLOCK_BYTES = 2**31 - 1
# Cells among which the words of a header are looked for, in case it is none.
MAX_CELLS_BELOW_HEADER = 10_000
# Cells that show what a column of text may be, before all are tried.
MAX_SAMPLE_CELLS = 100


class CsvOptions(NamedTuple):
    """What the caller says about a CSV file; other formats know it by themselves.

    Parameters
    ----------
    missing : tokens that mean "no cell"
    as_text : columns to be kept as they are written ("007" is not 7)
    encoding : encoding of the file, UTF-8 unless given
    delimiter : what parts the fields, where it is not to be guessed
    """

    missing: Sequence[Any]
    as_text: Collection[str]
    encoding: str | None
    delimiter: str | None


def _open(path: Path, data: bytes | None) -> BinaryIO:
    return path.open("rb") if data is None else io.BytesIO(data)


class _Csv(NamedTuple):
    """A CSV file, or its unpacked content, and how it is cut into text and fields."""

    path: Path
    data: bytes | None
    encoding: str
    delimiter: str
    missing: Sequence[Any]
    block: int = 2**20  # bytes that Arrow reads at a time, of which a row must not be larger

    def closes_quotes(self) -> bool:
        """Whether the file has a second quote for each."""
        with self._text() as text:
            return sum(part.count('"') for part in iter(lambda: text.read(2**20), "")) % 2 == 0

    def records(self) -> Any:
        """Return a reader of Python's own, which says in which line it is."""
        return csv.reader(self._lines(), delimiter=self.delimiter)

    def _lines(self) -> Iterator[str]:
        with self._text() as text:
            yield from text

    def _text(self) -> io.TextIOWrapper:
        name = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return io.TextIOWrapper(_open(self.path, self.data), name, errors="replace", newline="")

    def read(self, read: Any, types: dict[str, Any]) -> Any:
        """Read with one of Arrow's readers, some columns as given types."""
        source = str(self.path) if self.data is None else pa.BufferReader(self.data)
        missing = [*CSV_MISSING, *map(written, self.missing)]
        return read(
            source,
            pyarrow.csv.ReadOptions(encoding=self.encoding, block_size=self.block),
            pyarrow.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            # Words of a column of text stay words: strings_can_be_null is not set.
            pyarrow.csv.ConvertOptions(null_values=missing, column_types=types),
        )


def read_csv(path: Path, data: bytes | None, tabs: bool, options: CsvOptions) -> list[Raw]:
    """Read a CSV file into columns.

    Arrow's reader finds fractions, dates and true/false. Integers are read as text, since it would
    lose leading zeros, and so are floats where digits would be lost.

    Parameters
    ----------
    path : Path
    data : its content where it was compressed, else None
    tabs : bool
        Whether tabs part the fields, whatever else is seen.
    options : CsvOptions
    """
    file, as_text = _open_csv(path, data, tabs, options), options.as_text
    try:
        table = _read_in_blocks(file, as_text)
        if any(pa.types.is_binary(column) for column in table.schema.types):
            raise pa.ArrowInvalid("text that is not UTF-8")
    except (pa.ArrowInvalid, UnicodeError, csv.Error) as error:
        raise _csv_error(file, error) from error
    if len(table):
        _look_at_header(path, table)
    named = zip(table.column_names, table.columns, strict=True)
    typed = ((name, cells if name in as_text else _as_integers(cells)) for name, cells in named)
    return [of_arrow(name, cells) for name, cells in typed]


def _open_csv(path: Path, data: bytes | None, tabs: bool, options: CsvOptions) -> _Csv:
    """Return a file with its encoding and its delimiter, guessed where they are not given."""
    encoding, delimiter = _encoding(path, data, options.encoding), options.delimiter
    fits = delimiter is None or (len(delimiter) == 1 and delimiter.isascii())
    if not fits or (delimiter or ",") in '\r\n"':
        who, hint = Param("delimiter", of="read_table"), Param("delimiter", ";")
        raise InvalidInput(who, "one character", repr(delimiter), ("Use for example ", hint))
    file = _Csv(path, data, encoding, delimiter or "\t", options.missing)
    if delimiter is None and not tabs:
        file = file._replace(delimiter=_find_delimiter(file))
    return file


def _read_in_blocks(file: _Csv, as_text: Collection[str]) -> Any:
    """Return an Arrow table; where a row is larger than a block, blocks are made larger."""
    while True:
        try:
            _check_rows(file)
            return _read_typed(file, as_text)
        except pa.ArrowInvalid as error:
            # In a file of one quote too many, all that follows would be one cell.
            too_large = "straddling" in str(error) and file.block < MAX_BLOCK_BYTES
            if not too_large or not file.closes_quotes():
                raise
            file = file._replace(block=min(16 * file.block, MAX_BLOCK_BYTES))


def _check_rows(file: _Csv) -> None:
    """Refuse more rows or columns than the caller allows, before columns are made of them."""
    limits = read_limits()
    if limits.rows is None:
        return
    names: list[str] = next(file.records(), [])
    check_counts(0, len(names))
    with _open(file.path, file.data) as opened:
        lines = sum(part.count(b"\n") for part in iter(lambda: opened.read(2**20), b""))
    if lines <= limits.rows:
        return
    rows = 0  # lines may be inside of quotes: Arrow knows, and forgets each block that it has read
    with file.read(pyarrow.csv.open_csv, dict.fromkeys(names, pa.string())) as stream:
        for batch in stream:
            rows += len(batch)
            check_counts(rows, batch.num_columns)


def _read_typed(file: _Csv, as_text: Collection[str]) -> Any:
    """Return an Arrow table whose numbers are typed only where that loses nothing."""
    types = dict.fromkeys(as_text, pa.string())
    try:
        # The types of the first block name the columns of integers before all is read.
        with file.read(pyarrow.csv.open_csv, types) as start:
            types |= {f.name: pa.string() for f in start.schema if pa.types.is_integer(f.type)}
        table = file.read(pyarrow.csv.read_csv, types)
        if not _loses_digits(table):
            return table
        types |= {f.name: pa.string() for f in table.schema if pa.types.is_floating(f.type)}
    except pa.ArrowInvalid as error:
        # Python reads the header where Arrow gave up.
        names: list[str] = next(file.records(), [])
        if "Empty CSV file or block" in str(error):  # a header and no row
            return pa.schema([(name, pa.null()) for name in names]).empty_table()
        if "conversion error" not in str(error):
            raise
        # Arrow looks at the first megabyte only; read as text, then parsed as a whole.
        types = dict.fromkeys(names, pa.string())
    return file.read(pyarrow.csv.read_csv, types)


def _look_at_header(path: Path, table: Any) -> None:
    """Warn where the first line looks like a row: by its numbers, or by words that come again."""
    names = table.column_names
    numbers = [value for value in map(as_number, names) if value is not None and isfinite(value)]
    cells = zip(names, table.columns, strict=True)  # two columns may have one name
    words = [name for name, below in cells if as_number(name) is None and _comes_again(name, below)]
    least = max(2, 0.5 * len(names))
    if len(numbers) >= least and not _are_steps(numbers):
        found = f"numbers ({', '.join(names[:3])}), as in a row"
    elif words and len(words) + len(numbers) >= least:
        found = f"cells that come again below ({', '.join(map(str.strip, words[:3]))}), as in a row"
    else:
        return
    who, needed = f"File {str(path)!r}", "names of columns in the first line"
    hint = "Write a line of names above it"
    warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=2)


def _are_steps(numbers: list[float]) -> bool:
    """Whether numbers may be names: integers in equal steps, as some tables have for years."""
    steps = {b - a for a, b in pairwise(numbers)}
    return all(value.is_integer() for value in numbers) and len(steps) == 1 and steps != {0.0}


def _comes_again(name: str, cells: Any) -> bool:
    """Whether the name of a column is also among the first of its cells."""
    if not pa.types.is_string(cells.type) or not name.strip():
        return False
    bare = pc.utf8_trim_whitespace(cells[:MAX_CELLS_BELOW_HEADER])
    return bool(pc.any(pc.equal(bare, name.strip())).as_py())


def _as_integers(cells: Any) -> Any:
    """Take digits for integers, unless a zero before them says that they are a name."""
    if not pa.types.is_string(cells.type):
        return cells
    if not len(cells) or _integers(cells[:MAX_SAMPLE_CELLS]) is None:
        return cells
    # 007 is a name; one such cell makes names of all.
    padded = pc.and_(pc.starts_with(cells, "0"), pc.greater(pc.binary_length(cells), 1))
    integers = None if pc.any(padded).as_py() else _integers(cells)
    return cells if integers is None else integers


def _integers(cells: Any) -> Any:
    """Return cells as integers, words for missing among them; None where others are."""
    try:
        return cells.cast(pa.int64())
    except pa.ArrowInvalid:
        missing = pc.is_in(cells, value_set=pa.array(CSV_MISSING, cells.type))
    try:
        return pc.if_else(missing, pa.scalar(None, cells.type), cells).cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _loses_digits(table: Any) -> bool:
    """Whether the writing of some float says more than the float.

    Integers of very many digits are names; and beside 3,5 a cell 1.234 may be a thousand.
    """
    floats = [cells for cells in table.columns if pa.types.is_floating(cells.type)]
    if not floats:
        return False
    texts = [cells for cells in table.columns if pa.types.is_string(cells.type)]
    commas = (pc.match_substring_regex(text[:MAX_SAMPLE_CELLS], r"^-?\d+,\d+$") for text in texts)
    if any(pc.any(comma).as_py() for comma in commas):
        return True
    long = [c for c in floats if (pc.max(pc.abs(c)).as_py() or 0.0) >= MAX_EXACT_INTEGER]
    return any(pc.all(pc.equal(pc.floor(cells), cells)).as_py() for cells in long)


def _encoding(path: Path, data: bytes | None, encoding: str | None) -> str:
    if encoding is not None:
        try:
            return codecs.lookup(encoding).name
        except LookupError:
            who = Param("encoding", encoding, of="read_table")
            hint = suggest(encoding, COMMON_ENCODINGS)
            raise InvalidInput(who, "an encoding that Python knows", repr(encoding), hint) from None
    with _open(path, data) as file:
        start = file.read(2)
    # The mark at the start of a UTF-16 file leaves no doubt.
    return "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _find_delimiter(csv_file: _Csv) -> str:
    """Choose the delimiter that cuts the first records into the most, equally many, fields."""
    with _open(csv_file.path, csv_file.data) as file:
        start = file.read(GUESSED_FROM_BYTES)
    head = codecs.getincrementaldecoder(csv_file.encoding)(errors="replace").decode(start)
    complete = head.rsplit("\n", 1)[0]

    def score(delimiter: str) -> tuple[bool, int]:
        reader = csv.reader(io.StringIO(complete, newline=""), delimiter=delimiter)
        widths = [len(record) for record in islice(reader, 50) if record]
        return (len(set(widths)) == 1, widths[0]) if widths and widths[0] > 1 else (False, 1)

    return max(",;\t|", key=score)  # the first of them on ties


def _csv_error(file: _Csv, error: Exception) -> UnreadableFile:
    """Find the byte or the line that is wrong; Arrow names neither."""
    with _open(file.path, file.data) as opened:
        content = opened.read()
    try:
        content.decode(file.encoding)
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        found = f"byte 0x{content[wrong.start]:02x} at position {wrong.start:,}, line {line:,}"
        other = "utf-8" if file.encoding not in ("utf-8", "utf-8-sig") else "latin-1"
        hint = Phrase("Give the encoding of the file, for example ", Param("encoding", other))
        return unreadable(file.path, f"text in {file.encoding.upper()}", found, hint)
    found = str(error).splitlines()[0].rstrip(".")
    other_fault = unreadable(file.path, "rows of fields", found, "Check the file in an editor")
    return _uneven_line(file) or other_fault


def _uneven_line(file: _Csv) -> UnreadableFile | None:
    """Name the first line that has another number of fields than the header."""
    reader = file.records()
    try:
        width = 0
        for record in reader:
            width = width or len(record)
            if record and len(record) != width:
                hint = "Correct that line, or quote a delimiter that belongs to a value"
                if width == 1:  # a title or a remark
                    hint = "Delete the lines above the header, or quote a delimiter within a value"
                needed = f"{width} field{'' if width == 1 else 's'} in every line, as in the header"
                found = f"{len(record)} in line {reader.line_num:,}"
                return unreadable(file.path, needed, found, hint)
    except csv.Error:  # a field longer than Python's reader takes
        if not file.closes_quotes():
            found = f"an odd number of them, and a long field in line {reader.line_num:,}"
            hint = "Look for a quote that is not closed"
            return unreadable(file.path, "two quotes around a field", found, hint)
    return None


def unreadable(path: Path, needed: str, found: str, hint: Any) -> UnreadableFile:
    """Say what is wrong with a file."""
    return UnreadableFile(f"File {str(path)!r}", needed, found, hint)
