"""Every reducer against its reference, worked numbers, and the contract of measures."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness.spaces import assert_same_lists
from lookalike.errors import InvalidInput, TooFewRows, TooLarge, UndefinedMeasure
from lookalike.hubness import (
    CDM,
    CSLS,
    NICDM,
    DisSimLocal,
    LocalScaling,
    MutualProximity,
    SharedNeighbors,
)
from lookalike.measures import Combined, Precomputed, Ranked, Vector
from lookalike.testing import check_measure

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # four points on a line

ONE_LIST = [
    lambda m: LocalScaling(m, 3),
    lambda m: NICDM(m, 3),
    lambda m: NICDM(m, 3, geometric=True),
    lambda m: CDM(m, 3),
    lambda m: CSLS(m, 3),
    lambda m: DisSimLocal(m, 3),
    lambda m: SharedNeighbors(m, 3),
    lambda m: SharedNeighbors(m, 3, include_self=True),
]
PROXIMITIES = [
    lambda m: MutualProximity(m),
    lambda m: MutualProximity(m, "gauss"),
    lambda m: MutualProximity(m, "gauss_independent"),
    lambda m: MutualProximity(m, "gamma_independent"),
    lambda m: MutualProximity(m, augment=True),
    lambda m: MutualProximity(m, "gauss", augment=True, self_distance="include"),
    lambda m: MutualProximity(m, "gauss_independent", augment=True),
    lambda m: MutualProximity(m, "gamma_independent", self_distance="include"),
    lambda m: MutualProximity(m, "gauss_independent", sample=5, random_state=0),
]
COMBINATIONS = [
    lambda m: Combined([(0.3, m), (0.7, NICDM(m, 2))]),
    lambda m: Combined([(0.3, m), (0.7, m)], "zscore"),
    lambda m: Combined([(2, m), (1, SharedNeighbors(m, 2))], "similarity"),
]
REDUCERS = ONE_LIST + PROXIMITIES + COMBINATIONS

points = arrays(
    np.float64,
    st.tuples(st.integers(5, 9), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)


def spaces():
    rng = np.random.default_rng(1)
    x, new = rng.normal(size=(24, 9)), rng.normal(size=(5, 9))
    x[3] = x[4] = x[7] = x[9]  # duplicates: scales of zero
    new[0] = x[3]
    d, far = Vector().fit(x).distance(), Vector().fit(x).distance(new)
    one_way = rng.random((24, 24))
    np.fill_diagonal(one_way, 0)
    return {
        "vector": (Vector(), x, new),
        "ranked": (Ranked(), x, new),
        "matrix": (Precomputed(), d, far),
        "one way": (Precomputed(symmetric=False), one_way, rng.random((4, 24))),
        "reducer": (NICDM(Vector(), 4), x, new),
    }


SPACES = spaces()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("make", REDUCERS, ids=lambda make: repr(make(Ranked())))
def test_reducers_keep_the_contract(make, space):
    measure, x, new = SPACES[space]
    check_measure(make(measure), x, new)


@pytest.mark.parametrize("make", REDUCERS, ids=lambda make: repr(make(Ranked())))
def test_reducers_do_something(make):
    _, x, _ = SPACES["vector"]
    changed = make(Vector()).fit(x).distance()
    assert not np.allclose(changed, Vector().fit(x).distance())
    assert len(np.unique(changed)) > 3


# -- worked numbers --------------------------------------------------------------------------------


# -- references ------------------------------------------------------------------------------------


def native(measure, x):
    fitted = measure.fit(x)
    return fitted.similarity() if fitted.traits.native == "similarity" else fitted.distance()


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


# -- edges -----------------------------------------------------------------------------------------


def test_equal_distances():
    d = 1.0 - np.eye(5)
    assert_array_equal(NICDM(Precomputed(), 2).fit(d).distance(), d)
    assert_array_equal(NICDM(Precomputed(), 2).fit(d * 0).distance(), d * 0)
    assert_array_equal(CDM(Precomputed(), 2).fit(d * 0).distance(), d * 0)
    assert_array_equal(CSLS(Precomputed(), 2).fit(d).distance()[0, 1:], 2.0)


@pytest.mark.parametrize("make", ONE_LIST)
def test_too_many_neighbors_are_refused(make):
    with pytest.raises(TooFewRows, match=r"n_neighbors=3.*n_samples=3"):
        make(Vector()).fit([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize("make", [*ONE_LIST, *PROXIMITIES])
def test_bad_matrices_are_refused(make):
    lopsided = np.arange(25.0).reshape(5, 5) * (1 - np.eye(5))
    with pytest.raises(InvalidInput, match="symmetric"):
        make(Precomputed()).fit(lopsided)
    with pytest.raises(InvalidInput, match="at least 0"):
        make(Precomputed()).fit(np.eye(5) - 1)


def test_what_is_wrapped_must_be_a_measure():
    for wrong in (Vector, 3, None, "euclidian"):
        with pytest.raises(InvalidInput, match="a lookalike measure, or the name of one"):
            NICDM(wrong, 2).fit(LINE)


def test_a_frozen_measure_is_not_fitted_again():
    inner = Vector().fit(LINE)
    wrapped = NICDM(inner.frozen(), 2).fit(LINE)
    assert wrapped.measure_.rows_ is inner.rows_
    with pytest.raises(InvalidInput, match="the 4 rows that the frozen Vector was fitted to"):
        NICDM(inner.frozen(), 2).fit(LINE[:3])


def test_all_pairs_must_fit_under_the_limit():
    x = np.random.default_rng(0).normal(size=(200, 2))
    with la.config(memory_limit="50kB"):
        with pytest.raises(TooLarge, match="Use NICDM, which streams"):
            CDM(Vector()).fit(x)
        with pytest.raises(TooLarge, match="Use model='gauss_independent'"):
            MutualProximity(Vector()).fit(x)
        MutualProximity(Vector(), "gauss_independent").fit(x)


@pytest.mark.parametrize("make", [*ONE_LIST, *PROXIMITIES])
def test_explanations_name_the_factors(make):
    x = np.random.default_rng(0).normal(size=(12, 3))
    found = make(Vector()).fit(x).explain(0, 5)
    inner = found.inner["measure"]
    assert found.factors["d"] == inner.distance
    assert len(found.factors) >= 2
    assert_allclose(sum(found.minus.values()), 1 - found.similarity, atol=1e-12)
    shares = [found.minus[name] / inner.minus[name] for name in inner.minus]
    assert_allclose(shares, shares[0])


def test_factors_of_nicdm_and_proximity():
    found = NICDM(Vector(), 2).fit(LINE).explain(0, 3)
    assert found.factors == {"d": 7, "mu_x": 2, "mu_y": 5, "d / mu_x": 3.5, "d / mu_y": 1.4}
    found = MutualProximity(Vector()).fit(LINE).explain(0, 1)
    assert found.factors == {"d": 1, "F_x": 0.5, "F_y": 0.5}
    for model in ("gauss_independent", "gamma_independent"):
        found = MutualProximity(Vector(), model).fit(LINE).explain(0, 3)
        product = found.factors["F_x"] * found.factors["F_y"]
        assert found.similarity == pytest.approx(product, rel=1e-12), model


# -- candidates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["vector", "one way"])
@pytest.mark.parametrize("make", [*ONE_LIST, *PROXIMITIES], ids=lambda make: repr(make(Ranked())))
def test_all_rows_as_candidates_are_exact(make, space):
    measure, x, new = SPACES[space]
    exact, fast = make(measure), make(measure).set_params(n_candidates=24)
    for rows in (None, new):
        assert_same_lists(fast.fit(x).neighbors(rows, 6), exact.fit(x).neighbors(rows, 6))


def test_few_candidates_are_those_of_the_measure_inside():
    x = np.random.default_rng(0).normal(size=(60, 10))
    found = NICDM(Vector(), 5, n_candidates=12).fit(x).neighbors(k=4)
    candidates = Vector().fit(x).neighbors(k=12).indices
    d = NICDM(Vector(), 5).fit(x).distance()
    for i in range(60):
        best = sorted(candidates[i], key=lambda j: (d[i, j], j))[:4]
        assert found.indices[i].tolist() == best
    assert not np.array_equal(found.indices, NICDM(Vector(), 5).fit(x).neighbors(k=4).indices)


def test_candidates_speak_the_names_of_the_collection():
    x = np.random.default_rng(0).normal(size=(20, 4))
    measure = NICDM(Vector(), 3, n_candidates=20).fit(x)
    rows, names = measure.rows_, np.arange(20) * 10 + 5
    found = measure.nearest(rows, rows, 4, exclude=names, ids=names)
    assert_array_equal(found.indices, measure.neighbors(k=4).indices * 10 + 5)


def test_rows_that_cannot_be_compared_are_too_few():
    class _Incomplete(Precomputed):  # some pairs undefined; not registered
        def compare(self, a, b):
            d = super().compare(a, b)
            d[(d > 8) & (d < 11)] = np.nan
            return d

    d = Vector().fit(np.arange(12.0)[:, None]).distance()
    for make in ONE_LIST:
        wide = make(_Incomplete()).set_params(n_neighbors=10)
        with pytest.raises(TooFewRows, match="finite distance"):
            wide.fit(d)
        values = make(_Incomplete()).fit(d)
        block = values.block(values.rows_, values.rows_)
        if not isinstance(values, SharedNeighbors):
            assert_array_equal(np.isnan(block), (d > 8) & (d < 11))
            with pytest.raises(UndefinedMeasure, match="10 pairs without"):
                values.distance()
    for make in PROXIMITIES[:4]:
        fitted = make(_Incomplete()).fit(d)
        assert_array_equal(np.isnan(fitted.block(fitted.rows_, fitted.rows_)), (d > 8) & (d < 11))
    fitted = MutualProximity(_Incomplete(), "gauss_independent").fit(d)
    others = [v for j, v in enumerate(d[0]) if j and not 8 < v < 11]
    assert_allclose(fitted.rows_.arrays["mean"][0], np.mean(others))


def test_reasons_of_the_inner_measure_are_scaled_to_the_reduced_similarity():
    x = np.random.default_rng(0).normal(size=(30, 3))
    measure = NICDM(Vector("cityblock"), 3).fit(x)
    found, inner = measure.explain(0, 1), measure.measure_.explain(0, 1)
    scales = [
        share / sum(side.values())
        for share, side in ((found.similarity, inner.plus), (1 - found.similarity, inner.minus))
    ]
    assert_allclose(found.similarity, measure.similarity()[0, 1])
    assert_allclose(found.distance, measure.distance()[0, 1])
    for name in inner.minus:
        assert_allclose(found.minus[name], scales[1] * inner.minus[name])
        assert_allclose(found.reach[name], scales[1] * inner.reach[name])
        assert_allclose(found.baseline[name][0], scales[0] * inner.baseline[name][0])
        assert_allclose(found.baseline[name][1], scales[1] * inner.baseline[name][1])
    assert_allclose(sum(found.plus.values()), found.similarity)
    assert found.surprisal == inner.surprisal
    assert (found.inner["measure"].distance, found.factors["d"]) == (inner.distance,) * 2
    assert found.not_compared == inner.not_compared == ()
