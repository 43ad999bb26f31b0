"""What a clustering found: each cluster with its size, a typical row and its commonest class."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike.cluster.scores import adjusted_rand, clustering_f_measure, purity

__all__ = ["ClusterSummary", "ClusteringSummary", "summarize_clusters"]


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster.

    Parameters
    ----------
    cluster : int
        Its number.
    rows : int
        How many rows belong to it.
    share : float
        The same as a share of all rows.
    exemplar : int
        The position of its typical row.
    majority : class that most of its rows have, or None without known classes
        The first on ties.
    majority_share : float or None
        Share of its rows that have this class.
    """

    cluster: int
    rows: int
    share: float
    exemplar: int
    majority: Any = None
    majority_share: float | None = None


@dataclass(frozen=True, eq=False)
class ClusteringSummary:
    """All clusters of a fitted model, and how good they are.

    Parameters
    ----------
    clusters : tuple of ClusterSummary
    noise : int
        Rows that belong to no cluster.
    silhouette : float or None
        The mean silhouette, where it decided about the number of clusters.
    scores : dict
        Agreement with the known classes: ``purity``, ``adjusted_rand`` and ``f_measure``; empty
        without them.
    """

    clusters: tuple[ClusterSummary, ...]
    noise: int
    silhouette: float | None
    scores: dict[str, float]

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per cluster."""
        return [asdict(cluster) for cluster in self.clusters]

    def __str__(self) -> str:
        lines = []
        for one in self.clusters:
            most = "" if one.majority is None else f", mostly {one.majority}"
            lines.append(f"cluster {one.cluster}: {one.rows:,} rows ({one.share:.0%}){most}")
        lines += [f"no cluster: {self.noise:,} rows"] if self.noise else []
        lines += [f"{name} {value:.3f}" for name, value in self.scores.items()]
        return "\n".join(lines)


def summarize_clusters(model: Any, y: Any = None) -> ClusteringSummary:
    """Say how large each cluster is, which row is typical of it, and which class it mostly has.

    Parameters
    ----------
    model : fitted clustering with ``labels_`` and ``exemplars_``, such as SimilarityClustering
    y : array of n known classes, optional
        The clusters are scored against them.

    Examples
    --------
    >>> from lookalike.cluster import SimilarityClustering, summarize_clusters
    >>> rows = {"size": [1.0, 1.1, 1.2, 8.0, 8.1]}
    >>> model = SimilarityClustering(n_clusters=2, method="ward").fit(rows)
    >>> print(summarize_clusters(model, ["cat", "cat", "cat", "dog", "cat"]))
    cluster 0: 3 rows (60%), mostly cat
    cluster 1: 2 rows (40%), mostly cat
    purity 0.800
    adjusted_rand 0.231
    f_measure 0.819
    """
    check_is_fitted(model, "labels_")
    labels = model.labels_
    classes = None if y is None else np.asarray(y)
    clusters = []
    for number, exemplar in enumerate(model.exemplars_):
        inside = labels == number
        majority, share = (None, None) if classes is None else _majority(classes[inside])
        clusters.append(
            ClusterSummary(
                number,
                int(inside.sum()),
                float(inside.mean()),
                int(exemplar),
                majority,
                share,
            )
        )
    scores = {}
    if classes is not None:
        scores = {
            "purity": purity(classes, labels),
            "adjusted_rand": adjusted_rand(classes, labels),
            "f_measure": clustering_f_measure(classes, labels),
        }
    silhouette = getattr(model, "silhouettes_", {}).get(len(clusters))
    return ClusteringSummary(tuple(clusters), int((labels < 0).sum()), silhouette, scores)


def _majority(classes: np.ndarray) -> tuple[Any, float]:
    """Return the class that occurs most (the first on ties) and its share."""
    names, counts = np.unique(classes, return_counts=True)
    top = int(counts.argmax())
    return names[top].item(), float(counts[top] / len(classes))
