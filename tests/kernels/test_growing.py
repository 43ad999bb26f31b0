"""The stack of a growing tree, sorting, drawing, and the trees that come of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels.growing import (
    MADE,
    RANK_SHIFT,
    WAITING,
    RankedTree,
    ThresholdTree,
    draw_next,
    grow_gini,
    grow_random,
    next_node,
    sample_rows,
    sort_keys,
    sort_values,
    stack_children,
    stack_root,
)

seeds = st.integers(0, 2**32 - 1)


def test_nodes_come_in_preorder_and_know_their_children():
    left, right = np.full(16, -9), np.full(16, -9)
    stack = stack_root(8)
    seen = []
    while stack.count[WAITING]:
        node, low, high, depth = next_node(stack, left, right)
        seen.append((node, low, high, depth))
        if high - low > 2:
            stack_children(stack, node, low, (low + high) // 2, high, depth)
    assert seen == [
        (0, 0, 8, 0), (1, 0, 4, 1), (2, 0, 2, 2), (3, 2, 4, 2),
        (4, 4, 8, 1), (5, 4, 6, 2), (6, 6, 8, 2),
    ]  # fmt: skip
    assert stack.count[MADE] == 7
    assert left[:7].tolist() == [1, 2, -1, -1, 5, -1, -1]
    assert right[:7].tolist() == [4, 3, -1, -1, 6, -1, -1]


@settings(max_examples=40, deadline=None)
@given(seed=seeds, m=st.integers(0, 400), low_bits=st.sampled_from([0, RANK_SHIFT]))
def test_keys_are_sorted_and_carry_their_low_bits(seed, m, low_bits):
    rng = np.random.default_rng(seed)
    keys = (rng.integers(5, 70_000, m) << low_bits) | (np.arange(m) if low_bits else 0)
    size = max(m, 1)
    spare, counts = np.empty(size, np.int64), np.empty(256, np.int64)
    given_keys = np.concatenate([keys, np.zeros(size - m, np.int64)])
    found = sort_keys(given_keys, m, low_bits, spare, counts)
    assert_array_equal(found[:m], np.sort(keys))


@settings(max_examples=40, deadline=None)
@given(seed=seeds, m=st.integers(0, 400), values=st.sampled_from([3, 10_000]))
def test_values_are_sorted_with_their_items(seed, m, values):
    rng = np.random.default_rng(seed)
    x, item = rng.integers(0, values, m).astype(float), rng.permutation(m)
    expected = sorted(zip(x.tolist(), item.tolist(), strict=True))
    sort_values(x, item, m, np.empty(256, np.int64))
    assert list(zip(x.tolist(), item.tolist(), strict=True)) == expected


def test_columns_are_drawn_without_replacement():
    state, pool = np.array([99], np.int64), np.arange(7)
    drawn = [int(draw_next(state, pool, i)) for i in range(7)]
    assert sorted(drawn) == list(range(7))
    assert pool.tolist() == drawn
    firsts = {int(draw_next(state, np.arange(7), 0)) for _ in range(200)}
    assert firsts == set(range(7))


@pytest.mark.parametrize("replace", [False, True])
def test_samples_hold_both_labels(replace):
    labels = np.zeros(50, np.uint8)
    labels[7] = 1
    rows = np.empty(25, np.int64)
    assert sample_rows(50, 25, replace, labels, np.array([5], np.int64), rows) >= 0
    assert 7 in rows
    assert replace or len(set(rows.tolist())) == 25
    assert sample_rows(50, 25, replace, np.zeros(50, np.uint8), np.array([5], np.int64), rows) == -1


def test_the_gini_tree_of_two_numbers():
    codes = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], np.int32)
    labels, rows = np.array([0, 0, 1, 1], np.uint8), np.arange(4)
    tree = RankedTree(*(np.empty(8, np.int32) for _ in range(5)))
    state = np.array([3], np.int64)
    stack, numbers = stack_root(4), np.zeros(2, np.uint8)
    grow_gini(codes, numbers, labels, rows, np.arange(2), 2, 9, state, stack, 99, tree)
    assert stack.count.tolist() == [0, 3]
    assert (tree.feature[0], tree.cut[0], tree.above[0]) in {(0, 1, 2), (1, 0, 1)}
    assert tree.feature[1:3].tolist() == [-1, -1]
    assert (tree.left[0], tree.right[0]) == (1, 2)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, n=st.integers(2, 40), pause=st.integers(1, 60))
def test_a_tree_grown_in_parts_is_the_same_tree(seed, n, pause):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (3, n)).astype(np.int32)
    labels, category = rng.integers(0, 2, n).astype(np.uint8), np.array([0, 1, 0], np.uint8)

    def grow(pause):
        tree = RankedTree(*(np.full(2 * n, -9, np.int32) for _ in range(5)))
        rows, pool, stack = np.arange(n), np.arange(3), stack_root(n)
        state, calls = np.array([seed + 1], np.int64), 0
        while stack.count[WAITING]:
            grow_gini(codes, category, labels, rows, pool, 2, 9, state, stack, pause, tree)
            calls += 1
        return np.stack(tree), calls

    (whole, once), (parts, calls) = grow(10**9), grow(pause)
    assert whole.tolist() == parts.tolist()
    assert once == 1
    assert calls > 1 or pause > n or whole[0, 0] < 0  # unless the root is a leaf


@settings(max_examples=30, deadline=None)
@given(seed=seeds, n=st.integers(1, 40))
def test_random_cuts_separate_different_rows(seed, n):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (2, n)).astype(float)
    values[0, rng.random(n) < 0.1] = np.nan
    size = 2 * n
    feature, left, right = (np.empty(size, np.int32) for _ in range(3))
    tree = ThresholdTree(feature, np.empty(size), left, right)
    state = np.array([seed + 1], np.int64)
    made = grow_random(values, np.array([0, 1], np.uint8), np.arange(n), 99, state, tree)
    known = values[:, ~np.isnan(values).any(axis=0)]

    def leaf_of(row):
        at = 0
        while tree.feature[at] >= 0:
            f, cut = tree.feature[at], tree.threshold[at]
            goes = row[f] == cut if f == 1 else row[f] <= cut
            at = tree.left[at] if goes else tree.right[at]
        return at

    leaves = {}
    for row in known.T:
        leaves.setdefault(leaf_of(row), set()).add(tuple(row))
    assert made <= 2 * n - 1
    assert all(len(rows) == 1 for rows in leaves.values())
