"""Choosing k: against trying every k on every fold by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.evaluate.folds import assign_folds
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.prediction import NeighborClassifier, NeighborRegressor
from lookalike.prediction.neighbors import candidate_k
from prediction import reference

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
