"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.predict.isolation_forest import RandomSimilarityIsolationForest
from lookalike.predict.neighbors import NeighborClassifier, NeighborRegressor
from lookalike.predict.random_similarity_forest import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.predict.similarity_network import (
    SimilarityNetworkClassifier,
    SimilarityNetworkRegressor,
)
from lookalike.predict.validation import CrossValidation, cross_validate
from lookalike.predict.whole_row_forest import SimilarityForestClassifier

__all__ = [
    "CrossValidation",
    "NeighborClassifier",
    "NeighborRegressor",
    "RandomSimilarityForestClassifier",
    "RandomSimilarityForestRegressor",
    "RandomSimilarityIsolationForest",
    "SimilarityForestClassifier",
    "SimilarityNetworkClassifier",
    "SimilarityNetworkRegressor",
    "cross_validate",
]
