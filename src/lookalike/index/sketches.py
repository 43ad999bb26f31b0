"""Approximate search: a graph over sketches proposes rows, the measure re-ranks them exactly.

A graph over sketches belongs to encoded rows and is kept beside them, as their byte codes are. It
is never saved, but built again when an index is loaded: files are untrusted, and walking a graph
that does not fit its rows would read outside of its memory.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lookalike.kernels.lists import keep_pairs
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, kept_beside, name_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import SketchGraph, load_faiss

# Decision 21 has the measurements behind these.
MIN_ROWS = 8192  # below it an exact scan is as fast
MIN_LEAF_CODES = 2**23  # rows times trees; below it a scan of leaf codes, one byte each, is as fast
SAMPLE_QUERIES = 256  # to tune the reach by, and as many again to measure the recall
SAMPLE_NEIGHBORS = 10  # of each query
FIRST_REACH = 16  # candidates per query at first; doubled until the recall is reached
MAX_COMPARED_SHARE = 16  # an exact scan is as fast if more than one row in so many is compared
FILTER_MARGIN = 2  # times the candidates that a filter leaves on average


class Tuned(NamedTuple):
    """Approximate search of some rows, tuned on a sample.

    Parameters
    ----------
    graph : SketchGraph or None, for exact search
    reach : int, candidates per query for lists of ten
    recall : float, the share of true neighbors found on a sample that reach was not tuned on
    why : str, why rows are searched exactly; empty where they are not, or rows are few
    """

    graph: SketchGraph | None = None
    reach: int = 0
    recall: float = 1.0
    why: str = ""

    def reach_for(self, k: int) -> int:
        """Return the candidates per query for lists longer than those the reach was tuned for."""
        return self.reach * -(-k // SAMPLE_NEIGHBORS)


@dataclass(frozen=True)
class Sketches:
    """Approximate search of an index.

    Parameters
    ----------
    recall : float
        The share of the true neighbors that should be found.
    """

    recall: float

    def tuned(self, measure: Measure, rows: Rows) -> Tuned:
        """Return the graph over some rows, built and tuned at the first call."""
        name = f"_sketches_{self.recall!r}"
        return kept_beside(rows, name, lambda: self._tune(measure, rows))

    def _tune(self, measure: Measure, rows: Rows) -> Tuned:
        load_faiss("Index(approximate=True)")
        if len(rows) < MIN_ROWS:
            return Tuned()
        if (sketch := measure.sketch(rows)) is None:
            return Tuned(why=f"{type(measure).__name__} has no sketch")
        values = rows.arrays[sketch.array]
        if sketch.metric == "bits" and values.size < MIN_LEAF_CODES:
            return Tuned()
        graph = kept_beside(rows, "sketch_graph", lambda: SketchGraph(sketch, values))
        sample = np.random.default_rng(0).choice(len(rows), 2 * SAMPLE_QUERIES, replace=False)
        halves = np.sort(sample[:SAMPLE_QUERIES]), np.sort(sample[SAMPLE_QUERIES:])
        k, reach = SAMPLE_NEIGHBORS, FIRST_REACH
        true = [measure.nearest(rows[at], rows, k, exclude=at).distances for at in halves]
        while reach <= len(rows) // MAX_COMPARED_SHARE:
            tuned, recalls = Tuned(graph, reach), []
            for at, distances in zip(halves, true, strict=True):
                lists = _search(tuned, measure, rows[at], rows, k, reach, None, at, None)
                recalls.append(recall_of(lists.distances, distances))
            # That of the queries that the reach was not chosen by, so that it is unbiased.
            if min(recalls) >= self.recall:
                return tuned._replace(recall=recalls[1])
            reach *= 2
        return Tuned(why=f"a recall of {self.recall:g} was not reached on a sample of the rows")

    def nearest(
        self,
        measure: Measure,
        a: Rows,
        b: Rows,
        k: int,
        allowed: np.ndarray | None,
        exclude: np.ndarray,
        ids: np.ndarray,
    ) -> NeighborGraph | None:
        """Return unfinished lists of near rows; None where an exact scan is as fast.

        Parameters
        ----------
        measure : Measure
        a, b : Rows, the queries and the rows to be searched
        k : int
        allowed : bool per row of b, which may be listed; None: all
        exclude : int64 per query, the id that may not be listed; -1: none
        ids : int64 per row of b
        """
        tuned = self.tuned(measure, b)
        if tuned.graph is None:
            return None
        reach = tuned.reach_for(k)
        if allowed is not None:
            # Most candidates may be filtered out: enough for those that are left.
            reach = -(-FILTER_MARGIN * reach * len(b) // max(1, int(np.count_nonzero(allowed))))
        if reach * MAX_COMPARED_SHARE > len(b):
            return None
        return _search(tuned, measure, a, b, k, reach, allowed, exclude, ids)


def recall_of(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of the rows found that are as near as the last true neighbor.

    A row as near as the last of the true list is as good as that one, so ties count as found.

    Parameters
    ----------
    found, truth : distances of shape (queries, k), ascending

    Examples
    --------
    >>> import numpy as np
    >>> recall_of(np.array([[0.1, 0.3]]), np.array([[0.1, 0.2]]))
    0.5
    """
    return float((found <= truth[:, -1:]).mean())


def _search(
    tuned: Tuned,
    measure: Measure,
    a: Rows,
    b: Rows,
    k: int,
    reach: int,
    allowed: np.ndarray | None,
    exclude: np.ndarray,
    ids: np.ndarray | None,
) -> NeighborGraph:
    """Re-rank the candidates of the graph; queries with too few of them are searched exactly."""
    assert tuned.graph is not None
    barred, names, n_indexed = name_rows(a, b, exclude, ids)
    n_jobs = getattr(measure, "n_jobs", None)
    near = tuned.graph.propose(a.arrays[tuned.graph.sketch.array], reach, n_jobs)
    fits = near >= 0
    if allowed is not None:
        fits &= allowed[near]
    lists = NeighborGraph.empty(len(a), k, n_indexed, bool((barred < 0).any()))
    # A walk that met too few allowed rows may have missed nearer ones: such queries are scanned.
    enough = fits.sum(axis=1) >= max(k + 1, tuned.reach_for(k) // 2)
    fits &= enough[:, None]
    left, column = np.nonzero(fits)
    right = near[left, column]
    if len(left):
        far = measure.pair_distances(a, b, left, right)
        keep_pairs(left, names[right], far, barred, lists.distances, lists.indices)
    rest = np.flatnonzero(~enough)
    if len(rest):
        some = np.ones(len(b), bool) if allowed is None else allowed
        found = measure.nearest_among(a[rest], b, k, some, exclude=barred[rest], ids=names)
        lists.indices[rest], lists.distances[rest] = found.indices, found.distances
    return replace(lists, n_indexed=n_indexed)
