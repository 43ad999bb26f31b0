"""What all predictors share: named targets, names of columns, random states, saved targets."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.prediction import (
    NeighborClassifier,
    NeighborRegressor,
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
    RandomSimilarityIsolationForest,
    SimilarityForestClassifier,
    SimilarityNetworkClassifier,
    SimilarityNetworkRegressor,
)

PREDICTORS = [
    NeighborClassifier(n_neighbors=3),
    NeighborRegressor(n_neighbors=3),
    SimilarityNetworkClassifier(n_prototypes=5, p=0.5),
    SimilarityNetworkRegressor(n_prototypes=5, p=0.5),
    RandomSimilarityForestClassifier(n_estimators=5),
    RandomSimilarityForestRegressor(n_estimators=5),
    SimilarityForestClassifier(Gower(), 5),
]
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.random(60), "b": RNG.choice(["u", "v"], 60)})
CODES = np.where(FRAME["a"] > 0.5, 7, 3)


@pytest.fixture(params=PREDICTORS, ids=lambda e: type(e).__name__)
def model(request):
    return clone(request.param)


def target_of(model):
    return CODES if is_classifier(model) else FRAME["a"].to_numpy() * 2


def test_a_named_target_is_scored_as_it_was_read(model):
    y = target_of(model)
    named = model.set_params(random_state=0).fit(FRAME.assign(y=y), "y")
    score = named.score(FRAME.assign(y=y), "y")
    assert score == named.score(FRAME, y) == clone(model).fit(FRAME, y).score(FRAME, y) > 0.3


@pytest.mark.parametrize(
    "model", [e for e in PREDICTORS if is_classifier(e)], ids=lambda e: type(e).__name__
)
def test_classes_that_look_like_numbers_are_scored_in_the_kind_they_were_fitted_in(model):
    # Read again by themselves the codes would be numbers; fitted, they were categories.
    table = la.read_table(FRAME.assign(y=CODES), kinds={"y": "category"})
    named = clone(model).set_params(random_state=0).fit(table, "y")
    assert named.score(FRAME.assign(y=CODES), "y") == named.score(table, "y") > 0.7


def test_a_name_is_not_looked_up_before_fitting(model):
    with pytest.raises(NotFittedError):
        model.score(FRAME.assign(y=target_of(model)), "y")


def test_names_of_columns_go_when_fitted_without_names(model):
    y = target_of(model)
    assert model.fit(FRAME, y).feature_names_in_.tolist() == ["a", "b"]
    model.fit(FRAME[["a"]].to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


def test_random_states_of_every_kind(model):
    y = target_of(model)

    def predicted(random_state):
        return clone(model).set_params(random_state=random_state).fit(FRAME, y).predict(FRAME)

    assert_array_equal(predicted(np.random.default_rng(3)), predicted(3))
    one, two = (predicted(np.random.RandomState(3)) for _ in range(2))
    assert_array_equal(one, two)
    assert len(predicted(None)) == len(y)
    with pytest.raises(InvalidInput, match="random_state"):
        predicted(-1)


def test_random_states_of_the_isolation_forest():
    def scores(random_state):
        return (
            RandomSimilarityIsolationForest(5, random_state=random_state)
            .fit(FRAME)
            .score_samples(FRAME)
        )

    assert_array_equal(scores(np.random.default_rng(3)), scores(3))
    one, two = (scores(np.random.RandomState(3)) for _ in range(2))
    assert_array_equal(one, two)
