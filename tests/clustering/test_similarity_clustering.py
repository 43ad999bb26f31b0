"""The estimator around the methods: any table in, labels, exemplars, new rows, one file."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from clustering import reference
from clustering.make import BY_NUMBER, HALVES, TOY, blobs, mixed
from lookalike.clustering import AutoClustering, DensitySearch, SimilarityClustering
from lookalike.clustering._clustering import METHODS, NearestExemplar, default_landmarks
from lookalike.clustering.scores import silhouette_of
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, TooLarge, UndefinedMeasure
from lookalike.hubness import MutualProximity
from lookalike.measures import (
    ForestProximity,
    Gower,
    Precomputed,
    Ranked,
    Ratio,
    StochasticForest,
    Vector,
)

CHECKED = [
    *(SimilarityClustering(Vector(), 3, method=method) for method in BY_NUMBER),
    SimilarityClustering(Gower(undefined=0.5), method="ward"),
    SimilarityClustering(Vector(), method="density", min_neighbors=3),
    SimilarityClustering(Vector(), method="hdbscan", min_neighbors=1, min_cluster_size=2),
    SimilarityClustering(Vector(), 2, landmarks=8, method="medoids", random_state=0),
    DensitySearch(Vector()),
    AutoClustering([Gower(undefined=0.5)], methods=["ward", "complete"], n_clusters=2),
]
SETS_A_NUMBER = (
    "check_dont_overwrite_parameters check_clustering check_clustering(readonly_memmap=True) "
    "check_methods_sample_order_invariance check_methods_subset_invariance check_fit2d_1sample "
    "check_fit2d_1feature check_fit2d_predict1d"
).split()


def exceptions(estimator):
    """Return check -> reason for those that cannot pass; each of them must then really fail."""
    if getattr(estimator, "method", None) in ("density", "hdbscan"):
        reason = "the check asks for a number of clusters, which density methods find themselves"
        return dict.fromkeys(SETS_A_NUMBER, reason)
    if isinstance(estimator, AutoClustering):
        reason = "the check asks for one cluster, which has no silhouette to be judged by"
        fine = ("check_clustering", "check_methods_sample_order_invariance")
        checks = [check for check in SETS_A_NUMBER if not check.startswith(fine)]
        return dict.fromkeys(checks, reason)
    return {}


@parametrize_with_checks(CHECKED, expected_failed_checks=exceptions)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_mixed_tables_with_missing_cells_are_clustered_and_new_rows_assigned():
    for method in METHODS:
        table, half = mixed()
        number = 2 if method in BY_NUMBER else "auto"
        model = SimilarityClustering(n_clusters=number, method=method, eps=0.35, random_state=0)
        assert_array_equal(model.fit_predict(table), half, err_msg=str(method))
        new = {"size": [0.2, None], "color": ["red", "blue"], "tags": [["z"], ["x", "y"]]}
        assert_array_equal(model.predict(new), [0, 1], err_msg=str(method))
        assert_array_equal(model.labels_[model.exemplars_], [0, 1], err_msg=str(method))
        far = model.transform(new)
        assert far.shape == (2, 2), method
        assert (far.argmin(axis=1) == [0, 1]).all(), method
        own = model.transform(None)[np.arange(40), half]
        np.testing.assert_allclose(model.exemplar_distances_, own, err_msg=str(method))
        assert model.exemplar_distances_[model.exemplars_].tolist() == [0, 0], method


def test_frames_of_all_kinds():
    for form in [pd.DataFrame, pl.DataFrame, pa.table, dict, la.read_table]:
        columns = {"x": reference.TOY.tolist(), "kind": list("aaabbb")}
        model = SimilarityClustering(n_clusters=2, method="ward").fit(form(columns))
        assert_array_equal(model.labels_, HALVES, err_msg=str(form))
        assert model.feature_names_in_.tolist() == ["x", "kind"], form
        assert_array_equal(model.predict(form(columns)), HALVES, err_msg=str(form))


def test_any_measure_will_do():
    for method in ["spectral", "medoids", "ward"]:
        for measure in [
            Ranked(),
            StochasticForest(100, 2, random_state=0),
            ForestProximity(n_estimators=50, random_state=0),
            ForestProximity("zhu2", n_estimators=50, random_state=0),
            MutualProximity(Vector()),
        ]:
            rng = np.random.default_rng(0)
            y = np.repeat([0, 1], 25)
            points = rng.normal(size=(50, 3)) + 7 * y[:, None]
            model = SimilarityClustering(measure, 2, method=method, random_state=0).fit(points)
            assert adjusted_rand_score(y, model.labels_) > 0.8, (measure, method)
            new = rng.normal(size=(6, 3)) + 7 * np.repeat([0, 1], 3)[:, None]
            assert (model.predict(new)[:3] == model.labels_[0]).all(), (measure, method)
            assert (model.predict(new)[3:] == model.labels_[-1]).all(), (measure, method)


def test_a_matrix_of_distances_is_clustered_as_its_rows_are():
    for method in METHODS:
        rng = np.random.default_rng(4)
        points = rng.normal(size=(30, 2)) + 8 * (np.arange(30) % 3)[:, None]
        measure = Vector().fit(points)
        number = 3 if method in BY_NUMBER else "auto"
        common = {"n_clusters": number, "method": method, "random_state": 0, "eps": 2.5}
        rows = SimilarityClustering(Vector(), **common).fit(points)
        matrix = SimilarityClustering(Precomputed(), **common).fit(measure.distance())
        assert_array_equal(rows.labels_, matrix.labels_, err_msg=str(method))
        assert_array_equal(rows.exemplars_, matrix.exemplars_, err_msg=str(method))
        new = rng.normal(size=(5, 2))
        assert_array_equal(
            rows.predict(new), matrix.predict(measure.distance(new)), err_msg=str(method)
        )


def test_a_frozen_measure_keeps_what_it_has_learned():
    for method in METHODS:
        table, half = mixed()
        frozen = Gower().fit(mixed(seed=9)[0]).frozen()
        number = 2 if method in BY_NUMBER else "auto"
        model = SimilarityClustering(frozen, number, method=method, eps=0.35, random_state=0)
        assert_array_equal(model.fit(table).labels_, half, err_msg=str(method))
        if method == "components":  # other weights of columns, all else as it was learned
            assert model.measure_.plan_ is frozen.plan_
        else:
            assert model.measure_ is frozen, method
        assert_array_equal(model.predict(table), half, err_msg=str(method))


def test_one_file_holds_all(tmp_path):
    for method in METHODS:
        table, _ = mixed()
        number = 2 if method in BY_NUMBER else "auto"
        model = SimilarityClustering(n_clusters=number, method=method, eps=0.35, random_state=0)
        model.fit(table).save(tmp_path / "model")
        read = la.load(tmp_path / "model")
        assert read.get_params(deep=False).keys() == model.get_params(deep=False).keys(), method
        assert_array_equal(read.labels_, model.labels_, err_msg=str(method))
        new = mixed(seed=3)[0]
        assert_array_equal(read.predict(new), model.predict(new), err_msg=str(method))
        assert_array_equal(read.transform(new), model.transform(new), err_msg=str(method))


def test_searches_are_saved_with_their_tables(tmp_path):
    for search in [
        DensitySearch(Vector(), [2, 3]),
        AutoClustering([Vector(), Gower()], methods=["ward"], n_clusters=2),
    ]:
        search = clone(search).fit(TOY)
        search.save(tmp_path / "search")
        read = la.load(tmp_path / "search")
        assert read.results_ == search.results_, search
        assert_array_equal(read.predict(TOY), search.predict(TOY), err_msg=str(search))


def test_answers_depend_on_the_seed_alone():
    for method in BY_NUMBER:
        points = np.random.default_rng(0).normal(size=(300, 3))
        answers = [
            SimilarityClustering(Vector(), 4, method=method, random_state=3, n_jobs=jobs)
            .fit(points)
            .labels_
            for jobs in (1, 2)
        ]
        assert_array_equal(*answers, err_msg=str(method))
        assert len(np.unique(answers[0])) == 4, method


def test_labels_are_numbered_by_first_row():
    points = TOY[::-1]
    for method in BY_NUMBER:
        model = SimilarityClustering(Vector(), 2, method=method, random_state=1).fit(points)
        assert model.labels_.tolist() == HALVES


def test_a_named_column_is_taken_out_and_measures_that_learn_get_it():
    table, half = mixed()
    table["noise"] = np.random.default_rng(1).normal(size=40).tolist()
    table["class"] = np.array(["a", "b"])[half].tolist()
    model = SimilarityClustering(Gower(weights="relieff"), 2, method="medoids").fit(table, "class")
    assert "class" not in model.feature_names_in_
    assert model.measure_.weights_["noise"] < model.measure_.weights_["color"]
    with pytest.raises(InvalidInput, match="relieff"):
        SimilarityClustering(Gower(weights="relieff"), 2).fit(table)


def test_a_new_fit_forgets_what_another_method_learned():
    model = SimilarityClustering(Vector(), method="density").fit(TOY)
    assert model.eps_ > 0
    model.set_params(method="complete", n_clusters="auto").fit(TOY)
    assert not hasattr(model, "eps_")
    assert model.silhouettes_
    assert not hasattr(model.set_params(n_clusters=2).fit(TOY), "silhouettes_")


def test_in_a_pipeline():
    model = make_pipeline(StandardScaler(), SimilarityClustering(Vector(), 2, method="ward"))
    assert_array_equal(model.fit_predict(TOY), HALVES)
    assert_array_equal(model.predict(TOY), HALVES)
    assert model.transform(TOY).shape == (6, 2)
    names = model[-1].get_feature_names_out()
    assert names.tolist() == ["exemplar0", "exemplar1"]


def test_toy_points_fall_into_two_halves():
    measures = Gower(), Vector(), Vector("cityblock")
    for case in product(measures, (2, "auto"), BY_NUMBER):
        measure, n_clusters, method = case
        model = SimilarityClustering(measure, n_clusters, method=method, random_state=0).fit(TOY)
        assert model.labels_.tolist() == HALVES, case
        assert model.n_clusters_ == 2, case
        assert model.exemplars_.tolist() == [1, 4], case
        assert model.predict([[1.4], [9.0], [12.5]]).tolist() == [0, 1, 1], case
        assert model.predict(TOY).tolist() == HALVES, case
        if n_clusters == "auto":
            own = silhouette_of(model.measure_.distance(), HALVES)
            assert model.silhouettes_[2] == pytest.approx(own), case
            assert max(model.silhouettes_.values()) == model.silhouettes_[2], case


def test_all_rows_as_landmarks_change_nothing():
    for method in BY_NUMBER:
        points, _ = blobs(60, spread=1.2)
        common = {"n_clusters": 3, "method": method, "random_state": 4}
        plain = SimilarityClustering(Gower(), **common).fit(points)
        marked = SimilarityClustering(Gower(), landmarks=60, **common).fit(points)
        np.testing.assert_array_equal(plain.labels_, marked.labels_, err_msg=str(method))
        np.testing.assert_array_equal(plain.exemplars_, marked.exemplars_, err_msg=str(method))


def test_landmarks_carry_over_to_the_other_rows():
    for method in BY_NUMBER:
        points, y = blobs(600)
        model = SimilarityClustering(Gower(), "auto", method=method, landmarks=40, random_state=1)
        model.fit(points)
        assert model.n_clusters_ == 3, method
        assert adjusted_rand_score(y, model.labels_) > 0.97, method
        assert set(model.exemplars_) <= set(model.landmarks_), method
        assert len(model.landmarks_) == len(set(model.landmarks_)) == 40, method
        assert (model.predict(points) == model.labels_).mean() > 0.99, method


def test_landmarks_compare_no_more_than_they_say(monkeypatch):
    points, _ = blobs(500)
    pairs = 0
    compare = Ranked.compare

    def counted(self, a, b):
        nonlocal pairs
        pairs += len(a) * len(b)
        return compare(self, a, b)

    monkeypatch.setattr(Ranked, "compare", counted)
    SimilarityClustering(Ranked(), 3, landmarks=50, random_state=0).fit(points)
    # n*m to the landmarks, m*m among them, n to the exemplars, and the measure's own sample.
    assert pairs <= 500 * 50 + 50 * 50 + 500 + 128 * 128


def test_more_clusters_than_rows():
    for method in BY_NUMBER:
        with pytest.raises(
            TooFewRows, match=r"n_clusters=7.*needs at least 7 rows, found n_samples=6"
        ):
            SimilarityClustering(n_clusters=7, method=method).fit(TOY)


def test_as_many_clusters_as_rows():
    for method in BY_NUMBER:
        model = SimilarityClustering(n_clusters=6, method=method, random_state=0).fit(TOY)
        assert model.labels_.tolist() == list(range(6)), method
        assert model.exemplars_.tolist() == list(range(6)), method


def test_rows_that_are_all_alike_are_one_cluster():
    for method in BY_NUMBER:
        rows = [[1.0, 2.0]] * 5
        model = SimilarityClustering(method=method).fit(rows)
        assert (model.n_clusters_, model.labels_.tolist()) == (1, [0] * 5), method
        with pytest.warns(LookalikeWarning, match="rows of 3 different kinds, found 1"):
            model = SimilarityClustering(n_clusters=3, method=method).fit(rows)
        assert model.labels_.tolist() == [0] * 5, method
        assert model.predict([[5.0, 5.0]]).tolist() == [0], method


def test_rows_that_are_all_alike_lie_dense():
    for method in ["density", "hdbscan"]:
        model = SimilarityClustering(Vector(), method=method).fit([[1.0, 2.0]] * 12)
        # One cloud without any other has no hierarchy, so HDBSCAN calls it noise, as published.
        assert model.labels_.tolist() == [0 if method == "density" else -1] * 12, method


def test_one_cluster_and_one_row():
    for method in BY_NUMBER:
        model = SimilarityClustering(Vector(), 1, method=method).fit(TOY)
        assert model.labels_.tolist() == [0] * 6, method
        assert model.exemplars_.tolist() == [2], method
        assert model.predict([[99.0]]).tolist() == [0], method
        assert SimilarityClustering(method=method).fit([[1.0]]).labels_.tolist() == [0], method
        assert SimilarityClustering(method=method).fit([[1.0], [2.0]]).labels_.tolist() == [0, 0], (
            method
        )


def test_duplicates_do_no_harm():
    for method in BY_NUMBER:
        rows = np.repeat([[0.0], [5.0], [50.0]], 4, axis=0)
        model = SimilarityClustering(Vector(), 3, method=method, random_state=0).fit(rows)
        assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4, method


def test_directed_distances_are_refused_where_they_make_no_sense():
    for method in [m for m in METHODS if m != "affinity"]:
        d = reference.gaps(reference.TOY)
        d[0, 1] = 1.5
        number = 2 if method in BY_NUMBER else "auto"
        with pytest.raises(InvalidInput, match="the same in both directions.*method='affinity'"):
            SimilarityClustering(Precomputed(symmetric=False), number, method=method).fit(d)


def test_directed_distances_are_fine_for_affinity_propagation():
    d = reference.gaps(reference.TOY)
    d[0, 1] = 1.5
    model = SimilarityClustering(
        Precomputed(symmetric=False), 2, method="affinity", random_state=0
    ).fit(d)
    assert model.labels_.tolist() == HALVES
    unequal = ForestProximity(Ratio(alpha=1.0, beta=0.2), n_estimators=10, random_state=0)
    with pytest.raises(InvalidInput, match="ForestProximity, whose distances are directed"):
        SimilarityClustering(unequal, 2).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_too_many_rows_for_a_matrix_name_the_alternatives():
    for method in BY_NUMBER:
        common = {"n_clusters": 2, "method": method, "landmarks": None}
        model = SimilarityClustering(Gower(), dense_limit=5, **common)
        with pytest.raises(
            TooLarge, match="at most 5 rows.*found 6 rows.*landmarks='auto'.*'density'"
        ):
            model.fit(TOY)
        assert model.set_params(landmarks=4, random_state=0).fit(TOY).labels_.tolist() == HALVES, (
            method
        )
        with la.config(memory_limit=200), pytest.raises(TooLarge, match="memory limit of 200 B"):
            SimilarityClustering(**common).fit(TOY)


def test_too_many_rows_are_clustered_by_landmarks():
    for method in BY_NUMBER:
        rng = np.random.default_rng(0)
        points = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 20])
        truth = [0] * 60 + [1] * 40
        model = SimilarityClustering(Vector(), method=method, dense_limit=30, random_state=0)
        affinity = "rbf" if method == "spectral" else "similarity"
        model.set_params(affinity=affinity, sigma=5.0).fit(points)
        assert model.labels_.tolist() == truth, method
        assert len(model.landmarks_) == 30, method
        assert model.exactness_.startswith("exact on 30 landmark rows, the other 70 "), method
        few = SimilarityClustering(Vector(), 2, method=method, affinity=affinity, random_state=0)
        with la.config(memory_limit=8 * 4 * 25**2):  # four matrices of 25 rows
            assert len(few.fit(points).landmarks_) == 25, method
        model.set_params(dense_limit=100).fit(points)
        assert model.exactness_ == "exact on all 100 rows", method
        assert not hasattr(model, "landmarks_"), method


def test_an_affinity_without_the_method_that_cuts_it_is_refused():
    with pytest.raises(InvalidInput, match="needs method='spectral', found 'components'"):
        SimilarityClustering(Vector(), 2, affinity="rbf").fit(TOY)


def test_landmarks_grow_with_the_table():
    assert default_landmarks(30_000, "spectral", 20_000) == 2_000
    assert default_landmarks(10**6, "ward", 20_000) == 4_000
    assert default_landmarks(10**6, "affinity", 20_000) == 500
    assert default_landmarks(30_000, "affinity", 20_000, n_clusters=400) == 800
    with la.config(memory_limit="8MB"):
        assert default_landmarks(30_000, "ward", 20_000) == 500


def test_the_smallest_cluster_of_hdbscan_grows_with_the_table():
    points = np.random.default_rng(0).normal(size=(900, 2))
    model = SimilarityClustering(Vector(), method="hdbscan").fit(points)
    assert model.min_cluster_size_ == 15
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    assert len(sizes) == 0 or sizes.min() >= 15
    splinters = SimilarityClustering(Vector(), method="hdbscan", min_cluster_size=5).fit(points)
    assert splinters.n_clusters_ > model.n_clusters_
    assert not hasattr(model.set_params(method="ward").fit(points), "min_cluster_size_")


def test_density_methods_need_no_matrix():
    for method in ("density", "hdbscan"):
        model = SimilarityClustering(
            Vector(), method=method, dense_limit=2, eps=1.0, min_neighbors=2, min_cluster_size=3
        )
        assert model.fit(TOY).labels_.tolist() == HALVES


def test_pairs_with_nothing_to_compare():
    table = {"a": [1.0, 1.1, None, None], "b": [None, None, 5.0, 5.1]}
    with pytest.raises(UndefinedMeasure, match="pairs without"):
        SimilarityClustering(Gower(), 2, method="ward").fit(table)
    apart = Gower(undefined=0.0, ranges={"a": 10.0, "b": 10.0})
    for method in BY_NUMBER:
        filled = SimilarityClustering(apart, 2, method=method, random_state=0).fit(table)
        assert filled.labels_.tolist() == [0, 0, 1, 1]
        assert filled.predict({"a": [1.2, None], "b": [None, 4.9]}).tolist() == [0, 1]


def test_an_exemplar_with_nothing_to_compare_comes_last():
    for method in ["medoids", "affinity"]:
        table = {"a": [1.0, None, 2.0, 8.0, 9.0, 8.5], "b": list("xxxyyy")}
        model = SimilarityClustering(Gower(), 2, method=method, random_state=0).fit(table)
        assert model.labels_.tolist() == HALVES, method
        model.model_ = NearestExemplar(np.array([1, 4]))  # row 1 has no number
        assert model.predict({"a": [1.0, 8.0, None], "b": [None, None, "x"]}).tolist() == [
            1,
            1,
            0,
        ], method
        with pytest.raises(UndefinedMeasure, match="pairs without"):
            model.predict({"a": [1.0, None], "b": ["x", None]})


def test_wrong_settings_are_named():
    for params, complaint in [
        ({"method": "spectra"}, "Did you mean 'spectral'"),
        ({"n_clusters": 0}, "an integer >= 1"),
        ({"n_clusters": 2.0}, "an integer >= 1"),
        ({"n_clusters": "all"}, "'auto'"),
        ({"measure": "gowr"}, "a lookalike measure"),
        ({"measure": Vector}, "a lookalike measure"),
        ({"eps": -1.0, "method": "density"}, "a number >= 0"),
        ({"min_neighbors": 0, "method": "density"}, "an integer >= 1"),
        ({"n_clusters": 3, "method": "density"}, "finds the number itself"),
        ({"n_clusters": 3, "method": "hdbscan"}, "finds the number itself"),
        ({"min_neighbors": 9, "method": "density"}, "n_samples=6"),
        ({"min_cluster_size": 9, "method": "hdbscan"}, "n_samples=6"),
        ({"landmarks": 7}, "n_samples=6"),
        ({"landmarks": 2, "n_clusters": 3}, "at least 3 landmarks, found 2"),
        ({"sigma": 0.0}, "a number > 0"),
        ({"affinity": "cosine"}, "'rbf'"),
    ]:
        with pytest.raises(InvalidInput, match=complaint):
            SimilarityClustering(**params).fit(TOY)


def test_affinity_propagation_with_a_preference_finds_the_number_itself():
    from sklearn.cluster import AffinityPropagation

    from lookalike.clustering import partitions

    rng = np.random.default_rng(0)
    points = np.concatenate(
        [rng.normal(size=(12, 2)) / 9 + center for center in ((0, 0), (5, 0), (0, 5))]
    )
    measure = Vector().fit(points)
    for preference in ("median", -0.3, -40.0):
        model = SimilarityClustering(
            Vector(), method="affinity", preference=preference, random_state=0
        ).fit(points)
        d = measure.distance()
        given = -np.median(d[~np.eye(36, dtype=bool)]) if preference == "median" else preference
        own = AffinityPropagation(
            affinity="precomputed",
            preference=given,
            damping=partitions.DAMPING,
            max_iter=partitions.MAX_ITER,
            convergence_iter=partitions.CONVERGENCE_ITER,
            random_state=0,
        ).fit(-d)
        assert_array_equal(np.sort(model.exemplars_), np.sort(own.cluster_centers_indices_))
    assert (
        SimilarityClustering(Vector(), method="affinity", preference="median", random_state=0)
        .fit(points)
        .n_clusters_
        == 3
    )
    for wrong in ({"method": "ward"}, {"n_clusters": 2, "method": "affinity"}):
        with pytest.raises(InvalidInput, match=r"needs method='affinity' and n_clusters"):
            SimilarityClustering(Vector(), preference="median", **wrong).fit(points)


def test_before_fitting_nothing_is_answered():
    model = SimilarityClustering(2)
    for ask in (model.get_feature_names_out, lambda: model.transform({"a": [1.0]})):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask()
