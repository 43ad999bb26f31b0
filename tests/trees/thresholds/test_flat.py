"""The flat form: any order of nodes, leaves by walking, counts of fitted rows, tests by content."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.errors import InvalidInput, TooLarge
from lookalike.trees import Forest, flatten
from trees import reference

VALUES = [0.0, 1.0, 2.0, 3.0]


def make(trees, n_inputs):
    feature, threshold, left, right, offsets, equal = reference.flat_lists(trees)
    return flatten(feature, threshold, left, right, offsets, n_inputs, equal=equal)


def draw(seed, gaps=0.0, deepest=6, n=12, n_trees=4):
    """Random nested trees, their flat form, and rows of which some have gaps."""
    rng = np.random.default_rng(seed)
    category = rng.random(3) < 0.3
    trees = [reference.random_tree(rng, 3, category, deepest, VALUES) for _ in range(n_trees)]
    return trees, make(trees, 3), reference.random_rows(rng, n, 3, VALUES, gaps)


seeds = st.integers(0, 10**6)


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_leaves_equal_a_walk_and_the_form_is_preorder(seed):
    trees, forest, rows = draw(seed)
    found = forest.leaves(rows)
    for t, tree in enumerate(trees):
        assert_array_equal(found[:, t], [reference.leaf_number(tree, x) for x in rows])
    inside = forest.feature >= 0
    assert (forest.right[~inside] == -1).all()


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_counts_and_default_sides_equal_a_walk(seed):
    trees, forest, rows = draw(seed, gaps=0.2)
    settled = forest.settled(rows)
    for t, tree in enumerate(trees):
        reference.mass(tree, list(rows))
        at = slice(forest.offsets[t], forest.offsets[t + 1])
        order = preorder(tree)
        assert_array_equal(settled.mass[at], [v["mass"] for v in order])
        defaults = [int(v["default"]) for v in order if "default" in v]
        assert_array_equal(settled.default[at][settled.feature[at] >= 0], defaults)
        found = settled.leaves(rows)[:, t]
        assert_array_equal(found, [reference.leaf_number(tree, x) for x in rows])


def preorder(tree):
    if reference.is_leaf(tree):
        return [tree]
    return [tree, *preorder(tree["l"]), *preorder(tree["r"])]


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_facts_about_tests_equal_a_walk(seed):
    trees, forest, _ = draw(seed, deepest=7)
    for t, tree in enumerate(trees):
        order = preorder(tree)
        at = forest.offsets[t] + np.arange(len(order))
        for v, place in zip(order, at, strict=True):
            if reference.is_leaf(v):
                continue
            same = [w for w in order if "f" in w and reference.content(w) == reference.content(v)]
            assert (forest.tests.slot[place] >= 0) == (len(same) > 1)
        check_paths(forest, tree, [], forest.offsets[t])


def check_paths(forest, tree, above, at):
    """Heights and repeats down every path; returns the place after the subtree."""
    assert forest.tests.height[at] == len(set(above))
    if reference.is_leaf(tree):
        return at + 1
    test = reference.content(tree)
    assert forest.tests.repeat[at] == (test in above)
    after = check_paths(forest, tree["l"], [*above, test], at + 1)
    return check_paths(forest, tree["r"], [*above, test], after)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, by_mass=st.booleans())
def test_shares_of_leaves_equal_a_walk_and_sum_to_one(seed, by_mass):
    trees, forest, rows = draw(seed, gaps=0.3)
    forest = forest.settled(rows)
    leaves, weights = forest.share_leaves(forest.bins(rows), by_mass)
    for tree in trees:
        reference.mass(tree, list(rows))
    for i, x in enumerate(rows):
        expected = {}
        for t, tree in enumerate(trees):
            number = {id(v): k for k, v in enumerate(reference.leaves_of(tree))}
            for k, w in reference.soft(tree, x, by_mass).items():
                expected[forest.nodes.leaf_offsets[t] + number[k]] = w
        found = dict(zip(leaves.row(i), weights.row(i), strict=True))
        assert list(found) == sorted(found)
        if found:
            expected = {k: w for k, w in expected.items() if w > 0}
            assert found.keys() == expected.keys()
            np.testing.assert_allclose([found[k] for k in expected], list(expected.values()))
            np.testing.assert_allclose(weights.row(i).sum(), len(trees))
        else:  # nothing that any test asks for is missing
            asked = np.unique(forest.feature[forest.feature >= 0])
            assert not np.isnan(x[asked]).any()


def test_infinities_and_signed_zero_go_where_the_comparison_says():
    forest = make([reference.node(0, 0.0, reference.leaf(), reference.leaf())], 1)
    rows = np.array([[-np.inf], [-0.0], [0.0], [5e-324], [np.inf]])
    assert_array_equal(forest.leaves(rows).ravel(), [0, 0, 0, 1, 1])
    twice = reference.node(
        0, 0.0, reference.leaf(), reference.node(0, -0.0, reference.leaf(), reference.leaf())
    )
    assert len(make([twice], 1).tests.cuts) == 1


def test_a_category_that_was_never_seen_is_equal_to_none():
    tree = reference.node(0, 2.0, reference.leaf(), reference.leaf(), equal=True)
    rows = np.array([[2.0], [0.0], [3.0], [-7.0]])
    assert_array_equal(make([tree], 1).leaves(rows).ravel(), [0, 1, 1, 1])


def test_many_thresholds_need_wider_bins_and_many_leaves_wider_numbers():
    n = 70_000
    tree = balanced(np.arange(n, dtype=float))
    forest = make([tree], 1)
    rows = np.array([[0.0], [35_000.0], [69_998.5], [np.nan]])
    bins = forest.bins(rows)
    assert bins.dtype == np.uint32
    assert_array_equal(bins.ravel(), [0, 35_000, 69_999, 2**32 - 1])
    found = forest.leaves(rows)
    assert found.dtype == np.uint32
    assert_array_equal(found.ravel(), [0, 35_000, 69_999, 0])


def balanced(cuts):
    if len(cuts) == 0:
        return reference.leaf()
    middle = len(cuts) // 2
    return reference.node(
        0, float(cuts[middle]), balanced(cuts[:middle]), balanced(cuts[middle + 1 :])
    )


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"feature": [5, -1, -1]}, "a test on input 5"),
        ({"threshold": [np.nan, 0, 0]}, "without one"),
        ({"left": [0, -1, -1]}, "tree 0 is not"),
        ({"left": [7, -1, -1]}, "tree 0 is not"),
        ({"right": [1, -1, -1]}, "tree 0 is not"),
        ({"offsets": [0, 3, 3]}, "tree 1 is not"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(change, found):
    arrays = {
        "feature": [0, -1, -1],
        "threshold": [0.5, 0, 0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "offsets": [0, 3],
    }
    with pytest.raises(InvalidInput, match=found):
        flatten(**(arrays | change), n_inputs=2)


def test_one_input_is_either_a_number_or_a_category():
    trees = [
        reference.node(0, 1.0, reference.leaf(), reference.leaf(), equal=flag)
        for flag in (True, False)
    ]
    with pytest.raises(InvalidInput, match="thresholds and categories on input 0"):
        make(trees, 1)


def test_rows_of_other_columns_are_refused():
    with pytest.raises(InvalidInput, match=r"rows of 2 columns, .* shape \(3, 4\)"):
        make([reference.f2()], 2).leaves(np.zeros((3, 4)))


def test_rows_with_gaps_respect_the_memory_limit():
    from lookalike import config

    forest = make([balanced(np.arange(1000.0))] * 30, 1)
    bins = forest.bins(np.full((10, 1), np.nan))
    with config(memory_limit="1MB"), pytest.raises(TooLarge, match="10 rows with gaps"):
        forest.share_leaves(bins)


def test_a_forest_says_what_it_is():
    assert repr(make([reference.f2()], 2)) == "Forest: 1 tree, 5 nodes, 2 inputs, depth 2"
    assert isinstance(make([reference.leaf()], 2), Forest)
