"""Balanced trees on small samples: shape, order alone, failures, relaxed trees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike._runtime.random_state import make_generator
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.saving.fields import Misfit
from lookalike.trees.thresholds.proximity import share_block
from lookalike.trees.thresholds.stochastic import BalanceError, grow_stochastic

seeds = st.integers(0, 10**6)


def check_node(forest, t, v, values, rows, relaxed=False):
    """Walk down a tree of the whole table and check each cut against the definition."""
    if len(rows) == 1:
        return
    f, cut = forest.feature[t, v], forest.cut[t, v]
    ordered = np.sort(values[rows, f])
    m = len(rows)
    assert ordered[m // 2 - 1] < ordered[m // 2]
    assert cut == ordered[m // 2 - 1]
    goes = values[rows, f] <= cut
    assert goes.sum() == m // 2
    if 2 * v + 2 < forest.feature.shape[1]:
        check_node(forest, t, 2 * v + 1, values, rows[goes])
        check_node(forest, t, 2 * v + 2, values, rows[~goes])


@settings(max_examples=20, deadline=None)
@given(seed=seeds, height=st.integers(1, 5))
def test_a_tree_of_all_rows_halves_them_down_to_one_row_per_leaf(seed, height):
    rng = np.random.default_rng(seed)
    values = rng.random((2**height, 3))
    forest = grow_stochastic(values, 4, height, random_state=seed)
    codes = forest.codes(values)
    for t in range(4):
        check_node(forest, t, 0, values, np.arange(2**height))
        assert_array_equal(np.sort(codes[:, t]), np.arange(2**height))


def test_columns_are_drawn_alike_and_samples_differ():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.permutation(200) / 200 for _ in range(4)])
    forest = grow_stochastic(values, 2000, 3, random_state=1)
    share = np.bincount(forest.feature.ravel(), minlength=4) / forest.feature.size
    assert_allclose(share, 0.25, atol=0.03)
    roots = forest.cut[forest.feature[:, 0] == 0, 0]
    assert len(np.unique(roots)) > 20
    # The root of a sample of 8 cuts below its fourth value: on average at 4/9 of a uniform column.
    assert_allclose(roots.mean(), 4 / 9, atol=0.03)


def plain_codes(values, n_trees, height, rng):
    """Leaf codes of trees grown and walked as the definition says, one row at a time."""
    codes = np.empty((len(values), n_trees), int)
    for t in range(n_trees):
        tree = None
        while tree is None:
            tree = plain_tree(values, rng.choice(len(values), 2**height, replace=False), rng)
        for i, x in enumerate(values):
            v, code = tree, 0
            while v is not True:
                right = x[v[0]] > v[1]
                v, code = v[3] if right else v[2], 2 * code + right
            codes[i, t] = code
    return codes


def plain_tree(values, rows, rng):
    """(column, cut, left, right), True for a leaf, None if it cannot be balanced."""
    if len(rows) == 1:
        return True
    for a in rng.permutation(values.shape[1]):
        ordered = np.sort(values[rows, a])
        cut, above = ordered[len(rows) // 2 - 1], ordered[len(rows) // 2]
        if cut < above:
            goes = values[rows, a] <= cut
            children = [plain_tree(values, rows[side], rng) for side in (goes, ~goes)]
            return None if None in children else (a, cut, *children)
    return None


def test_similarities_equal_those_of_a_plain_forest_on_average():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.random(30), rng.integers(0, 6, 30)])  # one column with ties
    plain = plain_codes(values, 1500, 3, rng)
    ours = grow_stochastic(values, 6000, 3, random_state=0).codes(values)
    s = [(codes[:, None] == codes).mean(axis=2) for codes in (plain, ours)]
    error = np.sqrt(np.maximum(s[1] * (1 - s[1]), 1e-3) * (1 / 1500 + 1 / 6000))
    assert (np.abs(s[0] - s[1]) / error).max() < 5


@settings(max_examples=25, deadline=None)
@given(seed=seeds, side=st.sampled_from(["left", "random"]))
def test_an_increasing_change_of_scale_changes_no_leaf(seed, side):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(80, 3)), 1)
    new = np.round(rng.normal(size=(40, 3)), 1)
    maps = [np.exp, lambda x: x**3 + x, np.arctan]

    def change(rows):
        return np.stack([f(x) for f, x in zip(maps, rows.T, strict=True)], axis=1)

    codes = grow_stochastic(values, 8, 3, side=side, random_state=seed).codes(new)
    other = grow_stochastic(change(values), 8, 3, side=side, random_state=seed).codes(change(new))
    assert_array_equal(codes, other)


@pytest.mark.parametrize(
    ("side", "sign", "expected"),
    [("left", 1, [1 / 3, 2 / 3, 0]), ("left", -1, [2 / 3, 1 / 3, 0]), ("random", 1, [0.5, 0.5, 0])],
)
def test_exact_expectation_of_three_values(side, sign, expected):
    values = sign * np.array([[1.0], [2.0], [3.0]])
    codes = grow_stochastic(values, 20_000, 1, side=side, random_state=0).codes(values)
    s = share_block(codes, codes)
    assert_allclose([s[0, 1], s[1, 2], s[0, 2]], expected, atol=0.015)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, height=st.sampled_from([1, 2, 5, 8, 9]), single=st.booleans())
def test_codes_equal_a_walk(seed, height, single):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(600, 5)).astype(np.float32 if single else np.float64)
    forest = grow_stochastic(values, 7, height, side="random", random_state=seed)
    codes = forest.codes(values[:150])
    assert codes.dtype == (np.uint8 if height <= 8 else np.uint16)
    for i, t in rng.integers(0, [150, 7], size=(60, 2)):
        v = 0
        while v < forest.feature.shape[1]:
            v = 2 * v + (1 if values[i, forest.feature[t, v]] <= forest.cut[t, v] else 2)
        assert codes[i, t] == v - forest.feature.shape[1]
    assert_array_equal(codes, forest.flat.leaves(values[:150]))
    assert_array_equal(forest.leaf_codes, np.arange(7 << height))


def test_threads_and_seeds():
    values = np.random.default_rng(0).random((300, 3))
    one = grow_stochastic(values, 100, 4, random_state=5, n_jobs=1)
    many = grow_stochastic(values, 100, 4, random_state=5, n_jobs=3)
    other = grow_stochastic(values, 100, 4, random_state=6)
    assert_array_equal(one.cut, many.cut)
    assert_array_equal(one.feature, many.feature)
    assert (one.feature != other.feature).any()
    assert_array_equal(one.codes(values, n_jobs=1), many.codes(values, n_jobs=3))
    # The first trees of a larger forest are those of a smaller one.
    assert_array_equal(grow_stochastic(values, 10, 4, random_state=5).cut, one.cut[:10])


def test_too_few_different_rows_names_the_largest_height():
    with pytest.raises(TooFewRows, match=r"at least 4 different rows, found 2 of n_samples=4"):
        grow_stochastic(np.array([[0.0], [0.0], [0.0], [1.0]]), 5, 2)
    with pytest.raises(TooFewRows, match="Use height=4"):
        grow_stochastic(np.random.default_rng(0).random((31, 2)), 5, 5)
    with pytest.raises(TooFewRows, match="at least two rows that differ"):
        grow_stochastic(np.zeros((50, 2)), 5, 1)
    with pytest.raises(InvalidInput, match="a height of at most 16"):
        grow_stochastic(np.zeros((50, 2)), 5, 17)


def stuck():
    """16 different rows that no column halves at the root of a sample of 8 of them."""
    values = np.zeros((16, 16))
    np.fill_diagonal(values, 1.0)
    return values


def test_a_table_that_cannot_be_balanced_says_so():
    with pytest.raises(BalanceError, match=r"0 of 5 were built.*Use height=2.*on_fail"):
        grow_stochastic(stuck(), 5, 3, max_retries=7, random_state=0)


def test_relaxed_trees_cut_nearest_to_the_middle():
    values = stuck()
    forest = grow_stochastic(values, 12, 3, on_fail="relax", random_state=0)
    assert_array_equal(forest.relaxed, np.arange(12))
    codes = forest.codes(values)
    for t in range(12):
        # Each cut takes one row off the sample; the rest goes left, three levels down.
        assert_array_equal(np.sort(np.unique(codes[:, t])), [0, 1, 2, 4])
        assert (forest.feature[t] >= 0).sum() == 3
        assert len(set(forest.feature[t][forest.feature[t] >= 0])) == 3
    flat = forest.flat
    assert_array_equal(np.diff(flat.offsets), np.full(12, 7))
    numbers = flat.leaves(values) + flat.nodes.leaf_offsets[:-1]
    assert_array_equal(forest.leaf_codes[numbers], codes + 8 * np.arange(12))


def test_relaxed_trees_leave_equal_rows_together():
    values = np.repeat([[0.0], [1.0]], [6, 2], axis=0) + [[0.0, 0.0]]
    values[:2, 1] = 5.0
    values = np.concatenate([values, [[9.0, 9.0]]])
    forest = grow_stochastic(values, 30, 2, on_fail="relax", max_retries=1, random_state=0)
    codes = forest.codes(values)
    for rows in (slice(0, 2), slice(2, 6), slice(6, 8)):
        assert (codes[rows] == codes[rows][:1]).all()
    assert len(forest.relaxed) > 0


def test_a_column_with_a_gap_in_the_sample_is_not_eligible():
    rng = np.random.default_rng(0)
    values = rng.random((64, 3))
    values[::2, 0] = np.nan
    forest = grow_stochastic(values, 200, 5, random_state=0)
    assert (forest.feature[:, 0] != 0).all()
    assert (forest.feature == 0).any()  # further down, where a node has no gap
    assert np.isfinite(forest.cut).all()


@pytest.mark.parametrize("bad", [-1, 1.5, True, "x"])
def test_a_seed_must_be_a_seed(bad):
    with pytest.raises(InvalidInput, match=r"random_state=.*: needs None, or an integer"):
        make_generator(bad)


def test_a_random_state_of_the_old_kind_is_taken():
    one, two = (make_generator(np.random.RandomState(3)).random() for _ in range(2))
    assert one == two


def test_a_loaded_forest_has_as_many_tests_as_its_height_says():
    forest = grow_stochastic(np.arange(8.0)[:, None], 2, 2, random_state=0)
    forest.check_loaded({})
    for feature, height in (
        (forest.feature, 3),
        (forest.feature[:, :2], 2),
        (forest.feature[:0], 2),
    ):
        with pytest.raises(Misfit, match="trees of"):
            replace(forest, feature=feature, height=height).check_loaded({})
    early = forest.feature.copy()
    early[1, 2] = -1
    with pytest.raises(Misfit, match="every tree with an early leaf"):
        replace(forest, feature=early, relaxed=np.array([0])).check_loaded({})
    replace(forest, feature=early, relaxed=np.array([1])).check_loaded({})
