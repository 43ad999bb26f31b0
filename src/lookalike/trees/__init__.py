"""Growing trees, and the one flat array form they share."""

from lookalike.trees.growers import (
    CellSimilarityForest,
    ExtraForest,
    IsolatingForest,
    SyntheticForest,
)
from lookalike.trees.thresholds.flat import Forest, flatten

__all__ = [
    "CellSimilarityForest",
    "ExtraForest",
    "Forest",
    "IsolatingForest",
    "SyntheticForest",
    "flatten",
]
