"""How large the content of a packed file is, counted before it is unpacked.

A few kilobytes of Parquet or Arrow may unpack to gigabytes. Both formats say how much they hold:
Parquet in its footer, Arrow in the message of every batch and in the first bytes of every buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from lookalike._runtime.config import settings, show_bytes
from lookalike.errors import Param, Phrase, TooLarge, UnreadableFile

# How much smaller than its content a packed file may be: a zip bomb unpacks to a thousand times
# its size and more, tables to 3 to 50 times.
MAX_UNPACKED_RATIO = 200
# The reference to a value, the least that a cell takes in memory.
CELL_BYTES = 8
# What values of a physical type of Parquet (0: flags, 1: int32, 4: float32) take, where it is less.
PARQUET_BYTES = {0: 1, 1: 4, 4: 4}
STRINGS = 6  # BYTE_ARRAY


@dataclass(frozen=True)
class ReadLimits:
    """How much a file may hold; None: as much as fits under the memory limit.

    Parameters
    ----------
    rows, columns : int, optional
    unpacked : int, optional
        Bytes that a small packed file may hold, whatever its size; see ``MAX_UNPACKED_RATIO``.
    """

    rows: int | None = None
    columns: int | None = None
    unpacked: int | None = None


NO_LIMITS = ReadLimits()
_limits: ContextVar[ReadLimits] = ContextVar("lookalike_read_limits", default=NO_LIMITS)


@contextmanager
def reading_at_most(limits: ReadLimits) -> Iterator[None]:
    """Refuse larger files inside the block, before they are read: untrusted uploads.

    Examples
    --------
    >>> with reading_at_most(ReadLimits(rows=10)):
    ...     check_counts(11, 2)
    Traceback (most recent call last):
    lookalike.errors.TooLarge: collection: ...
    """
    mark = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(mark)


def read_limits() -> ReadLimits:
    """Return how much a file may hold here."""
    return _limits.get()


def check_counts(rows: int, columns: int) -> None:
    """Refuse more rows or columns than the caller allows."""
    limits = _limits.get()
    for what, count, most in (("rows", rows, limits.rows), ("columns", columns, limits.columns)):
        if most is not None and count > most:
            hint = "Split the table, or start the server with larger limits"
            raise TooLarge("collection", f"at most {most:,} {what}", f"{count:,}", hint)


def most_unpacked(path: Path, always: int | None = None) -> int:
    """Return how many bytes a packed file may hold: untrusted ones may claim terabytes.

    Parameters
    ----------
    path : Path
    always : int, optional
        Bytes that are allowed to files of any size, unless the caller of the reader says otherwise;
        None: all that fit under the memory limit.
    """
    given = _limits.get().unpacked
    always, limit = (always if given is None else given), settings().memory_limit
    if always is None:
        return limit
    return min(limit, max(always, MAX_UNPACKED_RATIO * path.stat().st_size))


def too_large(path: Path, size: int, limit: int) -> UnreadableFile | TooLarge:
    """Return the error about a file that holds more bytes than it may."""
    if _limits.get().unpacked is not None:  # untrusted: the sender has no memory limit to raise
        needed = f"content of at most {show_bytes(limit)} in a file of this size"
        hint = "Split the table, or send it as CSV"
        return TooLarge("collection", needed, f"{show_bytes(size)} and more", hint)
    limit_of = Param("memory_limit", of="config")
    hint = Phrase("Read it in parts, or unpack it yourself and raise ", limit_of)
    needed = f"content of at most {show_bytes(limit)}"
    return UnreadableFile(f"File {str(path)!r}", needed, f"{show_bytes(size)} and more", hint)


class Counter:
    """Adds up what a file holds, and stops where it is too much.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path, self.limit = path, most_unpacked(path)
        self.rows, self.size = 0, 0

    def add(self, rows: int, columns: int, size: int) -> None:
        """Count a batch of rows, with the bytes that it takes when it is unpacked."""
        self.rows += rows
        check_counts(self.rows, columns)
        if _limits.get().unpacked is not None:
            # Untrusted: a flag of one bit is a value of its own when it is stored.
            size = max(size, CELL_BYTES * rows * columns)
        self.size += size
        if self.size > self.limit:
            raise too_large(self.path, self.size, self.limit)


