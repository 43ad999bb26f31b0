"""Weights that bring similarities nearest to 1 within classes and 0 between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lookalike._runtime.threads import blocks, run, single_blas
from lookalike.errors import Param, Phrase
from lookalike.measures.contract.matrices import check_pairs
from lookalike.measures.contract.rows import Rows
from lookalike.measures.medoids import fasterpam
from lookalike.measures.mixed.plan import MixedPlan

PAIR_SETS = ("cluster_prototype", "cluster", "prototypes", "global")

Pairing = tuple[int, np.ndarray]
"""One row and the rows it is paired with."""

PAIRS = 4096  # pairs looked at together
TASKS = 64  # sums kept at once; both are constants, so n_jobs changes nothing
SAMPLE = 2000  # rows clustered at once, and
DRAWS = 5  # how often they are drawn where there are more
RIDGE = 1e-9


# -- pairs -----------------------------------------------------------------------------------------


def make_pairings(pairs: str, medoids: np.ndarray, labels: np.ndarray) -> list[Pairing]:
    """Return the pairs of rows of a pair set.

    Parameters
    ----------
    pairs : one of PAIR_SETS
    medoids : int64, the rows in the middle of the clusters
    labels : int64 array of n, the cluster of each row
    """
    everybody = np.arange(len(labels))
    if pairs == "global":
        return [(i, everybody[i + 1 :]) for i in range(len(labels) - 1)]
    if pairs == "prototypes":
        return [(int(m), np.delete(everybody, m)) for m in medoids]
    clusters = [np.flatnonzero(labels == c) for c in range(len(medoids))]
    if pairs == "cluster_prototype":
        return [(int(m), rows[rows != m]) for m, rows in zip(medoids, clusters, strict=True)]
    return [(int(i), rows[at + 1 :]) for rows in clusters for at, i in enumerate(rows[:-1])]


def find_clusters(
    plan: MixedPlan, rows: Rows, n_clusters: int, random: np.random.Generator, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the medoids and the cluster of each row, by 1 - Gower with equal weights.

    Up to SAMPLE rows are clustered at once; of more, several samples are, and the medoids that
    are nearest to all rows are kept (CLARA: Kaufman and Rousseeuw 1990,
    doi:10.1002/9780470316801.ch3).
    """
    n = len(rows)
    size = min(n, max(SAMPLE, 40 + 2 * n_clusters))
    hint = Phrase("Lower ", Param("n_clusters"))
    check_pairs("least_squares_weights", size, size, hint, what=f"clusters of {size:,} rows")
    best = (np.inf, np.empty(0, np.int64), np.empty(0, np.int64))
    for _ in range(DRAWS if size < n else 1):
        at = np.sort(random.choice(n, size, replace=False)) if size < n else np.arange(n)
        distances = _distances(plan, rows[at], rows[at], n_jobs)
        np.fill_diagonal(distances, 0.0)
        # The careful start costs as much as all the rest; of several draws the best is kept anyway.
        start = n_clusters if size == n else random.choice(size, n_clusters, replace=False)
        medoids = at[np.sort(fasterpam(distances, start).medoids)]
        cost, labels = _nearest_medoids(plan, rows, medoids, n_jobs)
        if cost < best[0]:
            best = (cost, medoids, labels)
    return best[1], best[2]


def _distances(plan: MixedPlan, a: Rows, b: Rows, n_jobs: int | None) -> np.ndarray:
    """Return 1 - Gower with equal weights; rows with nothing to compare are half alike."""
    weights = np.array([float(name not in plan.dropped) for name in plan.names])
    out = np.empty((len(a), len(b)))

    def one(at: slice, columns: slice) -> None:
        against, compared = plan.sums(a[at].arrays, b[columns].arrays, weights, midpoint=False)
        with np.errstate(invalid="ignore"):
            out[at, columns] = np.nan_to_num(against / compared, nan=0.5)

    tasks = [(r, c) for r in blocks(len(a), 64) for c in blocks(len(b), 1024)]
    run(one, tasks, n_jobs, "comparing rows")
    return out


