"""Which columns tell near rows of other classes apart: ReliefF, and RReliefF for numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.plan import SIMPLE, MixedPlan

WIDE = 1024  # candidates compared at once
TALL = 64  # rows compared with them at once
PAIRS = 4096  # pairs of near rows looked at together

# None of these follows n_jobs: the same sums are then added in the same order for any.

STEP = 2.0**-36  # differences are counted in these, so sums of up to 2^17 columns need no rounding


class Neighborhoods:
    """The nearest rows of each class, and how they differ column by column.

    Parameters
    ----------
    plan : MixedPlan
    rows : Rows, encoded by the plan
    codes : int64 array of n, the class of each row from 0
    n_neighbors : int
    """

    def __init__(self, plan: MixedPlan, rows: Rows, codes: np.ndarray, n_neighbors: int) -> None:
        self.plan, self.rows, self.codes = plan, rows, codes
        self.n_classes = int(codes.max()) + 1
        # A list longer than the largest class would stay half empty.
        self.n_neighbors = min(n_neighbors, int(np.bincount(codes).max()))
        self.missing = plan.missing(rows.arrays)
        self.coarse, self.coarse_rows = _coarse(plan, rows)
        self.used = np.array([float(name not in plan.dropped) for name in plan.names])

    def parts(self, sampled: np.ndarray) -> list[tuple[np.ndarray]]:
        """Cut the sampled rows so that the pairs of one part fit into little memory."""
        tall = max(1, min(TALL, PAIRS // (self.n_classes * self.n_neighbors)))
        return [(sampled[at],) for at in blocks(len(sampled), tall)]

    def find(self, at: np.ndarray) -> np.ndarray:
        """Return the nearest rows of each class, by (distance, row); -1 where there are no more.

        Sums of differences that are equal but for round-off are ties, so that the order of the
        columns does not choose among neighbors.
        """
        from lookalike.kernels.lists import keep_by_class

        shape = (len(at), self.n_classes, self.n_neighbors)
        distances, indices = np.full(shape, np.inf), np.full(shape, -1)
        queries = self.coarse_rows[at].arrays
        for part in blocks(len(self.rows), WIDE):
            # A gap counts as half different, so nothing is left out of any sum.
            others = self.coarse_rows[part].arrays
            block, _ = self.coarse.sums(queries, others, self.used, midpoint=True, step=STEP)
            keep_by_class(block, part.start, self.codes, at, distances, indices)
        return indices

    def differ(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the differences of pairs of rows: 1/2 with a gap, 0 for a flag absent in both."""
        differs = self.plan.differences(self.rows.arrays, left, right)
        gaps = self.missing[left] | self.missing[right]
        return np.where(np.isnan(differs), 0.5 * gaps, differs) * self.used


def _coarse(plan: MixedPlan, rows: Rows) -> tuple[MixedPlan, Rows]:
    """Return plan and rows with numbers and levels rounded to multiples of STEP.

    Differences are then multiples too, and their sums exact, the same in every order.
    """
    # Codes of categories are whole numbers, and stay as they are.
    simple = np.round(rows.arrays[SIMPLE] / STEP) * STEP
    levels = np.round(plan.levels / STEP) * STEP
    return replace(plan, levels=levels), Rows(rows.seen, {**rows.arrays, SIMPLE: simple})


def relief_of_classes(
    near: Neighborhoods, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns, in the order of the plan."""
    codes = near.codes
    prior = np.bincount(codes) / len(codes)

    def one(at: np.ndarray) -> np.ndarray:
        found = near.find(at)
        row, c, place = np.nonzero(found >= 0)
        left = at[row]
        own = codes[left]
        # A list shorter than the others has a mean of its own; an empty one says nothing.
        length = (found >= 0).sum(axis=2)[row, c]
        share = np.where(c == own, -1.0, prior[c] / (1.0 - prior[own])) / length
        differs = near.differ(left, found[row, c, place])
        return np.asarray((share[:, None] * differs).sum(axis=0))

    parts = run(one, near.parts(sampled), n_jobs, "weighing columns")
    return np.asarray(np.sum(parts, axis=0) / len(sampled))


def relief_of_numbers(
    near: Neighborhoods, target: np.ndarray, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns for a target of numbers, in the order of the plan."""
    span = float(target.max() - target.min())

    def one(at: np.ndarray) -> np.ndarray:
        found = near.find(at)[:, 0]
        row, place = np.nonzero(found >= 0)
        left, right = at[row], found[row, place]
        share = 1.0 / (found >= 0).sum(axis=1)[row]
        apart = np.abs(target[left] - target[right]) / span
        differs = near.differ(left, right)
        columns = (share[:, None] * differs).sum(axis=0)
        both = ((share * apart)[:, None] * differs).sum(axis=0)
        return np.stack([np.full(len(both), (share * apart).sum()), columns, both])

    parts = run(one, near.parts(sampled), n_jobs, "weighing columns")
    apart, columns, both = np.sum(parts, axis=0)
    alike = len(sampled) - apart
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(apart > 0, both / apart, 0.0)
        return np.asarray(found - np.where(alike > 0, (columns - both) / alike, 0.0))
