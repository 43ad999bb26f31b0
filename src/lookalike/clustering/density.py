"""Density-based clusters and noise (DBSCAN), without a matrix of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.clustering import _clustering
from lookalike.clustering._clustering import (
    Clustering,
    LabeledModel,
    Space,
    each_block,
    stream_within,
)
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, UndefinedMeasure
from lookalike.kernels import clustering
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, Integer, Real


def nearest_others(space: Space, k: int) -> NeighborGraph:
    """Return unfinished lists of the k nearest other rows of each row."""
    return space.measure.nearest(space.rows, space.rows, k, exclude=np.arange(len(space)))


def core_distances(distances: np.ndarray, needed: int) -> np.ndarray:
    """Return within what distance each row has ``needed`` rows, itself among them.

    ``distances`` are those of lists of at least ``needed - 1`` others.
    """
    return distances[:, needed - 2].copy() if needed > 1 else np.zeros(len(distances))


def density_clusters(space: Space, eps: float | None, needed: int) -> tuple[float, Clustering]:
    """Return eps, and the clusters of DBSCAN, without a matrix of all pairs.

    A row is core if at least ``needed`` rows, itself among them, are within eps. Clusters are the
    connected components of core rows within eps of each other, numbered by their first core row. A
    row that is not core joins the lowest-numbered cluster with a core row within eps; the rest is
    noise, -1. All pairs are compared once, block by block; memory grows with rows times ``needed``.

    The exemplar of a cluster is the row with the most rows within eps.

    Parameters
    ----------
    space : Space
    eps : float, optional
        None: the knee of the core distances. Sorted, they rise slowly inside clusters and steeply
        among outliers.
    needed : int

    References
    ----------
    .. [1] M. Ester, H.-P. Kriegel, J. Sander, X. Xu (1996). A density-based algorithm for
       discovering clusters in large spatial databases with noise. KDD-96, 226-231.
    """
    n = len(space)
    eps = _knee(space, needed) if eps is None else eps
    waiting = np.empty((n, max(1, min(needed, n) - 2)), dtype=np.int64)
    counts, parents, filled = np.ones(n, np.int64), np.arange(n), np.zeros(n, np.int64)

    def fold(left: np.ndarray, right: np.ndarray) -> None:
        clustering.count_close_pairs(left, right, needed, counts, parents, waiting, filled)

    stream_within(space, eps, fold, "finding dense regions")
    left, at = np.nonzero(np.arange(waiting.shape[1]) < filled[:, None])
    is_core = counts >= needed
    labels = label_rows(is_core, parents, left, waiting[left, at])
    return eps, describe(labels, is_core, -counts, eps)


def _knee(space: Space, needed: int) -> float:
    """Return the eps at the knee of the core distances."""
    n = len(space)
    if needed > n:
        hint = "Use ", Param("min_neighbors", n), ", or give ", Param("eps"), " as a number"
        who = Param("min_neighbors", needed)
        raise TooFewRows(who, f"at least {needed} rows", Param("n_samples", n), hint)
    core = core_distances(nearest_others(space, max(1, needed - 1)).distances, needed)
    known = core[np.isfinite(core)]  # infinite where too few rows can be compared
    if not len(known):
        hint = "Lower ", Param("min_neighbors"), " or give ", Param("eps"), " as a number"
        others = f"rows with {needed - 1} others to compare with"
        raise UndefinedMeasure(Param("eps", "knee"), others, "none", hint)
    return knee_of(known)


def label_rows(
    is_core: np.ndarray, parents: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Return the clusters of DBSCAN from pairs of rows within eps of each other.

    Parameters
    ----------
    is_core : bool array of n
    parents : int64 array of n, core rows of pairs that are left out joined by ``join_edges``
    left, right : int64 arrays, all other pairs, either way round
    """
    both, n = is_core[left] & is_core[right], len(is_core)
    clustering.join_edges(parents, left[both], right[both])
    labels, _ = _clustering.number_by_first_row(np.where(is_core, clustering.roots_of(parents), -1))
    # Core rows keep their number; others get the lowest of the core rows that they are near.
    number = np.where(is_core, labels, n)
    lowest = number.copy()
    np.minimum.at(lowest, left, number[right])
    np.minimum.at(lowest, right, number[left])
    return np.where(lowest < n, lowest, -1)


