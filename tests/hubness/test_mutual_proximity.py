"""Mutual proximity in its four models: worked numbers, references, laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from scipy.stats import multivariate_normal

import lookalike as la
from hubness import reference
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.hubness import MutualProximity, mutual_proximity
from lookalike.hubness.mutual_proximity import bivariate_normal, grown, mutual_proximity_graph, step
from lookalike.measures import Precomputed, Vector
from lookalike.neighbors import NeighborGraph

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
LONGER = np.array([[0.0], [1.0], [3.0], [7.0], [15.0]])
MODELS = ("empirical", "gauss", "gauss_independent", "gamma_independent")


def matrix(seed, n=9, ties=True, symmetric=True):
    """A random matrix of distances, with ties on request."""
    rng = np.random.default_rng(seed)
    d = rng.integers(1, 12, (n, n)).astype(float) if ties else rng.random((n, n))
    d = d + d.T if symmetric else d
    np.fill_diagonal(d, 0)
    return d


def proximity(d, *options, symmetric=True, **named):
    inner = Precomputed(symmetric=symmetric)
    return MutualProximity(inner, *options, **named).fit(d)


def test_counts_on_a_line():
    measure = MutualProximity(Vector()).fit(LINE)
    expected = np.array([[1, 0.5, 0.25, 0], [0.5, 1, 0.25, 0], [0.25, 0.25, 1, 0], [0, 0, 0, 1]])
    assert_array_equal(measure.similarity(), expected)
    assert_array_equal(measure.similarity([[2.0]]), [[0.25, 0.25, 0.5, 0]])


def test_gauss_and_gamma_on_a_line():
    measure = MutualProximity(Vector(), "gauss_independent").fit(LINE)
    assert_allclose(measure.rows_.arrays["mean"], [11 / 3, 3, 3, 17 / 3])
    assert_allclose(measure.rows_.arrays["sd"] ** 2, [56 / 9, 14 / 3, 2 / 3, 14 / 9])
    got = measure.similarity()[[0, 2, 0], [1, 3, 3]]
    assert_allclose(got, [0.705471, 0.100326, 0.012930], atol=5e-7)
    got = MutualProximity(Vector(), "gamma_independent").fit(LINE).similarity()
    assert_allclose(got[[0, 2], [1, 3]], [0.770786, 0.106333], atol=5e-7)


def test_joint_gauss_on_a_line():
    got = MutualProximity(Vector(), "gauss").fit(LONGER).similarity()
    expected = [0.823351, 0.745533, 0.623763, 0.118362]
    assert_allclose(np.diagonal(got, 1), expected, atol=5e-7)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), ties=st.booleans(), symmetric=st.booleans())
@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_counts_match_their_reference(seed, ties, symmetric):
    d = matrix(seed, ties=ties, symmetric=symmetric)
    assert_array_equal(
        proximity(d, symmetric=symmetric).similarity(), reference.mutual_proximity(d)
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), symmetric=st.booleans(), include=st.booleans())
def test_independent_models_match_their_reference(seed, symmetric, include):
    d = matrix(seed, symmetric=symmetric)
    own = "include" if include else "exclude"
    for model in ("gauss", "gamma"):
        ours = proximity(d, f"{model}_independent", self_distance=own, symmetric=symmetric)
        theirs = reference.independent(d, model, include)
        assert_allclose(ours.similarity(), theirs, rtol=1e-9, atol=1e-15)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_joint_gauss_matches_its_reference(seed):
    d = matrix(seed, n=7)
    assert_allclose(proximity(d, "gauss").similarity(), reference.joint(d), atol=2e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_new_rows_are_judged_by_the_fitted_ones(seed):
    d = matrix(seed)
    q = np.random.default_rng(seed + 1).integers(1, 24, (3, 9)).astype(float)
    for augment, divisor in ((False, 9), (True, 10)):
        ours = proximity(d, augment=augment).similarity(q)
        assert_array_equal(ours, [reference.query_proximity(row, d, divisor) for row in q])
    given = [reference.parameters(row, i) for i, row in enumerate(d)]
    ours = proximity(d, "gauss_independent").similarity(q)
    grown = proximity(d, "gauss_independent", augment=True).similarity(q)
    for i, row in enumerate(q):
        own = reference.parameters(row)
        for y in range(9):
            mine = reference.survival(row[y], *own, "gauss")
            assert_allclose(
                ours[i, y], mine * reference.survival(row[y], *given[y], "gauss"), rtol=1e-9
            )
            more = [*(v for j, v in enumerate(d[y]) if j != y), row[y]]
            theirs = reference.survival(row[y], np.mean(more), np.std(more), "gauss")
            assert_allclose(grown[i, y], mine * theirs, rtol=1e-9)


@pytest.mark.parametrize("model", ["empirical", "gauss_independent", "gamma_independent", "gauss"])
def test_a_row_that_joins_is_judged_as_if_it_had_been_fitted(model):
    """``augment`` equals a fit with the new row, its distance 0 to itself included."""
    rows = np.random.default_rng(0).normal(size=(12, 3))
    for own in ("exclude",) if model == "gauss" else ("exclude", "include"):
        joined = MutualProximity(Vector(), model, augment=True, self_distance=own).fit(rows[:-1])
        fitted = MutualProximity(Vector(), model, self_distance=own).fit(rows)
        expected = fitted.similarity()[-1, :-1]
        assert_allclose(joined.similarity(rows[-1:])[0], expected, rtol=1e-12)


def test_training_rows_as_new_rows_give_the_same_counts():
    d = matrix(3, n=30, ties=False)
    measure = proximity(d)
    again = measure.similarity(d)
    off = ~np.eye(30, dtype=bool)
    assert_array_equal(again[off], measure.similarity()[off])


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_laws_of_counts():
    d = matrix(5, n=20, ties=False)
    s = proximity(d).similarity()
    off = s[~np.eye(20, dtype=bool)]
    assert off.max() <= 18 / 20
    assert_array_equal(off * 20, np.round(off * 20))
    assert_array_equal(proximity(np.sqrt(d)).similarity(), s)
    farther = np.full((21, 21), 100.0)
    farther[:20, :20] = d
    farther[20, 20] = 0
    more = proximity(farther).similarity()[:20, :20]
    assert_allclose((more * 21)[~np.eye(20, dtype=bool)], off * 20 + 1)
    assert_array_equal(proximity(1 - np.eye(5)).similarity(), np.eye(5))
    assert_array_equal(proximity(1 - np.eye(2)).similarity(), np.eye(2))


def test_laws_of_gauss():
    d = matrix(5, n=20, ties=False)
    s = proximity(d, "gauss_independent").similarity()
    assert_allclose(proximity(7 * d, "gauss_independent").similarity(), s, rtol=1e-9)
    shifted = d + 3 * (1 - np.eye(20))
    assert_allclose(proximity(shifted, "gauss_independent").similarity(), s, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS[1:])
def test_rows_without_spread_take_a_step(model):
    # Row 3 is equally far from all; its distribution is a step, and d = mean counts half.
    d = np.array([[0, 1, 2, 5], [1, 0, 3, 5], [2, 3, 0, 5], [5, 5, 5, 0.0]])
    s = proximity(d, model).similarity()
    mean, sd = reference.parameters(d[0], 0)
    kind = "gamma" if model == "gamma_independent" else "gauss"
    assert_allclose(s[0, 3], 0.5 * reference.survival(5, mean, sd, kind), rtol=1e-9)
    assert_allclose(proximity(1 - np.eye(4), model).similarity()[0], [1, 0.25, 0.25, 0.25])


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-30, 7e200])
def test_equal_distances_have_no_spread_whatever_their_rounding(value):
    measure = proximity(value * (1 - np.eye(12)), "gauss_independent")
    assert_array_equal(measure.rows_.arrays["sd"], 0)
    assert_array_equal(measure.rows_.arrays["mean"], value)


@pytest.mark.parametrize("model", ["gauss_independent", "gamma_independent"])
def test_a_sample_of_everything_is_everything(model):
    x = np.random.default_rng(0).normal(size=(40, 5))
    whole = MutualProximity(Vector(), model).fit(x).similarity()
    for sample in (39, 40, 1000):
        some = MutualProximity(Vector(), model, sample=sample, random_state=1).fit(x)
        assert some.reference_ is None
        assert_array_equal(some.similarity(), whole)


def test_samples_follow_the_seed():
    x = np.random.default_rng(0).normal(size=(40, 5))

    def fitted(seed, sample=12):
        return MutualProximity(Vector(), "gauss_independent", sample=sample, random_state=seed).fit(
            x
        )

    one, same, other = fitted(0), fitted(np.random.default_rng(0)), fitted(1)
    assert_array_equal(one.similarity(), same.similarity())
    assert not np.array_equal(one.similarity(), other.similarity())
    d = Vector().fit(x).distance()
    at = 3
    others = [d[at, r] for r in one.reference_ if r != at]
    assert_allclose(one.rows_.arrays["mean"][at], np.mean(others))
    assert_allclose(one.rows_.arrays["sd"][at], np.std(others))


def test_samples_need_an_independent_model():
    with pytest.raises(InvalidInput, match="gauss_independent"):
        MutualProximity(Vector(), "empirical", sample=30).fit(LINE)
    with pytest.raises(InvalidInput, match="Did you mean 'gauss'"):
        MutualProximity(Vector(), "gaus").fit(LINE)


@pytest.mark.parametrize(
    ("n", "sample", "model"),
    [
        (12, None, "empirical"),
        (13, None, "gauss_independent"),
        (12, 5, "gauss_independent"),
    ],
)
def test_the_model_follows_the_number_of_rows(monkeypatch, tmp_path, n, sample, model):
    monkeypatch.setattr(mutual_proximity, "MAX_ROWS_FOR_AUTO_COUNTS", 12)
    x = np.random.default_rng(0).normal(size=(n, 3))
    auto = MutualProximity(Vector(), sample=sample, random_state=0)
    assert not auto.traits.needs_all
    auto.fit(x)
    given = MutualProximity(Vector(), model, sample=sample, random_state=0).fit(x)
    assert auto.model == "auto"
    assert auto.model_ == given.model_ == model
    assert_array_equal(auto.similarity(), given.similarity())
    assert_array_equal(auto.similarity(x[:2] + 1), given.similarity(x[:2] + 1))
    assert auto.traits.needs_all == (model == "empirical")
    auto.save(tmp_path / "auto.lookalike")
    loaded = la.load(tmp_path / "auto.lookalike")
    assert loaded.model_ == model
    assert_array_equal(loaded.similarity(), given.similarity())


def test_the_stated_limit_is_the_one_in_use():
    assert f"up to {mutual_proximity.MAX_ROWS_FOR_AUTO_COUNTS:,} rows" in " ".join(
        MutualProximity.__doc__.split()
    )


def test_many_ties_are_said():
    x = np.random.default_rng(0).integers(0, 2, (30, 2)).astype(float)
    with pytest.warns(LookalikeWarning, match="tied within their row"):
        MutualProximity(Vector()).fit(x)


def test_ranks_are_counted_again_after_loading(tmp_path):
    x = np.random.default_rng(0).normal(size=(30, 3))
    measure = MutualProximity(Vector()).fit(x)
    measure.save(tmp_path / "proximity.lookalike")
    again = la.load(tmp_path / "proximity.lookalike")
    assert not hasattr(again, "_ranks")
    assert_array_equal(again.similarity(), measure.similarity())


def test_undefined_distances_count_for_no_row():
    # Two new rows cannot be compared with each other, all others can.
    d = matrix(1, n=6, ties=False)
    measure = proximity(d)
    new = measure.encode(d[:2] + 0.01)
    assert np.isnan(measure.compare(new, new)).all()
    assert np.isfinite(measure.compare(new, measure.rows_)).all()


# -- tail probabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [-0.95, -0.3, 0.0, 0.5, 0.99])
def test_bivariate_normal(rho):
    grid = np.array([-2.5, -1.0, 0.0, 0.4, 3.0])
    h, k = np.meshgrid(grid, grid)
    ours = bivariate_normal(h, k, np.full(h.shape, rho))
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    assert_allclose(ours, law.cdf(np.dstack([h, k])), atol=2e-6)
    assert_array_equal(ours, ours.T)


def test_bivariate_normal_at_its_ends():
    h, k = np.array([0.3]), np.array([-0.2])
    assert_allclose(bivariate_normal(h, k, np.array([1.0])), ndtr(-0.2))
    assert_allclose(bivariate_normal(h, k, np.array([-1.0])), ndtr(0.3) + ndtr(-0.2) - 1)
    assert_allclose(bivariate_normal(h, k, np.array([0.0])), ndtr(0.3) * ndtr(-0.2))
    zero = np.zeros(1)
    assert_allclose(bivariate_normal(zero, zero, np.array([0.5])), 1 / 3)


def test_only_a_new_partner_is_added_to_the_moments():
    known = np.array([1.0, 2.0, 6.0])
    mean, sd, count = np.full(2, known.mean()), np.full(2, known.std()), np.full(2, 3.0)
    found = grown(mean, sd, count, np.array([5.0, 5.0]), np.array([1.0, 0.0]))
    more = np.append(known, 5.0)
    assert_allclose(found, [[more.mean(), known.mean()], [more.std(), known.std()]], rtol=1e-14)
    tiny = grown(np.zeros(1), np.full(1, 1e-200), np.full(1, 3.0), np.zeros(1), np.ones(1))
    assert_allclose(tiny[1], 1e-200 * np.sqrt(3 / 4))  # its square is 0


def test_a_row_without_spread_takes_a_step():
    d = np.array([1.0, 2.0, 3.0, np.nan])
    assert_array_equal(step(d, np.full(4, 2.0)), [1.0, 0.5, 0.0, np.nan])


def test_lists_are_ranked_again_by_the_product_of_both_tails():
    """Row 0 is a neighbor like any other; an entry of -1, where a list was too short, is none."""
    distances = np.array([[1.0, 2.0, 4.0], [1.0, 3.0, np.inf], [2.0, 3.0, 5.0], [4.0, 5.0, 6.0]])
    indices = np.array([[1, 2, 3], [0, 2, -1], [0, 1, 3], [0, 2, 1]])
    mean, sd = np.array([3.0, 2.0, 4.0, 5.0]), np.array([1.0, 0.5, 2.0, 0.0])
    found = mutual_proximity_graph(NeighborGraph(indices, distances, 4), mean, sd, 2)

    def tail(d, i):
        return 1 - ndtr((d - mean[i]) / sd[i]) if sd[i] else 1 - np.heaviside(d - mean[i], 0.5)

    for i, line in enumerate(indices):
        pairs = [(1 - tail(d, i) * tail(d, j), j) for d, j in zip(distances[i], line, strict=True)]
        best = sorted(pair for pair in pairs if pair[1] >= 0)[:2]
        assert_allclose(found.distances[i], [d for d, _ in best], atol=1e-12)
        assert found.indices[i].tolist() == [j for _, j in best]


def test_very_many_triples_are_said(monkeypatch):
    monkeypatch.setattr(mutual_proximity, "MAX_ROWS_WITHOUT_WARNING", 10)
    x = np.random.default_rng(0).normal(size=(11, 2))
    for model in ("empirical", "gauss"):
        with pytest.warns(LookalikeWarning, match="whose pairs make 7e\\+02 triples"):
            MutualProximity(Vector(), model).fit(x)
