"""Similarity by way of others: the mean over all chains of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.represent._matrix import between_rows, similarity_matrix
from lookalike.saving.fields import Integer

MODES = ("path", "plain")


def power_similarity(
    S: Any,
    n: int = 2,
    mode: str = "path",
    *,
    new: Any = None,
    average: bool = False,
    normalize: bool = False,
) -> np.ndarray:
    """Count rows as alike that have much alike in common, over chains of n steps.

    With B the element-wise square root of S and N rows, ``"path"`` is B^n / N^(n - 1): the mean
    over all chains with n - 1 rows in between of the product of the roots of their similarities.
    ``"plain"`` is the matrix power S^n.

    It looks at all rows at once, never at a target. Higher powers blur everything into one; where
    only the best chain should count use ``transitive_closure``.

    Parameters
    ----------
    S : array of shape (N, N), or fitted measure
        Similarities from 0 to 1.
    n : int
        Steps in a chain. 1 gives B, or S itself.
    mode : {"path", "plain"}
    new : array of shape (m, N), optional
        Similarities of new rows to the N rows. The answer is then theirs: chains begin at a new
        row and go on through the N rows.
    average : bool
        For "plain": divide by N^(n - 1), so that the answer stays in [0, 1].
    normalize : bool
        Divide each entry by the root of the product of the two rows' similarities to themselves,
        so that the diagonal is 1.

    Returns
    -------
    array of shape (N, N), or (m, N) with ``new``

    Examples
    --------
    >>> from lookalike.represent import power_similarity
    >>> power_similarity([[1, 0.25], [0.25, 1]], 2)
    array([[0.625, 0.5  ],
           [0.5  , 0.625]])
    >>> power_similarity([[1, 0.25], [0.25, 1]], 2, new=[[0.25, 0.25]])
    array([[0.375, 0.375]])
    """
    who = "power_similarity"
    Integer(1).check(who, "n", n, "Count the steps of a chain")
    if mode not in MODES:
        wants = "one of " + ", ".join(map(repr, MODES))
        raise InvalidInput(
            Param("mode", mode, of=who), wants, repr(mode), suggest(str(mode), MODES)
        )
    base = similarity_matrix(S, who)
    size = len(base)
    symmetric = np.array_equal(base, base.T)
    edges = None if new is None else between_rows(new, size, who)
    if mode == "path":
        base = np.sqrt(base)
        edges = None if edges is None else np.sqrt(edges)
    # Means instead of sums, (B / N)^n * N: nothing can overflow, whatever the number of steps.
    unit = float(size) if mode == "path" or average else 1.0
    step = base / unit
    answer = _steps(step if edges is None else edges / unit, step, int(n)) * unit
    if not np.isfinite(answer).all():
        found = "numbers too large to hold"
        raise InvalidInput(who, "powers that stay finite", found, ("Use ", Param("average", True)))
    if edges is None and symmetric:
        answer = (answer + answer.T) / 2  # products round differently in the two triangles
    if normalize:
        own = np.diagonal(_steps(step, step, int(n)) * unit)
        left = own if edges is None else _own(edges, step, int(n), unit)
        with np.errstate(invalid="ignore", divide="ignore"):
            answer = answer / np.sqrt(np.outer(left, own))
        answer = np.nan_to_num(
            answer, nan=0.0, posinf=0.0
        )  # a row alike to nothing, itself included
        if edges is None:
            np.fill_diagonal(answer, 1.0)
    return answer


def _steps(first: np.ndarray, step: np.ndarray, n: int) -> np.ndarray:
    """Return first @ step^(n - 1) by repeated squaring; all sums are of numbers of one sign."""
    result, power, left = first, step, n - 1
    with np.errstate(over="ignore", invalid="ignore"):
        while left:
            if left & 1:
                result = result @ power
            left >>= 1
            if left:
                power = power @ power
    return np.array(result)


def _own(edges: np.ndarray, step: np.ndarray, n: int, unit: float) -> np.ndarray:
    """Return how alike each new row is to itself over chains through the others."""
    if n == 1:
        return np.ones(len(edges))
    first = _steps(edges / unit, step, n - 1) * unit
    return np.asarray((first * edges).sum(axis=1) / unit)
