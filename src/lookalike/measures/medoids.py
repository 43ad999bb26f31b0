"""k-medoids: PAM and FasterPAM, by our own kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.kernels import clustering

MAX_SWEEPS = 300
DISTANCES_PER_CALL = 2**26  # some 0.1 s in a kernel; Ctrl-C is handled between two calls
COST_TOLERANCE = 1e-12  # relative; costs that differ by less differ by rounding


class Partition(NamedTuple):
    """Rows assigned to medoids.

    Parameters
    ----------
    medoids : int64 array of k
        Positions of the medoids, in the order of the labels.
    labels : int64 array of n
        The position in ``medoids`` of the medoid of each row.
    cost : float
        The sum of the distances of all rows to their medoids (total deviation).
    """

    medoids: np.ndarray
    labels: np.ndarray
    cost: float


def fasterpam(distances: np.ndarray, medoids: int | np.ndarray) -> Partition:
    """Partition rows around k medoids, quickly (FasterPAM).

    Swaps are made as soon as one lowers the cost (Schubert and Rousseeuw 2021,
    doi:10.1016/j.is.2021.101804); rows are tried in their order, so the answer is always the same.

    Parameters
    ----------
    distances : float64 array of shape (n, n), without gaps
        Row i holds the distances of row i to the others.
    medoids : int or int array
        How many, started greedily (BUILD), or the positions to start from.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> fasterpam(np.abs(points[:, None] - points), 2).labels
    array([0, 0, 0, 1, 1])
    """
    return _improve(distances, medoids, True)


def k_medoids(distances: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of k rows such that every row is near to one of them, sorted.

    Partitioning around medoids (PAM): a greedy start, then the best exchange of a medoid for
    another row as long as one lowers the cost (Kaufman and Rousseeuw 1990,
    doi:10.1002/9780470316801), found by the FastPAM1 update (Schubert and Rousseeuw 2021). Of
    several equally central rows of a cluster the first is taken.

    Parameters
    ----------
    distances : symmetric float64 array of shape (n, n), without gaps
    k : int
        All rows if it is n or more.
    """
    n = len(distances)
    if k >= n:  # every row is its own medoid
        return np.arange(n)
    medoids = _improve(distances, int(k), False).medoids
    # Moving a medoid to an equally central row may make another swap worthwhile, so both alternate.
    for _ in range(MAX_SWEEPS):
        first = _first_of_equals(distances, medoids)
        if np.array_equal(first, np.sort(medoids)):
            break
        medoids = _improve(distances, first, False).medoids
    return np.sort(medoids)


