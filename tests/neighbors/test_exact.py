"""Exact search by blocks: how it is cut, and that long lists are the same as short ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.neighbors import exact
from lookalike.neighbors.exact import cut, fill_by_blocks, search
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


def slices_of(*args, **options):
    """Return the (queries, candidates) that a search fills, as pairs of first and last."""
    filled = []

    def fill(queries, candidates, lists):
        assert len(lists) == queries.stop - queries.start
        filled.append((queries.start, queries.stop, candidates.start, candidates.stop))

    found = search(fill, *args, **options)
    assert (len(found), found.n_indexed, found.k) == args
    assert (found.indices == -1).all()
    return sorted(filled), found


def test_queries_are_cut_and_few_of_them_cut_the_collection_too():
    """Two shares of the collection per thread, of 2,048 candidates or more."""
    assert slices_of(600, 50, 3, n_jobs=1)[0] == [
        (0, 256, 0, 50),
        (256, 512, 0, 50),
        (512, 600, 0, 50),
    ]
    assert slices_of(6, 5000, 3, n_jobs=3)[0] == [(i, i + 2, 0, 5000) for i in (0, 2, 4)]
    shares = [(0, 2500), (2500, 5000), (5000, 7500), (7500, 10_000)]
    assert slices_of(2, 10_000, 3, n_jobs=4)[0] == [
        (i, i + 1, *share) for i in (0, 1) for share in shares
    ]
    assert slices_of(1, 2048, 1, n_jobs=4)[0] == [(0, 1, 0, 2048)]
    assert slices_of(1, 2049, 1, n_jobs=4)[0] == [(0, 1, 0, 1025), (0, 1, 1025, 2049)]
    assert slices_of(5, 9, 1, n_jobs=1, tallest=2)[0] == [(0, 2, 0, 9), (2, 4, 0, 9), (4, 5, 0, 9)]
    filled, found = slices_of(2, 0, 1, n_jobs=1)
    assert filled == [(0, 2, 0, 0)]
    assert not found.has_self
    assert slices_of(1, 4, 2, n_jobs=1, has_self=True)[1].has_self


def test_shares_of_the_collection_merge_to_the_lists_of_the_whole():
    d = np.random.default_rng(0).random((3, 5000))
    fill = fill_by_blocks(
        lambda r, c: np.ascontiguousarray(d[r, c]), np.arange(5000), np.full(3, -1)
    )
    found = search(fill, 3, 5000, 7, n_jobs=4)
    assert_array_equal(found.indices, np.argsort(d, axis=1)[:, :7])
    assert_array_equal(found.distances, np.sort(d, axis=1)[:, :7])


def test_blocks_are_as_wide_as_half_a_megabyte_or_the_memory_limit_allow():
    def widths(tall, n, **options):
        asked = []

        def compare(rows, columns):
            asked.append(columns.stop - columns.start)
            assert rows == slice(0, tall)
            return np.zeros((tall, columns.stop - columns.start))

        fill = fill_by_blocks(compare, np.arange(n), np.full(tall, -1), **options)
        fill(slice(0, tall), slice(0, n), NeighborGraph.empty(tall, 1, n))
        return asked

    assert widths(1, 70_000) == [65_536, 4464]
    assert widths(256, 600) == [256, 256, 88]
    assert widths(2048, 130) == [64, 64, 2]
    assert widths(4, 25, width=10) == [10, 10, 5]
    with la.config(memory_limit=64 * 4 * 100):
        assert widths(4, 250) == [100, 100, 50]


def test_lists_become_heaps_above_a_length():
    """Lists as they are up to 96 neighbors; longer ones are heaps while they are filled."""
    d, seen = np.random.default_rng(0).random((1, 300)), []
    for k in (96, 97):
        lists = NeighborGraph.empty(1, k, 300)

        def compare(rows, columns, lists=lists):
            seen.append(lists.distances[0].copy())
            return np.ascontiguousarray(d[rows, columns])

        fill_by_blocks(compare, np.arange(300), np.array([-1]), 150)(
            slice(0, 1), slice(0, 300), lists
        )
        assert_array_equal(lists.distances[0], np.sort(d[0])[:k])
    assert (np.diff(seen[1]) >= 0).all()
    assert seen[3][0] == seen[3].max()  # the largest first
    assert not (np.diff(seen[3]) >= 0).all()


def test_a_slice_is_cut_from_its_own_start():
    assert cut(slice(5, 12), 3) == [slice(5, 8), slice(8, 11), slice(11, 12)]
    assert cut(slice(4, 4), 3) == []
