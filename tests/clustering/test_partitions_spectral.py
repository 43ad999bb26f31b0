"""Spectral clustering against its definition, and its extension to new rows."""

import numpy as np
import pytest

from clustering import reference
from clustering.make import HALVES, TOY, blobs, space_of, two_moons
from lookalike.clustering import SimilarityClustering, adjusted_rand
from lookalike.clustering._space import Space
from lookalike.clustering.partitions import Spectral, _affinities, _all_eigenvectors
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Precomputed, Vector


@pytest.mark.parametrize("affinity", ["similarity", "rbf"])
def test_spectral_affinities_on_the_toy_points(affinity):
    model = SimilarityClustering(n_clusters=2, affinity=affinity, random_state=0).fit(TOY)
    assert model.labels_.tolist() == HALVES


@pytest.mark.parametrize("n", [40, 700])  # by the dense solver and by ARPACK
def test_spectral_coordinates_are_their_definition(n):
    points, _ = blobs(n, spread=1.5)
    space = space_of(points, Gower())
    shipped = Spectral(space, 0, 3, "similarity", 1.0)
    unit = shipped.coordinates / np.linalg.norm(shipped.coordinates, axis=1, keepdims=True)
    expected = reference.spectral_coordinates(space.similarities(), 3)
    signs = np.sign((unit * expected).sum(axis=0))
    np.testing.assert_allclose(unit, expected * signs, atol=1e-7)


def test_eigenvectors_where_the_search_for_some_of_them_fails(monkeypatch):
    import scipy.linalg

    points, _ = blobs(20)
    matrix, eigh = space_of(points, Gower()).similarities(), scipy.linalg.eigh
    wanted = _all_eigenvectors(matrix, 3)

    def fails(matrix, subset_by_index=None, **options):
        if subset_by_index is not None:
            raise scipy.linalg.LinAlgError("Internal Error.")
        return eigh(matrix, **options)

    monkeypatch.setattr(scipy.linalg, "eigh", fails)
    values, vectors = _all_eigenvectors(matrix, 3)
    np.testing.assert_allclose(values, wanted[0])
    np.testing.assert_allclose(np.abs(vectors), np.abs(wanted[1]), atol=1e-9)


def test_spectral_rbf_uses_the_distances():
    points, _ = blobs(30)
    space = space_of(points)
    w = np.exp(-(space.distances() ** 2) / (2 * 0.7**2))
    shipped = Spectral(space, 0, 3, "rbf", 0.7)
    unit = shipped.coordinates / np.linalg.norm(shipped.coordinates, axis=1, keepdims=True)
    expected = reference.spectral_coordinates(w, 3)
    # Three groups that hardly touch: the coordinates are one up to a rotation.
    np.testing.assert_allclose(unit @ unit.T, expected @ expected.T, atol=1e-6)


def test_spectral_finds_moons_and_extends_them_to_new_rows():
    points, y = two_moons()
    model = SimilarityClustering(Vector(), 2, affinity="rbf", sigma=0.12, random_state=0)
    model.fit(points)
    assert adjusted_rand(y, model.labels_) > 0.95
    new, truth = two_moons(60, seed=7)
    assert adjusted_rand(truth, model.predict(new)) > 0.9
    # No exemplar rule could do that: the moons reach around each other.
    nearest = model.transform(new).argmin(axis=1)
    assert adjusted_rand(truth, nearest) < 0.8


def test_rows_without_any_affinity_do_not_break_spectral():
    d = np.full((6, 6), 1e3)
    d[:3, :3] = d[3:5, 3:5] = 0.1
    np.fill_diagonal(d, 0)
    model = SimilarityClustering(Precomputed(), 2, affinity="rbf", random_state=0).fit(d)
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
