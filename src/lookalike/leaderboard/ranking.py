"""Rank correlation of two similarities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param, TooFewRows

BLOCK_ROWS = 256  # rows ranked in one call


class Agreement(NamedTuple):
    """How far two similarities rank the rows alike: mean and spread over the rows.

    Examples
    --------
    >>> Agreement(mean=0.98, std=0.01).mean
    0.98
    """

    mean: float
    std: float


def ranking_agreement(one: Any, other: Any) -> Agreement:
    """Return how similarly two measures rank the rows, from -1 (reversed) to 1 (the same).

    For each row the other rows are ranked by both similarities, ties sharing the mean rank, and the
    two rankings are correlated (Spearman). Two rankings in which all rows tie agree fully; one that
    ties all rows and one that does not agree with 0.

    Use it to see whether a forest has enough trees (two seeds), or whether an option matters at
    all. It says nothing about which of the two is better.

    Parameters
    ----------
    one, other : array of shape (n, n), or fitted measure
        Similarities; of a measure, those between its fitted rows. The diagonal is not used.

    Returns
    -------
    Agreement
        ``mean`` and ``std`` (population) of the correlation over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.leaderboard import ranking_agreement
    >>> s = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.4], [0.5, 0.4, 1.0]])
    >>> ranking_agreement(s, s**2)
    Agreement(mean=1.0, std=0.0)
    """
    from scipy.stats import rankdata

    first, second = _matrix(one, "the first"), _matrix(other, "the second")
    if first.shape != second.shape:
        found, hint = (
            f"shapes {first.shape} and {second.shape}",
            "Compare similarities of one table",
        )
        raise InvalidInput("ranking_agreement", "two matrices over the same rows", found, hint)
    n = len(first)
    if n < 3:
        raise TooFewRows("ranking_agreement", "at least 3 rows", Param("n_samples", n), "Add rows")
    correlations = np.empty(n)
    for part in blocks(n, BLOCK_ROWS):
        rows = np.arange(n)[part]
        others = rows[:, None] != np.arange(n)
        # Centered ranks; their sums are multiples of 1/2, so a constant row is exactly zero.
        ranks = [
            rankdata(matrix[part][others].reshape(len(rows), n - 1), axis=1) - n / 2
            for matrix in (first, second)
        ]
        squares = [(r * r).sum(axis=1) for r in ranks]
        constant = [square == 0 for square in squares]
        product = (ranks[0] * ranks[1]).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            rho = np.clip(product / np.sqrt(squares[0] * squares[1]), -1.0, 1.0)
        # 0 / 0 in the correlation: defined as in the docstring.
        rho[constant[0] | constant[1]] = 0.0
        rho[constant[0] & constant[1]] = 1.0
        correlations[part] = rho
    return Agreement(float(correlations.mean()), float(correlations.std()))


def _matrix(space: Any, which: str) -> np.ndarray:
    if hasattr(space, "similarity"):
        space = space.similarity()
    matrix = np.asarray(space, dtype=np.float64)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if not square or np.isnan(matrix).any():
        needed = "a square matrix of similarities, or a fitted measure"
        found = "undefined entries (NaN)" if square else f"an array of shape {matrix.shape}"
        hint = "Give one similarity for every pair of rows"
        raise InvalidInput(f"ranking_agreement ({which})", needed, found, hint)
    return matrix
