"""Parquet files read in parts, as if they were one: any rows, any columns, in order.

``pyarrow.dataset`` would find and join the files too, but it scans them from the start to return
single rows (``take``) and has no rows from ``low`` to ``high``, fills columns that a file does not
have with missing cells where we name the file, and does not validate what it reads. What remains
after these is the loop over row groups below.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from lookalike.errors import InvalidInput, Param, WrongType, missing_file
from lookalike.table.formats.delimited import unreadable
from lookalike.table.formats.files import reading

# Read together; chosen by hand.
BATCH_ROWS = 2**16
ENDINGS = (".parquet", ".pq")
WHO = Param("lazy", True, of="read_table")


def find_files(paths: Any) -> list[Path]:
    """Return Parquet files in a fixed order: a file, a folder of them, a pattern, or a list.

    A folder and a pattern mean their files in the order of the names.
    """
    single = isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable)
    found: list[Path] = []
    for path in [paths] if single else paths:
        if not isinstance(path, str | os.PathLike):
            hint = 'Pass for example "rows/*.parquet" or ["2023.parquet", "2024.parquet"]'
            raise WrongType(WHO, "paths of Parquet files", type(path).__name__, hint)
        found += _files_of(Path(path).expanduser())
    if not found:
        raise InvalidInput(WHO, "at least one file", "none", 'Pass for example "rows/*.parquet"')
    return found


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in ENDINGS and p.is_file())
        if not inside:
            hint = "Name a folder of .parquet files"
            raise unreadable(path, "a folder with Parquet files", "none in it", hint)
        return inside
    if not path.exists():
        matched = sorted(map(Path, glob.glob(str(path)))) if glob.has_magic(str(path)) else []
        if not matched:
            raise missing_file(path)
        return matched
    if path.suffix.lower() not in ENDINGS:
        hint = "Write the rows as Parquet, or read them in memory: read_table(path)"
        raise unreadable(path, "a Parquet file", f"the ending {path.suffix!r}", hint)
    return [path]


@dataclass(frozen=True)
class ParquetParts:
    """Parquet files of one schema, one after another.

    Parameters
    ----------
    files : tuple of Path
    counts : rows of each file
    schema : Arrow schema of all of them
    """

    files: tuple[Path, ...]
    counts: tuple[int, ...]
    schema: Any

    @classmethod
    def open(cls, files: Sequence[Path]) -> ParquetParts:
        """Look at the schemas; two that differ are an error that names file and column."""
        schemas, counts = [], []
        for path in files:
            with reading(path, "parquet"), pyarrow.parquet.ParquetFile(path) as file:
                schemas.append(file.schema_arrow)
                counts.append(file.metadata.num_rows)
        first = schemas[0]
        for name in first.names:
            if first.names.count(name) > 1 or not name.strip():
                found = f"{name!r} {'twice ' if name.strip() else ''}in {files[0].name}"
                raise InvalidInput(WHO, "column names that differ", found, "Rename the column")
        fields: dict[str, tuple[Any, Path]] = {}
        for path, schema in zip(files, schemas, strict=True):
            _agree(fields, schema, path, first.names)
        order = [pa.field(n, k, metadata=first.field(n).metadata) for n, (k, _) in fields.items()]
        return cls(tuple(files), tuple(counts), pa.schema(order))

    def __len__(self) -> int:
        return sum(self.counts)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def _some(self, columns: Sequence[str] | None) -> Any:
        """Return the schema of some columns; of all of them for None."""
        names = self.names if columns is None else columns
        return pa.schema([self.schema.field(name) for name in names])

    def _located(self) -> Iterator[tuple[Path, int, int]]:
        """Give each file, the position of its first row, and how many it has."""
        firsts = np.cumsum([0, *self.counts[:-1]]).tolist()
        return zip(self.files, firsts, self.counts, strict=True)

    def batches(
        self, start: int = 0, stop: int | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Yield Arrow tables of up to ``BATCH_ROWS`` rows each, from row ``start`` to ``stop``.

        Parameters
        ----------
        start, stop : int
        columns : names, optional
            None: all columns. Others are not read.
        """
        stop = len(self) if stop is None else min(stop, len(self))
        schema = self._some(columns)
        for path, first, count in self._located():
            low, high = max(start - first, 0), min(stop - first, count)
            if low < high:
                yield from _read(path, low, high, schema, count)

    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> Any:
        """Return some rows, one after another, as one Arrow table."""
        parts = list(self.batches(start, stop, columns))
        return pa.concat_tables(parts) if parts else self._some(columns).empty_table()

    def take(self, rows: np.ndarray, columns: Sequence[str] | None = None) -> Any:
        """Return single rows, in the order asked for, reading the row groups that hold them."""
        schema = self._some(columns)
        # Sorted, so that every row group is read once, whatever order is asked for.
        order = np.argsort(rows, kind="stable")
        ranked = np.asarray(rows, np.int64)[order]
        parts = []
        for path, first, count in self._located():
            low, high = np.searchsorted(ranked, [first, first + count])
            if low < high:
                parts += _take(path, ranked[low:high] - first, schema, count)
        if not parts:
            return schema.empty_table()
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(parts).take(pa.array(back))


