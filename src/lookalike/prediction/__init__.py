"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.prediction.imputation import FilledColumn, NeighborImputer
from lookalike.prediction.isolation_forest import RandomSimilarityIsolationForest
from lookalike.prediction.neighbors import NeighborClassifier, NeighborRegressor
from lookalike.prediction.outliers import Outliers, UnusualCell, find_outliers
from lookalike.prediction.proximities import (
    Prototype,
    class_prototypes,
    impute_by_proximity,
    proximity_outliers,
)
from lookalike.prediction.random_similarity_forest import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.prediction.similarity_network import (
    SimilarityNetworkClassifier,
    SimilarityNetworkRegressor,
)
from lookalike.prediction.validation import CrossValidation, cross_validate
from lookalike.prediction.whole_row_forest import SimilarityForestClassifier

__all__ = [
    "CrossValidation",
    "FilledColumn",
    "NeighborClassifier",
    "NeighborImputer",
    "NeighborRegressor",
    "Outliers",
    "Prototype",
    "RandomSimilarityForestClassifier",
    "RandomSimilarityForestRegressor",
    "RandomSimilarityIsolationForest",
    "SimilarityForestClassifier",
    "SimilarityNetworkClassifier",
    "SimilarityNetworkRegressor",
    "UnusualCell",
    "class_prototypes",
    "cross_validate",
    "find_outliers",
    "impute_by_proximity",
    "proximity_outliers",
]
