"""Exact kNN of mixed columns in a tree of boxes, where boxes rule out most rows.

Fewer than about fifteen columns, or columns that depend on each other. How much boxes rule out is
tried on a sample first; elsewhere byte codes or brute force are quicker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.kernels.boxes import LEAF_ROWS, nearest_in_boxes, widest
from lookalike.neighbors.graph import NeighborGraph

Plan = tuple[np.ndarray, ...]  # as ``widest`` takes it
MIN_QUERIES, MIN_ROWS = 256, 512  # below, making a tree does not pay; chosen by hand
MAX_COLUMNS = 16  # of twenty, all rows were compared: not worth a trial
# Rows and queries of a first trial; of more rows one in so many.
MIN_SAMPLE_ROWS, ROWS_PER_SAMPLED, SAMPLE_QUERIES = 4096, 16, 32
# Comparing a row of a leaf takes as long as ten by byte codes, but the share of rows that are
# compared falls with their number: of ten columns .4 of 4,000 rows, .02 of 100,000.
MAX_SHARE_COMPARED = 0.5
QUERIES_PER_TASK = 256


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rows in the order of a tree, and its boxes; see ``kernels.boxes``.

    Parameters
    ----------
    columns : float64 (columns, rows)
    order : int64, the position of each row
    low, high : float64 (boxes, columns)
    """

    columns: np.ndarray
    order: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def make(cls, rows: np.ndarray, plan: Plan) -> Boxes:
        """Split rows, float64 (rows, columns); another weight of columns needs no other tree."""
        n, rows = len(rows), np.ascontiguousarray(rows)
        depth = max(0, int(np.ceil(np.log2(max(1, n) / LEAF_ROWS))))
        order, keys = np.arange(n), np.where(np.isnan(rows.T), np.inf, rows.T)
        for d in range(depth):
            for i in range(1 << d):
                begin, end = i * n >> d, (i + 1) * n >> d
                part, middle = order[begin:end], ((2 * i + 1) * n >> d + 1) - begin
                key = keys[widest(rows, part, plan), part]
                order[begin:end] = part[np.argpartition(key, middle - 1)]
        # Boxes of the leaves, then each of the two below it; a missing cell leaves it unbounded.
        columns, leaves = np.ascontiguousarray(rows[order].T), (1 << depth) - 1
        starts, gaps = np.arange(1 << depth) * n >> depth, np.isnan(columns)
        low, high = np.empty((2, 2 * leaves + 1, len(columns)))
        low[leaves:] = np.minimum.reduceat(np.where(gaps, -np.inf, columns), starts, axis=1).T
        high[leaves:] = np.maximum.reduceat(np.where(gaps, np.inf, columns), starts, axis=1).T
        for d in reversed(range(depth)):
            level, below = slice((1 << d) - 1, (2 << d) - 1), slice((2 << d) - 1, (4 << d) - 1)
            low[level] = low[below].reshape(1 << d, 2, -1).min(axis=1)
            high[level] = high[below].reshape(1 << d, 2, -1).max(axis=1)
        return cls(columns, order, low, high)

    def prunes(self, x: np.ndarray, k: int, plan: Plan) -> bool:
        """Whether boxes rule out most rows for some queries."""
        none, ids = np.full(len(x), -1), np.arange(len(self.order))
        named = none, none, ids, np.full(len(ids), -1)
        # One more neighbor: a query may itself be among the rows.
        return not self.nearest(x, k + 1, plan, (False, 0.0, False), named, len(ids))[1].any()

    def nearest(
        self,
        x: np.ndarray,
        k: int,
        plan: Plan,
        ways: tuple[bool, float, bool],
        named: tuple[np.ndarray, ...],
        n_indexed: int,
        n_jobs: int | None = None,
    ) -> tuple[NeighborGraph, np.ndarray]:
        """Return lists of the k nearest, and which queries are left over for another search.

        Parameters
        ----------
        x : float64 (queries, columns)
        k : int
        plan, ways : as for ``widest`` and ``nearest_in_boxes``
        named : int64, the position of each query among the fitted rows and the id left out of its
            list (-1: none), the id and the fitted position of each row
        n_indexed : int, size of the collection
        n_jobs : int, optional
        """
        own, exclude, ids, seen = named
        tree = self.columns, ids[self.order], seen[self.order], self.low, self.high
        lists = NeighborGraph.empty(len(x), k, n_indexed, bool((exclude < 0).any()))
        left_over = np.zeros(len(x), bool)
        most = int(MAX_SHARE_COMPARED * len(self.order))

        def fill(part: slice) -> None:
            queries, limit = (x[part], own[part], exclude[part]), most * (part.stop - part.start)
            found = lists.distances[part], lists.indices[part]
            done = nearest_in_boxes(*queries, *tree, plan, ways, limit, *found)
            left_over[part.start + done : part.stop] = True

        parts = [(part,) for part in blocks(len(x), QUERIES_PER_TASK)]
        run(fill, parts, n_jobs, "finding neighbors")
        return lists, left_over


def some_rows(rows: np.ndarray, count: int) -> np.ndarray:
    """Return some of the rows, evenly spaced."""
    return rows[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(np.int64)]
