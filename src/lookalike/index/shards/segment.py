"""A segment of an index whose rows stay in files: mapped arrays, cells read on demand."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, Param, UnreadableFile
from lookalike.index.segments import Segment, as_id
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.shards import DAMAGE, REBUILD, Key, Shard, write_shard
from lookalike.saving import fields
from lookalike.saving.decode import check_object, decode_cell
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import encode_cell
from lookalike.saving.encode import write as write_saved
from lookalike.table import Column, Table
from lookalike.table.model.table import CODED, MATRIX, check_cells

ROWS, CODES = "rows", "codes"
RAGGED = ("values", "offsets", "missing")


def _arrays_of(rows: Rows, start: Key) -> dict[Key, np.ndarray]:
    arrays: dict[Key, np.ndarray] = {}
    for name, cells in rows.arrays.items():
        if isinstance(cells, Ragged):
            arrays |= {(*start, "ragged", name, part): getattr(cells, part) for part in RAGGED}
        else:
            arrays[(*start, "array", name)] = cells
    for name, part in rows.parts.items():
        arrays |= _arrays_of(part, (*start, "part", name))
    return arrays


def _codes_of(shard: Shard) -> dict[Key, np.ndarray]:
    return {key[1:]: shard.array(*key) for key in shard.members if key[:1] == (CODES,)}


def _unlike(shard: Shard, needed: str, found: str) -> UnreadableFile:
    return UnreadableFile(f"Shard {shard.folder.name!r}", needed, found, REBUILD)


def _rows_of(shard: Shard, start: Key, seen: np.ndarray) -> Rows:
    arrays: dict[str, Any] = {}
    inner: dict[str, Rows] = {}
    depth = len(start)
    # The inverse of _arrays_of; keys of a damaged page may be shorter than those it writes.
    for key in shard.members:
        if key[:depth] != start:
            continue
        what, name = (*key[depth : depth + 2], "", "")[:2]
        if what == "array":
            arrays[name] = shard.array(*key)
        elif what == "ragged" and name not in arrays:
            arrays[name] = Ragged(*(shard.array(*start, "ragged", name, part) for part in RAGGED))
        elif what == "part" and name not in inner:
            inner[name] = _rows_of(shard, (*start, "part", name), seen)
    rows = Rows(seen, arrays, inner)
    rows.check_loaded({})
    return rows


# All chosen by hand. A row group is read and decompressed to show one of its rows.
ROWS_PER_GROUP = 4096
MAX_CACHED_GROUPS = 32  # of each shard
MAX_CACHED_COLUMNS = 4  # of each shard

Cells = tuple[Column, ...]


def write_cells(path: Path, table: Table) -> None:
    """Write the cells of a table as Parquet, the columns numbered in their order."""
    every = table.columns + table.aside
    whole = pa.table({str(number): _to_arrow(column) for number, column in enumerate(every)})
    pyarrow.parquet.write_table(whole, path, row_group_size=ROWS_PER_GROUP, compression="zstd")


def _to_arrow(column: Column) -> Any:
    kind, values = column.kind.name, column.values
    if kind == "number" or kind in CODED:
        return pa.array(np.ascontiguousarray(values))
    if kind == "text":
        return pa.array(values, pa.large_string())
    if kind == "series" or kind in MATRIX:
        return pa.array(list(values), pa.large_list(pa.float64()))
    texts = [None if cell is None else encode_cell(cell) for cell in values]
    return pa.array(texts, pa.large_string())


def _from_arrow(cells: Any, like: Column) -> np.ndarray:
    """Return cells as a column of this kind stores them; others are a ``ValueError``."""
    # Every read is checked: files may be untrusted, and may change after they were opened.
    values = _to_numpy(cells, like)
    check_cells(values, like.kind, like.name)
    return values


def _to_numpy(cells: Any, like: Column) -> np.ndarray:
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    # pyarrow may leave several chunks.
    if isinstance(cells, pa.ChunkedArray):
        cells = pa.concat_arrays(cells.chunks)
    kind = like.kind.name
    if kind in ("number", *CODED):
        return np.array(cells.to_numpy(zero_copy_only=False))
    if kind in MATRIX:
        flat = cells.flatten().to_numpy(zero_copy_only=False)
        return np.array(flat).reshape(len(cells), like.kind.width)
    out, values = np.empty(len(cells), dtype=object), cells.to_pylist()
    if kind == "text":
        out[:] = values
        return out
    read = partial(np.array, dtype=np.float64) if kind == "series" else decode_cell
    for row, cell in enumerate(values):
        out[row] = None if cell is None else read(cell)
    return out


class _CellFile:
    """An open Parquet file with caches of its columns and row groups; thread-safe."""

    def __init__(self, path: Path, like: Cells, n_rows: int) -> None:
        self.path, self.like, self.n_rows = path, like, n_rows
        # One reader at a time: a Parquet file has one position to read from.
        self.lock = threading.RLock()
        self.columns: dict[int, np.ndarray] = {}
        self.groups: dict[int, Cells] = {}
        self.file: Any = None
        # Opened now, so that an open index can be read even after its files are replaced.
        with self._refusing_damage():
            self.source = pa.OSFile(str(path))

    def _read(self, read: Callable[[Any], Any]) -> Any:
        with self.lock, self._refusing_damage():
            if self.file is None:
                file = pyarrow.parquet.ParquetFile(self.source)
                names = [str(number) for number in range(len(self.like))]
                if file.metadata.num_rows != self.n_rows or file.schema_arrow.names != names:
                    raise ValueError("other rows or columns")
                self.file = file
            return read(self.file)

    @contextmanager
    def _refusing_damage(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
            who = f"Shard {self.path.parent.name!r}, file {self.path.name!r}"
            found = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise UnreadableFile(who, "the cells of the shard", found, REBUILD) from error

    def _recent(self, cache: dict[int, Any], key: int, size: int, read: Callable[[], Any]) -> Any:
        """Return a cached value, or read it; the least recently used value is dropped."""
        with self.lock:
            value = cache.pop(key) if key in cache else read()
            cache[key] = value  # the last of the dict
            if len(cache) > size:
                del cache[next(iter(cache))]
            return value

    def column(self, number: int) -> Any:
        """Return all cells of one column, as an array."""

        def read(file: Any) -> np.ndarray:
            return _from_arrow(file.read(columns=[str(number)]).column(0), self.like[number])

        return self._recent(self.columns, number, MAX_CACHED_COLUMNS, lambda: self._read(read))

    def group(self, number: int) -> Any:
        """Return all columns of one row group."""
        return self._recent(self.groups, number, MAX_CACHED_GROUPS, lambda: self._groups([number]))

    def _groups(self, numbers: list[int]) -> Any:
        def read(file: Any) -> Cells:
            columns = file.read_row_groups(numbers).columns
            return tuple(
                replace(like, values=_from_arrow(cells, like))
                for like, cells in zip(self.like, columns, strict=True)
            )

        return self._read(read)

    def take(self, rows: np.ndarray) -> Cells:
        """Return some rows of all columns, reading the row groups that they are in."""
        # Rows may be in any order and repeat: each group is read once.
        groups, inverse = np.unique(rows // ROWS_PER_GROUP, return_inverse=True)
        sizes = np.minimum(ROWS_PER_GROUP, self.n_rows - groups * ROWS_PER_GROUP)
        offsets = (np.cumsum(sizes) - sizes)[inverse] + rows % ROWS_PER_GROUP
        columns = self._groups(groups.tolist())
        return tuple(replace(column, values=column.values[offsets]) for column in columns)


class _ShardColumn(Column):
    """A column whose cells are read on demand."""

    _file: _CellFile
    _number: int

    def __init__(self, like: Column, file: _CellFile, number: int) -> None:
        known = {"name": like.name, "kind": like.kind, "unknown": like.unknown}
        for name, value in (known | {"_file": file, "_number": number}).items():
            # Columns are frozen dataclasses.
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self._file.n_rows

    @property
    def values(self) -> np.ndarray:
        """All cells, read now."""
        return np.asarray(self._file.column(self._number))

    def take(self, rows: Any) -> Column:
        """Return a column with some of its rows, held in memory."""
        return Column(self.name, self.kind, self.values[rows], self.unknown)

    def cell(self, row: int) -> Any:
        """Return one cell as a Python value, None where it is missing."""
        number, offset = divmod(row + len(self) if row < 0 else row, ROWS_PER_GROUP)
        return self._file.group(number)[self._number].cell(offset)


class ShardTable(Table):
    """The rows of a shard as they were read, in a file until they are needed.

    Parameters
    ----------
    path : Path of the cells
    like : Table without rows, whose columns and kinds these are
    n_rows : int
    """

    def __init__(self, path: Path, like: Table, n_rows: int) -> None:
        every = like.columns + like.aside
        self._file = _CellFile(path, every, n_rows)
        columns = [_ShardColumn(column, self._file, number) for number, column in enumerate(every)]
        compared = len(like.columns)
        super().__init__(columns[:compared], columns[compared:], n_rows, like.missing)

    def check(self) -> None:
        """Read all cells, some at a time, and refuse what the kinds of the columns do not allow."""
        for start in range(0, len(self), ROWS_PER_GROUP):
            some = self[start : start + ROWS_PER_GROUP]
            for column in some.columns + some.aside:
                column.check_loaded({})

    def __getitem__(self, key: Any) -> Any:
        """Return a column by name, or a table with some of the rows, held in memory."""
        if isinstance(key, str):
            return super().__getitem__(key)
        rows = np.arange(len(self))[key[0] if isinstance(key, tuple) else key]
        columns = self._file.take(rows) if len(rows) else self._file.like
        compared = len(self.columns)
        return Table(columns[:compared], columns[compared:], len(rows), self.missing)


CELLS = "cells.parquet"
COLUMNS = "unknown.lookalike"  # a table without rows: the columns of a shard that has its own
NO_HASHES = np.empty(0, np.uint64)
# Rows from which a shard is not written again when rows are added: 10 MB for twenty numbers (chosen
# by hand).
MIN_SEALED_ROWS = 2**16


@dataclass(frozen=True, eq=False)
class ShardSegment(Segment):
    """Some rows of an index, stored in a shard.

    Parameters
    ----------
    rows : Rows, mapped
    table : Table that reads its cells on demand
    positions, live : as in ``Segment``
    shard : Shard
    fitted : bool, whether the measure was fitted to these rows
    sample : Table, optional
        What shows how the cells of all rows are written; None: this shard.
    ids : (hashes of the ids, ascending, and the row of each), mapped; empty without a column of ids
    """

    shard: Shard
    fitted: bool = False
    sample: Table | None = None
    ids: tuple[np.ndarray, np.ndarray] = (NO_HASHES, NO_HASHES)

    @property
    def sealed(self) -> bool:
        """Whether it is never merged with rows that are added later."""
        return self.fitted or len(self) >= MIN_SEALED_ROWS

    @property
    def typical_table(self) -> Table:
        """A table that shows how the cells of the whole index are written."""
        return self.table if self.sample is None else self.sample

    def id_at(self, column: str, offset: int) -> Any:
        """Return the id of a row, which a column holds, by its offset."""
        return as_id(self.table[column].cell(int(offset)))

    def find_id(self, column: str, id: Any) -> int:
        """Return the offset of the live row with an id, -1 if no row has it."""
        hashes, rows = self.ids
        wanted = np.uint64(_hash(id))
        first, last = (int(np.searchsorted(hashes, wanted, side)) for side in ("left", "right"))
        for offset in sorted(rows[first:last].tolist(), reverse=True):
            # Different ids may share a hash; of equal ones the last counts, deleted or not.
            if self.id_at(column, offset) == id:
                return offset if self.live[offset] else -1
        return -1

    def ids_among(self, column: str, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids are those of live rows."""
        hashes = self.ids[0]
        wanted = np.fromiter(map(_hash, ids), np.uint64, len(ids))
        # By hash first: cells are read only for the few ids whose hash is here.
        nearest = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        likely = np.flatnonzero(hashes[nearest] == wanted).tolist() if len(hashes) else ()
        return super().ids_among(column, [ids[i] for i in likely])

    @property
    def live_rows(self) -> tuple[Rows, np.ndarray]:
        """The live rows and their positions; not cached: those of all shards may not fit."""
        return self.select(self.live)


