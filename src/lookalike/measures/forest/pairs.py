"""What fitting learns from all pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.measures.contract.rows import Rows
from lookalike.trees.thresholds.sharing import count_unusable

TILE = 256

Answer = TypeVar("Answer")


def find_range(
    compare: Callable[[Rows, Rows], np.ndarray], rows: Rows, n_jobs: int | None
) -> tuple[float, float]:
    """Return the smallest and the largest value over all pairs, each row with itself too."""

    def ends(a: Rows, b: Rows) -> tuple[float, float]:
        block = compare(a, b)
        return float(block.min()), float(block.max())

    found = _over_pairs(ends, rows, n_jobs)
    return min(low for low, _ in found), max(high for _, high in found)


def count_fallbacks(rows: Rows, n_jobs: int | None) -> int:
    """Return the number of pairs such that every tree was grown on one of the two rows."""

    def count(a: Rows, b: Rows) -> int:
        lost = count_unusable(a.arrays["bag"], b.arrays["bag"])
        return int((lost & (a.seen[:, None] < b.seen)).sum())

    return sum(_over_pairs(count, rows, n_jobs))


def _over_pairs(
    task: Callable[[Rows, Rows], Answer], rows: Rows, n_jobs: int | None
) -> list[Answer]:
    """Call a task for tiles that cover every pair of rows."""
    parts = list(blocks(len(rows), TILE))
    tiles = [(rows[p], rows[q]) for i, p in enumerate(parts) for q in parts[i:]]
    return run(task, tiles, n_jobs, "looking at all pairs")
