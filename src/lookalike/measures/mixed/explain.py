"""Why rows of mixed columns are alike, against the baseline differences of random pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.measures.contract.explanation import as_bits, draw_pairs
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.plan import SIMPLE, MixedPlan
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, require

MAX_SAMPLE_ROWS = 512  # whose simple cells are stored, and pairs of them that are compared
MAX_BALANCED_ROWS = 200  # all pairs of them
MAX_SAMPLE_CELLS = 2**20  # 8 MB; of a table with very many columns fewer rows are stored
MAX_OBJECT_PAIRS = 64  # of columns with a distance of their own, which may take 0.1 s for one pair


@saveable
@dataclass(frozen=True)
class PairBaseline:
    """A sample of the fitted rows, and how much pairs of them differ.

    Parameters
    ----------
    simple : float64 (sampled rows, simple columns), as the plan encodes them
    seen : int64 (sampled rows), their positions in the fitted table
    mean : float64 per column, the mean difference of two sampled rows; NaN without such a pair
    objects : float64 (pairs, columns with a distance of their own), differences of sampled pairs
    """

    FIELDS: ClassVar[Fields] = {
        "simple": Array("float64", "sample", "simple"),
        "seen": Array("int64", "sample", low=-1),
        "mean": Array("float64", "columns"),
        "objects": Array("float64", "pairs", "objects"),
    }

    simple: np.ndarray
    seen: np.ndarray
    mean: np.ndarray
    objects: np.ndarray

    @classmethod
    def fit(cls, plan: MixedPlan, rows: Any) -> PairBaseline:
        """Draw the sample, always the same one of the same rows, and compare pairs in it."""
        fits = max(MAX_OBJECT_PAIRS, MAX_SAMPLE_CELLS // max(plan.n_simple, 1))
        size = min(len(rows), MAX_SAMPLE_ROWS, fits)
        drawn, left, right = draw_pairs(len(rows), size)
        sample = rows[drawn]
        # Positions in the sample of the same pairs: each row with the next one of the draw.
        left, right = np.arange(len(left)), np.roll(np.arange(len(drawn)), -1)[: len(right)]
        simple = sample.arrays[SIMPLE]
        differs = plan.simple_pairs(simple[left], simple[right])
        few = slice(0, MAX_OBJECT_PAIRS if plan.objects else 0)
        cells = sample.arrays
        objects = plan.differences(cells, cells, left[few], right[few])[:, plan.n_simple :]
        mean = np.concatenate([_mean(differs), _mean(objects)])
        return cls(simple, sample.seen, mean, objects)

    def mean_differences(self, plan: MixedPlan, missing: float) -> np.ndarray:
        """Return the mean difference of two rows in each column, by all pairs of some of them.

        Parameters
        ----------
        plan : MixedPlan
        missing : float
            The difference of a pair with a missing cell; NaN: it is left out.
        """
        n = plan.n_simple
        most = math.isqrt(2 * MAX_SAMPLE_CELLS // max(n, 1))
        some = self.simple[: max(2, min(most, MAX_BALANCED_ROWS))]
        left, right = np.triu_indices(len(some), 1)
        differs, gaps = plan.simple_pairs(some[left], some[right]), np.isnan(some)
        differs[gaps[left] | gaps[right]] = missing
        return np.nan_to_num(np.concatenate([_mean(differs), self.mean[n:]]), nan=1.0)

    def surprisal(
        self, plan: MixedPlan, a: Rows, b: Rows, differs: np.ndarray
    ) -> list[dict[str, tuple[float, float]]]:
        """Return the surprisal of the nearness and of the difference in each column, in bits.

        In the simple columns each of the two cells is compared with those of the sample, so that
        a rare level in common is more surprising than a frequent one. Columns with nothing to
        compare are left out.

        Parameters
        ----------
        plan : MixedPlan
        a : Rows of length one
        b : Rows
        differs : float64 (rows of b, columns), how much a differs from each of them
        """
        n, cells = plan.n_simple, b.arrays[SIMPLE]
        own = self._view(plan, a.arrays[SIMPLE])
        surprisal = as_bits(plan.names[n:], self.objects[None], differs[:, n:])
        for part in blocks(len(b), max(1, MAX_SAMPLE_CELLS // max(1, own.size))):
            # The two rows themselves are no random rows: they are left out of the sample.
            others = (self.seen != a.seen) | (self.seen < 0)
            others = others & ((self.seen != b.seen[part, None]) | (self.seen < 0))
            views = np.concatenate(
                [np.where(others[:, :, None], view, np.nan)
                 for view in (own, self._view(plan, cells[part]))], axis=1
            )  # fmt: skip
            bits = as_bits(plan.names[:n], views, differs[part, :n])
            surprisal[part] = [simple | surprisal[i] for i, simple in enumerate(bits, part.start)]
        return surprisal

    def _view(self, plan: MixedPlan, cells: np.ndarray) -> np.ndarray:
        """Return the differences (rows, sampled rows, columns) of simple cells to the sample."""
        n, size = len(cells), len(self.simple)
        left, right = np.repeat(cells, size, axis=0), np.tile(self.simple, (n, 1))
        return plan.simple_pairs(left, right).reshape(n, size, -1)

    def check_fits(self, plan: MixedPlan) -> None:
        """Refuse a loaded sample of other columns than those of the plan."""
        widths = self.simple.shape[1], len(self.mean), self.objects.shape[1]
        needed = plan.n_simple, len(plan.names), len(plan.objects)
        require(widths == needed, "PairBaseline", f"{needed} columns", str(widths))
        plan.check_levels({SIMPLE: self.simple})


def _mean(differs: np.ndarray) -> np.ndarray:
    """Return the mean of each column over what could be compared."""
    count = (~np.isnan(differs)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(differs, axis=0) / count)


def shares_of_whole(
    weights: np.ndarray, differs: np.ndarray, whole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each column says for likeness and against it, of a total of 1."""
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs with nothing to compare
        return weights * (1 - differs) / whole[:, None], weights * differs / whole[:, None]


def fill_missing(plan: MixedPlan, differs: np.ndarray, a: Rows, b: Rows, gap: float) -> np.ndarray:
    """Fill in where a cell is missing; a flag absent in both stays not comparable."""
    # Group 3 of the kernel are flags; two absent ones are not missing but say nothing (Gower 1971).
    absent = np.zeros(differs.shape, dtype=bool)
    flags = slice(int(plan.ends[2]), int(plan.ends[3]))
    absent[:, flags] = (a.arrays[SIMPLE][:, flags] == 0) & (b.arrays[SIMPLE][:, flags] == 0)
    return np.where(np.isnan(differs) & ~absent, gap, differs)