def write_segment(
    folder: Path, measure: Measure, segment: Segment, id_column: str | None, **about: Any
) -> Shard:
    """Write the rows of a segment as a shard, whole or not at all.

    Parameters
    ----------
    folder : Path that the shard gets
    measure : Measure, fitted, that the rows are encoded by
    segment : Segment
    id_column : str or None
    about : more entries of the page of the shard; JSON must hold them
    """
    table, codes = segment.table, measure.codes_to_arrays(segment.rows)
    arrays = {("positions",): segment.positions, **_arrays_of(segment.rows, (ROWS,))}
    arrays |= {(CODES, *key): array for key, array in codes.items()}
    if id_column is not None:
        ids = map(as_id, table[id_column].values)
        hashes = np.fromiter(map(_hash, ids), np.uint64, len(table))
        # Sorted by hash, for bisection in the mapped file; stable, so that later rows come later.
        order = np.argsort(hashes, kind="stable")
        arrays["ids", "hash"], arrays["ids", "row"] = hashes[order], order
    more = {CELLS: lambda path: write_cells(path, table)}
    # Added rows may have unknown levels, and the kinds of columns that are set aside are inferred
    # from their own cells: then the columns are not those of the fitted rows.
    if any(column.unknown for column in table) or (table.aside and not about.get("fitted")):
        more[COLUMNS] = lambda path: write_saved(path, table[:0])
    return write_shard(folder, arrays, {**about, "rows": len(segment)}, more)


