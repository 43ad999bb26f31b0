"""Which columns part two rows: counted tree by tree with plain walks."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.trees import ExtraForest
from lookalike.trees.thresholds.attribution import (
    ancestor_dissimilarities,
    parting_counts,
    parting_shares,
    ratio_parts,
    undecided_columns,
)
from lookalike.trees.thresholds.flat import unknown_bin
from lookalike.trees.thresholds.proximity import (
    ancestor_block,
    answer_shares,
    leaf_matrix,
    node_values,
    ratio_block,
)


@pytest.fixture(scope="module")
def grown():
    """Return a forest, its rows, and their leaves."""
    rows = np.random.default_rng(0).integers(0, 6, (30, 3)).astype(float)
    forest = ExtraForest(7, max_depth=4, random_state=0).grow(rows).forest.settled(rows)
    return forest, rows, forest.leaves(rows)


def weigh(forest, leaves, soft=None):
    """Return the weight of one row in every leaf."""
    return leaf_matrix(leaves, forest.nodes.leaf_offsets, soft=soft).toarray()[0]


def ancestor(forest, t, leaf_x, leaf_y):
    """Walk down tree t while both leaves are below the same child; return the last node."""
    at, nodes = forest.offsets[t], forest.nodes
    while forest.feature[at] >= 0:
        for child in (at + 1, forest.offsets[t] + forest.right[at]):
            if all(nodes.first[child] <= leaf < nodes.last[child] for leaf in (leaf_x, leaf_y)):
                at = child
                break
        else:
            break
    return at


def test_rows_part_at_their_lowest_common_ancestor(grown):
    forest, _, leaves = grown
    counts = parting_counts(forest, leaves[:1], leaves[:9], 3)
    for row in range(9):
        expected = np.zeros(3)
        for t in range(7):
            if leaves[0, t] != leaves[row, t]:
                node = ancestor(forest, t, leaves[0, t], leaves[row, t])
                expected[forest.feature[node]] += 1
        assert_array_equal(counts[row], expected)
        weights = [weigh(forest, leaves[[i]]) for i in (0, row)]
        share = parting_shares(forest, *weights)
        inside = forest.feature >= 0
        by_column = np.bincount(forest.feature[inside], share[inside], 3)
        assert_allclose(by_column, expected, atol=1e-12)


def test_dissimilarities_of_trees_add_up_to_the_block(grown):
    forest, _, leaves = grown
    for method, kind in (("zhu2", "max"), ("zhu3", "longer"), ("zhu3", "max")):
        value = node_values(forest, method, 30)
        block = ancestor_block(forest, leaves[:1], leaves[:9], value, kind)[0]
        for row in range(9):
            apart = ancestor_dissimilarities(forest, leaves[0], leaves[row], value, kind)
            assert_allclose(1 - apart.mean(), block[row], atol=1e-12)
    apart = ancestor_dissimilarities(forest, leaves[0], leaves[3], value, "value")
    nodes = [ancestor(forest, t, leaves[0, t], leaves[3, t]) for t in range(7)]
    assert_allclose(apart, forest.mass[nodes] / 30)


def test_parts_of_the_ratio_add_up_to_it(grown):
    forest, rows, leaves = grown
    bins = forest.bins(rows)
    informed = answer_shares(forest, bins)
    for parting, shares in product(("twice", "once"), (None, informed)):
        options = {"parting": parting, "shares": shares}
        block = ratio_block(forest, leaves[:1], bins[:1], leaves, bins, **options)[0]
        for row in (0, 4, 9):
            plus, minus, rest = ratio_parts(
                forest, leaves[0], bins[0], leaves[row], bins[row], unknown=unknown_bin(bins),
                once=parting == "once", shares=shares,
            )  # fmt: skip
            assert_allclose(plus.sum() + rest, block[row], atol=1e-12)
            assert_allclose(plus.sum() + minus.sum() + rest, 1.0, atol=1e-12)


def test_a_missing_value_leaves_its_columns_undecided(grown):
    forest, rows, leaves = grown
    row = rows[:1].copy()
    row[0, 1] = np.nan
    soft = forest.share_leaves(forest.bins(row))
    weight = weigh(forest, leaves[:1], soft)
    assert undecided_columns(forest, weight, 3).tolist() == [False, True, False]
    whole = weigh(forest, leaves[:1])
    assert not undecided_columns(forest, whole, 3).any()
