"""Trees as libraries describe them, in one form: inputs, sides of missing values, sets, saving."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike.trees.models import ReadTree, join

NAN = np.nan


def test_a_tree_by_hand():
    """Node 0: x <= 1, missing left. Node 1: color in {0, 2}, missing right. Node 2: y <= 0."""
    tree = ReadTree(
        feature=[0, 1, 2, -1, -1, -1, -1],
        threshold=[1.0, 0.5, 0.0, 0, 0, 0, 0],
        left=[1, 3, 5, -1, -1, -1, -1],
        right=[2, 4, 6, -1, -1, -1, -1],
        default=[1, 0, 0, 0, 0, 0, 0],
        members={1: (2, 0)},
        zeros=frozenset({2}),
        gain=3.0,
    )
    model = join([tree, tree], ["x", "color", "y"], [(), ("red", "blue", "green"), ()])
    assert_array_equal(model.tested, [0, 1, 2])
    assert_array_equal(model.side, [1, 0, 0])
    assert_array_equal(model.zeros, [False, False, True])
    assert_array_equal(model.members.row(1), [0, 2])
    assert_array_equal(model.gain, [3.0, 3.0])
    rows = np.array(
        [[0, 0, 1], [0, 1, 1], [NAN, 2, 1], [NAN, NAN, 1], [0, -1, 1]]
        + [[2, 0, -1], [2, 0, 1], [2, 0, NAN], [2, 0, 0.0]]
    )
    # Zeros of y are missing and go right with them.
    expected = [0, 1, 0, 1, 1, 2, 3, 3, 3]
    assert_array_equal(model.forest.leaves(model.inputs(rows))[:, 0], expected)
    assert not np.isnan(model.inputs(rows)).any()


def test_nodes_that_send_missing_values_to_different_sides_have_inputs_of_their_own():
    trees = [
        ReadTree([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [side, 0, 0])
        for side in (0, 1)
    ]
    model = join(trees, (), [()])
    assert_array_equal(model.tested, [0, 0])
    assert_array_equal(
        model.forest.leaves(model.inputs(np.array([[NAN], [0.0]]))), [[1, 0], [0, 0]]
    )


def test_trees_of_one_leaf():
    leaf = ReadTree([-1], [0.0], [-1], [-1], [0])
    model = join([leaf, leaf], (), [(), ()])
    assert_array_equal(model.forest.leaves(model.inputs(np.zeros((3, 2)))), np.zeros((3, 2)))


@pytest.mark.parametrize("gain", [-1e-9, 0.0])
def test_gains_are_never_below_zero(gain):
    leaf = ReadTree([-1], [0.0], [-1], [-1], [0], gain=gain)
    assert join([leaf], (), [()]).gain[0] == 0.0
