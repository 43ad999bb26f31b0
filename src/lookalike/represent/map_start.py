"""Where a map begins: rows seen from a few landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.kernels.layout import count_hops
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows

LANDMARKS = 120  # rows that all others are compared with
PIVOTS = 40  # the same for a graph, where each costs a walk over all of it


def similarity_features(measure: Measure, rows: Rows, rng: np.random.Generator) -> np.ndarray:
    """Return the similarities of rows to some of them, drawn at random."""
    n = len(rows)
    at = np.sort(rng.choice(n, LANDMARKS, replace=False)) if n > LANDMARKS else np.arange(n)
    what = "comparing with landmarks"
    return rectangle(measure, rows, rows[at], "similarity", undefined="half", what=what)


def hop_features(graph: Any) -> np.ndarray:
    """Return coordinates of the rows of a connected graph: hops to pivots, doubly centered.

    Pivot MDS (Brandes and Pich 2007, doi:10.1007/978-3-540-70904-6_6); each pivot is the row
    farthest from those before it, the first the one with the most edges.

    Parameters
    ----------
    graph : CSR matrix of shape (n, n), symmetric
    """
    n = graph.shape[0]
    starts, near = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    hops, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    nearest = np.full(n, n, dtype=np.int64)
    pivot = int(np.diff(starts).argmax())
    squares = np.empty((n, min(PIVOTS, n)))
    for at in range(squares.shape[1]):
        count_hops(starts, near, pivot, hops, queue)
        squares[:, at] = np.square(hops.astype(np.float64))
        nearest = np.minimum(nearest, hops)
        pivot = int(nearest.argmax())
    return -(squares - squares.mean(axis=1, keepdims=True)) / 2


def principal_plane(features: np.ndarray) -> np.ndarray:
    """Return the first two principal components of some rows; signs are fixed.

    Parameters
    ----------
    features : float array of shape (n, m)

    Returns
    -------
    float array of shape (n, 2)
    """
    centered = features - features.mean(axis=0)
    vectors = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(len(largest))] < 0, -1.0, 1.0)
    plane = np.zeros((len(features), 2))
    plane[:, : vectors.shape[1]] = centered @ vectors
    return plane
