"""DBSCAN against its definition, and the knee that chooses eps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clustering import reference
from clustering.make import HALVES, TOY, blobs, two_moons
from lookalike.clustering import SimilarityClustering, adjusted_rand
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
    from lookalike.clustering import _space

    d = reference.gaps(points)
    expected = reference.dbscan(d, eps, needed)
    defaults = _space.BLOCK_ROWS, _space.BLOCK_COLUMNS
    try:
        _space.BLOCK_ROWS, _space.BLOCK_COLUMNS = block, block + 1
        model = SimilarityClustering(
            Precomputed(), method="density", eps=eps, min_neighbors=needed
        ).fit(d)
    finally:
        _space.BLOCK_ROWS, _space.BLOCK_COLUMNS = defaults
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
