"""Distances that the user brings: a function of two cells, or a finished matrix."""

import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance, cell_error, show
from lookalike.errors import InvalidInput, Param
from lookalike.saving.fields import Array, Dims, Field, Fields, Flag, Instance, require
from lookalike.table import LazyTable
from lookalike.table.model.kind import KINDS
from lookalike.table.model.table import MATRIX, Column


class CallableDistance(Distance):
    """Your own function of two cells, as a distance.

    It is called once per pair with two cells as Python sees them (numbers, texts, frozensets,
    tuples, arrays, your own objects), never with a missing one, and has to return a number of at
    least 0. A function with an attribute ``batch`` is asked for many distances in one call instead:
    ``batch(cells, cell)`` returns the distances of ``cell`` to each of a list of cells.

    Parameters
    ----------
    function : callable
        Takes two cells, returns their distance.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``; of up to 250
        rows here, because every look is a call).

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> def years_apart(u, v):
    ...     return abs(int(u[:4]) - int(v[:4]))
    >>> day = Column("day", Kind("text"), np.array(["1999-12-31", "2004-01-01"], dtype=object))
    >>> distance = CallableDistance(years_apart).fit(day)
    >>> cells = distance.encode(day)
    >>> distance.compare(cells[:1], cells)
    array([[0., 5.]])
    """

    name = "given"
    kinds = KINDS
    LEARNS_IN_PARTS = False
    FIELDS: ClassVar[Fields] = {"function": Instance(Callable, named="a callable of two cells")}
    # Every look is a call of the user's function, which may be slow; chosen by hand.
    n_sampled: ClassVar[int] = 250

    def __init__(self, function: Callable[[Any, Any], Any], scale: float | None = None) -> None:
        self.function: Any = function
        self.scale = scale

    def _encode(self, column: Column) -> np.ndarray:
        # beside each cell its row: a block knows no rows, and an error has to name them
        out = np.empty((len(column), 2), dtype=object)
        out[:, 0] = range(len(column))
        whole = column.kind.name in MATRIX
        for row in np.flatnonzero(~column.missing).tolist():
            out[row, 1] = column.values[row] if whole else column.cell(row)
        return out

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.full((len(a), len(b)), np.nan)
        present = [j for j in range(len(b)) if b[j, 1] is not None]
        ask = self._ask_batch if hasattr(self.function, "batch") else self._ask_each
        for i in range(len(a)):
            if a[i, 1] is not None and present:
                out[i, present] = ask(a[i], b[present])
        return out

    def _ask_each(self, a: Any, others: Any) -> list[float]:
        found = []
        for b in others:
            try:
                value = self.function(a[1], b[1])
            except Exception as error:
                hint = "Make the function take any two cells of the column"
                raise self._error(a, b, f"{type(error).__name__}: {error}", hint) from error
            found.append(self._number(value, a, b))
        return found

    def _ask_batch(self, a: Any, others: Any) -> list[float]:
        try:
            values = list(self.function.batch(list(others[:, 1]), a[1]))
        except Exception as error:
            hint = "Make batch(cells, cell) take any cells of the column and return one number each"
            raise self._error(a, others[0], f"{type(error).__name__}: {error}", hint) from error
        if len(values) != len(others):
            hint = "Return one number for each of the cells"
            raise self._error(a, others[0], f"{len(values)} numbers for {len(others)} cells", hint)
        return [self._number(value, a, b) for value, b in zip(values, others, strict=True)]

    def _number(self, value: Any, a: Any, b: Any) -> float:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        # a formula such as 1 - cos may end a hair below 0; NaN is not above anything
        if isinstance(value, numbers.Real | np.bool_) and float(value) >= -1e-9:
            return max(float(value), 0.0)
        hint = "Return a number of at least 0 for any two cells of the column"
        raise self._error(a, b, show(value), hint)

    def _error(self, a: Any, b: Any, found: str, hint: str) -> InvalidInput:
        called = getattr(self.function, "__name__", type(self.function).__name__)
        who = f"{called}, column {getattr(self, 'column_', '')!r}, rows {a[0]} and {b[0]}"
        return InvalidInput(who, "a distance", found, hint)

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells that are not pairs of a row number and a cell."""
        pairs = isinstance(cells, np.ndarray) and cells.dtype == object and cells.ndim == 2
        require(pairs and cells.shape[1] == 2, where, "pairs of row and cell", "others")
        require(n is None or len(cells) == n, where, f"{n} cells", str(len(cells)))


@dataclass(eq=False, repr=False)
class MatrixDistance(Distance):
    """A finished matrix of distances; the cells of the column say which row of it they are.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Finite distances of at least 0, zero on the diagonal.
    symmetric : bool, default True
        Whether to insist that both directions agree.
    scale : float, optional
        The distance of similarity 0; None: the largest one between fitted cells.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> miles = np.array([[0.0, 3.0, 9.0], [3.0, 0.0, 7.0], [9.0, 7.0, 0.0]])
    >>> town = Column("town", Kind("number"), np.array([2.0, 0.0, np.nan]))
    >>> distance = MatrixDistance(miles).fit(town)
    >>> cells = distance.encode(town)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  9., nan]])
    """

    FIELDS: ClassVar[Fields] = {
        "symmetric": Flag(),
        "matrix": Instance(np.ndarray, named="a numpy array"),
    }

    name = "matrix"
    kinds = ("number",)

    matrix: np.ndarray
    symmetric: bool = True
    scale: float | None = None

    def _learn(self, column: Column) -> None:
        self._check(column.name)

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        # Which positions occur decides about the scale, not how often.
        distinct = replace(table.like[name], values=table.tally(name).values)
        self._learn(distinct)
        return self._find_scale(distinct)

    def _check(self, column: str) -> None:
        check_matrix(self.matrix, f"the matrix of column {column!r}", self.symmetric)

    def _find_scale(self, column: Column) -> float:
        used = np.unique(self._encode(column))
        used = used[used >= 0]
        # Not copied where all of it is used, which is the rule.
        some = len(used) < len(self.matrix)
        return float((self.matrix[np.ix_(used, used)] if some else self.matrix).max(initial=0.0))

    def _encode(self, column: Column) -> np.ndarray:
        values = np.asarray(column.values, dtype=np.float64)
        positions = np.where(np.isnan(values), -1.0, values)
        fits = (positions == np.floor(positions)) & (values >= 0) & (values < len(self.matrix))
        wrong = np.flatnonzero(~fits & ~np.isnan(values))
        if len(wrong):
            row = int(wrong[0])
            needed = f"an integer from 0 to {len(self.matrix) - 1}, a row of the matrix"
            hint = "Let the column hold positions in the matrix"
            raise cell_error(column.name, row, needed, f"{values[row]:g}", hint)
        return positions.astype(np.int64)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray(self.matrix[np.ix_(a, b)], dtype=np.float64)

    def _cells_shape(self) -> Field:
        return Array("int64", "n", low=-1, high=len(self.matrix) - 1)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the matrix holds distances."""
        self._check(self.column_)


