"""The columns of a similarity forest: distances, and cells as kernels see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.columns import Absolute, CallableDistance, Distance, Equal, Presence, distance_for
from lookalike.columns.base import Cells, missing_rows
from lookalike.columns.custom import check_matrix
from lookalike.columns.ragged import Ragged
from lookalike.errors import InvalidInput, Param, suggest
from lookalike.kernels import cells as kernels
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.table.model.table import Column, Table, join_columns

saveable(Ragged)

MAX_CHECKED_CELLS = 32  # cells that are compared with each other to see whether a distance is one
MAX_SQUARED_RANGE = 1e150  # range of numbers whose squares are still finite


@saveable
@dataclass(frozen=True, eq=False)
class TreeColumn:
    """One way of comparing the cells of one column, or of several together.

    Parameters
    ----------
    column : int
        Place among the columns of the table; a column with several distances comes several times.
    name : str
    distance : Distance
        Fitted.
    kind : int
        How kernels project its cells (``kernels.cells``).
    parts : tuple of str
        The columns whose cells are compared as one, the first of which is this one; () for one.
    """

    FIELDS: ClassVar[fields.Fields] = {
        "column": fields.Integer(0, high=2**31),
        "name": fields.Text(),
        "distance": fields.Saved("Distance"),
        "kind": fields.Integer(kernels.NUMBER, kernels.TABLE_SQUARED),
        # Files of before have none.
        "parts": fields.Sometimes(fields.TupleOf(fields.Text())),
    }

    column: int
    name: str
    distance: Distance
    kind: int
    parts: tuple[str, ...] = ()

    def cells_of(self, table: Table) -> Column:
        """Return the column of a table that is compared, joined where it is of several."""
        if not self.parts:
            return table.columns[self.column]
        return join_columns(", ".join(self.parts), [table[name] for name in self.parts])

    def fits(self, names: list[str]) -> bool:
        """Whether a table of these columns has what is compared, in its place."""
        here = names[self.column : self.column + 1] == [self.name]
        return here and set(self.parts) <= set(names)

    @property
    def is_object(self) -> bool:
        """Whether cells are compared by the distance itself, not inside a kernel."""
        return self.kind in (kernels.TABLE, kernels.TABLE_SQUARED)

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that kernels see the cells that they expect."""
        ways = [(squared, tested) for squared in (0, 1) for tested in ("projection", "value")]
        fits = self.kind in {_kind_of(self.distance, bool(squared), how) for squared, how in ways}
        fields.require(
            fits, "TreeColumn.kind", f"a distance for {self.kind}", repr(self.distance)[:60]
        )


