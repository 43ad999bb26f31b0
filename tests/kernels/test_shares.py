"""Leaf sharing of rows with gaps, against sums written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.kernels.proximity import SpreadRows, overlap_out_of_bag, overlap_soft

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
