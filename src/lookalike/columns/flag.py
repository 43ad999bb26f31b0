"""Flags: yes or no, where only a yes says something."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Cells, Distance, cell_error, show
from lookalike.columns.coded import codes_in, variance_of_codes
from lookalike.saving.fields import Array, Field, Fields, Plain, TupleOf
from lookalike.table.model.table import Column


class Presence(Distance):
    """Whether two flags differ, where having something in common counts and lacking it does not.

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

    FIELDS: ClassVar[Fields] = {
        "levels_": TupleOf(Plain()),
    }

    name = "presence"
    kinds = ("flag",)

    levels_: tuple[Any, ...]

    def _learn(self, column: Column) -> None:
        self.levels_ = tuple(column.kind.levels)

    def _find_scale(self, column: Column) -> float:
        return 1.0

    def _encode(self, column: Column) -> np.ndarray:
        codes = codes_in(column, self.levels_)
        odd = np.flatnonzero((codes < -1) | (codes > 1))
        if len(odd):
            row = int(odd[0])
            needed = "a flag that is " + " or ".join(repr(v) for v in self.levels_ or (0, 1))
            hint = "Correct the cell, leave it missing, or make the column a category"
            raise cell_error(column.name, row, needed, show(column.cell(row)), hint)
        return codes

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray(a[:, None] != b, dtype=np.float64)

    def similarity(self, a: Cells, b: Cells) -> np.ndarray:
        """Return 1 where both are yes, 0 where they differ, NaN where nothing is comparable."""
        out = super().similarity(a, b)
        out[np.ix_(np.asarray(a == 0), np.asarray(b == 0))] = np.nan
        return out

    def _variance(self, cells: Any) -> float:
        return variance_of_codes(cells)

    def cells_shape(self) -> Field:
        """Return what encoded cells look like."""
        return Array("int64", "n", low=-1, high=1)
