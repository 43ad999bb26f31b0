"""The cells of a shard as they were read: a Parquet file, of which only what is shown is read.

Numbers and codes are written as they are kept, texts as texts, matrices as lists of one length;
sets, sequences, graphs and objects as JSON, one text per cell, in the words of saved files. A cell
comes back as it was, to the type of the items of a set.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from lookalike.errors import UnreadableFile
from lookalike.saving.decode import decode_cell
from lookalike.saving.encode import encode_cell
from lookalike.table import Column, Table
from lookalike.table.model.table import CODED, MATRIX, check_cells

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
        wanted, place = np.unique(rows // GROUP, return_inverse=True)
        starts = np.cumsum([0, *(self._group_size(int(at)) for at in wanted)])[:-1]
        parts: Cells = self._read(lambda file: self._convert(file.read_row_groups(wanted.tolist())))
        at = starts[place] + rows % GROUP
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
