"""Categories, flags, ordered levels and cycles: cells that are codes of levels."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Cells, Distance, cell_error, closeness, hide_missing, show
from lookalike.columns.number import shorter_way
from lookalike.saving.fields import Array, Field, Fields, Plain, TupleOf
from lookalike.table import LazyTable
from lookalike.table.model.table import Column, unknown_code


def variance_of_codes(codes: np.ndarray, squared: np.ndarray | None = None) -> float:
    """Return half the mean squared distance over all ordered pairs of codes, in one pass.

    ``squared`` holds the squared distances between codes; None: unequal codes are 1 apart.
    """
    level, count = np.unique(codes, return_counts=True)
    n = len(codes)
    if squared is None:
        # Python's integers, since the square of a count of rows may exceed 64 bits.
        same = int((count.astype(object) ** 2).sum())
        return (n * n - same) / (2 * n * n)
    return float(count @ squared[np.ix_(level, level)] @ count) / (2 * n * n)


class _Coded(Distance, abstract=True):
    """A distance of codes: 0 between equal ones, 1 between others."""

    FIELDS: ClassVar[Fields] = {"levels_": TupleOf(Plain(), "levels")}

    levels_: tuple[Any, ...]

    def _learn(self, column: Column) -> None:
        self.levels_ = tuple(column.kind.levels)

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        self._learn(table.like[name])
        return 1.0

    def _find_scale(self, column: Column) -> float:
        return 1.0

    def _encode(self, column: Column) -> np.ndarray:
        """Return the codes of a column in terms of the fitted levels.

        A table read on its own may number its levels otherwise; values that were not fitted keep a
        code below -1 that is the same in every call. Such a level of an order that was guessed is
        missing.
        """
        levels = self.levels_
        codes = np.asarray(column.values, dtype=np.int64)
        own = tuple(column.kind.levels)
        if own != levels and own and levels:
            fitted = {level: code for code, level in enumerate(levels)}
            recode = np.array([fitted.get(v, unknown_code(v)) for v in own], dtype=np.int64)
            given, codes = codes, np.where(codes >= 0, recode[np.maximum(codes, 0)], codes)
            for code, value in column.unknown.items():
                if value in fitted:
                    codes[given == code] = fitted[value]
        return np.maximum(codes, -1) if column.kind.takes_new_levels else codes

    def _known(self, column: Column, n_levels: int, needed: str, hint: str) -> np.ndarray:
        """Return the codes of a column, none of which may be that of another level."""
        codes = _Coded._encode(self, column)
        unknown = np.flatnonzero((codes < -1) | (codes >= n_levels))
        if len(unknown):
            row = int(unknown[0])
            code = int(column.values[row])
            named = code in column.unknown or 0 <= code < len(column.kind.levels)
            found = show(column.cell(row)) if named else f"code {code}"
            raise cell_error(column.name, row, needed, found, hint)
        return codes

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray(a[:, None] != b, dtype=np.float64)

    def _variance(self, cells: Any) -> float:
        return variance_of_codes(cells)


class LevelDistance(_Coded, abstract=True):
    """A distance that is looked up in a table of levels."""

    FIELDS: ClassVar[Fields] = {"similarities_": Array("float64", "levels", "levels")}

    kinds = ("order",)

    similarities_: np.ndarray

    def _learn(self, column: Column) -> None:
        super()._learn(column)
        codes = self._encode(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(self.levels_))
        self.similarities_ = self._table(counts)

    def _learn_in_parts(self, table: LazyTable, name: str) -> float:
        self.levels_, tally = tuple(table.like[name].kind.levels), table.tally(name)
        counts = np.zeros(len(self.levels_), np.int64)
        known = tally.values >= 0
        counts[tally.values[known].astype(np.int64)] = tally.counts[known]
        self.similarities_ = self._table(counts)
        return 1.0

    @abstractmethod
    def _table(self, counts: np.ndarray) -> np.ndarray:
        """Return the similarity of every level to every other from how often each was seen."""

    def _encode(self, column: Column) -> np.ndarray:
        needed = "one of the levels " + ", ".join(map(repr, self.levels_))
        hint = "Declare the level, with its place, where the kind is given, or leave it missing"
        return self._known(column, len(self.levels_), needed, hint)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return 1.0 - self._look_up(a, b)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return the similarity of two levels, NaN where one is missing."""
        self._check_fitted()
        if self.scale_ != 1.0:
            return closeness(self.compare(a, b), self.scale_)
        return hide_missing(self._look_up(a, b), a, b)

    def _look_up(self, a: Any, b: Any) -> np.ndarray:
        # Code -1 is the last row and column of a table with one more level, all NaN.
        padded = np.pad(self.similarities_, (0, 1), constant_values=np.nan)  # the last is -1's
        return np.asarray(padded[a[:, None], b])

    def _variance(self, cells: Any) -> float:
        return variance_of_codes(cells, (1.0 - self.similarities_) ** 2)

    def _cells_shape(self) -> Field:
        return Array("int64", "n", low=-1, high=len(self.levels_) - 1)


