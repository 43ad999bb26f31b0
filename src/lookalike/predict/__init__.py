"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.predict.neighbors import NeighborClassifier, NeighborRegressor
from lookalike.predict.network import SimilarityNetworkClassifier, SimilarityNetworkRegressor

__all__ = [
    "NeighborClassifier",
    "NeighborRegressor",
    "SimilarityNetworkClassifier",
    "SimilarityNetworkRegressor",
]