def open_segment(
    measure: Measure, shard: Shard, like: Table, n_fitted: int, sample: Table | None
) -> ShardSegment:
    """Return the rows of a shard as a segment, none of them read.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    like : Table without rows, with the columns of the index
    n_fitted : int, how many rows the measure was fitted to
    sample : Table, optional, what shows how cells are written
    """
    n, positions = shard.number("rows"), shard.array("positions")
    if positions.shape != (n,):
        raise _unlike(shard, f"{n:,} rows", f"positions of shape {positions.shape}")
    fitted = bool(shard.about.get("fitted"))
    # Mapped, not read: pages of the file are loaded when a search needs them.
    try:
        # Fitted rows have the first positions; a frozen measure was fitted to other rows.
        seen = positions if fitted and n_fitted else np.full(n, -1)
        rows = _rows_of(shard, (ROWS,), seen)
        measure.check_row_forms(rows, f"Shard {shard.folder.name!r}")
        measure.codes_from_arrays(rows, _codes_of(shard))
    except DAMAGE as error:
        found = f"others ({type(error).__name__}: {error})"[:200]
        raise _unlike(shard, "rows with codes", found) from error
    ids = (NO_HASHES, NO_HASHES)
    # Mapped now: the files may be replaced while the index is open.
    if ("ids", "hash") in shard.members:
        ids = shard.array("ids", "hash"), shard.array("ids", "row")
    live, table = np.ones(n, bool), _table_of(shard, like)
    return ShardSegment(rows, table, positions, live, shard, fitted, sample, ids)


