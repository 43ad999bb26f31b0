"""Local scaling, NICDM, CDM, shared neighbors: worked numbers, references, zero scales, units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness import reference
from hubness.test_reducer import native, points
from lookalike.errors import LookalikeError
from lookalike.hubness import (
    CDM,
    NICDM,
    LocalScaling,
    SharedNeighbors,
)
from lookalike.measures import Precomputed, Vector

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # four points on a line


def test_local_scaling_on_a_line():
    s = LocalScaling(Vector(), 2).fit(LINE).similarity()
    assert_allclose(s[[0, 0, 2], [1, 2, 3]], [0.846482, 0.367879, 0.411112], atol=5e-7)


def test_nicdm_on_a_line():
    measure = NICDM(Vector(), 2).fit(LINE)
    assert_array_equal(measure.rows_.arrays["mu"], [2, 1.5, 2.5, 5])
    d = measure.distance()
    assert_allclose(d[[0, 0, 2], [1, 3, 3]], [0.577350, 2.213594, 1.131371], atol=5e-7)


def test_cdm_on_a_line():
    measure = CDM(Vector(), 2, tol=1e-6, max_iter=50).fit(LINE)
    assert measure.n_iter_ == 26
    assert measure.converged_
    mu = measure.kneighbors(n_neighbors=2)[0].mean(axis=1)
    assert_allclose(mu, 2.87083, atol=5e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(1, 3))
def test_cdm_matches_its_reference(seed, k):
    x = np.random.default_rng(seed).normal(size=(9, 2))
    d = Vector().fit(x).distance()
    ours = CDM(Vector(), k, max_iter=12).fit(x)
    theirs, steps, converged = reference.cdm(d, k, 1e-3, 12)
    assert (ours.n_iter_, ours.converged_) == (steps, converged)
    assert_allclose(ours.distance(), theirs, rtol=1e-9)


def test_a_new_row_gets_the_factor_of_the_same_steps():
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(30, 3)), rng.normal(size=(4, 3))
    ours = CDM(Vector(), 4, tol=1e-9, max_iter=200).fit(x)
    d = Vector().fit(x).distance(new)
    for i, row in enumerate(d):
        factor = 1.0  # step by step, the factors of the fitted rows frozen
        for _ in range(60):
            mu = np.sort(row * ours.factors_)[:4].mean() * factor
            factor *= np.sqrt(ours.mean_ / mu)
        assert_allclose(ours.distance(new)[i], row * ours.factors_ * factor, rtol=1e-9)


def test_scales_of_new_rows_come_from_the_fitted_ones():
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(20, 3)), rng.normal(size=(3, 3))
    d, q = Vector().fit(x).distance(), Vector().fit(x).distance(new)
    mu = np.array([reference.mean_distance(row, 4, i) for i, row in enumerate(d)])
    own = np.array([reference.mean_distance(row, 4) for row in q])
    ours = NICDM(Vector(), 4).fit(x).distance(new)
    assert_allclose(ours, q / np.sqrt(own[:, None] * mu), rtol=1e-12)
    r = np.sort(d + np.diag([np.inf] * 20))[:, 3]
    ours = LocalScaling(Vector(), 4).fit(x).similarity(new)
    assert_allclose(ours, np.exp(-(q**2) / (np.sort(q)[:, 3:4] * r)), rtol=1e-12)


def test_zero_scales():
    x = [[0.0], [0.0], [0.0], [5.0]]
    s = LocalScaling(Vector(), 2).fit(x).similarity()
    assert_array_equal(s[0], [1, 1, 1, 0])
    d = NICDM(Vector(), 2).fit(x).distance()
    assert_array_equal(d[0, :3], 0)
    assert np.isfinite(d).all()
    assert d[0, 3] > 0


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 100), unit=st.sampled_from([1e-6, 3.0, 1e9]))
def test_units_do_not_matter(seed, unit):
    x = np.random.default_rng(seed).normal(size=(8, 2))
    for make in (lambda: NICDM(Vector(), 3), lambda: LocalScaling(Vector(), 3)):
        assert_allclose(native(make(), x * unit), native(make(), x), rtol=1e-9)


@given(
    st.integers(3, 7),
    st.integers(1, 3),
    st.sampled_from([5, 20, 60]),
    st.sampled_from([1e-6, 0.3, 3.0, 1e9]),
    st.data(),
)
def test_neither_the_order_of_rows_nor_the_unit_chooses_a_step(n, k, steps, unit, data):
    # Distances of 0 keep the means apart for ever: all steps have the same spread.
    cells = data.draw(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=n * n, max_size=n * n)
    )
    d = np.triu(np.reshape(cells, (n, n)), 1)
    d += d.T
    order = data.draw(st.permutations(range(n)))
    mixed = d[np.ix_(order, order)]
    found = [CDM(Precomputed(), min(k, n - 1), max_iter=steps).fit(m) for m in (d, mixed, d * unit)]
    assert len({measure.n_iter_ for measure in found}) == 1
    plain, mixed, scaled = (measure.distance() for measure in found)
    assert_allclose(mixed, plain[np.ix_(order, order)], rtol=1e-6)
    assert_allclose(scaled, plain * unit, rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_scales_match_their_references(x, k):
    d = Vector("cityblock").fit(x).distance()
    inner = Vector("cityblock")
    assert_allclose(native(LocalScaling(inner, k), x), reference.local_scaling(d, k), atol=1e-14)
    for geometric in (False, True):
        ours = native(NICDM(inner, k, geometric=geometric), x)
        assert_allclose(ours, reference.nicdm(d, k, geometric), rtol=1e-12)


def test_a_loaded_cdm_has_factors_and_a_measure_of_its_own_rows():
    measure = CDM(Vector(), 2).fit(LINE)
    measure._check_parts({"fitted": 4})
    for fitted in (3, 5):
        with pytest.raises(
            LookalikeError, match=f"CDM.factors_.*: needs 4 factors, found {fitted}"
        ):
            measure._check_parts({"fitted": fitted})
    measure.measure_ = Vector().fit(LINE[:3])
    with pytest.raises(LookalikeError, match=r"CDM.measure_.*: needs a measure fitted to 4 rows"):
        measure._check_parts({"fitted": 4})


@pytest.mark.parametrize("reducer", [CDM, NICDM, LocalScaling, SharedNeighbors])
def test_saved_and_loaded(reducer, tmp_path):
    x = np.random.default_rng(0).normal(size=(30, 3)) * np.repeat([0.2, 5.0], 15)[:, None]
    measure = reducer(Vector(), 3).fit(x)
    measure.save(tmp_path / "measure")
    loaded = la.load(tmp_path / "measure")
    assert_array_equal(loaded.compare(loaded.rows_, loaded.rows_), native(measure, x))
    assert_array_equal(loaded.distance(x[:3] + 1), measure.distance(x[:3] + 1))


def test_shared_neighbors_on_a_line():
    s = SharedNeighbors(Vector(), 2).fit(LINE).similarity()
    expected = np.full((4, 4), 0.5)
    expected[0, 3] = expected[3, 0] = 1.0
    np.fill_diagonal(expected, 1.0)
    assert_array_equal(s, expected)


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_shared_lists_match_their_reference(x, k):
    d = Vector("cityblock").fit(x).distance()
    assert_array_equal(native(SharedNeighbors(Vector("cityblock"), k), x), reference.shared(d, k))
    with_self = native(SharedNeighbors(Vector("cityblock"), k, include_self=True), x)
    assert_allclose(with_self, reference.shared(d, k, True))


def test_new_rows_are_in_no_list():
    measure = SharedNeighbors(Vector(), 2, include_self=True).fit(LINE)
    assert_array_equal(measure.rows_.arrays["near"][:, 2], [0, 1, 2, 3])
    new = measure.encode([[0.4]])
    assert_array_equal(new.arrays["near"], [[0, 1, -1]])
    # The lists of the rows at 0, 1, 3 and 7 with themselves: {1, 2, 0}, {0, 2, 1}, {1, 0, 2}, ...
    assert_allclose(measure.compare(new, measure.rows_)[0], [2 / 3, 2 / 3, 2 / 3, 1 / 3])
    assert measure.traits.symmetric
    assert measure.traits.unseen_pairs


def test_the_number_of_shared_rows_is_a_factor():
    measure = SharedNeighbors(Vector(), 2).fit(LINE)
    assert measure.explain(0, 3).factors["shared"] == 2
    assert measure.explain(0, 1).factors["shared"] == 1
    assert measure.rows_shape()[0]["near"].dims == ("n", 2)
