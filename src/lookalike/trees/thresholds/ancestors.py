"""Graded and mass-based similarities: what the lowest common ancestor of two leaves tells."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.trees.thresholds.flat import Forest

TALL, WIDE = 1024, 256


def node_values(forest: Forest, method: str, n_fitted: int) -> np.ndarray:
    """Return what each node is worth as a lowest common ancestor.

    "zhu2": its depth. "zhu3": the sum, over the nodes from the root's child down to it, of one over
    the fitted rows there. "ting": its share of the fitted rows. "aryal": the logarithm of that
    share.
    """
    mass = forest.mass
    if method == "ting":
        return np.asarray(mass / n_fitted)
    if method == "aryal":
        return np.asarray(np.log(np.maximum(mass, 1.0) / n_fitted))
    if method == "zhu2":
        return forest.nodes.depth.astype(np.float64)
    from lookalike.kernels.trees import sum_down

    weight = 1.0 / np.maximum(mass, 1.0)
    weight[forest.offsets[:-1]] = 0.0  # the root is on every path and tells nothing
    total = np.empty(len(weight))
    sum_down(weight, forest.nodes.parent, forest.offsets, total)
    return total


def ancestor_block(
    forest: Forest, leaf_x: np.ndarray, leaf_y: np.ndarray, value: np.ndarray, kind: str = "value"
) -> np.ndarray:
    """Return the mean over trees of what the lowest common ancestors of two rows' leaves are worth.

    Parameters
    ----------
    forest : Forest
    leaf_x, leaf_y : arrays of shape (n, n_trees), (m, n_trees)
    value : array from ``node_values``
    kind : {"value", "depth", "longer", "max"}
        The value itself, or its share: of the depth of the deeper leaf, of the value of the deeper
        leaf (equal depths: the mean of both shares), of the larger of the two leaves' values.
    """
    from lookalike.kernels.proximity import ancestor_sums

    mode = ("value", "depth", "longer", "max").index(kind)
    out = np.zeros((len(leaf_x), len(leaf_y)))
    for wide in blocks(len(leaf_y), WIDE):
        for tall in blocks(len(leaf_x), TALL):
            part = np.zeros((tall.stop - tall.start, wide.stop - wide.start))
            ancestor_sums(
                leaf_x[tall],
                leaf_y[wide],
                forest.nodes,
                forest.offsets,
                forest.sizes[2],
                value,
                mode,
                part,
            )
            out[tall, wide] = part
    out /= forest.n_trees
    return out
