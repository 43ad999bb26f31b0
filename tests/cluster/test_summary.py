"""What a summary says of a clustering, against counts by hand."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lookalike.cluster import (
    SimilarityClustering,
    adjusted_rand,
    clustering_f_measure,
    purity,
    summarize_clusters,
)
from lookalike.measures import Vector

X = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.3, 5.4, 99.0])[:, None]
KINDS = np.array(["cat", "dog", "cat", "dog", "dog", "cat", "dog", "cow"])


def fitted():
    return SimilarityClustering(Vector(), method="density", eps=0.5, min_neighbors=2).fit(X)


def test_sizes_exemplars_and_noise():
    model = fitted()
    summary = summarize_clusters(model)
    assert [(one.cluster, one.rows, one.share) for one in summary.clusters] == [
        (0, 3, 3 / 8),
        (1, 4, 4 / 8),
    ]
    assert [one.exemplar for one in summary.clusters] == model.exemplars_.tolist()
    assert (summary.noise, summary.silhouette, summary.scores) == (1, None, {})
    assert all(one.majority is one.majority_share is None for one in summary.clusters)
    assert "no cluster: 1 rows" in str(summary)


def test_known_classes():
    model = fitted()
    summary = summarize_clusters(model, KINDS)
    assert [(one.majority, one.majority_share) for one in summary.clusters] == [
        ("cat", 2 / 3),
        ("dog", 3 / 4),
    ]
    labels = model.labels_
    assert summary.scores == {
        "purity": purity(KINDS, labels),
        "adjusted_rand": adjusted_rand(KINDS, labels),
        "f_measure": clustering_f_measure(KINDS, labels),
    }
    assert summary.records()[0]["majority"] == "cat"


def test_the_silhouette_that_decided():
    model = SimilarityClustering(Vector(), method="ward").fit(X[:-1])
    assert summarize_clusters(model).silhouette == model.silhouettes_[model.n_clusters_]


def test_only_of_a_fitted_model():
    with pytest.raises(NotFittedError):
        summarize_clusters(SimilarityClustering())
