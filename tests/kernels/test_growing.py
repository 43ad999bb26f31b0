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
    best_cut,
    draw_below,
    draw_bits,
    draw_next,
    draw_rows,
    draw_unit,
    group_rows,
    grow_gini,
    grow_random,
    next_node,
    partition_node,
    sample_rows,
    sort_keys,
    sort_values,
    stack_children,
    stack_root,
)

seeds = st.integers(0, 2**32 - 1)


def ranked_tree(size):
    return RankedTree(*np.full((5, size), -1, np.int32))


def keys(n):
    return (*np.empty((2, n), np.int64), np.empty(256, np.int64))


def random_tree(values, category, depth, state):
    """Grow a tree by random cuts; return it and its number of nodes."""
    d, n = values.shape
    feature, left, right = np.full((3, 2 * n), -1, np.int32)
    tree, stack = ThresholdTree(feature, np.zeros(2 * n), left, right), stack_root(n)
    scratch = np.arange(d), np.empty(n)
    grow_random(values, np.array(category), np.arange(n), depth, *scratch, state, stack, tree)
    return tree, int(stack.count[MADE])


def test_nodes_come_in_preorder_and_know_their_children():
    left, right = np.full((2, 16), -1)
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
    pairs = list(zip(x.tolist(), item.tolist(), strict=True))
    expected = sorted(pairs, key=lambda pair: pair[0])  # stable, as ours
    sort_values(x, item, m, np.empty(m), np.empty(m, np.int64))
    assert list(zip(x.tolist(), item.tolist(), strict=True)) == expected


def test_columns_are_drawn_without_replacement():
    state, pool = np.array([99], np.int64), np.arange(7)
    drawn = [int(draw_next(state, pool, i)) for i in range(7)]
    assert sorted(drawn) == list(range(7))
    assert pool.tolist() == drawn
    firsts = {int(draw_next(state, np.arange(7), 0)) for _ in range(200)}
    assert firsts == set(range(7))


def test_the_gini_tree_of_two_numbers():
    codes = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], np.int32)
    labels, rows = np.array([0, 0, 1, 1], np.uint8), np.arange(4)
    tree = ranked_tree(8)
    state = np.array([3], np.int64)
    stack, numbers = stack_root(4), np.zeros(2, np.uint8)
    grow_gini(codes, numbers, labels, rows, np.arange(2), 2, 9, state, stack, 99, keys(4), tree)
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
        tree = ranked_tree(2 * n)
        rows, pool, stack = np.arange(n), np.arange(3), stack_root(n)
        state, calls = np.array([seed + 1], np.int64), 0
        while stack.count[WAITING]:
            grow_gini(codes, category, labels, rows, pool, 2, 9, state, stack, pause, keys(n), tree)
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
    tree, made = random_tree(values, [0, 1], 99, np.array([seed + 1], np.int64))
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


def test_neighboring_floats_are_separated_by_every_draw():
    """Between two neighbors there is no number: a quarter of the draws round to the larger one."""
    values, state = np.array([[1.0, np.nextafter(1.0, 2.0)]]), np.array([26], np.int64)
    for _ in range(50):
        tree, made = random_tree(values, [0], 1, state)
        assert (made, tree.threshold[0]) == (3, 1.0)


def test_the_stream_of_bits_is_that_of_its_formula():
    """Compiled and plain runs, and every machine, must draw the same trees."""
    at, state = 123456789012345, np.array([123456789012345], np.int64)
    bits = []
    for _ in range(40):
        low, high = at % 2**32, at // 2**32
        bits.append(low ^ high)
        at = 698769069 * low + high
    assert [int(draw_bits(state)) for _ in range(40)] == bits
    assert state[0] == at
    units = [
        ((a >> 5) * 2**26 + (b >> 6)) / 2**53 for a, b in zip(bits[::2], bits[1::2], strict=True)
    ]
    state[0] = 123456789012345
    assert [float(draw_unit(state)) for _ in range(20)] == units
    state[0] = 123456789012345
    assert [draw_below(state, 7) for _ in range(20)] == [int(7 * unit) for unit in units]
    # Rows without a repeat, and the order as it was.
    state[0] = 123456789012345
    order, rows, swaps = np.arange(9), np.empty(5, np.int64), np.empty(5, np.int64)
    draw_rows(state, 9, order, rows, swaps)
    expected = list(range(9))
    for i in range(5):
        j = i + int(units[i] * (9 - i))
        expected[i], expected[j] = expected[j], expected[i]
    assert rows.tolist() == expected[:5]
    assert order.tolist() == list(range(9))
    pool = np.arange(4)
    state[0] = 123456789012345
    assert draw_next(state, pool, 1) == 1 + int(3 * units[0])