# -- Parquet --------------------------------------------------------------------------------------


def check_parquet(source: Any, path: Path) -> None:
    """Refuse a Parquet file that holds too much, by its footer, and by its dictionaries.

    Parameters
    ----------
    source : path or Arrow file
    path : Path, for the error
    """
    counter = Counter(path)
    repeated: set[str] = set()
    with pyarrow.parquet.ParquetFile(source) as file:
        columns = len(file.schema_arrow)
    # Not by ``RowGroupMetaData.column``: statistics that do not fit the schema raise an error in
    # C++ there that pyarrow does not catch (26.0), which ends the process. The numbers of fields
    # are those of parquet.thrift, FileMetaData to ColumnMetaData.
    for group in _Compact(_read_footer(source)).struct().get(4, ()):
        size = 0
        for about in (chunk.get(3, {}) for chunk in group.get(1, ())):
            kind, values, unpacked = (about.get(number, 0) for number in (1, 5, 6))
            # Values, not rows: one row may have a list of any length, and a null takes no byte.
            size += max(values * PARQUET_BYTES.get(kind, CELL_BYTES), unpacked, 0)
            # Strings that are written once could fill the memory when they are repeated.
            if kind == STRINGS and 11 in about and values * unpacked > counter.limit:
                repeated.add(b".".join(about.get(3, ())).decode())
        counter.add(group.get(3, 0), columns, size)
    if repeated:
        _check_repeats(source, sorted(repeated), counter)


def _read_footer(source: Any) -> bytes:
    """Return the footer of a file that pyarrow has opened, which checks its length."""
    with pa.OSFile(source) if isinstance(source, str) else nullcontext(source) as file:
        file.seek(file.size() - 8)
        (length,) = struct.unpack("<I", file.read(4))
        file.seek(file.size() - 8 - length)
        return bytes(file.read(length))


