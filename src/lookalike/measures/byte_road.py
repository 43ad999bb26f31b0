"""The faster road to exact neighbors: rows as bytes, for measures that can bound their distances.

A measure says how its columns become bytes and what the bounds of a query are; the search itself
is in ``neighbors.codes``. Codes belong to encoded rows and are kept beside them, so they are made
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._threads import blocks
from lookalike.kernels.byte_bounds import STEPS, propose
from lookalike.kernels.first_use import worth_compiling
from lookalike.measures.base import Measure
from lookalike.measures.lists import Ids, name_rows
from lookalike.measures.rows import Rows, kept_beside
from lookalike.neighbors.codes import LEAST, Bounds, ByteCodes, bound_queries, nearest_by_codes
from lookalike.neighbors.graph import NeighborGraph

__all__ = ["byte_steps", "nearest_by_bytes", "nearest_numbers", "pays"]

COLUMNS = 16  # of a table, roughly, to say how much work a question is
TRIED = 4  # questions after which bounds that ruled out too little are given up


def pays(a: Rows, b: Rows, k: int) -> bool:
    """Whether bounds may save anything: there are enough rows, and they have served so far.

    Where columns without bytes decide who is near, bounds leave too many rows; after a few such
    questions to the same rows they are no longer asked. A few questions are answered before the
    loops over bytes would be compiled. The answers are the same either way.
    """
    asked, in_vain = b.__dict__.get("_tally", (0, 0))
    if len(b) < LEAST or 16 * k > len(b) or (asked >= TRIED and 2 * in_vain >= asked):
        return False
    return worth_compiling(propose, COLUMNS * len(a) * len(b))


def byte_steps(values: np.ndarray, low: Any, span: Any) -> np.ndarray:
    """Return the step of each value between the ends of its column, cut off at both ends.

    Cutting off only brings values nearer to each other, so differences of steps stay bounds.
    """
    out = np.empty(values.shape, np.uint8)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        per_unit = np.where(span > 0, STEPS / span, 0.0)
        for at in blocks(len(values), 8192):  # no second array of floats as large as the first
            steps = np.floor((values[at] - low) * per_unit)
            steps = np.nan_to_num(steps, nan=0.0, posinf=STEPS, neginf=0.0)
            out[at] = np.clip(steps, 0, STEPS)
    return out


def nearest_by_bytes(
    measure: Measure,
    a: Rows,
    b: Rows,
    k: int,
    codes: ByteCodes,
    queries: Callable[[slice], Bounds],
    limit_of: Callable[[np.ndarray], np.ndarray],
    plain: Callable[..., NeighborGraph],
    exclude: Ids,
    ids: Ids,
) -> NeighborGraph:
    """Return unfinished lists; queries whose bounds say too little take the plain road.

    Parameters
    ----------
    measure : Measure
    a, b : Rows
    k : int
    codes : ByteCodes of b
    queries, limit_of : see ``nearest_by_codes``
    plain : the search that looks at everything, called as ``nearest`` is
    exclude, ids : see ``Measure.nearest``
    """
    barred, names, n_indexed = name_rows(a, b, exclude, ids)
    found, left_over = nearest_by_codes(
        codes, queries, len(a), k, lambda i, j: measure.pair_distances(a, b, i, j), limit_of,
        exclude=barred, ids=names, always=_own_rows(a, b), n_jobs=getattr(measure, "n_jobs", None),
    )  # fmt: skip
    at = np.flatnonzero(left_over)
    asked, in_vain = b.__dict__.get("_tally", (0, 0))
    b.__dict__["_tally"] = (asked + len(a), in_vain + len(at))
    if len(at):
        rest = plain(a[at], b, k, exclude=barred[at], ids=names)
        found.indices[at], found.distances[at] = rest.indices, rest.distances
    return NeighborGraph(found.indices, found.distances, n_indexed, found.has_self)


def _own_rows(a: Rows, b: Rows) -> list[np.ndarray] | None:
    """Return for each query the rows of b that are the same fitted row; None if there are none.

    A row is exactly alike to itself by definition, whatever the formula says of its gaps.
    """
    if not (a.seen >= 0).any():
        return None
    order, ranked = kept_beside(b, "_by_seen", lambda: _sorted_by_seen(b))
    starts = np.searchsorted(ranked, a.seen, "left")
    ends = np.searchsorted(ranked, a.seen, "right")
    return [
        order[low:high] if seen >= 0 else order[:0]
        for low, high, seen in zip(starts, ends, a.seen, strict=True)
    ]


def _sorted_by_seen(b: Rows) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(b.seen, kind="stable")
    return order, b.seen[order]


# -- plain numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _NumberCodes:
    codes: ByteCodes
    low: np.ndarray
    span: np.ndarray


def nearest_numbers(
    measure: Measure,
    a: Rows,
    b: Rows,
    k: int,
    array: str,
    unit: float,
    largest: bool,
    plain: Callable[..., NeighborGraph],
    exclude: Ids,
    ids: Ids,
) -> NeighborGraph:
    """Search by sums (or the largest) of differences of numbers.

    Parameters
    ----------
    measure, a, b, k, plain, exclude, ids : see ``nearest_by_bytes``
    array : str
        The name of the numbers among the encoded arrays.
    unit : float
        What a difference of 1 adds to the distance, at least.
    largest : bool
        Whether the largest difference counts, instead of the sum.
    """
    kept = kept_beside(b, f"_codes of {array}", lambda: _number_codes(b.arrays[array]))
    if kept is None:
        return plain(a, b, k, exclude=exclude, ids=ids)
    own = byte_steps(a.arrays[array], kept.low, kept.span)
    equal = np.zeros(own.shape[1], bool)
    worth = kept.span * unit

    def queries(at: slice) -> Bounds:
        return bound_queries(kept.codes, own[at], worth, equal, largest=largest)

    return nearest_by_bytes(measure, a, b, k, kept.codes, queries, lambda d: d, plain, exclude, ids)


def _number_codes(values: np.ndarray) -> _NumberCodes | None:
    low, high = values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span.sum()):
        return None
    return _NumberCodes(ByteCodes.of(byte_steps(values, low, span)), low, span)