def test_rows_are_grouped_in_their_order():
    grouped, ends = np.full(6, -1), np.full(4, -1)
    groups = np.array([2, 0, 2, 0, 2, 9])
    group_rows(np.array([4, 3, 0, 1, 2, 5]), 5, groups, 3, grouped, ends)
    assert grouped.tolist() == [3, 1, 4, 0, 2, -1]
    assert ends.tolist() == [0, 2, 2, 5]


def slow_gain(codes, labels, code, category):
    """Half of what a cut takes off m times the Gini impurity; None where a side is empty."""
    left = codes == code if category else codes <= code
    if left.all() or not left.any():
        return None

    def gini(y):
        return len(y) * 2 * y.mean() * (1 - y.mean())

    return (gini(labels) - gini(labels[left]) - gini(labels[~left])) / 2


@settings(max_examples=60, deadline=None)
@given(seed=seeds, m=st.integers(2, 12), category=st.booleans())
def test_the_best_cut_of_sorted_keys_is_that_of_trying_all(seed, m, category):
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, 5, m), rng.integers(0, 2, m)
    keys = np.sort(2 * codes + labels)
    gain, found, above = best_cut(keys, m, m - labels.sum(), labels.sum(), category)
    every = {code: slow_gain(codes, labels, code, category) for code in sorted(set(codes.tolist()))}
    every = {code: value for code, value in every.items() if value is not None}
    if not every:
        assert (gain, found, above) == (-1.0, -1, -1)
        return
    most = max(every.values())
    assert gain == pytest.approx(most, abs=1e-12)
    assert found == next(code for code, value in every.items() if value > most - 1e-12)
    after = codes[codes > found]
    assert above == (after.min() if len(after) else found)


def test_missing_rows_join_the_larger_side():
    for cells, cut, category, missing, left in (
        ([1, 5, -1, 2, 6], 2, 0, -1, {0, 2, 3}),  # two and two: left
        ([1, 5, -1, 7, 6], 2, 0, -1, {0}),
        ([1, 1, -1, 1, 6], 1, 1, -1, {0, 1, 2, 3}),
        ([0, 1, -1, 2, 6], 1, 1, -1, {1}),
        ([2, 2, 3, 3, 3], 2, 0, -1, {0, 1}),
        ([1.0, np.nan, 5.0, 6.0, 7.0], 1.0, 0, np.nan, {0}),
        ([1.0, np.nan, 5.0, 1.0, 7.0], 1.0, 0, np.nan, {0, 1, 3}),
    ):
        rows = np.arange(5)
        middle = partition_node(np.array(cells), rows, 0, 5, cut, category, missing)
        assert set(rows[:middle].tolist()) == left
        assert sorted(rows.tolist()) == list(range(5))
    rows = np.array([9, 0, 1, 9])
    assert partition_node(np.array([5, 1]), rows, 1, 3, 2, 0, -1) == 2
    assert rows.tolist() == [9, 1, 0, 9]


