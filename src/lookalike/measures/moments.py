"""Mean and spread of the distances of rows to others, folded in a fixed order."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.kernels.hubness import fold_moments
from lookalike.measures.contract.base import CHUNK, Measure
from lookalike.measures.contract.rows import Rows, self_pairs

TALL = 64  # with chunks of 1,024 columns a block of distances stays in the second-level cache


def moments(
    measure: Measure, rows: Rows, reference: Rows, include_self: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return number, mean and population standard deviation of the distances to a reference.

    A row itself and undefined distances are left out; with ``include_self`` a fitted row counts
    itself at distance 0. The standard deviation of equal distances is exactly 0.
    """
    n = len(rows)
    count, mean, square = np.zeros(n), np.zeros(n), np.zeros(n)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)

    def one(part: slice) -> None:
        some = rows[part]
        folded = [values[part] for values in (count, mean, square, low, high)]
        for at in blocks(len(reference), CHUNK):  # a fixed width, so a fixed order of every sum
            others = reference[at]
            d = measure.block(some, others)
            d[self_pairs(some, others)] = np.nan
            fold_moments(d, *folded)

    run(one, [(part,) for part in blocks(n, TALL)], n_jobs, "averaging distances")
    if include_self:
        own = rows.seen >= 0
        square[own] += mean[own] ** 2 * (count[own] / (count[own] + 1))
        mean[own] *= count[own] / (count[own] + 1)
        low[own], high[own] = np.minimum(low[own], 0.0), np.maximum(high[own], 0.0)
        count[own] += 1
    some = count > 0
    sd = np.full(n, np.nan)
    sd[some] = np.sqrt(square[some] / count[some])
    mean[~some] = np.nan
    equal = low == high
    mean[equal], sd[equal] = low[equal], 0.0
    return count, mean, sd
