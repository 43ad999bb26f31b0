"""Statistics of a data set in three spaces: original, scaled locally, scaled globally."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.evaluate import goodman_kruskal, intrinsic_dimension, loo_predict, mcnemar
from lookalike.hubness import NICDM, MutualProximity, k_occurrence, skewness, symmetric_share
from lookalike.measures import Measure, Precomputed, Vector
from lookalike.neighbors import NeighborGraph
from lookalike.table import Table
from studies.hubs.sets import SOURCES, as_vectors, load_set

# The paper does not print it; 10 reproduces its values for NICDM (see the table).
NEIGHBORHOOD = 10
# Cosine distances of equal texts are not exactly 0 in scikit-learn.
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
    # Rounding may differ between (i, j) and (j, i); mutual proximity needs symmetry.
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


# The paper reports mutual neighbors in lists of 5 and of a tenth of the rows.
TENTH = 0.1


def look_at(data: Path, name: str) -> dict[str, dict[str, float]]:
    """Return the statistics of a data set: for each space, and of the set itself under "set"."""
    rows, y = load_set(data, name)
    distances = distances_of(rows, SOURCES[name].metric)
    found: dict[str, dict[str, float]] = {}
    right: dict[tuple[int, str], np.ndarray] = {}
    # One search serves all list lengths: shorter lists are prefixes of longer ones.
    most = max(5, round(TENTH * len(y)))
    for title, space in scaled(distances).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LookalikeWarning)
            lists = space.neighbors(k=most)
        statistics = {f"S{k}": skewness(k_occurrence(lists, k)) for k in (1, 5)}
        statistics["GK"] = goodman_kruskal(space, y)
        statistics["symmetric 5"] = 100 * symmetric_share(lists, 5)
        statistics["symmetric 10 %"] = 100 * symmetric_share(lists, most)
        statistics["C5 without tied votes"] = 100 * without_tied_votes(lists, y)
        for k in (1, 5):
            now = loo_predict(lists, y, k) == y
            statistics[f"C{k}"] = 100 * float(now.mean())
            # The original space comes first, so its p-value is that of a comparison with itself.
            before = right.setdefault((k, "original"), now)
            statistics[f"p{k}"] = mcnemar(before, now).pvalue
            right[k, title] = now
            if title == "MP":
                statistics[f"p{k} to NICDM"] = mcnemar(right[k, "NICDM"], now).pvalue
        found[title] = statistics
    size = {"n": len(y), "d": n_columns(rows), "classes": len(np.unique(y))}
    # Texts: their columns are nearly all zeros, so they are not divided by the variance.
    if SOURCES[name].least:
        with warnings.catch_warnings():  # of a bare matrix; it is Euclidean
            warnings.simplefilter("ignore", LookalikeWarning)
            plain = intrinsic_dimension(distances_of(rows, "euclidean"))
        return found | {"set": size | {"dimension": plain}}
    plain = intrinsic_dimension(Vector().fit(rows))
    scaled_columns = {"dimension, variance": _scaled_dimension(rows)}
    return found | {"set": size | {"dimension": plain} | scaled_columns}


def n_columns(rows: Any) -> int:
    """Return the columns of a set: of a matrix, or of a table whose rows are vectors."""
    return len(rows["row"].values[0]) if isinstance(rows, Table) else int(rows.shape[1])


def without_tied_votes(lists: NeighborGraph, y: np.ndarray, k: int = 5) -> float:
    """Return the accuracy when a vote that ends in a tie counts as wrong."""
    near = y[lists.indices[:, :k]]
    votes = (near[:, :, None] == np.unique(y)).sum(axis=1)
    most = votes.max(axis=1)
    # A vote counts only if its largest class is unique; the printed C5 follow this rule.
    alone = (votes == most[:, None]).sum(axis=1) == 1
    return float((alone & (np.unique(y)[votes.argmax(axis=1)] == y)).mean())


def _scaled_dimension(rows: Any) -> float:
    """Return the estimate of the authors' program, which divides columns by their variance."""
    if isinstance(rows, np.ndarray):
        return intrinsic_dimension(Vector().fit(rows), scale="variance")
    x = np.array(rows["row"].values, dtype=np.float64)
    # By the variance, not the standard deviation, as in the authors' program. The constant
    # keeps columns without variance at 0.
    x = (x - x.mean(axis=0)) / (x.var(axis=0) + 1e-7)
    return intrinsic_dimension(Vector().fit(as_vectors(x)))
