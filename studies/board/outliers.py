"""Outliers on labelled sets: the default beside detectors of PyOD."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.prediction import find_outliers
from lookalike.table import read_table
from studies.board.contest import Contender, Contest
from studies.board.split import Entry
from studies.outliers import FOLDER, area, sample_labelled
from studies.recipes import MissingSet

Rows = tuple[np.ndarray, np.ndarray]
DETECTORS = {
    "PyOD isolation forest": ("iforest", "IForest"),
    "PyOD kNN": ("knn", "KNN"),
    "PyOD LOF": ("lof", "LOF"),
    "PyOD ECOD": ("ecod", "ECOD"),
}


def prepare(entry: Entry, data: Path, most: int) -> Rows:
    """Return the rows of a set and which are outliers, these in proportion."""
    file = data / FOLDER / f"{entry.name}.npz"
    if not file.exists():
        raise MissingSet(entry.name, f"no folder {FOLDER!r} in the data folder")
    with np.load(file, allow_pickle=False) as read:
        rows, outlier = read["X"].astype(float), read["y"].astype(int)
    keep = sample_labelled(outlier, most)
    return rows[keep], outlier[keep]


def ours(problem: Rows) -> float:
    """Return the area under the curve of the default."""
    rows, outlier = problem
    return area(outlier, find_outliers(read_table(rows), random_state=0).scores)


def rival(module: str, name: str, problem: Rows) -> float:
    """Return the area under the curve of a detector on z-scores."""
    from sklearn.preprocessing import StandardScaler

    rows, outlier = problem
    detector: Any = getattr(import_module(f"pyod.models.{module}"), name)
    model = detector(random_state=0) if name == "IForest" else detector()
    return area(outlier, model.fit(StandardScaler().fit_transform(rows)).decision_scores_)


CONTEST = Contest(
    "outliers",
    "Outliers",
    "Area under the ROC curve on sets of ADBench, outliers kept in proportion. The detectors of "
    "PyOD have their defaults, on z-scores.",
    "outliers",
    prepare,
    {"find_outliers": Contender(ours, ours=True)}
    | {n: Contender(partial(rival, *where), needs="pyod") for n, where in DETECTORS.items()},
    quick=10,
)
