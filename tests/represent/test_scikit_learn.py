"""Every representation passes scikit-learn's own checks and works in its machinery."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.measures import Gower, Precomputed, Ranked, Vector
from lookalike.represent import (
    LayeredRepresentation,
    NystroemRepresentation,
    SimilarityRepresentation,
)

ESTIMATORS = [
    SimilarityRepresentation(n_prototypes=0.3),
    SimilarityRepresentation(Vector(), "farthest", 0.3),
    SimilarityRepresentation(prototypes="cfs"),
    SimilarityRepresentation(prototypes="random", n_prototypes=0.3, random_state=0),
    LayeredRepresentation(n_layers=2, n_prototypes=0.3),
    NystroemRepresentation(Gower(), n_prototypes=0.3),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
