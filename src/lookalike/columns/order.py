"""Ordered levels: low, mid, high."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Cells, Distance, cell_error, closeness, hide_missing, show
from lookalike.columns.coded import codes_in, variance_of_codes
from lookalike.saving.fields import Array, Field, Fields, Plain, TupleOf
from lookalike.table.model.table import Column


class Levels(Distance, abstract=True):
    """A distance that is looked up in a table of levels."""

    FIELDS: ClassVar[Fields] = {
        "levels_": TupleOf(Plain(), "levels"),
        "similarities_": Array("float64", "levels", "levels"),
    }

    kinds = ("order",)

    levels_: tuple[Any, ...]
    similarities_: np.ndarray

    def _learn(self, column: Column) -> None:
        self.levels_ = tuple(column.kind.levels)
        codes = self._encode(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(self.levels_))
        self.learn_levels(self.levels_, counts)

    def learn_levels(self, levels: tuple[Any, ...], counts: np.ndarray) -> None:
        """Learn from the levels and how often each occurs."""
        self.levels_ = levels
        self.similarities_ = self._table(counts)

    def _table(self, counts: np.ndarray) -> np.ndarray:
        raise AssertionError("a distance of levels must have a table")

    def _find_scale(self, column: Column) -> float:
        return 1.0

    def _encode(self, column: Column) -> np.ndarray:
        codes = codes_in(column, self.levels_)
        odd = np.flatnonzero((codes < -1) | (codes >= len(self.levels_)))
        if len(odd):
            row = int(odd[0])
            code = int(column.values[row])
            named = code in column.unknown or 0 <= code < len(column.kind.levels)
            found = show(column.cell(row)) if named else f"code {code}"
            needed = "one of the levels " + ", ".join(repr(v) for v in self.levels_)
            hint = "Declare the level, with its place, where the kind is given, or leave it missing"
            raise cell_error(column.name, row, needed, found, hint)
        return codes

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return 1.0 - self._look_up(a, b)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return the similarity of two levels, NaN where one is missing."""
        self._check_fitted()
        if self.scale_ != 1.0:
            return closeness(self.compare(a, b), self.scale_)
        return hide_missing(self._look_up(a, b), a, b)

    def _look_up(self, a: Any, b: Any) -> np.ndarray:
        padded = np.pad(self.similarities_, (0, 1), constant_values=np.nan)  # the last is -1's
        return np.asarray(padded[a[:, None], b])

    def _variance(self, cells: Any) -> float:
        return variance_of_codes(cells, (1.0 - self.similarities_) ** 2)

    def cells_shape(self) -> Field:
        """Return what encoded cells look like."""
        return Array("int64", "n", low=-1, high=len(self.levels_) - 1)


class Information(Levels):
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
        return information_table(counts)


class RankRange(Levels):
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

    def _table(self, counts: np.ndarray) -> np.ndarray:
        rank = np.arange(len(counts))
        return np.asarray(1.0 - self._steps(rank, rank))

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return self._steps(a, b)

    def _steps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(a[:, None] - b) / max(1, len(self.levels_) - 1))

    def _variance(self, cells: Any) -> float:
        rank = np.arange(len(self.levels_))
        return variance_of_codes(cells, self._steps(rank, rank) ** 2)


def information_table(counts: np.ndarray) -> np.ndarray:
    """Return the similarity of every level to every other from how often each was seen.

    Examples
    --------
    >>> information_table(np.array([2, 1, 1])).round(6)[0].tolist()
    [1.0, 0.276692, 0.0]
    """
    n_levels = len(counts)
    weight = np.asarray(counts, dtype=np.int64)
    if (weight == 0).any():
        weight = 2 * weight + 1  # add half a count to every level, kept whole by doubling
    ends = np.concatenate([[0], np.cumsum(weight)])
    total = int(ends[-1])
    table = np.eye(n_levels)
    for low in range(n_levels):
        for high in range(low + 1, n_levels):
            span = int(ends[high + 1] - ends[low])
            if span < total:  # the whole range has similarity 0, exactly
                own = np.log(weight[low] / total) + np.log(weight[high] / total)
                alike = 2.0 * np.log(span / total) / own
                table[low, high] = table[high, low] = min(max(float(alike), 0.0), 1.0)
    return table
