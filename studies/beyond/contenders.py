"""The combined measures of the five papers, the hubness reducers and the tasks."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics import adjusted_rand_score

from lookalike.clustering import SimilarityClustering
from lookalike.evaluate import loo_accuracy
from lookalike.hubness import CSLS, NICDM, LocalScaling, MutualProximity, SharedNeighbors
from lookalike.measures import (
    ForestProximity,
    Gower,
    Measure,
    Precomputed,
    StochasticForest,
    Vector,
)
from studies.beyond.sets import Prepared

K = 5  # neighbors that vote
LISTED = 20  # places of a list that is read
TASKS = ("neighbors", "retrieval", "medoids", "spectral")
SPECTRAL = ("none", "NICDM", "MP", "MP Gauss")  # reducers that give similarities to cut

# undefined=0.0: two rows with no comparable column are far apart, instead of an error that
# would drop the whole table.
MEASURES: dict[str, Callable[[int], Measure]] = {
    "Euclidean": lambda seed: Vector(scale="standard"),
    "cosine": lambda seed: Vector("cosine", scale="standard"),
    "Gower": lambda seed: Gower(undefined=0.0),
    "Gower on ranks": lambda seed: Gower(scale="rank", undefined=0.0),
    "SimUSF": lambda seed: StochasticForest(on_fail="relax", random_state=seed),
    "Shi": lambda seed: ForestProximity("shi", random_state=seed),
    "Aryal": lambda seed: ForestProximity("aryal", random_state=seed),
    "RatioRF": lambda seed: ForestProximity("ratio", random_state=seed, undefined=0.0),
    "RatioRF on cells": lambda seed: ForestProximity(
        "ratio", "similarity", random_state=seed, undefined=0.0
    ),
}
# On numbers without missing "Gower on ranks" is ranked cityblock, divided by a constant.
# Which tables a measure can be put to; the others are for numbers without missing.
MIXED = ("Gower", "Gower on ranks", "Shi", "RatioRF", "RatioRF on cells")
EVERYWHERE = ("Gower", "Gower on ranks", "RatioRF on cells")

REDUCERS: dict[str, Callable[[Measure], Measure]] = {
    "none": lambda measure: measure,
    "NICDM": NICDM,
    "local scaling": LocalScaling,
    "MP": lambda measure: MutualProximity(measure, "empirical"),
    "MP Gauss": lambda measure: MutualProximity(measure, "gauss_independent"),
    "SNN": SharedNeighbors,
    "CSLS": CSLS,
}


def applies(measure: str, sort: str) -> bool:
    """Whether a measure can be put to a sort of table."""
    if sort == "numbers":
        return True
    return measure in (MIXED if sort == "mixed" else EVERYWHERE)


def distances_of(prepared: Prepared, measure: str, seed: int) -> np.ndarray:
    """Return all distances under a measure, symmetric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of few values cannot be halved exactly
        d = MEASURES[measure](seed).fit(prepared.table).distance()
    # Reducers around ``Precomputed`` and clusterings need a symmetric matrix with a zero diagonal.
    d = (d + d.T) / 2
    np.fill_diagonal(d, 0.0)
    return np.asarray(d)


def score_all(d: np.ndarray, y: np.ndarray, seed: int = 0) -> dict[str, dict[str, float]]:
    """Return the scores of each reducer on each task: reducer -> task -> score."""
    return {name: score_one(name, d, y, seed) for name in REDUCERS}


def score_one(reducer: str, d: np.ndarray, y: np.ndarray, seed: int = 0) -> dict[str, float]:
    """Return the scores of one reducer: the share of rows right, of lists right, adjusted Rand."""
    make = REDUCERS[reducer]
    many = len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many ties, few rows
        fitted = make(Precomputed()).fit(d)
        found = {
            "neighbors": loo_accuracy(fitted, y, K),
            "retrieval": precision(fitted, y),
        }
        for method in ("medoids", "spectral") if reducer in SPECTRAL else ("medoids",):
            model = SimilarityClustering(
                make(Precomputed()), many, method=method, random_state=seed
            )
            found[method] = adjusted_rand_score(y, model.fit(d).labels_)
    return found


def precision(fitted: Measure, y: np.ndarray) -> float:
    """Return the share of the first 20 of each row's list that have its class."""
    many = min(LISTED, len(y) - 1)
    near = fitted.kneighbors(n_neighbors=many, return_distance=False)
    return float((y[near] == y[:, None]).mean())