@settings(max_examples=30, deadline=None)
@given(seed=seeds, n=st.integers(2, 14), depth=st.integers(0, 4))
def test_a_gini_tree_takes_the_best_cut_of_every_node(seed, n, depth):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (3, n)).astype(np.int32)
    labels, category = rng.integers(0, 2, n).astype(np.uint8), np.array([0, 1, 0], np.uint8)
    tree = ranked_tree(2 * n)
    state, stack = np.array([seed + 1], np.int64), stack_root(n)
    grow_gini(
        codes,
        category,
        labels,
        np.arange(n),
        np.arange(3),
        3,
        depth,
        state,
        stack,
        10**9,
        keys(n),
        tree,
    )
    made = 0

    def check(node, rows, level):
        nonlocal made
        made += 1
        y, gains = labels[rows], {}
        for f in range(3):
            known = rows[codes[f, rows] >= 0]
            for code in set(codes[f, known].tolist()):
                gain = slow_gain(codes[f, known], labels[known], code, category[f])
                if gain is not None:
                    gains[f, code] = gain
        f, cut = int(tree.feature[node]), int(tree.cut[node])
        if len(set(y.tolist())) < 2 or level >= depth or not gains:
            assert (f, cut, tree.left[node], tree.right[node]) == (-1, -1, -1, -1)
            return
        assert gains[f, cut] == pytest.approx(max(gains.values()), abs=1e-12)
        x = codes[f, rows]
        left = x == cut if category[f] else (x <= cut)
        known = x >= 0
        left = np.where(known, left, 2 * (left & known).sum() >= known.sum())
        check(int(tree.left[node]), rows[left], level + 1)
        check(int(tree.right[node]), rows[~left], level + 1)

    check(0, np.arange(n), 0)
    assert stack.count.tolist() == [0, made]


def test_columns_that_do_not_vary_are_not_counted_as_tried():
    codes = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [-1, -1, -1, 3]], np.int32)
    labels = np.array([0, 0, 1, 1], np.uint8)
    for seed in range(1, 12):
        tree = ranked_tree(8)
        state, stack = np.array([seed], np.int64), stack_root(4)
        numbers, pool = np.zeros(3, np.uint8), np.arange(3)
        grow_gini(
            codes, numbers, labels, np.arange(4), pool, 1, 9, state, stack, 10**9, keys(4), tree
        )
        assert (tree.feature[0], tree.cut[0], tree.above[0]) == (1, 0, 1)


def test_random_trees_stop_at_their_depth_and_where_nothing_differs():
    def grow(values, category, depth, seed=1):
        return random_tree(np.array(values, float), category, depth, np.array([seed], np.int64))

    line = [[0.0, 1.0, 2.0, 3.0, 4.0]]
    assert [grow(line, [0], depth)[1] for depth in (0, 1, 9)] == [1, 3, 9]
    assert grow([[2.0, 2.0, np.nan]], [0], 9)[1] == 1
    assert grow([[2.0]], [0], 9)[1] == 1
    cuts = [
        float(grow(line, [0], 1, seed)[0].threshold[0])
        for seed in range(10**15, 40 * 10**15, 10**15 + 7)
    ]
    assert 0.0 <= min(cuts) < 1.0 < 3.0 < max(cuts) < 4.0
    # Each category as likely as the others, however many rows have it.
    often = [[5.0] * 18 + [6.0, 7.0]]
    drawn = [
        float(grow(often, [1], 1, 7919 * 10**12 * seed)[0].threshold[0]) for seed in range(1, 200)
    ]
    assert all(40 < drawn.count(value) < 95 for value in (5.0, 6.0, 7.0))
    # The widest range of floats.
    huge = [[-1.7e308, 1.7e308]]
    tree, made = grow(huge, [0], 9)
    assert (made, np.isfinite(tree.threshold[0])) == (3, True)


def test_samples_are_drawn_with_and_without_replacement():
    rows, state = np.empty(6, np.int64), np.array([5], np.int64)
    sample_rows(6, False, state, rows)
    assert sorted(rows.tolist()) == list(range(6))
    times = np.zeros(50)
    for _ in range(200):
        sample_rows(6, True, state, rows)
        assert 0 <= rows.min() <= rows.max() < 6
        sample_rows(50, False, state, rows)
        assert len(set(rows.tolist())) == 6
        times[rows] += 1
    assert 5 < times.min() < times.max() < 50  # 24 on average
    drawn = np.empty(50, np.int64)
    sample_rows(50, True, state, drawn)
    assert 10 < 50 - len(set(drawn.tolist())) < 30  # a third is never drawn, about
