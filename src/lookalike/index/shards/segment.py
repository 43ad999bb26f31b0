"""A segment of an index whose rows stay in files: mapped arrays, cells read when shown."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from lookalike.neighbors.shards import Key, Shard, write_shard
from lookalike.saving.decode import decode_cell
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import encode_cell
from lookalike.saving.encode import write as write_saved
from lookalike.table import Column, Table
from lookalike.table.model.table import CODED, MATRIX, check_cells

ROWS, CODES = "rows", "codes"
RAGGED = ("values", "offsets", "missing")


def pack_rows(measure: Measure, rows: Rows) -> dict[Key, np.ndarray]:
    """Return the arrays of encoded rows, and of the codes that searching them needs, by keys.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows that it encoded
    """
    arrays = _arrays_of(rows, (ROWS,))
    codes = measure.codes_to_arrays(rows)
    return {**arrays, **{(CODES, *key): array for key, array in codes.items()}}


def _arrays_of(rows: Rows, start: Key) -> dict[Key, np.ndarray]:
    found: dict[Key, np.ndarray] = {}
    for name, cells in rows.arrays.items():
        if isinstance(cells, Ragged):
            found |= {(*start, "ragged", name, part): getattr(cells, part) for part in RAGGED}
        else:
            found[(*start, "array", name)] = cells
    for name, part in rows.parts.items():
        found |= _arrays_of(part, (*start, "part", name))
    return found


def map_rows(measure: Measure, shard: Shard, seen: np.ndarray) -> Rows:
    """Return the encoded rows of a shard without reading them.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    seen : int64, the position of each row in the fitted table, -1 for others
    """
    rows = _rows_of(shard, (ROWS,), seen)
    measure.check_row_forms(rows, f"Shard {shard.folder.name!r}")
    codes = {key[1:]: shard.array(*key) for key in shard.members if key[:1] == (CODES,)}
    try:
        measure.codes_from_arrays(rows, codes)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        found = f"others ({type(error).__name__}: {error})"[:200]
        raise _unlike(shard, "the codes of its rows", found) from error
    return rows


def check_lengths(shard: Shard, n: int) -> None:
    """Refuse a shard whose arrays of encoded rows are not of so many rows.

    Looked at before anything as long as the rows is made: their number is only said.

    Parameters
    ----------
    shard : Shard
    n : int
    """
    for key in shard.members:
        if key[:1] == (ROWS,) and (key[-2:-1] == ("array",) or key[-1] == "missing"):
            cells = shard.array(*key)
            if not cells.ndim or len(cells) != n:
                found = f"an array of shape {cells.shape} in {' '.join(key)!r:.80}"
                raise _unlike(shard, f"{n:,} rows", found)


def check_codes(measure: Measure, shard: Shard, seen: np.ndarray) -> None:
    """Refuse codes that are not those of the rows: they would lead a search astray.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    seen : int64, the position of each row in the fitted table, -1 for others
    """
    kept = {key[1:]: shard.array(*key) for key in shard.members if key[:1] == (CODES,)}
    made = measure.codes_to_arrays(_rows_of(shard, (ROWS,), seen))
    same = kept.keys() == made.keys() and all(_same(kept[key], made[key]) for key in kept)
    if not same:
        raise _unlike(shard, "the codes of its rows", "others")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _unlike(shard: Shard, needed: str, found: str) -> UnreadableFile:
    hint = "Build it again from its source: lookalike index check FOLDER --repair"
    return UnreadableFile(f"Shard {shard.folder.name!r}", needed, found, hint)


def _rows_of(shard: Shard, start: Key, seen: np.ndarray) -> Rows:
    arrays: dict[str, Any] = {}
    inner: dict[str, Rows] = {}
    depth = len(start)
    for key in shard.members:
        if key[:depth] != start:
            continue
        what, name = (*key[depth : depth + 2], "", "")[:2]
        if what == "array":
            arrays[name] = shard.array(*key)
        elif what == "ragged" and name not in arrays:
            parts = (shard.array(*start, "ragged", name, part) for part in RAGGED)
            arrays[name] = Ragged(*parts)
        elif what == "part" and name not in inner:
            inner[name] = _rows_of(shard, (*start, "part", name), seen)
    return Rows(seen, arrays, inner)


def pack_numbers(
    key: str, numbers: np.ndarray
) -> tuple[dict[Key, np.ndarray], dict[str, int | None]]:
    """Return whole numbers as (arrays, what is said about them): a run needs no array."""
    first = int(numbers[0]) if len(numbers) else 0
    if np.array_equal(numbers, np.arange(first, first + len(numbers))):
        return {}, {key: first}
    if len(numbers) and (numbers == -1).all():
        return {}, {key: None}
    return {(key,): numbers}, {}


def map_numbers(shard: Shard, key: str, n: int) -> np.ndarray:
    """Return whole numbers as ``pack_numbers`` has packed them."""
    if (key,) in shard.members:
        return shard.array(key)
    if key in shard.about and shard.about[key] is None:
        return np.full(n, -1)
    first = shard.number(key, low=-1)
    return np.arange(first, first + n)


GROUP = 4096  # rows of a row group: what is read to show one of them
GROUPS = 32  # row groups that are kept once read, of each shard
WHOLE = 4  # whole columns that are kept once read, of each shard

Cells = tuple[Column, ...]


def write_cells(path: Path, table: Table) -> None:
    """Write the cells of a table as Parquet, the columns numbered in their order."""
    every = table.columns + table.aside
    arrays = [_to_arrow(column) for column in every]
    names = [str(number) for number in range(len(every))]
    whole = pa.Table.from_arrays(arrays, names=names)
    pyarrow.parquet.write_table(whole, path, row_group_size=GROUP, compression="zstd")


def _to_arrow(column: Column) -> Any:
    kind, values = column.kind.name, column.values
    if kind == "number" or kind in CODED:
        return pa.array(np.ascontiguousarray(values))
    if kind in MATRIX:
        if not values.size:
            return pa.nulls(len(values))
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    if kind == "text":
        return pa.array(values, pa.large_string())
    if kind == "series":
        return pa.array(list(values), pa.large_list(pa.float64()))
    return pa.array(
        [None if cell is None else encode_cell(cell) for cell in values], pa.large_string()
    )


def _from_arrow(cells: Any, like: Column) -> np.ndarray:
    """Return cells as a column of this kind keeps them; others are a ``ValueError``."""
    values = _convert(cells, like)
    check_cells(values, like.kind, like.name)
    return values


def _convert(cells: Any, like: Column) -> np.ndarray:
    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(cells, pa.ChunkedArray):
        cells = pa.concat_arrays(cells.chunks)
    kind = like.kind.name
    if kind == "number" or kind in CODED:
        return np.array(cells.to_numpy(zero_copy_only=False))
    if kind in MATRIX:
        if pa.types.is_null(cells.type):
            return np.empty((len(cells), like.kind.width), like.values.dtype)
        return np.array(cells.flatten().to_numpy(zero_copy_only=False)).reshape(len(cells), -1)
    out = np.empty(len(cells), dtype=object)
    listed = cells.to_pylist()
    if kind == "text":
        out[:] = listed
        return out
    read: Callable[[Any], Any] = decode_cell if kind != "series" else _series
    for row, cell in enumerate(listed):
        out[row] = None if cell is None else read(cell)
    return out


def _series(cell: list[float]) -> np.ndarray:
    return np.array(cell, dtype=np.float64)


class _File:
    """An open Parquet file and what was read of it lately; several threads may ask."""

    def __init__(self, path: Path, like: Cells, n_rows: int) -> None:
        self.path, self.like, self.n_rows = path, like, n_rows
        self.lock = threading.Lock()
        self.groups: OrderedDict[int, Cells] = OrderedDict()
        self.whole: OrderedDict[int, np.ndarray] = OrderedDict()
        self.file: Any = None
        # Opened at once, so that whoever has the index open reads it even after it is replaced.
        self.source: Any = None
        self.source = self._read(lambda _: pa.OSFile(str(path)), opened=False)

    def _open(self) -> Any:
        if self.file is None:
            found = pyarrow.parquet.ParquetFile(self.source)
            names = [str(number) for number in range(len(self.like))]
            if found.metadata.num_rows != self.n_rows or found.schema_arrow.names != names:
                raise ValueError("other rows or columns")
            self.file = found
        return self.file

    def _read(self, read: Callable[[Any], Any], opened: bool = True) -> Any:
        try:
            return read(self._open() if opened else None)
        except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
            who = f"Shard {self.path.parent.name!r}, file {self.path.name!r}"
            hint = "Build it again from its source: lookalike index check FOLDER --repair"
            found = (str(error) or type(error).__name__).splitlines()[0][:200]
            raise UnreadableFile(who, "the cells of the shard", found, hint) from error

    def column(self, number: int) -> np.ndarray:
        """Return all cells of one column."""
        with self.lock:
            if number in self.whole:
                self.whole.move_to_end(number)
            else:
                self.whole[number] = self._read(
                    lambda file: _from_arrow(
                        file.read(columns=[str(number)]).column(0), self.like[number]
                    )
                )
                while len(self.whole) > WHOLE:
                    self.whole.popitem(last=False)
            return self.whole[number]

    def near(self, row: int) -> tuple[Cells, int]:
        """Return the row group of a row, and where in it the row stands."""
        at = row // GROUP
        with self.lock:
            if at in self.groups:
                self.groups.move_to_end(at)
            else:
                some = self._read(lambda file: self._convert(file.read_row_group(at)))
                self.groups[at] = some
                while len(self.groups) > GROUPS:
                    self.groups.popitem(last=False)
            return self.groups[at], row % GROUP

    def take(self, rows: np.ndarray) -> Cells:
        """Return some rows of all columns, reading the row groups that they are in."""
        wanted, inverse = np.unique(rows // GROUP, return_inverse=True)
        starts = np.cumsum([0, *(self._group_size(int(at)) for at in wanted)])[:-1]
        parts: Cells = self._read(lambda file: self._convert(file.read_row_groups(wanted.tolist())))
        at = starts[inverse] + rows % GROUP
        return tuple(replace(column, values=column.values[at]) for column in parts)

    def _convert(self, some: Any) -> Cells:
        return tuple(
            replace(like, values=_from_arrow(cells, like))
            for like, cells in zip(self.like, some.columns, strict=True)
        )

    def _group_size(self, at: int) -> int:
        return min(GROUP, self.n_rows - at * GROUP)


class _ShardColumn(Column):
    """A column whose cells are read when they are asked for."""

    def __init__(self, like: Column, file: _File, number: int) -> None:
        for name, value in (("name", like.name), ("kind", like.kind), ("unknown", like.unknown)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "_number", number)

    _file: _File
    _number: int

    def __len__(self) -> int:
        return self._file.n_rows

    @property
    def values(self) -> np.ndarray:
        """All cells, read now."""
        return self._file.column(self._number)

    def take(self, at: Any) -> Column:
        """Return a column with some of its rows, held in memory."""
        return Column(self.name, self.kind, self.values[at], self.unknown)

    def cell(self, row: int) -> Any:
        """Return one cell as a Python value, None where it is missing."""
        group, at = self._file.near(row + len(self) if row < 0 else row)
        return group[self._number].cell(at)


class ShardTable(Table):
    """The rows of a shard as they were read, in a file until they are asked for.

    Parameters
    ----------
    path : Path of the cells
    like : Table without rows, whose columns and kinds these are
    n_rows : int
    """

    def __init__(self, path: Path, like: Table, n_rows: int) -> None:
        every = like.columns + like.aside
        self._file = _File(path, every, n_rows)
        columns = [_ShardColumn(column, self._file, at) for at, column in enumerate(every)]
        here = len(like.columns)
        super().__init__(columns[:here], columns[here:], n_rows, like.missing)

    def check(self) -> None:
        """Read all cells, some at a time, and refuse what the kinds of the columns do not allow."""
        for start in range(0, len(self), GROUP):
            some = self[start : start + GROUP]
            for column in some.columns + some.aside:
                column.check_loaded({})

    def __getitem__(self, at: Any) -> Any:
        """Return a column by name, or a table with some of the rows, held in memory."""
        if isinstance(at, str):
            return super().__getitem__(at)
        rows = np.arange(len(self))[at[0] if isinstance(at, tuple) else at]
        if not len(rows):
            columns: Sequence[Column] = self._file.like
        else:
            columns = self._file.take(rows)
        here = len(self.columns)
        return Table(columns[:here], columns[here:], len(rows), self.missing)


CELLS = "cells.parquet"
COLUMNS = "unknown.lookalike"  # a table without rows: the columns of a shard that has its own
NOTHING = np.empty(0, np.uint64)
SEALED = 2**16  # rows from which a shard is not written again when rows are added


@dataclass(frozen=True, eq=False)
class ShardSegment(Segment):
    """Some rows of an index, kept in a shard.

    Parameters
    ----------
    rows : Rows, mapped
    table : Table that reads its cells when they are asked for
    positions, live : as in ``Segment``
    shard : Shard
    is_fitted : bool, whether the measure was fitted to these rows
    sample : Table, optional
        What shows how the cells of all rows are written; None: this shard.
    ids : (hashes of the ids, ascending, and the row of each), mapped; empty without a column of ids
    """

    shard: Shard
    is_fitted: bool = False
    sample: Table | None = None
    ids: tuple[np.ndarray, np.ndarray] = (NOTHING, NOTHING)

    @property
    def fitted(self) -> bool:
        """Whether it is known to hold rows that the measure was fitted to."""
        return self.is_fitted

    @property
    def sealed(self) -> bool:
        """Whether it is never merged with rows that come later."""
        return self.is_fitted or len(self) >= SEALED

    @property
    def typical_table(self) -> Table:
        """A table that shows how the cells of the whole index are written."""
        return self.table if self.sample is None else self.sample

    def id_at(self, column: str, at: int) -> Any:
        """Return the id that a column gives to a row, by where it stands."""
        return as_id(self.table[column].cell(int(at)))

    def find_id(self, column: str, id: Any) -> int:
        """Return where the live row stands that a column gives an id to, -1 if there is none."""
        hashes, rows = self.ids
        wanted = np.array([_hash(id)], np.uint64)[0]
        first, last = (int(np.searchsorted(hashes, wanted, side)) for side in ("left", "right"))
        for at in sorted(rows[first:last].tolist(), reverse=True):
            if self.id_at(column, at) == id:  # the last one counts, deleted or not
                return at if self.live[at] else -1
        return -1

    def ids_among(self, column: str, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids a column gives to live rows."""
        hashes = self.ids[0]
        wanted = np.fromiter(map(_hash, ids), np.uint64, len(ids))
        at = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        maybe = np.flatnonzero(hashes[at] == wanted) if len(hashes) else ()
        return super().ids_among(column, [ids[int(one)] for one in maybe])

    def view(self, mask: np.ndarray | None) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Return rows to be searched, their numbers, and the numbers among them that are hidden."""
        # Unlike in memory, what is cut out is not kept: all shards together may not fit.
        allowed = self.allowed(mask)
        if allowed is None:
            return self.rows, self.positions, np.empty(0, np.int64)
        at = np.flatnonzero(allowed)
        return self.rows[at], self.positions[at], np.empty(0, np.int64)


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
    about : what else is to be said about the shard; JSON must hold it
    """
    arrays: dict[Key, np.ndarray] = pack_rows(measure, segment.rows)
    said: dict[str, Any] = {"rows": len(segment)}
    for key, numbers in (("positions", segment.positions), ("seen", segment.rows.seen)):
        packed, words = pack_numbers(key, numbers)
        arrays |= packed
        said |= words
    table = segment.table
    if id_column is not None:
        hashes = id_hashes(table[id_column])
        order = np.argsort(hashes, kind="stable")
        arrays["ids", "hash"], arrays["ids", "row"] = hashes[order], order
    more = {CELLS: lambda path: write_cells(path, table)}
    # Added rows may have new levels, and columns that were set aside are read again by their own
    # cells: in either case the columns are not those of the fitted rows.
    if any(column.unknown for column in table) or (table.aside and not about.get("fitted")):
        more[COLUMNS] = lambda path: write_saved(path, table[:0])
    return write_shard(folder, arrays, {**about, **said}, more)