class PrecomputedRows(Distance):
    """Distances that come with the rows: each cell holds the distances to all fitted rows.

    For a column of vectors that is a square matrix when fitted (cell i holds the distances of row
    i) and has the same width, one entry per fitted row, whatever the number of new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> matrix = np.array([[0.0, 3.0], [3.0, 0.0]])
    >>> distance = PrecomputedRows().fit(Column("shape", Kind("vector", width=2), matrix))
    >>> fitted = distance.encode_fitted(Column("shape", Kind("vector", width=2), matrix))
    >>> new = distance.encode(Column("shape", Kind("vector", width=2), np.array([[1.0, 2.0]])))
    >>> distance.compare(fitted, new)
    array([[1.],
           [2.]])
    """

    FIELDS: ClassVar[fields.Fields] = {"width_": fields.Integer(1, 2**31)}

    name = "precomputed"
    kinds = ("vector",)

    width_: int

    def _learn(self, column: Column) -> None:
        matrix = np.asarray(column.values, dtype=np.float64)
        check_matrix(matrix, f"the matrix of column {column.name!r}")
        self.width_ = len(matrix)

    def _find_scale(self, column: Column) -> float:
        return float(np.max(column.values, initial=0.0))

    def _encode(self, column: Column) -> np.ndarray:
        rows = np.asarray(column.values, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.width_:
            found = f"an array of shape {rows.shape}"
            needed = f"the distances to the {self.width_} fitted rows in every cell"
            hint = "Give a matrix with a row per new row and a column per fitted row"
            raise InvalidInput(f"column {column.name!r}", needed, found, hint)
        wrong = np.argwhere(rows < 0)
        if len(wrong):
            row, place = (int(at) for at in wrong[0])
            found = f"{rows[row, place]:g} in row {row}, column {place}"
            hint = "A similarity S becomes a distance as 1 - S"
            raise InvalidInput(f"column {column.name!r}", "distances", found, hint)
        # The first entry is the position among the fitted rows, -1 for a new row, which nothing can
        # be compared with but fitted ones.
        return np.column_stack([np.where(np.isnan(rows[:, 0]), np.nan, -1.0), rows])

    def encode_fitted(self, column: Column) -> np.ndarray:
        """Return the cells that were fitted: they know their place, and others can ask for them."""
        cells = np.asarray(self.encode(column))
        cells[:, 0] = np.arange(len(cells))
        return cells

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        places = np.nan_to_num(a[:, 0], nan=0.0).astype(np.int64)
        return np.ascontiguousarray(b[:, 1 + places].T)

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells that are not rows of distances behind a place."""
        dims = {} if n is None else {"n": n}
        shape = fields.Array("float64", "n", self.width_ + 1)
        shape.form(cells, dims, where)
        with np.errstate(invalid="ignore"):
            places = cells[:, 0]
            known = np.isnan(places) | ((places >= -1) & (places < self.width_))
        fields.require(known.all(), where, f"places below {self.width_}", "others")


# -- which distances ------------------------------------------------------------------------------


def fit_columns(
    table: Table,
    distances: Mapping[str, Any] | None = None,
    *,
    projection: str = "distance",
    numeric: str = "projection",
    who: str = "similarity forest",
) -> tuple[TreeColumn, ...]:
    """Choose and fit the distance, or the several distances, of every column.

    Parameters
    ----------
    table : Table
    distances : mapping of column name, or names, to distance, or to a list of distances
        A name, a ``Distance``, a function of two cells, a square matrix of which the column holds
        positions, or "precomputed" for a column of vectors that are rows of distances.
    projection : {"distance", "squared"}
    numeric : {"projection", "value"}
    who : str
        The estimator, for error messages.
    """
    wanted: dict[Any, Any] = dict(distances or {})
    for name in named_columns(wanted):
        if name not in table.names:
            hint = suggest(str(name), table.names)
            raise InvalidInput(Param("distances", of=who), f"a column {name!r}", "none", hint)
    squared = projection == "squared"
    joint = [parts for parts in wanted if isinstance(parts, tuple)]
    inside = set(chain.from_iterable(joint)) - set(wanted)
    alone: list[tuple[str, ...]] = [(name,) for name in table.names if name not in inside]
    made = []
    for parts in [*alone, *joint]:
        several, at = parts if parts in wanted else (), table.names.index(parts[0])
        empty = TreeColumn(at, parts[0], Absolute(), kernels.NUMBER, several)
        column = empty.cells_of(table)
        for spec in _several(wanted.get(several or parts[0])):
            distance = _fit_distance(spec, column, squared and numeric != "value")
            kind = _kind_of(distance, squared, numeric)
            made.append(replace(empty, distance=distance, kind=kind))
    return tuple(made)


def _fit_distance(spec: Any, column: Column, squared: bool) -> Distance:
    """Return the fitted distance of a column, which is one, and whose squares are numbers."""
    unfitted: Distance = PrecomputedRows()
    if not (isinstance(spec, str) and spec == unfitted.name):
        unfitted = distance_for(spec, column.kind.name, column.name, column.kind.role)
    distance = unfitted.fit(column)
    if type(distance) is not Absolute:
        check_distance(column, distance)
    elif squared and distance.scale_ > MAX_SQUARED_RANGE:
        where = f"column {column.name!r} with squared projections"
        needed, found = "a range whose square is a number", f"{distance.scale_:g}"
        raise InvalidInput(where, needed, found, "Divide the column by a constant")
    return distance


def named_columns(distances: Iterable[Any]) -> list[Any]:
    """Return the columns that the keys of a mapping of distances name, alone or together."""
    keys = [key if isinstance(key, tuple) else (key,) for key in distances]
    return list(chain.from_iterable(keys))


def _kind_of(distance: Distance, squared: bool, numeric: str) -> int:
    """Return how kernels project the cells that a distance compares."""
    if type(distance) is Absolute:
        number = kernels.SQUARED if squared else kernels.NUMBER
        return kernels.VALUE if numeric == "value" else number
    if type(distance) in (Equal, Presence):
        return kernels.CATEGORY
    return kernels.TABLE_SQUARED if squared else kernels.TABLE


def encode_columns(
    columns: tuple[TreeColumn, ...], table: Table, fitted: bool = False
) -> tuple[Cells, ...]:
    """Encode a table once for every distance; ``fitted`` for the rows that were fitted."""
    cells: list[Cells] = []
    for one in columns:
        distance: Any = one.distance
        column = one.cells_of(table)
        own = fitted and isinstance(distance, PrecomputedRows)
        cells.append(distance.encode_fitted(column) if own else distance.encode(column))
    return tuple(cells)


def _several(spec: Any) -> list[Any]:
    """Return the distances of a column; a list of lists of numbers is one matrix."""
    # A list of names, functions or matrices is several distances.
    if isinstance(spec, list | tuple) and spec:
        single = [
            one is None or isinstance(one, str | Distance | type) or callable(one) for one in spec
        ]
        matrices = [getattr(one, "ndim", 0) == 2 for one in spec]
        if all(a or b for a, b in zip(single, matrices, strict=True)):
            return list(spec)
    return [spec]


def check_distance(column: Column, distance: Distance) -> None:
    """Look at a few pairs of a distance that the caller brought: it has to be one."""
    # The library's own distances are tested; comparing cells of them again would only cost time.
    own = type(distance).__module__.startswith("lookalike.columns")
    if isinstance(distance, PrecomputedRows) or (own and type(distance) is not CallableDistance):
        return
    at = np.arange(len(column))
    if len(at) > MAX_CHECKED_CELLS:
        at = np.sort(np.random.default_rng(0).choice(len(at), MAX_CHECKED_CELLS, replace=False))
    # A sample finds what is wrong for all pairs, not what is wrong for one.
    cells = distance.encode(column)[at]
    block = distance.compare(cells, cells)
    who = f"the distance of column {column.name!r}"
    hint = "Correct the function, or leave the column out"
    with np.errstate(invalid="ignore"):
        itself = np.eye(len(at), dtype=bool) & (block > 1e-9)
        both = np.isfinite(block) & np.isfinite(block.T)
        uneven = both & (np.abs(block - block.T) > 1e-8 * (1e-12 + np.abs(block)))
    for wrong, needed, text in (
        (block < 0, "numbers >= 0", "{:g} for rows {} and {}"),
        (itself, "0 between equal cells", "{:g} for row {} and itself"),
        (
            uneven,
            "the same distance in both directions",
            "{:g} from row {} to row {} and {:g} back",
        ),
    ):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            found = text.format(block[i, j], at[i], at[j], block[j, i])
            raise InvalidInput(who, needed, found, hint)


# -- the fitted cells in the form that trees are grown from ----------------------------------------


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
        What kernels read. The kind is that of ``TreeColumn``, or UNCACHED where distances are
        computed as they are asked for.
    """

    columns: tuple[TreeColumn, ...]
    cells: tuple[Cells, ...]
    source: np.ndarray
    same: tuple[np.ndarray, ...]
    arrays: kernels.CellColumns

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
                # Missing cells share the last rank; kernels ask for present rows only.
                _, first, ranks[f] = np.unique(values[f], return_index=True, return_inverse=True)
                same.append(first[ranks[f]])
                continue
            # Equal cells are compared once: columns of objects often repeat a few values.
            first, place = _distinct(cells[f])
            same.append(first[place])
            size = len(first)
            # All distances of the different cells, while the matrices of all columns fit together.
            if used + size * size <= cache_pairs:
                base[f], width[f] = used, size
                used += size * size
                todo.append((f, first))
                values[f] = np.where(missing, np.nan, place)
            else:
                kinds[f] = kernels.UNCACHED
                values[f] = np.where(missing, np.nan, 0.0)
        flat = np.empty(max(used, 1))
        for f, first in todo:
            out = flat[base[f] : base[f] + width[f] ** 2].reshape(width[f], width[f])
            _fill_matrix(columns[f].distance, cells[f][first], out, n_jobs)
        source = np.broadcast_to(np.arange(n), (d, n))
        arrays = kernels.CellColumns(kinds, values, ranks, flat, base, width)
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
        if kinds[f] != kernels.UNCACHED:
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
    keys = [None if gone else name for gone, name in zip(missing_cells(cells), names, strict=True)]
    first_of = {key: i for i, key in reversed([*enumerate(keys)])}
    return np.unique([first_of[key] for key in keys], return_inverse=True)


def _fill_matrix(distance: Distance, cells: Any, out: np.ndarray, n_jobs: int | None) -> None:
    """Compute all distances of some cells, each pair once."""

    def one(rows: slice, others: slice) -> None:
        block = distance.compare(cells[rows], cells[others])
        out[rows, others] = block
        out[others, rows] = block.T

    # Only blocks on or above the diagonal: distances are symmetric, and a function of the user may
    # be slow.
    parts = list(blocks(len(cells), 256))
    pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i:]]
    run(one, pairs, n_jobs, f"comparing cells of {distance.column_!r}")
