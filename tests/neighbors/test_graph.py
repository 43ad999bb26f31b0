import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsTransformer

from lookalike._runtime.config import config
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.measures import Vector
from lookalike.neighbors import NeighborGraph
from lookalike.neighbors.exact import fill_by_blocks, search

VALUE = st.sampled_from([0.0, 0.5, 0.5, 1.0, 2.0, np.nan, np.inf])


def slow_lists(d, ids, exclude, k):
    """Sort all candidates of a row by (distance, id); NaN counts as infinite."""
    indices, distances = np.full((len(d), k), -1), np.full((len(d), k), np.inf)
    for i, row in enumerate(d):
        found = sorted(
            (np.inf if np.isnan(v) else v, name)
            for v, name in zip(row, ids, strict=True)
            if name != exclude[i]
        )
        for place, (value, name) in enumerate(found[:k]):
            distances[i, place], indices[i, place] = value, name
    return indices, distances


def fast_lists(d, ids, exclude, k, **options):
    fill = fill_by_blocks(lambda r, c: np.ascontiguousarray(d[r, c]), ids, exclude, width=2)
    return search(fill, *d.shape, k, **options)


@given(data=st.data(), n=st.integers(1, 5), m=st.integers(1, 9), k=st.integers(1, 6))
def test_top_k_is_a_sort_ties_included(data, n, m, k):
    d = np.array(data.draw(st.lists(VALUE, min_size=n * m, max_size=n * m))).reshape(n, m)
    ids = np.array(data.draw(st.permutations(range(m))))
    exclude = np.array(data.draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n)))
    found = fast_lists(d, ids, exclude, k)
    indices, distances = slow_lists(d, ids, exclude, k)
    assert_array_equal(found.indices, indices)
    assert_array_equal(found.distances, distances)
    for jobs, tallest in ((1, 1), (3, 2)):
        again = fast_lists(d, ids, exclude, k, n_jobs=jobs, tallest=tallest)
        assert_array_equal(again.indices, indices)


@given(data=st.data(), m=st.integers(2, 9), k=st.integers(1, 5), cut=st.integers(1, 8))
def test_lists_of_parts_merge_to_the_list_of_the_whole(data, m, k, cut):
    d = np.array(data.draw(st.lists(VALUE, min_size=2 * m, max_size=2 * m))).reshape(2, m)
    ids, exclude, cut = np.arange(m), np.array([-1, 0]), min(cut, m - 1)
    whole = fast_lists(d, ids, exclude, k)
    parts = [fast_lists(d[:, s], ids[s], exclude, k) for s in (slice(cut), slice(cut, None))]
    for one, other in (parts, parts[::-1]):
        merged = one.merge(other)
        assert_array_equal(merged.indices, whole.indices)
        assert_array_equal(merged.distances, whole.distances)


def test_few_queries_share_out_the_collection():
    rng = np.random.default_rng(0)
    d = rng.integers(0, 50, (1, 20_000)).astype(float)
    ids, exclude = np.arange(20_000), np.array([-1])
    fill = fill_by_blocks(lambda r, c: np.ascontiguousarray(d[r, c]), ids, exclude)
    one, many = (search(fill, 1, 20_000, 40, n_jobs=jobs) for jobs in (1, 4))
    assert_array_equal(one.indices, many.indices)
    assert_array_equal(one.indices[0], np.argsort(d[0], kind="stable")[:40])


def test_unfinished_lists_are_refused_only_by_finish():
    lists = NeighborGraph(np.array([[1, -1]]), np.array([[0.5, np.inf]]), 3)
    with pytest.raises(
        TooFewRows, match=r"neighbors of row 0: needs 2 rows .* found 1. Use n_neighbors=1"
    ):
        lists.finish()
    undefined = NeighborGraph(np.array([[1, 2]]), np.array([[0.5, np.inf]]), 3)
    with pytest.raises(TooFewRows):
        undefined.finish()
    assert undefined.finish("last") is undefined


def test_shapes_must_agree():
    with pytest.raises(InvalidInput, match="of one shape"):
        NeighborGraph(np.zeros((2, 3), int), np.zeros((2, 2)), 5)
    one, other = NeighborGraph.empty(2, 3, 5), NeighborGraph.empty(2, 4, 5)
    with pytest.raises(InvalidInput, match=r"lists of shape \(2, 3\), found \(2, 4\)"):
        one.merge(other)


def test_k_graphs_are_those_of_scikit_learn():
    x = np.random.default_rng(0).random((30, 4))
    x[3] = x[9]  # an explicit zero off the diagonal
    theirs = KNeighborsTransformer(n_neighbors=5, mode="distance").fit_transform(x)
    ours = Vector().fit(x).neighbors(k=5)
    assert_allclose(ours.to_csr(include_self=True).toarray(), theirs.toarray(), atol=1e-7)
    back = NeighborGraph.from_csr(theirs)
    assert_array_equal(back.indices, ours.indices)
    assert back.k == 5
    assert not back.has_self


@given(data=st.data())
def test_csr_and_back(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    graph = Vector().fit(rng.integers(0, 3, (9, 2)).astype(float)).neighbors(k=4)
    back = NeighborGraph.from_csr(graph.to_csr())
    assert_array_equal(back.indices, graph.indices)
    assert_array_equal(back.distances, graph.distances)


def test_lists_of_unequal_length_are_padded():
    from scipy.sparse import csr_matrix

    back = NeighborGraph.from_csr(csr_matrix([[0, 2.0, 1.0], [0, 0, 3.0]]))
    assert_array_equal(back.indices, [[2, 1], [2, -1]])
    assert_array_equal(back.distances, [[1, 2], [3, np.inf]])
    with pytest.raises(InvalidInput, match="finite distances >= 0"):
        NeighborGraph.from_csr(csr_matrix([[0, -2.0]]))


def test_memory_limit_changes_no_list():
    measure = Vector("cityblock").fit(np.random.default_rng(0).random((500, 3)))
    free = measure.neighbors(k=6)
    with config(memory_limit="100KB"):
        assert_array_equal(measure.neighbors(k=6).indices, free.indices)


def test_lists_with_a_constant_keep_their_order_in_every_form():
    """A large constant rounds different distances to equal ones until lists are finished."""
    near = NeighborGraph(np.array([[2, 0], [1, 0]]), np.array([[0.25, 0.5], [0.1, 0.2]]), 3)
    far = near.shifted(2.0**60)
    assert far.distances[0, 0] == far.distances[0, 1]
    for lists in (far, far.within(9), far[:], NeighborGraph.empty(2, 2, 3).merge(far)):
        np.testing.assert_array_equal(lists.sorted_by, near.distances)
        assert lists.shift == 2.0**60
        assert lists.plain().shift == 0.0
    assert (far.within(9).n_indexed, near.shifted(0.0)) == (9, near)
