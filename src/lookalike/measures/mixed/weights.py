"""Weights of columns learned from a target: ReliefF, RReliefF and least squares."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run, single_blas
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.kernels.lists import keep_by_class
from lookalike.measures.contract.matrices import check_pairs
from lookalike.measures.contract.rows import Rows, check_k, self_pairs
from lookalike.measures.medoids import fasterpam
from lookalike.measures.mixed.plan import MixedPlan
from lookalike.saving.fields import Choice, Integer, Maybe
from lookalike.table import Table, read_table
from lookalike.table.model import targets

# None of these follows n_jobs: the same sums are then added in the same order for any.
CANDIDATES_PER_BLOCK = 1024
ROWS_PER_BLOCK = 64
PAIRS_PER_BATCH = 4096  # pairs of rows whose differences are summed together
MAX_TASKS = 64  # each keeps a matrix of sums until all are added

MAX_CLUSTERED_ROWS = 2000  # of more rows, samples of this size are clustered (CLARA)
N_DRAWS = 5  # samples, as in Kaufman and Rousseeuw (1990)
RIDGE = 1e-9  # added to the squares: of equally good weights those of least norm are found
STEP = 2.0**-36  # far above round-off, and far below the differences of other rows


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
        sizes = np.bincount(codes)
        # A list longer than the largest class could never be filled.
        self.lists = len(sizes), min(n_neighbors, int(sizes.max()))
        self.missing = plan.missing(rows.arrays)
        self.used = _used(plan).astype(np.float64)

    def find(self, rows: np.ndarray) -> np.ndarray:
        """Return the nearest rows of each class, by (distance, row); -1 where there are no more."""
        shape = (len(rows), *self.lists)
        distances, indices = np.full(shape, np.inf), np.full(shape, -1)
        queries = self.rows[rows].arrays
        for part in blocks(len(self.rows), CANDIDATES_PER_BLOCK):
            # A missing cell counts as half different, so all sums have the same columns. They are
            # rounded, so that the order of the columns does not choose among ties.
            block, _ = self.plan.sums(queries, self.rows[part].arrays, self.used, midpoint=True)
            block = np.round(block / STEP)
            keep_by_class(block, part.start, self.codes, rows, distances, indices)
        return indices

    def differ(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return differences of pairs: 1/2 with a missing cell, 0 for a flag absent in both."""
        cells = self.rows.arrays
        differs = self.plan.differences(cells, cells, left, right)
        gaps = self.missing[left] | self.missing[right]
        return np.where(np.isnan(differs), 0.5 * gaps, differs) * self.used

    def sum_up(
        self, sampled: np.ndarray, weigh: Callable[..., np.ndarray], n_jobs: int | None
    ) -> np.ndarray:
        """Return sums over pairs of a sampled row and its neighbors: of 1, and of each difference.

        ``weigh(left, right, c, length)`` returns what the pairs count, in one sum or in several;
        ``length`` is that of the list of class c, which a small class cannot fill.
        """

        def sum_part(rows: np.ndarray) -> np.ndarray:
            lists = self.find(rows)
            row, c, rank = np.nonzero(lists >= 0)
            left, right = rows[row], lists[row, c, rank]
            counts = weigh(left, right, c, (lists >= 0).sum(axis=2)[row, c])
            sums = (counts[..., None] * self.differ(left, right)).sum(axis=-2)
            return np.append(counts.sum(axis=-1, keepdims=True), sums, axis=-1)

        size = max(1, min(ROWS_PER_BLOCK, PAIRS_PER_BATCH // (self.lists[0] * self.lists[1])))
        parts = [(sampled[part],) for part in blocks(len(sampled), size)]
        return np.asarray(np.sum(run(sum_part, parts, n_jobs, "weighing columns"), axis=0))


def relief_of_classes(
    near: Neighborhoods, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns, in the order of the plan."""
    codes = near.codes
    prior = np.bincount(codes) / len(codes)

    def weigh(left: np.ndarray, _: np.ndarray, c: np.ndarray, length: np.ndarray) -> np.ndarray:
        own = codes[left]
        # Hits count -1, misses by the share of their class among the other classes (see Notes).
        return np.where(c == own, -1.0, prior[c] / (1.0 - prior[own])) / length

    return near.sum_up(sampled, weigh, n_jobs)[1:] / len(sampled)


def relief_of_numbers(
    near: Neighborhoods, target: np.ndarray, sampled: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Return the raw weights of the columns for a target of numbers, in the order of the plan."""
    span = float(target.max() - target.min())  # finite and above 0: ``_spread_numbers`` checked it

    def weigh(left: np.ndarray, right: np.ndarray, _: np.ndarray, length: np.ndarray) -> np.ndarray:
        share = 1.0 / length
        return np.stack([share, share * (np.abs(target[left] - target[right]) / span)])

    (_, *columns), (apart, *both) = near.sum_up(sampled, weigh, n_jobs)
    alike = len(sampled) - apart
    # RReliefF (see Notes): all targets equal, or all as different as can be, make a fraction 0 / 0.
    raw = np.array(both) / apart if apart > 0 else np.zeros(len(both))
    return raw - (np.subtract(columns, both) / alike if alike > 0 else 0.0)


# -- pairs -----------------------------------------------------------------------------------------

PAIR_SETS = ("cluster_prototype", "cluster", "prototypes", "global")


class Pairings(NamedTuple):
    """Row ``rows[i]`` is paired with ``order[stops[i] - counts[i] : stops[i]]``, itself aside."""

    rows: np.ndarray
    order: np.ndarray
    stops: np.ndarray
    counts: np.ndarray


def make_pairings(pairs: str, medoids: np.ndarray, labels: np.ndarray) -> Pairings:
    """Return the pairs of rows of a pair set.

    Parameters
    ----------
    pairs : one of PAIR_SETS
    medoids : int64, the rows in the middle of the clusters
    labels : int64 array of n, the cluster of each row
    """
    if pairs == "global":
        labels = np.zeros_like(labels)
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels, minlength=len(medoids))
    ends = np.cumsum(sizes)
    if pairs == "prototypes":
        every = np.full(len(medoids), len(labels))
        return Pairings(medoids, order, every, every)
    if pairs == "cluster_prototype":
        return Pairings(medoids, order, ends, sizes)
    stops = ends[labels[order]]  # each row with those that come after it in its cluster
    return Pairings(order, order, stops, stops - np.arange(1, len(order) + 1))


def find_clusters(
    plan: MixedPlan, rows: Rows, n_clusters: int, random: np.random.Generator, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the medoids and the cluster of each row, by 1 - Gower with equal weights.

    Up to MAX_CLUSTERED_ROWS are clustered in one go; of more, several samples are, and the medoids
    that are nearest to all rows are kept (CLARA: Kaufman and Rousseeuw 1990,
    doi:10.1002/9780470316801.ch3).
    """
    n = len(rows)
    size = min(n, max(MAX_CLUSTERED_ROWS, 40 + 2 * n_clusters))  # the book's size, or more
    hint = Phrase("Lower ", Param("n_clusters"))
    check_pairs("least_squares_weights", size, size, hint, what=f"clusters of {size:,} rows")
    best = (np.inf, np.empty(0, np.int64), np.empty(0, np.int64))
    for _ in range(N_DRAWS if size < n else 1):
        drawn = np.sort(random.choice(n, size, replace=False)) if size < n else np.arange(n)
        distances = _distances(plan, rows[drawn], rows[drawn], n_jobs)
        # The greedy start costs as much as all the rest; of several draws the best is kept anyway.
        start = n_clusters if size == n else random.choice(size, n_clusters, replace=False)
        medoids = drawn[np.sort(fasterpam(distances, start).medoids)]
        cost, labels = _nearest_medoids(plan, rows, medoids, n_jobs)
        if cost < best[0]:
            best = (cost, medoids, labels)
    return best[1], best[2]


def _distances(plan: MixedPlan, a: Rows, b: Rows, n_jobs: int | None) -> np.ndarray:
    """Return 1 - Gower with equal weights; rows with nothing to compare are half alike."""
    weights, out = _used(plan).astype(np.float64), np.empty((len(a), len(b)))

    def compare(down: slice, across: slice) -> None:
        # Equal weights: learned ones would make the clusters depend on what they are used for.
        here, there, part = a[down], b[across], out[down, across]
        against, compared = plan.sums(here.arrays, there.arrays, weights, midpoint=False)
        with np.errstate(invalid="ignore"):
            part[:] = np.nan_to_num(against / compared, nan=0.5)
        part[self_pairs(here, there)] = 0.0  # also of a row without any cell

    columns = list(blocks(len(b), CANDIDATES_PER_BLOCK))
    tasks = [(part, c) for part in blocks(len(a), ROWS_PER_BLOCK) for c in columns]
    run(compare, tasks, n_jobs, "comparing rows")
    return out


def _nearest_medoids(
    plan: MixedPlan, rows: Rows, medoids: np.ndarray, n_jobs: int | None
) -> tuple[float, np.ndarray]:
    labels, nearest = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    for part in blocks(len(rows), max(64, 10**6 // len(medoids))):  # 8 MB of distances at a time
        distances = _distances(plan, rows[part], rows[medoids], n_jobs)
        labels[part], nearest[part] = distances.argmin(axis=1), distances.min(axis=1)
    return float(nearest.sum()), labels


# -- the sums --------------------------------------------------------------------------------------


def sum_squares(
    plan: MixedPlan,
    rows: Rows,
    pairings: Pairings,
    codes: np.ndarray,
    missing: str,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, int]:
    """Return the sums of (s_k - t)(s_l - t) over all pairs, and how many pairs there were.

    With weights that sum to 1 the model's error is sum_k w_k (s_k - t), so this one matrix Q holds
    everything: the objective is w' Q w. Pairs with nothing to compare are left out, and so are
    dropped columns.
    """
    used, ends = _used(plan), np.cumsum(pairings.counts)

    def sum_part(start: int, stop: int) -> tuple[np.ndarray, int]:
        squares, count = np.zeros((used.sum(), used.sum())), 0
        # All pairs together could be billions ("global"): they are made a batch at a time.
        for batch in blocks(stop - start, PAIRS_PER_BATCH):
            pair = np.arange(start + batch.start, start + batch.stop)
            at = np.searchsorted(ends, pair, side="right")
            left, right = pairings.rows[at], pairings.order[pairings.stops[at] - ends[at] + pair]
            left, right = left[left != right], right[left != right]
            alike = 1.0 - plan.differences(rows.arrays, rows.arrays, left, right)[:, used]
            undefined = np.isnan(alike)
            defined = ~undefined.all(axis=1)
            alike, undefined = alike[defined], undefined[defined]
            if undefined.any():
                filler = np.full(len(alike), 0.5)
                if missing == "ignore":
                    filler = np.nansum(alike, axis=1) / (~undefined).sum(axis=1)
                alike = np.where(undefined, filler[:, None], alike)
            same = codes[left[defined]] == codes[right[defined]]
            alike -= same[:, None]
            squares += alike.T @ alike
            count += len(alike)
        return squares, count

    n_pairs = int(ends[-1])
    parts = list(blocks(n_pairs, max(PAIRS_PER_BATCH, -(-n_pairs // MAX_TASKS)))) or [slice(0, 0)]
    tasks = [(part.start, part.stop) for part in parts]
    with single_blas():  # more threads inside a product would add in another order
        squares, counts = zip(*run(sum_part, tasks, n_jobs, "weighing columns"), strict=True)
    return np.asarray(np.sum(squares, axis=0)), sum(counts)


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

    # Scaled to a largest square of 1, so that the ridge means the same for any number of pairs.
    largest = float(np.abs(np.diag(squares)).max())
    values, vectors = np.linalg.eigh(squares / largest if largest > 0 else squares)
    root = np.sqrt(np.maximum(values, 0.0) + RIDGE)[:, None] * vectors.T
    n = len(squares)
    goal = np.append(np.zeros(n), 1.0)
    weights, _ = nnls(np.vstack([root, np.ones(n)]), goal, maxiter=100 + 30 * n)
    return np.asarray(weights / weights.sum())


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
    """Weigh columns by how well they separate near rows of other classes.

    A column is good if its cells differ between a row and its nearest rows of other classes (the
    misses) and agree between the row and its nearest rows of its own class (the hits). This is
    ReliefF [1]_, for any kinds of column and with missing cells; unlike a test of one column at a
    time it sees columns that are informative only together. For a target of numbers it is
    RReliefF [2]_.
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
        What y holds. "auto": texts, booleans and integers are classes, as in scikit-learn;
        integers are taken as numbers if more than half of the rows have a distinct value and
        there are more than two values.
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
    Choice(*targets.TARGETS).check(who, "target", target)
    table, values, plan = _prepare(X, y, kinds, plan, who)
    n = len(table)
    if n_samples is not None:
        check_k(n_samples, n, who, False, "n_samples")
    random = make_generator(random_state)
    sampled = np.arange(n) if n_samples is None else np.sort(random.choice(n, n_samples, False))
    rows = Rows(np.arange(n), plan.encode(table))
    if target == "classes" or (target == "auto" and targets.holds_classes(values)):
        codes = _code_classes(values, who)
        raw = relief_of_classes(Neighborhoods(plan, rows, codes, n_neighbors), sampled, n_jobs)
    else:
        goal = _spread_numbers(values, who)
        near = Neighborhoods(plan, rows, np.zeros(n, dtype=np.int64), n_neighbors)
        raw = relief_of_numbers(near, goal, sampled, n_jobs)
    weights = _in_order(raw, plan, table)
    if not normalize:
        return weights
    used = _in_order(_used(plan), plan, table)
    other = ("Try another ", Param("n_neighbors"), ", or leave the weights out")
    return positive(weights, used, who, "a column that separates the target", other)


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
        The value of an undefined similarity (a missing cell, or a flag absent in both): the mean
        of the pair's other similarities, which is what leaving it out does in ``Gower``, or 1/2.
        Pairs with nothing to compare are left out.
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
    if not targets.holds_classes(values):
        found = f"{len(np.unique(values)):,} different numbers"
        hint = "Cut the target into classes, or use relieff_weights"
        raise InvalidInput(who, "a target of classes", found, hint)
    codes = _code_classes(values, who)
    n = len(table)
    rows = Rows(np.arange(n), plan.encode(table))
    medoids = labels = np.zeros(n, dtype=np.int64)
    if pairs != "global":
        if n_clusters is None:  # the rule of thumb sqrt(n / 2)
            usual = max(int(codes.max()) + 1, min(50, round(float(np.sqrt(n / 2)))))
            n_clusters = min(n - 1, usual)
        check_k(n_clusters, n - 1, who, True, "n_clusters")
        medoids, labels = find_clusters(plan, rows, int(n_clusters), random, n_jobs)
    pairings = make_pairings(pairs, medoids, labels)
    squares, count = sum_squares(plan, rows, pairings, codes, missing, n_jobs)
    if not count:
        given, needed = Param("pairs", pairs, of=who), "pairs of rows with something to compare"
        fill = ("Fill some missing cells, or use ", Param("pairs", "global"))
        raise InvalidInput(given, needed, "none", fill)
    weights = np.zeros(len(plan.names))
    weights[_used(plan)] = solve_on_simplex(squares)
    return _in_order(weights, plan, table)


# -- reading ---------------------------------------------------------------------------------------


def _prepare(
    X: Any, y: Any, kinds: Mapping[str, Any] | None, plan: MixedPlan | None, who: str
) -> tuple[Table, np.ndarray, MixedPlan]:
    """Return the table without the target, the target, and how the columns are compared."""
    table, values = targets.split_target(read_table(X, kinds=kinds), y, who)
    if values is None:
        raise InvalidInput(who, "a target to learn from", "none", ("Pass ", Param("y")))
    plan = MixedPlan.fit(table, who) if plan is None else plan
    if set(plan.names) != set(plan.names_of(table.names)):
        needed = "a plan fitted to the columns of the table"
        found = f"one for {', '.join(map(repr, plan.names))}"
        raise InvalidInput(Param("plan", of=who), needed, found, "Fit it to the same table")
    if set(plan.names) <= set(plan.dropped):
        hint = "Keep constant columns"
        raise InvalidInput(who, "a column to weigh", "none that is compared", hint)
    return table, values, plan


def _code_classes(values: np.ndarray, who: str) -> np.ndarray:
    """Return the class of each row as a number from 0, in order of first appearance."""
    codes, known = targets.code_labels(values, len(values), who)
    if len(known) < 2:
        found = f"{len(known)}" + (f": {known[0]!r}" if known else "")
        hint = "Choose another target"
        raise InvalidInput(who, "a target of at least two classes", found, hint)
    return codes


def _spread_numbers(values: np.ndarray, who: str) -> np.ndarray:
    """Return the target as finite numbers that are not all the same."""
    target = targets.read_numbers(values, who, Phrase("Use ", Param("target", "classes")))
    with np.errstate(over="ignore", invalid="ignore"):
        span = target.max(initial=-np.inf) - target.min(initial=np.inf)
    if not 0 < span < np.inf:
        found = f"{target.min():g} to {target.max():g}" if len(target) else "no rows"
        needed = "a target of finite numbers that differ"
        raise InvalidInput(who, needed, found, "Choose another target")
    return target


# -- answering -------------------------------------------------------------------------------------


def _in_order(weights: np.ndarray, plan: MixedPlan, table: Table) -> np.ndarray:
    """Return weights in the order of the table's columns instead of the plan's."""
    return weights[[plan.names.index(plan.name_of(name)) for name in table.names]]


def _used(plan: MixedPlan) -> np.ndarray:
    """Return which columns of the plan are compared."""
    return np.array([name not in plan.dropped for name in plan.names])


def positive(raw: np.ndarray, used: np.ndarray, who: str, needed: str, hint: Any) -> np.ndarray:
    """Return weights >= 0 of sum 1; equal ones, with a warning, where no column is informative."""
    weights = np.maximum(raw, 0.0)
    if not weights.sum() > 0:
        found = "none, so all columns are weighted equally"
        warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=3)
        weights = used.astype(np.float64)
    return np.asarray(weights / weights.sum())
