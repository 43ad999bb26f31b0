"""Files: CSV, TSV, JSON, Parquet and Arrow, plain or gzipped, into columns as they arrive."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from lookalike.errors import InvalidInput, MissingFile, UnreadableFile, message, suggest
from lookalike.table.raw import Raw, of_arrow, of_values, parse_text, written

__all__ = ["read_file", "records_to_raw"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
# Words that mean "missing" in a CSV file when they stand without quotes; R writes NA so.
CSV_GAPS = ("", "NA", "NaN", "nan", "null", "NULL")


def read_file(
    path: Path, *, missing: Sequence[Any], as_text: Collection[str], encoding: str | None
) -> list[Raw]:
    """Read a file into columns; the format is told by the ending of the name.

    Parameters
    ----------
    path : Path
    missing : tokens that mean "no cell"
    as_text : columns of a CSV file to be kept as they are written ("007" is not 7)
    encoding : encoding of a CSV file, UTF-8 unless given
    """
    kind, packed = _format(path)
    try:
        if path.stat().st_size == 0:
            raise _unreadable(path, f"a {kind} file with rows", "an empty file", "Write it again")
        if kind in ("csv", "tsv"):
            return _read_csv(path, packed, kind, missing, as_text, encoding)
        if kind == "jsonl":
            return _read_json_lines(_content(path, packed), path)
        if kind == "json":
            return _read_json(_content(path, packed), path)
        source = pa.BufferReader(_content(path, packed)) if packed else str(path)
        table = _read_parquet(source) if kind == "parquet" else _read_ipc(source)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _unreadable(path, "a whole gzip file", str(error), "Compress it again") from error
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise _unreadable(
            path,
            f"a whole {kind} file",
            f"a damaged or other one ({reason})",
            "Write the file again, or give it the ending of its real format",
        ) from error
    return arrow_to_raw(table)


def arrow_to_raw(table: Any) -> list[Raw]:
    """Take the columns of an Arrow table."""
    columns = []
    for field, cells in zip(table.schema, table.columns, strict=True):
        # A polars Enum is ordered by definition, which says nothing about its meaning.
        enum = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
        columns.append(of_arrow(field.name or "unnamed", cells, ordered=False if enum else None))
    return columns


def records_to_raw(records: Sequence[Any], who: str = "read_table") -> list[Raw]:
    """Take a list of dictionaries; a key that a record lacks is a missing cell."""
    names: dict[Any, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise InvalidInput(
                message(
                    who,
                    "a list of records (dictionaries)",
                    f"{type(record).__name__} {record!r:.40} at row {row}",
                    "Give every row as a dictionary of column and value",
                )
            )
        names.update(dict.fromkeys(record))
    return [of_values(str(name), [record.get(name) for record in records]) for name in names]


def _format(path: Path) -> tuple[str, bool]:
    if path.is_dir():
        raise _unreadable(
            path, "a file", "a directory", "Name one file inside it, or join them first"
        )
    if not path.exists():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, near, n=1)
        do = f"Did you mean {str(path.parent / close[0])!r}?" if close else "Check the path"
        raise MissingFile(message(f"File {str(path)!r}", "a file of this name", "none", do))
    packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if ending not in FORMATS:
        raise _unreadable(
            path,
            "an ending that tells the format",
            repr(ending) if ending else "no ending",
            suggest(ending, FORMATS),
        )
    return FORMATS[ending], packed


def _unreadable(path: Path, needed: str, found: str, do: str) -> UnreadableFile:
    return UnreadableFile(message(f"File {str(path)!r}", needed, found, do))


def _content(path: Path, packed: bool) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if packed else data


# -- CSV ------------------------------------------------------------------------------------------


def _read_csv(
    path: Path,
    packed: bool,
    kind: str,
    missing: Sequence[Any],
    as_text: Collection[str],
    encoding: str | None,
) -> list[Raw]:
    data = _content(path, packed) if packed else None
    encoding = _encoding(path, data, encoding)
    delimiter = "\t" if kind == "tsv" else _delimiter(_head(path, data, encoding))

    def read(types: dict[str, Any]) -> Any:
        return pyarrow.csv.read_csv(
            str(path) if data is None else pa.BufferReader(data),
            read_options=pyarrow.csv.ReadOptions(encoding=encoding),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=[*CSV_GAPS, *map(written, missing)],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                column_types=types,
            ),
        )

    types = dict.fromkeys(as_text, pa.string())
    try:
        try:
            table = read(types)
        except pa.ArrowInvalid as error:
            names = next(csv.reader(_lines(path, data, encoding), delimiter=delimiter), [])
            if "Empty CSV file or block" in str(error):
                return [of_values(name, []) for name in names]  # a header and no row
            if "conversion error" not in str(error):
                raise
            # Arrow looks at the first megabyte only; read as text, then parsed as a whole.
            table = read(dict.fromkeys(names, pa.string()))
        if any(pa.types.is_binary(column) for column in table.schema.types):
            raise pa.ArrowInvalid("text that is not UTF-8")
        names = table.column_names
    except (pa.ArrowInvalid, UnicodeDecodeError, UnicodeError) as error:
        raise _csv_error(path, data, encoding, delimiter, error) from error
    columns = []
    for name, cells in zip(names, table.columns, strict=True):
        raw = of_arrow(name or "unnamed", cells, from_text=True).without(["", *missing])
        if name not in as_text:
            raw = parse_text(_with_points(raw) if delimiter == ";" else raw)
        columns.append(raw)
    return columns


def _with_points(raw: Raw) -> Raw:
    """Read 1,5 as 1.5: where semicolons part the fields, the comma is likely the decimal point."""
    if pa.types.is_large_string(raw.type):
        number = pc.match_substring_regex(raw.cells, r"^\s*[+-]?\d+(,\d+)?\s*$")
        if pc.all(number).as_py():
            return replace(raw, cells=pc.replace_substring(raw.cells, ",", "."))
    return raw


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
                message(
                    f"read_table(encoding={encoding!r})",
                    "an encoding that Python knows",
                    "another",
                    suggest(encoding, known),
                )
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
        return _unreadable(
            path,
            f"text in {encoding.upper()}",
            found,
            f'Pass the encoding of the file, for example encoding="{other}"',
        )
    reader = csv.reader(_lines(path, data, encoding), delimiter=delimiter)
    width = 0
    for record in reader:
        width = width or len(record)
        if record and len(record) != width:
            return _unreadable(
                path,
                f"{width} fields in every line, as in the header",
                f"{len(record)} in line {reader.line_num:,}",
                "Correct that line, or quote a delimiter that belongs to a value",
            )
    reason = str(error).splitlines()[0].rstrip(".")
    return _unreadable(path, "rows of fields", reason, "Check the file in an editor")


# -- JSON -----------------------------------------------------------------------------------------


def _read_json_lines(data: bytes, path: Path) -> list[Raw]:
    text = _text(data, path)  # Arrow does not look whether strings are UTF-8
    try:
        table = pyarrow.json.read_json(pa.BufferReader(data))
        if not any(pa.types.is_struct(kind) for kind in table.schema.types):
            return arrow_to_raw(table)
    except pa.ArrowException:
        pass  # mixed types, very long lines, NaN: the slow road reads them, or names the line
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise _unreadable(
                path, "one JSON record per line", f"{error} in line {number:,}", "Correct that line"
            ) from error
        if not isinstance(record, dict):
            raise _unreadable(
                path,
                "one JSON record per line",
                f"{type(record).__name__} in line {number:,}",
                "Write each row as {column: value, ...}",
            )
        records.append(record)
    return [parse_text(raw) for raw in records_to_raw(records)]


def _read_json(data: bytes, path: Path) -> list[Raw]:
    try:
        content = json.loads(_text(data, path))
    except ValueError as error:
        raise _unreadable(
            path,
            "a JSON list of records",
            str(error),
            "Give a file with one record per line the ending .jsonl",
        ) from error
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        raws = records_to_raw(content)
    elif isinstance(content, dict) and all(isinstance(cells, list) for cells in content.values()):
        if len({len(cells) for cells in content.values()}) > 1:
            raise _unreadable(
                path, "columns of equal length", "others", "Give every column a value per row"
            )
        raws = [of_values(name, cells) for name, cells in content.items()]
    else:
        raise _unreadable(
            path,
            "a JSON list of records or an object of columns",
            f"a {type(content).__name__}",
            "Write the rows as [{column: value, ...}, ...]",
        )
    return [parse_text(raw) for raw in raws]


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line:,}"
        raise _unreadable(path, "text in UTF-8", found, "Save it as UTF-8") from error


# -- Parquet and Arrow ----------------------------------------------------------------------------


def _read_parquet(source: Any) -> Any:
    # ParquetFile, not read_table: a folder name such as "year=2001" must not become a column.
    with pyarrow.parquet.ParquetFile(source) as file:
        return file.read()


def _read_ipc(source: Any) -> Any:
    # Read, not mapped: a mapped file that another program cuts short would end the process.
    with pa.OSFile(source) if isinstance(source, str) else source as file:
        try:
            return pyarrow.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            return pyarrow.ipc.open_stream(file).read_all()
