"""Balanced trees: leaf codes of all tests together and by walking, and halves of equal size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels.balanced import encode_by_all_tests, encode_by_walking, grow_balanced
from lookalike.kernels.growing import STATES

seeds = st.integers(0, 2**32 - 1)


def slow(row, feature, cut, height):
    v, code = 0, 0
    for _ in range(height):
        right = row[feature[v]] > cut[v]
        v, code = 2 * v + 1 + right, 2 * code + right
    return code


@settings(max_examples=40)
@given(
    seeds, st.integers(1, 8), st.integers(1, 70), st.integers(1, 130),
    st.sampled_from([np.float32, np.float64]),
)  # fmt: skip
def test_codes_are_the_answers_along_the_path(seed, height, n_trees, n, kind):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (n, 3)).astype(kind)
    feature = rng.integers(0, 3, (n_trees, 2**height - 1)).astype(np.int32)
    cut = rng.integers(0, 5, feature.shape).astype(kind)
    together, alone = np.empty((2, n, n_trees), np.uint8)
    encode_by_all_tests(values, feature, cut, height, together)
    encode_by_walking(values, feature, cut, height, alone)
    assert_array_equal(together, alone)
    for i, t in {(0, 0), (n - 1, n_trees - 1), (n // 2, n_trees // 2)}:
        assert alone[i, t] == slow(values[i], feature[t], cut[t], height)


def grow(values, height, relax=False, either_side=False, seed=0, n_trees=5):
    inner = 2**height - 1
    states = np.random.default_rng(seed).integers(1, STATES, n_trees)
    feature, cut = np.empty((n_trees, inner), np.int32), np.empty((n_trees, inner))
    failed = np.full(n_trees, -2)
    columns = np.ascontiguousarray(values.T)
    grow_balanced(columns, height, 20, relax, either_side, states, feature, cut, failed)
    return feature, cut, failed


@pytest.mark.parametrize("either_side", [False, True])
def test_every_leaf_holds_one_row_of_the_sample(either_side):
    """A sample of all 8 rows is halved three times."""
    values = np.random.default_rng(0).random((8, 2))
    feature, cut, failed = grow(values, 3, either_side=either_side)
    assert_array_equal(failed, [0] * 5)
    codes = np.empty((8, 5), np.uint8)
    encode_by_walking(values, feature, cut, 3, codes)
    assert_array_equal(np.sort(codes, axis=0), np.tile(np.arange(8)[:, None], 5))
    on_values = np.isin(cut, values)
    assert on_values.all() != either_side  # or just below the next value


def test_ties_cannot_be_halved_unless_cuts_are_relaxed():
    values = np.array([[0.0], [0.0], [0.0], [1.0]])
    _, _, failed = grow(values, 2)
    assert_array_equal(failed, [-1, -2, -2, -2, -2])  # gives up at the first
    feature, cut, failed = grow(values, 2, relax=True)
    assert_array_equal(failed, [20] * 5)
    assert_array_equal(feature, [[0, -1, -1]] * 5)  # three equal rows are a leaf, and so is one
    assert_array_equal(cut[:, 0], [0.0] * 5)


def test_a_column_with_a_missing_value_is_not_tried():
    values = np.random.default_rng(0).random((4, 2))
    values[1, 0] = np.nan
    feature, _, failed = grow(values, 1, n_trees=30)
    missing_drawn = feature[:, 0] == 1
    assert missing_drawn.any()
    assert_array_equal(failed, [0] * 30)
