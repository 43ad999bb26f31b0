"""Local scaling, NICDM, CDM, shared neighbors: worked numbers, references, zero scales, units."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from hubness import reference
from hubness.test_reducer import native, off_diagonal, points
from lookalike.errors import LookalikeError
from lookalike.hubness import (
    CDM,
    CSLS,
    NICDM,
    DisSimLocal,
    LocalScaling,
    SharedNeighbors,
    rescale,
)
from lookalike.measures import Precomputed, Vector
from lookalike.measures.contract.rows import concatenate
from lookalike.testing import check_measure

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


# -- CSLS and DisSimLocal --------------------------------------------------------------------------


def exact_excess(d, k, squared):
    """2 d - r_x - r_y, or d**2 - |x - c_x|**2 - |y - c_y|**2, in fractions of whole distances."""
    n = len(d)
    d = [[Fraction(v) ** (2 if squared else 1) for v in row] for row in d.tolist()]
    near = [sorted(set(range(n)) - {i}, key=lambda j: (d[i][j], j))[:k] for i in range(n)]
    level = [sum(d[i][j] for j in near[i]) / k for i in range(n)]
    if squared:
        within = [sum(d[u][v] for u in near[i] for v in near[i]) for i in range(n)]
        level = [one - two / (2 * k * k) for one, two in zip(level, within, strict=True)]
    times = 1 if squared else 2
    return [[times * d[i][j] - level[i] - level[j] for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("how", ["exact", "candidates", "rescale"])
@pytest.mark.parametrize(("cls", "squared"), [(CSLS, False), (DisSimLocal, True)])
@given(
    seed=st.integers(0, 2**32 - 1),
    sentinels=st.integers(1, 2),
    far=st.sampled_from([999999999.0, 1e15]),
)
def test_a_far_row_does_not_change_the_order_of_the_others(cls, squared, how, seed, sentinels, far):
    rng = np.random.default_rng(seed)
    n, k = 16, 3
    x = rng.normal(size=(n, 2))
    x[-sentinels:, 0] = far
    plain = Vector().fit(x)
    measure = cls(Vector(), k, n_candidates=n - 1 if how == "candidates" else None).fit(x)
    if how == "rescale":
        lists = rescale(plain.neighbors(k=n - 1), measure).indices
    else:
        lists = measure.neighbors(k=n - 1).indices
    excess = exact_excess(plain.distance(), k, squared)
    near = range(n - sentinels)
    for i in near:
        # A far row itself: two numbers of 18 digits are subtracted, and floats hold 16 of them.
        found = [j for j in lists[i].tolist() if j in near]
        assert found == sorted(set(near) - {i}, key=lambda j: excess[i][j])


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_parts_beside_a_far_row_merge(cls):
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    check_measure(cls(Vector(), 4), x, new)
    fitted = cls(Vector(), 4).fit(x)
    assert len(np.unique(fitted.distance()[0])) < len(x)  # distances are shown with the offset


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_an_index_ranks_beside_a_far_row(cls):
    rng = np.random.default_rng(1)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    index = la.Index(cls(Vector(), 4)).fit(x)
    index.add(new)
    index.delete([2, 3, 30])
    measure = cls(Vector(), 4).fit(x)
    order = measure.order_block(measure.rows_, concatenate([measure.rows_, measure.encode(new)]))
    others = [j for j in range(48) if j not in (0, 2, 3, 30)]
    expected = sorted(others, key=lambda j: order[0, j])[:20]
    assert index.search(0, k=20).ids == expected


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_centers_follow_from_distances(x, k):
    ours = DisSimLocal(Vector(), k).fit(x)
    got = ours.distance() - ours.offset_
    assert_allclose(off_diagonal(got), off_diagonal(reference.dissim_local(x, k)), atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(x=points, k=st.integers(1, 4))
def test_csls_matches_its_reference(x, k):
    ours = CSLS(Vector("cityblock"), k).fit(x)
    theirs = reference.csls(Vector("cityblock").fit(x).distance(), k)
    assert_allclose(off_diagonal(ours.distance() - ours.offset_), off_diagonal(theirs), atol=1e-12)


def test_a_level_above_all_fitted_ones_is_cut():
    measure = CSLS(Vector(), 2).fit([[0.0], [1.0], [3.0], [7.0]])
    assert_array_equal(measure.rows_.arrays["level"], [2, 1.5, 2.5, 5])
    assert measure.offset_ == measure.order_shift == 10
    # Its own level is 96, cut at the largest fitted one, 5: no distance is negative.
    far = measure.distance([[100.0]])[0]
    assert_array_equal(far, 2 * np.array([100, 99, 97, 93]) - 5 - np.array([2, 1.5, 2.5, 5]) + 10)
    assert_array_equal(np.diagonal(measure.distance()), np.zeros(4))
    assert (np.diagonal(measure.order_block(measure.rows_, measure.rows_)) == -10).all()


def test_factors_are_the_levels_of_both_rows():
    line = [[0.0], [1.0], [3.0], [7.0]]
    assert CSLS(Vector(), 2).fit(line).explain(0, 3).factors == {"d": 7.0, "r_x": 2.0, "r_y": 5.0}
    found = DisSimLocal(Vector(), 2).fit(line).explain(0, 1).factors
    assert found == {"d": 1.0, "|x - c_x|^2": 4.0, "|y - c_y|^2": 0.25}
