"""Dense regions of a neighbor graph: DBSCAN of the pairs that stand in somebody's list."""

from __future__ import annotations

import numpy as np

from lookalike.clustering.density import knee_of
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.kernels.clustering import absorb, write_labels
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Integer


def graph_density(
    graph: NeighborGraph, eps: float | None = None, min_neighbors: int = 5
) -> np.ndarray:
    """Return a cluster for every row of a neighbor graph, -1 for noise.

    Which rows are core is that of DBSCAN exactly, since lists of ``min_neighbors - 1`` decide it.
    Clusters are the components of core rows that stand within eps in one of their two lists. With
    lists longer than any row has rows within eps the clusters are those of DBSCAN; with shorter
    ones a cluster may come out as several.

    Parameters
    ----------
    graph : NeighborGraph of rows among themselves, without themselves
    eps : float, optional
        None: the knee of the distances to the neighbor that makes a row core.
    min_neighbors : int
        Rows within eps, itself among them, that make a row core; at most one more than the length
        of the lists.

    Examples
    --------
    >>> from lookalike.clustering import graph_density
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [9.0], [9.1], [9.2]]
    >>> graph_density(Vector().fit(rows).neighbors(k=3), eps=0.15, min_neighbors=2)
    array([ 0,  0,  0, -1,  1,  1,  1])
    """
    who = Param("min_neighbors", min_neighbors, of="graph_density")
    if not Integer(1).fits(min_neighbors) or min_neighbors > graph.k + 1:
        hint = Phrase("Make a graph of longer lists, or lower ", Param("min_neighbors"))
        raise InvalidInput(who, f"1 to {graph.k + 1}", repr(min_neighbors), hint)
    if eps is None:
        reach = graph.distances[:, max(0, min_neighbors - 2)]
        eps = knee_of(reach[np.isfinite(reach)]) if min_neighbors > 1 else 0.0
    n = len(graph)
    near = (graph.indices >= 0) & (graph.distances <= eps)
    one = np.repeat(np.arange(n), near.sum(axis=1))
    other = graph.indices[near]
    # A pair that stands in both lists counts once.
    pairs = np.unique(np.minimum(one, other) * n + np.maximum(one, other))
    left, right = np.divmod(pairs, n)
    counts, parents = np.ones(n, np.int64), np.arange(n)
    waiting = np.empty((n, max(1, min(min_neighbors, n) - 2)), np.int64)
    filled, labels = np.zeros(n, np.int64), np.empty(n, np.int64)
    absorb(left, right, min_neighbors, counts, parents, waiting, filled)
    write_labels(min_neighbors, counts, parents, waiting, filled, labels)
    return labels
