import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.measures import Vector
from lookalike.measures.vector import METRICS
from lookalike.testing import number_tables
from measures import reference


@pytest.mark.parametrize("metric", METRICS)
@given(x=number_tables(max_rows=6))
def test_distances_match_the_reference(metric, x):
    found = Vector(metric).fit(x).distance(x)
    slow = [[reference.distance(a, b, metric) for b in x.tolist()] for a in x.tolist()]
    largest = max(1.0, np.abs(slow).max())
    assert_allclose(found, slow, atol=1e-12 * largest if metric != "cosine" else 1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 2**32 - 1), offset=st.sampled_from([0.0, 1.0, 1e4, 1e8]))
def test_proposed_neighbors_are_the_exact_ones(metric, dtype, seed, offset):
    """Ties, near-ties and offsets that ruin a float32 product must not change a list."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (400, 10)) + offset
    x[::7] += rng.normal(size=(len(x[::7]), 10)) * 1e-6
    x = x.astype(dtype)
    measure = Vector(metric).fit(x)
    full = measure.block(measure.rows_, measure.rows_)
    distances, indices = measure.kneighbors(n_neighbors=7)
    for i in range(0, 400, 23):
        expected = reference.nearest(full[i], 7, exclude=i)
        assert_array_equal(indices[i], [j for _, j in expected])
        assert_array_equal(distances[i], [d for d, _ in expected])


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e150])
def test_extreme_sizes_neither_overflow_nor_vanish(size):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 12)) * size
    plain = Vector().fit(x / size).kneighbors(n_neighbors=3, return_distance=False)
    if size > 1e-100:  # squares of the smallest vanish in float64 too
        assert_array_equal(Vector().fit(x).kneighbors(n_neighbors=3, return_distance=False), plain)
    cosine = Vector("cosine").fit(x).kneighbors(n_neighbors=3, return_distance=False)
    expected = Vector("cosine").fit(x / size).kneighbors(n_neighbors=3, return_distance=False)
    assert_array_equal(cosine, expected)


def test_scales_come_from_the_fitted_rows():
    measure = Vector("cityblock", scale="minmax").fit([[0.0, 10.0], [4.0, 30.0]])
    assert_allclose(measure.distance([[8.0, 10.0]]), [[2.0, 2.0]])
    measure = Vector("cityblock", scale="standard").fit([[0.0], [2.0]])
    assert_allclose(measure.distance([[3.0]]), [[3.0, 1.0]])


def test_constant_column_is_only_shifted():
    measure = Vector("cityblock", scale="minmax").fit([[5.0, 0.0], [5.0, 1.0]])
    assert_allclose(measure.distance([[7.0, 0.0]]), [[2.0, 3.0]])


def test_float32_stays_float32_and_is_compared_in_float64():
    x = np.array([[0.1, 0.2], [0.3, 0.7]], dtype=np.float32)
    measure = Vector().fit(x)
    assert measure.rows_.arrays["x"].dtype == np.float32
    wide = x.astype(np.float64)
    assert measure.distance()[0, 1] == np.sqrt(((wide[0] - wide[1]) ** 2).sum())


def test_rows_of_zeros_have_no_direction():
    found = Vector("cosine").fit([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]).distance()
    assert_array_equal(found, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_other_columns_are_left_out_by_name():
    with pytest.warns(LookalikeWarning, match="leaves out 'color'"):
        measure = Vector().fit({"size": [1.0, 2.0], "color": ["red", "blue"]})
    assert measure.distance()[0, 1] == 1.0


def test_vector_columns_take_part():
    measure = Vector("cityblock").fit({"v": [[1.0, -2.0], [3.0, 4.0]], "x": [0.0, 1.0]})
    assert measure.distance()[0, 1] == 2 + 6 + 1
    assert measure.explain(0, 1).minus["v"] == pytest.approx(8 / (9 + measure.scale_))


def test_no_number_column_is_an_error():
    with pytest.raises(InvalidInput, match=r"Vector: needs at least one number column.*Gower"):
        Vector().fit({"color": ["red", "blue", "red"]})


@pytest.mark.parametrize(
    ("bad", "words"), [(np.nan, r"missing values \(NaN\)"), (np.inf, r"infinite values \(inf\)")]
)
def test_gaps_and_infinities_are_named(bad, words):
    x = [[1.0, 2.0], [3.0, bad]]
    with pytest.raises(InvalidInput, match=words + ".* row 1, column 'x1'"):
        Vector().fit(x)
    with pytest.raises(InvalidInput, match=words):
        Vector().fit([[1.0, 2.0]]).distance(x)


def test_mistyped_metric_gets_a_suggestion():
    with pytest.raises(InvalidInput, match="Did you mean 'euclidean'"):
        Vector("euclidian").fit([[1.0]])


def test_explanation_of_each_metric_adds_up_to_the_distance():
    x = [[0.0, 0.0], [3.0, 4.0]]
    for metric, shares in {
        "cityblock": (3, 4),
        "euclidean": (9 / 5, 16 / 5),
        "chebyshev": (0, 4),
    }.items():
        measure = Vector(metric).fit(x)
        explained = measure.explain(0, 1)
        whole = measure.scale_ + explained.distance
        assert_allclose([explained.minus["x0"] * whole, explained.minus["x1"] * whole], shares)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 1e-9, 1e12, 1e-30, 1e30])
def test_pairs_within_are_those_of_the_block(metric, dtype, size):
    rng = np.random.default_rng(0)
    x = ((rng.integers(0, 3, (70, 9)) + 40) * size).astype(dtype)  # many distances are equal
    measure = Vector(metric).fit(x)
    a, b = measure.rows_[:30], measure.encode(x[10:])
    block = measure.block(a, b)
    for limit in (0.0, *np.quantile(block, [0.05, 0.5, 1.0]), np.inf):
        left, right = measure.pairs_within(a, b, float(limit))
        expected = np.nonzero(block <= limit)
        assert_array_equal(left, expected[0])
        assert_array_equal(right, expected[1])
    assert Vector("cityblock").fit(x).pairs_within(a, b, 1.0) is None


def test_metrics_that_are_sums_have_codes_to_search_by():
    x = np.random.default_rng(0).normal(size=(9, 2))
    for metric, has in (("cityblock", True), ("chebyshev", True), ("euclidean", False)):
        measure = Vector(metric).fit(x)
        assert (measure._make_codes(measure.rows_) is not None) == has, metric
