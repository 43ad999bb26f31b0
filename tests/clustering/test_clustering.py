"""What clusterings share: blocks of pairs, landmarks, numbering, and models that label new rows."""

import numpy as np
import pytest

from clustering.make import TOY, space_of
from lookalike import config
from lookalike.clustering import _clustering
from lookalike.clustering._clustering import (
    NearestExemplar,
    NearestRow,
    cluster_medoids,
    densest_rows,
    number_by_first_row,
)
from lookalike.clustering.density import WithinReach
from lookalike.clustering.partitions import Extension
from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.measures import Precomputed, Vector


def test_all_pairs_within_a_limit_are_given_once(monkeypatch):
    monkeypatch.setattr(_clustering, "BLOCK_ROWS", 2)
    monkeypatch.setattr(_clustering, "BLOCK_COLUMNS", 3)
    for measure in (Vector(), Vector("cityblock")):
        pairs = []
        space = space_of(TOY, measure)
        _clustering.stream_within(
            space, 2.0, lambda i, j, pairs=pairs: pairs.extend(zip(i, j, strict=True)), "x"
        )
        assert sorted(pairs) == [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]


def test_blocks_cover_all_pairs_of_new_and_known_rows(monkeypatch):
    monkeypatch.setattr(_clustering, "BLOCK_ROWS", 2)
    monkeypatch.setattr(_clustering, "BLOCK_COLUMNS", 4)
    space, seen = space_of(TOY), np.full((3, 6), np.nan)

    def fold(down, across, block):
        seen[down, across] = block

    _clustering.each_block(space.measure, space.rows[:3], space.rows, fold, "x")
    np.testing.assert_array_equal(seen, space.distances()[:3])


def test_a_matrix_is_made_once_and_only_up_to_the_limits():
    space = space_of(TOY)
    assert space.distances() is space.distances()
    assert space.fits()
    assert len(space.take(np.array([4, 0]))) == 2
    assert space.take(np.array([4, 0])).distances()[0, 1] == 11.0
    space.limit = 5
    assert not space.fits()
    with pytest.raises(TooLarge, match=r"at most 5 rows .*raise dense_limit"):
        space.check_size()
    space.limit = 6
    with config(memory_limit=8 * 36):
        assert space.fits()
    with config(memory_limit=8 * 36 - 1):
        assert not space.fits()


def test_landmarks_are_counted_only_where_rows_are_too_many():
    space = space_of(TOY)
    assert _clustering.count_landmarks(space, None, "ward") is None
    assert _clustering.count_landmarks(space, 3, "ward") == 3
    assert _clustering.count_landmarks(space, "auto", "ward") is None
    space.limit = 4
    assert _clustering.count_landmarks(space, "auto", "ward") == 4
    for method in ("density", "hdbscan"):  # these compare all rows, whatever is asked for
        assert _clustering.count_landmarks(space, "auto", method) is None
        assert _clustering.count_landmarks(space, 3, method) is None
    wanted = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_clustering, "default_landmarks", lambda *given: wanted.append(given[-1]))
        for n_clusters in (2, "auto"):
            _clustering.count_landmarks(space, "auto", "ward", n_clusters)
    assert wanted == [2, 1]  # of "auto" no number is known
    assert _clustering.exactness(6, None, "ward") == "exact on all 6 rows"
    for method, rule in {"ward": "nearest landmark", "medoids": "nearest exemplar"}.items():
        assert _clustering.exactness(6, [0, 1], method).endswith(rule)
    assert _clustering.exactness(6, [0, 1], "spectral").startswith(
        "exact on 2 landmark rows, the other 4"
    )


def test_what_a_method_cannot_do_is_refused_before_anything_is_computed():
    space = space_of(TOY)
    n = len(space)
    check = _clustering.check_request
    check(space, "Task(method='x')", "agglomerative", n, None)
    with pytest.raises(
        TooFewRows, match=rf"Task\(n_clusters={n + 1}\): needs at least {n + 1} rows"
    ):
        check(space, "Task(method='x')", "agglomerative", n + 1, None)
    check(space, "Task", "spectral", 3, 3)
    with pytest.raises(TooFewRows, match="at least 4 landmarks"):
        check(space, "Task", "spectral", 4, 3)
    check(space, "Task", "spectral", "auto", n)
    with pytest.raises(TooFewRows, match=f"landmarks={n + 1}"):
        check(space, "Task", "spectral", 2, n + 1)
    check(space, "Task", "density", "auto", None)
    with pytest.raises(InvalidInput, match="finds the number itself"):
        check(space, "Task", "density", 2, None)
    directed = np.arange(9.0).reshape(3, 3)
    np.fill_diagonal(directed, 0.0)
    one_way = Precomputed(symmetric=False).fit(directed)
    space = _clustering.Space(one_way, one_way.rows_, "test", 20_000)
    check(space, "Task", "affinity", "auto", None)
    with pytest.raises(InvalidInput, match="whose distances are directed"):
        check(space, "Task", "agglomerative", 2, None)


# -- clusters, and new rows ------------------------------------------------------------------------


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
