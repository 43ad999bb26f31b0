"""Growing trees, and the one flat array form they share."""

from lookalike.forests.flat import Forest, flatten
from lookalike.forests.growers import (
    CellSimilarityForest,
    ExtraForest,
    IsolatingForest,
    SyntheticForest,
)

__all__ = [
    "CellSimilarityForest",
    "ExtraForest",
    "Forest",
    "IsolatingForest",
    "SyntheticForest",
    "flatten",
]
