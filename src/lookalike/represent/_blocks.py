"""Blocks of similarities between encoded rows, with a value for pairs that have none."""

from __future__ import annotations

import numpy as np

from lookalike._config import settings, show_bytes
from lookalike._threads import blocks, run
from lookalike.errors import TooLarge, message
from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows

__all__ = ["HALF", "check_size", "compared", "filled", "nearest_totals", "squared"]

HALF = 0.5  # the similarity of two rows with nothing to compare: neither alike nor unlike
CELLS = 1 << 19  # entries of one block: 4 MB


def filled(measure: Measure, a: Rows, b: Rows, to: str = "similarity") -> np.ndarray:
    """Return one block in which undefined pairs are half alike, or as far as half alike is."""
    values = measure.block(a, b, to)
    gaps = np.isnan(values)
    if gaps.any():
        values[gaps] = HALF if to == "similarity" else _half_distance(measure)
    return values


def _half_distance(measure: Measure) -> float:
    conversion = measure.traits.conversion
    if conversion == "ratio":
        return float(measure.scale_)  # s = c / (c + d) is 1/2 at d = c
    return HALF**0.5 if conversion == "sqrt" else HALF


def compared(
    measure: Measure, a: Rows, b: Rows, to: str = "similarity", n_jobs: int | None = None
) -> np.ndarray:
    """Return all rows of a against all of b, block by block, undefined pairs filled."""
    out = np.empty((len(a), len(b)))

    def one(rows: slice) -> None:
        out[rows] = filled(measure, a[rows], b, to)

    run(one, [(at,) for at in blocks(len(a), _height(b))], n_jobs, "comparing with prototypes")
    return out


def squared(measure: Measure, rows: Rows, to: str, n_jobs: int | None, who: str) -> np.ndarray:
    """Return all rows against each other; the mean of both directions where they differ."""
    check_size(len(rows), who)
    values = compared(measure, rows, rows, to, n_jobs)
    if measure.traits.exact_self:  # also for rows that a frozen measure has not seen
        np.fill_diagonal(values, float(to == "similarity"))
    return values if measure.traits.symmetric else (values + values.T) / 2


def nearest_totals(measure: Measure, a: Rows, b: Rows, n_jobs: int | None) -> float:
    """Return the sum over a of the distance to the nearest row of b, without keeping a matrix."""

    def one(rows: slice) -> float:
        return float(filled(measure, a[rows], b, "distance").min(axis=1).sum())

    parts = [(at,) for at in blocks(len(a), _height(b))]
    return float(sum(run(one, parts, n_jobs, "judging prototypes")))


def _height(b: Rows) -> int:
    return max(16, CELLS // max(1, len(b)))


def check_size(n: int, who: str) -> None:
    """Refuse a square of n rows that would not fit under the memory limit."""
    limit, size = settings().memory_limit, 8 * n * n
    if size > limit:
        raise TooLarge(
            message(
                who,
                f"a matrix under the memory limit of {show_bytes(limit)}",
                f"{n:,} x {n:,} = {show_bytes(size)}",
                "Choose fewer prototypes, use method='random' or 'farthest', or raise the limit "
                "with lookalike.config(memory_limit=...)",
            )
        )
