"""Each method does what its definition says, and labels new rows by its rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering import reference
from lookalike.clustering import SimilarityClustering, adjusted_rand, silhouette
from lookalike.clustering._space import Space
from lookalike.clustering.hdbscan import _tree
from lookalike.clustering.partitions import Affinity
from lookalike.clustering.spectral import Spectral, _affinities
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.measures import Gower, Precomputed, Ranked, Vector

TOY = reference.TOY[:, None]
HALVES = [0, 0, 0, 1, 1, 1]
BY_NUMBER = ("spectral", "affinity", "complete", "ward", "medoids")


def space_of(points, measure=None):
    measure = (Vector() if measure is None else measure).fit(points)
    return Space(measure, measure.rows_, "test", 20_000)


def two_moons(n=120, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n)
    upper = np.arange(n) % 2 == 0
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + rng.normal(0, 0.05, (n, 2)), upper.astype(int)


def blobs(n=90, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    at = np.arange(n) % 3
    return centers[at] + rng.normal(0, spread, (n, 2)), at


# -- the toy points -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [Gower(), Vector(), Vector("cityblock")], ids=str)
@pytest.mark.parametrize("n_clusters", [2, "auto"])
@pytest.mark.parametrize("method", BY_NUMBER)
def test_toy_points_fall_into_two_halves(method, n_clusters, measure):
    model = SimilarityClustering(measure, n_clusters, method=method, random_state=0).fit(TOY)
    assert model.labels_.tolist() == HALVES
    assert model.n_clusters_ == 2
    assert model.exemplars_.tolist() == [1, 4]
    assert model.predict([[1.4], [9.0], [12.5]]).tolist() == [0, 1, 1]
    assert model.predict(TOY).tolist() == HALVES
    if n_clusters == "auto":
        own = silhouette(model.measure_, HALVES)
        assert model.silhouettes_[2] == pytest.approx(own)
        assert max(model.silhouettes_.values()) == model.silhouettes_[2]


@pytest.mark.parametrize("affinity", ["similarity", "rbf"])
def test_spectral_affinities_on_the_toy_points(affinity):
    model = SimilarityClustering(n_clusters=2, affinity=affinity, random_state=0).fit(TOY)
    assert model.labels_.tolist() == HALVES


def test_toy_points_by_density():
    dense = SimilarityClustering(Vector(), method="density", eps=1.0, min_neighbors=3).fit(TOY)
    assert dense.labels_.tolist() == HALVES
    assert dense.exemplars_.tolist() == [1, 4]
    assert dense.predict([[0.5], [2.0], [2.5], [10.5]]).tolist() == [0, 0, -1, 1]
    noise = SimilarityClustering(Vector(), method="density", eps=0.5, min_neighbors=2).fit(TOY)
    assert noise.labels_.tolist() == [-1] * 6
    assert noise.n_clusters_ == 0
    assert noise.predict([[0.0], [99.0]]).tolist() == [-1, -1]
    assert np.isnan(noise.exemplar_distances_).all()
    assert noise.transform(TOY).shape == (6, 0)


def test_toy_points_by_hierarchy():
    model = SimilarityClustering(
        Vector(), method="hdbscan", min_neighbors=2, min_cluster_size=3
    ).fit(TOY)
    assert model.labels_.tolist() == HALVES
    assert model.predict([[1.5], [3.1], [6.0], [9.5]]).tolist() == [0, -1, -1, 1]


# -- linkage --------------------------------------------------------------------------------------


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


# -- spectral -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 700])  # all eigenvalues at once, and few by iteration
def test_spectral_coordinates_are_their_definition(n):
    points, _ = blobs(n, spread=1.5)
    space = space_of(points, Gower())
    shipped = Spectral(space, 0, 3, "similarity", 1.0)
    unit = shipped.coordinates / np.linalg.norm(shipped.coordinates, axis=1, keepdims=True)
    expected = reference.spectral_coordinates(space.similarities(), 3)
    signs = np.sign((unit * expected).sum(axis=0))
    np.testing.assert_allclose(unit, expected * signs, atol=1e-7)


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


# -- affinity propagation -------------------------------------------------------------------------


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


# -- medoids --------------------------------------------------------------------------------------


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


# -- density --------------------------------------------------------------------------------------


@given(
    points=st.lists(st.integers(0, 14), min_size=1, max_size=16),
    eps=st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0, 20.0]),
    needed=st.integers(1, 7),
    tall=st.sampled_from([1, 3, 256]),
)
def test_density_is_its_definition(points, eps, needed, tall):
    from lookalike.clustering import _space

    d = reference.gaps(points)
    expected = reference.dbscan(d, eps, needed)
    kept = _space.TALL, _space.WIDE
    try:
        _space.TALL, _space.WIDE = tall, tall + 1
        model = SimilarityClustering(
            Precomputed(), method="density", eps=eps, min_neighbors=needed
        ).fit(d)
    finally:
        _space.TALL, _space.WIDE = kept
    assert model.labels_.tolist() == expected.tolist()
    assert model.n_clusters_ == len(set(expected) - {-1})
    assert model.predict(d).tolist() == expected.tolist()
    counts = (d <= eps).sum(axis=1)
    for label, place in enumerate(model.exemplars_):
        inside = np.flatnonzero((expected == label) & (counts >= needed))
        assert place == inside[counts[inside].argmax()]


def test_density_does_not_depend_on_threads():
    points, _ = two_moons(1200)
    answers = [
        SimilarityClustering(Vector(), method="density", eps=0.08, n_jobs=jobs).fit(points).labels_
        for jobs in (1, 3)
    ]
    assert len(set(answers[0])) > 2
    np.testing.assert_array_equal(*answers)


def test_rows_that_cannot_be_compared_are_noise():
    table = {"a": [1.0, 1.1, 1.2, None, None], "b": [None, None, None, 5.0, None]}
    model = SimilarityClustering(method="density", eps=0.6, min_neighbors=2).fit(table)
    assert model.labels_.tolist() == [0, 0, 0, -1, -1]


def test_the_knee_lies_where_distances_start_to_rise():
    points, y = blobs(120)
    points = np.vstack([points, [[30.0, 30.0], [-25.0, 10.0], [40.0, -9.0]]])
    model = SimilarityClustering(Vector(), method="density").fit(points)
    assert model.n_clusters_ == 3
    assert adjusted_rand(y, model.labels_[:120]) > 0.8
    assert model.labels_[120:].tolist() == [-1, -1, -1]
    d = np.sort(model.measure_.distance(), axis=1)[:, 4]
    assert model.eps_ in d
    assert np.median(d) < model.eps_ < 5


# -- hierarchy of densities -----------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), smallest=st.integers(2, 5), n=st.sampled_from([24, 60]))
def test_hierarchy_is_that_of_scikit_learn(seed, smallest, n):
    from sklearn.cluster import HDBSCAN

    points = np.random.default_rng(seed).normal(size=(n, 2))
    points[: n // 2] += 4
    # With one neighbor no two edges cost the same, so there is one hierarchy only.
    model = SimilarityClustering(
        Vector(), method="hdbscan", min_neighbors=1, min_cluster_size=smallest
    ).fit(points)
    rival = HDBSCAN(min_cluster_size=smallest, min_samples=1, metric="precomputed", copy=True).fit(
        model.measure_.distance()
    )
    assert reference.same_partition(model.labels_, rival.labels_)


@given(seed=st.integers(0, 10**6), needed=st.integers(1, 6), listed=st.sampled_from([5, 12, 39]))
def test_the_tree_is_the_shortest_one_whatever_the_lists_hold(seed, needed, listed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 2)) * rng.choice([0.3, 1, 5], (40, 1))
    points[::3] += 20
    points[5:8] = points[4]
    space = space_of(points)
    lists = space.measure.nearest(space.rows, space.rows, listed, exclude=np.arange(40))
    core = lists.distances[:, needed - 2] if needed > 1 else np.zeros(40)
    ends, others, costs = _tree(space, lists.indices, lists.distances, core)
    assert len(costs) == 39
    assert len(np.unique(np.concatenate([ends, others]))) == 40
    reach = np.maximum(space.distances(), np.maximum(core[:, None], core))
    np.testing.assert_array_equal(reach[ends, others], costs)
    expected = reference.spanning_tree_weight(space.distances(), needed)
    assert costs.sum() == pytest.approx(expected, rel=1e-12)


def test_hierarchy_of_clouds_duplicates_and_outliers():
    points, y = blobs(300)
    points = np.vstack([points, points[:50], [[30.0, 30.0]]])
    truth = np.concatenate([y, y[:50]])
    model = SimilarityClustering(Vector(), method="hdbscan", min_cluster_size=20).fit(points)
    assert model.n_clusters_ == 3
    kept = model.labels_[:350] >= 0
    assert adjusted_rand(truth[kept], model.labels_[:350][kept]) == 1
    assert model.labels_[350] == -1
    core = np.sort(model.measure_.distance(), axis=1)[:, 4]
    for label, place in enumerate(model.exemplars_):
        assert core[place] == core[model.labels_ == label].min()
    new = model.predict([[0.1, 0.2], [6.0, 0.1], [3.0, 3.0], [100.0, 0.0]])
    assert new.tolist() == [model.labels_[0], model.labels_[1], -1, -1]


def test_rows_without_a_way_to_others_stop_the_hierarchy():
    table = {"a": [1.0, 1.1, 1.2, None, None], "b": [None, None, None, 5.0, 5.5]}
    model = SimilarityClustering(method="hdbscan", min_neighbors=2, min_cluster_size=2)
    with pytest.raises(ValueError, match="row 0 without a way to others"):
        model.fit(table)


# -- landmarks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", BY_NUMBER)
def test_all_rows_as_landmarks_change_nothing(method):
    points, _ = blobs(60, spread=1.2)
    common = {"n_clusters": 3, "method": method, "random_state": 4}
    plain = SimilarityClustering(Gower(), **common).fit(points)
    marked = SimilarityClustering(Gower(), landmarks=60, **common).fit(points)
    np.testing.assert_array_equal(plain.labels_, marked.labels_)
    np.testing.assert_array_equal(plain.exemplars_, marked.exemplars_)


@pytest.mark.parametrize("method", BY_NUMBER)
def test_landmarks_carry_over_to_the_other_rows(method):
    points, y = blobs(600)
    model = SimilarityClustering(Gower(), "auto", method=method, landmarks=40, random_state=1)
    model.fit(points)
    assert model.n_clusters_ == 3
    assert adjusted_rand(y, model.labels_) > 0.97
    assert set(model.exemplars_) <= set(model.landmarks_)
    assert len(model.landmarks_) == len(set(model.landmarks_)) == 40
    assert (model.predict(points) == model.labels_).mean() > 0.99


def test_landmarks_compare_no_more_than_they_say(monkeypatch):
    points, _ = blobs(500)
    pairs = 0
    compare = Ranked.compare

    def counted(self, a, b):
        nonlocal pairs
        pairs += len(a) * len(b)
        return compare(self, a, b)

    monkeypatch.setattr(Ranked, "compare", counted)
    SimilarityClustering(Ranked(), 3, landmarks=50, random_state=0).fit(points)
    # n*m to the landmarks, m*m among them, n to the exemplars, and the measure's own sample.
    assert pairs <= 500 * 50 + 50 * 50 + 500 + 128 * 128


def test_negative_similarities_are_refused_and_the_method_named_once():
    class Below(Space):
        def similarities(self):
            return np.array([[1.0, -0.5], [-0.5, 1.0]])

    measure = Vector().fit([[0.0], [1.0]])
    space = Below(measure, measure.rows_, "SimilarityClustering(method='spectral')", 10)
    with pytest.raises(InvalidInput, match="spectral clustering, found -0.5") as error:
        _affinities(space, "similarity", 1.0)
    assert str(error.value).count("method='spectral'") == 1
