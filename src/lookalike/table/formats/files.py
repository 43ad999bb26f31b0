"""Files: CSV, TSV, JSON, Parquet, Arrow, Excel and numpy into columns as they arrive."""

import gzip
import json
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.extras import needing
from lookalike.errors import LookalikeError, LookalikeWarning, Param, missing_file, suggest
from lookalike.saving.safe_json import DEEPEST, json_depth
from lookalike.table.formats import sizes
from lookalike.table.formats.delimited import CsvOptions, read_csv, unreadable
from lookalike.table.formats.raw import (
    Raw,
    check_type,
    of_array,
    of_arrow,
    of_values,
    records_to_raw,
)

FORMATS = {
    **dict.fromkeys((".csv", ".txt"), "csv"),
    ".tsv": "tsv",
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".json": "json",
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".xlsx": "excel",
    ".npy": "npy",
}
# Rows of a sheet in this format.
MAX_SHEET_ROWS = 2**20
EXCEL_ERRORS = {"#N/A", "#DIV/0!", "#NULL!", "#NAME?", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA"}
# Bytes that may always be unpacked, and bytes unpacked at a time; chosen by hand.
ALWAYS_UNPACKED_BYTES = 2**26
CHUNK_BYTES = 2**24
# Rows of a Parquet file between two looks at the memory that they take.
CHUNK_ROWS = 2**17


def read_file(path: Path, options: CsvOptions) -> list[Raw]:
    """Read a file into columns; the ending of the name gives the format.

    Parameters
    ----------
    path : Path
    options : CsvOptions
        What is to be known of a CSV file.
    """
    kind, packed = _format(path)
    with reading(path, kind):
        return _read(path, kind, packed, options)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a damaged file makes of the libraries below into one error that names it."""
    try:
        yield
    except LookalikeError:
        raise
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise unreadable(path, "a complete gzip file", str(error), "Compress it again") from error
    except MemoryError as error:
        hint = ("Read it in parts, or raise ", Param("memory_limit", of="config"))
        raise unreadable(path, "a file that fits in memory", "a larger file", hint) from error
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        found = f"a damaged file or another format ({reason[:200]})"
        advice = "Write the file again, or give it the ending of its real format"
        raise unreadable(path, f"a complete {kind} file", found, advice) from error


def _read(path: Path, kind: str, packed: bool, options: CsvOptions) -> list[Raw]:
    if path.stat().st_size == 0:
        hint = "See whether saving or downloading it came to an end"
        raise unreadable(path, f"a {kind} file with rows", "an empty file", hint)
    if kind in ("csv", "tsv"):
        data = _content(path, packed) if packed else None
        return _with_vectors(path, read_csv(path, data, kind == "tsv", options))
    if kind == "excel":
        return _read_excel(path, packed)
    if kind == "npy":
        return [_read_npy(path, packed, path.stem.removesuffix(".npy"))]
    if kind in ("json", "jsonl"):
        data = _content(path, packed)
        if (depth := json_depth(data, lines=kind == "jsonl")) > DEEPEST:
            needed = f"values nested less than {DEEPEST} deep"
            hint = "Write the rows as flat records"
            raise unreadable(path, needed, f"brackets {depth:,} deep", hint)
        return _read_json_lines(data, path) if kind == "jsonl" else _read_json(data, path)
    source = pa.BufferReader(_content(path, packed)) if packed else str(path)
    table = _read_parquet(source, path) if kind == "parquet" else _read_ipc(source, path)
    return arrow_to_raw(table)


def arrow_to_raw(table: Any, typed: bool = True) -> list[Raw]:
    """Take the columns of an Arrow table; those out of JSON say little by their types."""
    columns = []
    for field, cells in zip(table.schema, table.columns, strict=True):
        # A polars Enum is ordered by definition, which says little about its meaning. Before 1.18
        # it was written as a value, after it as a key.
        enum = any(b"_PL_ENUM" in k or v == b"ENUM" for k, v in (field.metadata or {}).items())
        raw = of_arrow(field.name, cells, declared="enum" if enum else None)
        columns.append(replace(raw, typed=typed))
    return columns


def _format(path: Path) -> tuple[str, bool]:
    """Return the format of a file, and whether it is packed."""
    if path.is_dir():
        hint = "Name one file inside it, or join them first"
        raise unreadable(path, "a file", "a directory", hint)
    if not path.exists():
        raise missing_file(path)
    packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if ending not in FORMATS:
        found = repr(ending) if ending else "no ending"
        needed = "a file name whose ending tells the format"
        raise unreadable(path, needed, found, suggest(ending, FORMATS))
    return FORMATS[ending], packed


def _content(path: Path, packed: bool) -> bytes:
    """Return the bytes of a file; a gzip file that unpacks to very much more is refused."""
    if not packed:
        return path.read_bytes()
    data, limit = bytearray(), sizes.most_unpacked(path, ALWAYS_UNPACKED_BYTES)
    with gzip.open(path) as file:
        while part := file.read(CHUNK_BYTES):
            data += part
            if len(data) > limit:
                raise sizes.too_large(path, len(data), limit)
    return bytes(data)


# -- vectors --------------------------------------------------------------------------------------


def _read_npy(path: Path, packed: bool, name: str) -> Raw:
    """Read an array of numpy as one column: a vector in each row, or a number."""
    # Never a pickle; mapped, so that a header that claims more than the file has is an error
    # before memory is taken for it.
    source: Any = BytesIO(_content(path, packed)) if packed else path
    array = np.load(source, mmap_mode=None if packed else "r", allow_pickle=False)
    if array.ndim not in (1, 2) or array.dtype.kind not in "fiub" or not array.size:
        found = f"an array of {array.dtype} of shape {array.shape}"
        raise unreadable(path, "numbers in rows, or rows of numbers", found, "Save a 2-D array")
    return of_array(name, np.asarray(array))


def _with_vectors(path: Path, raws: list[Raw]) -> list[Raw]:
    """Add the vectors beside a CSV file: ``films.plot.npy`` is the column plot of ``films.csv``."""
    stem, names = path.name.split(".")[0], {raw.name for raw in raws}
    for file in sorted(path.parent.glob(f"{escape(stem)}.*.npy")):
        column = file.name[len(stem) + 1 : -len(".npy")]
        # A link may lead to a file that the reader of this folder must not see.
        if file.is_symlink() or column in names:
            continue
        vectors = _read_npy(file, False, column)
        if raws and len(vectors) != len(raws[0]):
            found = f"{len(vectors):,} beside {len(raws[0]):,} rows of {path.name}"
            raise unreadable(file, "as many rows as the table", found, "Save it again, or move it")
        raws.append(replace(vectors, typed=True))
    return raws


# -- Excel ----------------------------------------------------------------------------------------


def _read_excel(path: Path, packed: bool) -> list[Raw]:
    """Read the first sheet of a workbook, whose first line has the names of the columns."""
    # A workbook is a zip file: what it says it unpacks to is checked before anything is.
    source = BytesIO(_content(path, packed))
    with zipfile.ZipFile(source) as archive:
        size = sum(member.file_size for member in archive.infolist())
    limit = sizes.most_unpacked(path, ALWAYS_UNPACKED_BYTES)
    if size > limit:
        raise sizes.too_large(path, size, limit)
    with needing("excel", f"File {str(path)!r}"):
        import openpyxl
    # data_only: a formula counts by its last result.
    book = openpyxl.load_workbook(source, read_only=True, data_only=True)
    try:
        sheets = book.worksheets
        if not sheets:
            raise unreadable(path, "a sheet with rows", "none", "Save the workbook again")
        if len(sheets) > 1:
            others = ", ".join(repr(sheet.title) for sheet in sheets[1:6])
            words = f"{path.name}: the first sheet, {sheets[0].title!r}, is read, not {others}."
            warnings.warn(words, LookalikeWarning, stacklevel=2)
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
        # Lines between two row numbers are filled in, without end.
        if number > MAX_SHEET_ROWS:
            found, hint = "a row of a higher number", "Save the workbook again"
            raise unreadable(path, f"at most {MAX_SHEET_ROWS:,} rows", found, hint)
        cells = [None if isinstance(c, str) and c in EXCEL_ERRORS else c for c in line]
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            continue
        lines.append(cells)
        width = max(width, len(cells))
        sizes.check_counts(len(lines) - 1, width)
        # One cell far to the right makes every line that long: 20 bytes of XML can be
        # 18,278 cells, so the size of the file bounds nothing.
        if sizes.CELL_BYTES * width * len(lines) > limit:
            needed = f"cells of at most {show_bytes(limit)}"
            hint = "Delete the cells far to the right, or raise config(memory_limit=...)"
            raise unreadable(path, needed, f"{width:,} columns and {len(lines):,} rows", hint)
    return lines


# -- JSON -----------------------------------------------------------------------------------------


def _read_json_lines(data: bytes, path: Path) -> list[Raw]:
    if sizes.read_limits().rows is not None:  # blank lines are no rows
        sizes.check_counts(sum(1 for line in data.split(b"\n") if line.strip()), 0)
    # Arrow does not look whether strings are UTF-8.
    text = _text(data, path)
    try:
        table = pyarrow.json.read_json(pa.BufferReader(data))
        if not any(pa.types.is_struct(kind) for kind in table.schema.types):
            return arrow_to_raw(table, typed=False)
    except pa.ArrowException:
        # Mixed types, very long lines, NaN: Python reads them, or names the line.
        pass
    lines = enumerate(text.split("\n"), 1)
    return records_to_raw([_record(line, number, path) for number, line in lines if line.strip()])


def _record(line: str, number: int, path: Path) -> dict[str, Any]:
    needed = "one JSON record per line"
    try:
        record = json.loads(line)
    except ValueError as error:
        found = f"{error} in line {number:,}"
        raise unreadable(path, needed, found, "Correct that line") from error
    if not isinstance(record, dict):
        found = f"{type(record).__name__} in line {number:,}"
        raise unreadable(path, needed, found, "Write each row as {column: value, ...}")
    return record


def _read_json(data: bytes, path: Path) -> list[Raw]:
    text = _text(data, path)  # outside of the try: its error is a ValueError too
    try:
        content = json.loads(text)
    except ValueError as error:
        hint = "Give a file with one record per line the ending .jsonl"
        raise unreadable(path, "a JSON list of records", str(error), hint) from error
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        return records_to_raw(content)
    if isinstance(content, dict) and all(isinstance(cells, list) for cells in content.values()):
        if len(set(map(len, content.values()))) > 1:
            hint = "Give every column a value per row"
            raise unreadable(path, "columns of equal length", "different lengths", hint)
        return [of_values(name, cells) for name, cells in content.items()]
    needed = "a JSON list of records or an object of columns"
    hint = "Write the rows as [{column: value, ...}, ...]"
    raise unreadable(path, needed, f"a {type(content).__name__}", hint)


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line:,}"
        raise unreadable(path, "text in UTF-8", found, "Save it as UTF-8") from error


# -- Parquet and Arrow ----------------------------------------------------------------------------


def _read_parquet(source: Any, path: Path) -> Any:
    sizes.check_parquet(source, path)
    if hasattr(source, "seek"):
        source.seek(0)
    # ParquetFile, not read_table: a folder name such as "year=2001" must not become a column.
    with pyarrow.parquet.ParquetFile(source) as file:
        return _gather(file.iter_batches(CHUNK_ROWS), file.schema_arrow, path)


def _read_ipc(source: Any, path: Path) -> Any:
    # Read, not mapped: a mapped file that another program cuts short would end the process.
    with pa.OSFile(source) if isinstance(source, str) else source as file:
        # The mark of a file, taken for the length of a stream's message, would ask for 1.3 GB.
        is_file = file.read(len(sizes.MAGIC)) == sizes.MAGIC
        file.seek(0)
        if is_file:
            reader = pyarrow.ipc.open_file(file)
            sizes.check_ipc(file, len(reader.schema), path, footer=True)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            return _gather(batches, reader.schema, path)
        columns = len(pyarrow.ipc.open_stream(file).schema)
        sizes.check_ipc(file, columns, path, footer=False)
        file.seek(0)
        stream = pyarrow.ipc.open_stream(file)
        return _gather(stream, stream.schema, path)


def _gather(batches: Iterable[Any], schema: Any, path: Path) -> Any:
    """Join batches of rows; stop where they take more memory than they may."""
    counter, checked = sizes.Counter(path), []
    for field in schema:
        check_type(field.name, field.type)
    for batch in batches:
        # Offsets and indices of an untrusted file may lead anywhere.
        batch.validate(full=True)
        size = batch.get_total_buffer_size() + sum(map(sizes.repeated_bytes, batch.columns))
        counter.add(len(batch), len(schema), size)
        checked.append(batch)
    return pa.Table.from_batches(checked, schema)
