"""What a space of rows is worth: whether neighbors agree with labels, and how rows spread.

The functions take a *space*: a fitted measure, a ``NeighborGraph`` or a matrix of distances.
"""

from lookalike.evaluate.agreement import (
    McNemar,
    goodman_kruskal,
    label_agreement,
    loo_accuracy,
    loo_predict,
    mcnemar,
    retrieval_accuracy,
)
from lookalike.evaluate.dimension import DistanceContrast, distance_contrast, intrinsic_dimension
from lookalike.evaluate.map_quality import continuity, spread, trustworthiness

__all__ = [
    "DistanceContrast",
    "McNemar",
    "continuity",
    "distance_contrast",
    "goodman_kruskal",
    "intrinsic_dimension",
    "label_agreement",
    "loo_accuracy",
    "loo_predict",
    "mcnemar",
    "retrieval_accuracy",
    "spread",
    "trustworthiness",
]
