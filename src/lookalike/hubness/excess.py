"""Distances above what the two neighborhoods would lead to expect."""

from __future__ import annotations

import numpy as np

from lookalike.hubness.reducer import _Scaled
from lookalike.measures.contract.matrices import typical_distance
from lookalike.measures.contract.rows import Rows


class _Excess(_Scaled):
    """Base of the reducers that subtract a level of each row, a fact of the name ``level``."""

    NATIVE = ("distance", "ratio")

    def _fit_rows(self, rows: Rows) -> None:
        self.offset_ = 2 * float(rows.arrays["level"].max(initial=0.0))
        self.scale_ = typical_distance(self, rows)


def excesses(d: np.ndarray, a: np.ndarray, b: np.ndarray, offset: float) -> np.ndarray:
    """Return 2 d - a - b + offset, with levels cut at offset / 2 so that it is at least 0."""
    from lookalike.kernels.hubness import excess_block

    excess_block(d, np.minimum(a, offset / 2), np.minimum(b, offset / 2), offset)
    return d
