"""Distinct numbers and how many rows have each: all that most measures learn from a column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# Values that must come before parts are sorted together; chosen by hand.
MIN_VALUES_TO_MERGE = 2**16


class Counts:
    """Distinct values and how many rows have each; parts may come in any order."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, np.ndarray]] = []
        # Values in all parts, and after the last merge of them.
        self.held = self._settled = 0

    def add_counts(self, values: Any, counts: np.ndarray) -> None:
        """Add distinct values, and how often each occurs."""
        self._parts.append((values, counts))
        self.held += len(values)
        # Merged when they have doubled, so that all merges together cost as much as a few sorts.
        if self.held > 2 * max(self._settled, MIN_VALUES_TO_MERGE):
            self._settle()

    def _settle(self) -> None:
        if len(self._parts) > 1:
            values, places = self._unite([values for values, _ in self._parts])
            counts = np.zeros(len(values), np.int64)
            np.add.at(counts, places, np.concatenate([counts for _, counts in self._parts]))
            self._parts = [(values, counts)]
        self._settled = self.held = sum(len(values) for values, _ in self._parts)

    def _unite(self, parts: list[Any]) -> tuple[Any, np.ndarray]:
        """Return each value of several parts once, and the position of all values among them."""
        return np.unique(np.concatenate(parts), return_inverse=True)

    @property
    def values(self) -> Any:
        """The distinct values; numbers are ascending."""
        self._settle()
        return self._parts[0][0] if self._parts else np.empty(0)

    @property
    def counts(self) -> np.ndarray:
        """How many rows have each of them."""
        self._settle()
        return self._parts[0][1] if self._parts else np.empty(0, np.int64)


class Tally(Counts):
    """The distinct numbers of a column, ascending, and how often each occurs.

    Parts may be counted apart and merged, in any order: the answer is the same.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(np.array([2.0, 1.0, np.nan, 2.0]))
    >>> tally.values.tolist(), tally.counts.tolist(), tally.missing
    ([1.0, 2.0], [1, 2], 1)
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows = self.missing = 0
        # The row of the first infinite number.
        self.infinite = -1

    @classmethod
    def of(cls, parts: Iterable[np.ndarray]) -> Tally:
        """Count the numbers of several parts, in their order."""
        tally = cls()
        for values in parts:
            tally.add(values)
        return tally

    @classmethod
    def counted(
        cls, values: np.ndarray, counts: np.ndarray, rows: int, missing: int, infinite: int
    ) -> Tally:
        """Return the tally of what was counted elsewhere.

        Parameters
        ----------
        values, counts : distinct numbers, ascending, and how many rows have each
        rows, missing : int, all rows, and those without a number
        infinite : int, the row of the first infinite number; -1 if none is infinite
        """
        tally = cls()
        tally.add_counts(values, counts)
        tally.rows, tally.missing, tally.infinite = rows, missing, infinite
        return tally

    def add(self, values: np.ndarray) -> None:
        """Count more numbers; NaN is a missing one."""
        values = np.asarray(values, dtype=np.float64)
        gone = np.isnan(values)
        endless = np.isinf(values)
        if self.infinite < 0 and endless.any():
            self.infinite = self.rows + int(np.argmax(endless))
        self.rows += len(values)
        self.missing += int(gone.sum())
        # -0.0 and 0.0 are one number.
        self.add_counts(*np.unique(values[~gone] + 0.0, return_counts=True))

    def merge(self, other: Tally) -> None:
        """Count what another has counted in rows that come after these."""
        if self.infinite < 0 <= other.infinite:
            self.infinite = self.rows + other.infinite
        self.rows += other.rows
        self.missing += other.missing
        self.add_counts(other.values, other.counts)

    @property
    def count(self) -> int:
        """How many rows have a number."""
        return self.rows - self.missing

    def finite(self) -> Tally:
        """Return the tally without infinite numbers."""
        if self.infinite < 0:
            return self
        finite = np.isfinite(self.values)
        values, counts = self.values[finite], self.counts[finite]
        return Tally.counted(values, counts, int(counts.sum()), 0, -1)

    def ranked(self, ranks: np.ndarray) -> np.ndarray:
        """Return the numbers of some ranks in the sorted column, counted from 0."""
        return self.values[np.searchsorted(np.cumsum(self.counts), ranks, side="right")]

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """Return quantiles, to the last bit those that numpy finds in all numbers."""
        at = np.asarray(shares, np.float64) * (self.count - 1)
        below = np.floor(at)
        low = self.ranked(below.astype(np.int64))
        high = self.ranked(np.minimum(below + 1, self.count - 1).astype(np.int64))
        # Interpolated by numpy, so that the last bit is the one it would find in all numbers.
        pairs = zip(low, high, at - below, strict=True)
        return np.array([np.quantile(np.array([a, b]), t) for a, b, t in pairs])

    def upto(self, limits: np.ndarray) -> np.ndarray:
        """Return how many numbers are no larger than each limit."""
        total = np.concatenate([[0], np.cumsum(self.counts)])
        return np.asarray(total[np.searchsorted(self.values, limits, side="right")])