class _Compact:
    """Values in Thrift's compact protocol; the fields of a struct are known by their number."""

    def __init__(self, data: bytes) -> None:
        self._data = BytesIO(data)

    def _byte(self) -> int:
        return self._data.read(1)[0]

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._byte()) >= 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _signed(self) -> int:
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)  # zigzag: 0, -1, 1, -2, ...

    def struct(self) -> dict[int, Any]:
        """Return the fields of the struct that begins here."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._signed()
            # True and false are types of their own, without a value.
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):  # a float, which no field that is read here has; a text
            return self._data.read(8 if kind == 7 else self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15) for _ in range(count)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"type {kind} in a footer")  # maps are in no footer


def _check_repeats(source: Any, leaves: list[str], counter: Counter) -> None:
    """Add up the lengths of repeated strings, which are read as dictionaries."""
    if hasattr(source, "seek"):
        source.seek(0)
    names = sorted({leaf.split(".")[0] for leaf in leaves})
    with pyarrow.parquet.ParquetFile(source, read_dictionary=leaves) as file:
        for batch in file.iter_batches(columns=names):
            counter.add(0, 0, sum(repeated_bytes(cells, decoded=True) for cells in batch.columns))


# -- Arrow ----------------------------------------------------------------------------------------

MAGIC = b"ARROW1"
VIEWS = ("string_view", "binary_view")
BATCH, DICTIONARY = 3, 2  # types of messages
BUFFER = struct.Struct("<qq")  # offset and length of a buffer in the body of a message
BLOCK = struct.Struct("<qi4xq")  # where the footer says that a message is


def repeated_bytes(cells: Any, decoded: bool = False) -> int:
    """Return the bytes that views add when each cell is written out.

    Parameters
    ----------
    cells : Arrow array, whose views may refer to the same long value any number of times
    decoded : bool
        Whether dictionaries will be decoded: each cell then has the bytes of its word.
    """
    kind = cells.type
    if pa.types.is_struct(kind):
        return sum(repeated_bytes(part, decoded) for part in cells.flatten())
    if pa.types.is_dictionary(kind) and decoded:
        lengths = pc.binary_length(cells.dictionary).cast(pa.int64())
        return pc.sum(lengths.take(cells.indices)).as_py() or 0
    if pa.types.is_dictionary(kind):
        return repeated_bytes(cells.dictionary)
    if str(kind) in VIEWS:  # 16 bytes each, of which the first four are the length
        lengths = np.frombuffer(cells.buffers()[1], np.int32)[::4]
        return int(np.maximum(lengths[cells.offset :][: len(cells)], 0).sum(dtype=np.int64))
    return repeated_bytes(cells.values, decoded) if hasattr(cells, "values") else 0


def check_ipc(file: Any, columns: int, path: Path, *, footer: bool) -> None:
    """Refuse an Arrow file or stream that holds too much, by the messages of its batches.

    Parameters
    ----------
    file : Arrow file
    columns : int
        How many its schema has.
    path : Path, for the error
    footer : bool
        Whether it is a file, whose footer says where the batches are, or a stream.
    """
    counter = Counter(path)
    file.seek(0)
    for message in _listed(file) if footer else pyarrow.ipc.MessageReader.open_stream(file):
        header = _Flat.root(message.metadata)
        kind, batch = header.number(1, "<B"), header.table(2)
        if kind not in (BATCH, DICTIONARY) or batch is None:
            continue
        batch = batch.table(1) if kind == DICTIONARY else batch
        if batch is not None:
            rows = batch.number(0, "<q") if kind == BATCH else 0
            counter.add(rows, columns, _unpacked(batch, message.body))


def _listed(file: Any) -> Iterator[Any]:
    """Yield the messages that the footer of a file lists, as often as it does."""
    end = file.size() - len(MAGIC) - 4
    file.seek(end)
    (length,) = struct.unpack("<i", file.read(4))
    file.seek(end - length)
    footer = _Flat.root(file.read(length))
    for slot in (2, 3):  # dictionaries, batches
        for offset, _, _ in footer.structs(slot, BLOCK):
            file.seek(offset)
            yield pyarrow.ipc.read_message(file)


def _unpacked(batch: _Flat, body: Any) -> int:
    """Return the bytes of a batch: a compressed buffer begins with its length."""
    buffers = list(batch.structs(2, BUFFER))
    # Nodes are columns and parts of columns. One that is all null has no buffer, so that a byte
    # is counted for each of its cells.
    size = sum(length for length, _ in batch.structs(1, BUFFER))
    if batch.table(3) is None:
        return size + sum(length for _, length in buffers)
    content = memoryview(body)
    for offset, length in buffers:
        if length >= 8:
            (claimed,) = struct.unpack_from("<q", content, offset)
            size += length if claimed < 0 else claimed  # -1: this one is not compressed
    return size


class _Flat:
    """A table of a flatbuffer, the form of Arrow's headers; fields are known by their number."""

    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - struct.unpack_from("<i", data, at)[0]

    @classmethod
    def root(cls, data: Any) -> _Flat:
        """Return the outermost table."""
        view = memoryview(data)
        return cls(view, *struct.unpack_from("<I", view))

    def _position(self, slot: int) -> int | None:
        entry = 4 + 2 * slot
        if entry >= struct.unpack_from("<H", self._data, self._fields)[0]:
            return None
        (offset,) = struct.unpack_from("<H", self._data, self._fields + entry)
        return self._at + offset if offset else None

    def number(self, slot: int, form: str) -> int:
        """Return a number; 0 where the table does not have it."""
        position = self._position(slot)
        return 0 if position is None else int(struct.unpack_from(form, self._data, position)[0])

    def table(self, slot: int) -> _Flat | None:
        """Return a table inside of this one."""
        position = self._position(slot)
        return None if not position else _Flat(self._data, position + self.number(slot, "<I"))

    def structs(self, slot: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Yield the entries of a list."""
        if position := self._position(slot):
            start = position + self.number(slot, "<I")
            (count,) = struct.unpack_from("<I", self._data, start)
            yield from form.iter_unpack(self._data[start + 4 : start + 4 + count * form.size])
