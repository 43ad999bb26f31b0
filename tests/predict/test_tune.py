"""Choosing k: against trying every k on every fold by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from lookalike._folds import assign_folds
from lookalike.errors import TooFewRows
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.predict import NeighborClassifier, NeighborRegressor
from predict import reference

# Whole numbers: squares, sums and roots of them compare alike however they are added up.
points = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2)), min_size=2, max_size=24
)


def cityblock(x, y, known):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


@settings(max_examples=40, deadline=None)
@given(points)
def test_classes_are_tuned_as_by_hand(rows):
    X, y = [row[:2] for row in rows], [row[2] for row in rows]
    errors = reference.tune(
        X,
        y,
        assign_folds(np.array(y), len(y), 5, None, "test").tolist(),
        cityblock,
        lambda labels: reference.vote(labels, [1.0] * len(labels)),
        lambda guess, truth: float(guess != truth),
    )
    measure = Vector("cityblock")
    model = NeighborClassifier(measure, n_neighbors="tune").fit(np.array(X, float), y)
    assert_allclose(model.cv_results_["error"], errors)
    assert_array_equal(model.cv_results_["n_neighbors"], np.arange(1, len(errors) + 1))
    fewest_errors = [k for k, e in enumerate(errors, 1) if e <= min(errors) + 1e-12]
    assert model.n_neighbors_ == fewest_errors[0]


@settings(max_examples=40, deadline=None)
@given(points)
def test_amounts_are_tuned_as_by_hand(rows):
    X, y = [row[:2] for row in rows], [float(row[2]) for row in rows]
    errors = reference.tune(
        X,
        y,
        assign_folds(None, len(y), 5, None, "test").tolist(),
        cityblock,
        lambda values: reference.mean(values, [1.0] * len(values)),
        lambda guess, truth: (guess - truth) ** 2,
    )
    measure = Vector("cityblock")
    model = NeighborRegressor(measure, n_neighbors="tune").fit(np.array(X, float), y)
    assert_allclose(model.cv_results_["error"], errors, atol=1e-12)
    assert errors[model.n_neighbors_ - 1] <= min(errors) + 1e-9


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
        lambda labels: reference.vote(labels, [1.0] * len(labels)),
        lambda guess, truth: float(guess != truth),
    )
    model = NeighborClassifier(n_neighbors="tune").fit(np.array(rows), y)
    assert_allclose(model.cv_results_["error"], errors)


def test_one_search_per_fold_serves_every_k():
    searches = []

    class _Counting(Vector):
        def nearest(self, a, b, k, **options):
            searches.append((len(a), k))
            return super().nearest(a, b, k, **options)

    X, y = make_classification(103, random_state=0)
    NeighborClassifier(_Counting(), n_neighbors="tune").fit(X, y)
    assert sorted(searches) == [(20, 15)] * 2 + [(21, 15)] * 3


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
    assert model.cv_results_["fold_errors"].shape == (5, 15)
    assert_allclose(model.cv_results_["fold_errors"].mean(axis=0), model.cv_results_["error"])


def test_noise_asks_for_more_neighbors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    clean = (X[:, 0] > 0).astype(int)
    noisy = np.where(rng.random(300) < 0.3, 1 - clean, clean)
    few = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, clean)
    many = NeighborClassifier(Vector(), n_neighbors="tune").fit(X, noisy)
    assert many.n_neighbors_ > few.n_neighbors_


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
    model = NeighborClassifier(Vector(), n_neighbors=1).fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "cv_results_")
    assert model.n_neighbors_ == 1
