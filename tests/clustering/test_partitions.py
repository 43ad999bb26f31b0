"""Linkage, affinity propagation, k-medoids and spectral clustering against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clustering import reference
from clustering.make import HALVES, TOY, blobs, space_of, two_moons
from lookalike.clustering import SimilarityClustering
from lookalike.clustering._clustering import Space
from lookalike.clustering.partitions import (
    Affinity,
    Eigenvectors,
    _affinities,
    _all_eigenvectors,
)
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.measures import Gower, Precomputed, Vector


@pytest.mark.parametrize("way", ["complete", "ward"])
@given(seed=st.integers(0, 10**6), k=st.integers(2, 8))
def test_linkage_is_its_definition(way, seed, k):
    points = np.random.default_rng(seed).normal(size=(10, 2))
    model = SimilarityClustering(Vector(), k, method=way).fit(points)
    expected = reference.agglomerate(model.measure_.distance(), k, way)
    assert model.labels_.tolist() == expected.tolist()


def test_linkage_cuts_ties_to_exactly_k():
    model = SimilarityClustering(Vector(), 3, method="complete").fit([[0.0], [1.0], [2.0], [3.0]])
    assert model.n_clusters_ == 3
    assert model.labels_.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.long
def test_messages_elect_what_their_definition_elects(seed):
    points, _ = blobs(15, seed)
    space = space_of(points)
    exemplars, own = reference.affinity_propagation(space.distances(), -8.0)
    assert len(exemplars) == 3
    assert len(Affinity(space, 0)._run(-8.0)) == 3
    assert reference.same_partition(Affinity(space, 0).cut(3).labels, own)


def test_preset_numbers_are_met_where_rows_are_in_general_position():
    points = np.random.default_rng(1).normal(size=(25, 2))
    for k in (2, 3, 5, 8):
        model = SimilarityClustering(Vector(), k, method="affinity", random_state=0).fit(points)
        assert model.n_clusters_ == k
        d = model.transform(None)
        others = np.setdiff1d(np.arange(25), model.exemplars_)
        assert model.labels_[others].tolist() == d[others].argmin(axis=1).tolist()
        assert model.labels_[model.exemplars_].tolist() == list(range(k))


def test_a_number_that_no_preference_gives_is_said():
    with pytest.warns(LookalikeWarning, match="a preference that elects 3 exemplars, found 2"):
        model = SimilarityClustering(Vector(), 3, method="affinity", random_state=0).fit(TOY)
    assert model.n_clusters_ == 2
    assert model.labels_.tolist() == HALVES


@given(seed=st.integers(0, 10**6))
def test_medoids_cannot_be_improved_by_a_swap(seed):
    points = np.random.default_rng(seed).normal(size=(12, 2))
    model = SimilarityClustering(Vector(), 3, method="medoids", random_state=0).fit(points)
    d = model.measure_.distance()

    def cost(chosen):
        return d[:, chosen].min(axis=1).sum()

    own = cost(model.exemplars_)
    for place in range(3):
        for other in range(12):
            swapped = model.exemplars_.copy()
            swapped[place] = other
            assert cost(swapped) >= own - 1e-12
    assert model.exemplar_distances_.sum() == pytest.approx(own)


@pytest.mark.parametrize("n", [40, 700])  # by the dense solver and by ARPACK
def test_components_are_those_of_rows_with_these_inner_products(n):
    points, _ = blobs(n, spread=1.5)
    space = space_of(points, Gower())
    shipped = Eigenvectors("", 1.0, space, 0, 3).coordinates
    expected = reference.principal_coordinates(space.similarities(), 2)
    shipped = shipped - shipped.mean(axis=0)
    signs = np.sign((shipped * expected).sum(axis=0))
    np.testing.assert_allclose(shipped, expected * signs, atol=1e-7)


def test_components_of_equal_columns_ignore_how_often_levels_differ():
    """Two numbers say one thing; a flag as good as random differs more than either of them."""
    rng = np.random.default_rng(0)
    half = np.arange(60) % 2
    rows = {name: (rng.normal(0, 1, 60) + 3 * half).tolist() for name in ("a", "b")}
    rows["coin"] = np.array(["heads", "tails"])[rng.integers(0, 2, 60)].tolist()
    found = SimilarityClustering(n_clusters=2, random_state=0).fit(rows)
    plain = SimilarityClustering(n_clusters=2, method="spectral", random_state=0).fit(rows)
    assert (
        adjusted_rand_score(half, found.labels_) > 0.75 > adjusted_rand_score(half, plain.labels_)
    )
    weights = found.measure_.weights_
    assert weights["coin"] < weights["a"]
    # Weights that were given count on top: without the coin, or with nothing but it.
    left_out = SimilarityClustering(Gower(weights={"coin": 0}), 2, random_state=0).fit(rows)
    assert left_out.measure_.weights_["coin"] == 0
    coin = SimilarityClustering(Gower(weights={"coin": 50}), 2, random_state=0).fit(rows)
    assert adjusted_rand_score(rows["coin"], coin.labels_) == 1


def test_components_of_fewer_dimensions_than_clusters():
    """Three directions are asked for where rows have one: the others are 0, not noise."""
    with pytest.warns(LookalikeWarning, match="rows of 4 different kinds"):
        model = SimilarityClustering(Vector(), 4, random_state=0).fit([[0.0], [1.0]] * 6)
    assert sorted(set(model.labels_.tolist())) == [0, 1]
    assert model.predict([[1.0], [0.0]]).tolist() == [1, 0]


@pytest.mark.parametrize("affinity", ["similarity", "rbf"])
def test_spectral_affinities_on_the_toy_points(affinity):
    model = SimilarityClustering(
        n_clusters=2, method="spectral", affinity=affinity, random_state=0
    ).fit(TOY)
    assert model.labels_.tolist() == HALVES


@pytest.mark.parametrize("n", [40, 700])  # by the dense solver and by ARPACK
def test_spectral_coordinates_are_their_definition(n):
    points, _ = blobs(n, spread=1.5)
    space = space_of(points, Gower())
    shipped = Eigenvectors("similarity", 1.0, space, 0, 3)
    unit = shipped.coordinates / np.linalg.norm(shipped.coordinates, axis=1, keepdims=True)
    expected = reference.spectral_coordinates(space.similarities(), 3)
    signs = np.sign((unit * expected).sum(axis=0))
    np.testing.assert_allclose(unit, expected * signs, atol=1e-7)


def test_spectral_rbf_uses_the_distances():
    points, _ = blobs(30)
    space = space_of(points)
    w = np.exp(-(space.distances() ** 2) / (2 * 0.7**2))
    shipped = Eigenvectors("rbf", 0.7, space, 0, 3)
    unit = shipped.coordinates / np.linalg.norm(shipped.coordinates, axis=1, keepdims=True)
    expected = reference.spectral_coordinates(w, 3)
    # Three groups that hardly touch: the coordinates are one up to a rotation.
    np.testing.assert_allclose(unit @ unit.T, expected @ expected.T, atol=1e-6)


def test_spectral_finds_moons_and_extends_them_to_new_rows():
    points, y = two_moons()
    model = SimilarityClustering(
        Vector(), 2, method="spectral", affinity="rbf", sigma=0.12, random_state=0
    )
    model.fit(points)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    new, truth = two_moons(60, seed=7)
    assert adjusted_rand_score(truth, model.predict(new)) > 0.9
    # No exemplar rule could do that: the moons reach around each other.
    nearest = model.transform(new).argmin(axis=1)
    assert adjusted_rand_score(truth, nearest) < 0.8


def test_rows_without_any_affinity_do_not_break_spectral():
    d = np.full((6, 6), 1e3)
    d[:3, :3] = d[3:5, 3:5] = 0.1
    np.fill_diagonal(d, 0)
    model = SimilarityClustering(
        Precomputed(), 2, method="spectral", affinity="rbf", random_state=0
    ).fit(d)
    assert model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]


def test_negative_similarities_are_refused_and_the_method_named_once():
    class Below(Space):
        def similarities(self):
            return np.array([[1.0, -0.5], [-0.5, 1.0]])

    measure = Vector().fit([[0.0], [1.0]])
    space = Below(measure, measure.rows_, "SimilarityClustering(method='spectral')", 10)
    with pytest.raises(InvalidInput, match="spectral clustering, found -0.5") as error:
        _affinities(space, "similarity", 1.0)
    assert str(error.value).count("method='spectral'") == 1


def test_eigenvectors_where_the_fast_driver_gives_up(monkeypatch):
    """LAPACK's MRRR driver ends in an internal error for some matrices of nearly equal values."""
    import scipy.linalg

    rng = np.random.default_rng(0)
    matrix = rng.random((12, 12))
    matrix = matrix + matrix.T
    expected = _all_eigenvectors(matrix, 3)
    fast = scipy.linalg.eigh

    def give_up(matrix, driver=None, **options):
        if driver is None:
            raise np.linalg.LinAlgError("Internal Error.")
        return fast(matrix, driver=driver, **options)

    monkeypatch.setattr(scipy.linalg, "eigh", give_up)
    values, vectors = _all_eigenvectors(matrix, 3)
    np.testing.assert_allclose(values, expected[0])
    np.testing.assert_allclose(np.abs(vectors.T @ expected[1]), np.eye(3), atol=1e-9)
