"""Weights of columns learned from a target: which columns should count when rows are compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run, single_blas
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, TooFewRows
from lookalike.measures.contract.matrices import check_pairs
from lookalike.measures.contract.rows import Rows
from lookalike.measures.medoids import fasterpam
from lookalike.measures.mixed.plan import SIMPLE, MixedPlan
from lookalike.saving.fields import Choice, Integer, Maybe
from lookalike.table import Table, read_table
from lookalike.table.model.targets import (
    TARGETS,
    code_labels,
    holds_classes,
    read_numbers,
    split_target,
)

# None of these follows n_jobs: the same sums are then added in the same order for any.
WIDE = 1024  # candidates compared at once
TALL = 64  # rows compared with them at once
PAIRS = 4096  # pairs of rows whose differences are summed together
TASKS = 64  # sums of pairs kept at once

SAMPLE = 2000  # rows clustered at once, and
DRAWS = 5  # how often they are drawn where there are more
RIDGE = 1e-9  # added to the squares: of equally good weights those of least norm are found
STEP = 2.0**-36  # differences are counted in these, so sums of up to 2^17 columns need no rounding


# -- ReliefF and RReliefF --------------------------------------------------------------------------


class Neighborhoods:
    """The nearest rows of each class, and how they differ column by column.

    Parameters
    ----------
    plan : MixedPlan
    rows : Rows, encoded by the plan
    codes : int64 array of n, the class of each row from 0
    n_neighbors : int
    """

    def __init__(self, plan: MixedPlan, rows: Rows, codes: np.ndarray, n_neighbors: int) -> None:
        self.plan, self.rows, self.codes = plan, rows, codes
        self.n_classes = int(codes.max()) + 1
        # A list longer than the largest class would stay half empty.
        self.n_neighbors = min(n_neighbors, int(np.bincount(codes).max()))
        self.missing = plan.missing(rows.arrays)
        self.coarse, self.coarse_rows = _coarse(plan, rows)
        self.used = np.array([float(name not in plan.dropped) for name in plan.names])

    def parts(self, sampled: np.ndarray) -> list[tuple[np.ndarray]]:
        """Cut the sampled rows so that the pairs of one part fit into little memory."""
        tall = max(1, min(TALL, PAIRS // (self.n_classes * self.n_neighbors)))
        return [(sampled[at],) for at in blocks(len(sampled), tall)]

    def find(self, at: np.ndarray) -> np.ndarray:
        """Return the nearest rows of each class, by (distance, row); -1 where there are no more.

        Sums of differences that are equal but for round-off are ties, so that the order of the
        columns does not choose among neighbors.
        """
        from lookalike.kernels.lists import keep_by_class

        shape = (len(at), self.n_classes, self.n_neighbors)
        distances, indices = np.full(shape, np.inf), np.full(shape, -1)
        queries = self.coarse_rows[at].arrays
        for part in blocks(len(self.rows), WIDE):
            # A gap counts as half different, so nothing is left out of any sum.
            others = self.coarse_rows[part].arrays
            block, _ = self.coarse.sums(queries, others, self.used, midpoint=True, step=STEP)
            keep_by_class(block, part.start, self.codes, at, distances, indices)
        return indices

    def differ(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the differences of pairs of rows: 1/2 with a gap, 0 for a flag absent in both."""
        differs = self.plan.differences(self.rows.arrays, left, right)
        gaps = self.missing[left] | self.missing[right]
        return np.where(np.isnan(differs), 0.5 * gaps, differs) * self.used


def _coarse(plan: MixedPlan, rows: Rows) -> tuple[MixedPlan, Rows]:
    """Return plan and rows with numbers and levels rounded to multiples of STEP.

    Differences are then multiples too, and their sums exact, the same in every order.
    """
    # Codes of categories are whole numbers, and stay as they are.
    simple = np.round(rows.arrays[SIMPLE] / STEP) * STEP
    levels = np.round(plan.levels / STEP) * STEP
    return replace(plan, levels=levels), Rows(rows.seen, {**rows.arrays, SIMPLE: simple})


