"""A similarity forest whose cuts are placed as in the public package that the paper ran.

That package (Czekalski and Morzy) sorts the labels by the projection and then applies the same
order to the sorted labels once or twice more before it looks for the best cut. So it cuts another
sequence of labels than the one along the projection: nearly a random one. This forest
does the same and nothing else differently, to see how much of a printed value comes from it. It is
a reference for that question, not a forest to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class _Node:
    """A cut between two fitted rows, or a leaf with the share of the second class."""

    share: float
    first: int = -1
    second: int = -1
    threshold: float = 0.0
    left: _Node | None = None
    right: _Node | None = None


class PackageForest:
    """Trees on a matrix of distances, with the package's cut.

    Parameters
    ----------
    seed : int
    n_trees : int
    again : int
        How often the order is applied once more than it should be; 0 is the right cut.
    """

    def __init__(self, seed: int, n_trees: int = 100, again: int = 1) -> None:
        self.seed, self.n_trees, self.again = seed, n_trees, again

    def fit(self, matrix: np.ndarray, y: np.ndarray) -> Self:
        """Grow trees on bootstrap samples of the fitted rows; y is 0 and 1."""
        self.matrix, self.y = matrix, y
        self.trees = []
        for tree in range(self.n_trees):
            rng = np.random.default_rng((self.seed, tree))
            self.trees.append(self._grow(rng, rng.integers(0, len(y), len(y))))
        return self

    def score(self, outer: np.ndarray) -> np.ndarray:
        """Return the mean share of the second class; a row per new row, its distances to fitted."""
        out = np.zeros(len(outer))
        for tree in self.trees:
            self._drop(tree, outer, np.arange(len(outer)), out)
        return out / self.n_trees

    def _grow(self, rng: np.random.Generator, rows: np.ndarray) -> _Node:
        labels = self.y[rows]
        share = float(labels.mean())
        if share in (0.0, 1.0):
            return _Node(share)
        first = rows[rng.integers(len(rows))]
        others = rows[labels != self.y[first]]
        second = others[rng.integers(len(others))]
        along = self.matrix[first, rows] - self.matrix[second, rows]
        order = np.argsort(along, kind="stable")
        seen = labels[order]
        # The fault of the package: labels already sorted by the projection are indexed by the
        # order once more, so that the impurities belong to an almost random sequence.
        for _ in range(self.again):
            seen = seen[order]
        at = _best_cut(seen)
        threshold = (along[order[at]] + along[order[at + 1]]) / 2
        below = along <= threshold
        # Thresholds between tied projections separate nothing.
        if below.all() or not below.any():
            return _Node(share)
        return _Node(
            share,
            int(first),
            int(second),
            float(threshold),
            self._grow(rng, rows[below]),
            self._grow(rng, rows[~below]),
        )

    def _drop(self, node: _Node, outer: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        if node.left is None or node.right is None or not len(rows):
            out[rows] += node.share
            return
        along = outer[rows, node.first] - outer[rows, node.second]
        below = along <= node.threshold
        self._drop(node.left, outer, rows[below], out)
        self._drop(node.right, outer, rows[~below], out)


def _best_cut(labels: np.ndarray) -> int:
    """Return the last place of the left side that makes the two sides purest."""
    n = len(labels)
    left = np.arange(1, n)
    ones = np.cumsum(labels)[:-1]
    rest = labels.sum() - ones
    p, q = ones / left, rest / (n - left)
    impurity = left * p * (1 - p) + (n - left) * q * (1 - q)
    return int(impurity.argmin())
