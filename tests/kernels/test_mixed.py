"""Gower's sums: blocks, pairs and single columns against one another and against plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels import mixed

seeds = st.integers(0, 2**32 - 1)


def difference(x, y, j, ends, alpha, beta, levels, starts):
    """The difference of two cells; None where they cannot be compared."""
    if np.isnan(x) or np.isnan(y):
        return None
    if j < ends[0]:
        return min(abs(x - y), 1.0)
    if j < ends[1]:
        return 1.0 - (1.0 - min(abs(x - y), 1.0) ** beta[j]) ** alpha[j]
    if j < ends[3]:
        return None if ends[2] <= j and x == y == 0.0 else float(x != y)
    return levels[starts[j, 0] + int(x) * starts[j, 1] + int(y)]


@settings(max_examples=80)
@given(
    seed=seeds,
    counts=st.tuples(*[st.integers(0, 5)] * 5),
    gaps=st.sampled_from([0.0, 0.3]),
    midpoint=st.booleans(),
    equal=st.booleans(),
)
def test_both_sums_of_every_pair(seed, counts, gaps, midpoint, equal):
    rng = np.random.default_rng(seed)
    ends = np.cumsum(counts)
    columns, n, m = int(ends[-1]), 3, int(rng.choice([2, 300]))
    sides = []
    for rows in (n, m):
        x = rng.integers(0, 3, (rows, columns)).astype(float)
        x[:, : ends[1]] = rng.random((rows, ends[1])) * rng.choice([1.0, 2.0])
        x[:, ends[2] : ends[3]] = rng.integers(0, 2, (rows, counts[3]))
        x[rng.random(x.shape) < gaps] = np.nan
        sides.append(x)
    a, b = sides
    weight = np.ones(columns) if equal else rng.random(columns)
    alpha, beta = rng.choice([1.0, 2.0], columns), rng.choice([0.5, 1.0], columns)
    levels, starts = rng.random(9 * counts[4] + 1), np.zeros((columns, 2), np.int64)
    starts[ends[3] :, 0], starts[ends[3] :, 1] = 9 * np.arange(counts[4]), 3
    tables = alpha, beta, levels, starts
    against, compared = np.zeros((2, n, m))
    mixed.mixed_block(a, b, ends, weight, *tables, midpoint, against, compared)
    for i in range(n):
        for j in {0, m // 2, m - 1}:
            minus = total = 0.0
            for c in range(columns):
                d = difference(a[i, c], b[j, c], c, ends, *tables)
                absent = ends[2] <= c < ends[3] and a[i, c] == b[j, c] == 0.0
                if d is not None:
                    minus, total = minus + weight[c] * d, total + weight[c]
                elif midpoint and not absent:
                    minus, total = minus + weight[c] * 0.5, total + weight[c]
            np.testing.assert_allclose([against[i, j], compared[i, j]], [minus, total], rtol=1e-14)
    left, right = rng.integers(0, n, 9), rng.integers(0, m, 9)
    pairs = np.empty((2, 9))
    mixed.mixed_pair_sums(a, b, left, right, ends, weight, *tables, midpoint, *pairs)
    assert_array_equal(pairs, [against[left, right], compared[left, right]])
    out = np.empty((9, columns))
    mixed.mixed_pairs(a[left], b[right], ends, *tables, out)
    for pair, (i, j) in enumerate(zip(left, right, strict=True)):
        cells = [difference(a[i, c], b[j, c], c, ends, *tables) for c in range(columns)]
        wanted = [np.nan if d is None else d for d in cells]
        np.testing.assert_allclose(out[pair], wanted, rtol=1e-14)
    whole = ends[3] == ends[2] and (midpoint or not (np.isnan(a).any() or np.isnan(b).any()))
    assert bool(mixed.all_compared(a, b, ends, midpoint)) is bool(whole)


@settings(max_examples=40)
@given(seeds)
def test_nearest_centers(seed):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 4, (8, 2)).astype(float)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    codes, starts = rng.integers(-2, 4, (8, 2)), np.array([0, 3, 5])
    means, adds, pays = rng.random((3, 2)), rng.random((3, 5)), rng.random((3, 2))
    labels, near, other = np.empty(8, np.int64), np.empty(8), np.empty(8)
    mixed.assign_centers(numbers, codes, starts, means, adds, pays, labels, near, other)
    for i in range(8):
        totals = []
        for k in range(3):
            total = np.nansum((numbers[i] - means[k]) ** 2)
            for j in range(2):
                total += pays[k, j] if codes[i, j] != -1 else 0.0  # -1 is missing, -2 a new level
                if 0 <= codes[i, j] < starts[j + 1] - starts[j]:
                    total += adds[k, starts[j] + codes[i, j]]
            totals.append(total)
        assert labels[i] == np.argmin(totals)
        np.testing.assert_allclose([near[i], other[i]], np.sort(totals)[:2], rtol=1e-14)