def relief_of_classes(
    near: Neighborhoods, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns, in the order of the plan."""
    codes = near.codes
    prior = np.bincount(codes) / len(codes)

    def one(at: np.ndarray) -> np.ndarray:
        found = near.find(at)
        row, c, place = np.nonzero(found >= 0)
        left = at[row]
        own = codes[left]
        # A list shorter than the others has a mean of its own; an empty one says nothing.
        length = (found >= 0).sum(axis=2)[row, c]
        share = np.where(c == own, -1.0, prior[c] / (1.0 - prior[own])) / length
        differs = near.differ(left, found[row, c, place])
        return np.asarray((share[:, None] * differs).sum(axis=0))

    parts = run(one, near.parts(sampled), n_jobs, "weighing columns")
    return np.asarray(np.sum(parts, axis=0) / len(sampled))


def relief_of_numbers(
    near: Neighborhoods, target: np.ndarray, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns for a target of numbers, in the order of the plan."""
    span = float(target.max() - target.min())

    def one(at: np.ndarray) -> np.ndarray:
        found = near.find(at)[:, 0]
        row, place = np.nonzero(found >= 0)
        left, right = at[row], found[row, place]
        share = 1.0 / (found >= 0).sum(axis=1)[row]
        apart = np.abs(target[left] - target[right]) / span
        differs = near.differ(left, right)
        columns = (share[:, None] * differs).sum(axis=0)
        both = ((share * apart)[:, None] * differs).sum(axis=0)
        return np.stack([np.full(len(both), (share * apart).sum()), columns, both])

    parts = run(one, near.parts(sampled), n_jobs, "weighing columns")
    apart, columns, both = np.sum(parts, axis=0)
    alike = len(sampled) - apart
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(apart > 0, both / apart, 0.0)
        return np.asarray(found - np.where(alike > 0, (columns - both) / alike, 0.0))


PAIR_SETS = ("cluster_prototype", "cluster", "prototypes", "global")

Pairing = tuple[int, np.ndarray]
"""One row and the rows it is paired with."""


# -- pairs -----------------------------------------------------------------------------------------


def make_pairings(pairs: str, medoids: np.ndarray, labels: np.ndarray) -> list[Pairing]:
    """Return the pairs of rows of a pair set.

    Parameters
    ----------
    pairs : one of PAIR_SETS
    medoids : int64, the rows in the middle of the clusters
    labels : int64 array of n, the cluster of each row
    """
    every_row = np.arange(len(labels))
    if pairs == "global":
        return [(i, every_row[i + 1 :]) for i in range(len(labels) - 1)]
    if pairs == "prototypes":
        return [(int(m), np.delete(every_row, m)) for m in medoids]
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


# -- the two functions -----------------------------------------------------------------------------


def relieff_weights(
    X: Any,
    y: Any,
    *,
    n_neighbors: int = 10,
    n_samples: int | None = None,
    target: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    plan: MixedPlan | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    normalize: bool = True,
) -> np.ndarray:
    """Weigh columns by how well they tell near rows of other classes apart.

    A column is good if its cells differ between a row and its nearest rows of other classes (the
    misses) and agree between the row and its nearest rows of its own class (the hits). This is
    ReliefF [1]_, for any kinds of column and with gaps; unlike a test of one column at a time it
    sees columns that only tell something together. For a target of numbers it is RReliefF [2]_.
    With very many irrelevant columns the nearest rows become arbitrary, and so do the weights.

    Parameters
    ----------
    X : table, frame, array, dict of columns or path
    y : array of n, or the name of a column
    n_neighbors : int
        Nearest rows looked at in each class; where a class has fewer, those there are.
    n_samples : int, optional
        Rows to start from, drawn at random. None: all.
    target : {"auto", "classes", "numbers"}
        What y holds. "auto": words, truth values and whole numbers are classes, as in
        scikit-learn; whole numbers are taken as numbers if more than half of the rows have a
        value of their own and there are more than two values.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it.
    plan : MixedPlan, optional
        How the columns of X are compared, already fitted: ``Gower().fit(X).plan_``.
    random_state : None, int, RandomState or Generator
        For ``n_samples``.
    n_jobs : int, optional
        Threads; the answer does not depend on it.
    normalize : bool
        True: weights for ``Gower``, negative ones set to 0, of sum 1. False: as they come, in
        [-1, 1]; below 0, a column misleads.

    Returns
    -------
    float64 array, one weight per column of the table without the target

    Notes
    -----
    With m starting rows i, P(c) the share of class c, H the hits and M_c the misses in class c::

        W_k = 1/m sum_i ( sum_{c != y_i} P(c) / (1 - P(y_i)) mean_{j in M_c} diff_k(i, j)
                          - mean_{j in H} diff_k(i, j) )

    diff_k is 1 - s_k with s_k Gower's similarity in column k, 1/2 where a cell is missing, and 0
    for a flag absent in both. Near means a small sum of diff_k, counted in steps of 2^-36, so that
    round-off decides nothing; ties go to the lower row. A class without another member adds
    nothing. For numbers, with tau the target divided by its range, k nearest rows j of each i, and
    every sum over all pairs (i, j) divided by k::

        W_k = N_both / N_target - (N_k - N_both) / (m - N_target)
        N_target = sum |tau_i - tau_j|,  N_k = sum diff_k,  N_both = sum |tau_i - tau_j| diff_k

    A fraction with denominator 0 counts as 0.

    References
    ----------
    .. [1] I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML-94,
       171-182. doi:10.1007/3-540-57868-4_57
    .. [2] M. Robnik-Sikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and
       RReliefF. Machine Learning 53, 23-69. doi:10.1023/A:1025667309714

    Examples
    --------
    >>> from lookalike.measures import relieff_weights
    >>> X = {"size": [0.0, 0.1, 0.9, 1.0], "noise": [0.3, 0.9, 0.2, 0.8]}
    >>> y = ["small", "small", "large", "large"]
    >>> relieff_weights(X, y, n_neighbors=1)
    array([1., 0.])
    >>> relieff_weights(X, y, n_neighbors=1, normalize=False).round(6)
    array([ 0.8     , -0.714286])
    """
    who = "relieff_weights"
    Integer(1).check(who, "n_neighbors", n_neighbors)
    Maybe(Integer(1)).check(who, "n_samples", n_samples)
    Choice(*TARGETS).check(who, "target", target)
    Choice(True, False).check(who, "normalize", normalize)
    table, values, plan = _prepare(X, y, kinds, plan, who)
    n = len(table)
    if n_samples is not None and n_samples > n:
        hint = Phrase("Use ", Param("n_samples", n, of=who), " or leave it out")
        raise TooFewRows(
            Param("n_samples", n_samples, of=who), "as many rows", Param("n_samples", n), hint
        )
    random = make_generator(random_state)
    sampled = np.arange(n) if n_samples is None else np.sort(random.choice(n, n_samples, False))
    rows = Rows(np.arange(n), plan.encode(table))
    if target == "classes" or (target == "auto" and holds_classes(values)):
        codes = _code_classes(values, who)
        raw = relief_of_classes(Neighborhoods(plan, rows, codes, n_neighbors), sampled, n_jobs)
    else:
        goal = _spread_numbers(values, who)
        one_class = np.zeros(n, dtype=np.int64)
        near = Neighborhoods(plan, rows, one_class, n_neighbors)
        raw = relief_of_numbers(near, goal, sampled, n_jobs)
    found = _in_order(raw, plan, table)
    return _positive(found, plan, table, who) if normalize else found


def least_squares_weights(
    X: Any,
    y: Any,
    *,
    pairs: str = "cluster_prototype",
    n_clusters: int | None = None,
    kinds: Mapping[str, Any] | None = None,
    plan: MixedPlan | None = None,
    missing: str = "ignore",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Weigh columns so that rows of one class become alike and rows of different classes unlike.

    The weights w >= 0 with sum 1 are those for which ``sum_k w_k s_k`` comes nearest to 1 for
    pairs of one class and to 0 for pairs of different classes, in least squares, where s_k is
    Gower's similarity in column k. Columns that say the same share their weight. Most columns
    often end with weight 0; ``relieff_weights`` is gentler.

    Parameters
    ----------
    X : table, frame, array, dict of columns or path
    y : array of n, or the name of a column
        Classes.
    pairs : {"cluster_prototype", "cluster", "prototypes", "global"}
        Pairs of rows to learn from: each row with the medoid of its cluster; all pairs within a
        cluster; each row with every medoid; all pairs (n (n - 1) / 2 of them).
    n_clusters : int, optional
        None: sqrt(n / 2) rounded, not below the number of classes and not above 50.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it.
    plan : MixedPlan, optional
        How the columns of X are compared, already fitted: ``Gower().fit(X).plan_``.
    missing : {"ignore", "midpoint"}
        What stands for a similarity that cannot be told (a gap, or a flag absent in both): the
        mean of the pair's others, which is what leaving it out does in ``Gower``, or 1/2. Pairs
        with nothing to compare are left out.
    random_state : None, int, RandomState or Generator
        For tables of more than 2,000 rows, whose clusters are found on samples.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Returns
    -------
    float64 array, one weight per column of the table without the target

    Notes
    -----
    Clusters are k-medoids [1]_ of 1 - Gower with equal weights, by FasterPAM; of
    more than 2,000 rows five samples are clustered and the medoids nearest to all rows kept. The
    solution is exact: in the gradient of the mean squared error the columns with weight are equal
    within 1e-8, and no other is smaller. Memory does not grow with the number of pairs.

    References
    ----------
    .. [1] E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering: O(k) runtime
       improvement of the PAM, CLARA, and CLARANS algorithms. Information Systems 101, 101804.
       doi:10.1016/j.is.2021.101804

    Examples
    --------
    >>> from lookalike.measures import least_squares_weights
    >>> X = {"size": [0.0, 0.1, 0.9, 1.0], "color": ["red", "blue", "red", "blue"]}
    >>> y = ["small", "small", "large", "large"]
    >>> least_squares_weights(X, y, pairs="global").round(3)
    array([1., 0.])
    """
    who = "least_squares_weights"
    Choice(*PAIR_SETS).check(who, "pairs", pairs)
    Maybe(Integer(1)).check(who, "n_clusters", n_clusters)
    Choice("ignore", "midpoint").check(who, "missing", missing)
    random = make_generator(random_state)
    table, values, plan = _prepare(X, y, kinds, plan, who)
    if not holds_classes(values):
        raise InvalidInput(
            who,
            "a target of classes",
            f"{len(np.unique(values)):,} different numbers",
            "Cut the target into classes, or use relieff_weights",
        )
    codes = _code_classes(values, who)
    rows = Rows(np.arange(len(table)), plan.encode(table))
    medoids = labels = np.zeros(len(table), dtype=np.int64)
    if pairs != "global":
        k = _count_clusters(n_clusters, len(table), int(codes.max()) + 1, who)
        medoids, labels = find_clusters(plan, rows, k, random, n_jobs)
    pairings = make_pairings(pairs, medoids, labels)
    squares, count = sum_squares(plan, rows, pairings, codes, missing, n_jobs)
    if not count:
        raise InvalidInput(
            Param("pairs", pairs, of=who),
            "pairs of rows with something to compare",
            "none",
            ("Fill some missing cells, or use ", Param("pairs", "global")),
        )
    used = np.array([name not in plan.dropped for name in plan.names])
    weights = np.zeros(len(used))
    weights[used] = solve_on_simplex(squares)
    return _in_order(weights, plan, table)


# -- reading ---------------------------------------------------------------------------------------


def _prepare(
    X: Any, y: Any, kinds: Mapping[str, Any] | None, plan: MixedPlan | None, who: str
) -> tuple[Table, np.ndarray, MixedPlan]:
    """Return the table without the target, the target, and how the columns are compared."""
    table, values = split_target(read_table(X, kinds=kinds), y, who)
    if values is None:
        raise InvalidInput(who, "a target to learn from", "none", ("Pass ", Param("y")))
    plan = MixedPlan.fit(table, who) if plan is None else plan
    if set(plan.names) != set(table.names):
        raise InvalidInput(
            Param("plan", of=who),
            "a plan fitted to the columns of the table",
            f"one for {', '.join(map(repr, plan.names))}",
            "Fit it to the same table",
        )
    if set(plan.names) <= set(plan.dropped):
        raise InvalidInput(
            who, "a column to weigh", "none that is compared", "Keep constant columns"
        )
    return table, values, plan


def _code_classes(values: np.ndarray, who: str) -> np.ndarray:
    """Return the class of each row as a number from 0, in order of first appearance."""
    codes, known = code_labels(values, len(values), who)
    if len(known) < 2:
        raise InvalidInput(
            who,
            "a target of at least two classes",
            f"{len(known)}" + (f": {known[0]!r}" if known else ""),
            "Choose another target",
        )
    return codes


def _spread_numbers(values: np.ndarray, who: str) -> np.ndarray:
    """Return the target as finite numbers that are not all the same."""
    found = read_numbers(values, who, Phrase("Use ", Param("target", "classes")))
    with np.errstate(over="ignore", invalid="ignore"):
        span = found.max(initial=-np.inf) - found.min(initial=np.inf)
    if not 0 < span < np.inf:
        shown = "no rows" if not len(found) else f"{found.min():g} to {found.max():g}"
        raise InvalidInput(
            who, "a target of finite numbers that differ", shown, "Choose another target"
        )
    return found


def _count_clusters(asked: int | None, n: int, n_classes: int, who: str) -> int:
    if asked is None:
        return min(n - 1, max(n_classes, min(50, round(float(np.sqrt(n / 2))))))
    if asked >= n:
        raise TooFewRows(
            Param("n_clusters", asked, of=who),
            f"at least {asked + 1} rows",
            Param("n_samples", n),
            ("Use ", Param("n_clusters", n - 1), " or add rows"),
        )
    return int(asked)


# -- answering -------------------------------------------------------------------------------------


def _in_order(weights: np.ndarray, plan: MixedPlan, table: Table) -> np.ndarray:
    """Return weights in the order of the table's columns instead of the plan's."""
    at = {name: j for j, name in enumerate(plan.names)}
    return weights[[at[name] for name in table.names]]


def _positive(raw: np.ndarray, plan: MixedPlan, table: Table, who: str) -> np.ndarray:
    """Return weights of at least 0 and sum 1."""
    found = np.maximum(raw, 0.0)
    whole = float(found.sum())
    if whole > 0:
        return np.asarray(found / whole)
    warnings.warn(
        LookalikeWarning(
            who,
            "a column that tells the target",
            "none with a weight above 0, so all columns are weighted equally",
            ("Try another ", Param("n_neighbors"), ", or leave the weights out"),
        ),
        stacklevel=3,
    )
    used = np.array([float(name not in plan.dropped) for name in table.names])
    return np.asarray(used / used.sum())
