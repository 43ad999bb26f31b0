"""Numbers: how far apart they are, and how far that is on the scale of the column."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Cells, Distance, cell_error, closeness
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.saving.fields import Array, Choice, Dims, Field, Fields, Real, require
from lookalike.table import LazyTable
from lookalike.table.model.table import Column
from lookalike.table.model.tally import Tally

# Two floats above differ by more than 1 if they differ at all.
MIN_SPACED_FLOAT = 2.0**54
# Twice this is still a float, so the difference of two shares is one too.
MAX_SHARE = 1e307


def shorter_way(a: np.ndarray, b: np.ndarray, period: float) -> np.ndarray:
    """Return how far each of a is from each of b on a circle, the shorter way round."""
    straight = np.abs(a[:, None] - b)
    return np.asarray(np.minimum(straight, period - straight))


def finite_values(column: Column) -> np.ndarray:
    """Return the numbers of a column, which must be finite or missing."""
    values = np.asarray(column.values, dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise _infinite(column.name, int(infinite[0]), f"{values[infinite[0]]}")
    return values


def finite_tally(table: LazyTable, name: str) -> Tally:
    """Return the distinct numbers of a column in files, which must be finite or missing."""
    tally = table.tally(name)
    if tally.infinite >= 0:
        raise _infinite(name, tally.infinite, "an infinite one")
    return tally


def _infinite(name: str, row: int, found: str) -> LookalikeError:
    hint = "Replace infinite values or leave them missing"
    return cell_error(name, row, "finite numbers", found, hint)


@dataclass(eq=False, repr=False)
class Absolute(Distance):
    """How far two numbers are apart, ``|u - v|``.

    As a similarity this is Gower's [1]_: ``1 - |u - v| / R`` with R the range of the fitted column,
    or in general ``(1 - z**beta)**alpha`` with ``z = |u - v| / R``. A new value outside the fitted
    range is at most as unlike as the two ends of the range.

    Parameters
    ----------
    alpha : float, default 1
        At least 1; larger values make a difference count more.
    beta : float, default 1
        Above 0 and at most 1; smaller values make small differences count more.
    constant : {"keep", "drop"}, default "keep"
        What to do with a column of one single value: "keep" finds equal values alike and any new
        value unlike, "drop" leaves the column out of every comparison.
    scale : float, optional
        The range R where it is known better than the fitted column can tell.
    trim : float, default 0
        The share of the fitted values that is left out at each end before the range is taken
        (interquantile range), so that a few extreme values do not squeeze all others together.
        Where what is left is one single value, as in a column that is nearly always 0, R is the
        full range.

    References
    ----------
    .. [1] J. C. Gower (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27(4), 857-871. doi:10.2307/2528823

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> size = Column("size", Kind("number"), np.array([2.0, 7.0, 12.0, np.nan]))
    >>> distance = Absolute().fit(size)
    >>> cells = distance.encode(size)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  5., 10., nan]])
    >>> distance.similarity(cells[:1], cells)
    array([[1. , 0.5, 0. , nan]])
    """

    FIELDS: ClassVar[Fields] = {
        "alpha": Real(1.0, 1e6),
        "beta": Real(0.0, 1.0, open_low=True),
        "constant": Choice("keep", "drop"),
        "trim": Real(0.0, 0.49),
        "low_": Real(finite=True),
    }

    name = "absolute"
    kinds = ("number",)
    CELLS = Array("float64 float32", "n")

    alpha: float = 1.0
    beta: float = 1.0
    constant: str = "keep"
    scale: float | None = None
    trim: float = 0.0

    def _learn(self, column: Column) -> None:
        # Shares are counted from here: far outside of the range they would lose their digits.
        self.low_ = self._ends(column)[0]

    def shares(self, cells: np.ndarray) -> np.ndarray:
        """Return encoded numbers on a scale where the fitted ones reach from 0 to 1.

        The difference of two of them, cut off at 1, is their distance as a share of the range,
        whatever the size of the numbers and however narrow the range.
        """
        with np.errstate(over="ignore"):
            above = cells - self.low_
            share = above / self.scale_
        # More ranges away than a float can count: what counts is whether two numbers are equal.
        share = np.where(np.isinf(share) & (np.abs(above) > MIN_SPACED_FLOAT), above, share)
        return np.clip(share, -MAX_SHARE, MAX_SHARE)

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        tally = finite_tally(table, name)
        self.low_, high = self._trimmed_ends(tally.count, tally.ranked)
        return self.span_of(name, self.low_, high) if self.scale is None else 0.0

    def _find_scale(self, column: Column) -> float:
        return self.span_of(column.name, *self._ends(column))

    def span_of(self, name: str, low: float, high: float) -> float:
        """Return the width of a range; one that no number can hold is an error."""
        with np.errstate(over="ignore"):
            span = float(np.float64(high) - low)
        if not np.isfinite(span):
            needed, hint = "a range that a number can hold", "Divide the column by a constant"
            raise InvalidInput(f"column {name!r}", needed, f"{low:g} to {high:g}", hint)
        return span

    def _ends(self, column: Column) -> tuple[float, float]:
        """Return where the range of a column begins and where it ends."""
        values = self._encode(column)
        present = values[~np.isnan(values)] + 0.0  # -0.0 is 0.0
        return self._trimmed_ends(len(present), lambda ranks: np.partition(present, ranks)[ranks])

    def _trimmed_ends(self, n: int, ranked: Callable[[np.ndarray], Any]) -> tuple[float, float]:
        """Return both ends of n numbers, given those of some ranks; 0 without any number."""
        low = high = 0.0
        # Values of the column itself, nothing between two of them: no sum that could overflow.
        for k in (int(self.trim * (n - 1)), 0) if n else ():
            if not low < high:
                low, high = ranked(np.array([k, n - 1 - k])).tolist()
        return low, high

    def _encode(self, column: Column) -> np.ndarray:
        return finite_values(column)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return np.abs(a[:, None] - b)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return ``(1 - z**beta)**alpha``; NaN where a number is missing."""
        self._check_fitted()
        distances = self.compare(a, b)
        if self.scale_ == 0:
            if self.constant == "drop":
                return np.full(distances.shape, np.nan)
            return closeness(distances, 0.0)
        with np.errstate(over="ignore"):
            share = np.minimum(distances / self.scale_, 1.0)
        return np.asarray((1.0 - share**self.beta) ** self.alpha)

    def _variance(self, cells: Any) -> float:
        # the mean of equal numbers may be off by one bit, and 0 has to be exact
        return 0.0 if cells.min() == cells.max() else float(np.var(cells))


