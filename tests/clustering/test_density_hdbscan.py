"""HDBSCAN against scikit-learn, and its spanning tree against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering import reference
from clustering.make import HALVES, TOY, blobs, space_of
from lookalike.clustering import SimilarityClustering, adjusted_rand
from lookalike.clustering.density import _tree
from lookalike.measures import Gower, Vector


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
    assert adjusted_rand(truth[kept], model.labels_[:350][kept]) == 1
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
