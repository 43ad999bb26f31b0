"""Density-based clusters and noise (DBSCAN), without a matrix of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.clustering._clustering import Clustering, LabeledModel, densest_rows
from lookalike.clustering._space import Space, each_block, stream_within
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, UndefinedMeasure
from lookalike.kernels.clustering import count_close_pairs, write_labels
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Fields, Integer, Real


def density_clusters(space: Space, eps: float, needed: int) -> Clustering:
    """Return the clusters of DBSCAN without a matrix of all pairs.

    A row is core if at least ``needed`` rows, itself among them, are within eps. Clusters are the
    connected components of core rows within eps of each other, numbered by their first core row. A
    row that is not core joins the lowest-numbered cluster with a core row within eps; the rest is
    noise, -1. All pairs are compared once, block by block; memory grows with rows times ``needed``.

    The exemplar of a cluster is the row with the most rows within eps.

    Parameters
    ----------
    space : Space
    eps : float
    needed : int

    References
    ----------
    .. [1] M. Ester, H.-P. Kriegel, J. Sander, X. Xu (1996). A density-based algorithm for
       discovering clusters in large spatial databases with noise. KDD-96, 226-231.
    """
    grower = _Grower(len(space), needed)
    stream_within(space, eps, grower.count_close_pairs, "finding dense regions")
    return describe(grower.labels(), grower.counts >= needed, -grower.counts, eps)


class _Grower:
    """DBSCAN while pairs within eps arrive in any order: counts of neighbors, and a union-find.

    A row that is not core yet keeps the rows it has met, at most ``needed - 2``: one more makes it
    core, and it joins them then. So no pair is needed twice, and memory stays rows times needed.
    """

    def __init__(self, n: int, needed: int) -> None:
        self.needed = needed
        self.counts = np.ones(n, dtype=np.int64)  # a row is within eps of itself
        waiting = np.empty((n, max(1, min(needed, n) - 2)), dtype=np.int64)
        self.state = self.counts, np.arange(n), waiting, np.zeros(n, dtype=np.int64)

    def count_close_pairs(self, left: np.ndarray, right: np.ndarray) -> None:
        """Add pairs of rows that are within eps of each other, each pair once."""
        count_close_pairs(left, right, self.needed, *self.state)

    def labels(self) -> np.ndarray:
        """Return the clusters, numbered by their first core row, and -1 for noise."""
        labels = np.empty(len(self.counts), dtype=np.int64)
        write_labels(self.needed, *self.state, labels)
        return labels


def describe(
    labels: np.ndarray, is_core: np.ndarray, sparsity: np.ndarray, eps: float
) -> Clustering:
    """Return a clustering with its densest core rows as exemplars, and the rule for new rows."""
    core = np.flatnonzero(is_core)
    exemplars = densest_rows(labels, core, sparsity)
    return Clustering(labels, exemplars, WithinReach(core, labels[core], float(eps)))


@saveable
@dataclass(frozen=True, eq=False)
class WithinReach(LabeledModel):
    """A new row joins the lowest-numbered cluster with a core row within eps, else it is noise."""

    FIELDS: ClassVar[Fields] = {"eps": Real(0.0, nan=True)}

    MIN_CLUSTERS = 0  # all rows may be noise

    eps: float

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        none = self.n_labels
        lowest = np.full(len(new), none)

        def fold(down: slice, across: slice, block: np.ndarray) -> None:
            # Compared with <=, a pair with nothing to compare (NaN) is never within eps.
            near = np.where(block <= self.eps, self.labels[across], none)
            np.minimum(lowest[down], near.min(axis=1), out=lowest[down])

        each_block(measure, new, rows[self.positions], fold, "finding dense regions")
        return np.where(lowest < none, lowest, -1)


def knee(space: Space, needed: int) -> float:
    """Return the eps at the knee of the distances to the nearest row number ``needed``.

    A row counts itself as number one. Sorted, the distances rise slowly inside clusters and steeply
    among outliers.
    """
    n = len(space)
    if needed > n:
        hint = "Use ", Param("min_neighbors", n), ", or give ", Param("eps"), " as a number"
        who = Param("min_neighbors", needed)
        raise TooFewRows(who, f"at least {needed} rows", Param("n_samples", n), hint)
    # A row is its own nearest: the distance to it is 0, and so is every value of the curve.
    if needed == 1:
        return 0.0
    lists = space.measure.nearest(space.rows, space.rows, needed - 1, exclude=np.arange(n))
    reach = lists.distances[:, -1]  # core distances: infinite where too few rows can be compared
    if not np.isfinite(reach).any():
        hint = "Lower ", Param("min_neighbors"), " or give ", Param("eps"), " as a number"
        others = f"rows with {needed - 1} others to compare with"
        raise UndefinedMeasure(Param("eps", "knee"), others, "none", hint)
    return knee_of(reach[np.isfinite(reach)])


def knee_of(reach: np.ndarray) -> float:
    """Return the value farthest below the line from the smallest to the largest; ties: smaller."""
    values = np.sort(reach)
    span = values[-1] - values[0]
    # All equal: no knee, and 0 / 0 below.
    if span == 0:
        return float(values[0])
    # Both axes scaled to [0, 1], as the Kneedle algorithm does: the knee does not depend on units.
    below = np.linspace(0.0, 1.0, len(values)) - (values - values[0]) / span
    return float(values[int(below.argmax())])


def graph_density(
    graph: NeighborGraph, eps: float | None = None, min_neighbors: int = 5
) -> np.ndarray:
    """Return a cluster for every row of a neighbor graph, -1 for noise.

    Which rows are core is that of DBSCAN exactly, since lists of ``min_neighbors - 1`` decide it.
    Clusters are the components of core rows that are within eps in one of their two lists. With
    lists longer than any row has rows within eps the clusters are those of DBSCAN; with shorter
    ones a cluster may be split into several.

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
    # The core distance is the entry min_neighbors - 1 of a list that leaves out the row itself.
    who = Param("min_neighbors", min_neighbors, of="graph_density")
    if not Integer(1).fits(min_neighbors) or min_neighbors > graph.k + 1:
        hint = Phrase("Make a graph of longer lists, or lower ", Param("min_neighbors"))
        raise InvalidInput(who, f"1 to {graph.k + 1}", repr(min_neighbors), hint)
    if eps is None:
        reach = graph.distances[:, max(0, min_neighbors - 2)]
        eps = knee_of(reach[np.isfinite(reach)]) if min_neighbors > 1 else 0.0
    n = len(graph)
    near = (graph.indices >= 0) & (graph.distances <= eps)
    rows = np.repeat(np.arange(n), near.sum(axis=1))
    others = graph.indices[near]
    # A pair that is in both lists counts once.
    pairs = np.unique(np.minimum(rows, others) * n + np.maximum(rows, others))
    grower = _Grower(n, min_neighbors)
    grower.count_close_pairs(*np.divmod(pairs, n))
    return grower.labels()