@dataclass(eq=False, repr=False)
class RankShare(Absolute):
    """The share of the fitted values that lie between two numbers, ``|F(u) - F(v)|``.

    F is the empirical distribution of the fitted column with mid-ranks: the share of the values
    below, plus half of the share of those equal. So any increasing change of the column, such as
    taking logarithms, leaves every distance between fitted values as it was, and one extreme value
    does not squeeze all others together. A new value takes its place among the fitted ones: beyond
    all of them it counts as the end of the column, and two new values without a fitted one between
    them do not differ.

    Parameters
    ----------
    alpha, beta : float, default 1
        The similarity is ``(1 - z**beta)**alpha`` with z the share, as for ``Absolute``.
    constant : {"keep", "drop"}, default "keep"
        What to do with a column of one single value, as for ``Absolute``.
    scale : float, optional
        The share at which two numbers have similarity 0. None: 1, all fitted values.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> income = Column("income", Kind("number"), np.array([20.0, 30.0, 30.0, 2e6]))
    >>> distance = RankShare().fit(income)
    >>> cells = distance.encode(income)
    >>> distance.compare(cells[:1], cells)
    array([[0.   , 0.375, 0.375, 0.75 ]])
    """

    FIELDS: ClassVar[Fields] = {
        "low_": None,
        "values_": Array("float64", "values", finite=True, ascending=True),
        "between_": Array("float64", "values+1", finite=True),
        "shares_": Array("float64", "values", finite=True),
    }

    name = "rank"
    # No parameter of ranks, which have no tails.
    trim: float = field(init=False, default_factory=float)

    def _learn(self, column: Column) -> None:
        values = super()._encode(column)
        self.learn_counts(*np.unique(values[~np.isnan(values)] + 0.0, return_counts=True))

    def learn_counts(self, found: np.ndarray, counts: np.ndarray) -> None:
        """Learn from the different values, ascending, and how often each occurs."""
        upto = np.concatenate([[0], np.cumsum(counts)])
        total = max(int(upto[-1]), 1)
        # The different fitted values.
        self.values_ = found
        # F of a new value before the first, the second, ...
        # Mid-ranks: a value lies between those below and those up to it.
        self.between_ = upto / total
        # Integers are added before they are divided: the same share gives the same float.
        self.shares_ = (upto[:-1] + upto[1:]) / (2 * total)  # F of the fitted values

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        tally = finite_tally(table, name)
        self.learn_counts(tally.values, tally.counts)
        return float(len(self.values_) > 1)

    def _find_scale(self, column: Column) -> float:
        return float(len(self.values_) > 1)

    def shares(self, cells: np.ndarray) -> np.ndarray:
        """Return encoded numbers, which are shares already, in units of the scale."""
        return cells / self.scale_

    def _encode(self, column: Column) -> np.ndarray:
        values = super()._encode(column) + 0.0
        # A constant column: equal or not.
        if len(self.values_) < 2 and self.scale is None:
            return values
        # Looked up in ascending order the list stays in the cache: for a million values this takes
        # a fifth of the time, sorting included.
        order, rank = np.argsort(values), np.empty(len(values), dtype=np.int64)
        rank[order] = np.searchsorted(self.values_, values[order])
        near = np.minimum(rank, len(self.values_) - 1)
        shares = np.where(self.values_[near] == values, self.shares_[near], self.between_[rank])
        return np.where(np.isnan(values), np.nan, shares)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that there is a value to take a place beside."""
        fits = dims["values"] > 0 or self.scale is None
        require(fits, "RankShare.values_", "fitted values", "none")


@dataclass(eq=False, repr=False)
class Circular(Distance):
    """How far two numbers are apart on a circle, the shorter way round (circular distance).

    At 23 o'clock and at 1 it is two hours, and a wind from 350 degrees is 20 from one of 10. The
    similarity is 1 less the share of half the period, so that noon is as unlike midnight as can be.
    It is the distance of columns read with ``kinds={"hour": "cycle:24"}``, or guessed so.

    Parameters
    ----------
    period : float, default 360
        After how much the numbers come round.
    scale : float, optional
        The distance at which two numbers have similarity 0. None: half the period.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> hour = Column("hour", Kind("number"), np.array([23.0, 1.0, 5.0, 11.0, np.nan]))
    >>> distance = Circular(24).fit(hour)
    >>> cells = distance.encode(hour)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  2.,  6., 12., nan]])
    >>> distance.similarity(cells[1:2], cells).round(3)
    array([[0.833, 1.   , 0.667, 0.167,   nan]])
    """

    FIELDS: ClassVar[Fields] = {"period": Real(0.0, 1e300, open_low=True)}

    name = "circular"
    kinds = ("number",)

    period: float = 360.0
    scale: float | None = None

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        return self.period / 2

    def _find_scale(self, column: Column) -> float:
        return self.period / 2

    def _encode(self, column: Column) -> np.ndarray:
        return np.asarray(np.mod(finite_values(column), self.period))

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return shorter_way(a, b, self.period)

    def _cells_shape(self) -> Field:
        return Array("float64", "n", low=0, high=self.period)