def _nearest_medoids(
    plan: MixedPlan, rows: Rows, medoids: np.ndarray, n_jobs: int | None
) -> tuple[float, np.ndarray]:
    labels, nearest = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    for at in blocks(len(rows), max(64, 10**6 // len(medoids))):
        distances = _distances(plan, rows[at], rows[medoids], n_jobs)
        own = np.flatnonzero(np.isin(np.arange(at.start, at.stop), medoids))
        distances[own, np.searchsorted(medoids, at.start + own)] = 0.0  # also one without cells
        labels[at] = distances.argmin(axis=1)
        nearest[at] = distances.min(axis=1)
    return float(nearest.sum()), labels


# -- the sums --------------------------------------------------------------------------------------


def sum_squares(
    plan: MixedPlan,
    rows: Rows,
    pairings: Sequence[Pairing],
    codes: np.ndarray,
    missing: str,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, int]:
    """Return the sums of (s_k - t)(s_l - t) over all pairs, and how many pairs there were.

    With weights that sum to 1 the model's error is sum_k w_k (s_k - t), so this one matrix Q holds
    everything: the objective is w' Q w. Pairs with nothing to compare are left out. Only columns
    that take part have a place in it.
    """
    used = np.array([name not in plan.dropped for name in plan.names])

    def one(pairings: Sequence[Pairing]) -> tuple[np.ndarray, int]:
        squares, count = np.zeros((used.sum(), used.sum())), 0
        for left, right in _batches(pairings):
            alike = 1.0 - plan.differences(rows.arrays, left, right)[:, used]
            gaps = np.isnan(alike)
            kept = ~gaps.all(axis=1)
            alike, gaps = alike[kept], gaps[kept]
            if gaps.any():
                filler = np.full(len(alike), 0.5)
                if missing == "ignore":
                    filler = np.nansum(alike, axis=1) / (~gaps).sum(axis=1)
                alike = np.where(gaps, filler[:, None], alike)
            same = codes[left[kept]] == codes[right[kept]]
            alike -= same[:, None]
            squares += alike.T @ alike
            count += len(alike)
        return squares, count

    with single_blas():  # more threads inside a product would add in another order
        found = run(one, [(group,) for group in _groups(pairings)], n_jobs, "weighing columns")
    squares = np.sum([part[0] for part in found], axis=0)
    return np.asarray(squares), sum(part[1] for part in found)


def _groups(pairings: Sequence[Pairing]) -> list[list[Pairing]]:
    """Share the pairings out into few groups with about as many pairs each."""
    share = max(PAIRS, -(-sum(len(pairing[1]) for pairing in pairings) // TASKS))
    groups: list[list[Pairing]] = [[]]
    size = 0
    for pairing in pairings:
        if size and size + len(pairing[1]) > share:
            groups.append([])
            size = 0
        groups[-1].append(pairing)
        size += len(pairing[1])
    return groups


def _batches(pairings: Sequence[Pairing]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of several pairings as (left rows, right rows), PAIRS at a time."""
    left: list[np.ndarray] = []
    right: list[np.ndarray] = []
    size = 0
    for row, many in pairings:
        start = 0
        while start < len(many):
            part = many[start : start + PAIRS - size]
            left.append(np.full(len(part), row))
            right.append(part)
            start, size = start + len(part), size + len(part)
            if size == PAIRS:
                yield np.concatenate(left), np.concatenate(right)
                left, right, size = [], [], 0
    if size:
        yield np.concatenate(left), np.concatenate(right)


# -- the solution ----------------------------------------------------------------------------------


def solve_on_simplex(squares: np.ndarray) -> np.ndarray:
    """Return w >= 0 with sum 1 that makes w' Q w smallest.

    Non-negative least squares of ``R w`` against 0 and ``sum(w)`` against 1, with R'R = Q, has the
    same solution but for a factor: along each ray from the origin its best value is q / (1 + q)
    with q the value of w' Q w on the simplex, and that grows with q. A tiny ridge picks the
    solution of least norm where columns repeat each other.

    Examples
    --------
    >>> alike = np.array([[1.0, 0.5], [0.4, 0.9], [0.2, 0.6], [0.5, 0.1]])
    >>> errors = alike - np.array([[1.0], [1.0], [0.0], [0.0]])
    >>> solve_on_simplex(errors.T @ errors).round(6)
    array([0.487805, 0.512195])
    """
    from scipy.optimize import nnls  # takes long to import, and is rarely needed

    largest = float(np.abs(np.diag(squares)).max())
    values, vectors = np.linalg.eigh(squares / largest if largest > 0 else squares)
    root = np.sqrt(np.maximum(values, 0.0) + RIDGE)[:, None] * vectors.T
    n = len(squares)
    found, _ = nnls(
        np.vstack([root, np.ones(n)]), np.append(np.zeros(n), 1.0), maxiter=100 + 30 * n
    )
    return np.asarray(found / found.sum())
