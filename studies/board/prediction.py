"""Prediction on mixed tables with missing cells: three folds, every learner at its defaults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lookalike._runtime.folds import assign_folds
from lookalike.prediction import (
    NeighborClassifier,
    NeighborRegressor,
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.represent import SimilarityRepresentation
from studies.board.cells import Problem, encoder, prepare_problem
from studies.board.contest import Contender, Contest
from studies.neighbors import score

FOLDS = 3
Make = Callable[[Problem, bool], Any]  # the problem, and whether its target is a class


def cross_validate(make: Make, on_table: bool, problem: Problem) -> float:
    """Return the accuracy, or R2 of at least 0, of rows predicted by the other folds."""
    classes = problem.y.dtype.kind != "f"
    folds = assign_folds(problem.y if classes else None, len(problem.y), FOLDS, 0, "studies")
    answers = np.empty(len(problem.y))
    for fold in range(FOLDS):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = make(problem, classes)
        if on_table:
            model.fit(problem.table[known], problem.y[known])
            answers[held] = model.predict(problem.table[held])
        else:
            model.fit(problem.frame.iloc[known], problem.y[known])
            answers[held] = model.predict(problem.frame.iloc[held])
    return score(answers, problem.y)


# -- ours ------------------------------------------------------------------------------------------


def similarity_forest(problem: Problem, classes: bool) -> Any:
    """Return the random similarity forest."""
    model = RandomSimilarityForestClassifier if classes else RandomSimilarityForestRegressor
    return model(random_state=0)


def neighbors(problem: Problem, classes: bool) -> Any:
    """Return the neighbor predictor."""
    return NeighborClassifier() if classes else NeighborRegressor()


def representation(problem: Problem, classes: bool) -> Any:
    """Return similarities to a tenth of the rows, and a linear model of these."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    columns = SimilarityRepresentation(n_prototypes=0.1, random_state=0)
    return make_pipeline(columns, StandardScaler(), line(classes))


# -- rivals ----------------------------------------------------------------------------------------


def line(classes: bool) -> Any:
    """Return logistic regression, or ridge regression with a penalty by cross-validation."""
    from sklearn.linear_model import LogisticRegression, RidgeCV

    return LogisticRegression(max_iter=2000) if classes else RidgeCV(np.logspace(-3, 3, 13))


def encoded(name: str, problem: Problem, classes: bool) -> Any:
    """Return a learner of scikit-learn behind the usual preparation of mixed columns."""
    from sklearn import ensemble, neighbors
    from sklearn.pipeline import make_pipeline

    found = f"{name}{'Classifier' if classes else 'Regressor'}"
    if name == "line":
        model = line(classes)
    elif name == "KNeighbors":
        model = getattr(neighbors, found)()
    else:
        model = getattr(ensemble, found)(random_state=0)
    return make_pipeline(encoder(problem), model)


def boosting(problem: Problem, classes: bool) -> Any:
    """Return gradient boosting on histograms, with categories and missing cells as they are."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
        max_categories=250,  # its limit is 255
    )
    columns = ColumnTransformer(
        [("words", codes, problem.words), ("numbers", "passthrough", problem.numbers)]
    )
    model = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return make_pipeline(
        columns, model(categorical_features=range(len(problem.words)), random_state=0)
    )


RIVALS: dict[str, Make] = {
    "HistGradientBoosting": boosting,
    "RandomForest, one-hot": partial(encoded, "RandomForest"),
    "ExtraTrees, one-hot": partial(encoded, "ExtraTrees"),
    "KNeighbors, one-hot": partial(encoded, "KNeighbors"),
    "logistic or ridge, one-hot": partial(encoded, "line"),
}
OURS: dict[str, Make] = {
    "RandomSimilarityForest": similarity_forest,
    "NeighborClassifier or Regressor": neighbors,
    "representation + linear": representation,
}
CONTEST = Contest(
    "prediction",
    "Prediction",
    "Accuracy of classes, or R2 of numbers (at least 0), by three folds, all learners at their "
    "defaults. One-hot: levels as columns, medians and indicators where numbers are missing, "
    "z-scores. TabPFN and TabICL are not here: their weights are not in their packages but are "
    "downloaded at the first fit.",
    "mixed",
    prepare_problem,
    {n: Contender(partial(cross_validate, make, True), ours=True) for n, make in OURS.items()}
    | {n: Contender(partial(cross_validate, make, False)) for n, make in RIVALS.items()},
    quick=15,
)
