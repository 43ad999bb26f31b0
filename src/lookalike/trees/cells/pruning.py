"""Cutting similarity trees back (cost-complexity pruning)."""

from __future__ import annotations

import numpy as np

from lookalike.trees.cells.trees import SimilarityTrees


def prune_trees(trees: SimilarityTrees, alpha: float) -> SimilarityTrees:
    """Cut back every subtree whose loss of impurity per leaf is at most alpha, weakest first [1]_.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression trees.
       Chapter 3. doi:10.1201/9781315139470
    """
    from lookalike.kernels.cells_walk import prune

    feature = trees.feature.copy()
    offsets = trees.offsets
    for t in range(trees.n_trees):
        part = slice(offsets[t], offsets[t + 1])
        prune(feature[part], trees.right[part], trees.weights[part], trees.impurities[part], alpha)
    keep = np.zeros(len(feature), bool)
    keep[offsets[:-1]] = True
    start = np.repeat(offsets[:-1], np.diff(offsets))
    for v in range(len(feature)):  # preorder: parents come first
        if keep[v] and feature[v] >= 0:
            keep[v + 1] = keep[start[v] + trees.right[v]] = True
    ends = np.concatenate([[0], np.cumsum(keep)])
    new_offsets = ends[offsets].astype(np.int64)
    moved = ends[start + np.maximum(trees.right, 0)] - ends[start]
    right = np.where(feature >= 0, moved, -1).astype(np.int32)
    inner = feature >= 0
    return SimilarityTrees(
        trees.columns,
        trees.kept,
        feature[keep],
        np.where(inner, trees.first, -1)[keep].astype(np.int32),
        np.where(inner, trees.second, -1)[keep].astype(np.int32),
        np.where(inner, trees.threshold, 0.0)[keep],
        right[keep],
        trees.default[keep],
        new_offsets,
        trees.entries[keep],
        trees.weights[keep],
        trees.impurities[keep],
        trees.value[keep],
    )
