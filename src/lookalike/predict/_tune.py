"""Choosing the number of neighbors by cross-validation, with one search per fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._random import make_generator
from lookalike.errors import TooFewRows, message

__all__ = ["LARGEST", "deal", "largest_k", "summarize"]

FOLDS = 5
LARGEST = 15


def deal(groups: np.ndarray, random_state: Any, who: str) -> np.ndarray:
    """Return the fold of each row: groups are dealt out evenly, like cards.

    Without a random state rows are dealt in their order. Consecutive rows then fall into different
    folds, so a table that is sorted by its target does no harm.

    Parameters
    ----------
    groups : array of n
        Rows of one group (a class) are spread over all folds.
    random_state : None, int or Generator
    who : str
    """
    n = len(groups)
    if n < 2:
        raise TooFewRows(
            message(f"{who}(n_neighbors='tune')", "at least 2 rows", f"n_samples={n}", "Add rows")
        )
    order = np.arange(n)
    if random_state is not None:
        order = make_generator(random_state).permutation(n)
    order = order[np.argsort(groups[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % min(FOLDS, n)
    return folds


def largest_k(folds: np.ndarray) -> int:
    """Return the largest k to try: 15, or the fewest rows that a fold learns from."""
    return min(LARGEST, len(folds) - int(np.bincount(folds).max()))


def summarize(losses: np.ndarray, folds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the mean loss for each k, over all rows and in each fold.

    Parameters
    ----------
    losses : array of shape (n, largest k)
        What each row, held out, lost with 1, 2, ... neighbors.
    folds : array of n
    """
    parts = [losses[folds == fold].mean(axis=0) for fold in range(int(folds.max()) + 1)]
    return {
        "n_neighbors": np.arange(1, losses.shape[1] + 1),
        "error": losses.mean(axis=0),
        "fold_errors": np.array(parts),
    }
