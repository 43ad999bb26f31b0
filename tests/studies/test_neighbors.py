"""The study of neighbor predictors: its candidates are the library's own, its scores exact."""

import warnings

import numpy as np
import pytest

from lookalike.measures import Gower
from lookalike.prediction import NeighborClassifier, NeighborRegressor
from lookalike.table import read_table
from studies import neighbors
from studies.neighbors import Problem


def problem(numbers):
    rng = np.random.default_rng(0)
    size = rng.exponential(size=90)
    table = read_table({"size": size, "color": rng.choice(["red", "blue"], 90)})
    y = size + rng.normal(scale=0.3, size=90)
    return Problem("made", table, y if numbers else (y > 1).astype(np.int64))


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("learned", [False, True])
def test_candidates_predict_as_the_estimators_do(numbers, learned):
    one = problem(numbers)
    known, held = np.arange(70), np.arange(70, 90)
    measure = Gower(scale="rank", missing="midpoint", weights="relieff" if learned else None)
    found = neighbors.predict(one, measure, known, held)
    cls = NeighborRegressor if numbers else NeighborClassifier
    for name, params in {
        "5/uniform": {"n_neighbors": 5, "weights": "uniform"},
        "10/kernel": {},
        "20/distance": {"n_neighbors": 20, "weights": "distance"},
        "tune/kernel": {"n_neighbors": "tune"},
        "tune/tune": {"n_neighbors": "tune", "weights": "tune", "random_state": 0},
    }.items():
        if name == "tune/kernel":
            params = params | {"random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = cls(measure, **params).fit(one.table[known], one.y[known])
        np.testing.assert_allclose(found[name], model.predict(one.table[held]), err_msg=name)


def test_scores_are_the_accuracy_and_r2_of_at_least_zero():
    assert neighbors.score(np.array([1, 0, 1, 1]), np.array([1, 1, 1, 1])) == 0.75
    y = np.array([0.0, 1.0, 2.0])
    assert neighbors.score(np.array([0.0, 1.0, 1.0]), y) == 0.5  # 1 of 2 squares is left
    assert neighbors.score(np.array([9.0, 9.0, 9.0]), y) == 0.0


def test_the_choice_is_what_the_estimators_do():
    model = NeighborClassifier().fit(problem(False).table, problem(False).y)
    assert neighbors.CHOSEN == f"default/{model.n_neighbors_}/{model.weights_}"
