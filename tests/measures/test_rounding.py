"""What must hold to the last bits: sums, shifts, units, very large and very small numbers."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.clustering import SimilarityClustering
from lookalike.errors import UndefinedMeasure
from lookalike.measures import ForestProximity, Gower, Ranked, Vector, relieff_weights
from lookalike.testing import frames

WEIGHTS = [0.7, 0.1, 0.2, 0.3, 0.1, 0.1, 0.7, 0.2, 0.7, 0.2]

# -- sums of weights and sums of differences -------------------------------------------------------


def opposite_rows(kinds, gaps=()):
    """Two rows that differ as much as can be in every column, some columns with a gap."""
    ends = {
        "number": [0.0, 1.0],
        "category": ["a", "b"],
        "flag": [True, False],
        "order": [0, 1],
        "text": ["aaa", "bbb"],
    }
    columns = {f"{kind}{j}": list(ends[kind]) for j, kind in enumerate(kinds)}
    for j in gaps:
        name = list(columns)[j]
        columns[name] = [columns[name][0], None]
    named = {name: ([0, 1] if "order" in name else name.rstrip("0123456789")) for name in columns}
    return columns, named


def test_rows_that_differ_in_everything_are_not_alike_at_all():
    rows = {f"x{j}": [0.0, 0.0, 0.0, 1.0, 1.0, 1.0] for j in range(10)}
    measure = Gower(weights=WEIGHTS).fit(rows)
    assert measure.similarity()[0].tolist() == [1, 1, 1, 0, 0, 0]
    labels = SimilarityClustering(measure, 2).fit(rows).labels_
    assert labels[0] != labels[3]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["number", "category", "flag", "order", "text"]),
            st.floats(1e-3, 1e3),
            st.booleans(),
        ),
        min_size=2,
        max_size=40,
    ),
    st.booleans(),
)
def test_the_most_unlike_rows_have_similarity_zero(columns, curved):
    gaps = [j for j, (_, _, gap) in enumerate(columns) if gap]
    assume(len(gaps) < len(columns))
    data, kinds = opposite_rows([kind for kind, _, _ in columns], gaps)
    options = {"alpha": 2.0, "beta": 0.5} if curved else {}
    ranges = {name: 1.0 for name in data if name.startswith("number")}
    weights = [weight for _, weight, _ in columns]
    # rank_range gives the two ends of the levels exactly 0, whatever the others of the column are
    measure = Gower(kinds, weights, ranges=ranges, order="rank_range", undefined=0.5, **options)
    distances = {name: "levenshtein" for name in data if name.startswith("text")}
    measure.set_params(distances=distances)
    complete, _ = opposite_rows([kind for kind, _, _ in columns])
    measure.fit(complete)
    assert measure.similarity(data)[1, 0] == 0.0
    assert measure.similarity()[0, 1] == 0.0


@given(frames(min_rows=3, max_columns=20), st.data())
def test_no_weights_lead_out_of_the_unit_interval(frame, data):
    columns, kinds = frame
    weights = data.draw(st.lists(st.floats(0, 1e3), min_size=len(columns), max_size=len(columns)))
    assume(any(weights))
    for missing in ("ignore", "midpoint"):
        s = Gower(kinds, weights, missing, undefined=0.5).fit(columns).similarity()
        assert 0 <= s.min() <= s.max() <= 1


# -- undefined pairs -------------------------------------------------------------------------------


@given(st.floats(0, 1), st.sampled_from(["one_minus", "sqrt"]))
def test_undefined_pairs_have_the_distance_of_their_similarity(u, conversion):
    rows = {"a": [1.0, None, 2.0], "b": [None, 1.0, 3.0]}
    measure = Gower(undefined=u, conversion=conversion).fit(rows)
    assert measure.similarity()[0, 1] == u
    gap = 1 - u
    assert measure.distance()[0, 1] == (np.sqrt(gap) if conversion == "sqrt" else gap)
    explained = measure.explain(0, 1)
    assert (explained.similarity, explained.distance) == (u, measure.distance()[0, 1])
    assert explained.plus == {None: u}
    assert explained.minus == {None: 1 - u}


def test_undefined_pairs_that_are_not_filled_stay_undefined():
    measure = Gower().fit({"a": [1.0, None, 2.0], "b": [None, 1.0, 3.0]})
    with pytest.raises(UndefinedMeasure):
        measure.similarity()
    assert np.isnan(measure.explain(0, 1).similarity)


# -- shifts and units ------------------------------------------------------------------------------


def test_numbers_far_from_zero_keep_their_differences():
    measure = Gower().fit({"a": [1e15, 1e15 + 1, 1e15 + 3]})
    assert_allclose(measure.similarity()[0], [1, 2 / 3, 0], rtol=1e-15)
    assert_allclose(measure.similarity({"a": [1e15 + 2]})[0], [1 / 3, 2 / 3, 2 / 3], rtol=1e-15)


whole = st.integers(-(2**20), 2**20).map(float)


@given(
    st.lists(whole, min_size=2, max_size=6, unique=True),
    st.lists(whole, min_size=1, max_size=4),
    st.integers(-(2**50), 2**50),
    st.integers(-8, 8),
)
def test_shifts_and_doublings_that_are_exact_change_nothing(fitted, new, shift, power):
    unit = 2.0**power
    here, there = np.array([fitted]).T, np.array([new]).T
    measures = [Gower(), Gower(alpha=2.0, beta=0.5), Vector(scale="minmax"), Ranked()]
    for measure in measures:
        plain = measure.fit(here)
        expected = plain.similarity(), plain.similarity(there)
        moved = measure.fit((here + shift) * unit)
        assert_array_equal(moved.similarity(), expected[0])
        assert_array_equal(moved.similarity((there + shift) * unit), expected[1])


@given(
    st.lists(whole, min_size=2, max_size=6, unique=True),
    st.floats(1e-3, 1e3),
    st.floats(-1e6, 1e6),
)
def test_any_shift_and_unit_change_little(values, unit, shift):
    x = np.array([values]).T
    moved = x * unit + shift
    # what the new numbers lose when they are written down, as a share of their range
    lost = np.finfo(float).eps * np.abs(moved).max() / np.ptp(x * unit)
    assert_allclose(
        Gower().fit(moved).similarity(), Gower().fit(x).similarity(), atol=4 * lost + 1e-15
    )


def test_a_constant_column_is_only_shifted_whatever_its_mean_is_rounded_to():
    rows = [[0.0, 0.1], [1.0, 0.1], [2.0, 0.1]]
    found = Vector(scale="standard").fit(rows).distance([[0.0, 0.2]])
    assert_allclose(found[0, 0], 0.1)


@given(
    st.floats(-1e300, 1e300, allow_subnormal=False),
    st.integers(2, 40),
    st.sampled_from(["standard", "minmax"]),
)
def test_constant_columns_have_no_unit(value, n, scale):
    x = np.column_stack([np.full(n, value), np.arange(n)])
    measure = Vector("chebyshev", scale=scale).fit(x)
    assert measure.unit_[0] == 1.0
    assert measure.distance()[0, -1] == pytest.approx((n - 1) / measure.unit_[1])


# -- explanations ----------------------------------------------------------------------------------


def test_a_row_of_zeros_is_explained_in_full():
    measure = Vector("cosine").fit([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]])
    explained = measure.explain(2, 0)
    assert sum(explained.plus.values()) + sum(explained.minus.values()) == pytest.approx(1)
    assert explained.minus[None] == pytest.approx((1 - explained.similarity) / 2)


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, -2.0, 0.5]), min_size=3, max_size=3),
        min_size=3,
        max_size=6,
    ),
    st.sampled_from(["euclidean", "cityblock", "cosine", "chebyshev"]),
)
def test_explanations_sum_to_one(rows, metric):
    measure = Vector(metric).fit(rows)
    for j in range(1, len(rows)):
        explained = measure.explain(0, j)
        assert sum(explained.plus.values()) == pytest.approx(explained.similarity)
        assert sum(explained.minus.values()) == pytest.approx(1 - explained.similarity)


# -- ties ------------------------------------------------------------------------------------------


@given(st.data(), st.booleans())
def test_the_order_of_columns_does_not_choose_among_tied_neighbors(data, numbers):
    n, width = data.draw(st.integers(4, 12)), data.draw(st.integers(2, 12))
    cells = st.sampled_from([0.1, 0.2, 0.3, 0.7, 0.9])
    columns = data.draw(
        st.lists(st.lists(cells, min_size=n, max_size=n), min_size=width, max_size=width)
    )
    y = np.linspace(0, 1, n) ** 2 if numbers else np.arange(n) % 2
    order = data.draw(st.permutations(range(width)))
    raw = [
        relieff_weights(
            {f"x{j}": columns[j] for j in chosen},
            y,
            n_neighbors=2,
            normalize=False,
            target="numbers" if numbers else "classes",
        )
        for chosen in (range(width), order)
    ]
    assert_allclose(raw[1], raw[0][list(order)], rtol=1e-9, atol=1e-12)


# -- the ends of what a float can hold -------------------------------------------------------------


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-320])
def test_squares_that_no_float_holds(size):
    d = Vector().fit(np.array([[1.0], [0.0], [-1.0]]) * size).distance()
    assert_allclose(d[0], [0, size, 2 * size])


huge = st.floats(-1e307, 1e307) | st.floats(-1, 1).map(lambda x: x * 1e-200)


@given(st.integers(1, 12), st.data())
def test_euclidean_distances_of_any_size(width, data):
    row = st.lists(huge, min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=2, max_size=6))
    x = np.array(rows)
    d = Vector().fit(x).distance()
    near = Vector().fit(x).kneighbors(n_neighbors=1)
    for i in range(len(x)):
        for j in range(len(x)):
            square = sum((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(x[i], x[j], strict=True))
            largest = max(abs(Fraction(p) - Fraction(q)) for p, q in zip(x[i], x[j], strict=True))
            expected = 0.0
            if largest:
                expected = float(largest) * float(square / largest**2) ** 0.5
            assert d[i, j] == pytest.approx(expected, rel=1e-12)
    assert_array_equal(near[0][:, 0], np.where(np.eye(len(x)), np.inf, d).min(axis=1))


@pytest.mark.parametrize("options", [{}, {"alpha": 2.0}])
def test_new_numbers_far_beyond_a_narrow_range(options):
    measure = Gower(**options).fit({"a": [0.0, 1e-300], "b": [0.0, 1.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measure.similarity({"a": [1e300, -1e300], "b": [0.0, 0.0]})
        apart = measure.similarity({"a": [1e300], "b": [0.0]}, {"a": [-1e300], "b": [0.0]})
    assert_allclose(found, [[0.5, 0.0], [0.5, 0.0]])
    assert_allclose(apart, [[0.5]])


def test_forest_ratio_fills_undefined_pairs_by_its_conversion():
    rows = {"a": [1.0, None, 2.0, 5.0, 7.0, 8.0], "b": [None, 1.0, 3.0, 4.0, 9.0, 9.5]}
    measure = ForestProximity("ratio", n_estimators=5, random_state=0, undefined=0.75).fit(rows)
    assert measure.distance_at(0.75) == np.sqrt(0.25)