def build(d: np.ndarray, k: int) -> np.ndarray:
    """Return k medoids chosen greedily (BUILD): each lowers the cost most; ties to the lower.

    Parameters
    ----------
    d : float64 array of shape (n, n)
        Row c holds the distances of all rows to row c.
    k : int
    """
    n = len(d)
    chosen, taken = np.empty(k, np.int64), np.zeros(n, np.bool_)
    at = _best_alone(d, np.inf, 0)
    near = np.array(d[at])  # distance of each row to its nearest medoid so far
    chosen[0], taken[at] = at, True
    for m in range(1, k):
        best, at = -1.0, -1
        for part in blocks(n, max(1, DISTANCES_PER_CALL // n)):
            best, at = clustering.best_next_medoid(d, near, taken, part.start, part.stop, best, at)
        chosen[m], taken[at] = at, True
        np.minimum(near, d[at], out=near)
    return chosen


def _best_alone(d: np.ndarray, best: float, at: int) -> int:
    """Return the medoid of all rows; ``at``, of cost ``best``, unless another is better."""
    for part in blocks(len(d), max(1, DISTANCES_PER_CALL // len(d))):
        best, at = clustering.best_first_medoid(d, part.start, part.stop, best, at)
    return at


def swap_until_stable(
    d: np.ndarray, medoids: np.ndarray, eager: bool
) -> tuple[np.ndarray, float, int]:
    """Improve medoids in place; return each row's position in them, the cost and the swaps.

    Parameters
    ----------
    d : float64 array of shape (n, n)
        Row c holds the distances of all rows to row c.
    medoids : int64 array
    eager : bool
        Whether to take every swap that lowers the cost as soon as it is found (FasterPAM) instead
        of the best one each time (PAM).
    """
    n, k = len(d), len(medoids)
    first, second = np.empty(n, np.int64), np.empty(n, np.int64)
    near, far = np.empty(n), np.empty(n)
    lists = first, second, near, far
    cost = clustering.assign_medoids(d, medoids, *lists)
    if k >= n:
        return first, cost, 0
    if k == 1:  # the swap kernel needs a second nearest medoid, which does not exist here
        before, medoids[0] = int(medoids[0]), _best_alone(d, cost, int(medoids[0]))
        return first, clustering.assign_medoids(d, medoids, *lists), int(medoids[0] != before)
    losses, taken = np.empty(k), np.zeros(n, np.bool_)
    taken[medoids] = True
    clustering.removal_losses(first, near, far, losses)
    whole, real = np.zeros(6, np.int64), np.zeros(2)
    whole[clustering.ROW], real[clustering.COST] = -1, cost
    steps, ended, state = max(1, DISTANCES_PER_CALL // n), False, (taken, losses, whole, real)
    # The kernel returns after some steps and resumes where it stopped, so that Ctrl-C is handled.
    while not ended:
        ended = clustering.swap_some(d, medoids, eager, MAX_SWEEPS, steps, *lists, *state)
    return first, float(real[clustering.COST]), int(whole[clustering.SWAPS])


def _improve(distances: np.ndarray, medoids: int | np.ndarray, eager: bool) -> Partition:
    distances = np.asarray(distances, dtype=np.float64)
    # The kernels want the distances of all rows to a candidate in one piece.
    to = np.ascontiguousarray(distances.T)
    n = len(to)
    start = build(to, min(int(medoids), n)) if np.ndim(medoids) == 0 else np.array(medoids)
    chosen = start.astype(np.int64)
    labels, cost, _ = swap_until_stable(to, chosen, eager)
    return Partition(chosen, labels, float(cost))


def _first_of_equals(distances: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Replace each medoid by the first row of its cluster that is as central."""
    which = distances[medoids].argmin(axis=0)
    which[medoids] = np.arange(len(medoids))  # duplicates among the medoids keep their own
    slack = COST_TOLERANCE * max(1.0, float(distances[medoids].min(axis=0).sum()))
    chosen = medoids.copy()
    for cluster, medoid in enumerate(medoids):
        members = np.flatnonzero(which == cluster)
        totals = distances[np.ix_(members, members)].sum(axis=1)
        own = totals[np.searchsorted(members, medoid)]
        chosen[cluster] = members[int(np.argmax(totals <= own + slack))]
    return np.sort(chosen)


def farthest_first(distances: Callable[[Any, Any, str], np.ndarray], rows: Any) -> Iterator[int]:
    """Yield positions of rows of which each is farthest from those before [1]_.

    Parameters
    ----------
    distances : callable
        Compares two blocks of encoded rows, given ``"distance"`` as the third argument.
    rows : Rows

    References
    ----------
    .. [1] T. F. Gonzalez (1985). Clustering to minimize the maximum intercluster distance.
       Theoretical Computer Science 38. doi:10.1016/0304-3975(85)90224-5
    """
    # The most central row begins: an outlier would come first otherwise, whatever it is.
    totals = distances(rows, rows[:: max(1, len(rows) // 256)], "distance").sum(axis=1)
    row = int(totals.argmin())
    near = np.full(len(rows), np.inf)
    for _ in range(len(rows)):
        yield row
        np.minimum(near, distances(rows, rows[row : row + 1], "distance")[:, 0], out=near)
        near[row] = -1.0  # never twice, even if all others repeat it
        row = int(near.argmax())
