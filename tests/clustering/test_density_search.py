"""The search for eps and K follows the protocol, step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering import reference
from clustering.make import space_of
from lookalike.clustering import DensitySearch, SimilarityClustering, clustering_f_measure
from lookalike.clustering.density_search import DensityLevels
from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.measures import Gower, Precomputed, StochasticForest, Vector

TOY = reference.TOY[:, None]
HALVES = [0, 0, 0, 1, 1, 1]
few = st.lists(st.integers(0, 12), min_size=3, max_size=9)


def test_worked_example():
    search = DensitySearch(Vector(), min_neighbors=2).fit(TOY, HALVES)
    (run,) = search.results_
    assert (run["low"], run["high"]) == (1.0, 8.0)
    assert (search.eps_, search.score_, search.min_neighbors_) == (1.0, 1.0, 2)
    assert search.labels_.tolist() == HALVES
    assert search.predict([[0.5], [4.0], [11.0]]).tolist() == [0, -1, 1]


@given(points=few, needed=st.integers(1, 6), eps=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5, 9.0]))
def test_levels_are_density_clusterings(points, needed, eps):
    d = reference.gaps(points)
    needed = min(needed, len(d))
    levels = DensityLevels(space_of(d, Precomputed()), 6)
    levels.set(needed)
    labels, found = levels.labels(eps)
    expected = reference.dbscan(d, eps, needed)
    assert labels.tolist() == expected.tolist()
    assert found == len(set(expected) - {-1})


@settings(max_examples=15)
@given(
    points=few,
    needed=st.integers(2, 4),
    definition=st.sampled_from(["class_weighted", "hungarian", "pairwise"]),
    data=st.data(),
)
def test_search_is_the_protocol(points, needed, definition, data):
    n = len(points)
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    d = reference.gaps(points)
    if needed > n:
        needed = n
    search = DensitySearch(Precomputed(), needed, definition=definition).fit(d, y)
    low, high, eps, best = reference.search_eps(d, y, needed, definition)
    (run,) = search.results_
    assert (run["low"], run["high"]) == (low, high)
    assert search.score_ == pytest.approx(best, abs=1e-12)
    # Scores that are equal up to the last bit may be reached at another eps.
    shown = clustering_f_measure(y, reference.dbscan(d, search.eps_, needed), definition)
    assert shown == pytest.approx(best, abs=1e-12)
    assert search.eps_ == pytest.approx(eps) or shown == pytest.approx(
        clustering_f_measure(y, reference.dbscan(d, eps, needed), definition), abs=1e-12
    )


def test_the_best_number_of_neighbors_wins_and_the_smaller_one_on_ties():
    search = DensitySearch(Vector(), min_neighbors=[4, 3, 2]).fit(TOY, HALVES)
    assert [run["min_neighbors"] for run in search.results_] == [2, 3, 4]
    assert search.min_neighbors_ == 2
    assert search.results_[1]["score"] == 1.0
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, 40), rng.normal(7, 1, 40)])[:, None]
    y = np.repeat([0, 1], 40)
    search = DensitySearch(Vector()).fit(points, y)
    scores = [run["score"] for run in search.results_]
    assert len(scores) == 24
    assert search.score_ == max(scores)
    assert search.min_neighbors_ == search.results_[int(np.argmax(scores))]["min_neighbors"]
    again = SimilarityClustering(
        Vector(), method="density", eps=search.eps_, min_neighbors=search.min_neighbors_
    ).fit(points)
    np.testing.assert_array_equal(again.labels_, search.labels_)
    assert clustering_f_measure(y, search.labels_) == search.score_
    assert search.score_ > 0.9
    shuffled = DensitySearch(Vector()).fit(points, rng.permutation(y))
    assert shuffled.score_ < 0.75


def test_numbers_above_the_rows_are_left_out():
    search = DensitySearch(Vector(), min_neighbors=range(2, 26)).fit(TOY, HALVES)
    assert [run["min_neighbors"] for run in search.results_] == [2, 3, 4, 5, 6]
    with pytest.raises(TooFewRows, match="n_samples=6"):
        DensitySearch(Vector(), min_neighbors=7).fit(TOY, HALVES)


def test_equal_distances_need_one_evaluation():
    d = 1.0 - np.eye(5)
    search = DensitySearch(Precomputed(), min_neighbors=3).fit(d, [0, 0, 0, 0, 1])
    assert search.results_[0]["evaluations"] == 1
    assert search.eps_ == 1.0
    same = DensitySearch(Vector(), min_neighbors=2).fit([[1.0]] * 4, [0, 0, 1, 1])
    assert (same.eps_, same.n_clusters_) == (0.0, 1)


def test_duplicates_at_distance_zero_end_the_search():
    points = [[0.0], [0.0], [0.0], [5.0], [5.0]]
    search = DensitySearch(Vector(), min_neighbors=2).fit(points, [0, 0, 0, 1, 1])
    assert search.results_[0]["low"] == 0.0
    assert search.eps_ == 0.0
    assert search.labels_.tolist() == [0, 0, 0, 1, 1]


def test_without_labels_the_knee_decides():
    search = DensitySearch(Vector(), min_neighbors=3).fit(TOY)
    assert search.labels_.tolist() == HALVES
    assert search.eps_ == 1.0
    assert search.score_ == pytest.approx(0.865657, abs=1e-6)
    rng = np.random.default_rng(2)
    points = np.vstack([rng.normal(0, 0.5, (60, 2)), rng.normal(5, 0.5, (60, 2)), [[20.0, -20.0]]])
    search = DensitySearch(Vector()).fit(points)
    assert search.n_clusters_ == 2
    assert search.labels_[-1] == -1
    assert search.score_ == max(run["score"] for run in search.results_)
    kept = search.labels_ >= 0
    d = search.measure_.distance()[np.ix_(kept, kept)]
    own = reference.silhouette(d, search.labels_[kept].tolist()) * kept.mean()
    assert search.score_ == pytest.approx(own)


def test_the_measure_does_not_see_the_labels():
    class Curious(Vector):
        def _fit(self, table, y):
            assert y is None
            super()._fit(table, y)

    from lookalike.measures import MEASURES

    try:
        assert DensitySearch(Curious(), min_neighbors=2).fit(TOY, HALVES).score_ == 1.0
    finally:
        del MEASURES["Curious"]


def test_a_named_column_of_labels_is_taken_out():
    table = {"x": reference.TOY.tolist(), "class": list("aaabbb")}
    search = DensitySearch(Gower(), min_neighbors=2).fit(table, "class")
    assert search.score_ == 1.0
    assert search.feature_names_in_.tolist() == ["x"]
    frame = search.to_frame("pyarrow")
    assert frame.column("min_neighbors").to_pylist() == [2]


def test_increasing_scales_do_not_move_a_stochastic_forest():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(0, 1, (40, 3)), rng.normal(4, 1, (40, 3))])
    y = np.repeat([0, 1], 40)
    forest = StochasticForest(200, 3, random_state=0)
    plain = DensitySearch(forest, range(2, 8)).fit(points, y)
    curved = DensitySearch(forest, range(2, 8)).fit(np.exp(points), y)
    assert plain.score_ == curved.score_
    np.testing.assert_array_equal(plain.labels_, curved.labels_)


def test_what_cannot_be_searched_is_said():
    with pytest.raises(InvalidInput, match="a target without missing values"):
        DensitySearch(Vector()).fit(TOY, [0, 0, np.nan, 1, 1, 1])
    with pytest.raises(
        InvalidInput, match="labels without missing values|a target without missing values"
    ):
        DensitySearch(Vector()).fit(TOY, np.array([0, 0, None, 1, 1, 1], dtype=object))
    with pytest.raises(InvalidInput, match="integers >= 1"):
        DensitySearch(Vector(), min_neighbors=[2, 0]).fit(TOY, HALVES)
    with pytest.raises(InvalidInput, match="integers >= 1"):
        DensitySearch(Vector(), min_neighbors=()).fit(TOY, HALVES)
    with pytest.raises(InvalidInput, match="the same in both directions"):
        DensitySearch(Precomputed(symmetric=False)).fit(reference.gaps(reference.TOY), HALVES)
    with pytest.raises(TooLarge, match="at most 5 rows.*a sample of the rows"):
        DensitySearch(Gower(), dense_limit=5).fit(TOY, HALVES)
    with pytest.raises(InvalidInput, match="a lookalike measure"):
        DensitySearch("gowr").fit(TOY)
