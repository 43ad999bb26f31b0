"""Trees of boxes: each row is in one leaf, and boxes hold what is below them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.neighbors import boxes


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_boxes_hold_their_rows(n, seed):
    rows = np.random.default_rng(seed).integers(0, 5, (n, 3)).astype(float)
    rows[rows == 4] = np.nan
    plan = (
        np.array([1, 1, 3, 3, 3]),
        np.ones(3),
        *np.ones((2, 3)),
        np.zeros(1),
        np.zeros((3, 2), int),
    )
    made = boxes.Boxes.make(rows, plan)
    assert_array_equal(np.sort(made.order), np.arange(n))
    assert_array_equal(made.columns, rows[made.order].T)
    leaves = len(made.low) // 2 + 1
    for leaf in range(leaves):
        held = made.columns[:, leaf * n // leaves : (leaf + 1) * n // leaves]
        assert 1 <= held.shape[1] <= boxes.LEAF_ROWS
        node, gaps = leaves - 1 + leaf, np.isnan(held).any(axis=1)
        low, high = np.where(gaps, [[-np.inf], [np.inf]], [held.min(axis=1), held.max(axis=1)])
        assert_array_equal(made.low[node], low)
        assert_array_equal(made.high[node], high)
        while node:
            node = (node - 1) // 2
            assert (made.low[node] <= low).all()
            assert (made.high[node] >= high).all()
