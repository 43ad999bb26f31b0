"""The numpy fallbacks give the same bits as the compiled loops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import distances, fallback, lists, mixed, objects

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)


def assert_same_bits(x, y):
    assert x.shape == y.shape
    assert (x.view(np.int64) == y.view(np.int64)).all()


def numbers(rng, shape, dtype=np.float64):
    """Return ordinary numbers, with some equal, some huge and some tiny ones."""
    found = rng.normal(size=shape) * rng.choice([1.0, 1.0, 1e-200, 1e30, 0.0], shape)
    return found.astype(dtype)


@settings(max_examples=60)
@given(seeds, sizes, sizes, st.integers(0, 6), st.sampled_from([np.float32, np.float64]))
def test_distances(seed, n, m, columns, dtype):
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (n, columns), dtype), numbers(rng, (m, columns), dtype)
    a[0] = b[0]
    for code in distances.CODES.values():
        fast, slow = np.empty((n, m)), np.empty((n, m))
        distances.distance_block(a, b, code, fast)
        fallback.distance_block(a, b, code, slow)
        assert_same_bits(fast, slow)


def test_differences_that_no_float_holds_are_infinite_without_a_warning():
    a, b = np.array([[1e308, 1.0]]), np.array([[-1e308, 2.0], [1e308, 2.0]])
    for block in (distances.distance_block, fallback.distance_block):
        found = np.empty((1, 2))
        block(a, b, distances.EUCLIDEAN, found)
        assert found.tolist() == [[np.inf, 1.0]]


@settings(max_examples=60)
@given(seeds, sizes, sizes, st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_ranked_distances(seed, n, m, columns, dtype):
    rng = np.random.default_rng(seed)
    sides = []
    for rows in (n, m):
        value = rng.integers(0, 5, (rows, columns)).astype(float)
        sides += [(2 * value).astype(dtype), value, rng.integers(0, 2, rows).astype(float)]
    for code in (distances.CITYBLOCK, distances.CHEBYSHEV, distances.EUCLIDEAN):
        fast, slow = np.empty((n, m)), np.empty((n, m))
        distances.ranked_block(*sides, code, fast)
        fallback.ranked_block(*sides, code, slow)
        assert_same_bits(fast, slow)


@settings(max_examples=100)
@given(
    seed=seeds,
    n=sizes,
    m=sizes,
    counts=st.tuples(*[st.integers(0, 6)] * 4),
    gaps=st.sampled_from([0.0, 0.3]),
    midpoint=st.booleans(),
    equal=st.booleans(),
)
def test_mixed_columns(seed, n, m, counts, gaps, midpoint, equal):
    rng = np.random.default_rng(seed)
    straight, codes, flags, ordered = counts
    ends = np.cumsum([straight, 0, codes, flags, ordered])
    columns = int(ends[-1])
    a, b = (np.empty((rows, columns)) for rows in (n, m))
    for side in (a, b):
        side[:, : ends[0]] = rng.random((len(side), straight)) * rng.choice([1.0, 3.0])
        side[:, ends[0] :] = rng.integers(0, 3, (len(side), columns - straight))
        side[:, ends[2] : ends[3]] = rng.integers(0, 2, (len(side), flags))
        side[rng.random(side.shape) < gaps] = np.nan
    weight = np.ones(columns) if equal else rng.random(columns) * 10.0 ** rng.integers(-9, 9)
    levels, starts = rng.random(9 * ordered + 1), np.zeros((columns, 2), np.int64)
    starts[ends[3] :, 0], starts[ends[3] :, 1] = 9 * np.arange(ordered), 3
    curve = np.ones(columns)
    tables = (levels, starts)
    fast, slow = np.zeros((2, n, m)), np.zeros((2, n, m))
    mixed.mixed_block(a, b, ends, weight, curve, curve, *tables, midpoint, *fast)
    fallback.mixed_block(a, b, ends, weight, curve, curve, *tables, midpoint, *slow)
    assert_same_bits(fast, slow)
    few = min(n, m)
    fast, slow = np.zeros((few, columns)), np.zeros((few, columns))
    mixed.mixed_pairs(a[:few], b[:few], ends, curve, curve, *tables, fast)
    fallback.mixed_pairs(a[:few], b[:few], ends, curve, curve, *tables, slow)
    assert_same_bits(np.nan_to_num(fast, nan=-1.0), np.nan_to_num(slow, nan=-1.0))


@settings(max_examples=60)
@given(seeds, st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(0, 4))
def test_shared_tokens(seed, lengths, kinds):
    rng = np.random.default_rng(seed)
    sides = []
    for order in (lengths, lengths[::-1]):
        ends = np.cumsum([0, *order])
        sides += [rng.integers(-2 - kinds, 0, ends[-1]), ends]
    n = len(lengths)
    fast, slow = np.empty((n, n)), np.empty((n, n))
    objects.shared_counts(*sides, fast)
    fallback.shared_counts(*sides, slow)
    assert_same_bits(fast, slow)
    wide = [np.diff(ends).astype(float) + n for ends in sides[1::2]]
    for of_smaller in (False, True):
        one, other = fast.copy(), slow.copy()
        objects.unshared_of_counts(one, *wide, of_smaller)
        fallback.unshared_of_counts(other, *wide, of_smaller)
        assert_same_bits(one, other)


@settings(max_examples=60)
@given(seeds, sizes, st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 6))
def test_lists_of_neighbors(seed, n, widths, k):
    rng = np.random.default_rng(seed)
    fast = np.full((n, k), np.inf), np.full((n, k), -1)
    slow = fast[0].copy(), fast[1].copy()
    ids, exclude = rng.permutation(sum(widths)), rng.integers(-1, sum(widths), n)
    for end, width in zip(np.cumsum(widths), widths, strict=True):
        block = rng.choice([0.0, -0.0, 1.0, 2.0, np.nan, np.inf], (n, width))
        lists.keep_nearest(block, ids[end - width : end], exclude, *fast)
        fallback.keep_nearest(block, ids[end - width : end], exclude, *slow)
        assert_same_bits(fast[0], slow[0])
        assert np.array_equal(fast[1], slow[1])
    more = fast[0].copy(), np.where(fast[1] < 0, -1, fast[1] + sum(widths))
    lists.merge_lists(*fast, *more)
    fallback.merge_lists(*slow, *more)
    assert_same_bits(fast[0], slow[0])
    assert np.array_equal(fast[1], slow[1])
