"""What every way of comparing two cells of a column has in common."""

import copy
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.estimator import Estimator
from lookalike._runtime.random_state import make_generator
from lookalike.columns.ragged import Ragged
from lookalike.errors import InPython, InvalidInput, LookalikeError, Param, WrongType
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.table import LazyTable
from lookalike.table.model.table import Column, Graph

# Cells can be long; a message shows how they begin.
show = reprlib.repr

Cells = np.ndarray | Ragged
"""Encoded cells: an array with one entry or row per cell, or a ``Ragged``."""


# What a cell is in Python, by its kind, and how it is called.
CELL_TYPES: dict[str, tuple[Any, str]] = {
    "text": (str, "a text"),
    "set": (frozenset | set, "a set"),
    "sequence": (tuple | list, "a sequence"),
    "graph": (Graph, "a graph"),
}


class Distance(Estimator, ABC):
    """How two cells of a column differ.

    A distance learns from the fitted column what it needs (``fit``), turns cells into numbers once
    (``encode``), and compares blocks of them (``compare``). To make your own, a plain function of
    two cells is enough wherever a distance is asked for; subclass this one for speed.

    Parameters
    ----------
    scale : float, optional
        The distance at which two cells have similarity 0. None: the largest distance seen among
        fitted cells. Up to 1,000 present rows are looked at (all of them if there are no more,
        else a draw with a fixed seed plus the smallest and the largest cell); a first row is
        compared with all of these, then the row farthest from it, and so on for eight rows.

    Attributes
    ----------
    column_ : str
        Name of the fitted column.
    scale_ : float
        The scale in use; where it is 0, equal cells have similarity 1 and all others 0.
    """

    FIELDS: ClassVar[fields.Fields] = {
        "scale": fields.Maybe(fields.Real(0.0, 1e300, open_low=True)),
        "column_": fields.Text(),
        "scale_": fields.Real(0.0, nan=True),
    }

    CELLS: ClassVar[fields.Field | None] = None
    LEARNS_IN_PARTS: ClassVar[bool] = True  # whether a column in files is enough
    name: ClassVar[str] = ""
    kinds: ClassVar[tuple[str, ...]] = ()
    # Rows looked at for the scale, and rows compared with all of these; chosen by hand.
    n_sampled: ClassVar[int] = 1000
    n_pivots: ClassVar[int] = 8

    scale: float | None
    column_: str
    scale_: float

    def __init_subclass__(cls, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not abstract and not cls.__name__.startswith("_"):
            saveable(cls)

    def __init__(self, scale: float | None = None) -> None:
        self.scale = scale

    # -- the four verbs ---------------------------------------------------------------------------

    def fit(self, column: Column) -> Self:
        """Return a copy that has learned what it needs from a column."""
        fitted = self._checked_copy(column)
        fitted._learn(column)
        fitted.scale_ = float(self.scale) if self.scale is not None else fitted._find_scale(column)
        return fitted

    def fit_in_parts(self, table: LazyTable, name: str) -> Self:
        """Return a copy that has learned from a column which stays in its files.

        The result is that of ``fit`` in memory: numbers, levels and codes are learned from the
        distinct values and how often each occurs, other cells from the sample that is drawn in
        memory too. Nothing depends on where the parts begin.

        Parameters
        ----------
        table : LazyTable
        name : str, the column
        """
        # A subclass of one of ours may learn in another way.
        if not (self.LEARNS_IN_PARTS and type(self).__module__.startswith("lookalike.columns.")):
            found = f"{type(self).__name__}, which may look at all cells together"
            hint = "Give the column a distance of lookalike's, set it aside, or fit in memory"
            who, needed = f"column {name!r}", "a distance that can be learned in parts"
            raise InvalidInput(who, needed, found, hint)
        fitted = self._checked_copy(table.like[name])
        scale = fitted._learn_in_parts(table, name)
        fitted.scale_ = float(scale if self.scale is None else self.scale)
        return fitted

    def _checked_copy(self, column: Column) -> Self:
        fields.check_params(self)
        self._check_kind(column)
        fitted = copy.copy(self)
        fitted.column_ = column.name
        return fitted

    def encode(self, column: Column) -> Cells:
        """Turn cells into numbers, missing ones marked (NaN, -1 or ``Ragged.missing``)."""
        self._check_fitted()
        self._check_kind(column)
        return self._encode(column)

    def compare(self, a: Cells, b: Cells) -> np.ndarray:
        """Return the distances of all encoded cells of a to all of b, NaN where one is missing.

        Each entry depends on its own two cells only, to the last bit.
        """
        return hide_missing(self._compare(a, b), a, b)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return similarities in [0, 1], NaN where two cells cannot be compared."""
        self._check_fitted()
        return closeness(self.compare(a, b), self.scale_)

    # -- what a distance writes -------------------------------------------------------------------

    def _learn(self, column: Column) -> None:
        """Set attributes ending in an underscore: arrays, or values that JSON can hold."""

    def _learn_parts(self, like: Column, parts: Iterable[Column]) -> None:
        """Learn as ``_learn`` does from a column that comes in parts; ``like`` has none of them."""
        self._learn(like)

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        """Learn as ``_learn`` does, and return what ``_find_scale`` finds."""
        positions, sizes = [np.empty(0, np.int64)], [np.empty(0)]
        start = 0
        for part in table.column(name):
            present = np.flatnonzero(~part.missing)
            positions.append(present + start)
            sizes.append(sizes_of(part, present))
            start += len(part)
        self._learn_parts(table.like[name], table.column(name))
        if self.scale is not None:
            return 0.0
        # Sizes and positions are those of all rows, so the draw is the one that memory would make.
        every = np.concatenate(positions), np.concatenate(sizes)
        return self._scale_of(table.like[name], *every, partial(table.take_column, name))

    @abstractmethod
    def _encode(self, column: Column) -> Cells:
        """Turn the cells of a column into numbers; see ``encode``."""

    @abstractmethod
    def _compare(self, a: Cells, b: Cells) -> np.ndarray:
        """Return all distances of a block; entries of missing cells are overwritten with NaN."""

    def _variance(self, cells: Cells) -> float | None:
        """Return the variance of present cells by a formula, None where none is known."""
        return None

    # -- checks -----------------------------------------------------------------------------------

    def _check_kind(self, column: Column) -> None:
        if column.kind.name not in self.kinds:
            who = f"{type(self).__name__}, column {column.name!r}"
            needed = "a column of kind " + " or ".join(self.kinds)
            kinds = Param("kinds", {column.name: self.kinds[0]})
            hint = ("Use ", kinds, " or choose another distance")
            raise InvalidInput(who, needed, f"kind {column.kind.name}", hint)
        known, needed = CELL_TYPES.get(column.kind.name, (object, ""))
        types = set(map(type, column.values)) if needed else ()
        if not all(issubclass(kind, known | None) for kind in types):
            cells = enumerate(column.values)
            row, cell = next(pair for pair in cells if not isinstance(pair[1], known | None))
            advice = "Correct the cell, or read the column as another kind"
            raise cell_error(column.name, row, needed, show(cell), advice, WrongType)

    def _check_fitted(self) -> None:
        if not hasattr(self, "column_"):
            hint = InPython("Call fit(column) first")
            raise InvalidInput(type(self).__name__, "to be fitted", "it is not", hint)

    # -- the scale --------------------------------------------------------------------------------

    def sample_size(self, longest: int) -> int:
        """Return how many cells are looked at for the scale, the longest being so long."""
        return self.n_sampled

    def draw(self, rows: np.ndarray, sizes: np.ndarray, size: int) -> np.ndarray:
        """Return the rows that are looked at: all, or a fixed draw with the smallest and largest.

        Parameters
        ----------
        rows : int64 array, the rows that have a cell
        sizes : array, something that is small for small cells and large for large ones
        size : int
        """
        if len(rows) <= size:
            return rows
        # The extremes are always there: a scale without them would cut off their distances.
        ends = [int(np.argmin(sizes)), int(np.argmax(sizes))]
        drawn = np.random.default_rng(0).choice(len(rows), size - 2, replace=False)
        return np.asarray(rows[np.unique(np.concatenate([ends, drawn]))])

    def _find_scale(self, column: Column) -> float:
        rows = np.flatnonzero(~column.missing)
        try:
            return self._scale_of(column, rows, sizes_of(column, rows), column.take)
        except LookalikeError:
            # Fails again, and names the row as it is counted in the table.
            self._encode(column)
            raise

    def _scale_of(
        self, like: Column, rows: np.ndarray, sizes: np.ndarray, take: Callable[[Any], Column]
    ) -> float:
        """Return the largest distance seen among cells that are drawn by their sizes."""
        drawn = self.draw(rows, sizes, self.sample_size(longest_of(like, sizes)))
        return self._farthest(self._encode(take(drawn)))

    def _farthest(self, cells: Cells) -> float:
        # From a row to the farthest, from that to the farthest ...: a few rows find nearly the
        # largest distance, where all pairs of a thousand texts would take seconds.
        largest, pivot = 0.0, 0
        visited = np.zeros(len(cells), dtype=bool)
        for _ in range(min(self.n_pivots, len(cells))):
            visited[pivot] = True
            distances = self.compare(cells[[pivot]], cells)[0]
            distances[~np.isfinite(distances)] = 0.0
            largest = max(largest, float(distances.max()))
            pivot = int(np.argmax(np.where(visited, -1.0, distances)))
        return largest

    # -- loading ----------------------------------------------------------------------------------

    def _cells_shape(self) -> fields.Field | None:
        """Return what encoded cells look like, for checking them after loading; None: anything."""
        return self.CELLS

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells that this distance would not have encoded.

        Parameters
        ----------
        cells : encoded cells
        n : int, optional
            How many there must be.
        where : str
            Where they are, for the message.
        """
        if (shape := self._cells_shape()) is not None:
            dims = {} if n is None else {"n": n}
            fields.check_fields({"cells": cells}, {"cells": shape}, where, dims)
        elif n is not None:
            fits = hasattr(cells, "__len__") and len(cells) == n
            fields.require(fits, where, f"{n} cells", type(cells).__name__)


def closeness(distances: np.ndarray, scale: float) -> np.ndarray:
    """Turn distances into similarities: 1 at distance 0, 0 from the scale on.

    Examples
    --------
    >>> closeness(np.array([0.0, 1.0, 5.0]), 4.0).tolist()
    [1.0, 0.75, 0.0]
    >>> closeness(np.array([0.0, 1.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    if scale == 0:
        return np.where(np.isnan(distances), np.nan, (distances == 0).astype(np.float64))
    # A tiny scale: far beyond it is simply "beyond".
    with np.errstate(over="ignore"):
        return np.asarray(1.0 - np.minimum(distances / scale, 1.0))


def missing_rows(cells: Cells) -> np.ndarray:
    """Say which encoded cells are missing, whatever form they are in."""
    if isinstance(cells, Ragged):
        return cells.missing
    # (row number, cell): see CallableDistance.
    if cells.dtype == object:
        return np.array([cell is None for cell in cells[:, 1]], dtype=bool)
    if cells.dtype.kind == "i":
        return np.asarray(cells == -1)
    if cells.ndim == 2:
        # A row is missing as a whole or not at all; a row of no numbers is not missing.
        return np.asarray(np.isnan(cells[:, :1]).any(axis=1))
    return np.isnan(cells)


def hide_missing(out: np.ndarray, a: Cells, b: Cells) -> np.ndarray:
    """Write NaN into the rows and columns of a block whose cell is missing."""
    out[missing_rows(a)] = np.nan
    out[:, missing_rows(b)] = np.nan
    return out


ErrorType = type[LookalikeError]


def cell_error(
    column: str, row: int, needed: str, found: str, hint: str, error: ErrorType = InvalidInput
) -> LookalikeError:
    """Make the error for one bad cell, naming the column and the row."""
    return error(f"column {column!r}, row {row}", needed, found, hint)


def sizes_of(column: Column, rows: np.ndarray) -> np.ndarray:
    """Return something that is small for small cells and large for large ones."""
    values = column.values
    if values.ndim == 2:
        with np.errstate(over="ignore"):  # infinity is the largest size of all
            return np.asarray(np.abs(values[rows]).sum(axis=1))
    if values.dtype != object:
        return np.asarray(values[rows], dtype=np.float64)
    return np.fromiter((_size(values[row]) for row in rows), dtype=np.float64, count=len(rows))


def longest_of(column: Column, sizes: np.ndarray) -> int:
    """Return the length of the longest cell, given the sizes of all."""
    if column.values.ndim == 2:
        return int(column.values.shape[1])
    return int(sizes.max(initial=1)) if column.values.dtype == object else 1


def _size(cell: Any) -> int:
    if isinstance(cell, Graph):
        return len(cell.nodes) + len(cell.edges)
    return len(cell) if hasattr(cell, "__len__") else 0


# Beyond, all pairs cost more than a forest can spend in every node; chosen by hand.
MAX_CELLS_FOR_ALL_PAIRS = 32


def variance(
    distance: Distance, cells: Cells, random_state: np.random.Generator | int | None = None
) -> float:
    """Return how much cells vary: half the mean squared distance over all ordered pairs.

    For numbers this is the population variance. Missing cells are left out; fewer than two present
    ones do not vary. Numbers, categories, flags and levels have a short exact formula. Of the
    others, up to 32 cells are compared with each other; more are compared with one of them, drawn
    at random: half the mean squared distance to it is an estimate without bias over the draws, and
    0 exactly when no cell is away from that one.

    Parameters
    ----------
    distance : Distance
        A fitted distance.
    cells : array or Ragged
        Cells that it encoded.
    random_state : numpy Generator or int, optional
        Where the random cell comes from; one number is drawn, and only where it is needed.

    Examples
    --------
    >>> from lookalike.columns.number import Absolute
    >>> from lookalike.table.model.table import Column, Kind
    >>> size = Column("size", Kind("number"), np.array([1.0, 3.0, 5.0]))
    >>> distance = Absolute().fit(size)
    >>> round(variance(distance, distance.encode(size)), 6)
    2.666667
    """
    missing = missing_rows(cells)
    present = cells[~missing] if missing.any() else cells
    n = len(present)
    if n < 2:
        return 0.0
    if (by_formula := distance._variance(present)) is not None:
        return by_formula
    if n <= MAX_CELLS_FOR_ALL_PAIRS:
        return float((distance.compare(present, present) ** 2).sum() / (2 * n * n))
    pivot = int(make_generator(random_state).integers(n))
    return float((distance.compare(present[[pivot]], present) ** 2).mean() / 2)
