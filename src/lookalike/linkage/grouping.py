"""Rows that are the same, as groups: connected components with a guard against chains.

A pair that is wrong would join two groups into one. So rows of a component stay together only where
they agree on average (average linkage): a weak bridge between two groups is cut, since the other
pairs across it speak against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

MAX_ROWS = 100  # of a component whose pairs are all compared; larger ones lose weak pairs first
# Distances of decided pairs: far above and below all sums of those of 1 minus a probability.
TOGETHER, UNDECIDED, APART = 0.0, 1e4, 1e10
Probability = Callable[[np.ndarray, np.ndarray], np.ndarray]


def group_rows(
    n: int,
    left: np.ndarray,
    right: np.ndarray,
    probabilities: np.ndarray,
    threshold: float,
    probability: Probability,
    decided: np.ndarray | None = None,
) -> np.ndarray:
    """Return the group of each row: the first of its rows.

    Parameters
    ----------
    n : int
        How many rows there are.
    left, right : int64, the rows of pairs
    probabilities : float64
        The probability that each pair is a match.
    threshold : float
        Pairs from this probability on connect rows, and the average within a group is no less.
    probability : function of two arrays of rows, for pairs that are not among those given
    decided : float64, optional
        1 for pairs that are in one group at any rate, 0 for pairs that never are, NaN for others.

    Examples
    --------
    Rows 0 to 2 are alike, 3 and 4 too; one pair between them, 2 and 3, is a mistake.

    >>> left, right = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 3, 4])
    >>> group_rows(5, left, right, np.full(5, 0.9), 0.5, lambda i, j: np.zeros(len(i))).tolist()
    [0, 0, 0, 3, 3]
    """
    decided = np.full(len(left), np.nan) if decided is None else decided
    groups = np.arange(n)
    parts = [*_components(n, left, right, np.where(decided == 0, 0.0, probabilities), threshold)]
    # Two rows that are connected agree: a weak bridge needs a third one.
    checked = [rows for rows in parts if 2 < len(rows) <= MAX_ROWS]
    for rows in parts:
        groups[rows] = rows[0]
    to = np.select([decided == 1, decided == 0], [TOGETHER, APART], UNDECIDED + 1.0 - probabilities)
    known = left * n + right, to
    for rows, condensed in zip(checked, _distances(checked, n, known, probability), strict=True):
        # Means of many distances are rounded: one that equals the cut must not exceed it.
        cut = UNDECIDED + 1.0 - threshold
        from scipy.cluster.hierarchy import fcluster, linkage  # not to be loaded by a join

        labels = fcluster(linkage(condensed, "average"), cut + 1e-9, "distance")
        _, first = np.unique(labels, return_index=True)
        groups[rows] = rows[first[labels - 1]]
    return groups


def _components(
    n: int, left: np.ndarray, right: np.ndarray, probabilities: np.ndarray, threshold: float
) -> Iterator[np.ndarray]:
    """Yield connected components of at least two rows; large ones lose their weakest pairs."""
    from scipy.sparse import coo_array  # not to be loaded by a join, as above
    from scipy.sparse.csgraph import connected_components

    kept = probabilities >= threshold
    left, right, probabilities = left[kept], right[kept], probabilities[kept]
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    order = np.argsort(labels, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if len(rows) <= MAX_ROWS:
            if len(rows) > 1:
                yield rows
            continue
        inside = labels[left] == labels[rows[0]]
        i, j, weights = left[inside], right[inside], probabilities[inside]
        stricter = float(np.median(weights))
        if stricter <= threshold:  # half of the pairs are as sure as can be: copies of one record
            yield rows
            continue
        at = np.searchsorted(rows, i), np.searchsorted(rows, j)
        for part in _components(len(rows), *at, weights, stricter):
            yield rows[part]


def _distances(
    groups: list[np.ndarray], n: int, known: tuple[np.ndarray, np.ndarray], probability: Probability
) -> list[np.ndarray]:
    """Return the distances of all pairs of rows of each group, as ``linkage`` takes them."""
    if not groups:
        return []
    pairs = [np.sort(rows)[np.array(np.triu_indices(len(rows), 1))] for rows in groups]
    left, right = np.concatenate(pairs, axis=1)
    order, wanted = np.argsort(known[0]), left * n + right
    place = np.minimum(np.searchsorted(known[0], wanted, sorter=order), len(order) - 1)
    place = order[place]
    found = known[0][place] == wanted
    out = np.where(found, known[1][place], 0.0)
    out[~found] = UNDECIDED + 1.0 - probability(left[~found], right[~found])
    return np.split(out, np.cumsum([both.shape[1] for both in pairs])[:-1])
