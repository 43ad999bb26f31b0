"""Local and global scaling of thirty data sets: those of them that can be had.

Schnitzer, Flexer, Schedl, Widmer (2012). Local and Global Scaling Reduce Hubs in Space. Journal of
Machine Learning Research 13, 2871-2902, Tables 1 and 2. C1 and C5 are leave-one-out accuracies of
the nearest neighbor and of five in percent, S5 is the skewness of the 5-occurrence. The paper does
not say which neighborhood NICDM has; here it is 10.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TITLE = "Scaling against hubs: ours (theirs), Schnitzer et al. 2012, Tables 1 and 2"
SPACES = ("original", "NICDM", "MP")
FIGURES = ("C1", "C5", "S5")


@dataclass(frozen=True)
class Set:
    """One data set and its printed rows: (C1, C5, S5) of the original distances, NICDM and MP."""

    file: str
    printed: tuple[tuple[float, float, float], ...]
    scaled: bool = False
    metric: str = "euclidean"


SETS = {
    "fourclass": Set("fourclass.parquet", ((100, 100, 0.15), (100, 100, 0.06), (100, 100, 0.04))),
    "arcene": Set("arcene.npz", ((82.0, 75.0, 0.25), (81.0, 77.0, -0.27), (80.0, 81.0, 0.15))),
    "liver-disorders": Set(
        "liver_disorders.parquet",
        ((62.6, 60.6, 0.39), (63.2, 65.8, -0.04), (62.9, 65.5, -0.03)),
        scaled=True,
    ),
    "australian": Set(
        "australian.parquet", ((65.5, 68.8, 0.44), (65.7, 69.4, -0.09), (65.4, 68.4, 0.08))
    ),
    "diabetes": Set(
        "pima.parquet", ((70.6, 74.1, 0.49), (69.8, 74.1, 0.04), (70.3, 73.2, -0.02)), scaled=True
    ),
    "heart": Set(
        "heart_statlog.parquet",
        ((75.6, 80.0, 0.50), (75.9, 79.3, -0.00), (75.6, 80.4, 0.08)),
        scaled=True,
    ),
    "breast-cancer": Set(
        "breast_cancer_libsvm.parquet",
        ((95.6, 97.4, 0.71), (95.8, 97.1, 0.19), (96.0, 97.1, 0.22)),
        scaled=True,
    ),
    "mfeat-factors": Set(
        "mfeat_factors.parquet", ((95.0, 94.7, 0.79), (94.8, 94.7, 0.15), (94.5, 94.9, 0.01))
    ),
    "colon-cancer": Set(
        "colon_cancer.npz", ((72.6, 77.4, 0.81), (69.4, 82.3, 0.08), (67.7, 82.3, -0.11))
    ),
    "german": Set(
        "german_numer.parquet",
        ((67.5, 71.7, 0.81), (66.8, 72.0, 0.32), (67.6, 71.4, 0.11)),
        scaled=True,
    ),
    "amlall": Set("amlall.npz", ((91.7, 93.1, 0.83), (93.1, 97.2, 0.56), (88.9, 91.7, -0.01))),
    "mfeat-karhunen": Set(
        "mfeat_karhunen.parquet", ((97.4, 97.4, 0.84), (97.2, 97.6, 0.27), (97.0, 97.5, 0.08))
    ),
    "mfeat-pixels": Set(
        "mfeat_pixels.parquet", ((97.6, 97.7, 1.25), (97.2, 97.8, 0.28), (97.2, 97.5, 0.13))
    ),
    "sonar": Set(
        "sonar.parquet", ((87.5, 82.2, 1.54), (87.0, 87.0, 0.47), (87.5, 84.1, 0.32)), scaled=True
    ),
    "ionosphere": Set(
        "ionosphere.parquet",
        ((86.9, 85.5, 1.55), (92.3, 94.3, 0.28), (91.7, 89.7, 0.50)),
        scaled=True,
    ),
    "dexter": Set(
        "dexter.npz",
        ((80.3, 80.3, 4.22), (84.3, 86.0, 2.02), (83.0, 90.0, 0.58)),
        metric="cosine",
    ),
    "splice": Set(
        "splice_scale.parquet", ((69.6, 69.4, 4.55), (73.3, 79.3, 1.51), (72.4, 77.2, 0.48))
    ),
}


def load(data: Path, one: Set) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows, scaled as the paper did, and their labels."""
    path = data / one.file
    if path.suffix == ".npz":
        y = np.load(path)["y"]
        if one.metric == "cosine":
            from scipy.sparse import load_npz

            return load_npz(path).toarray().astype(float), y
        return np.load(path)["X"].astype(float), y
    from pyarrow.parquet import read_table

    table = read_table(path)
    columns = [name for name in table.column_names if name != "target"]
    x = np.column_stack([np.asarray(table[name].to_pylist(), dtype=float) for name in columns])
    if one.scaled:
        low, span = x.min(axis=0), np.ptp(x, axis=0)
        x = 2 * (x - low) / np.where(span > 0, span, 1) - 1
    return x, np.asarray(table["target"].to_pylist())


def measured(x: np.ndarray, y: np.ndarray, metric: str) -> list[tuple[float, float, float]]:
    """Return (C1, C5, S5) of the original distances, NICDM and empirical mutual proximity."""
    from lookalike.errors import LookalikeWarning
    from lookalike.evaluate import loo_accuracy
    from lookalike.hubness import NICDM, MutualProximity, k_occurrence, skewness
    from lookalike.measures import Vector

    found = []
    counted = MutualProximity(Vector(metric), "empirical")
    for space in (Vector(metric), NICDM(Vector(metric)), counted):
        with warnings.catch_warnings():  # about half of the distances in fourclass are tied
            warnings.simplefilter("ignore", LookalikeWarning)
            lists = space.fit(x).neighbors(k=5)
        accuracy = [100 * loo_accuracy(lists, y, k) for k in (1, 5)]
        found.append((*accuracy, skewness(k_occurrence(lists, 5))))
    return found


def run(data: Path) -> list[dict]:
    rows = []
    for name, one in SETS.items():
        x, y = load(data, one)
        row: dict = {"set": name, "n": len(x)}
        for space, ours, theirs in zip(
            SPACES, measured(x, y, one.metric), one.printed, strict=True
        ):
            for figure, digits, mine, printed in zip(FIGURES, (1, 1, 2), ours, theirs, strict=True):
                row[f"{space} {figure}"] = f"{mine:.{digits}f} ({printed:.{digits}f})"
        rows.append(row)
    return rows
