"""The three spaces of the paper: original distances, scaled locally, scaled globally."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.hubness import NICDM, MutualProximity
from lookalike.measures import Measure, Precomputed, Vector

# The paper does not print it; with 10 its figures for NICDM come out (see the table).
NEIGHBORHOOD = 10
SAME = 1e-6


def distances_of(rows: Any, metric: str) -> np.ndarray:
    """Return the distances of all pairs, which every space is made from.

    Texts come as a sparse matrix of ten thousand words, which ``Vector`` would fill with zeros:
    their distances are scikit-learn's.
    """
    if not hasattr(rows, "tocsr"):
        found: np.ndarray = Vector(metric).fit(rows).distance()
        return found
    from sklearn.metrics import pairwise_distances

    found = pairwise_distances(rows, metric=metric)
    found = np.maximum(found, found.T)
    found[found < SAME] = 0.0  # a text twice: what is left is round-off
    np.fill_diagonal(found, 0.0)
    return found


def scaled(distances: np.ndarray) -> dict[str, Measure]:
    """Return the fitted spaces by name."""
    spaces: dict[str, Measure] = {
        "original": Precomputed(),
        "NICDM": NICDM(Precomputed(), NEIGHBORHOOD),
        "MP": MutualProximity(Precomputed(), "empirical"),
    }
    with warnings.catch_warnings():  # about half of the distances in fourclass are tied
        warnings.simplefilter("ignore", LookalikeWarning)
        return {name: space.fit(distances) for name, space in spaces.items()}
