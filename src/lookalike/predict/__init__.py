"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.predict.isolation_forest import RandomSimilarityIsolationForest
from lookalike.predict.neighbors import NeighborClassifier, NeighborRegressor
from lookalike.predict.outliers import Outliers, UnusualCell, find_outliers
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
    "Outliers",
    "RandomSimilarityForestClassifier",
    "RandomSimilarityForestRegressor",
    "RandomSimilarityIsolationForest",
    "SimilarityForestClassifier",
    "SimilarityNetworkClassifier",
    "SimilarityNetworkRegressor",
    "UnusualCell",
    "cross_validate",
    "find_outliers",
]
