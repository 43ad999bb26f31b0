"""Flat trees: their shape, bins of values, walks, counts and shares, against plain recursion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels import trees
from lookalike.trees import flatten

seeds = st.integers(0, 2**32 - 1)


def draw_tree(rng, n_inputs, depth=4):
    """A random tree in preorder: (feature, threshold, left, right) of every node."""
    nodes = []

    def grow(level):
        at = len(nodes)
        nodes.append([-1, 0.0, -1, -1])
        if level and rng.random() < 0.8:
            nodes[at][:2] = int(rng.integers(n_inputs)), float(rng.integers(0, 4))
            nodes[at][2] = grow(level - 1)
            nodes[at][3] = grow(level - 1)
        return at

    grow(depth)
    return nodes


def draw_forest(rng, n_inputs=3, n_trees=3):
    made = [draw_tree(rng, n_inputs) for _ in range(n_trees)]
    arrays = zip(*(node for tree in made for node in tree), strict=True)
    equal = np.array([node[0] == 2 for tree in made for node in tree], np.uint8)
    return flatten(*arrays, np.cumsum([0, *map(len, made)]), n_inputs, equal=equal)


def walk(forest, t, row, v=0, weight=1.0):
    """Yield the leaves (nodes within the tree) that a row reaches, and its weight in each."""
    at = forest.offsets[t] + v
    f = forest.feature[at]
    if f < 0:
        yield v, weight
    elif np.isnan(row[f]):
        for child in (v + 1, forest.right[at]):
            yield from walk(forest, t, row, child, weight / 2)
    else:
        left = (
            row[f] == forest.threshold[at] if forest.equal[at] else row[f] <= forest.threshold[at]
        )
        yield from walk(forest, t, row, v + 1 if left else forest.right[at], weight)


@settings(max_examples=40)
@given(seeds, st.sampled_from([0.0, 0.3]))
def test_rows_end_where_they_walk_to(seed, missing):
    rng = np.random.default_rng(seed)
    forest, rows = draw_forest(rng), rng.integers(0, 5, (12, 3)) - 0.5 * rng.integers(0, 2, (12, 3))
    rows[rng.random(rows.shape) < missing] = np.nan
    bins, nodes = forest.bins(rows), forest.nodes
    leaves, weights = forest.share_leaves(bins)
    reached = forest.leaves(rows)
    mass = forest.settled(rows).mass
    for i, row in enumerate(rows):
        ends = [(t, v, w) for t in range(3) for v, w in walk(forest, t, row)]
        found = [int(nodes.leaf_offsets[t] + nodes.leaf[forest.offsets[t] + v]) for t, v, _ in ends]
        if len(ends) == 3:  # no test asks for what is missing
            assert_array_equal(nodes.leaf_offsets[:-1] + reached[i], found)
        assert len(leaves.row(i)) in ({len(ends)} if len(ends) > 3 else {0, 3})
        if len(leaves.row(i)):
            assert_array_equal(leaves.row(i), found)
            assert_allclose(weights.row(i), [w for *_, w in ends])
    assert_array_equal(mass[forest.offsets[:-1]], [12.0] * 3)
    inner = np.flatnonzero(forest.feature >= 0)
    base = np.repeat(forest.offsets[:-1], np.diff(forest.offsets))
    assert_array_equal(mass[inner], mass[inner + 1] + mass[base[inner] + forest.right[inner]])


@settings(max_examples=40)
@given(seeds)
def test_what_follows_from_the_shape(seed):
    forest = draw_forest(np.random.default_rng(seed))
    nodes, tests = forest.nodes, forest.tests
    for t in range(3):
        base, leaves = forest.offsets[t], 0
        held = forest.tests.test[base : forest.offsets[t + 1]].tolist()
        for v in range(forest.offsets[t + 1] - base):
            path, up = [], v
            while up >= 0:
                path.insert(0, up)
                up = int(nodes.parent[base + up])
            above = [held[u] for u in path[:-1]]
            assert nodes.depth[base + v] == len(path) - 1
            assert tests.height[base + v] == len(set(above))
            assert tests.repeat[base + v] == (held[v] in above and held[v] >= 0)
            assert (tests.slot[base + v] >= 0) == (held[v] >= 0 and held.count(held[v]) > 1)
            if held[v] < 0:
                assert (nodes.leaf[base + v], nodes.first[base + v]) == (leaves, leaves)
                assert (nodes.last[base + v], nodes.end[base + v]) == (leaves + 1, v + 1)
                leaves += 1
            else:  # a subtree ends where that of its right child does
                assert nodes.end[base + v] == nodes.end[base + forest.right[base + v]]
        assert nodes.n_leaves[t] == leaves == nodes.last[base]


@pytest.mark.parametrize(
    ("left", "right"),
    [([1, -1, -1], [1, -1, -1]), ([1, -1, -1], [3, -1, -1]), ([0, -1, -1], [2, -1, -1])],
    ids=["a node met twice", "a child outside", "a node that is its own child"],
)
def test_what_is_not_a_tree_is_found(left, right):
    feature, order, place = np.array([0, -1, -1]), np.empty(3, np.int64), np.empty(3, np.int64)
    sides = np.array(left), np.array(right)
    assert trees.order_nodes(feature, *sides, np.array([0, 3]), order, place) == 0
    ok = np.array([2, -1, -1]), np.array([1, -1, -1])
    assert trees.order_nodes(feature, *ok, np.array([0, 3]), order, place) == -1
    assert (order.tolist(), place.tolist()) == ([0, 2, 1], [0, 2, 1])
