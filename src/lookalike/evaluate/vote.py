"""From neighbors to an answer: votes for classes and means of numbers, one row per query.

Every sum runs along the list of neighbors, nearest first, so an answer depends on its own list
alone and the answers for all shorter lists come with it.
"""

from __future__ import annotations

import numpy as np

__all__ = ["class_totals", "list_weights", "means_by_k", "winners", "winners_by_k"]


def list_weights(distances: np.ndarray, weights: str, farthest: float) -> np.ndarray:
    """Return what each neighbor counts for.

    Parameters
    ----------
    distances : array of shape (n, k), ascending in each row
    weights : {"uniform", "distance"}
        All alike, or in proportion to 1 / distance. Neighbors at distance 0 then count alone.
    farthest : float
        The distance of a similarity of 0, which pairs with nothing to compare are given.
    """
    if weights == "uniform":
        return np.ones(distances.shape)
    d = np.where(np.isfinite(distances), distances, farthest)
    first = d[:, :1]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Shares of the nearest one's weight: 1 / d itself would overflow for tiny distances.
        shares = np.where(first == 0, (d == 0).astype(np.float64), first / d)
    return np.where(np.isinf(first), 1.0, shares)  # nothing known about any: all count alike


def class_totals(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the votes for each class, an array of shape (n, n_classes)."""
    totals = np.zeros((len(codes), n_classes))
    rows = np.arange(len(codes))
    for place in range(codes.shape[1]):
        totals[rows, codes[:, place]] += weights[:, place]
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
    best = codes[:, -1]
    for place in reversed(range(codes.shape[1])):  # the first in the list writes last
        code = codes[:, place]
        best = np.where(totals[rows, code] == most, code, best)
    return best


def winners_by_k(codes: np.ndarray, weights: np.ndarray, n_classes: int, tie: str) -> np.ndarray:
    """Return the winners of the first 1, 2, ... neighbors, an array of the shape of codes."""
    found = np.empty(codes.shape, dtype=np.int64)
    totals = np.zeros((len(codes), n_classes))
    rows = np.arange(len(codes))
    for place in range(codes.shape[1]):
        totals[rows, codes[:, place]] += weights[:, place]
        found[:, place] = winners(totals, codes[:, : place + 1], tie)
    return found


def means_by_k(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted means of the first 1, 2, ... values of each row."""
    return np.asarray(np.cumsum(values * weights, axis=1) / np.cumsum(weights, axis=1))
