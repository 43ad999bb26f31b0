"""What the clustering estimators share: numbering, exemplars, and models that label new rows."""

import numpy as np
import pytest

from lookalike.clustering._clustering import (
    NearestExemplar,
    NearestRow,
    cluster_medoids,
    densest_rows,
    number_by_first_row,
)
from lookalike.clustering.density import WithinReach
from lookalike.clustering.partitions import Extension
from lookalike.measures import Vector


def test_labels_are_numbered_by_their_first_row_and_noise_stays():
    labels, old = number_by_first_row(np.array([-1, 7, 2, 7, -1, 0]))
    assert labels.tolist() == [-1, 0, 1, 0, -1, 2]
    assert old.tolist() == [7, 2, 0]
    labels, old = number_by_first_row(np.array([-1, -1]))
    assert (labels.tolist(), old.tolist()) == ([-1, -1], [])


def test_the_medoid_has_the_smallest_sum_of_distances_from_the_members():
    distances = np.array([[0.0, 1, 9], [1, 0, 2], [9, 5, 0]])  # directed: columns are summed
    assert cluster_medoids(distances, np.zeros(3, int)).tolist() == [1]
    assert cluster_medoids(distances, np.array([0, 0, 1])).tolist() == [0, 2]


def test_the_densest_member_is_the_first_on_ties_and_never_a_row_outside():
    labels, members = np.array([0, 1, 0, 1, -1, 0]), np.array([0, 1, 2, 3])
    sparsity = np.array([5.0, 2.0, 3.0, 2.0, 0.0, 1.0])
    assert densest_rows(labels, members, sparsity).tolist() == [2, 1]


def test_new_rows_join_the_nearest_exemplar_or_row_and_ties_the_first():
    measure = Vector().fit([[0.0], [1.0], [5.0], [9.0]])
    new = measure.encode([[3.0], [8.0]])
    model = NearestExemplar(np.array([1, 2]))
    assert model.assign(measure, measure.rows_, new).tolist() == [0, 1]
    rows = NearestRow(np.array([0, 2]), np.array([1, 0])).moved(np.array([1, 2, 3]))
    assert rows.positions.tolist() == [1, 3]
    assert rows.assign(measure, measure.rows_, new).tolist() == [1, 0]


@pytest.mark.parametrize(
    "model",
    [
        NearestExemplar(np.array([0, 3])),
        NearestExemplar(np.array([], np.int64)),
        NearestExemplar(np.array([0, 1, 2])),
        NearestRow(np.array([0, 1]), np.array([0, 2])),
        NearestRow(np.array([], np.int64), np.array([], np.int64)),
        WithinReach(np.array([3]), np.array([0]), 1.0),
        WithinReach(np.array([0]), np.array([2]), 1.0),
        Extension(np.array([0]), np.ones((1, 1)), np.ones((0, 1)), "rbf", 1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_loaded_model_of_other_rows_or_clusters_is_refused(model):
    with pytest.raises(ValueError, match="rows below 3"):
        model.check_rows(3, 2)


def test_a_loaded_density_model_may_be_without_clusters():
    WithinReach(np.array([], np.int64), np.array([], np.int64), 1.0).check_rows(3, 0)
    NearestExemplar(np.array([2, 0])).check_rows(3, 2)
