"""A matrix of similarities, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput
from lookalike.measures.contract.base import Measure

SLACK = 1e-9  # round-off that is forgiven, and cut off


def similarity_matrix(S: Any, who: str) -> np.ndarray:
    """Return the similarities of a fitted measure, or a square matrix, as an array of our own."""
    matrix = S.similarity() if isinstance(S, Measure) else np.array(S, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        needed = "a square matrix of similarities, or a fitted measure"
        raise InvalidInput(who, needed, f"shape {matrix.shape}", "Give all pairs of rows")
    return _in_bounds(matrix, who)


def between_rows(new: Any, n: int, who: str) -> np.ndarray:
    """Return similarities of new rows (one per line) to the n rows of a matrix."""
    matrix = np.array(new, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n:
        needed = f"a similarity of each new row to each of the {n} rows"
        raise InvalidInput(
            who, needed, f"shape {matrix.shape}", InPython("Pass new=measure.similarity(X_new)")
        )
    return _in_bounds(matrix, who)


def _in_bounds(matrix: np.ndarray, who: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        outside = ~((matrix >= -SLACK) & (matrix <= 1 + SLACK))  # NaN is outside as well
    if outside.any():
        i, j = (int(at[0]) for at in np.nonzero(outside))
        raise InvalidInput(
            who,
            "similarities from 0 to 1",
            f"{matrix[i, j]:g} in row {i}, column {j} ({int(outside.sum()):,} such entries)",
            "Convert distances first, and fill undefined pairs",
        )
    return np.clip(matrix, 0.0, 1.0)
