"""Blocks of pairs, and how many rows are compared with all others."""

import numpy as np
import pytest

from clustering.make import TOY, space_of
from lookalike import config
from lookalike.clustering import _space
from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.measures import Precomputed, Vector


def test_all_pairs_within_a_limit_are_given_once(monkeypatch):
    monkeypatch.setattr(_space, "BLOCK_ROWS", 2)
    monkeypatch.setattr(_space, "BLOCK_COLUMNS", 3)
    for measure in (Vector(), Vector("cityblock")):
        pairs = []
        space = space_of(TOY, measure)
        _space.stream_within(
            space, 2.0, lambda i, j, pairs=pairs: pairs.extend(zip(i, j, strict=True)), "x"
        )
        assert sorted(pairs) == [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]


def test_blocks_cover_all_pairs_of_new_and_known_rows(monkeypatch):
    monkeypatch.setattr(_space, "BLOCK_ROWS", 2)
    monkeypatch.setattr(_space, "BLOCK_COLUMNS", 4)
    space, seen = space_of(TOY), np.full((3, 6), np.nan)

    def fold(down, across, block):
        seen[down, across] = block

    _space.each_block(space.measure, space.rows[:3], space.rows, fold, "x")
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
    assert _space.count_landmarks(space, None, "ward") is None
    assert _space.count_landmarks(space, 3, "ward") == 3
    assert _space.count_landmarks(space, "auto", "ward") is None
    space.limit = 4
    assert _space.count_landmarks(space, "auto", "ward") == 4
    for method in ("density", "hdbscan"):  # these compare all rows, whatever is asked for
        assert _space.count_landmarks(space, "auto", method) is None
        assert _space.count_landmarks(space, 3, method) is None
    wanted = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_space, "default_landmarks", lambda *given: wanted.append(given[-1]))
        for n_clusters in (2, "auto"):
            _space.count_landmarks(space, "auto", "ward", n_clusters)
    assert wanted == [2, 1]  # of "auto" no number is known
    assert _space.exactness(6, None, "ward") == "exact on all 6 rows"
    for method, rule in {"ward": "nearest landmark", "medoids": "nearest exemplar"}.items():
        assert _space.exactness(6, [0, 1], method).endswith(rule)
    assert _space.exactness(6, [0, 1], "spectral").startswith(
        "exact on 2 landmark rows, the other 4"
    )


def test_what_a_method_cannot_do_is_refused_before_anything_is_computed():
    space = space_of(TOY)
    n = len(space)
    check = _space.check_request
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
    space = _space.Space(one_way, one_way.rows_, "test", 20_000)
    check(space, "Task", "affinity", "auto", None)
    with pytest.raises(InvalidInput, match="whose distances are directed"):
        check(space, "Task", "agglomerative", 2, None)
