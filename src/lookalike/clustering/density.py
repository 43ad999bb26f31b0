"""Clusters are where rows lie dense; the rest is noise (DBSCAN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.clustering._clustering import Clustering
from lookalike.clustering._space import WIDE, Space, each_part, stream_within
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, UndefinedMeasure
from lookalike.kernels.clustering import absorb, write_labels
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, Integer, Real, require


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
    n = len(space)
    counts, parents = np.ones(n, dtype=np.int64), np.arange(n)
    waiting = np.empty((n, max(1, min(needed, n) - 2)), dtype=np.int64)
    filled = np.zeros(n, dtype=np.int64)

    def fold(left: np.ndarray, right: np.ndarray) -> None:
        absorb(left, right, needed, counts, parents, waiting, filled)

    stream_within(space, eps, fold, "finding dense regions")
    labels = np.empty(n, dtype=np.int64)
    found = write_labels(needed, counts, parents, waiting, filled, labels)
    return describe(labels, counts >= needed, counts, int(found), eps)


def describe(
    labels: np.ndarray, is_core: np.ndarray, density: np.ndarray, found: int, eps: float
) -> Clustering:
    """Return a clustering with its densest rows as exemplars, and the rule for new rows."""
    core = np.flatnonzero(is_core)
    # Sorted by label, then from dense to thin, then by position: the first of each is wanted.
    order = core[np.lexsort((core, -density[core], labels[core]))]
    exemplars = order[np.searchsorted(labels[order], np.arange(found))]
    return Clustering(labels, exemplars, WithinReach(core, labels[core], float(eps)))


@saveable
@dataclass(frozen=True, eq=False)
class WithinReach:
    """A new row joins the lowest-numbered cluster with a core row within eps, else it is noise."""

    FIELDS: ClassVar[Fields] = {
        "core": Array("int64", "core", low=0),
        "labels": Array("int64", "core", low=-1),
        "eps": Real(0.0, nan=True),
    }

    core: np.ndarray
    labels: np.ndarray
    eps: float

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        none = int(self.labels.max(initial=-1)) + 1
        lowest = np.full(len(new), none)

        def one(down: slice) -> None:
            for across in blocks(len(self.core), WIDE):
                block = measure.block(new[down], rows[self.core[across]])
                near = np.where(block <= self.eps, self.labels[across], none)
                np.minimum(lowest[down], near.min(axis=1), out=lowest[down])

        each_part(measure, len(new), one, "finding dense regions")
        return np.where(lowest < none, lowest, -1)

    def check_rows(self, n: int, n_clusters: int) -> None:
        """Refuse a loaded model that names other rows or clusters than there are."""
        known = self.core.max(initial=-1) < n and self.labels.max(initial=-1) < n_clusters
        require(known, "WithinReach", f"rows below {n}", "others")


def knee(space: Space, needed: int) -> float:
    """Return the eps at the knee of the distances to the nearest row number ``needed``.

    A row counts itself as number one. Sorted, the distances rise slowly inside clusters and steeply
    among outliers.
    """
    n = len(space)
    if needed > n:
        raise TooFewRows(
            Param("min_neighbors", needed),
            f"at least {needed} rows",
            Param("n_samples", n),
            ("Use ", Param("min_neighbors", n), ", or give ", Param("eps"), " as a number"),
        )
    if needed == 1:
        return 0.0
    lists = space.measure.nearest(space.rows, space.rows, needed - 1, exclude=np.arange(n))
    reach = lists.distances[:, -1]
    if not np.isfinite(reach).any():
        raise UndefinedMeasure(
            Param("eps", "knee"),
            f"rows with {needed - 1} others to compare with",
            "none",
            ("Lower ", Param("min_neighbors"), " or give ", Param("eps"), " as a number"),
        )
    return knee_of(reach[np.isfinite(reach)])


def knee_of(reach: np.ndarray) -> float:
    """Return the value farthest below the line from the smallest to the largest; ties: smaller."""
    values = np.sort(reach)
    span = values[-1] - values[0]
    if span == 0:
        return float(values[0])
    below = np.linspace(0.0, 1.0, len(values)) - (values - values[0]) / span
    return float(values[int(below.argmax())])


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
