"""The faster road to exact neighbors: rows as bytes, for measures that can bound their distances.

A measure says how its columns become bytes (``number_codes`` for plain numbers) and what a query's
bounds are; the search itself is in ``neighbors.codes``. Codes belong to encoded rows and are kept
beside them, so they are made once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows
from lookalike.neighbors.codes import LEAST, Bounds, ByteCodes, nearest_by_codes
from lookalike.neighbors.graph import NeighborGraph

__all__ = ["byte_steps", "codes_of", "nearest_by_bytes", "pays"]

STEPS = 255


def pays(b: Rows, k: int) -> bool:
    """Whether there are enough rows for bounds to save anything."""
    return len(b) >= LEAST and 8 * k <= len(b)


def codes_of(rows: Rows, make: Callable[[], ByteCodes | None]) -> ByteCodes | None:
    """Return the codes kept beside some rows, made at the first call."""
    kept = rows.__dict__
    if "_codes" not in kept:  # a cache, not a field: parts of the rows have none
        kept["_codes"] = make()
    return kept["_codes"]


def byte_steps(values: np.ndarray, low: np.ndarray, span: np.ndarray, top: int) -> np.ndarray:
    """Return the step of each value on a scale of its column, cut off at both ends.

    Cutting off only brings values nearer to each other, so differences of steps stay bounds.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = np.floor((values - low) * np.where(span > 0, STEPS / span, 0.0))
    return np.clip(np.nan_to_num(steps, nan=0.0, posinf=top, neginf=0.0), 0, top).astype(np.uint8)


def nearest_by_bytes(
    measure: Measure,
    a: Rows,
    b: Rows,
    k: int,
    codes: ByteCodes,
    queries: Callable[[int], Bounds],
    limit_of: Callable[[np.ndarray], np.ndarray],
    plain: Callable[..., NeighborGraph],
    *,
    exclude: np.ndarray,
    ids: np.ndarray,
    n_indexed: int,
) -> NeighborGraph:
    """Return unfinished lists; queries whose bounds say too little take the plain road.

    Parameters
    ----------
    measure : Measure
    a, b : Rows
    k : int
    codes : ByteCodes of b
    queries, limit_of : see ``nearest_by_codes``
    plain : callable (Rows, exclude) -> NeighborGraph
        The search that looks at everything.
    exclude, ids, n_indexed : see ``Measure.nearest``
    """

    def exact(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return measure.pair_distances(a, b, left, right)

    found, left_over = nearest_by_codes(
        codes, queries, len(a), k, exact, limit_of,
        exclude=exclude, ids=ids, always=_own_rows(a, b), n_jobs=getattr(measure, "n_jobs", None),
    )  # fmt: skip
    at = np.flatnonzero(left_over)
    if len(at):
        rest = plain(a[at], exclude[at])
        found.indices[at], found.distances[at] = rest.indices, rest.distances
    return NeighborGraph(found.indices, found.distances, n_indexed, found.has_self)


def _own_rows(a: Rows, b: Rows) -> Any:
    """Return for each query the rows of b that are the same fitted row; None if there are none.

    A row is exactly alike to itself by definition, whatever the formula says of its gaps.
    """
    if not (a.seen >= 0).any() or not (b.seen >= 0).any():
        return None
    order = np.argsort(b.seen, kind="stable")
    ranked = b.seen[order]
    starts = np.searchsorted(ranked, a.seen, "left")
    ends = np.searchsorted(ranked, a.seen, "right")
    return [
        order[low:high] if seen >= 0 else order[:0]
        for low, high, seen in zip(starts, ends, a.seen, strict=True)
    ]
