"""Forest proximities: worked numbers, and reference implementations on random forests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.columns.ragged import Ragged
from lookalike.trees.thresholds import proximity as ratio_module
from lookalike.trees.thresholds.proximity import (
    ancestor_block,
    answer_shares,
    count_usable,
    leaf_matrix,
    node_values,
    out_of_bag_block,
    ratio_block,
    ratio_square,
    share_block,
    sum_products,
)
from trees import reference
from trees.reference import A, B, C, E, chain, f2, leaf, node
from trees.thresholds.test_flat import draw, make, seeds

ROWS = np.array([A, B, C, E])
NA = np.nan


def ratio(forest, x, y=None, **options):
    y = x if y is None else y
    x, y = np.asarray(x, float), np.asarray(y, float)
    sides = [part for rows in (x, y) for part in (forest.leaves(rows), forest.bins(rows))]
    return ratio_block(forest, *sides, **options)


def soft(forest, x, y=None, by_mass=False):
    sides = [np.asarray(rows, float) for rows in (x, x if y is None else y)]
    spread = [forest.share_leaves(forest.bins(rows), by_mass) for rows in sides]
    codes = [forest.leaves(rows) for rows in sides]
    return share_block(*codes, *spread, forest.nodes.leaf_offsets)


def slow(function, trees, x, y, *arguments, **options):
    return [[function(trees, a, b, *arguments, **options) for b in y] for a in x]


# -- worked numbers ------------------------------------------------------------------------------


def eight_tests():
    """Shared path t1, t2, t3; then x meets t4, t5, t6 and y meets t7, t8."""
    x_side = node(3, 0.5, leaf(), node(4, 0.5, node(5, 0.5, leaf(), leaf()), leaf()))
    y_side = node(6, 0.5, node(7, 0.5, leaf(), leaf()), leaf())
    third = node(2, 0.5, x_side, y_side)
    tree = node(0, 0.5, node(1, 0.5, third, leaf()), leaf())
    # Agreement on t1, t2, t5, t6, t7; the rows part at t3 and differ on t4 and t8.
    x = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    y = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return tree, [x, y]


def test_ratio_of_the_published_figure():
    tree, rows = eight_tests()
    forest = make([tree], 8)
    assert_allclose(ratio(forest, rows)[0, 1], 5 / 9)
    assert_allclose(ratio(forest, rows, parting="once")[0, 1], 5 / 8)
    forest = forest.settled(np.array(rows))
    leaves = forest.leaves(np.array(rows))
    assert_allclose(
        ancestor_block(forest, leaves, leaves, node_values(forest, "zhu2", 2), "max")[0, 1], 1 / 3
    )


def test_ratio_of_the_small_tree():
    forest = make([f2()], 2)
    expected = [[1, 1 / 3, 0, 0], [1 / 3, 1, 1 / 3, 1 / 3], [0, 1 / 3, 1, 1], [0, 1 / 3, 1, 1]]
    assert_allclose(ratio(forest, ROWS), expected)
    assert_allclose(ratio(forest, ROWS, parting="once")[1, 2], 1 / 2)
    # Not a metric: a' shares the leaf of a, yet is farther from b.
    assert_allclose(
        np.sqrt(1 - ratio(forest, [A, (0.2, 0.8)], [B])).ravel(), [0.816497, 1], atol=1e-6
    )


def test_a_test_is_its_content_not_its_node():
    same = node(0, 0.5, node(1, 0.5, leaf(), leaf()), node(1, 0.5, leaf(), leaf()))
    forest = make([same], 2)
    assert_allclose(ratio(forest, [(0.2, 0.2)], [(0.8, 0.2), (0.8, 0.8)]), [[1 / 3, 0]])


def test_graded_and_mass_based_numbers_of_the_small_tree():
    forest = make([f2()], 2).settled(ROWS)
    leaves = forest.leaves(ROWS)

    def read(method, kind):
        return ancestor_block(forest, leaves, leaves, node_values(forest, method, 4), kind)

    zhu2 = read("zhu2", "max")
    assert_allclose([zhu2[0, 1], zhu2[0, 2], zhu2[1, 2], zhu2[2, 3]], [0, 0, 1 / 2, 1])
    zhu3 = read("zhu3", "longer")
    assert_allclose([zhu3[1, 2], zhu3[2, 3]], [13 / 40, 1])
    assert_allclose(read("zhu3", "max")[1, 2], 1 / 4)
    ting = read("ting", "value")
    assert_allclose([ting[0, 1], ting[1, 2], ting[2, 3], ting[0, 0]], [1, 3 / 4, 1 / 2, 1 / 4])
    assert_allclose(read("aryal", "value")[1, 2], np.log(0.75))
    assert_array_equal(share_block(leaves, leaves)[2], [0, 0, 1, 1])


def test_out_of_bag_trees_of_the_worked_example():
    codes = np.array([[0, 0, 2, 0], [0, 1, 2, 0], [1, 1, 2, 1]], np.uint16)
    in_bag = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1]], np.uint8)
    s = out_of_bag_block(codes, in_bag, codes, in_bag)
    assert_allclose(s[0, 1], 2 / 3)
    assert_allclose(np.sqrt(1 - s[0, 1]), 0.57735, atol=1e-5)
    everywhere = np.ones_like(in_bag)
    assert_allclose(out_of_bag_block(codes, everywhere, codes, everywhere)[0, 1], 3 / 4)
    assert not count_usable(everywhere, in_bag).any()
    assert count_usable(in_bag, in_bag).all()


def test_missing_values_of_the_small_tree():
    forest = make([f2()], 2)
    rows = [(0.8, NA), (NA, 0.2), (NA, NA)]
    assert_allclose(soft(forest, rows, [B]).ravel(), [0.5, 0.5, 0.25])
    assert_allclose(soft(forest, rows)[2, 2], 0.375)


# -- reference implementations --------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=seeds, parting=st.sampled_from(["twice", "once"]))
def test_ratio_equals_the_reference(seed, parting):
    trees, forest, rows = draw(seed)
    found = ratio(forest, rows[:7], rows[5:], parting=parting)
    assert_allclose(found, slow(reference.ratio, trees, rows[:7], rows[5:], parting), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    once=st.booleans(),
    n_trees=st.integers(1, 9),  # four are added together, the rest singly
    tall=st.sampled_from([1, 5, 2048]),
    wide=st.sampled_from([1, 3, 128]),
    joined=st.sampled_from([1, 4, 32]),
)
def test_a_square_is_the_same_whatever_its_tiles(seed, once, n_trees, tall, wide, joined):
    trees, forest, rows = draw(seed, n_trees=n_trees, n=9)
    parting = "once" if once else "twice"
    whole = ratio(forest, rows, parting=parting)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in (
            ("MAX_TILE_ROWS", tall),
            ("TILE_COLUMNS", wide),
            ("JOIN_TILE_ROWS", joined),
        ):
            patch.setattr(ratio_module, name, size)
        square = ratio_square(forest, forest.leaves(rows), forest.bins(rows), once)
        assert_array_equal(ratio(forest, rows, rows.copy(), parting=parting), whole)
    assert_array_equal(square, whole)
    assert_array_equal(square, square.T)
    some = slow(reference.ratio, trees, rows[:3], rows, parting)
    assert_allclose(square[:3], some, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    parting=st.sampled_from(["twice", "once"]),
    alpha=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    beta=st.sampled_from([0.3, 1.0]),
    gaps=st.sampled_from([0.0, 0.2]),
)
def test_weighted_ratio_with_gaps_equals_the_reference(seed, parting, alpha, beta, gaps):
    trees, forest, rows = draw(seed, gaps)
    forest = forest.settled(rows)
    for tree in trees:
        reference.mass(tree, list(rows))
    options = {"parting": parting, "alpha": alpha, "beta": beta}
    found = ratio(forest, rows[:7], rows[5:], **options)
    expected = slow(reference.ratio, trees, rows[:7], rows[5:], **options)
    assert_allclose(found, expected, atol=1e-12)
    if alpha == beta:
        assert_array_equal(found, ratio(forest, rows[5:], rows[:7], **options).T)


def test_missing_cells_in_trees_too_deep_for_narrow_counts():
    tree = leaf()
    for cut in range(300, 0, -1):  # rows agree on more tests than a byte counts
        tree = node(0, float(cut), leaf(), tree)
    tree = node(1, 0.5, tree, leaf())
    rows = np.array([[301.0, 0.0], [299.5, np.nan], [150.5, np.nan], [301.0, np.nan]])
    forest = make([tree], 2).settled(rows)
    reference.mass(tree, list(rows))
    expected = slow(reference.ratio, [tree], rows, rows, "twice")
    assert_allclose(ratio(forest, rows), expected, atol=1e-12)
    forest.__dict__["sizes"] = (70_000, *forest.sizes[1:])  # as if it were too deep for 16 bits
    assert_allclose(ratio(forest, rows), expected, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    seed=seeds,
    parting=st.sampled_from(["twice", "once"]),
    alpha=st.sampled_from([0.5, 1.0]),
    beta=st.sampled_from([0.5, 0.0]),
    gaps=st.sampled_from([0.0, 0.15]),
)
def test_ratio_by_information_equals_the_reference(seed, parting, alpha, beta, gaps):
    trees, forest, rows = draw(seed, gaps)
    forest = forest.settled(rows)
    for tree in trees:
        reference.mass(tree, list(rows))
    options = {"parting": parting, "alpha": alpha, "beta": beta}
    shares = answer_shares(forest, forest.bins(rows))
    found = ratio(forest, rows[:7], rows[5:], shares=shares, **options)
    expected = slow(reference.ratio, trees, rows[:7], rows[5:], rows=rows, **options)
    assert_allclose(found, expected, atol=1e-12)
    if alpha == beta:
        assert_array_equal(found, ratio(forest, rows[5:], rows[:7], shares=shares, **options).T)


def test_worked_ratio_by_information():
    # Of four rows, one has x <= 1/2, and two have y <= 1/2; half a row is added to each side.
    forest = make([f2()], 2).settled(ROWS)
    shares = answer_shares(forest, forest.bins(ROWS))
    assert_allclose(shares[forest.feature >= 0], [1.5 / 5, 2.5 / 5])
    # A and B agree on y <= 1/2 (log 2), and answer x <= 1/2 otherwise: both answers differ.
    common, apart = np.log(2), -np.log(0.3) - np.log(0.7)
    found = ratio(forest, ROWS, shares=shares)
    assert_allclose(found[0, 1], common / (common + apart))
    lin = ratio(forest, ROWS, shares=shares, alpha=0.5, beta=0.5)
    assert_allclose(lin[0, 1], 2 * common / (2 * common + apart))


@settings(max_examples=30, deadline=None)
@given(seed=seeds, gaps=st.sampled_from([0.0, 0.15]))
def test_ancestor_methods_equal_the_reference(seed, gaps):
    trees, forest, rows = draw(seed, gaps)
    fitted, new = rows[:8], rows[6:]
    forest = forest.settled(fitted)
    for tree in trees:
        reference.mass(tree, list(fitted))
    sides = forest.leaves(fitted), forest.leaves(new)
    cases = [
        ("zhu2", "max", reference.zhu2, ()),
        ("zhu3", "longer", reference.zhu3, ("longer",)),
        ("zhu3", "max", reference.zhu3, ("max",)),
        ("ting", "value", reference.ting, (8,)),
        ("aryal", "value", reference.aryal, (8,)),
    ]
    for method, kind, slower, more in cases:
        value = node_values(forest, method, 8)
        found = ancestor_block(forest, *sides, value, kind)
        assert_allclose(found, slow(slower, trees, fitted, new, *more), atol=1e-12)
        assert_array_equal(found, ancestor_block(forest, *sides[::-1], value, kind).T)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, by_mass=st.booleans())
def test_leaf_sharing_with_gaps_equals_the_reference(seed, by_mass):
    trees, forest, rows = draw(seed, gaps=0.2)
    forest = forest.settled(rows)
    for tree in trees:
        reference.mass(tree, list(rows))
    found = soft(forest, rows[:7], rows[5:], by_mass)
    expected = slow(reference.soft_same_leaf, trees, rows[:7], rows[5:], by_mass)
    assert_allclose(found, expected, atol=1e-12)
    assert_array_equal(found, soft(forest, rows[5:], rows[:7], by_mass).T)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, gaps=st.sampled_from([0.0, 0.2]))
def test_out_of_bag_sharing_equals_the_reference(seed, gaps):
    trees, forest, rows = draw(seed, gaps)
    rng = np.random.default_rng(seed)
    in_bag = (rng.random((len(rows), len(trees))) < 0.5).astype(np.uint8)
    spread = forest.share_leaves(forest.bins(rows))
    codes = forest.leaves(rows)
    found = out_of_bag_block(
        codes, in_bag, codes, in_bag, spread, spread, forest.nodes.leaf_offsets
    )
    usable = [
        [[t for t in range(len(trees)) if not (bx[t] or by[t])] for by in in_bag] for bx in in_bag
    ]
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            chosen = [trees[t] for t in usable[i][j]] or trees
            assert_allclose(found[i, j], reference.soft_same_leaf(chosen, x, y), atol=1e-12)
    assert_array_equal(found, found.T)


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_a_pair_depends_on_its_two_rows_alone(seed):
    _, forest, rows = draw(seed, gaps=0.1, n=140)
    forest = forest.settled(rows)
    rng = np.random.default_rng(seed)
    some, others = rng.permutation(140)[:9], rng.permutation(140)[:5]
    for options in ({}, {"alpha": 0.4, "beta": 0.4}):
        whole = ratio(forest, rows, **options)
        assert_array_equal(
            ratio(forest, rows[some], rows[others], **options), whole[np.ix_(some, others)]
        )
        assert_array_equal(whole, whole.T)


# -- deep trees, single leaves -------------------------------------------------------------------


@pytest.mark.parametrize("length", [3, 255, 256, 300])
def test_deep_trees_do_not_overflow(length):
    tree = chain(length)
    rows = np.array([[-1.0, -1.0], [-2.0, -(length + 5.0)], [1.0, 1.0], [-(length + 9.0), 3.0]])
    rows = np.vstack([rows, [[5.0, 5.0]]])
    forest = make([tree], 2).settled(rows)
    reference.mass(tree, list(rows))
    for options in ({}, {"parting": "once"}, {"alpha": 0.5, "beta": 0.5}):
        expected = slow(reference.ratio, [tree], rows, rows, **options)
        assert_allclose(ratio(forest, rows, **options), expected, atol=1e-12)
    leaves = forest.leaves(rows)
    found = ancestor_block(forest, leaves, leaves, node_values(forest, "zhu3", 5), "longer")
    assert_allclose(found, slow(reference.zhu3, [tree], rows, rows), atol=1e-12)


def test_trees_of_one_leaf_say_that_all_rows_are_alike():
    forest = make([leaf(), leaf()], 2).settled(ROWS)
    leaves = forest.leaves(ROWS)
    everyone = np.ones((4, 4))
    assert_array_equal(ratio(forest, ROWS), everyone)
    assert_array_equal(ratio(forest, ROWS, alpha=0.5), everyone)
    assert_array_equal(share_block(leaves, leaves), everyone)
    for method, kind in (("zhu2", "max"), ("zhu3", "longer"), ("zhu3", "max"), ("ting", "value")):
        value = node_values(forest, method, 4)
        assert_array_equal(ancestor_block(forest, leaves, leaves, value, kind), everyone)
    assert_array_equal(
        ancestor_block(forest, leaves, leaves, node_values(forest, "aryal", 4)), np.zeros((4, 4))
    )


def test_a_row_without_any_value_cannot_be_compared_by_ratio():
    forest = make([f2()], 2).settled(ROWS)
    assert np.isnan(ratio(forest, [(NA, NA)], ROWS)).all()
    mixed = make([f2(), leaf()], 2).settled(ROWS)
    assert_array_equal(ratio(mixed, [(NA, NA)], ROWS), np.ones((1, 4)))


# -- weights of rows in leaves ---------------------------------------------------------------------

TREES, LEAVES = 5, 4
OFFSETS = np.arange(TREES + 1) * LEAVES


def spread_rows(rng, n):
    """Rows of which some are spread over several leaves; and the weights of all, leaf by leaf."""
    codes = rng.integers(0, LEAVES, (n, TREES)).astype(np.uint16)
    full = np.zeros((n, TREES * LEAVES))
    leaf, weight, start = [], [], [0]
    for i in range(n):
        full[i, OFFSETS[:-1] + codes[i]] = 1.0
        if rng.random() < 0.5:
            shares = rng.random((TREES, LEAVES)) * (rng.random((TREES, LEAVES)) < 0.7)
            shares[:, 0] += 0.1
            full[i] = (shares / shares.sum(axis=1, keepdims=True)).ravel()
            leaf += np.flatnonzero(full[i]).tolist()
            weight += full[i][full[i] > 0].tolist()
        start.append(len(leaf))
    offsets, present = np.array(start, np.int64), np.zeros(n, bool)
    soft = (
        Ragged(np.array(leaf, np.int32), offsets, present),
        Ragged(np.array(weight, float), offsets, present),
    )
    return codes, soft, full


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_leaf_matrices_equal_the_sums(weighted, seed):
    rng = np.random.default_rng(seed)
    sides, full = [], []
    for n in (4, 6):
        codes, soft, weights = spread_rows(rng, n)
        use = rng.random((n, TREES)) * (rng.random((n, TREES)) < 0.6) if weighted else None
        sides.append(leaf_matrix(codes, OFFSETS, use, soft))
        full.append(weights * (1.0 if use is None else np.repeat(use, LEAVES, axis=1)))
    found = sum_products(*sides)
    assert_array_equal(found, sum_products(*sides[::-1]).T)  # to the last bit
    assert_allclose(found, full[0] @ full[1].T, atol=1e-12)


def test_weights_of_shared_leaves():
    rng = np.random.default_rng(0)
    one, other, weights = rng.integers(0, 3, (6, 5)), rng.integers(0, 3, (4, 5)), rng.random(5)
    of_one = leaf_matrix(one, OFFSETS, np.broadcast_to(weights, one.shape))
    expected = [[sum(weights[x == y]) for y in other] for x in one]
    assert_allclose(sum_products(of_one, leaf_matrix(other, OFFSETS)), expected, atol=1e-15)
