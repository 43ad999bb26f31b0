"""Distances above what the two neighborhoods would lead to expect."""

from __future__ import annotations

import numpy as np

from lookalike.hubness.reducer import Facts, _Scaled
from lookalike.measures.contract.matrices import typical_distance
from lookalike.measures.contract.rows import Rows, self_pairs


class _Excess(_Scaled):
    """Base of the reducers that subtract a level of each row, a fact of the name ``level``.

    Distances are excesses plus ``offset_``, so that none is negative. One far row makes the offset
    so large that the sum has no digits left for the differences between all others: lists are
    therefore sorted by the excesses themselves.
    """

    NATIVE = ("distance", "ratio")

    def _fit_rows(self, rows: Rows) -> None:
        self.offset_ = 2 * float(rows.arrays["level"].max(initial=0.0))
        self.scale_ = typical_distance(self, rows)

    def _half(self, d: np.ndarray) -> np.ndarray:
        """Return half of what the levels are subtracted from."""
        return d

    def _order(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        return excesses(self._half(d), a["level"], b["level"], self.offset_ / 2)

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        excess = self._order(d, back, a, b)
        excess += self.offset_
        return excess

    @property
    def order_shift(self) -> float:
        """What a distance has over the value that lists are sorted by."""
        return self.offset_

    def order_block(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the excesses, which lists are sorted by; a row itself comes first."""
        d, back = self._distances(a, b)
        values = self._order(d, back, a.arrays, {name: v[None] for name, v in b.arrays.items()})
        values[self_pairs(a, b)] = -self.offset_
        return values


def excesses(d: np.ndarray, a: np.ndarray, b: np.ndarray, most: float) -> np.ndarray:
    """Return 2 d - a - b with levels cut at ``most``, so that it is at least ``-2 * most``."""
    from lookalike.kernels.hubness import excess_block

    excess_block(d, np.minimum(a, most), np.minimum(b, most))
    return d