class Information(LevelDistance):
    """How much two levels tell by lying close together: a rare narrow span makes them alike.

    The similarity of levels a <= b is ``2 log(P_a + ... + P_b) / (log P_a + log P_b)`` with P the
    share of each level in the fitted column [1]_ [2]_. Equal levels have similarity 1, the lowest
    and the highest 0. As soon as one declared level was never seen, every share is smoothed by
    half a count. It does not fall with every step of rank: a span over a very rare level may be
    more alike than that level is to its neighbor. Use "rank_range" where steps are to count
    equally.

    References
    ----------
    .. [1] D. Lin (1998). An information-theoretic definition of similarity. Proceedings of the 15th
       International Conference on Machine Learning, 296-304.
    .. [2] J. C. Gower (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27(4), 857-871. doi:10.2307/2528823

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> risk = Column("risk", Kind("order", levels=("low", "mid", "high")), np.array([0, 0, 1, 2]))
    >>> distance = Information().fit(risk)
    >>> distance.similarities_.round(6)
    array([[1.      , 0.276692, 0.      ],
           [0.276692, 1.      , 0.5     ],
           [0.      , 0.5     , 1.      ]])
    """

    name = "information"

    def _table(self, counts: np.ndarray) -> np.ndarray:
        n_levels = len(counts)
        weight = np.asarray(counts, dtype=np.int64)
        if (weight == 0).any():
            # Add half a count to every level, kept whole by doubling.
            weight = 2 * weight + 1
        # Integers up to the logarithms, so that equal spans have equal similarities to the last
        # bit.
        ends = np.concatenate([[0], np.cumsum(weight)])
        total = int(ends[-1])
        table = np.eye(n_levels)
        for low in range(n_levels):
            for high in range(low + 1, n_levels):
                span = int(ends[high + 1] - ends[low])
                # The whole range has similarity 0, exactly.
                if span < total:
                    own = np.log(weight[low] / total) + np.log(weight[high] / total)
                    alike = 2.0 * np.log(span / total) / own
                    table[low, high] = table[high, low] = min(max(float(alike), 0.0), 1.0)
        return table


class _Steps(LevelDistance, abstract=True):
    """A distance that counts steps between levels, whatever their frequencies."""

    @abstractmethod
    def _steps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance of every code of a to every code of b."""

    def _table(self, counts: np.ndarray) -> np.ndarray:
        rank = np.arange(len(counts))
        return np.asarray(1.0 - self._steps(rank, rank))

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return self._steps(a, b)

    def _variance(self, cells: Any) -> float:
        rank = np.arange(len(self.levels_))
        return variance_of_codes(cells, self._steps(rank, rank) ** 2)


class RankRange(_Steps):
    """How many steps two levels are apart, as a share of all steps.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> risk = Column("risk", Kind("order", levels=("low", "mid", "high")), np.array([0, 1, 2, -1]))
    >>> distance = RankRange().fit(risk)
    >>> cells = distance.encode(risk)
    >>> distance.compare(cells[:1], cells)
    array([[0. , 0.5, 1. , nan]])
    """

    name = "rank_range"

    def _steps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(a[:, None] - b) / max(1, len(self.levels_) - 1))


class Cyclic(_Steps):
    """How many steps two levels are apart the short way round, as a share of half the circle.

    December is next to January, and Sunday to Monday (circular distance). It is the distance of
    columns read with ``kinds={"when": "month"}``, ``"weekday"`` or ``"cycle:N,E,S,W"``; all levels
    of the circle must be declared, also those that no row has.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> levels = ("spring", "summer", "autumn", "winter")
    >>> season = Column("season", Kind("order", levels=levels), np.array([0, 1, 2, 3, -1]))
    >>> distance = Cyclic().fit(season)
    >>> cells = distance.encode(season)
    >>> distance.compare(cells[:1], cells)
    array([[0. , 0.5, 1. , 0.5, nan]])
    """

    name = "cyclic"

    def _steps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        n = max(1, len(self.levels_))
        return shorter_way(a, b, n) / max(1, n // 2)


class Presence(_Coded):
    """Whether two flags differ, where a shared yes counts and a shared no does not.

    Two rows that both say yes are alike, a yes and a no are unlike, and two that both say no are
    not compared at all (Gower 1971, doi:10.2307/2528823): that neither of two patients has a rare
    disease is not a reason to find them alike. Choose "equal" where no is as telling as yes.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> smoker = Column("smoker", Kind("flag", levels=("no", "yes")), np.array([1, 0, 1, -1]))
    >>> distance = Presence().fit(smoker)
    >>> cells = distance.encode(smoker)
    >>> distance.similarity(cells[:2], cells)
    array([[ 1.,  0.,  1., nan],
           [ 0., nan,  0., nan]])
    >>> distance.compare(cells[:2], cells)
    array([[ 0.,  1.,  0., nan],
           [ 1.,  0.,  1., nan]])
    """

    name = "presence"
    kinds = ("flag",)
    CELLS = Array("int64", "n", low=-1, high=1)

    def _encode(self, column: Column) -> np.ndarray:
        needed = "a flag that is " + " or ".join(map(repr, self.levels_ or (0, 1)))
        hint = "Correct the cell, leave it missing, or make the column a category"
        return self._known(column, 2, needed, hint)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return 1 where both are yes, 0 where they differ, NaN where nothing is comparable."""
        out = super().similarity(a, b)
        out[np.ix_(np.asarray(a == 0), np.asarray(b == 0))] = np.nan
        return out


class Equal(_Coded):
    """Whether two categories differ: 0 if they are equal, 1 if not.

    A category that the fitted column did not have equals only itself. On an ordered column this
    ignores the order; on a flag it treats yes and no alike, so that two absences are a match.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> kind = Kind("category", levels=("red", "blue"))
    >>> color = Column("color", kind, np.array([0, 1, 0, -1]))
    >>> distance = Equal().fit(color)
    >>> cells = distance.encode(color)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  1.,  0., nan]])
    """

    name = "equal"
    kinds = ("category", "flag", "order")
    CELLS = Array("int64", "n")