def _agree(fields: dict[str, tuple[Any, Path]], schema: Any, path: Path, first: list[str]) -> None:
    """Enter the types of one file; a column of missing cells alone goes with every type."""
    for name in first:
        if name not in schema.names:
            hint = "Add the column, or leave the file out"
            raise unreadable(path, f"the column {name!r}, as in the first file", "none", hint)
    for field in schema:
        if field.name not in first:
            hint = "Add it to the other files, or leave the file out"
            raise unreadable(path, "the columns of the first file", f"also {field.name!r}", hint)
        known = fields.get(field.name)
        if known is None or pa.types.is_null(known[0]):
            fields[field.name] = (field.type, path)
        elif not pa.types.is_null(field.type) and field.type != known[0]:
            needed = f"{field.name!r} of type {known[0]}, as in {known[1].name}"
            hint = "Write the column with one type in all files"
            raise unreadable(path, needed, f"type {field.type}", hint)


def _read(path: Path, low: int, high: int, schema: Any, count: int) -> Iterator[Any]:
    """Yield the rows from low to high of one file, skipping whole row groups before them."""
    with reading(path, "parquet"):
        file = pyarrow.parquet.ParquetFile(path)
    with file:
        ends = _ends(file, path, count)
        groups = [g for g, end in enumerate(ends[1:]) if end > low and ends[g] < high]
        # Row groups before the first wanted row are not even opened.
        at = int(ends[groups[0]])
        batches = iter(file.iter_batches(BATCH_ROWS, row_groups=groups, columns=schema.names))
        while at < high:
            with reading(path, "parquet"):
                if (batch := next(batches, None)) is None:
                    raise ValueError("fewer rows than it says")
                # Offsets and indices of an untrusted file may lead anywhere in memory.
                batch.validate(full=True)
            start, stop = max(low - at, 0), min(high - at, len(batch))
            at += len(batch)
            if start < stop:
                yield _as(pa.Table.from_batches([batch.slice(start, stop - start)]), schema)


def _take(path: Path, rows: np.ndarray, schema: Any, count: int) -> list[Any]:
    with reading(path, "parquet"), pyarrow.parquet.ParquetFile(path) as file:
        ends = _ends(file, path, count)
        groups = np.searchsorted(ends, rows, side="right") - 1
        parts = []
        for group in np.unique(groups).tolist():
            some = file.read_row_group(group, columns=schema.names)
            some.validate(full=True)
            parts.append(_as(some.take(pa.array(rows[groups == group] - ends[group])), schema))
    return parts


def _ends(file: Any, path: Path, count: int) -> np.ndarray:
    about = file.metadata
    # Positions were given out for the rows of before: another number of rows would shift them.
    if about.num_rows != count:
        hint = "Read the files again from the beginning"
        raise unreadable(path, f"{count:,} rows, as before", f"{about.num_rows:,}", hint)
    return np.cumsum([0, *(about.row_group(g).num_rows for g in range(about.num_row_groups))])


def _as(table: Any, schema: Any) -> Any:
    """Return the columns in order; one of missing cells alone takes the type of the other files."""
    columns = []
    for field in schema:
        cells = table.column(field.name)
        if pa.types.is_null(cells.type) and not pa.types.is_null(field.type):
            cells = pa.chunked_array([pa.nulls(len(cells), field.type)])
        columns.append(cells)
    return pa.Table.from_arrays(columns, schema=schema)
