"""Mixed rows as bytes: how each group of columns bounds its differences from below.

Numbers become steps of their range (a curved similarity only makes their differences larger),
codes and flags their remainder (two that clash look equal), ordered levels their code: two
different levels differ by at least the smallest difference of the query's own level. Columns of
objects have no bytes; their weight may or may not be there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.kernels.byte_bounds import STEPS
from lookalike.measures.byte_road import byte_steps
from lookalike.measures.mixed import SIMPLE, MixedPlan
from lookalike.neighbors.codes import Bounds, ByteCodes, bound_queries

__all__ = ["MixedCodes", "mixed_codes"]


@dataclass(frozen=True, eq=False)
class MixedCodes:
    """The bytes of some rows, and the plan they were made by."""

    plan: MixedPlan
    codes: ByteCodes

    def queries(
        self, a: Mapping[str, Any], weights: np.ndarray, midpoint: bool
    ) -> Callable[[slice], Bounds]:
        """Return a function from a slice of the queries to their bounds.

        Parameters
        ----------
        a : encoded rows, the queries
        weights : float64, one per column of the plan
        midpoint : bool
            Whether a missing cell counts as half a difference.
        """
        plan, simple = self.plan, np.asarray(a[SIMPLE])
        own, here = _bytes(plan, simple), ~np.isnan(simple)
        n, first = plan.n_simple, int(plan.ends[3])
        equal = np.arange(n) >= plan.ends[1]
        own_weights, more = weights[:n], float(weights[n:].sum())
        worth = np.repeat(own_weights[None], len(simple), axis=0)
        for j in range(first, n):
            level = np.where(here[:, j], simple[:, j], 0).astype(np.int64)
            worth[:, j] *= np.where(here[:, j], _smallest_differences(plan, j)[level], 0.0)

        def queries(at: slice) -> Bounds:
            return bound_queries(
                self.codes, own[at], worth[at], equal, weights=own_weights, present=here[at],
                midpoint=midpoint, more_weight=more,
            )  # fmt: skip

        return queries


def mixed_codes(plan: MixedPlan, rows: Mapping[str, Any]) -> MixedCodes | None:
    """Return the bytes of encoded rows; None where there is nothing to make them of."""
    simple = np.asarray(rows[SIMPLE])
    if not plan.n_simple:
        return None
    missing = np.isnan(simple)
    return MixedCodes(plan, ByteCodes.of(_bytes(plan, simple), missing if missing.any() else None))


def _bytes(plan: MixedPlan, simple: np.ndarray) -> np.ndarray:
    near = int(plan.ends[1])
    out = np.empty(simple.shape, np.uint8)
    out[:, :near] = byte_steps(simple[:, :near], 0.0, 1.0)
    if near < simple.shape[1]:
        # Numbers that are equal have equal bits once -0.0 is 0.0, so they get equal bytes.
        bits = np.ascontiguousarray(np.nan_to_num(simple[:, near:]) + 0.0).view(np.uint64)
        out[:, near:] = (bits ^ (bits >> np.uint64(40))) % np.uint64(STEPS)
    return out


def _smallest_differences(plan: MixedPlan, column: int) -> np.ndarray:
    """Return for each level of a column by how much any other differs from it, at least."""
    start, width = (int(value) for value in plan.starts[column])
    table = plan.levels[start : start + width * width].reshape(width, width).copy()
    np.fill_diagonal(table, np.inf)
    found = table.min(axis=1)
    return np.where(np.isfinite(found), found, 0.0)
