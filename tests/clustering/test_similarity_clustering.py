"""The estimator around the methods: any table in, labels, exemplars, new rows, one file."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from clustering import reference
from lookalike.clustering import AutoClustering, DensitySearch, SimilarityClustering
from lookalike.clustering._clustering import NearestExemplar
from lookalike.clustering._space import METHODS, default_landmarks
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

TOY = reference.TOY[:, None]
HALVES = [0, 0, 0, 1, 1, 1]
BY_NUMBER = METHODS[:5]

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


def mixed(n=40, seed=0):
    rng = np.random.default_rng(seed)
    half = np.arange(n) % 2
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(0, 1, n) + 6 * half)
    color = np.array(["red", "blue"])[half].astype(object)
    color[rng.random(n) < 0.1] = None
    tags = [["x", "y"] if h else ["z"] for h in half]
    return {"size": size, "color": color.tolist(), "tags": tags}, half


@pytest.mark.parametrize("method", METHODS)
def test_mixed_tables_with_gaps_are_clustered_and_new_rows_assigned(method):
    table, half = mixed()
    number = 2 if method in BY_NUMBER else "auto"
    model = SimilarityClustering(n_clusters=number, method=method, eps=0.35, random_state=0)
    assert_array_equal(model.fit_predict(table), half)
    new = {"size": [0.2, None], "color": ["red", "blue"], "tags": [["z"], ["x", "y"]]}
    assert_array_equal(model.predict(new), [0, 1])
    assert_array_equal(model.labels_[model.exemplars_], [0, 1])
    far = model.transform(new)
    assert far.shape == (2, 2)
    assert (far.argmin(axis=1) == [0, 1]).all()
    own = model.transform(None)[np.arange(40), half]
    np.testing.assert_allclose(model.exemplar_distances_, own)
    assert model.exemplar_distances_[model.exemplars_].tolist() == [0, 0]


@pytest.mark.parametrize(
    "form",
    [pd.DataFrame, pl.DataFrame, pa.table, dict, la.read_table],
    ids=["pandas", "polars", "pyarrow", "dict", "Table"],
)
def test_frames_of_all_kinds(form):
    columns = {"x": reference.TOY.tolist(), "kind": list("aaabbb")}
    model = SimilarityClustering(n_clusters=2, method="ward").fit(form(columns))
    assert_array_equal(model.labels_, HALVES)
    assert model.feature_names_in_.tolist() == ["x", "kind"]
    assert_array_equal(model.predict(form(columns)), HALVES)


@pytest.mark.parametrize(
    "measure",
    [
        Ranked(),
        StochasticForest(100, 2, random_state=0),
        ForestProximity(n_estimators=50, random_state=0),
        ForestProximity("zhu2", n_estimators=50, random_state=0),
        MutualProximity(Vector()),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["spectral", "medoids", "ward"])
def test_any_measure_will_do(measure, method):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 25)
    points = rng.normal(size=(50, 3)) + 7 * y[:, None]
    model = SimilarityClustering(measure, 2, method=method, random_state=0).fit(points)
    assert la.clustering.adjusted_rand(y, model.labels_) > 0.8
    new = rng.normal(size=(6, 3)) + 7 * np.repeat([0, 1], 3)[:, None]
    assert (model.predict(new)[:3] == model.labels_[0]).all()
    assert (model.predict(new)[3:] == model.labels_[-1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_of_distances_is_clustered_as_its_rows_are(method):
    rng = np.random.default_rng(4)
    points = rng.normal(size=(30, 2)) + 8 * (np.arange(30) % 3)[:, None]
    measure = Vector().fit(points)
    number = 3 if method in BY_NUMBER else "auto"
    common = {"n_clusters": number, "method": method, "random_state": 0, "eps": 2.5}
    rows = SimilarityClustering(Vector(), **common).fit(points)
    matrix = SimilarityClustering(Precomputed(), **common).fit(measure.distance())
    assert_array_equal(rows.labels_, matrix.labels_)
    assert_array_equal(rows.exemplars_, matrix.exemplars_)
    new = rng.normal(size=(5, 2))
    assert_array_equal(rows.predict(new), matrix.predict(measure.distance(new)))


@pytest.mark.parametrize("method", METHODS)
def test_a_frozen_measure_keeps_what_it_has_learned(method):
    table, half = mixed()
    frozen = Gower().fit(mixed(seed=9)[0]).frozen()
    number = 2 if method in BY_NUMBER else "auto"
    model = SimilarityClustering(frozen, number, method=method, eps=0.35, random_state=0)
    assert_array_equal(model.fit(table).labels_, half)
    assert model.measure_ is frozen
    assert_array_equal(model.predict(table), half)


@pytest.mark.parametrize("method", METHODS)
def test_one_file_holds_all(method, tmp_path):
    table, _ = mixed()
    number = 2 if method in BY_NUMBER else "auto"
    model = SimilarityClustering(n_clusters=number, method=method, eps=0.35, random_state=0)
    model.fit(table).save(tmp_path / "model")
    read = la.load(tmp_path / "model")
    assert read.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert_array_equal(read.labels_, model.labels_)
    new = mixed(seed=3)[0]
    assert_array_equal(read.predict(new), model.predict(new))
    assert_array_equal(read.transform(new), model.transform(new))


@pytest.mark.parametrize(
    "search",
    [
        DensitySearch(Vector(), [2, 3]),
        AutoClustering([Vector(), Gower()], methods=["ward"], n_clusters=2),
    ],
    ids=["density", "auto"],
)
def test_searches_are_saved_with_their_tables(search, tmp_path):
    search = clone(search).fit(TOY)
    search.save(tmp_path / "search")
    read = la.load(tmp_path / "search")
    assert read.results_ == search.results_
    assert_array_equal(read.predict(TOY), search.predict(TOY))


@pytest.mark.parametrize("method", BY_NUMBER)
def test_answers_depend_on_the_seed_alone(method):
    points = np.random.default_rng(0).normal(size=(300, 3))
    answers = [
        SimilarityClustering(Vector(), 4, method=method, random_state=3, n_jobs=jobs)
        .fit(points)
        .labels_
        for jobs in (1, 2)
    ]
    assert_array_equal(*answers)
    assert len(np.unique(answers[0])) == 4


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


def test_in_a_pipeline():
    model = make_pipeline(StandardScaler(), SimilarityClustering(Vector(), 2, method="ward"))
    assert_array_equal(model.fit_predict(TOY), HALVES)
    assert_array_equal(model.predict(TOY), HALVES)
    assert model.transform(TOY).shape == (6, 2)
    names = model[-1].get_feature_names_out()
    assert names.tolist() == ["exemplar0", "exemplar1"]


# -- what is wrong with a request -----------------------------------------------------------------


@pytest.mark.parametrize("method", BY_NUMBER)
def test_more_clusters_than_rows(method):
    with pytest.raises(TooFewRows, match=r"n_clusters=7.*needs at least 7 rows, found n_samples=6"):
        SimilarityClustering(n_clusters=7, method=method).fit(TOY)


@pytest.mark.parametrize("method", BY_NUMBER)
def test_as_many_clusters_as_rows(method):
    model = SimilarityClustering(n_clusters=6, method=method, random_state=0).fit(TOY)
    assert model.labels_.tolist() == list(range(6))
    assert model.exemplars_.tolist() == list(range(6))


@pytest.mark.parametrize("method", BY_NUMBER)
def test_rows_that_are_all_alike_are_one_cluster(method):
    rows = [[1.0, 2.0]] * 5
    model = SimilarityClustering(method=method).fit(rows)
    assert (model.n_clusters_, model.labels_.tolist()) == (1, [0] * 5)
    with pytest.warns(LookalikeWarning, match="rows of 3 different kinds, found 1"):
        model = SimilarityClustering(n_clusters=3, method=method).fit(rows)
    assert model.labels_.tolist() == [0] * 5
    assert model.predict([[5.0, 5.0]]).tolist() == [0]


@pytest.mark.parametrize("method", ["density", "hdbscan"])
def test_rows_that_are_all_alike_lie_dense(method):
    model = SimilarityClustering(Vector(), method=method).fit([[1.0, 2.0]] * 12)
    # One cloud without any other has no hierarchy, so HDBSCAN calls it noise, as published.
    assert model.labels_.tolist() == [0 if method == "density" else -1] * 12


@pytest.mark.parametrize("method", BY_NUMBER)
def test_one_cluster_and_one_row(method):
    model = SimilarityClustering(Vector(), 1, method=method).fit(TOY)
    assert model.labels_.tolist() == [0] * 6
    assert model.exemplars_.tolist() == [2]
    assert model.predict([[99.0]]).tolist() == [0]
    assert SimilarityClustering(method=method).fit([[1.0]]).labels_.tolist() == [0]
    assert SimilarityClustering(method=method).fit([[1.0], [2.0]]).labels_.tolist() == [0, 0]


@pytest.mark.parametrize("method", BY_NUMBER)
def test_duplicates_do_no_harm(method):
    rows = np.repeat([[0.0], [5.0], [50.0]], 4, axis=0)
    model = SimilarityClustering(Vector(), 3, method=method, random_state=0).fit(rows)
    assert model.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4


@pytest.mark.parametrize("method", [m for m in METHODS if m != "affinity"])
def test_directed_distances_are_refused_where_they_make_no_sense(method):
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


@pytest.mark.parametrize("method", BY_NUMBER)
def test_too_many_rows_for_a_matrix_name_the_alternatives(method):
    common = {"n_clusters": 2, "method": method, "landmarks": None}
    model = SimilarityClustering(dense_limit=5, **common)
    with pytest.raises(TooLarge, match="at most 5 rows.*found 6 rows.*landmarks='auto'.*'density'"):
        model.fit(TOY)
    assert model.set_params(landmarks=4, random_state=0).fit(TOY).labels_.tolist() == HALVES
    with la.config(memory_limit=200), pytest.raises(TooLarge, match="memory limit of 200 B"):
        SimilarityClustering(**common).fit(TOY)


@pytest.mark.parametrize("method", BY_NUMBER)
def test_too_many_rows_are_clustered_by_landmarks(method):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 20])
    truth = [0] * 60 + [1] * 40
    model = SimilarityClustering(Vector(), method=method, dense_limit=30, random_state=0)
    model.set_params(affinity="rbf", sigma=5.0).fit(points)
    assert model.labels_.tolist() == truth
    assert len(model.landmarks_) == 30
    assert model.exactness_.startswith("exact on 30 landmark rows, the other 70 ")
    few = SimilarityClustering(Vector(), 2, method=method, affinity="rbf", random_state=0)
    with la.config(memory_limit=8 * 4 * 25**2):  # four matrices of 25 rows
        assert len(few.fit(points).landmarks_) == 25
    model.set_params(dense_limit=100).fit(points)
    assert model.exactness_ == "exact on all 100 rows"
    assert not hasattr(model, "landmarks_")


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
        SimilarityClustering(n_clusters=2, method="ward").fit(table)
    apart = Gower(undefined=0.0, ranges={"a": 10.0, "b": 10.0})
    for method in BY_NUMBER:
        filled = SimilarityClustering(apart, 2, method=method, random_state=0).fit(table)
        assert filled.labels_.tolist() == [0, 0, 1, 1]
        assert filled.predict({"a": [1.2, None], "b": [None, 4.9]}).tolist() == [0, 1]


@pytest.mark.parametrize("method", ["medoids", "affinity"])
def test_an_exemplar_with_nothing_to_compare_comes_last(method):
    table = {"a": [1.0, None, 2.0, 8.0, 9.0, 8.5], "b": list("xxxyyy")}
    model = SimilarityClustering(n_clusters=2, method=method, random_state=0).fit(table)
    assert model.labels_.tolist() == HALVES
    model.model_ = NearestExemplar(np.array([1, 4]))  # row 1 has no number
    assert model.predict({"a": [1.0, 8.0, None], "b": [None, None, "x"]}).tolist() == [1, 1, 0]
    with pytest.raises(UndefinedMeasure, match="pairs without"):
        model.predict({"a": [1.0, None], "b": ["x", None]})


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
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
    ],
)
def test_wrong_settings_are_named(params, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        SimilarityClustering(**params).fit(TOY)
