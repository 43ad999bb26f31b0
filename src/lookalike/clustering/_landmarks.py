"""Landmarks: the rows that are compared with each other where all rows are too many."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.config import settings
from lookalike.clustering._space import Space

AUTO_LANDMARKS = "auto"
FEWEST = 2_000
BY_MESSAGES = 500  # affinity propagation passes thousands of rounds of messages over all pairs
MATRICES = 4  # of all pairs of landmarks that a method may hold at a time


def default_landmarks(n: int, method: str, limit: int, n_clusters: int = 1) -> int:
    """Return how many rows are drawn as landmarks from n rows.

    2,000, or four times the square root of n where that is more (from 250,000 rows on); 500 for
    affinity propagation; at least twice the clusters asked for. No more than ``limit``, and no more
    than let four matrices of all their pairs stay under the memory limit.

    Parameters
    ----------
    n : int
    method : str
    limit : int
        The most rows for which a matrix of all pairs is made.
    n_clusters : int

    Examples
    --------
    >>> default_landmarks(50_000, "ward", 20_000), default_landmarks(10**6, "ward", 20_000)
    (2000, 4000)
    """
    wanted = BY_MESSAGES if method == "affinity" else max(FEWEST, int(np.ceil(4 * np.sqrt(n))))
    room = int(np.sqrt(settings().memory_limit / (8 * MATRICES)))
    return max(2, min(max(wanted, 2 * n_clusters), room, limit, n))


def count_landmarks(
    space: Space, asked: int | str | None, method: str, n_clusters: int = 1
) -> int | None:
    """Return the number of landmarks, None where all rows are compared with each other."""
    if asked != AUTO_LANDMARKS:
        return None if asked is None else int(asked)
    if space.fits():
        return None
    return default_landmarks(len(space), method, space.limit, n_clusters)


def exactness(n: int, basis: Any, method: str) -> str:
    """Say in words which rows a clustering is exact on.

    Parameters
    ----------
    n : int
        Rows that were clustered.
    basis : array of positions, or None
        The landmarks.
    method : str
    """
    if basis is None:
        return f"exact on all {n:,} rows"
    rest = {
        "spectral": "labeled by the extended eigenvectors",
        "complete": "assigned to the cluster of the nearest landmark",
        "ward": "assigned to the cluster of the nearest landmark",
    }.get(method, "assigned to the nearest exemplar")
    return f"exact on {len(basis):,} landmark rows, the other {n - len(basis):,} {rest}"
