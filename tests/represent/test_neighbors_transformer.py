"""A graph of neighbors feeds scikit-learn's own estimators."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Vector
from lookalike.represent import NeighborsTransformer

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(40, 3))
NEW = RNG.normal(size=(7, 3))


@parametrize_with_checks(
    [NeighborsTransformer(n_neighbors=2), NeighborsTransformer(Vector(), mode="connectivity")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def pets():
    """Two kinds of animals that hardly overlap, with gaps."""
    y = np.repeat([0, 1], 30)
    weight = np.where(y, 30.0, 4.0) + RNG.normal(size=60)
    sound = np.where(y, "woof", "meow").astype(object)
    weight[::11], sound[3::7] = np.nan, None
    return la.read_table({"weight": weight, "sound": sound.tolist()}), y


def assert_same_graph(a, b):
    assert a.shape == b.shape
    assert (a.indptr == b.indptr).all()
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_allclose(a.data, b.data, atol=1e-7)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_the_graph_of_a_measure_is_that_of_scikit_learn(mode):
    ours, theirs = Vector().fit(POINTS), NearestNeighbors(n_neighbors=4).fit(POINTS)
    for X in (None, NEW):
        assert_same_graph(ours.kneighbors_graph(X, 4, mode), theirs.kneighbors_graph(X, 4, mode))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_it_is_the_twin_of_scikit_learns(mode):
    ours = NeighborsTransformer(Vector(), n_neighbors=4, mode=mode)
    theirs = KNeighborsTransformer(n_neighbors=4, mode=mode)
    assert_same_graph(ours.fit_transform(POINTS), theirs.fit_transform(POINTS))
    assert_same_graph(ours.transform(NEW), theirs.transform(NEW))


def test_a_wrong_mode_is_pointed_out():
    measure = Vector().fit(POINTS)
    with pytest.raises(InvalidInput, match="Did you mean 'distance'"):
        measure.kneighbors_graph(mode="distances")
    with pytest.raises(InvalidInput, match="mode"):
        NeighborsTransformer(mode="both").fit(POINTS)
    with pytest.raises(ValueError, match="n_neighbors"):
        NeighborsTransformer(n_neighbors=40).fit_transform(POINTS)


def test_dbscan(pets):
    table, y = pets
    dbscan = DBSCAN(eps=0.2, min_samples=3, metric="precomputed")
    labels = make_pipeline(NeighborsTransformer(Gower(), n_neighbors=10), dbscan).fit_predict(table)
    assert adjusted_rand_score(y[labels >= 0], labels[labels >= 0]) > 0.9
    assert (labels >= 0).mean() > 0.8


def test_spectral_clustering(pets):
    table, y = pets
    spectral = SpectralClustering(
        2, affinity="precomputed_nearest_neighbors", n_neighbors=35, random_state=0
    )
    labels = make_pipeline(NeighborsTransformer(n_neighbors=40), spectral).fit_predict(table)
    assert adjusted_rand_score(y, labels) > 0.8


def test_pictures(pets):
    table, y = pets
    tsne = TSNE(perplexity=5, metric="precomputed", init="random", random_state=0, max_iter=300)
    places = make_pipeline(NeighborsTransformer(n_neighbors=20), tsne).fit_transform(table)
    middle = [places[y == c].mean(axis=0) for c in (0, 1)]
    spread = np.mean([places[y == c].std() for c in (0, 1)])
    assert places.shape == (60, 2)
    assert np.linalg.norm(middle[0] - middle[1]) > spread
    graph = NeighborsTransformer(n_neighbors=45)
    flat = make_pipeline(graph, Isomap(n_neighbors=40, metric="precomputed")).fit_transform(table)
    assert flat.shape == (60, 2)


def test_a_classifier_on_new_rows(pets):
    table, y = pets
    vote = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
    model = make_pipeline(NeighborsTransformer(n_neighbors=5), vote).fit(table[::2], y[::2])
    assert model.score(table[1::2], y[1::2]) > 0.85


def test_a_frozen_measure_and_a_saved_transformer(pets, tmp_path):
    table, _ = pets
    frozen = Gower().fit(table).frozen()
    model = NeighborsTransformer(frozen, n_neighbors=3).fit(table[:20])
    assert model.transform(table[20:]).shape == (40, 20)
    model = NeighborsTransformer(n_neighbors=3).fit(table)
    model.save(tmp_path / "graph.lookalike")
    assert_same_graph(
        la.load(tmp_path / "graph.lookalike").transform(table[:5]), model.transform(table[:5])
    )
    assert model.get_feature_names_out()[0] == "neighborstransformer0"


def test_rows_with_nothing_to_compare_have_no_entry():
    table = la.read_table({"a": [1.0, 2.0, None, 3.0], "b": ["x", "y", None, "x"]})
    graph = NeighborsTransformer(Gower(), n_neighbors=3).fit_transform(table)
    assert graph[2].nnz == 1  # itself
    assert np.isfinite(graph.data).all()
