"""DBSCAN against its definition, the knee that chooses eps; HDBSCAN and its spanning tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clustering import reference
from clustering.make import HALVES, TOY, blobs, space_of, two_moons
from lookalike.clustering import SimilarityClustering
from lookalike.clustering.density import _tree
from lookalike.measures import Gower, Precomputed, Vector


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


@given(
    points=st.lists(st.integers(0, 14), min_size=1, max_size=16),
    eps=st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0, 20.0]),
    needed=st.integers(1, 7),
    block=st.sampled_from([1, 3, 256]),
)
def test_density_is_its_definition(points, eps, needed, block):
    from lookalike.clustering import _clustering

    d = reference.gaps(points)
    expected = reference.dbscan(d, eps, needed)
    defaults = _clustering.BLOCK_ROWS, _clustering.BLOCK_COLUMNS
    try:
        _clustering.BLOCK_ROWS, _clustering.BLOCK_COLUMNS = block, block + 1
        model = SimilarityClustering(
            Precomputed(), method="density", eps=eps, min_neighbors=needed
        ).fit(d)
    finally:
        _clustering.BLOCK_ROWS, _clustering.BLOCK_COLUMNS = defaults
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
    model = SimilarityClustering(Gower(), method="density", eps=0.6, min_neighbors=2)
    model.fit(table)
    assert model.labels_.tolist() == [0, 0, 0, -1, -1]
    assert model.predict({"a": [1.1, None], "b": [None, None]}).tolist() == [0, -1]


def test_the_knee_lies_where_distances_start_to_rise():
    points, y = blobs(120)
    points = np.vstack([points, [[30.0, 30.0], [-25.0, 10.0], [40.0, -9.0]]])
    model = SimilarityClustering(Vector(), method="density").fit(points)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_[:120]) > 0.8
    assert model.labels_[120:].tolist() == [-1, -1, -1]
    d = np.sort(model.measure_.distance(), axis=1)[:, 4]
    assert model.eps_ in d
    assert np.median(d) < model.eps_ < 5


def test_toy_points_by_hierarchy():
    model = SimilarityClustering(
        Vector(), method="hdbscan", min_neighbors=2, min_cluster_size=3
    ).fit(TOY)
    assert model.labels_.tolist() == HALVES
    assert model.predict([[1.5], [3.1], [6.0], [9.5]]).tolist() == [0, -1, -1, 1]


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
    assert adjusted_rand_score(truth[kept], model.labels_[:350][kept]) == 1
    assert model.labels_[350] == -1
    core = np.sort(model.measure_.distance(), axis=1)[:, 4]
    for label, place in enumerate(model.exemplars_):
        assert core[place] == core[model.labels_ == label].min()
    new = model.predict([[0.1, 0.2], [6.0, 0.1], [3.0, 3.0], [100.0, 0.0]])
    assert new.tolist() == [model.labels_[0], model.labels_[1], -1, -1]


@given(seed=st.integers(0, 10**6), copies=st.sampled_from([0, 20, 60]))
def test_clusters_do_not_depend_on_the_order_of_rows(seed, copies):
    """Duplicate rows, and mutual reachability itself, give many edges of equal cost."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 2)) + 4 * rng.integers(0, 3, (40, 1))
    points = np.vstack([points, points[rng.integers(0, 12, copies)]])
    order = rng.permutation(len(points))
    labels, mixed = (
        SimilarityClustering(Vector(), method="hdbscan", min_cluster_size=5).fit(rows).labels_
        for rows in (points, points[order])
    )
    assert reference.same_partition(labels[order], mixed)
    np.testing.assert_array_equal(labels[order] == -1, mixed == -1)


def test_rows_without_a_way_to_others_stop_the_hierarchy():
    table = {"a": [1.0, 1.1, 1.2, None, None], "b": [None, None, None, 5.0, 5.5]}
    model = SimilarityClustering(Gower(), method="hdbscan", min_neighbors=2, min_cluster_size=2)
    with pytest.raises(ValueError, match="row 0 without a way to others"):
        model.fit(table)
