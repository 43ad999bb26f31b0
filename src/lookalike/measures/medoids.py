"""The rows in the middle of k groups (k-medoids): the one place that calls ``kmedoids``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lookalike._threads import blocks, single_blas

__all__ = ["Partition", "best_swap", "fasterpam", "k_medoids"]

SWEEPS = 300
TINY = 1e-12  # a swap that lowers the cost by less does not count


class Partition(NamedTuple):
    """Rows shared out among medoids.

    Parameters
    ----------
    medoids : int64 array of k
        Positions of the medoids, in the order of the labels.
    labels : int64 array of n
        The medoid that each row belongs to, as a place in ``medoids``.
    """

    medoids: np.ndarray
    labels: np.ndarray


def fasterpam(
    distances: np.ndarray,
    medoids: int | np.ndarray,
    random_state: int | None = None,
    *,
    max_iter: int = 100,
) -> Partition:
    """Share rows out among k medoids, quickly (FasterPAM).

    Swaps are made as soon as one lowers the cost (Schubert and Rousseeuw 2021,
    doi:10.1016/j.is.2021.101804), on one thread.

    Parameters
    ----------
    distances : symmetric float64 array of shape (n, n), without gaps
    medoids : int or int array
        How many, started greedily (BUILD), or the positions to start from.
    random_state : int, optional
        The order in which swaps are tried; None: that of the rows.
    max_iter : int
        Sweeps over all rows.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> fasterpam(np.abs(points[:, None] - points), 2).labels
    array([0, 0, 0, 1, 1])
    """
    import kmedoids

    found = kmedoids.fasterpam(
        distances, medoids, max_iter=max_iter, init="build", random_state=random_state, n_cpu=1
    )
    return Partition(
        np.asarray(found.medoids, dtype=np.int64), np.asarray(found.labels, dtype=np.int64)
    )


def k_medoids(distances: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of k rows such that every row is near to one of them, sorted.

    Partitioning around medoids (PAM): a greedy start, then the best exchange of a medoid for
    another row as long as one lowers the cost (Kaufman and Rousseeuw 1990,
    doi:10.1002/9780470316801), found by the FastPAM1 update (Schubert and Rousseeuw 2021). The
    library leaves three things open, which are settled here: an exchange that round-off hid from
    it, fewer medoids than asked for where rows repeat, and which of several equally central rows
    is taken (the first).

    Parameters
    ----------
    distances : symmetric float64 array of shape (n, n), without gaps
    k : int
        All rows if it is n or more.
    """
    import kmedoids

    n = len(distances)
    if k >= n:
        return np.arange(n)
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    found = kmedoids.fastpam1(distances, int(k), max_iter=SWEEPS, init="build").medoids
    medoids = np.unique(np.asarray(found, dtype=np.int64))
    if len(medoids) < k:  # rows repeat, and no further one lowers the cost
        others = np.setdiff1d(np.arange(n), medoids)
        medoids = np.sort(np.concatenate([medoids, others[: k - len(medoids)]]))
    with single_blas():  # products are then the same to the last bit, whoever calls
        return _polish(distances, medoids)


def _polish(distances: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Apply exchanges that still lower the cost, and settle ties."""
    for _ in range(SWEEPS):
        change, place, row = best_swap(distances, medoids)
        if change < -_slack(distances, medoids):
            medoids[place] = row
            continue
        first = _first_of_equals(distances, medoids)
        if np.array_equal(first, np.sort(medoids)):
            break
        medoids = first
    return np.sort(medoids)


def _slack(distances: np.ndarray, medoids: np.ndarray) -> float:
    return TINY * max(1.0, float(distances[medoids].min(axis=0).sum()))


def best_swap(distances: np.ndarray, medoids: np.ndarray) -> tuple[float, int, int]:
    """Return the change of cost of the best exchange, the place of the medoid, and the row."""
    n, k = len(distances), len(medoids)
    own = distances[medoids].T
    which = own.argmin(axis=1)
    near = own[np.arange(n), which]
    own[np.arange(n), which] = np.inf
    second = own.min(axis=1)
    member = np.zeros((n, k))
    member[np.arange(n), which] = 1.0
    best = (np.inf, 0, 0)
    for at in blocks(n, 256):
        d = distances[at]
        kept = np.minimum(d, near)  # distance to the nearest if every medoid stayed
        # Whoever loses its medoid goes to the candidate or to the second nearest medoid.
        change = (np.minimum(d, second) - kept) @ member + (kept - near).sum(axis=1)[:, None]
        change[np.isin(np.arange(at.start, at.stop), medoids)] = np.inf
        row, place = np.unravel_index(int(change.argmin()), change.shape)
        if change[row, place] < best[0]:
            best = (float(change[row, place]), int(place), at.start + int(row))
    return best


def _first_of_equals(distances: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Replace each medoid by the first row of its cluster that is as central."""
    which = distances[medoids].argmin(axis=0)
    which[medoids] = np.arange(len(medoids))  # duplicates among the medoids keep their own
    slack = _slack(distances, medoids)
    chosen = medoids.copy()
    for place in range(len(medoids)):
        members = np.flatnonzero(which == place)
        totals = distances[np.ix_(members, members)].sum(axis=1)
        own = totals[np.searchsorted(members, medoids[place])]
        chosen[place] = members[int(np.argmax(totals <= own + slack))]
    return np.sort(chosen)
