"""Neighbor lists against sorting: ties by id, NaN as infinite, any order of blocks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.kernels import lists
from lookalike.kernels.distances import CODES, distance_pair

seeds = st.integers(0, 2**32 - 1)


def empty(n, k):
    return np.full((n, k), np.inf), np.full((n, k), -1)


def expected(block, ids, exclude, k):
    """The k smallest (distance, id) of every row, by sorting."""
    distances, indices = empty(len(block), k)
    for i, row in enumerate(block):
        pairs = [(np.inf if np.isnan(d) else d, j) for d, j in zip(row, ids, strict=True)]
        for place, (d, j) in enumerate(sorted(p for p in pairs if p[1] != exclude[i])[:k]):
            distances[i, place], indices[i, place] = d, j
    return distances, indices


def draw(seed, n, m):
    rng = np.random.default_rng(seed)
    block = rng.choice([0.0, 1.0, 2.0, 3.0, np.nan, np.inf], (n, m))
    return rng, block, rng.permutation(2 * m)[:m], rng.integers(-1, 2 * m, n)


@settings(max_examples=60)
@given(seeds, st.integers(1, 5), st.integers(1, 30), st.integers(1, 12))
def test_lists_are_the_sorted_candidates(seed, n, m, k):
    rng, block, ids, exclude = draw(seed, n, m)
    wanted = expected(block, ids, exclude, k)
    for keep in (lists.keep_nearest, lists.keep_in_heap):
        found = empty(n, k)
        for part in np.array_split(np.arange(m), 3):
            keep(block[:, part], ids[part], exclude, *found)
        if keep is lists.keep_in_heap:
            lists.sort_heaps(*found)
        for one, other in zip(found, wanted, strict=True):
            assert_array_equal(one, other)
    queries, columns = (part.ravel() for part in np.indices((n, m)))
    order = rng.permutation(len(queries))
    queries, columns = queries[order], columns[order]
    found = empty(n, k)
    lists.keep_pairs(queries, ids[columns], block[queries, columns], exclude, *found)
    for one, other in zip(found, wanted, strict=True):
        assert_array_equal(one, other)


@settings(max_examples=60)
@given(seeds, st.integers(1, 5), st.integers(2, 20), st.integers(1, 8), st.integers(1, 8))
def test_lists_of_parts_merge_to_the_list_of_the_whole(seed, n, m, k, more_k):
    _, block, ids, exclude = draw(seed, n, m)
    half = m // 2
    first = expected(block[:, :half], ids[:half], exclude, k)
    second = expected(block[:, half:], ids[half:], exclude, more_k)
    lists.merge_lists(*first, *second)
    pairs = [*zip(*expected(block[:, :half], ids[:half], exclude, k), strict=True)]
    for i in range(n):
        left = [*zip(*pairs[i], strict=True)] + [*zip(second[0][i], second[1][i], strict=True)]
        best = sorted((d, j) for d, j in left if j >= 0)[:k]
        best += [(np.inf, -1)] * (k - len(best))
        assert [*zip(first[0][i].tolist(), first[1][i].tolist(), strict=True)] == best


@settings(max_examples=40)
@given(seeds, st.integers(1, 4))
def test_lists_by_class(seed, k):
    rng = np.random.default_rng(seed)
    n = 14
    block = rng.choice([0.0, 1.0, 2.0, np.nan], (3, n))
    classes, own = rng.integers(0, 3, n), np.arange(3) + 4
    distances, indices = np.full((3, 3, k), np.inf), np.full((3, 3, k), -1)
    for start in (0, 5):  # the second block begins at row 5
        stop = 5 if start == 0 else n
        lists.keep_by_class(block[:, start:stop], start, classes, own, distances, indices)
    for i in range(3):
        for c in range(3):
            rows = [j for j in range(n) if classes[j] == c and j != own[i]]
            best = sorted((block[i, j], j) for j in rows if not np.isnan(block[i, j]))[:k]
            best += [(np.inf, -1)] * (k - len(best))
            assert [*zip(distances[i, c], indices[i, c], strict=True)] == best


@settings(max_examples=40)
@given(seeds, st.sampled_from(["euclidean", "cosine"]), st.sampled_from([1.0, 1e-20, 1e20]))
def test_products_propose_and_pairs_decide(seed, metric, scale):
    """The lists are those of all pair distances, also where float32 overflows or vanishes."""
    rng, code = np.random.default_rng(seed), CODES[metric]
    a, b = (scale * rng.integers(0, 4, (n, 3)).astype(float) for n in (4, 150))
    ids, exclude, center = rng.permutation(150), rng.integers(-1, 150, 4), b.mean(axis=0)
    sides = []
    for x in (a, b):
        out, norms = np.empty(x.shape, np.float32), np.empty(len(x))
        lists.center_block(x, center, out, norms)
        assert_array_equal(out, (x - center).astype(np.float32))
        sides.append((out, norms))
    with np.errstate(all="ignore"):
        product = sides[0][0] @ sides[1][0].T
    block = np.array([[distance_pair(x, y, code) for y in b] for x in a])
    found = empty(4, 6)
    norms = sides[0][1], sides[1][1]
    lists.decide(product, a, b, *norms, ids, exclude, code, *found)
    for one, other in zip(found, expected(block, ids, exclude, 6), strict=True):
        assert_array_equal(one, other)
