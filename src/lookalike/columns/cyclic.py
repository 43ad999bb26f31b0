"""Levels in a circle: months, weekdays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.coded import variance_of_codes
from lookalike.columns.order import Levels


class Cyclic(Levels):
    """How many steps two levels are apart the short way round, as a share of half the circle.

    December is next to January, and Sunday to Monday (circular distance). It is the distance of
    columns read with ``kinds={"when": "month"}`` or ``"weekday"``; all levels of the circle must be
    declared, also those that no row has.

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

    def _table(self, counts: np.ndarray) -> np.ndarray:
        rank = np.arange(len(counts))
        return np.asarray(1.0 - self._steps(rank, rank))

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return self._steps(a, b)

    def _steps(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        n = max(1, len(self.levels_))
        straight = np.abs(a[:, None] - b)
        return np.asarray(np.minimum(straight, n - straight) / max(1, n // 2))

    def _variance(self, cells: Any) -> float:
        rank = np.arange(len(self.levels_))
        return variance_of_codes(cells, self._steps(rank, rank) ** 2)
