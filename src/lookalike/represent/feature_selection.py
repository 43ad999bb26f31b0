"""Correlation-based feature selection."""

from __future__ import annotations

import heapq
from functools import cache
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, TooFewRows
from lookalike.table.model.targets import read_target

MAX_IDLE_EXPANSIONS = 5  # expansions in a row without a gain that end the search, as in the paper
MIN_GAIN = 1e-12


def cfs(X: Any, y: Any, *, target: str = "auto") -> np.ndarray:
    """Choose columns that correlate with the target and not with each other.

    Correlation-based feature selection [1]_: the merit of a set of columns is the sum of their
    correlations with the target over the square root of k + 2 (the sum of those between them), and
    a best-first search adds one column at a time until five steps in a row improve nothing.

    Use it where many columns repeat each other, such as similarities to all rows. A column that
    helps only together with another one is not seen.

    Parameters
    ----------
    X : array of shape (n, d)
        Numbers without missing values.
    y : array of n
        Classes or numbers.
    target : {"auto", "classes", "numbers"}
        What y holds. "auto": texts, booleans and integers are classes, unless there are
        more than two and more than half as many as rows.

    Returns
    -------
    int64 array
        Positions of the chosen columns, sorted; at least one.

    Notes
    -----
    Correlation is the absolute value of Pearson's, 0 for a constant column. With classes it is the
    mean over the classes, weighted by their share, of the correlation with being in the class.

    References
    ----------
    .. [1] M. A. Hall (2000). Correlation-based feature selection for discrete and numeric class
       machine learning. Proceedings of ICML, 359-366. doi:10.5555/645529.657793

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.represent import cfs
    >>> X = np.array([[0, 0, 1], [0, 0.1, 0], [1, 0.9, 1], [1, 1, 0]])
    >>> cfs(X, [0, 0, 1, 1])
    array([0])
    """
    x, values = _check(X, y, target)
    z = _standardized(x)
    with_target = correlations(x, values)

    @cache
    def between(column: int) -> np.ndarray:
        """Return the correlations of a column with all; most columns are never chosen."""
        return np.asarray(np.abs(z[:, column] @ z))

    best: tuple[float, tuple[int, ...]] = (-1.0, ())
    # Entries are (-merit, size, columns, sum with the target, sum between each other): the heap
    # then takes the smaller set, and the earlier columns, where merits are equal.
    todo: list[tuple[float, int, tuple[int, ...], float, float]] = [(0.0, 0, (), 0.0, 0.0)]
    seen: set[tuple[int, ...]] = set()
    idle = 0
    while todo and idle < MAX_IDLE_EXPANSIONS:
        _, size, columns, with_y, among = heapq.heappop(todo)
        shared = np.sum([between(f) for f in columns], axis=0) if columns else np.zeros(x.shape[1])
        # Equation 1 of Hall (2000) for all sets that have one column more, in one step.
        merits = (with_y + with_target) / np.sqrt(size + 1 + 2 * (among + shared))
        improved = False
        for g in range(x.shape[1]):
            grown = tuple(sorted((*columns, g)))
            if g in columns or grown in seen:
                continue
            seen.add(grown)
            # Twelve digits: equal merits summed in another order must stay equal.
            merit = round(float(merits[g]), 12)
            if merit > best[0] + MIN_GAIN:
                best, improved = (merit, grown), True
            entry = (-merit, size + 1, grown, with_y + with_target[g], among + shared[g])
            heapq.heappush(todo, entry)
        idle = 0 if improved else idle + 1
    return np.asarray(best[1], dtype=np.int64)


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the correlation of each column with a target of classes (codes) or of numbers."""
    z = _standardized(x)
    if y.dtype.kind == "f":
        return np.asarray(np.abs(_standardized(y[:, None])[:, 0] @ z))
    total = np.zeros(x.shape[1])
    for c, count in enumerate(np.bincount(y)):
        inside = _standardized((y == c).astype(np.float64)[:, None])[:, 0]
        # Weighted by the size of the class, as in Hall: a rare class says less about the target.
        total += count / len(y) * np.abs(inside @ z)
    return total


def _standardized(x: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and length 1; constant ones become 0."""
    centered = x - x.mean(axis=0)
    length = np.sqrt((centered * centered).sum(axis=0))
    # Compared with the first row: the computed deviation of a constant column may be rounding
    # noise.
    flat = (x == x[:1]).all(axis=0) | (length == 0)
    return np.where(flat, 0.0, centered / np.where(flat, 1.0, length))


def _check(X: Any, y: Any, target: str) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] == 0 or not np.isfinite(x).all():
        found = f"shape {x.shape}" if x.ndim != 2 or x.shape[1] == 0 else "missing or infinite ones"
        raise InvalidInput("cfs", "rows and columns of numbers", found, "Fill missing values")
    if len(x) < 2:
        raise TooFewRows("cfs", "at least 2 rows", Param("n_samples", len(x)), "Add rows")
    return x, read_target(y, len(x), "cfs", target)[0]
