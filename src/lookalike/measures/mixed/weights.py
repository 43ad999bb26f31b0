"""Weights of columns learned from a target: which columns should count when rows are compared."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, TooFewRows
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.least_squares import (
    PAIR_SETS,
    find_clusters,
    make_pairings,
    solve_on_simplex,
    sum_squares,
)
from lookalike.measures.mixed.plan import MixedPlan
from lookalike.measures.mixed.relief import Neighborhoods, relief_of_classes, relief_of_numbers
from lookalike.saving.fields import Choice, Integer, Maybe
from lookalike.table import Table, read_table
from lookalike.table.model.targets import (
    TARGETS,
    code_labels,
    holds_classes,
    read_numbers,
    split_target,
)


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
        everybody = np.zeros(n, dtype=np.int64)
        near = Neighborhoods(plan, rows, everybody, n_neighbors)
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
    found = read_numbers(values, who, "Use target='classes'")
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
