"""The tasks, with whichever version of the library is imported; writes what each row lost as JSON.

Run by ``python -m benchmarks.quality``, once per version. Options that an earlier version does not
have are left out there, so that each version does what its documentation recommends.
"""

import inspect
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.quality.tables import labelled_tables
from lookalike.clustering import SimilarityClustering
from lookalike.measures import choose_measure
from lookalike.prediction import (
    NeighborClassifier,
    NeighborRegressor,
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
)
from lookalike.represent import SimilarityRepresentation
from lookalike.table import read_table

TREES, FOLDS = 30, 5


def knows_weights() -> bool:
    """Whether neighbors tune their weights in this version."""
    return "kernel" in inspect.getdoc(NeighborClassifier)


def predictors(table, classes: bool) -> dict:
    """Return name -> model; ``auto`` is the measure that the library chooses for the table."""
    neighbors = NeighborClassifier if classes else NeighborRegressor
    forest = RandomSimilarityForestClassifier if classes else RandomSimilarityForestRegressor
    line = LogisticRegression(max_iter=2000) if classes else RidgeCV(np.logspace(-3, 3, 13))
    tuned = {"n_neighbors": "tune"} | ({"weights": "tune"} if knows_weights() else {})
    return {
        "kNN": neighbors(),
        "kNN tuned": neighbors(**tuned),
        "kNN tuned, auto": neighbors(choose_measure(table)[0], **tuned),
        "forest": forest(TREES, random_state=0),
        "representation": make_pipeline(
            SimilarityRepresentation(n_prototypes=0.1, random_state=0), StandardScaler(), line
        ),
    }


def losses(model, table, target, classes: bool) -> list[float]:
    """Return what each row lost in cross-validation: a wrong class, or a squared error."""
    make = StratifiedKFold if classes else KFold
    predicted = np.empty(len(target), dtype=target.dtype)
    for known, held in make(FOLDS, shuffle=True, random_state=0).split(target, target):
        predicted[held] = clone(model).fit(table[known], target[known]).predict(table[held])
    if classes:
        return (predicted != target).astype(float).tolist()
    return (np.square(predicted - target) / np.var(target)).tolist()


def disagreement(model, table, target) -> float:
    """Return 1 minus the adjusted Rand index of the clusters and the classes."""
    return 1 - adjusted_rand_score(target, model.fit(table).labels_)


def with_folds(table, target):
    """Return the rows whose class has five rows or more, one for each fold."""
    _, codes, counts = np.unique(target, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(counts[codes] >= 5)
    return table[kept], target[kept]


def run(data: Path, names: list[str]) -> list[dict]:
    rows = []
    for one in labelled_tables(data):
        if names and one.name not in names:
            continue
        table = read_table(one.frame.drop(columns=one.target))
        target = one.frame[one.target].to_numpy()
        target = target.astype(str) if one.classes else target.astype(float)
        if one.classes:
            table, target = with_folds(table, target)
        for task, model in predictors(table, one.classes).items():
            rows.append(timed(one.name, task, losses, model, table, target, one.classes))
        if one.classes:
            k = len(np.unique(target))
            for task, measure in (("clusters", None), ("clusters, auto", choose_measure(table)[0])):
                model = SimilarityClustering(measure, k, random_state=0)
                rows.append(timed(one.name, task, disagreement, model, table, target))
    return rows


def timed(name, task, work, *details) -> dict:
    began = time.perf_counter()
    try:
        lost, error = work(*details), None
    except Exception as trouble:  # a task that a version cannot do is a row of the answer
        lost, error = None, f"{type(trouble).__name__}: {trouble}"
    seconds = time.perf_counter() - began
    print(f"{name}: {task} ({seconds:.1f} s) {error or ''}", file=sys.stderr)
    return {"table": name, "task": task, "lost": lost, "error": error, "seconds": seconds}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(run(Path(sys.argv[1]), sys.argv[2:])))
