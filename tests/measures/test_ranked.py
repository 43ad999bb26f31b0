"""Rank distances: worked numbers, the printed formula, laws, and the kernel of two bytes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

import lookalike as la
from lookalike.kernels import distances
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import Ranked
from lookalike.testing import number_tables
from measures import reference

SEEN = [10.0, 20.0, 20.0, 40.0]
SMALL = st.integers(-4, 4).map(float)


def column(values):
    return np.asarray(values, dtype=float)[:, None]


def test_worked_tied_ranks():
    measure = Ranked().fit(column(SEEN))
    assert_array_equal(measure.rows_.arrays["twice"][:, 0] / 2 + 0.5, [1, 2.5, 2.5, 4])


@given(x=number_tables())
def test_tied_ranks_are_those_of_scipy(x):
    twice = Ranked().fit(x).rows_.arrays["twice"]
    assert_array_equal(twice / 2 + 0.5, rankdata(x, method="average", axis=0))
    assert_allclose(twice.sum(axis=0) / 2 + len(x) / 2, len(x) * (len(x) + 1) / 2)


def test_negative_zero_is_zero():
    assert Ranked().fit(column([-0.0, 0.0, 1.0])).distance()[0, 1] == 0.0
    assert Ranked().fit(column([0.0, 1.0])).distance([[-0.0]])[0, 0] == 0.0


@pytest.mark.parametrize(
    ("value", "insertion", "paper"),
    [
        (20.0, [2.0, 0.0, 0.0, 2.0], [2.0, 0.0, 0.0, 2.0]),
        (30.0, [3.0, 1.5, 1.5, 1.0], [2.5, 1.0, 1.0, 1.5]),
        (5.0, [1.0, 2.5, 2.5, 4.0], [1.0, 2.5, 2.5, 4.0]),
    ],
)
def test_worked_differences_of_unseen_values(value, insertion, paper):
    assert_array_equal(Ranked().fit(column(SEEN)).distance([[value]]), [insertion])
    assert_array_equal(Ranked(unseen="paper").fit(column(SEEN)).distance([[value]]), [paper])


def test_worked_differences_of_seen_and_of_two_unseen_values():
    measure = Ranked().fit(column(SEEN))
    assert_array_equal(measure.distance()[0], [0, 1.5, 1.5, 3])
    assert measure.distance([[15.0]], [[30.0]])[0, 0] == 3.0
    assert measure.distance([[15.0]], [[16.0]])[0, 0] == 1.0  # between the same two seen values
    assert measure.distance([[15.0]], [[15.0]])[0, 0] == 0.0


def test_worked_cityblock():
    rows = [[10.0, 1.0], [20.0, 2.0], [20.0, 3.0], [40.0, 4.0]]
    assert Ranked().fit(rows).distance()[0, 1] == 2.5


@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "chebyshev"])
@given(data=st.data(), n_columns=st.integers(1, 3))
def test_insertion_is_what_really_inserting_gives(metric, data, n_columns):
    seen = data.draw(number_tables(max_rows=7, n_columns=n_columns))
    new = data.draw(number_tables(max_rows=4, n_columns=n_columns))
    measure = Ranked(metric).fit(seen)
    one, two = measure.distance(new), measure.distance(new, new)
    for i, k in enumerate(new):
        for j, x in enumerate(seen):
            parts = [
                reference.inserted_rank_difference(seen[:, a], [k[a]], k[a], x[a])
                for a in range(n_columns)
            ]
            assert_allclose(one[i, j], reference.join(parts, metric))
        for j, other in enumerate(new):
            parts = [
                reference.inserted_rank_difference(seen[:, a], [k[a], other[a]], k[a], other[a])
                for a in range(n_columns)
            ]
            assert_allclose(two[i, j], reference.join(parts, metric))


@given(seen=st.lists(SMALL, min_size=1, max_size=8), k=st.floats(-5, 5))
def test_paper_mode_is_the_printed_formula(seen, k):
    found = Ranked(unseen="paper").fit(column(seen)).distance([[k]])[0]
    assert_allclose(found, [reference.printed_rank_difference(seen, k, x) for x in seen])


@given(seen=st.sets(SMALL, min_size=1), k=st.floats(-5, 5))
def test_both_modes_agree_on_distinct_values(seen, k):
    rows = column(list(seen))
    exact = Ranked().fit(rows).distance([[k]])
    assert_array_equal(Ranked(unseen="paper").fit(rows).distance([[k]]), exact)


@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "chebyshev"])
@pytest.mark.parametrize("change", [np.exp, np.cbrt, lambda v: 1 - 5 * v])
@given(x=number_tables(n_columns=2), new=number_tables(n_columns=2, max_rows=4))
def test_monotone_changes_change_nothing(metric, change, x, new):
    """Increasing ones for every measure; decreasing ones too, with insertion."""
    x, new = np.round(np.clip(x, -9, 9), 2), np.round(np.clip(new, -9, 9), 2)
    before, after = Ranked(metric).fit(x), Ranked(metric).fit(change(x))
    assert_array_equal(after.distance(), before.distance())
    assert_array_equal(after.distance(change(new)), before.distance(new))


@given(x=number_tables(n_columns=3), new=number_tables(n_columns=3, max_rows=4))
def test_cosine_is_that_of_the_rank_vectors(x, new):
    ranks = rankdata(x, method="average", axis=0)
    m = [[sum(s < k) + sum(s == k) / 2 for s, k in zip(x.T, row, strict=True)] for row in new]
    measure = Ranked("cosine").fit(x)
    slow = [[reference.cosine(a, b) for b in ranks] for a in ranks]
    assert_allclose(measure.distance(), slow, atol=1e-12)
    slow = [[reference.cosine(np.add(a, 0.5), b) for b in ranks] for a in m]
    assert_allclose(measure.distance(new), slow, atol=1e-12)


def test_scaled_ranks_keep_the_neighbors():
    rng = np.random.default_rng(0)
    x = rng.random((50, 3))
    plain, scaled = Ranked("euclidean").fit(x), Ranked("euclidean", scale=True).fit(x)
    assert_allclose(scaled.distance() * 50, plain.distance())
    one, other = (m.kneighbors(n_neighbors=5, return_distance=False) for m in (plain, scaled))
    assert_array_equal(one, other)


def test_large_sums_stay_exact():
    rng = np.random.default_rng(0)
    x = rng.permutation(2**17)[:, None] * np.ones((1, 80))
    measure = Ranked().fit(x)
    assert measure.rows_.arrays["twice"].dtype == np.uint32
    a = measure.rows_[:3]
    assert_array_equal(measure.compare(a, a), 80 * np.abs(x[:3, :1] - x[:3, 0]))


def test_explanation_gives_the_rank_difference_of_each_column():
    measure = Ranked().fit({"a": [10, 20, 20, 40], "b": [1, 2, 3, 4]})
    explained = measure.explain(0, {"a": 30, "b": 2})
    whole = measure.scale_ + explained.distance
    assert explained.minus["a"] * whole == pytest.approx(3.0)
    assert explained.minus["b"] * whole == pytest.approx(1.5)
    assert explained.distance == 4.5


SOME = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


def slow_distances(fitted, new, scale=False):
    """Count the fitted values below, half of the equal ones, and 1/2 for the new row."""
    out = np.zeros((len(new), len(fitted)))
    for column, cells in zip(fitted.T, new.T, strict=True):

        def rank(value, column=column):
            return (column < value).sum() + (column == value).sum() / 2

        theirs = np.array([rank(value) for value in column])
        for i, value in enumerate(cells):
            out[i] += np.where(column == value, 0.0, np.abs(theirs - rank(value)) + 0.5)
    return out / len(fitted) if scale else out


def count_calls(monkeypatch):
    """Count the calls of the kernel of codes."""
    calls = []
    kernel = distances.ranked_cityblock

    def counted(*arguments):
        calls.append(1)
        return kernel(*arguments)

    counted.overloads = True
    monkeypatch.setattr(distances, "ranked_cityblock", counted)
    return calls


@SOME
@given(
    n=st.integers(1, 40), m=st.integers(1, 12), columns=st.integers(1, 9),
    seed=st.integers(0, 10**6), spread=st.sampled_from([2, 9, 1000]), scale=st.booleans(),
    jobs=st.sampled_from([1, 2]),
)  # fmt: skip
def test_new_rows_equal_the_formula(n, m, columns, seed, spread, scale, jobs):
    rng = np.random.default_rng(seed)
    fitted = rng.integers(0, spread, (n, columns)) / 4
    new = rng.integers(-1, spread + 1, (m, columns)) / 4
    measure = Ranked(scale=scale, n_jobs=jobs).fit(fitted)
    with compile_at_once(), pytest.MonkeyPatch.context() as patch:
        calls = count_calls(patch)
        found = measure.distance(new)
    assert calls
    assert_array_equal(found, slow_distances(fitted, new, scale))
    assert_array_equal(found, measure.block(measure.encode(new), measure.rows_))


@pytest.mark.parametrize("n", [600, 9_000, 32_767, 32_768])
def test_many_rows_fill_more_than_one_tile_and_sum_in_parts(n, monkeypatch):
    rng = np.random.default_rng(n)
    fitted, new = rng.random((n, 7)).round(3), rng.random((3, 7)).round(3)
    measure = Ranked().fit(fitted)
    calls = count_calls(monkeypatch)
    with compile_at_once():
        found = measure.distance(new)
    assert measure.rows_.arrays["twice"].dtype == (np.uint16 if n < 32_768 else np.uint32)
    assert len(calls) == -(-n // 1024)  # blocks of the matrix
    assert_array_equal(found, measure.block(measure.encode(new), measure.rows_))


def test_new_rows_among_themselves_and_fitted_ones_take_the_wide_kernel(monkeypatch):
    rng = np.random.default_rng(0)
    fitted, new = rng.random((30, 3)), rng.random((5, 3))
    calls = count_calls(monkeypatch)
    with compile_at_once():
        for measure in (Ranked(unseen="paper"), Ranked("euclidean"), Ranked("chebyshev")):
            measure.fit(fitted).distance(new)
    assert not calls
    measure = Ranked().fit(fitted)
    one, other = measure.encode(new), measure.encode(new)
    calls.clear()
    with compile_at_once():
        measure.block(one, other)
    assert not calls
    with la.config(n_jobs=1), compile_at_once():
        Ranked().fit(fitted).distance(new)
    assert calls
