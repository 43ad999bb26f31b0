"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.predict.neighbors import NeighborClassifier, NeighborRegressor
from lookalike.predict.network import SimilarityNetworkClassifier, SimilarityNetworkRegressor
from lookalike.predict.similarity_forest import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.predict.similarity_isolation import RandomSimilarityIsolationForest
from lookalike.predict.similarity_whole import SimilarityForestClassifier
from lookalike.predict.validation import CrossValidation, cross_validate

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
