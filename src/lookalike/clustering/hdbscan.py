"""Clusters of varying density, from a nearest-neighbor graph (HDBSCAN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike.clustering._clustering import (
    Clustering,
    LabeledModel,
    densest_rows,
    number_by_first_row,
)
from lookalike.clustering._space import Space, each_block
from lookalike.errors import Param, TooFewRows, UndefinedMeasure
from lookalike.kernels.clustering import (
    cheapest_edges_of_block,
    cheapest_edges_of_lists,
    join_edges,
    roots_of,
)
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields

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
    lists = space.measure.nearest(space.rows, space.rows, k, exclude=np.arange(n))
    # Lists leave out the row itself, which counts as number one.
    core = lists.distances[:, needed - 2].copy() if needed > 1 else np.zeros(n)
    ends, others, costs = _tree(space, lists.indices, lists.distances, core)
    labels, _ = number_by_first_row(_cut(ends, others, costs, smallest))
    members = np.flatnonzero(labels >= 0)
    exemplars = densest_rows(labels, members, core)
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
    while parts.any():  # the root of the whole is row 0
        cheapest_edges_of_lists(lists, gaps, core, parts, stale, cost, target)
        known = cost <= floor  # no row outside the list can be nearer
        best = np.full(n, np.inf)
        np.minimum.at(best, parts, cost)
        # Only a row whose bound is below the best of its part can change the part's cheapest way.
        unsure = np.flatnonzero(~known & (floor < best[parts]))
        _compare_with_all(space, unsure, core, parts, cost, target)
        floor[unsure] = cost[unsure]
        edges = _cheapest(parts, cost, target)
        if not np.isfinite(edges[2]).all():
            lost = int(edges[0][~np.isfinite(edges[2])][0])
            needed = "rows that can all be compared, if only by way of others"
            hint = ("Drop such rows, or use ", Param("method", "density"), ", where they are noise")
            raise UndefinedMeasure(space.who, needed, f"row {lost} without a way to others", hint)
        edges_found.append(_join(parents, *edges))
        parts = roots_of(parents)
        # A way that now leads into the own part has to be searched again; its cost stays a bound.
        stale = parts == parts[np.maximum(target, 0)]
        floor[stale] = np.maximum(floor[stale], np.where(known[stale], cost[stale], 0.0))
    ends, others, costs = (np.concatenate(side) for side in zip(*edges_found, strict=True))
    return ends, others, costs


def _compare_with_all(
    space: Space,
    rows: np.ndarray,
    core: np.ndarray,
    parts: np.ndarray,
    cost: np.ndarray,
    target: np.ndarray,
) -> None:
    """Find the cheapest ways out of some rows by comparing them with every row."""

    def fold(down: slice, across: slice, block: np.ndarray) -> None:
        cheapest_edges_of_block(block, rows[down], across.start, core, parts, cost, target)

    each_block(space.measure, space.rows[rows], space.rows, fold, "joining parts")


def _cheapest(
    parts: np.ndarray, cost: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cheapest way out of each part, as rows, targets and costs; ties: lower rows."""
    # Ties are broken by position, so that the tree is the same every time.
    order = np.lexsort((target, np.arange(len(parts)), cost, parts))
    first = order[np.unique(parts[order], return_index=True)[1]]
    return first, target[first], cost[first]


def _join(
    parents: np.ndarray, ends: np.ndarray, others: np.ndarray, costs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join along the cheapest edges first; return those that joined two parts."""
    # Cheapest first, as Kruskal does: of two parts that chose each other one edge is dropped.
    order = np.lexsort((others, ends, costs))
    ends, others, costs = ends[order], others[order], costs[order]
    kept = np.zeros(len(ends), dtype=np.bool_)
    join_edges(parents, ends, others, kept)
    return ends[kept], others[kept], costs[kept]


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
