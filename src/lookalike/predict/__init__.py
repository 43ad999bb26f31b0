"""Predicting from rows that are alike, in scikit-learn's shape."""

from lookalike.predict.neighbors import NeighborClassifier, NeighborRegressor

__all__ = ["NeighborClassifier", "NeighborRegressor"]
