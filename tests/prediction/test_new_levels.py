"""Estimators take a level that only new rows have as missing, where the order was guessed."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score

from lookalike.clustering import MixedKMeans
from lookalike.errors import InvalidInput, LookalikeWarning
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
from lookalike.represent import (
    LayeredRepresentation,
    NystroemRepresentation,
    SimilarityRepresentation,
)

SIZES = ["small", "medium", "large"]
X = pd.DataFrame({"size": SIZES * 20, "mass": np.random.default_rng(0).normal(size=60)})
NEW = pd.DataFrame({"size": ["huge", "small"], "mass": [0.1, 0.2]})
UNPLACED = NEW.assign(size=[None, "small"])
CLASSES = np.arange(60) % 2
FEW = {"n_estimators": 10, "random_state": 0}

ESTIMATORS = [
    NeighborClassifier(),
    NeighborRegressor(),
    RandomSimilarityForestClassifier(**FEW),
    RandomSimilarityForestRegressor(**FEW),
    RandomSimilarityIsolationForest(**FEW),
    SimilarityForestClassifier(measure=Gower(), **FEW),
    SimilarityNetworkClassifier(),
    SimilarityNetworkRegressor(),
    MixedKMeans(2, random_state=0),
    SimilarityRepresentation(),
    NystroemRepresentation(random_state=0),
    LayeredRepresentation(random_state=0),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_predict_takes_it_as_missing(model):
    model.fit(X, CLASSES)
    answer = model.predict if hasattr(model, "predict") else model.transform
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LookalikeWarning)
        found = answer(NEW)
    (text,) = [str(one.message) for one in caught if one.category is LookalikeWarning]
    assert "'huge' in 'size'" in text
    np.testing.assert_array_equal(found, answer(UNPLACED))


def test_a_declared_level_is_an_error():
    model = NeighborClassifier(Gower(kinds={"size": SIZES})).fit(X, CLASSES)
    with pytest.raises(InvalidInput, match="one of the levels 'small', 'medium', 'large'"):
        model.predict(NEW)


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_a_plain_cross_validation_goes_through():
    rows = X.copy()
    rows.loc[[7, 30], "size"] = ["huge", "tiny"]
    folds = KFold(10, shuffle=True, random_state=0)
    scores = cross_val_score(NeighborClassifier(), rows, CLASSES, cv=folds, error_score="raise")
    assert np.isfinite(scores).all()


def test_a_class_that_only_new_rows_have_is_a_wrong_answer_not_missing():
    model = NeighborClassifier().fit(X, "size")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(NEW.assign(size=["huge", "huge"]), "size") == 0.0
