"""Predictions from neighbors: votes for classes and means of numbers, one row per query.

Every sum runs along the list of neighbors, nearest first, so an answer depends on its own list
alone.
"""

import numpy as np

from lookalike._runtime.threads import blocks

MAX_TOTALS = 2**22  # votes of so many rows times classes are counted in one call: 32 MB
WEIGHTS = ("uniform", "distance", "kernel")


def list_weights(distances: np.ndarray, weights: str, farthest: float) -> np.ndarray:
    """Return the weight of each neighbor.

    Parameters
    ----------
    distances : array of shape (n, k), ascending in each row
    weights : {"uniform", "distance", "kernel"}
        Equal; in proportion to 1 / distance, where neighbors at distance 0 count alone; or a
        Gaussian kernel of adaptive width, ``exp(-2 (d / h)**2)`` with h the distance of the last
        neighbor.
    farthest : float
        The distance of a similarity of 0, which pairs with nothing to compare are given.
    """
    if weights == "uniform":
        return np.ones(distances.shape)
    d = np.where(np.isfinite(distances), distances, farthest)
    if weights == "kernel":
        return _gaussian(d)
    first = d[:, :1]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Shares of the nearest one's weight: 1 / d itself would overflow for tiny distances.
        shares = np.where(first == 0, (d == 0).astype(np.float64), first / d)
    return np.where(np.isinf(first), 1.0, shares)  # all distances undefined: equal weights


def _gaussian(d: np.ndarray) -> np.ndarray:
    """Return Gaussian weights; the farthest finite distance of a list is two deviations away."""
    finite = np.isfinite(d)
    width = np.where(finite, d, 0.0).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Width 0: all neighbors are duplicates of the query and count fully.
        shares = np.where(width > 0, d / width, np.where(finite, 0.0, np.inf))
        weights = np.exp(-2 * np.square(shares))
    return np.where(finite.any(axis=1, keepdims=True), weights, 1.0)  # all undefined


def class_totals(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the votes for each class, an array of shape (n, n_classes)."""
    totals = np.zeros((len(codes), n_classes))
    rows = np.arange(len(codes))
    for rank in range(codes.shape[1]):  # nearest first: the order of the sum fixes its last bits
        totals[rows, codes[:, rank]] += weights[:, rank]
    return totals


def winners(totals: np.ndarray, codes: np.ndarray, tie: str) -> np.ndarray:
    """Return the class with the most votes.

    Parameters
    ----------
    totals : array of shape (n, n_classes)
    codes : classes of the neighbors, nearest first
    tie : {"first", "nearest"}
        Among the tied classes the one that comes first in the list, or the class of the very
        nearest neighbor even where it is not among them.
    """
    most = totals.max(axis=1)
    if tie == "nearest":
        tied = (totals == most[:, None]).sum(axis=1) > 1
        return np.where(tied, codes[:, 0], totals.argmax(axis=1))
    rows = np.arange(len(codes))
    best = codes[:, -1]  # of lists whose last class has fewer votes it is overwritten below
    for code in codes.T[::-1]:  # the first in the list writes last
        best = np.where(totals[rows, code] == most, code, best)
    return best


def vote(codes: np.ndarray, weights: np.ndarray, n_classes: int, tie: str) -> np.ndarray:
    """Return the class with the most votes of each row; see ``winners``."""
    best = np.empty(len(codes), dtype=np.int64)
    # For all rows at a time a label per row would need n * n votes.
    for part in blocks(len(codes), max(1, MAX_TOTALS // max(1, n_classes))):
        best[part] = winners(class_totals(codes[part], weights[part], n_classes), codes[part], tie)
    return best


def means(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean of each row."""
    # Summed along the list: ``sum`` adds in pairs, in another order for another length.
    top, bottom = np.cumsum(values * weights, axis=1), np.cumsum(weights, axis=1)
    return np.asarray(top[:, -1] / bottom[:, -1])
