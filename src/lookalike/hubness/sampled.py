"""Mutual proximity of the pairs in a neighbor graph, from moments of distances to a sample."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.hubness.reducer import keep_best
from lookalike.hubness.survival import gauss_survival
from lookalike.neighbors.graph import NeighborGraph

TALL = 65_536  # lists that are re-ranked together


def mutual_proximity_graph(
    graph: NeighborGraph, mean: np.ndarray, sd: np.ndarray, k: int
) -> NeighborGraph:
    """Return the lists of a graph re-ranked by mutual proximity, independent Gauss model.

    What ``rescale`` returns for a fitted ``MutualProximity(..., "gauss_independent", sample=...)``
    with these moments, without the rows in memory.

    Parameters
    ----------
    graph : NeighborGraph of rows among themselves
    mean, sd : float64 per row, of its distances to the sample
    k : int, length of the new lists
    """
    lists = NeighborGraph.empty(len(graph), k, graph.n_indexed, graph.has_self)
    for at in blocks(len(graph), TALL):
        near, d = graph.indices[at], graph.distances[at].copy()
        d[near < 0] = np.nan
        own = gauss_survival(d, mean[at][:, None], sd[at][:, None])
        far = 1.0 - own * gauss_survival(d, mean[near], sd[near])
        far[near < 0] = np.inf
        part = lists[at]
        keep_best(far, near, part)
    return lists
