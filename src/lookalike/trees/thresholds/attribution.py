"""Which columns keep two rows apart in a forest."""

from __future__ import annotations

import numpy as np

from lookalike.trees.thresholds.flat import Forest

ROUNDING_TOLERANCE = 1e-9  # of sums over all leaves of a forest


def parting_shares(forest: Forest, weight_x: np.ndarray, weight_y: np.ndarray) -> np.ndarray:
    """Return, for every node, how likely two rows part at its test.

    Parameters
    ----------
    forest : Forest
    weight_x, weight_y : arrays, one entry per leaf
        The weight of a row in every leaf: 1 in one leaf of each tree, or shares.
        In a tree the sum over the nodes, plus the sum of ``weight_x * weight_y`` over the leaves,
        is 1.
    """
    share = np.zeros(len(forest.feature))
    inside, (left_x, right_x) = _sides(forest, weight_x)
    _, (left_y, right_y) = _sides(forest, weight_y)
    share[inside] = left_x * right_y + right_x * left_y
    # The running sums of ``_sides`` may be off by rounding.
    return np.maximum(share, 0.0)


def undecided_columns(forest: Forest, weight: np.ndarray, n_columns: int) -> np.ndarray:
    """Return, for every column, whether a row goes both ways at a test on it: it has a gap there.

    Parameters
    ----------
    forest : Forest
    weight : array
        As for ``parting_shares``.
    n_columns : int
        How many columns ``Forest.column`` counts.
    """
    inside, (left, right) = _sides(forest, weight)
    found = np.zeros(n_columns, bool)
    both = inside[(left > ROUNDING_TOLERANCE) & (right > ROUNDING_TOLERANCE)]
    found[forest.column[forest.feature[both]]] = True
    return found