def describe(
    labels: np.ndarray, is_core: np.ndarray, sparsity: np.ndarray, eps: float
) -> Clustering:
    """Return a clustering with its densest core rows as exemplars, and the rule for new rows."""
    core = np.flatnonzero(is_core)
    model = WithinReach(core, labels[core], float(eps))
    return Clustering(labels, _clustering.densest_rows(labels, core, sparsity), model)


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
    who = Param("min_neighbors", min_neighbors, of="graph_density")
    if not Integer(1).fits(min_neighbors) or min_neighbors > graph.k + 1:
        hint = Phrase("Make a graph of longer lists, or lower ", Param("min_neighbors"))
        raise InvalidInput(who, f"1 to {graph.k + 1}", repr(min_neighbors), hint)
    core = core_distances(graph.distances, min_neighbors)
    if eps is None:
        eps = knee_of(core[np.isfinite(core)])
    rows, entries = np.nonzero((graph.indices >= 0) & (graph.distances <= eps))
    return label_rows(core <= eps, np.arange(len(graph)), rows, graph.indices[rows, entries])


# -- HDBSCAN ---------------------------------------------------------------------------------------
# Clusters of varying density, from a nearest-neighbor graph (HDBSCAN).

MIN_NEIGHBORS_LISTED = 30  # nearest rows of each row, searched before all others; chosen by hand
MIN_CLUSTER_ROWS = 5  # rows that make a cluster in a small table


def default_cluster_size(n: int) -> int:
    """Return the fewest of n rows that make a cluster: half the square root, at least 5.

    Noise alone makes dense spots of a few rows, and more of them the more rows there are.

    Examples
    --------
    >>> [default_cluster_size(n) for n in (30, 344, 10_000, 1_000_000)]
    [5, 9, 50, 500]
    """
    return max(MIN_CLUSTER_ROWS, round(np.sqrt(n) / 2))


def hierarchy_clusters(space: Space, needed: int, smallest: int) -> Clustering:
    """Return the clusters of HDBSCAN without a matrix of all pairs.

    The hierarchy is that of the minimum spanning tree of mutual reachability: an edge costs the
    largest of the distance and the two core distances, those to the nearest row number ``needed``
    (a row itself is number one). Most edges are found in lists of the 30 nearest rows; where a list
    does not reach far enough, the row is compared with all others, so the tree is exact.
    Clusters are cut out of it as scikit-learn's HDBSCAN does, but for equal costs (duplicate rows
    have them, and mutual reachability makes them): what meets at one cost is merged in one step, so
    that the clusters do not depend on the order of the rows.

    The exemplar of a cluster is the row with the smallest core distance.

    Parameters
    ----------
    space : Space
    needed : int
    smallest : int
        The fewest rows that make a cluster.

    References
    ----------
    .. [1] R. J. G. B. Campello, D. Moulavi, J. Sander (2013). Density-based clustering based on
       hierarchical density estimates. PAKDD 2013, 160-172. doi:10.1007/978-3-642-37456-2_14
    """
    n = len(space)
    # Fewer rows than one cluster needs, or than a core distance counts.
    most = max(needed, smallest, 2)
    if n < most:
        hint = "Lower ", Param("min_neighbors"), " and ", Param("min_cluster_size"), " or add rows"
        needed_rows = f"at least {most} rows for HDBSCAN"
        raise TooFewRows(space.who, needed_rows, Param("n_samples", n), hint)
    k = min(n - 1, max(needed - 1, MIN_NEIGHBORS_LISTED))
    lists = nearest_others(space, k)
    core = core_distances(lists.distances, needed)
    ends, others, costs = _tree(space, lists.indices, lists.distances, core)
    labels, _ = _clustering.number_by_first_row(_cut(ends, others, costs, smallest))
    members = np.flatnonzero(labels >= 0)
    exemplars = _clustering.densest_rows(labels, members, core)
    # The longest edge of the tree inside a cluster: new rows may be no farther away.
    inside = (labels[ends] == labels[others]) & (labels[ends] >= 0)
    reach = np.zeros(len(exemplars))
    np.maximum.at(reach, labels[ends[inside]], costs[inside])
    model = MutualReach(members, labels[members], core[members], reach)
    return Clustering(labels, exemplars, model)


