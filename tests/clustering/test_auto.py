"""All combinations are run, judged alike, and kept."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from clustering import reference
from lookalike.clustering import AutoClustering, DensitySearch, SimilarityClustering
from lookalike.clustering._clustering import Space
from lookalike.clustering.scores import silhouette_of
from lookalike.errors import InvalidInput
from lookalike.hubness import NICDM
from lookalike.measures import ForestProximity, Gower, Precomputed, Ranked, StochasticForest, Vector
from lookalike.trees import SyntheticForest

TOY = reference.TOY[:, None]
HALVES = [0, 0, 0, 1, 1, 1]


def clouds(n=60, seed=0):
    rng = np.random.default_rng(seed)
    at = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 6 * at[:, None], at


def test_seeds_are_not_given_to_fitted_models():
    from sklearn.ensemble import RandomForestClassifier

    rows = np.random.default_rng(0).normal(size=(30, 2))
    forest = RandomForestClassifier(5, random_state=3).fit(rows, rows[:, 0] > 0)
    measure = ForestProximity("shi", model=forest)
    assert not any(name.startswith("model__") for name in measure.get_params())
    AutoClustering([measure], ("medoids",), n_clusters=2, n_repeats=2, random_state=0).fit(rows)
    assert forest.random_state == 3


def test_every_combination_is_a_run_and_the_best_is_kept():
    points, y = clouds()
    search = AutoClustering(
        {"plain": (Vector(), {"metric": ["euclidean", "chebyshev"]}), "ranks": Ranked()},
        methods=["complete", "medoids"],
        n_clusters=[2, 3],
        random_state=0,
    ).fit(points)
    runs = search.results_
    assert len(runs) == (2 + 1) * 2 * 2
    assert {run["measure"] for run in runs} == {"plain", "ranks"}
    assert [run["parameters"] for run in runs[:8:4]] == [
        {"metric": "euclidean"},
        {"metric": "chebyshev"},
    ]
    scores = [run["silhouette"] for run in runs]
    assert search.best_score_ == max(scores)
    assert search.best_index_ == int(np.argmax(scores))
    best = search.best_estimator_
    assert silhouette_of(best.measure_.distance(), best.labels_) == pytest.approx(
        search.best_score_
    )
    assert best.method == runs[search.best_index_]["method"]
    assert (search.labels_ == y).all()
    assert (search.predict(points) == y).all()
    assert search.finished_


def test_each_run_is_judged_in_its_own_distance():
    points, _ = clouds()
    search = AutoClustering([Vector(), Gower()], methods=["ward"], n_clusters=2).fit(points)
    for run, measure in zip(search.results_, [Vector(), Gower()], strict=True):
        model = SimilarityClustering(measure, 2, method="ward").fit(points)
        own = reference.silhouette(model.measure_.distance(), model.labels_.tolist())
        assert run["silhouette"] == pytest.approx(own)
        assert run["found"] == 2


def test_worked_silhouette_and_ties():
    search = AutoClustering([Vector()], methods=["complete", "ward"], n_clusters=2).fit(TOY)
    assert search.best_score_ == pytest.approx(0.865657, abs=1e-6)
    assert search.best_index_ == 0  # the first of two equal ones
    assert search.labels_.tolist() == HALVES


def test_only_random_measures_are_repeated_each_with_its_own_seed():
    points, _ = clouds()
    forest = StochasticForest(20, 2)
    search = AutoClustering(
        [Vector(), forest, NICDM(forest, 5)],
        methods=["complete"],
        n_clusters=2,
        n_repeats=3,
        random_state=5,
    ).fit(points)
    assert [run["repeat"] for run in search.results_] == [0, 0, 1, 2, 0, 1, 2]
    assert len({run["silhouette"] for run in search.results_[1:4]}) > 1
    again = AutoClustering(
        [Vector(), forest, NICDM(forest, 5)],
        methods=["complete"],
        n_clusters=2,
        n_repeats=3,
        random_state=5,
    ).fit(points)
    for one, two in zip(search.results_, again.results_, strict=True):
        assert one | {"seconds": 0} == two | {"seconds": 0}


def test_the_winner_can_be_had_again():
    points, _ = clouds()
    search = AutoClustering(
        [ForestProximity(n_estimators=20)], methods=["spectral"], n_clusters=2, random_state=1
    ).fit(points)
    best = search.best_estimator_
    again = SimilarityClustering(**best.get_params(deep=False)).fit(points)
    np.testing.assert_array_equal(again.labels_, best.labels_)


def test_defaults_take_a_mixed_table():
    rng = np.random.default_rng(0)
    table = {
        "size": [*rng.normal(0, 1, 15), *rng.normal(9, 1, 15)],
        "color": ["red"] * 14 + [None] * 2 + ["blue"] * 14,
    }
    search = AutoClustering(random_state=0).fit(table)
    assert [run["measure"] for run in search.results_[::4]] == ["Gower", "ForestProximity"]
    assert search.labels_.tolist() == [0] * 15 + [1] * 15
    assert search.feature_names_in_.tolist() == ["size", "color"]


def test_density_methods_find_their_own_number_and_noise_counts_as_nothing():
    points, _ = clouds()
    points = np.vstack([points, [[50.0, 50.0]]])
    search = AutoClustering(
        [Vector()], methods=["density", "complete"], n_clusters=[2, 3], options={"min_neighbors": 4}
    ).fit(points)
    assert [(run["method"], run["n_clusters"]) for run in search.results_] == [
        ("density", "auto"),
        ("complete", 2),
        ("complete", 3),
    ]
    run = search.results_[0]
    model = SimilarityClustering(Vector(), method="density", min_neighbors=4).fit(points)
    kept = model.labels_ >= 0
    assert run["noise"] == pytest.approx(1 - kept.mean())
    d = model.measure_.distance()[np.ix_(kept, kept)]
    own = reference.silhouette(d, model.labels_[kept].tolist()) * kept.mean()
    assert run["silhouette"] == pytest.approx(own)


def test_a_run_that_is_not_possible_is_kept_with_its_reason():
    table = {"size": [1.0, 2.0, None, 9.0, 10.0, 11.0], "color": list("rrrbbb")}
    search = AutoClustering([Vector(), Gower()], methods=["complete", "hdbscan"], n_clusters=2)
    with pytest.warns(UserWarning, match=r"leaves out 'color'|runs that work") as heard:
        search.fit(table)
    # Dropped runs are reported once, at the line that called fit.
    (about,) = [w for w in heard if "runs that work" in str(w.message)]
    assert "found 3 of 4 that failed for 2 reasons, the first: Vector: " in str(about.message)
    assert about.filename == __file__
    errors = [run["error"] for run in search.results_]
    assert "needs numbers without missing" in errors[0]
    assert errors[2] is None
    assert search.results_[0]["silhouette"] is None
    assert search.best_index_ == 2
    frame = search.to_frame("pyarrow")
    assert frame.num_rows == 4
    assert frame.column("parameters").to_pylist()[0] == "{}"


def test_a_budget_ends_the_search_with_an_answer():
    points, _ = clouds()
    search = AutoClustering(
        [Vector(), Gower()], methods=["ward", "complete"], n_clusters=2, max_seconds=0.0
    ).fit(points)
    assert not search.finished_
    assert len(search.results_) == 1
    assert search.n_clusters_ == 2


def test_many_rows_are_judged_by_landmarks_of_their_own():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 30])
    search = AutoClustering(
        [Vector()],
        methods=["ward", "density"],
        options={"dense_limit": 50, "eps": 5.0},
        random_state=0,
    ).fit(points)
    assert [run["error"] for run in search.results_] == [None, None]
    assert all(run["silhouette"] > 0.8 for run in search.results_)
    assert search.labels_.tolist() == [0] * 60 + [1] * 60


def test_rows_that_judge_a_density_method_are_drawn_once_each(monkeypatch):
    """A row drawn twice is at distance 0 of itself: clusters would look tighter than they are."""
    drawn, take = [], Space.take
    monkeypatch.setattr(Space, "take", lambda self, rows: drawn.append(rows) or take(self, rows))
    points, _ = clouds(120)
    options = {"dense_limit": 50, "eps": 1.5}
    AutoClustering([Vector()], methods=["density"], options=options).fit(points)
    (rows,) = drawn
    assert len(set(rows.tolist())) == len(rows) > 1


def test_landmarks_are_judged_where_all_pairs_are_too_many():
    points, y = clouds(200)
    search = AutoClustering(
        [Vector()],
        methods=["spectral", "medoids"],
        n_clusters=2,
        options={"landmarks": 30, "dense_limit": 50},
        random_state=0,
    ).fit(points)
    assert [run["error"] for run in search.results_] == [None, None]
    assert (search.labels_ == y).all()
    best = search.best_estimator_
    d = best.measure_.distance()[np.ix_(best.landmarks_, best.landmarks_)]
    own = reference.silhouette(d, best.labels_[best.landmarks_].tolist())
    assert search.best_score_ == pytest.approx(own)


def test_distances_can_be_searched_as_well():
    search = AutoClustering([Precomputed()], methods=["complete"], n_clusters=2)
    assert search.fit(reference.gaps(reference.TOY)).labels_.tolist() == HALVES


def test_a_named_column_is_taken_out():
    table = {"x": reference.TOY.tolist(), "kind": list("ababab")}
    search = AutoClustering([Gower()], methods=["ward"], n_clusters=2).fit(table, "kind")
    assert search.labels_.tolist() == HALVES
    assert search.feature_names_in_.tolist() == ["x"]


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"methods": ["spectrl"]}, "Did you mean 'spectral'"),
        ({"methods": []}, "one of 'components'"),
        ({"n_clusters": [2, 1]}, "an integer >= 2"),
        ({"n_clusters": 99}, "n_samples=6"),
        ({"measures": [Vector]}, "lookalike measures"),
        ({"measures": ["gowr"]}, "Did you mean 'gower'"),
        ({"measures": [(Vector(), {"metrik": ["cosine"]})]}, "Did you mean 'metric'"),
        ({"n_repeats": 0}, "an integer >= 1"),
        ({"max_seconds": -1.0}, "a number >= 0"),
        ({"options": {"sigma": -1.0}}, "a number > 0"),
    ],
)
def test_wrong_settings_are_named(params, complaint):
    settings = {"measures": [Vector()], "methods": ["ward"], "n_clusters": 2} | params
    with pytest.raises(InvalidInput, match=complaint):
        AutoClustering(**settings).fit(TOY)


def test_rows_that_are_all_alike_have_no_clusters_to_find():
    with pytest.raises(InvalidInput, match="at least two clusters"):
        AutoClustering([Vector()], methods=["ward"]).fit([[1.0]] * 5)


@pytest.mark.parametrize(
    "model",
    [
        SimilarityClustering(n_clusters=2, method="medoids"),
        AutoClustering([Gower()], methods=["medoids"], n_clusters=2),
        DensitySearch(min_neighbors=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_names_are_forgotten_with_the_table_that_had_them(model):
    rows = np.array([[0.0, 1.0], [0.1, 1.0], [5.0, 9.0], [5.1, 9.0]])
    model.fit({"a": rows[:, 0], "b": rows[:, 1]})
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit(rows[:, :1])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


def test_the_winner_knows_its_columns():
    search = AutoClustering([Gower()], methods=["medoids"], n_clusters=2)
    search.fit({"a": [0.0, 0.1, 5.0, 5.1]})
    assert search.best_estimator_.feature_names_in_.tolist() == ["a"]


def test_without_measures_the_default_comparison_and_a_forest_are_tried():
    rng = np.random.default_rng(0)
    table = {"size": [*rng.exponential(size=39), None], "color": ["red", "blue"] * 20}
    search = AutoClustering(methods=["ward"], n_clusters=2).fit(table)
    assert [run["measure"] for run in search.results_] == ["Gower", "ForestProximity"]
    default = SimilarityClustering(None, 2, method="ward").fit(table)
    assert repr(default.measure_) == "Gower(missing='midpoint', scale='rank')"
    score = silhouette_of(default.measure_.distance(), default.labels_)
    assert search.results_[0]["silhouette"] == pytest.approx(score)
    vectors = {"v": [[float(i), 1.0, float(i % 3)] for i in range(12)]}
    search = AutoClustering(["auto"], ["ward"], 2, kinds={"v": "vector"}).fit(vectors)
    assert repr(search.best_estimator_.measure_) == "Vector(metric='cosine')"


@pytest.mark.parametrize("forest", [None, SyntheticForest(8, max_features=0.5)])
@pytest.mark.parametrize("seed", [None, 5])
def test_measures_that_hold_a_forest_are_seeded(forest, seed):
    """Every run has a seed of its own, whether or not the forest inside has one."""
    if forest is not None:
        forest = clone(forest).set_params(random_state=seed)
    measure = ForestProximity("ratio", forest, n_estimators=8, random_state=seed)
    grid = {} if forest is None else {"forest__max_features": [0.5, "all"]}
    points = np.random.default_rng(0).normal(size=(20, 3))

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            search = AutoClustering(
                [(measure, grid)], ["complete"], 2, n_repeats=2, random_state=0
            ).fit(points)
        return [run["silhouette"] for run in search.results_]

    scores = fit()
    assert len(set(scores)) == len(scores) == 2 * max(1, 2 * len(grid))
    assert fit() == scores
