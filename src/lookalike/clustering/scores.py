"""How good a clustering is: against known classes, or by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, Phrase, UndefinedMeasure
from lookalike.saving.fields import Choice
from lookalike.table.model.targets import code_labels

NOISE = -1  # the label of a row that belongs to no cluster
DEFINITIONS = Choice("class_weighted", "hungarian", "pairwise")


def purity(y: Any, labels: Any) -> float:
    """Return the share of rows whose class is the most frequent one in their cluster.

    More clusters make it easier: with one cluster per row it is 1. Compare clusterings with the
    same number of clusters, or use the adjusted Rand index of scikit-learn.

    Parameters
    ----------
    y : array of n classes
    labels : array of n cluster labels
        -1 is noise: such rows are in no cluster, so they count as wrong.

    Examples
    --------
    >>> from lookalike.clustering import purity
    >>> round(purity([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]), 4)
    0.8333
    """
    table, _, _ = _contingency(y, labels, "purity")
    return float(table.max(axis=0, initial=0).sum() / len(labels)) if table.size else 0.0


def clustering_f_measure(y: Any, labels: Any, definition: str = "class_weighted") -> float:
    """Score a clustering with noise against known classes, from 0 to 1.

    For class i and cluster j the F-measure is the harmonic mean of the share of the cluster that is
    of the class and the share of the class that is in the cluster. Noise is not a cluster: its rows
    lower the shares of their classes.

    Parameters
    ----------
    y : array of n classes
    labels : array of n cluster labels
        -1 is noise.
    definition : {"class_weighted", "hungarian", "pairwise"}
        The best cluster of each class, weighted by the size of the class; classes and clusters
        matched one to one, averaged over the classes; or pairs of rows: together in a cluster
        against together in a class.

    Examples
    --------
    >>> from lookalike.clustering import clustering_f_measure
    >>> y, labels = [0, 0, 0, 1, 1, 1], [0, 0, -1, 1, 1, 0]
    >>> round(clustering_f_measure(y, labels), 6)
    0.733333
    >>> clustering_f_measure(y, labels, "pairwise")
    0.4
    """
    DEFINITIONS.check("clustering_f_measure", "definition", definition)
    table, of_class, of_cluster = _contingency(y, labels, "clustering_f_measure")
    return f_from_counts(table, of_class, of_cluster, definition)


def f_from_counts(
    table: np.ndarray, of_class: np.ndarray, of_cluster: np.ndarray, definition: str
) -> float:
    """Return the F-measure from the counts of classes (rows) in clusters (columns)."""
    if not table.shape[1]:
        return 0.0
    if definition == "pairwise":
        both = _pairs(table)
        return float(2 * both / (_pairs(of_cluster) + _pairs(of_class))) if both else 0.0
    # Zero denominators cannot occur: every class and every cluster has a row.
    f = 2 * table / (of_class[:, None] + of_cluster)  # 2PR / (P + R), written without P and R
    if definition == "class_weighted":
        return float(of_class @ f.max(axis=1) / of_class.sum())
    # Hungarian: each cluster counts for at most one class.
    from scipy.optimize import linear_sum_assignment

    matched = linear_sum_assignment(f, maximize=True)
    return float(f[matched].sum() / len(of_class))


def among(distances: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the distances of some rows among each other; no copy where these are all rows."""
    return distances if len(members) == len(distances) else distances[np.ix_(members, members)]


def silhouette_of(distances: np.ndarray, codes: np.ndarray) -> float:
    """Return how much nearer rows are to their own cluster than to the next one, from -1 to 1.

    The mean silhouette [1]_ for a matrix of distances: with a the mean distance of a row to the
    others of its cluster and b the smallest mean distance to another cluster, the mean of
    (b - a) / max(a, b). Noise is a group like any other here.

    References
    ----------
    .. [1] P. Rousseeuw (1987). Silhouettes: a graphical aid to the interpretation and validation
       of cluster analysis. Journal of Computational and Applied Mathematics 20, 53-65.
       doi:10.1016/0377-0427(87)90125-7
    """
    from sklearn.metrics import silhouette_samples

    n_groups = len(np.unique(codes))
    if n_groups < 2:
        hint = "A single cluster has no next one to compare with"
        raise UndefinedMeasure("silhouette", "at least two clusters", f"{n_groups}", hint)
    if n_groups == len(codes):  # scikit-learn refuses it; a row alone in its cluster has 0
        return 0.0
    return float(silhouette_samples(distances, codes, metric="precomputed").mean())


def _pairs(counts: np.ndarray) -> float:
    """Return the number of pairs within groups of these sizes."""
    sizes = counts.astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)


def _contingency(y: Any, labels: Any, who: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return counts of classes in clusters, and the sizes of both; noise is in no cluster."""
    clusters = np.asarray(labels)
    if clusters.ndim != 1 or clusters.dtype.kind not in "iu":
        found = f"an array of {clusters.dtype} of shape {clusters.shape}"
        hint = Phrase(InPython("Pass the labels_ of a clustering"))
        raise InvalidInput(who, "integer labels, -1 for noise", found, hint)
    if not len(clusters):
        raise InvalidInput(who, "at least one row", "none", "Pass labels of some rows")
    classes, _ = code_labels(y, len(clusters), who)
    members = clusters != NOISE
    names, codes = np.unique(clusters[members], return_inverse=True)
    table = count(classes[members], codes, int(classes.max()) + 1, len(names))
    return table, np.bincount(classes), table.sum(axis=0)


def count(classes: np.ndarray, codes: np.ndarray, n_classes: int, n_codes: int) -> np.ndarray:
    """Return how often each pair of a class and a cluster occurs."""
    flat = np.bincount(classes * n_codes + codes, minlength=n_classes * n_codes)
    return flat.reshape(n_classes, n_codes)
