"""Functions of similarities: powers (means over chains of rows), closures, and an activation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import InPython, InvalidInput, Param
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Choice, Integer, Real

MAX_ROUND_OFF = 1e-9  # beyond 0 and 1; clipped


def similarity_matrix(S: Any, who: str) -> np.ndarray:
    """Return the similarities of a fitted measure, or a square matrix, as an array of our own."""
    matrix = S.similarity() if isinstance(S, Measure) else np.array(S, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        needed = "a square matrix of similarities, or a fitted measure"
        raise InvalidInput(who, needed, f"shape {matrix.shape}", "Give all pairs of rows")
    return _in_bounds(matrix, who)


def between_rows(new: Any, n: int, who: str) -> np.ndarray:
    """Return similarities of new rows (one per line) to the n rows of a matrix."""
    matrix = np.array(new, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n:
        needed = f"a similarity of each new row to each of the {n} rows"
        hint = InPython("Pass new=measure.similarity(X_new)")
        raise InvalidInput(who, needed, f"shape {matrix.shape}", hint)
    return _in_bounds(matrix, who)


def _in_bounds(matrix: np.ndarray, who: str) -> np.ndarray:
    low, high = matrix.min(initial=0.0), matrix.max(initial=0.0)
    if not (low >= -MAX_ROUND_OFF and high <= 1 + MAX_ROUND_OFF):  # NaN is outside as well
        outside = ~((matrix >= -MAX_ROUND_OFF) & (matrix <= 1 + MAX_ROUND_OFF))
        i, j = np.argwhere(outside)[0].tolist()
        found = f"{matrix[i, j]:g} in row {i}, column {j} ({int(outside.sum()):,} such entries)"
        hint = "Convert distances first, and fill undefined pairs"
        raise InvalidInput(who, "similarities from 0 to 1", found, hint)
    return np.clip(matrix, 0.0, 1.0)


def transitive_closure(
    S: Any, tnorm: str = "min", *, new: Any = None, n_jobs: int | None = None
) -> np.ndarray:
    """Return the similarity of the best chain of rows between any two rows.

    The smallest relation above S that is transitive: a chain is worth its weakest link (``"min"``),
    the product of its links, or 1 minus the sum of the distances along it
    (``"lukasiewicz"``), and two rows are worth their best chain [1]_. With "min", 1 minus the
    answer is the distance at which single-linkage clustering joins the rows.

    Use it where groups hang together in chains. A single row between two groups joins them.

    Parameters
    ----------
    S : array of shape (n, n), or fitted measure
        Similarities from 0 to 1; its diagonal is taken to be 1.
    tnorm : {"min", "product", "lukasiewicz"}
    new : array of shape (m, n), optional
        Similarities of new rows to the n rows. The answer is then theirs: what they would have if
        each were added alone.
    n_jobs : int, optional
        Threads for new rows; None: the setting of ``lookalike.config``.

    Returns
    -------
    array of shape (n, n), or (m, n) with ``new``

    Notes
    -----
    "min" of a symmetric S grows a maximum spanning tree in n^2 steps; all else takes n^3.

    References
    ----------
    .. [1] L. A. Zadeh (1971). Similarity relations and fuzzy orderings. Information Sciences 3(2),
       177-200. doi:10.1016/S0020-0255(71)80005-1

    Examples
    --------
    >>> from lookalike.represent import transitive_closure
    >>> transitive_closure([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])
    array([[1. , 0.8, 0.6],
           [0.8, 1. , 0.6],
           [0.6, 0.6, 1. ]])
    """
    from lookalike.kernels.clustering import CODES, best_chains, best_first_links

    who = "transitive_closure"
    Choice("min", "product", "lukasiewicz").check(who, "tnorm", tnorm)
    s = np.ascontiguousarray(similarity_matrix(S, who))
    # Checked before the closure is computed, which takes cubic time.
    edges = None if new is None else np.ascontiguousarray(between_rows(new, len(s), who))
    np.fill_diagonal(s, 1.0)
    symmetric = np.array_equal(s, s.T)
    if tnorm == "min" and symmetric:
        closed = _weakest_links(s)
    else:
        closed = s
        best_chains(closed, CODES[tnorm])
        if symmetric:  # a chain's product rounds differently read backward
            closed = np.maximum(closed, closed.T)
    if edges is None:
        return closed
    answer = np.empty_like(edges)

    def join(part: slice) -> None:
        best_first_links(edges[part], closed, CODES[tnorm], answer[part])

    run(join, [(part,) for part in blocks(len(edges), 32)], n_jobs, "joining new rows")
    return answer


def _weakest_links(s: np.ndarray) -> np.ndarray:
    """Return the min-closure of a symmetric relation: the weakest link on each path of a tree.

    Rows join a maximum spanning tree in an order in which all that are connected by strong edges
    come before others, so the value of two rows is the weakest of the edges by which the later one,
    and all rows between the two, joined.
    """
    from lookalike.kernels.clustering import spanning_tree

    n = len(s)
    ends, joined, costs = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    spanning_tree(-s, np.full(n, -np.inf), ends, joined, costs)
    order, edges, closed = np.append(0, joined), -costs, np.ones_like(s)
    for place, row in enumerate(order):
        closed[row, order[place + 1 :]] = np.minimum.accumulate(edges[place:])
        closed[row, order[:place]] = np.minimum.accumulate(edges[:place][::-1])[::-1]
    return closed


def power_similarity(
    S: Any,
    n: int = 2,
    mode: str = "path",
    *,
    new: Any = None,
    average: bool = False,
    normalize: bool = False,
    n_neighbors: int | None = None,
) -> np.ndarray:
    """Return powers of a similarity matrix: similarity by way of other rows, in n steps.

    With B the element-wise square root of S and N rows, ``"path"`` is B^n / N^(n - 1): the mean
    over all chains with n - 1 rows in between of the product of the roots of their similarities.
    ``"plain"`` is the matrix power S^n.

    It depends on all rows, never on a target. Higher powers make all rows alike; where
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
    n_neighbors : int, optional
        For "path": chains step only between rows of which one is among so many nearest rows of the
        other, or stay where they are; the mean is over the chains there are, and rows without any
        have similarity 0. None: all rows.

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
    Choice("path", "plain").check(who, "mode", mode)
    base = similarity_matrix(S, who)
    edges = base if new is None else between_rows(new, len(base), who)
    symmetric = new is None and np.array_equal(base, base.T)
    if n_neighbors is not None:
        local = _local_chains(base, edges, n_neighbors, mode)
        totals, counts = (_sum_chains(*links, n, 1.0, normalize) for links in local)
        with np.errstate(invalid="ignore"):
            sums = [np.nan_to_num(a / b) for a, b in zip(totals, counts, strict=True)]
    else:
        if mode == "path":
            base, edges = np.sqrt(base), np.sqrt(edges)
        # Means instead of sums, (B / N)^n * N: nothing can overflow, whatever the number of steps.
        unit = float(len(base)) if mode == "path" or average else 1.0
        sums = _sum_chains(edges, base / unit, n, unit, normalize)
    answer, *own = sums
    if not np.isfinite(answer).all():
        hint = "Use ", Param("average", True)
        raise InvalidInput(who, "powers that stay finite", "numbers too large to hold", hint)
    if symmetric:
        answer = (answer + answer.T) / 2  # products round differently in the two triangles
    if normalize:
        left = own[0] if new is None else own[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            answer = answer / np.sqrt(np.outer(left, own[0]))
        # A row of similarity 0 to all rows, itself included, is divided by 0.
        answer = np.nan_to_num(answer, nan=0.0, posinf=0.0)
        if new is None:
            np.fill_diagonal(answer, 1.0)
    return answer


def _sum_chains(
    edges: np.ndarray, step: np.ndarray, n: int, unit: float, normalize: bool
) -> list[np.ndarray]:
    """Return sums over all chains of n steps of the products of their links, times ``unit``.

    From each row to each fitted one; to normalize, also from each fitted row back to itself, and
    of new rows the same, which chains reach by way of the fitted ones only. ``edges`` are the
    first links, ``step`` all further ones, divided by the unit.
    """
    first = edges / unit
    sums = [_steps(first, step, n) * unit]
    if normalize:
        sums.append(np.diagonal(_steps(step, step, n) * unit))
        way = _steps(first, step, n - 1) * unit if n > 1 else None
        sums.append(np.ones(len(edges)) if way is None else (way * edges).sum(axis=1) / unit)
    return sums


def _local_chains(
    base: np.ndarray, edges: np.ndarray, n_neighbors: int, mode: str
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the links between neighbors, and 1 for each of them, both divided by one number."""
    who, size = "power_similarity", len(base)
    Integer(1, high=size).check(who, "n_neighbors", n_neighbors, "Count the nearest rows")
    if mode != "path":
        where, hint = Param("n_neighbors", n_neighbors, of=who), ("Use ", Param("mode", "path"))
        raise InvalidInput(where, "means of chains", Param("mode", mode), hint)
    apart = base.copy()
    np.fill_diagonal(apart, -1.0)  # a row is not its own neighbor; it may stay where it is
    near = _nearest(apart, n_neighbors)
    near = near | near.T | np.eye(size, dtype=bool)
    # Divided by the most steps that any row has: neither the sum nor the count can overflow.
    unit = float(near.sum(axis=1).max())
    first = near if edges is base else _nearest(edges, n_neighbors)
    roots = np.sqrt(edges) * first / unit
    return (roots, np.sqrt(base) * near / unit), (first / unit, near / unit)


def _nearest(similarities: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Mark the largest entries of each line; ties go to the lower position."""
    order = np.argsort(-similarities, axis=1, kind="stable")[:, :n_neighbors]
    near = np.zeros(similarities.shape, dtype=bool)
    np.put_along_axis(near, order, True, axis=1)
    return near


def _steps(first: np.ndarray, step: np.ndarray, n: int) -> np.ndarray:
    """Return first @ step^(n - 1) by repeated squaring; all sums are of numbers of one sign."""
    # log2(n) products instead of n.
    power, left = step, n - 1
    with np.errstate(over="ignore", invalid="ignore"):
        while left:
            if left & 1:
                first = first @ power
            left >>= 1
            power = power @ power if left else power
    return first


def similarity_activation(x: Any, p: Any) -> np.ndarray:
    """Sharpen similarities: small ones smaller, large ones larger, 0, 1/2 and 1 as they are.

    With a = (-1/2 + sqrt(1/4 + 4 p)) / 2, the value is -p / ((x - 1/2) - a) - a up to 1/2 and
    -p / ((x - 1/2) + a) + a + 1 from there on. A large p changes little, a small one is nearly a
    step, and p = 0 is the step itself [1]_.

    Parameters
    ----------
    x : array of similarities
        Cut to [0, 1].
    p : float, or array that is broadcast with x
        At least 0: one for all, or one for each unit (column).

    Returns
    -------
    array of the shape of x

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.represent import similarity_activation
    >>> similarity_activation([0, 0.25, 0.5, 0.75, 1], 0.1).round(3)
    array([0.   , 0.095, 0.5  , 0.905, 1.   ])
    """
    for each in np.unique(p).tolist() if isinstance(p, list | np.ndarray) else [p]:
        Real(0.0).check("similarity_activation", "p", each, "Raise it")
    v = np.clip(np.asarray(x, dtype=np.float64), 0.0, 1.0) - 0.5
    p = np.asarray(p, dtype=np.float64)
    # Beside the two limits, 0 (a step, with 1/2 at 1/2) and infinity (no change, where a / a would
    # be NaN), a solves a^2 + a/2 = p; this form keeps its digits for a small p.
    curve = np.where((p == 0) | np.isinf(p), 1.0, p)
    a = 2.0 * curve / (0.5 + np.sqrt(0.25 + 4.0 * curve))
    # For a large p the two terms would cancel; over a common denominator the lower half is
    # a (1/2 + v) / (a - v) with v = x - 1/2, and the upper one its mirror image.
    low = a * (0.5 + np.minimum(v, 0.0)) / (a - np.minimum(v, 0.0))
    high = 1.0 - a * (0.5 - np.maximum(v, 0.0)) / (a + np.maximum(v, 0.0))
    bent = np.where(v < 0, low, np.where(v > 0, high, 0.5 + 0.0 * v))
    return np.where(p == 0, (np.sign(v) + 1) / 2, np.where(np.isinf(p), v + 0.5, bent))
