"""Linkage, affinity propagation and k-medoids against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering import reference
from clustering.make import HALVES, TOY, blobs, space_of
from lookalike.clustering import SimilarityClustering
from lookalike.clustering.partitions import Affinity
from lookalike.errors import LookalikeWarning
from lookalike.measures import Vector


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