def _sides(forest: Forest, weight: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the nodes with a test, and the weight of a row on the left and right of each."""
    nodes = forest.nodes
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    begin = nodes.leaf_offsets[tree]
    # Leaves below a node are a range, so its weight is a difference of running sums.
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
    row, tree = np.nonzero(leaf_y != leaf_x)
    parted = _common_ancestors(forest, tree, leaf_x[0, tree], leaf_y[row, tree])
    column = forest.column[forest.feature[parted]]
    counts = np.bincount(row * n_columns + column, minlength=len(leaf_y) * n_columns)
    return counts.reshape(len(leaf_y), n_columns)


def _leaf_nodes(forest: Forest, tree: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """Return the nodes, numbered over the forest, of leaves in some trees."""
    nodes = forest.nodes
    within = nodes.leaf_node[nodes.leaf_offsets[tree] + leaf.astype(np.int64)]
    return np.asarray(forest.offsets[tree] + within)


def _common_ancestors(
    forest: Forest, tree: np.ndarray, leaf_x: np.ndarray, leaf_y: np.ndarray
) -> np.ndarray:
    """Return the lowest common ancestors, over the forest, of pairs of leaves in some trees."""
    nodes, goal = forest.nodes, leaf_y.astype(np.int64)
    ancestor = _leaf_nodes(forest, tree, leaf_x)
    climbing = np.arange(len(tree))
    while len(climbing):  # all pairs and trees together, one step up at a time
        here, leaf = ancestor[climbing], goal[climbing]
        climbing = climbing[(leaf < nodes.first[here]) | (leaf >= nodes.last[here])]
        ancestor[climbing] = forest.offsets[tree[climbing]] + nodes.parent[ancestor[climbing]]
    return ancestor


def ancestor_dissimilarities(
    forest: Forest, leaf_x: np.ndarray, leaf_y: np.ndarray, value: np.ndarray, kind: str
) -> np.ndarray:
    """Return the dissimilarity of two rows by each tree.

    That is 1 minus its similarity where ``kind`` of ``ancestor_block`` is a share, and the share of
    fitted rows below the lowest common ancestor where it is the value.
    """
    tree = np.arange(forest.n_trees)
    shared = _common_ancestors(forest, tree, leaf_x, leaf_y)
    if kind == "value":
        return np.asarray(forest.mass[shared] / forest.mass[forest.offsets[:-1]])
    x, y = _leaf_nodes(forest, tree, leaf_x), _leaf_nodes(forest, tree, leaf_y)
    here, deep_x, deep_y = value[shared], forest.nodes.depth[x], forest.nodes.depth[y]
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 in a tree of a single leaf
        if kind == "max":
            share = here / np.maximum(value[x], value[y])
        else:  # of the deeper leaf; of both where they are equally deep
            by_x, by_y = here / value[x], here / value[y]
            share = np.where(deep_x > deep_y, by_x, by_y)
            share[deep_x == deep_y] = ((by_x + by_y) / 2)[deep_x == deep_y]
    return np.where(np.maximum(deep_x, deep_y) == 0, 0.0, np.maximum(1.0 - share, 0.0))


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
    shares: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Split the ratio similarity of two rows by the inputs of the tests they agree and differ on.

    Parameters
    ----------
    forest : Forest
    leaf_x, bins_x, leaf_y, bins_y : 1-D arrays of one row each
    unknown : int
        The bin of a missing value.
    once, alpha, beta, shares
        As for ``ratio_block``.

    Returns
    -------
    plus, minus : arrays of n_inputs
    rest : float
        What trees of a single leaf add. ``plus.sum() + rest`` is the similarity, and with
        ``minus.sum()`` it makes 1 unless a weight is 0.
    """
    n, rest = forest.n_inputs, 0.0
    plus, minus = np.zeros(n), np.zeros(n)
    n_usable = 0  # trees with a test that both rows can answer, or of a single leaf
    known = (bins_x != unknown) & (bins_y != unknown)
    for t in range(forest.n_trees):
        path_x = _path_tests(forest, t, int(leaf_x[t]))
        path_y = _path_tests(forest, t, int(leaf_y[t]))
        if forest.offsets[t + 1] - forest.offsets[t] == 1:
            rest, n_usable = rest + 1.0, n_usable + 1
            continue
        node_of = {test: at for test, at in (path_x | path_y).items() if known[test[0]]}
        if not node_of:
            continue
        n_usable += 1
        at = np.array(list(node_of.values()))
        f, cut, equal = forest.feature[at], forest.tests.cut[at], forest.equal[at] == 1
        left_x, left_y = (np.where(equal, b[f] == cut, b[f] <= cut) for b in (bins_x, bins_y))
        of_x, of_y = np.ones((2, len(at)))
        if shares is not None:  # an answer counts the negative logarithm of its share
            left, right = -np.log(shares[at]), -np.log(1.0 - shares[at])
            of_x, of_y = np.where(left_x, left, right), np.where(left_y, left, right)
        on_x, on_y = (np.array([test in path for test in node_of]) for path in (path_x, path_y))
        differ = alpha * of_x * on_x + beta * of_y * on_y
        # At least one of the paths has the test: "once" halves it where both have.
        differ /= on_x.astype(int) + on_y if once else 1
        same = left_x == left_y
        common = np.bincount(f[same], of_x[same], n)
        apart = np.bincount(f[~same], differ[~same], n)
        total = common.sum() + apart.sum()
        if total > 0:  # it is 0 if differences have no weight and there is nothing else
            plus, minus = plus + common / total, minus + apart / total
    of = max(1, n_usable)
    return plus / of, minus / of, rest / of


def _path_tests(forest: Forest, t: int, leaf: int) -> dict[tuple[int, int, bool], int]:
    """Return the tests on the path to a leaf, by content, with a node of each."""
    base, nodes = int(forest.offsets[t]), forest.nodes
    v = int(nodes.parent[base + nodes.leaf_node[nodes.leaf_offsets[t] + leaf]])
    found = {}
    while v >= 0:
        at = base + v
        found[int(forest.feature[at]), int(forest.tests.cut[at]), bool(forest.equal[at])] = at
        v = int(nodes.parent[at])
    return found
