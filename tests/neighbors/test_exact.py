"""Long lists are filled by heaps or sorting, and are the same as short ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.neighbors import exact
from lookalike.neighbors.exact import fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph


def plain_lists(d, ids, exclude, k):
    """Sort by (distance, id), undefined distances last, empty places behind them."""
    out = NeighborGraph.empty(len(d), k, len(ids))
    for i, row in enumerate(d):
        pairs = [(np.inf if np.isnan(v) else v, name) for v, name in zip(row, ids, strict=True)]
        kept = sorted(pair for pair in pairs if pair[1] != exclude[i])[:k]
        for place, (distance, name) in enumerate(kept):
            out.distances[i, place], out.indices[i, place] = distance, name
    return out


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 45),
    st.integers(1, 9),
    st.booleans(),
)
def test_heaps_give_the_lists_of_sorted_rows(seed, n, k, wide, twice):
    rng = np.random.default_rng(seed)
    d = rng.integers(0, 5, size=(3, n)) / 4.0  # many ties
    d[rng.random(d.shape) < 0.1] = np.nan
    d[rng.random(d.shape) < 0.1] = np.inf
    ids = rng.permutation(2 * n)[:n]
    exclude = np.array([ids[0], -1, ids[-1]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "MIN_HEAP_LENGTH", 0)
        fill = fill_by_blocks(lambda r, c: np.ascontiguousarray(d[r, c]), ids, exclude, width=wide)
        lists = NeighborGraph.empty(3, k, n)
        cut = int(rng.integers(0, n + 1)) if twice else n
        fill(slice(0, 3), slice(0, cut), lists)
        fill(slice(0, 3), slice(cut, n), lists)
    expected = plain_lists(d, ids, exclude, k)
    assert_array_equal(lists.indices, expected.indices)
    assert_array_equal(lists.distances, expected.distances)


def test_lists_of_all_rows_are_sorted_rows():
    d = np.random.default_rng(0).random((300, 300))
    ids, own = np.arange(300), np.arange(300)
    fill = fill_by_blocks(lambda r, c: np.ascontiguousarray(d[r, c]), ids, own)
    found = search(fill, 300, 300, 299)
    np.fill_diagonal(d, np.inf)
    assert_array_equal(found.indices, np.argsort(d, axis=1)[:, :299])
