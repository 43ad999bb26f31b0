"""Neighbor models: tables, targets, reasons, saving, what is refused, and the choice of k."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError

import lookalike as la
from lookalike._runtime.folds import assign_folds
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows
from lookalike.evaluate.vote import class_totals
from lookalike.measures import Gower, Measure, Precomputed, Ranked, Vector
from lookalike.measures.default import default_measure
from lookalike.prediction import NeighborClassifier, NeighborRegressor
from lookalike.prediction.neighbors import candidate_k
from prediction import reference

PETS = {
    "weight": [4.0, 5.0, None, 30.0, 25.0, 0.03, 0.02],
    "sound": ["meow", "meow", "meow", "woof", "woof", None, "squeak"],
    "animal": ["cat", "cat", "cat", "dog", "dog", "mouse", "mouse"],
}
NEW = {"weight": [28.0, None, 0.01], "sound": [None, "meow", "squeak"]}
BOTH = [NeighborClassifier, NeighborRegressor]


def pets():
    return {name: PETS[name] for name in ("weight", "sound")}, PETS["animal"]


# -- input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, la.read_table])
@pytest.mark.parametrize("named", [True, False], ids=["named", "array"])
def test_any_frame_and_any_form_of_target(frame, named):
    X, y = pets()
    model = NeighborClassifier(n_neighbors=2)
    model = model.fit(frame(PETS), "animal") if named else model.fit(frame(X), y)
    assert model.predict(frame(NEW)).tolist() == ["dog", "cat", "mouse"]
    assert model.classes_.tolist() == ["cat", "dog", "mouse"]
    assert model.feature_names_in_.tolist() == ["weight", "sound"]
    assert model.n_features_in_ == 2
    assert model.score(frame(X), y) == 1.0


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(PETS["animal"]),
        pd.Series(PETS["animal"], dtype="category"),
        pd.Series(PETS["animal"], dtype="string"),
        pl.Series(PETS["animal"]),
        np.array(PETS["animal"], dtype=object),
    ],
    ids=["pandas", "categorical", "string", "polars", "objects"],
)
def test_targets_from_frame_libraries(y):
    model = NeighborClassifier(n_neighbors=2).fit(pets()[0], y)
    assert model.predict(NEW).tolist() == ["dog", "cat", "mouse"]


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], [True, False, True], [0.0, 1.0, 2.0], ["a", "b", "c"], [10**6, -5, 3]]
)
def test_labels_keep_their_type(labels):
    model = NeighborClassifier(Vector(), n_neighbors=1).fit([[0.0], [1.0], [2.0]], labels)
    found = model.predict([[0.1], [0.9], [2.2]])
    assert found.tolist() == labels
    assert found.dtype == np.asarray(labels).dtype
    nullable = pd.Series([1, 2, 2], dtype="Int64")
    assert (
        NeighborClassifier(Vector(), 1).fit([[0.0], [1.0], [2.0]], nullable).classes_.dtype == int
    )


def test_the_named_target_is_not_compared():
    # Among the compared columns the target would make its own class the nearest.
    table = {"x": [0.0, 1.0, 10.0, 11.0], "label": ["a", "b", "a", "b"]}
    for kinds in (None, {"label": "category"}, {"label": "category", "x": "number"}):
        for measure in (Gower(), Gower(kinds=kinds)):
            model = NeighborClassifier(measure, n_neighbors=1, kinds=kinds).fit(table, "label")
            assert model.feature_names_in_.tolist() == ["x"]
            assert model.measure_.schema_.kinds.keys() == {"x"}
            assert model.predict(None).tolist() == ["b", "a", "b", "a"]
            assert model.predict(table).tolist() == ["a", "b", "a", "b"]  # taken out there too


def test_kinds_of_a_measure_inside_do_not_bring_the_target_back():
    class _Around(Measure):
        def __init__(self, measure):
            self.measure = measure

        def read(self, X):
            return self.measure.read(X)

        def _fit(self, table, y):
            self.measure_ = clone(self.measure).fit(table, y)

        def _encode(self, table, seen):
            return self.measure_.encode(table, seen)

        def compare(self, a, b):
            return self.measure_.compare(a, b)

    table = {"x": [0.0, 1.0, 10.0, 11.0], "label": ["a", "b", "a", "b"]}
    around = _Around(Gower(kinds={"label": "category", "x": "number"}))
    model = NeighborClassifier(around, n_neighbors=1).fit(table, "label")
    assert model.measure_.measure_.schema_.kinds.keys() == {"x"}
    assert model.predict(None).tolist() == ["b", "a", "b", "a"]


def test_scoring_by_the_name_of_the_target():
    model = NeighborClassifier(n_neighbors=2).fit(PETS, "animal")
    assert model.score(PETS, "animal") == 1.0
    assert model.score(None, PETS["animal"]) == model.score(None, np.array(PETS["animal"]))
    wrong = {**NEW, "animal": ["dog", "cat", "horse"]}  # a class that was never seen is wrong
    assert_allclose(model.score(wrong, "animal"), 2 / 3)
    weighted = model.score(wrong, "animal", sample_weight=[1.0, 1.0, 0.0])
    assert weighted == 1.0
    flags = {"x": [0.0, 1.0, 5.0, 6.0], "y": [0, 0, 1, 1]}
    model = NeighborClassifier(n_neighbors=1).fit(flags, "y")
    assert model.score({"x": [5.5, 6.5], "y": [1, 1]}, "y") == 1.0  # one value, read as in fit
    amounts = NeighborRegressor(n_neighbors=1).fit(flags, "x")
    assert amounts.score({"x": [0.0, 5.0], "y": [0, 1]}, "x") == 1.0


def test_kinds_decide_how_columns_are_read():
    table = {"shade": [1, 2, 9, 10] * 2, "size": [1.0, 2.0, 3.0, 4.0] * 2}
    y = ["a", "b", "a", "b"] * 2
    for measure in (None, Gower()):
        model = NeighborClassifier(measure, 1, kinds={"shade": "category"}).fit(table, y)
        assert model.measure_.schema_.kinds["shade"].name == "category"
        assert_allclose(model.kneighbors({"shade": [3], "size": [1.0]})[0], [[0.5]])
    # A measure without kinds of its own gets a table that was read with them.
    model = NeighborClassifier(Vector(), 1, kinds={"size": "aside"}).fit(table, y)
    assert model.feature_names_in_.tolist() == ["shade"]
    both = NeighborClassifier(Gower(kinds={"shade": "category"}), 1, kinds={"size": "aside"})
    assert both.fit(table, y).measure_.schema_.kinds["shade"].name == "category"
    assert both.feature_names_in_.tolist() == ["shade"]
    assert both.measure.kinds == {"shade": "category"}  # what the caller passed is not changed


def test_unseen_categories_are_like_nothing():
    model = NeighborClassifier(Gower(), n_neighbors=1).fit(
        {"color": ["red", "blue"], "size": [1.0, 9.0]}, ["r", "b"]
    )
    assert model.predict({"color": ["green"], "size": [8.0]}).tolist() == ["b"]
    assert_allclose(model.kneighbors({"color": ["green"], "size": [9.0]}, 1)[0], [[0.5]])


def test_a_single_class_is_always_predicted():
    model = NeighborClassifier(Vector(), n_neighbors=2).fit([[0.0], [1.0], [2.0]], ["a"] * 3)
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    tuned = NeighborClassifier(Vector(), n_neighbors="tune").fit([[0.0], [1.0], [2.0]], ["a"] * 3)
    assert tuned.n_neighbors_ == 1


def test_large_answers_are_counted_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    model = NeighborClassifier(Vector()).fit(X, y)
    whole = model.predict(X)
    sizes = []

    def totals(codes, *rest):
        sizes.append(len(codes))
        return class_totals(codes, *rest)

    monkeypatch.setattr("lookalike.evaluate.vote.MAX_TOTALS", 7 * 4)
    monkeypatch.setattr("lookalike.evaluate.vote.class_totals", totals)
    assert_array_equal(model.predict(X), whole)
    assert sizes == [7] * 7 + [1]


def test_threads_change_nothing_and_are_passed_on():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    one = NeighborClassifier(n_neighbors="tune", n_jobs=1).fit(X, y)
    two = NeighborClassifier(n_neighbors="tune", n_jobs=2).fit(X, y)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert_array_equal(one.cv_results_["error"], two.cv_results_["error"])
    assert (one.measure_.n_jobs, two.measure_.n_jobs) == (1, 2)
    own = NeighborClassifier(Gower(n_jobs=3), n_jobs=1).fit(X, y)
    assert own.measure_.n_jobs == 3  # what was given to the measure stays


# -- neighbors and reasons ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_ten_rows_vote_by_a_kernel_by_default(cls):
    X = np.arange(40.0)[:, None] ** 2
    y = (np.arange(40) % 4) if cls is NeighborClassifier else np.arange(40.0)
    model = cls(Vector()).fit(X, y)
    assert (model.n_neighbors_, model.weights_) == (10, "kernel")
    same = cls(Vector(), 10, weights="kernel").fit(X, y)
    assert_array_equal(model.predict(X), same.predict(X))
    # Of a small table four fifths vote, so that votes can be tuned and rows left out.
    for n, k in ((1, 1), (2, 1), (5, 4), (12, 9), (13, 10)):
        small = cls(Vector()).fit(X[:n], y[:n])
        assert small.n_neighbors_ == k, n
        assert n == 1 or len(small.predict(None)) == n
    assert cls(Vector(), weights="tune").fit(X[:8], y[:8]).n_neighbors_ == 6


def test_neighbors_are_those_of_the_measure():
    X, y = pets()
    model = NeighborClassifier(n_neighbors=3).fit(X, y)
    measure = default_measure().fit(X)
    for rows in (None, NEW):
        for one, other in zip(model.kneighbors(rows, 2), measure.kneighbors(rows, 2), strict=True):
            assert_array_equal(one, other)
    assert model.kneighbors(NEW, return_distance=False).shape == (3, 3)


def test_reasons_belong_to_the_neighbors():
    X, y = pets()
    model = NeighborClassifier(n_neighbors=3).fit(X, y)
    record = {"weight": 4.2, "sound": "meow"}
    explanation = model.explain(record)
    assert [at for at, _ in explanation] == model.kneighbors([record])[1][0].tolist()
    for (at, why), distance in zip(explanation, model.kneighbors([record])[0][0], strict=True):
        assert_allclose(why.distance, distance)
        assert_allclose(sum(why.plus.values()), why.similarity)
        assert why.similarity == model.measure_.explain(record, at).similarity
    own = model.explain(3, n_neighbors=2)
    assert [at for at, _ in own] == model.kneighbors(None, 2)[1][3].tolist()
    assert 3 not in [at for at, _ in own]


@pytest.mark.parametrize(
    ("x", "complaint"),
    [
        (7, "a position from 0 to 6, found 7"),
        (-1, "a position from 0 to 6, found -1"),
        (NEW, "one row, found 3 rows"),
    ],
)
def test_reasons_are_given_for_one_row(x, complaint):
    model = NeighborClassifier(n_neighbors=1).fit(*pets())
    with pytest.raises(InvalidInput, match=complaint):
        model.explain(x)


# -- frozen measures, copies, files ---------------------------------------------------------------


@pytest.mark.parametrize("named", [True, False], ids=["named", "array"])
def test_a_frozen_measure_keeps_what_it_has_learned(named):
    wide = Gower().fit({"weight": [0.0, 1000.0], "sound": ["meow", "woof"]})
    model = NeighborClassifier(wide.frozen(), n_neighbors=1, n_jobs=1)
    X, y = pets()
    model = model.fit(PETS, "animal") if named else model.fit(X, y)
    assert_allclose(model.kneighbors([{"weight": 29.0, "sound": "woof"}])[0], [[0.0005]])
    assert model.predict(NEW).tolist() == ["dog", "cat", "mouse"]
    assert len(model.rows_) == 7
    assert len(model.measure_.rows_) == 2
    assert wide.n_jobs is None
    assert [at for at, _ in model.explain(0, n_neighbors=1)] == [2]
    if named:
        assert model.score(PETS, "animal") == 1.0


def test_frozen_measures_that_cannot_serve_are_refused():
    distances = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    known = Precomputed().fit(distances).frozen()
    with pytest.raises(InvalidInput, match="not its frozen form"):
        NeighborClassifier(known, n_neighbors=1).fit(distances, [0, 0, 1, 1])
    fitted = Gower().fit(pets()[0]).frozen()
    with pytest.raises(InvalidInput, match="Give the kinds to the measure before"):
        NeighborClassifier(fitted, kinds={"weight": "number"}).fit(*pets())


def test_the_measure_passed_in_stays_as_it_was():
    measure = Gower()
    model = NeighborClassifier(measure, n_neighbors=1).fit(*pets())
    assert model.measure is measure
    assert not hasattr(measure, "rows_")
    copy = clone(model)
    assert not hasattr(copy, "measure_")
    assert copy.measure is not measure


@pytest.mark.parametrize(
    "measure", [None, Gower(missing="midpoint"), Vector("cityblock"), "frozen"]
)
@pytest.mark.parametrize("cls", BOTH)
def test_saving_and_pickling_change_nothing(tmp_path, cls, measure):
    table = {"weight": [4.0, 5.0, 3.0, 30.0, 25.0, 0.03], "size": [1.0, 2.0, 1.5, 9.0, 8.0, 0.1]}
    y = [0, 0, 0, 1, 1, 2]
    if measure == "frozen":
        measure = Ranked().fit(table).frozen()
    model = cls(measure, n_neighbors="tune", weights="distance").fit(table, y)
    model.save(tmp_path / "model.lookalike")
    again = la.load(tmp_path / "model.lookalike")
    assert type(again) is cls
    for other in (again, pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict(table), model.predict(table))
        assert_array_equal(other.predict(None), model.predict(None))
        assert_array_equal(other.kneighbors(table)[0], model.kneighbors(table)[0])
        assert_array_equal(other.cv_results_["error"], model.cv_results_["error"])
        assert other.n_neighbors_ == model.n_neighbors_
        assert str(other.explain(0)[0][1]) == str(model.explain(0)[0][1])


def test_saved_words_and_names_come_back(tmp_path):
    model = NeighborClassifier(n_neighbors=2).fit(PETS, "animal")
    model.save(tmp_path / "model.lookalike")
    again = la.load(tmp_path / "model.lookalike")
    assert again.classes_.tolist() == ["cat", "dog", "mouse"]
    assert again.score(PETS, "animal") == 1.0
    assert again.rows_ is again.measure_.rows_  # written once


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BOTH)
def test_more_neighbors_than_rows(cls):
    with pytest.raises(
        TooFewRows, match=rf"{cls.__name__}\(n_neighbors=5\): needs at least 5 rows, "
    ):
        cls(Vector(), n_neighbors=5).fit([[0.0], [1.0]], [0, 1])
    model = cls(Vector(), n_neighbors=2).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TooFewRows, match="Use n_neighbors=2"):
        model.kneighbors([[0.0]], 3)
    with pytest.raises(TooFewRows, match="needs at least 3 rows, found n_samples=2"):
        model.predict(None)  # one fewer: a row does not vote for itself
    with pytest.raises(TooFewRows, match="at least 3 rows"):
        model.explain(0)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (None, "requires y to be passed"),
        ([0, 1], "one target value for each of the 3 rows, found an array of shape"),
        ([[0, 1], [1, 0], [1, 1]], "one target value for each of the 3 rows"),
        ([0.0, np.nan, 1.0], "a target without missing values, found 1 missing values .*row 1"),
        (np.array(["a", None, "b"], dtype=object), "a target without missing values"),
        ([0.0, np.inf, 1.0], "inf"),
    ],
)
def test_targets_that_cannot_be_used(cls, y, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        cls(Vector(), n_neighbors=1).fit([[0.0], [1.0], [2.0]], y)


def test_gaps_in_a_named_target():
    for cls in BOTH:
        with pytest.raises(
            InvalidInput, match=r"a target without missing values, found 1 .* row 2"
        ):
            cls(n_neighbors=1).fit(PETS, "weight")


def test_amounts_and_classes_are_distinguished():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(InvalidInput, match=r"found 0.5 .*Use NeighborRegressor"):
        NeighborClassifier(Vector(), n_neighbors=1).fit(X, [0.0, 0.5, 1.0])
    with pytest.raises(InvalidInput, match="Use NeighborClassifier"):
        NeighborRegressor(Vector(), n_neighbors=1).fit(X, ["a", "b", "c"])
    with pytest.raises(InvalidInput, match="Use NeighborClassifier"):
        NeighborRegressor(Vector(), 1).fit(X, np.array(["a", "b", "c"], dtype=object))
    with pytest.raises(InvalidInput, match="classes of one type, found int and str labels"):
        NeighborClassifier(Vector(), 1).fit(X, np.array([1, "a", "b"], dtype=object))


def test_a_column_of_targets_is_flattened_with_a_word():
    with pytest.warns(DataConversionWarning, match="y.ravel"):
        model = NeighborRegressor(Vector(), 1).fit([[0.0], [1.0]], [[5.0], [6.0]])
    assert model.predict([[0.9]]).tolist() == [6.0]


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"measure": "gowr"}, r"a lookalike measure.*Did you mean 'gower'"),
        ({"measure": Gower}, r"a lookalike measure.*Pass an instance"),
        ({"n_neighbors": 0}, "an integer >= 1"),
        ({"n_neighbors": 2.0}, "an integer >= 1"),
        ({"n_neighbors": "tuned"}, "Did you mean 'tune'"),
        ({"weights": "distances"}, "Did you mean 'distance'"),
        ({"tie": "frist"}, "Did you mean 'first'"),
        ({"random_state": -1}, "an integer >= 0"),
        ({"kinds": ["number"]}, "a mapping of column to kind"),
        ({"n_jobs": 0}, "not 0"),
        ({"kinds": {"wieght": "number"}}, "Did you mean 'weight'"),
    ],
)
def test_parameters_are_checked_when_fitting(params, complaint):
    model = NeighborClassifier().set_params(**params)
    with pytest.raises(InvalidInput, match=complaint):
        model.fit(*pets())


def test_asking_before_fitting():
    for method in ("predict", "predict_proba", "kneighbors", "explain"):
        with pytest.raises(NotFittedError):
            getattr(NeighborClassifier(), method)([[0.0]])


def test_columns_that_lack_or_exceed():
    model = NeighborClassifier(n_neighbors=1).fit(*pets())
    with pytest.raises(InvalidInput, match="no column 'sound'"):
        model.predict({"weight": [1.0]})
    with pytest.warns(LookalikeWarning, match="also 'age'"):
        model.predict({"weight": [1.0], "sound": ["woof"], "age": [3]})


# Integers: squares, sums and roots of them compare alike however they are added up.
points = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2)), min_size=2, max_size=24
)


def cityblock(x, y, known):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def voter(weights):
    return lambda labels, away: reference.vote(labels, reference.weigh(away, weights))


def averager(weights):
    return lambda values, away: reference.mean(values, reference.weigh(away, weights))


@settings(max_examples=40, deadline=None)
@given(points)
def test_classes_are_tuned_as_by_hand(rows):
    X, y = [row[:2] for row in rows], [row[2] for row in rows]
    errors = reference.tune(
        X,
        y,
        assign_folds(np.array(y), len(y), 5, None, "test").tolist(),
        cityblock,
        voter("uniform"),
        lambda guess, truth: float(guess != truth),
    )
    measure = Vector("cityblock")
    model = NeighborClassifier(measure, n_neighbors="tune", weights="uniform")
    model.fit(np.array(X, float), y)
    assert_allclose(model.cv_results_["error"], list(errors.values()))
    assert model.cv_results_["n_neighbors"].tolist() == list(errors)
    fewest = min(errors.values())
    assert model.n_neighbors_ == next(k for k, e in errors.items() if e <= fewest + 1e-12)


@settings(max_examples=25, deadline=None)
@given(points)
def test_amounts_and_weights_are_tuned_as_by_hand(rows):
    X, y = [row[:2] for row in rows], [float(row[2]) for row in rows]
    folds = assign_folds(None, len(y), 5, None, "test").tolist()

    def square(guess, truth):
        return (guess - truth) ** 2

    errors = {}
    for word in ("uniform", "distance", "kernel"):
        found = reference.tune(X, y, folds, cityblock, averager(word), square)
        errors |= {(k, word): error for k, error in found.items()}
    model = NeighborRegressor(Vector("cityblock"), n_neighbors="tune", weights="tune")
    model.fit(np.array(X, float), y)
    results = model.cv_results_
    tried = list(zip(results["n_neighbors"].tolist(), results["weights"].tolist(), strict=True))
    assert set(tried) == set(errors)
    assert_allclose(results["error"], [errors[choice] for choice in tried], atol=1e-12)
    assert errors[model.n_neighbors_, model.weights_] <= min(errors.values()) + 1e-9


def test_each_fold_measures_with_its_own_ranges():
    # The range of a fold without the last row is 4, with it 100: the reference uses the former.
    rows = [(0.0, 0.0), (1.0, 3.0), (4.0, 1.0), (2.0, 2.0), (3.0, 9.0), (0.5, 4.0), (100.0, 5.0)]
    y = ["a", "b", "a", "b", "a", "b", "a"]

    def distance(x, other, known):
        return 1 - reference.gower(x, other, reference.ranges_of(known, (True, True)))

    errors = reference.tune(
        rows,
        y,
        assign_folds(np.array(y), len(y), 5, None, "test").tolist(),
        distance,
        voter("uniform"),
        lambda guess, truth: float(guess != truth),
    )
    model = NeighborClassifier(Gower(), n_neighbors="tune", weights="uniform")
    model.fit(np.array(rows), y)
    assert_allclose(model.cv_results_["error"], list(errors.values()))


def test_one_search_per_fold_serves_every_k_and_weighting():
    searches = []

    class _Counting(Vector):
        def nearest(self, a, b, k, **options):
            searches.append((len(a), k))
            return super().nearest(a, b, k, **options)

    X, y = make_classification(103, random_state=0)
    NeighborClassifier(_Counting(), n_neighbors="tune", weights="tune").fit(X, y)
    assert sorted(searches) == [(20, 50)] * 2 + [(21, 50)] * 3


def test_folds_follow_the_random_state():
    X, y = make_classification(60, random_state=0)

    def errors(random_state):
        model = NeighborClassifier(Vector(), n_neighbors="tune", random_state=random_state)
        return model.fit(X, y).cv_results_["fold_errors"]

    assert_array_equal(errors(None), errors(None))
    assert_array_equal(errors(3), errors(np.random.default_rng(3)))
    assert (errors(3) != errors(4)).any()


def test_sorted_targets_do_no_harm():
    X = np.arange(60.0)[:, None]
    model = NeighborRegressor(Vector(), n_neighbors="tune").fit(X, X[:, 0])
    assert model.cv_results_["error"].min() < 1
    assert model.cv_results_["n_neighbors"][-1] == 40  # of the 48 known rows
    assert model.cv_results_["fold_errors"].shape == (5, 19)
    assert_allclose(model.cv_results_["fold_errors"].mean(axis=0), model.cv_results_["error"])


def test_noise_asks_for_more_neighbors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    clean = (X[:, 0] > 0).astype(int)
    noisy = np.where(rng.random(300) < 0.3, 1 - clean, clean)
    few = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, clean)
    many = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, noisy)
    assert many.n_neighbors_ > max(15, few.n_neighbors_)


def test_tuning_on_distances_cuts_rows_and_columns():
    X, y = make_classification(70, random_state=1)
    one = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, y)
    other = NeighborClassifier(Precomputed(), n_neighbors="tune").fit(Vector().fit(X).distance(), y)
    assert_array_equal(one.cv_results_["error"], other.cv_results_["error"])
    assert one.n_neighbors_ == other.n_neighbors_


def test_a_frozen_measure_is_not_fitted_again_in_the_folds():
    X, y = make_classification(60, random_state=2)
    whole = Gower().fit(X)
    frozen = NeighborClassifier(whole.frozen(), n_neighbors="tune").fit(X, y)
    d = whole.distance()
    by_hand = NeighborClassifier(Precomputed(), n_neighbors="tune").fit(d, y)
    assert_array_equal(frozen.cv_results_["error"], by_hand.cv_results_["error"])
    fresh = NeighborClassifier(Gower(), n_neighbors="tune").fit(X, y)
    assert (fresh.cv_results_["error"] != frozen.cv_results_["error"]).any()


def test_small_tables_try_fewer():
    model = NeighborClassifier(Vector(), n_neighbors="tune").fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert model.cv_results_["n_neighbors"].tolist() == [1, 2]
    with pytest.raises(TooFewRows, match="at least 2 rows, found n_samples=1"):
        NeighborClassifier(Vector(), n_neighbors="tune").fit([[0.0]], [0])


def test_only_tuning_leaves_results():
    X, y = make_classification(60, random_state=0)
    model = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, y)
    assert hasattr(model, "cv_results_")
    model.set_params(n_neighbors=1).fit(X, y)
    assert not hasattr(model, "cv_results_")
    assert (model.n_neighbors_, model.weights_) == (1, "kernel")


def test_weights_are_tuned_for_a_given_k():
    # Near rows are right, and all rows are asked: only weights that fall quickly can know.
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(20, 21, 20)])[:, None]
    y = X[:, 0] > 10
    model = NeighborClassifier(Vector(), n_neighbors=39, weights="tune").fit(X, y)
    assert (model.n_neighbors_, model.weights_) == (39, "distance")
    assert model.cv_results_["weights"].tolist() == ["uniform", "distance", "kernel"]
    assert model.cv_results_["error"][0] > 0.3 > model.cv_results_["error"][1] == 0
    assert model.score(X, y) == 1
    with pytest.raises(TooFewRows, match="folds with at least 45 known rows, found 40"):
        NeighborClassifier(Vector(), n_neighbors=45, weights="tune").fit(X, y)


def test_rows_of_no_weight_do_not_vote_and_do_not_err():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    wrong = rng.random(200) < 0.3
    noisy = np.where(wrong, 1 - y, y)
    plain = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, noisy)
    weighted = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, noisy, ~wrong)
    assert weighted.cv_results_["error"].min() < 0.1 < plain.cv_results_["error"].min()
    assert weighted.score(None, y) > plain.score(None, y)
    twice = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, noisy, np.full(200, 2.0))
    assert_array_equal(twice.cv_results_["error"], plain.cv_results_["error"])


def test_votes_count_by_their_weight():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    plain = NeighborClassifier(Vector(), n_neighbors=3, weights="uniform").fit(X, y)
    heavy = NeighborClassifier(Vector(), n_neighbors=3, weights="uniform").fit(
        X, y, [3.0, 1.0, 1.0]
    )
    assert plain.predict([[2.0]]) == ["b"]
    assert heavy.predict([[2.0]]) == ["a"]
    assert_allclose(heavy.predict_proba([[2.0]]), [[0.6, 0.4]])
    silent = NeighborClassifier(Vector(), n_neighbors=2).fit(X, y, [1.0, 0.0, 0.0])
    assert silent.predict([[2.0]]) == ["b"]  # neither neighbor has a vote: they count alike
    mean = NeighborRegressor(Vector(), n_neighbors=3, weights="uniform").fit(
        X, [0.0, 10.0, 20.0], [1.0, 1.0, 2.0]
    )
    assert_allclose(mean.predict([[0.0]]), [12.5])
    with pytest.raises(InvalidInput, match=r"a sample_weight of shape \(3,\)"):
        plain.fit(X, y, [1.0])


def test_more_rows_try_more_neighbors():
    assert candidate_k(150, 120)[-1] == 50
    assert candidate_k(2_500, 2_000)[-1] == 100
    assert candidate_k(10**6, 8 * 10**5)[-1] == 200
    assert candidate_k(3, 2) == [1, 2]
