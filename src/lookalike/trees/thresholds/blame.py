"""Which columns keep two rows apart in a forest."""

from __future__ import annotations

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.trees.thresholds.flat import Forest

ROUNDING = 1e-9  # of sums over all leaves of a forest


def leaf_weights(
    leaf_offsets: np.ndarray, codes: np.ndarray, soft: tuple[Ragged, Ragged] | None = None
) -> np.ndarray:
    """Return the weight of one row in every leaf: 1 in one leaf of each tree, or shares.

    Parameters
    ----------
    leaf_offsets : int64 array
        Where the leaf numbers of each tree begin.
    codes : array of shape (1, n_trees)
    soft : pair of Ragged of one row, optional
        The leaves and weights of a row with gaps, if it has any.
    """
    weight = np.zeros(int(leaf_offsets[-1]))
    if soft is not None and len(soft[0].values):
        weight[soft[0].values] = soft[1].values
    else:
        weight[leaf_offsets[:-1] + codes[0].astype(np.int64)] = 1.0
    return weight


def parting_shares(forest: Forest, weight_x: np.ndarray, weight_y: np.ndarray) -> np.ndarray:
    """Return, for every node, how likely two rows part at its test.

    Parameters
    ----------
    forest : Forest
    weight_x, weight_y : arrays from ``leaf_weights``
        In a tree the sum over the nodes, plus the sum of ``weight_x * weight_y`` over the leaves,
        is 1.
    """
    share = np.zeros(len(forest.feature))
    inside, (left_x, right_x) = _sides(forest, weight_x)
    _, (left_y, right_y) = _sides(forest, weight_y)
    share[inside] = left_x * right_y + right_x * left_y
    return np.maximum(share, 0.0)


def undecided_columns(forest: Forest, weight: np.ndarray, n_columns: int) -> np.ndarray:
    """Return, for every column, whether a row goes both ways at a test on it: it has a gap there.

    Parameters
    ----------
    forest : Forest
    weight : array from ``leaf_weights``
    n_columns : int
        How many columns ``Forest.column`` counts.
    """
    inside, (left, right) = _sides(forest, weight)
    found = np.zeros(n_columns, bool)
    found[forest.column[forest.feature[inside[(left > ROUNDING) & (right > ROUNDING)]]]] = True
    return found


