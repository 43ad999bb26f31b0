"""The fitted cells of a table in the form that similarity trees are grown from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.columns import Distance
from lookalike.columns.base import Cells, missing_rows
from lookalike.columns.ragged import Ragged
from lookalike.kernels.cells import OUTSIDE, CellColumns
from lookalike.trees.cells.columns import TreeColumn


@dataclass(frozen=True, eq=False)
class CellCache:
    """The fitted cells of all columns in the form that trees are grown from.

    Parameters
    ----------
    columns : tuple of TreeColumn
    cells : tuple of encoded cells, one per column
    source : int64 (columns, rows)
        The cell of each row; rows may share one.
    same : tuple of int64 arrays
        For every cell, the first cell equal to it.
    arrays : CellColumns
        What kernels read. The kind is that of ``TreeColumn``, or OUTSIDE where distances are
        computed as they are asked for.
    """

    columns: tuple[TreeColumn, ...]
    cells: tuple[Cells, ...]
    source: np.ndarray
    same: tuple[np.ndarray, ...]
    arrays: CellColumns

    def __len__(self) -> int:
        return self.arrays.values.shape[1]

    @classmethod
    def of(
        cls,
        columns: tuple[TreeColumn, ...],
        cells: tuple[Cells, ...],
        cache_pairs: int,
        n_jobs: int | None = None,
    ) -> CellCache:
        """Prepare cells; columns of objects get a matrix of all distances while it stays small.

        Parameters
        ----------
        columns, cells
        cache_pairs : int
            Entries that all matrices together may have.
        n_jobs : int, optional
        """
        n, d = len(cells[0]), len(columns)
        kinds = np.array([column.kind for column in columns], np.int64)
        values, ranks = np.empty((d, n)), np.zeros((d, n), np.int32)
        base, width = np.zeros(d, np.int64), np.zeros(d, np.int64)
        same: list[np.ndarray] = []
        todo, used = [], 0
        for f, column in enumerate(columns):
            missing = missing_cells(cells[f])
            if not column.is_object:
                x = np.asarray(cells[f], np.float64)
                values[f] = np.where(missing, np.nan, x)
                kept, ranks[f] = np.unique(values[f], return_inverse=True)
                first = np.full(len(kept), -1, np.int64)
                first[ranks[f][::-1]] = np.arange(n)[::-1]
                same.append(first[ranks[f]])
                continue
            first, place = _distinct(cells[f])
            same.append(first[place])
            size = len(first)
            if used + size * size <= cache_pairs:
                base[f], width[f] = used, size
                used += size * size
                todo.append((f, first))
                values[f] = np.where(missing, np.nan, place)
            else:
                kinds[f] = OUTSIDE
                values[f] = np.where(missing, np.nan, 0.0)
        flat = np.empty(max(used, 1))
        for f, first in todo:
            out = flat[base[f] : base[f] + width[f] ** 2].reshape(width[f], width[f])
            _fill_matrix(columns[f].distance, cells[f][first], out, n_jobs)
        source = np.broadcast_to(np.arange(n), (d, n))
        arrays = CellColumns(kinds, values, ranks, flat, base, width)
        return cls(columns, cells, source, tuple(same), arrays)

    def take(self, rows: np.ndarray) -> CellCache:
        """Return other rows made of the same cells; ``rows`` has a line for every column."""
        source = np.take_along_axis(self.source, rows, axis=1)
        values = np.take_along_axis(self.arrays.values, rows, axis=1)
        ranks = np.take_along_axis(self.arrays.ranks, rows, axis=1)
        return replace(self, source=source, arrays=self.arrays._replace(values=values, ranks=ranks))

    def distances(self, f: int, row: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of one row to others on a column of objects."""
        cells = self.cells[f]
        a, b = cells[self.source[f, [row]]], cells[self.source[f, rows]]
        return np.asarray(self.columns[f].distance.compare(a, b)[0])

    def block(self, f: int, rows: np.ndarray) -> np.ndarray:
        """Return the distances of some rows to each other on a column of objects."""
        kinds, values, _, flat, base, width = self.arrays
        if kinds[f] != OUTSIDE:
            places = np.nan_to_num(values[f, rows]).astype(np.int64)
            size = width[f]
            whole = flat[base[f] : base[f] + size**2].reshape(size, size)
            return whole[np.ix_(places, places)]
        cells = self.cells[f][self.source[f, rows]]
        return np.asarray(self.columns[f].distance.compare(cells, cells))


def missing_cells(cells: Any) -> np.ndarray:
    """Return which encoded cells are missing."""
    if isinstance(cells, np.ndarray | Ragged):
        return missing_rows(cells)
    return np.zeros(len(cells), bool)  # whole rows of a measure


def _distinct(cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of each different cell, and for every cell its place among these."""
    n = len(cells)
    if isinstance(cells, Ragged):
        names: list[Any] = [cells.row(i).tobytes() for i in range(n)]
    elif isinstance(cells, np.ndarray) and cells.dtype != object:
        names = [row.tobytes() for row in cells]
    else:  # objects of the user's own may not even be comparable
        return np.arange(n), np.arange(n)
    seen: dict[Any, int] = {}
    first: list[int] = []
    place = np.empty(n, np.int64)
    missing = missing_cells(cells)
    for i, name in enumerate(names):
        key = None if missing[i] else name
        if key not in seen:
            seen[key] = len(first)
            first.append(i)
        place[i] = seen[key]
    return np.array(first, np.int64), place


def _fill_matrix(distance: Distance, cells: Any, out: np.ndarray, n_jobs: int | None) -> None:
    """Compute all distances of some cells, each pair once."""

    def one(rows: slice, others: slice) -> None:
        block = distance.compare(cells[rows], cells[others])
        out[rows, others] = block
        out[others, rows] = block.T

    parts = list(blocks(len(cells), 256))
    pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i:]]
    run(one, pairs, n_jobs, f"comparing cells of {distance.column_!r}")