def _table_of(shard: Shard, like: Table) -> ShardTable:
    """Return the cells of a shard; it may have columns of its own."""
    if COLUMNS in shard.files:
        like = read_saved(shard.path(COLUMNS), root=Table)
    return ShardTable(shard.path(CELLS), like, shard.number("rows"))


def check_segment(measure: Measure, segment: ShardSegment, id_column: str | None) -> None:
    """Check all that a shard holds as untrusted input: no code may index outside of an array.

    Parameters
    ----------
    measure : Measure, fitted
    segment : ShardSegment
    id_column : str or None
    """
    where, shard = f"Shard {segment.shard.folder.name!r}", segment.shard
    _check_objects(segment.rows)
    measure.check_rows(segment.rows, where)
    # Bounds by codes of other rows would prune near ones. Compared as bytes: codes are floats as
    # well, and NaN must equal NaN.
    again = measure.codes_to_arrays(_rows_of(shard, (ROWS,), segment.rows.seen))
    stored, made = (
        {key: (array.dtype, array.shape, array.tobytes()) for key, array in codes.items()}
        for codes in (_codes_of(shard), again)
    )
    if stored != made:
        raise _unlike(shard, "the codes of its rows", "others")
    fields.check_fields({"positions": segment.positions}, fields.fields_of(Segment), where)
    if id_column is not None:
        # Ids are found by bisection, which needs them in order, and returns these rows.
        hashes, rows = segment.ids
        n = len(segment)
        fits = hashes.shape == rows.shape == (n,) and rows.dtype.kind == "i"
        fits = fits and bool((hashes[1:] >= hashes[:-1]).all())
        fits = fits and np.array_equal(np.sort(rows), np.arange(n))
        fields.require(fits, f"{where}.ids", "every row once, by the hash of its id", "others")
    assert isinstance(segment.table, ShardTable)
    segment.table.check()


def _check_objects(rows: Rows) -> None:
    """Check rows against what their classes declare, inner ones first."""
    for part in rows.parts.values():
        _check_objects(part)
    for cells in rows.arrays.values():
        if isinstance(cells, Ragged):
            check_object(cells)
    check_object(rows)


def refuse_repeats(shards: Sequence[Shard], like: Table, column: str | None, who: str) -> None:
    """Refuse an id that is in two shards; ids of one shard were compared when it was written.

    Parameters
    ----------
    shards : sequence of Shard
    like : Table without rows, with the columns of the index
    column : str or None, the column of ids
    who : str, the caller, for errors
    """
    if column is None:
        return
    parts = [shard.array("ids", "hash") for shard in shards]
    ends = np.cumsum([len(part) for part in parts])
    hashes = np.concatenate(parts)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    for i in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
        ids = []
        for entry in order[i : i + 2].tolist():
            number = int(np.searchsorted(ends, entry, "right"))
            row = shards[number].array("ids", "row")[entry - ends[number]]  # from the end
            ids.append(_table_of(shards[number], like)[column].cell(int(row)))
        # Different ids may share a hash.
        if ids[0] == ids[1]:
            where, hint = Param("id_column", column, of=who), "Use a column without repeats"
            raise InvalidInput(where, "ids that differ", f"{ids[0]!r} twice", hint)


def _hash(id: Any) -> int:
    # Python's own hash of texts differs from process to process.
    digest = hashlib.blake2b(encode_cell(id).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
