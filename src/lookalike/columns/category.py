"""Categories: equal or not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance
from lookalike.columns.coded import codes_in, variance_of_codes
from lookalike.saving.fields import Array, Field, Fields, Plain, TupleOf
from lookalike.table.model.table import Column


class Equal(Distance):
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

    FIELDS: ClassVar[Fields] = {
        "levels_": TupleOf(Plain()),
    }

    name = "equal"
    kinds = ("category", "flag", "order")

    levels_: tuple[Any, ...]

    def _learn(self, column: Column) -> None:
        self.levels_ = tuple(column.kind.levels)

    def _find_scale(self, column: Column) -> float:
        return 1.0

    def _encode(self, column: Column) -> np.ndarray:
        return codes_in(column, self.levels_)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray(a[:, None] != b, dtype=np.float64)

    def _variance(self, cells: Any) -> float:
        return variance_of_codes(cells)

    def cells_shape(self) -> Field:
        """Return what encoded cells look like."""
        return Array("int64", "n")
