"""The columns of a table as one matrix, for measures of numbers and for trees."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, NoReturn

import numpy as np

from lookalike.columns.vector import directions
from lookalike.errors import ColumnsLeftOut, InvalidInput, name_some
from lookalike.measures.contract.base import Traits
from lookalike.measures.contract.codes import NumberCodes, _BoundedMeasure, number_codes
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation, by_owner
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.codes import BoundedQuery
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Choice, Dims, Fields, Saved, Text, TupleOf, require
from lookalike.table import Column, LazyTable, Schema, Table
from lookalike.table.model.table import MATRIX
from lookalike.table.model.tally import Tally

FILL = "Drop or fill these rows, or use Gower, which accepts missing values"
NUMERIC = ("number", "vector", "histogram")
ORDERED = ("number", "order", "flag", "vector", "histogram")  # kinds that a threshold can split
METRICS = ("euclidean", "cityblock", "cosine", "chebyshev")
COMPLETE = "numbers without missing or infinite values"


@saveable
@dataclass(frozen=True)
class MatrixLayout:
    """Which columns a matrix is made of: their names, and the column each entry belongs to."""

    FIELDS: ClassVar[Fields] = {
        "names": TupleOf(Text()),
        "owner": TupleOf(Text(), "inputs"),
    }

    names: tuple[str, ...]
    owner: tuple[str, ...]


def plan(table: Table, who: str) -> MatrixLayout:
    """Choose the number columns, and say which columns are left out."""
    return _choose(table, who, NUMERIC, "at least one number column")


def plan_inputs(table: Table, who: str, categories: bool) -> MatrixLayout:
    """Choose the columns that tests can ask about, and say which are left out.

    Parameters
    ----------
    table : Table
    who : str
        Named in errors and warnings.
    categories : bool
        Whether the trees can split one category from the rest.
    """
    takes = (*ORDERED, "category") if categories else ORDERED
    needed = "at least one column of numbers, ordered levels or flags"
    needed += " or categories" if categories else ""
    chosen = _choose(table, who, takes, needed)
    for name in chosen.names:
        if len(table) and table[name].missing.all():
            refuse_empty(name, who)
    return chosen


def refuse_empty(name: str, who: str) -> NoReturn:
    """Raise the error about a column without a single value."""
    found = f"{name!r} without any (all NaN)"
    raise InvalidInput(who, "a value in every column", found, "Drop the column")


def _choose(table: Table, who: str, takes: tuple[str, ...], needed: str) -> MatrixLayout:
    """Choose the columns of some kinds, and warn about the others."""
    used = [column for column in table if column.kind.name in takes]
    left_out = tuple(column.name for column in table if column.kind.name not in takes)
    if not used:
        kinds = ", ".join(f"{c.name!r} ({c.kind.name})" for c in table.columns[:4])
        raise InvalidInput(who, needed, kinds or "none", "Use Gower for such columns")
    if left_out:
        message = f"{who} leaves out {name_some(left_out)}; Gower takes every kind of column."
        # Five frames up is the caller's line that calls ``fit``.
        warnings.warn(message, ColumnsLeftOut, stacklevel=5)
    owner = [column.name for column in used for _ in range(_width(column))]
    return MatrixLayout(tuple(column.name for column in used), tuple(owner))


def _width(column: Column) -> int:
    return int(column.values.shape[1]) if column.values.ndim == 2 else 1


def _stack(table: Table, layout: MatrixLayout) -> np.ndarray:
    """Return the columns of a layout side by side, C-contiguous; codes stay codes."""
    columns = [table[name] for name in layout.names]
    # float32 tables stay float32, at half the memory.
    single = all(column.values.dtype == np.float32 for column in columns)
    out = np.empty((len(table), len(layout.owner)), dtype=np.float32 if single else np.float64)
    first = 0
    for column in columns:
        end = first + _width(column)
        out[:, first:end] = column.values.reshape(len(table), end - first)
        first = end
    return out


def numbers(table: Table, layout: MatrixLayout, who: str) -> np.ndarray:
    """Return the matrix of a layout, C-contiguous; missing and infinite values are an error."""
    out = _stack(table, layout)
    bad = ~np.isfinite(out)
    if bad.any():
        row, j = (int(i[0]) for i in np.nonzero(bad))
        missing = bool(np.isnan(out[row, j]))
        what = "missing values (NaN)" if missing else "infinite values (inf)"
        where = f"row {row}, column {layout.owner[j]!r}"
        found = f"{int(bad.sum()):,} {what}, the first in {where}"
        hint = FILL if missing else "Replace the infinities or drop these rows"
        raise InvalidInput(who, COMPLETE, found, hint)
    return out


def read_inputs(table: Table, inputs: MatrixLayout) -> np.ndarray:
    """Return the matrix that trees test: NaN where missing, codes where categories."""
    out = _stack(table, inputs)
    for j, name in enumerate(inputs.owner):
        column = table[name]
        if column.values.dtype.kind == "i":
            # An unseen level has no position in the order, so it is missing; an unseen category is
            # a category of its own, different from all others.
            is_category = column.kind.name == "category"
            out[column.values == -1 if is_category else column.values < 0, j] = np.nan
    out += 0.0  # -0.0 equals 0.0
    return out


def matrix_tallies(table: LazyTable, layout: MatrixLayout, who: str) -> Iterator[Tally]:
    """Yield the distinct values of every entry of the matrix of a table in files.

    A column at a time; gaps and infinities are an error, as in ``numbers``.
    """
    for name in layout.names:  # one column at a time bounds the memory of distinct values
        tallies = [Tally() for owner in layout.owner if owner == name]
        if table.like[name].values.ndim == 1:
            tallies = [table.tally(name)]
        else:
            for part in table.column(name):
                for tally, entry in zip(tallies, part.values.T, strict=True):
                    tally.add(entry)
        for tally in tallies:
            if tally.missing or tally.infinite >= 0:
                lost = f"{tally.missing:,} missing" if tally.missing else f"row {tally.infinite}"
                raise InvalidInput(who, COMPLETE, f"{lost} in column {name!r}", FILL)
            yield tally


def check_owners(schema: Schema, names: Iterable[str], owner: tuple[str, ...], where: str) -> None:
    """Refuse a loaded layout whose columns are not those of the table, entry by entry."""
    expected: list[str] = []
    for name in names:
        kind = schema.kinds.get(name)
        require(kind is not None, where, "columns of the table", repr(name[:40]))
        assert kind is not None
        width = kind.width if kind.name in MATRIX else 1
        require(len(expected) + width <= len(owner), where, "an owner for every entry", "fewer")
        expected += [name] * width
    require(tuple(expected) == owner, where, "the columns of the table in their order", "others")


# -- measures of numbers ---------------------------------------------------------------------------


class _NumericMeasure(_BoundedMeasure):
    """Base of the measures whose distance is put together from the differences of numbers."""

    FIELDS: ClassVar[Fields] = {"metric": Choice(*METRICS), "layout_": Saved("MatrixLayout")}
    CODED: ClassVar[str] = "x"  # the array of encoded rows that becomes bytes

    traits = Traits(native="distance", conversion="ratio", kinds=NUMERIC)
    metric: str
    layout_: MatrixLayout

    def _numbers(self, table: Table) -> np.ndarray:
        return numbers(table, self.layout_, type(self).__name__)

    @abstractmethod
    def _differences(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the differences of a row to each of some, entry by entry."""

    def column_differences(self, a: Rows, b: Rows) -> ColumnDifferences:
        """Return how far a row is from each of some in every column."""
        owner = self.layout_.owner
        return by_owner(owner, self._differences(a, b)[:, : len(owner)])

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        """Explain a distance that is a sum over columns: s = c / (c + d), minus = d_j / (c + d)."""
        shares = shares_of_distance(self._differences(a, b)[0], self.metric)
        distance = float(self.block(a, b, "distance")[0, 0])
        minus: dict[str | None, float] = dict.fromkeys(self.layout_.owner, 0.0)
        # The entry after the columns (the direction of a row of zeros) belongs to none of them.
        for name, share in zip_longest(self.layout_.owner, shares):
            minus[name] = minus.get(name, 0.0) + float(share) / (self.scale_ + distance)
        if not minus.get(None, 1.0):
            del minus[None]
        # The similarity itself belongs to no column: only distances are sums over columns.
        similarity = self.scale_ / (self.scale_ + distance)
        return Explanation(similarity, distance, {None: similarity}, minus)

    def _make_codes(self, rows: Rows) -> NumberCodes | None:
        bounded = self.metric in ("cityblock", "chebyshev")
        return number_codes(rows.arrays[self.CODED]) if bounded else None

    def _bound_queries(self, codes: NumberCodes, a: Rows) -> BoundedQuery:
        return codes.ask(a.arrays[self.CODED], self._unit(), self.metric == "chebyshev")

    def _unit(self) -> float:
        """Return a lower bound of what a difference of 1 in the coded array adds to a distance."""
        return 1.0

    def _check_parts(self, dims: Dims) -> None:
        layout, where = self.layout_, f"{type(self).__name__}.layout_"
        check_owners(self.schema_, layout.names, layout.owner, where)
        n = len(layout.owner)
        require(n == dims["entries"], where, f"{dims['entries']} entries", str(n))


def shares_of_distance(differs: np.ndarray, metric: str) -> np.ndarray:
    """Return what each column adds to a distance made of these differences; they sum to it."""
    if metric == "cityblock":
        return differs
    if metric == "chebyshev":  # the largest difference is the distance
        return np.where(np.arange(len(differs)) == int(np.argmax(differs)), differs, 0.0)
    if metric == "cosine":  # of rows of length 1: 1 - cos is half the squared distance
        return differs * differs / 2
    largest = float(differs.max(initial=0.0))
    if largest == 0:
        return differs
    squares = (differs / largest) ** 2  # divided first, so that no square overflows
    return largest * (squares / np.sqrt(squares.sum()))


def unit_rows(x: np.ndarray) -> np.ndarray:
    """Return rows of length 1; a row of zeros gets a direction of its own (an extra column)."""
    x = directions(x.astype(np.float64))
    return np.hstack([x, ~x.any(axis=1, keepdims=True)])