def check_matrix(matrix: np.ndarray, who: str, symmetric: bool = True) -> None:
    """Refuse a matrix that does not hold distances: square, finite, 0 to itself, symmetric."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        hint = "Give the distance of every object to every object"
        raise InvalidInput(who, "a square matrix", f"shape {matrix.shape}", hint)
    if matrix.dtype.kind not in "fiub":
        raise InvalidInput(who, "numbers", f"dtype {matrix.dtype}", "Turn the matrix into numbers")
    check_entries(matrix, who)
    # Rounding of the program that made the matrix is forgiven in proportion to its values.
    largest = float(matrix.max(initial=0.0))
    own = np.flatnonzero(np.abs(np.diag(matrix)) > 1e-12 * largest)
    if len(own):
        i = own[0]
        found = f"{matrix[i, i]:g} for row {i} with itself"
        hint = "Set the diagonal to 0, or convert similarities to distances first"
        raise InvalidInput(who, "a zero diagonal", found, hint)
    if not symmetric:
        return
    matrix = np.asarray(matrix, np.float64)  # differences of unsigned integers would wrap around
    wrong = np.abs(matrix - matrix.T) > 1e-12 * largest + 1e-8 * np.maximum(matrix, matrix.T)
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        found = f"{matrix[i, j]:g} from row {i} to row {j} but {matrix[j, i]:g} back"
        average = ("Average the two, or use ", Param("symmetric", False))
        raise InvalidInput(who, "a symmetric matrix", found, average)


def check_entries(matrix: np.ndarray, who: str) -> None:
    """Refuse a matrix with entries that are missing, infinite or negative."""
    bad = ~np.isfinite(matrix)
    wanted, hint = "finite distances", "Fill or drop the missing (NaN) or infinite (inf) entries"
    # Missing entries first: NaN is not below 0, so the second test would not see it.
    if not bad.any():
        bad = matrix < 0
        wanted = "distances of at least 0"
        hint = "Convert similarities to distances first"
    if bad.any():
        i, j = np.argwhere(bad)[0]
        found = f"{matrix[i, j]:g} in row {i}, column {j} ({int(bad.sum()):,} such entries)"
        if (matrix < 0).any():
            found += ": Negative values in data"  # words that scikit-learn's checks ask for
        raise InvalidInput(who, wanted, found, hint)