def _sides(forest: Forest, weight: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the nodes with a test, and the weight of a row on the left and right of each."""
    nodes = forest.nodes
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    begin = nodes.leaf_offsets[tree]
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    below = upto[begin + nodes.last] - upto[begin + nodes.first]
    inside = np.flatnonzero(forest.feature >= 0)
    rights = forest.offsets[tree[inside]] + forest.right[inside]
    return inside, (below[inside + 1], below[rights])


def parting_counts(
    forest: Forest, leaf_x: np.ndarray, leaf_y: np.ndarray, n_columns: int
) -> np.ndarray:
    """Return in how many trees one row and each of some part at a test on every column.

    Parameters
    ----------
    forest : Forest
    leaf_x : array of shape (1, n_trees)
    leaf_y : array of shape (n, n_trees)
    n_columns : int
        How many columns ``Forest.column`` counts.

    Returns
    -------
    array of shape (n, n_columns)
    """
    nodes, base = forest.nodes, forest.offsets[:-1]
    leaf = nodes.leaf_node[nodes.leaf_offsets[:-1] + leaf_x[0].astype(np.int64)]
    row, tree = np.nonzero(leaf_y != leaf_x)
    goal, at = leaf_y[row, tree].astype(np.int64), (base + leaf)[tree]
    climbing = np.arange(len(row))
    while len(climbing):  # up to the lowest common ancestor, all pairs and trees at a time
        here = base[tree[climbing]] + nodes.parent[at[climbing]]
        at[climbing] = here
        inside = (nodes.first[here] <= goal[climbing]) & (goal[climbing] < nodes.last[here])
        climbing = climbing[~inside]
    column = forest.column[forest.feature[at]]
    counts = np.bincount(row * n_columns + column, minlength=len(leaf_y) * n_columns)
    return counts.reshape(len(leaf_y), n_columns)


def ancestor_lacks(
    forest: Forest, leaf_x: np.ndarray, leaf_y: np.ndarray, value: np.ndarray, kind: str
) -> np.ndarray:
    """Return what each tree lacks to the likeness of two rows.

    That is 1 minus its similarity where ``kind`` of ``ancestor_block`` is a share, and the share of
    fitted rows below the lowest common ancestor where it is the value.
    """
    nodes = forest.nodes
    lacks = np.empty(forest.n_trees)
    everyone = forest.mass[forest.offsets[:-1]]
    for t in range(forest.n_trees):
        base, begin = forest.offsets[t], nodes.leaf_offsets[t]
        x, y = (base + int(nodes.leaf_node[begin + int(leaf[t])]) for leaf in (leaf_x, leaf_y))
        shared = x
        while not nodes.first[shared] <= leaf_y[t] < nodes.last[shared]:
            shared = base + int(nodes.parent[shared])
        here, (deep, other_deep) = value[shared], (nodes.depth[x], nodes.depth[y])
        if kind == "value":
            lacks[t] = forest.mass[shared] / everyone[t]
        elif max(deep, other_deep) == 0:
            lacks[t] = 0.0
        elif kind == "depth":
            lacks[t] = 1.0 - here / max(deep, other_deep)
        elif kind == "max":
            lacks[t] = 1.0 - here / max(value[x], value[y])
        elif deep == other_deep:
            lacks[t] = 1.0 - (here / value[x] + here / value[y]) / 2
        else:
            lacks[t] = 1.0 - here / (value[x] if deep > other_deep else value[y])
    return np.maximum(lacks, 0.0)


def ratio_parts(
    forest: Forest,
    leaf_x: np.ndarray,
    bins_x: np.ndarray,
    leaf_y: np.ndarray,
    bins_y: np.ndarray,
    *,
    unknown: int,
    once: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Split the ratio similarity of two rows by the inputs of the tests they agree and differ on.

    Parameters
    ----------
    forest : Forest
    leaf_x, bins_x, leaf_y, bins_y : 1-D arrays of one row each
    unknown : int
        The bin of a missing value.
    once, alpha, beta
        As for ``ratio_block``.

    Returns
    -------
    plus, minus : arrays of n_inputs
    rest : float
        What trees of a single leaf add. ``plus.sum() + rest`` is the similarity, and with
        ``minus.sum()`` it makes 1 unless a weight is 0.
    """
    plus, minus, rest, told = np.zeros(forest.n_inputs), np.zeros(forest.n_inputs), 0.0, 0
    known = (bins_x != unknown) & (bins_y != unknown)
    for t in range(forest.n_trees):
        paths = [_path_tests(forest, t, int(leaf[t])) for leaf in (leaf_x, leaf_y)]
        if forest.offsets[t + 1] - forest.offsets[t] == 1:
            rest, told = rest + 1.0, told + 1
            continue
        tests = [test for test in paths[0] | paths[1] if known[test[0]]]
        common, apart = np.zeros(forest.n_inputs), np.zeros(forest.n_inputs)
        for test in tests:
            if _answers_alike(test, bins_x, bins_y):
                common[test[0]] += 1.0
                continue
            on_x, on_y = test in paths[0], test in paths[1]
            weight = alpha * on_x + beta * on_y
            apart[test[0]] += weight / 2 if once and on_x and on_y else weight
        told += len(tests) > 0
        total = common.sum() + apart.sum()
        if total > 0:  # it is 0 if differences have no weight and there is nothing else
            plus, minus = plus + common / total, minus + apart / total
    if told:
        plus, minus, rest = plus / told, minus / told, rest / told
    return plus, minus, rest


def _answers_alike(test: tuple[int, int, bool], bins_x: np.ndarray, bins_y: np.ndarray) -> bool:
    f, cut, equal = test
    x, y = int(bins_x[f]), int(bins_y[f])
    return (x == cut) == (y == cut) if equal else (x <= cut) == (y <= cut)


def _path_tests(forest: Forest, t: int, leaf: int) -> set[tuple[int, int, bool]]:
    """Return the tests on the path to a leaf, by content."""
    base, nodes = int(forest.offsets[t]), forest.nodes
    v = int(nodes.parent[base + nodes.leaf_node[nodes.leaf_offsets[t] + leaf]])
    found = set()
    while v >= 0:
        at = base + v
        found.add((int(forest.feature[at]), int(forest.tests.cut[at]), bool(forest.equal[at])))
        v = int(nodes.parent[at])
    return found