def _tree(
    space: Space, lists: np.ndarray, gaps: np.ndarray, core: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges of the minimum spanning tree: ends, other ends, costs.

    Every part takes its cheapest way out, and parts merge, until one is left (Boruvka). What a row
    has found stays a lower bound when its target joins its own part, so that few rows have to be
    compared with all others again.
    """
    n, k = lists.shape
    # Lower bound of the cost of a way to any row outside the list: it is no nearer than the last
    # listed row, and costs at least the own core distance.
    floor = np.maximum(gaps[:, -1], core) if k < n - 1 else np.full(n, np.inf)
    parents, parts = np.arange(n), np.arange(n)
    cost, target = np.empty(n), np.empty(n, dtype=np.int64)
    stale = np.ones(n, dtype=np.bool_)
    edges_found = []

    def fold(down: slice, across: slice, block: np.ndarray) -> None:
        clustering.cheapest_edges_of_block(
            block, unsure[down], across.start, core, parts, cost, target
        )

    while parts.any():  # the root of the whole is row 0
        rows = np.flatnonzero(stale)
        cost[rows], target[rows] = _cheapest_listed(rows, lists[rows], gaps[rows], core, parts)
        known = cost <= floor  # no row outside the list can be nearer
        best = np.full(n, np.inf)
        np.minimum.at(best, parts, cost)
        # Only a row whose bound is below the best of its part can change the part's cheapest way.
        unsure = np.flatnonzero(~known & (floor < best[parts]))
        each_block(space.measure, space.rows[unsure], space.rows, fold, "joining parts")
        floor[unsure] = cost[unsure]
        # The cheapest way out of each part. Ties are broken by position, so that the tree is the
        # same every time.
        order = np.lexsort((target, np.arange(n), cost, parts))
        ends = order[np.unique(parts[order], return_index=True)[1]]
        if not np.isfinite(cost[ends]).all():
            lost = int(ends[~np.isfinite(cost[ends])][0])
            needed = "rows that can all be compared, if only by way of others"
            hint = ("Drop such rows, or use ", Param("method", "density"), ", where they are noise")
            raise UndefinedMeasure(space.who, needed, f"row {lost} without a way to others", hint)
        # Cheapest first, as Kruskal does: of two parts that chose each other one edge is dropped.
        ends = ends[np.lexsort((target[ends], ends, cost[ends]))]
        ends = ends[clustering.join_edges(parents, ends, target[ends])]
        edges_found.append((ends, target[ends], cost[ends]))
        parts = clustering.roots_of(parents)
        # A way that now leads into the own part has to be searched again; its cost stays a bound.
        stale = parts == parts[np.maximum(target, 0)]
        floor[stale] = np.maximum(floor[stale], np.where(known[stale], cost[stale], 0.0))
    ends, others, costs = (np.concatenate(side) for side in zip(*edges_found, strict=True))
    return ends, others, costs


def _cheapest_listed(
    rows: np.ndarray, lists: np.ndarray, gaps: np.ndarray, core: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost of the cheapest way from each row to a listed one of another part, and to.

    Infinite, to -1, where no listed row is in another part; ties go to the lower row.
    """
    costs = np.maximum(gaps, np.maximum(core[rows, None], core[lists]))
    costs[(lists < 0) | (parts[lists] == parts[rows, None])] = np.inf
    least = costs.min(axis=1)
    target = np.where(costs == least[:, None], lists, len(parts)).min(axis=1)
    return least, np.where(least < np.inf, target, -1)


def _cut(ends: np.ndarray, others: np.ndarray, costs: np.ndarray, smallest: int) -> np.ndarray:
    """Return labels of the clusters that last longest in a spanning tree (excess of mass).

    Parts of one cost are joined in one step, and a part too small to be a cluster that
    meets two clusters there is noise. Pair by pair, as scikit-learn has it, the part would belong
    to the cluster it is joined with first: mutual reachability has many equal costs, and the order
    among them is that of the rows.
    """
    order = np.argsort(costs, kind="stable")
    costs = costs[order]
    # Clusters are weighed by 1 / cost: a cost of 0 is replaced by a billionth of the smallest.
    positive = costs[costs > 0]
    costs = np.maximum(costs, positive[0] * 1e-9 if len(positive) else 1.0)
    above, sizes = _dendrogram(ends[order], others[order])
    n = len(costs) + 1
    within, left_at, parents, born = _condense(above, sizes, n, 1.0 / costs, smallest)
    return _longest(within, left_at, parents, born)[within]


def _dendrogram(ends: np.ndarray, others: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the node above each node, and its number of rows: rows first, then edges in order."""
    n = len(ends) + 1
    above, roots, sizes = (list(range(2 * n - 1)) for _ in range(3))
    sizes[:n] = [1] * n
    for node, (a, b) in enumerate(zip(ends.tolist(), others.tolist(), strict=True), n):
        for i in (a, b):
            while roots[i] != i:
                roots[i] = roots[roots[i]]  # path halving: later look-ups are shorter
                i = roots[i]
            roots[i] = above[i] = node
        sizes[node] = 0
    for node in range(2 * n - 2):
        sizes[above[node]] += sizes[node]
    return above, sizes


def _condense(
    above: list[int], sizes: list[int], n: int, density: np.ndarray, smallest: int
) -> tuple[np.ndarray, np.ndarray, list[int], list[float]]:
    """Follow clusters from the root: a cluster ends where it splits into two or more.

    Returns the cluster of each row, the density (1 / cost) at which the row leaves it, and for each
    cluster its parent and the density at which it begins; cluster 0 is that of all rows.
    """
    root = 2 * n - 2
    at = [0.0] * n + density.tolist()  # rows are no parts of a level
    # A node of the cost of the one above is the same node: its children are those of the other.
    same, large = list(range(2 * n - 1)), [0] * (2 * n - 1)
    for node in range(root - 1, -1, -1):
        same[node] = same[above[node]] if at[node] == at[above[node]] else node
        large[same[above[node]]] += same[node] == node and sizes[node] >= smallest
    cluster, left = [0] * (2 * n - 1), [-1.0] * (2 * n - 1)
    parents, born = [0], [0.0]
    for node in range(root - 1, -1, -1):
        up = same[above[node]]
        if same[node] != node:
            continue
        cluster[node], left[node] = cluster[up], left[up]
        if left[up] >= 0.0:
            continue
        if sizes[node] < smallest:
            left[node] = at[up]
        elif large[up] > 1:
            cluster[node] = len(parents)
            parents.append(cluster[up])
            born.append(at[up])
    return np.array(cluster[:n]), np.array(left[:n]), parents, born


def _longest(
    within: np.ndarray, left_at: np.ndarray, parents: list[int], born: list[float]
) -> np.ndarray:
    """Return for each cluster the one to report it as: itself, one that it is part of, or -1."""
    k = len(parents)
    begun, over = np.array(born), np.array(parents)
    rows = np.bincount(within, minlength=k)
    for c in range(k - 1, 0, -1):
        rows[over[c]] += rows[c]
    # Sorted, so that the sums, and with them close decisions, do not depend on the order of rows.
    into = np.concatenate([within, over[1:]])
    mass = np.concatenate([left_at - begun[within], (begun[1:] - begun[over[1:]]) * rows[1:]])
    order = np.lexsort((mass, into))
    stability = np.bincount(into[order], mass[order], k)
    below: list[list[float]] = [[] for _ in range(k)]
    chosen = np.zeros(k, dtype=np.bool_)
    for c in range(k - 1, 0, -1):
        parts = sum(sorted(below[c]))
        chosen[c] = stability[c] >= parts
        below[over[c]].append(max(float(stability[c]), parts))
    report = np.full(k, -1)
    for c in range(1, k):  # from the root: a chosen cluster takes all that it splits into
        inherited = report[over[c]]
        report[c] = inherited if inherited >= 0 or not chosen[c] else c
    return report


@saveable
@dataclass(frozen=True, eq=False)
class MutualReach(LabeledModel):
    """A new row joins the cluster of the row it reaches most cheaply, unless that is too far.

    Reaching a row costs the larger of the distance to it and its own core distance; it may be no
    more than the longest step inside the cluster. Else the new row is noise.
    """

    FIELDS: ClassVar[Fields] = {
        "labels": Array("int64", "positions", low=0, below="clusters"),
        "core": Array("float64", "positions", low=0.0, finite=True),
        "reach": Array("float64", "clusters", low=0.0, finite=True),
    }

    MIN_CLUSTERS = 0  # all rows may be noise

    core: np.ndarray
    reach: np.ndarray

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        best, label = np.full(len(new), np.inf), np.full(len(new), -1)

        def fold(down: slice, across: slice, block: np.ndarray) -> None:
            np.maximum(block, self.core[across], out=block)
            block[np.isnan(block)] = np.inf
            cheapest = block.argmin(axis=1)
            cost = block[np.arange(len(block)), cheapest]
            better = cost < best[down]  # strictly: of equal costs the lower position wins
            best[down][better] = cost[better]
            label[down][better] = self.labels[across][cheapest][better]

        each_block(measure, new, rows[self.positions], fold, "finding dense regions")
        # Noise is decided after the nearest member is known: the limit is that of its cluster.
        near = label >= 0
        near[near] = best[near] <= self.reach[label[near]]
        return np.where(near, label, -1)
