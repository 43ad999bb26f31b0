"""Numbers by their order: how many fitted values lie between two of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike.columns.number import Absolute
from lookalike.saving.fields import Array, Dims, Fields, require
from lookalike.table.model.table import Column


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

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float = 1.0,
        constant: str = "keep",
        scale: float | None = None,
    ) -> None:
        super().__init__(alpha, beta, constant, scale)

    def _learn(self, column: Column) -> None:
        values = super()._encode(column)
        self.learn_counts(*np.unique(values[~np.isnan(values)] + 0.0, return_counts=True))

    def learn_counts(self, found: np.ndarray, counts: np.ndarray) -> None:
        """Learn from the different values, ascending, and how often each occurs."""
        upto = np.concatenate([[0], np.cumsum(counts)])
        total = max(int(upto[-1]), 1)
        self.values_ = found  # the different fitted values
        self.between_ = upto / total  # F of a new value before the first, the second, ...
        # Whole numbers are added before they are divided: the same share gives the same float.
        self.shares_ = (upto[:-1] + upto[1:]) / (2 * total)  # F of the fitted values

    def _find_scale(self, column: Column) -> float:
        return float(len(self.values_) > 1)

    def shares(self, cells: np.ndarray) -> np.ndarray:
        """Return encoded numbers, which are shares already, in units of the scale."""
        return cells / self.scale_

    def _encode(self, column: Column) -> np.ndarray:
        values = super()._encode(column) + 0.0
        if len(self.values_) < 2 and self.scale is None:  # a constant column: equal or not
            return values
        at = np.searchsorted(self.values_, values)
        near = np.minimum(at, len(self.values_) - 1)
        places = np.where(self.values_[near] == values, self.shares_[near], self.between_[at])
        return np.where(np.isnan(values), np.nan, places)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that there is a value to take a place beside."""
        fits = dims["values"] > 0 or self.scale is None
        require(fits, "RankShare.values_", "fitted values", "none")
