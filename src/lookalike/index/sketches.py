"""Approximate search: sketches propose rows, the measure compares them, a sample says how well.

A graph over sketches belongs to encoded rows and is kept beside them, as their byte codes are: it
is made once, never saved (a file may come from anywhere, and a graph that does not fit its rows
would be walked out of its memory), and made again when an index is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lookalike.kernels.lists import keep_pairs
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, kept_beside, name_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import SketchGraph, load_faiss

LEAST = 8192  # rows below which looking at everything is as quick
LEAVES = 2**23  # leaf codes, rows times trees, below which it is: bytes are compared very fast
SAMPLE = 256  # rows asked to find out how far to reach, and as many again to say how good that is
ASKED = 10  # neighbors of each that should be found
FIRST = 16  # rows kept in sight at first; doubled until the sample is found
SHARE = 16  # more than one row in so many to be compared: looking at everything is as quick
AMPLE = 2  # times the rows that a filter would leave on average are proposed under it


class Tuned(NamedTuple):
    """What approximate search comes to for some rows.

    Parameters
    ----------
    graph : SketchGraph or None, where everything is looked at
    reach : int, rows kept in sight for lists of ten
    recall : float, the share of true neighbors found for a sample that reach was not chosen by
    why : str, why everything is looked at; empty where it is not, or rows are few
    """

    graph: SketchGraph | None = None
    reach: int = 0
    recall: float = 1.0
    why: str = ""


@dataclass(frozen=True)
class Sketches:
    """How an index that may miss a row is searched.

    Parameters
    ----------
    recall : float
        The share of the true neighbors that should be found.
    """

    recall: float

    def tuned(self, measure: Measure, rows: Rows) -> Tuned:
        """Return the graph over some rows, made and tuned at the first call."""
        name = f"_sketches_{self.recall!r}"
        return kept_beside(rows, name, lambda: self._tune(measure, rows))

    def _tune(self, measure: Measure, rows: Rows) -> Tuned:
        load_faiss("Index(approximate=True)")
        if len(rows) < LEAST:
            return Tuned()
        sketch = measure.sketch(rows)
        if sketch is None:
            return Tuned(why=f"{type(measure).__name__} has no sketch")
        values = rows.arrays[sketch.array]
        if sketch.metric == "bits" and values.size < LEAVES:
            return Tuned()
        graph = kept_beside(rows, "sketch_graph", lambda: SketchGraph(sketch, values))
        sample = np.random.default_rng(0).choice(len(rows), 2 * SAMPLE, replace=False)
        chosen, judged = np.sort(sample[:SAMPLE]), np.sort(sample[SAMPLE:])
        truth = [
            measure.nearest(rows[at], rows, ASKED, exclude=at).distances for at in (chosen, judged)
        ]
        reach, most = FIRST, len(rows) // SHARE
        while reach <= most:
            tuned = Tuned(graph, reach)
            if self._found(tuned, measure, rows, chosen, truth[0]) >= self.recall:
                recall = self._found(tuned, measure, rows, judged, truth[1])
                if recall >= self.recall:
                    return tuned._replace(recall=recall)
            reach *= 2
        return Tuned(why=f"a recall of {self.recall:g} was not reached on a sample of the rows")

    def _found(
        self, tuned: Tuned, measure: Measure, rows: Rows, at: np.ndarray, truth: np.ndarray
    ) -> float:
        found = _search(tuned, measure, rows[at], rows, ASKED, tuned.reach, None, at, None)
        return recall_of(found.distances, truth)

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
        """Return unfinished lists of near rows; None where everything should be looked at.

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
        reach = _reach(tuned, k)
        if allowed is not None:
            reach = -(-AMPLE * reach * len(b) // max(1, int(np.count_nonzero(allowed))))
        if reach * SHARE > len(b):
            return None
        return _search(tuned, measure, a, b, k, reach, allowed, exclude, ids)


def recall_of(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of lists that is as near as the true lists reach.

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


def _reach(tuned: Tuned, k: int) -> int:
    """Return how many rows to keep in sight for longer lists than those it was tuned for."""
    return tuned.reach * -(-k // ASKED)


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
    """Compare what the graph proposes; queries for which that is too little look at everything."""
    assert tuned.graph is not None
    barred, names, n_indexed = name_rows(a, b, exclude, ids)
    n_jobs = getattr(measure, "n_jobs", None)
    near = tuned.graph.propose(a.arrays[tuned.graph.sketch.array], reach, n_jobs)
    fits = near >= 0
    if allowed is not None:
        fits &= allowed[near]
    lists = NeighborGraph.empty(len(a), k, n_indexed, bool((barred < 0).any()))
    # A walk that met too few rows that may be listed says nothing about the others.
    enough = fits.sum(axis=1) >= max(k + 1, _reach(tuned, k) // 2)
    fits &= enough[:, None]
    left, at = np.nonzero(fits)
    right = near[left, at]
    if len(left):
        far = measure.pair_distances(a, b, left, right)
        keep_pairs(left, names[right], far, barred, lists.distances, lists.indices)
    rest = np.flatnonzero(~enough)
    if len(rest):
        some = np.ones(len(b), bool) if allowed is None else allowed
        found = measure.nearest_among(a[rest], b, k, some, exclude=barred[rest], ids=names)
        lists.indices[rest], lists.distances[rest] = found.indices, found.distances
    return replace(lists, n_indexed=n_indexed)