def open_segment(
    measure: Measure, shard: Shard, like: Table, *, fitted: bool, sample: Table | None
) -> ShardSegment:
    """Return the rows of a shard as a segment, none of them read.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    like : Table without rows, with the columns of the index
    fitted : bool, whether the measure was fitted to these rows
    sample : Table, optional, what shows how cells are written
    """
    n = shard.number("rows")
    check_lengths(shard, n)
    if COLUMNS in shard.files:
        like = read_saved(shard.path(COLUMNS), root=Table)
    rows = map_rows(measure, shard, map_numbers(shard, "seen", n))
    table = ShardTable(shard.path(CELLS), like, n)
    positions = map_numbers(shard, "positions", n)
    if len(positions) != n:
        where = f"Shard {shard.folder.name!r}.positions"
        raise UnreadableFile(where, f"{n:,} numbers", f"{len(positions):,}", "Build it again")
    ids = (NOTHING, NOTHING)
    if ("ids", "hash") in shard.members:  # mapped now: the shard may be replaced meanwhile
        ids = shard.array("ids", "hash"), shard.array("ids", "row")
    return ShardSegment(rows, table, positions, np.ones(n, bool), shard, fitted, sample, ids)


def id_hashes(column: Column) -> np.ndarray:
    """Return a number per id, the same for equal ids."""
    found = (_hash(as_id(value)) for value in column.values)
    return np.fromiter(found, np.uint64, len(column))


def refuse_repeats(
    shards: Sequence[Shard], read: Callable[[int, int], Any], column: str, who: str
) -> None:
    """Refuse an id that comes in two shards; ids of one shard were compared when it was written.

    Parameters
    ----------
    shards : sequence of Shard
    read : callable from the number of a shard and of a row in it to the row's id
    column : str, the column of ids
    who : str, whose name an error begins with
    """
    hashes = np.concatenate([shard.array("ids", "hash") for shard in shards])
    where = np.repeat(np.arange(len(shards)), [len(shard.array("ids", "hash")) for shard in shards])
    order = np.argsort(hashes, kind="stable")
    hashes, where = hashes[order], where[order]
    for at in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
        ids = []
        for number in where[at : at + 2].tolist():
            shard = shards[number]
            row = shard.array("ids", "row")[shard.array("ids", "hash") == hashes[at]][0]
            ids.append(read(number, int(row)))
        if ids[0] == ids[1]:  # different ids may have one hash
            hint = "Use a column without repeats"
            found = f"{ids[0]!r} twice"
            raise InvalidInput(Param("id_column", column, of=who), "ids that differ", found, hint)


def _hash(id: Any) -> int:
    digest = hashlib.blake2b(encode_cell(id).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
