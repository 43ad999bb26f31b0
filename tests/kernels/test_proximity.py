"""Agreements of leaf codes, and leaf sharing of rows with missing values, against plain sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels.proximity import (
    SpreadRows,
    count_matches,
    nearest_by_matches,
    overlap_out_of_bag,
    overlap_soft,
)
from lookalike.neighbors.exact import fill_by_blocks
from lookalike.neighbors.graph import NeighborGraph


def codes(rng, n, length, kind):
    return rng.integers(0, 4, (n, length)).astype(kind)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from([np.uint8, np.uint16, np.uint32]),
    length=st.sampled_from([0, 1, 7, 31, 32, 33, 100, 257]),
    n=st.integers(1, 21),
    m=st.integers(1, 140),
)
def test_counts_equal_numpy(seed, kind, length, n, m):
    rng = np.random.default_rng(seed)
    a, b = codes(rng, n, length, kind), codes(rng, m, length, kind)
    out = np.empty((n, m), np.int64)
    count_matches(a, b, 1, out)
    assert_array_equal(out, (a[:, None] == b).sum(axis=2))


@pytest.mark.parametrize("length", [255 * 32, 255 * 32 + 5, 70_000])
def test_narrow_counters_do_not_overflow(length):
    a = np.zeros((5, length), np.uint8)
    out = np.empty((5, 5), np.int64)
    count_matches(a, a, 1, out)
    assert_array_equal(out, np.full((5, 5), length))
    share = np.empty((5, 5))
    count_matches(a, a, a.shape[1], share)
    assert_array_equal(share, np.ones((5, 5)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 9), full=st.booleans())
def test_lists_equal_those_of_the_full_block(seed, k, full):
    rng = np.random.default_rng(seed)
    n, m = 23, 150
    a, b = codes(rng, n, 12, np.uint8), codes(rng, m, 12, np.uint8)
    table = 1.0 - np.arange(13) / 12
    ids = rng.permutation(m)
    exclude = rng.integers(-1, m, n)
    found, plain = (NeighborGraph.empty(n, k, m) for _ in range(2))
    if full:  # lists that already hold something
        for lists in (found, plain):
            lists.distances[:], lists.indices[:] = 0.5, 1000
    nearest_by_matches(a, b, table, ids, exclude, found.distances, found.indices)
    share = np.empty((n, m))
    count_matches(a, b, a.shape[1], share)
    fill = fill_by_blocks(
        lambda rows, columns: table[np.rint(share[rows, columns] * 12).astype(int)], ids, exclude
    )
    fill(slice(0, n), slice(0, m), plain)
    assert_array_equal(found.indices, plain.indices)
    assert_array_equal(found.distances, plain.distances)


# -- rows that are in several leaves ---------------------------------------------------------------

TREES, LEAVES = 5, 4
OFFSETS = np.arange(TREES + 1) * LEAVES


def draw(rng, n):
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
    bag = (rng.random((n, TREES)) < 0.6).astype(np.uint8)
    lists = np.array(leaf, np.int32), np.array(weight, float), np.array(start, np.int64)
    return SpreadRows(codes, bag, *lists), full


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("out_of_bag", [False, True])
def test_overlaps_equal_the_sums(out_of_bag, seed):
    rng = np.random.default_rng(seed)
    (one, x), (other, y) = draw(rng, 4), draw(rng, 6)
    overlap = overlap_out_of_bag if out_of_bag else overlap_soft
    found, back = np.empty((4, 6)), np.empty((6, 4))
    overlap(one, other, OFFSETS, found)
    overlap(other, one, OFFSETS, back)
    assert_array_equal(found, back.T)  # to the last bit
    per_tree = (x[:, None] * y).reshape(4, 6, TREES, LEAVES).sum(axis=3)
    use = np.ones((4, 6, TREES), bool)
    if out_of_bag:
        use = (one.bag[:, None] == 0) & (other.bag == 0)
        use[~use.any(axis=2)] = True
    assert_allclose(found, (per_tree * use).sum(axis=2) / use.sum(axis=2), atol=1e-12)
