"""Distances of rows of numbers and of ranks, against sums in column order."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels import distances
from lookalike.kernels.distances import CHEBYSHEV, CITYBLOCK, EUCLIDEAN, HALF_SQUARED

seeds = st.integers(0, 2**32 - 1)


def slow(gaps, code):
    """One distance from the differences of its columns, added in their order."""
    total = 0.0
    for gap in map(abs, gaps):
        total = (
            max(total, gap)
            if code == CHEBYSHEV
            else total + gap * (1 if code == CITYBLOCK else gap)
        )
    return math.sqrt(total) if code == EUCLIDEAN else 0.5 * total if code == HALF_SQUARED else total


@settings(max_examples=60)
@given(seeds, st.sampled_from([1, 3, 4, 9]), st.sampled_from([1, 5, 64, 70]), st.integers(0, 5))
def test_blocks_and_pairs_are_sums_in_column_order(seed, n, m, columns):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, columns)), rng.normal(size=(m, columns))
    left, right = rng.integers(0, n, 11), rng.integers(0, m, 11)
    for code in (EUCLIDEAN, CITYBLOCK, CHEBYSHEV, HALF_SQUARED):
        out, pairs = np.empty((n, m)), np.empty(11)
        distances.distance_block(a, b, code, out)
        assert_array_equal(out, [[slow((x - y).tolist(), code) for y in b] for x in a])
        distances.distance_pairs(a, b, left, right, code, pairs)
        assert_array_equal(pairs, out[left, right])


def test_lengths_whose_squares_no_float_holds():
    for scale in (1e-300, 1e-170, 1e160, 1e300):
        a, b = scale * np.array([[3.0, 0.0]] * 5), scale * np.array([[0.0, 4.0], [3.0, 0.0]])
        out = np.empty((5, 2))
        distances.distance_block(a, b, EUCLIDEAN, out)
        assert_allclose(out, [[5 * scale, 0.0]] * 5, rtol=1e-15)


@settings(max_examples=60)
@given(seeds, st.sampled_from([np.float32, np.float64]), st.integers(1, 8))
def test_ranks(seed, dtype, columns):
    """Unequal values are a half further apart for each of the two rows that is new."""
    rng = np.random.default_rng(seed)
    sides, (n, m) = [], (5, 70)
    for rows in (n, m):
        value = rng.integers(0, 6, (rows, columns)).astype(float)
        sides += [(2 * value).astype(dtype), value, rng.integers(0, 2, rows).astype(float)]
    (twice, value, new), (twice_b, value_b, new_b) = sides[:3], sides[3:]
    extra = 0.5 * (new[:, None] + new_b)[..., None]
    gaps = np.where(value[:, None] != value_b, np.abs(value[:, None] - value_b) + extra, 0.0)
    out = np.empty((n, m))
    for code in (EUCLIDEAN, CITYBLOCK, CHEBYSHEV):
        distances.ranked_block(*sides, code, out)
        assert_array_equal(out, [[slow(pair.tolist(), code) for pair in row] for row in gaps])
    fitted = np.abs(value[:, None] - value_b)
    for step in (0, 1):
        wanted = (fitted + np.where(fitted > 0, 0.5 * step, 0.0)).sum(axis=2)
        for codes in (np.uint16, np.uint32):
            for together in (1, 2, 3, 5):
                both = twice.astype(codes), twice_b.astype(codes)
                distances.ranked_cityblock(*both, codes(step), together, out)
                assert_array_equal(out, wanted)
