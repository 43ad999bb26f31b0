"""Merge the two nearest groups again and again, and stop at k (agglomerative clustering)."""

from __future__ import annotations

import numpy as np

from lookalike.clustering._clustering import (
    Clustering,
    NearestRow,
    cluster_medoids,
    number_by_first_row,
)
from lookalike.clustering._space import Space
from lookalike.kernels.clustering import join_edges, roots_of


class Linkage:
    """Complete or Ward linkage on the measure's own distance.

    Ward's update is made for Euclidean distances; on others it is used as it stands. A new row
    joins the cluster of the nearest row.

    Parameters
    ----------
    space : Space
    way : {"complete", "ward"}
    """

    def __init__(self, space: Space, way: str) -> None:
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        self.distances = space.distances()
        self.merges = linkage(squareform(self.distances, checks=False), way)

    def cut(self, k: int) -> Clustering:
        """Return k clusters: what is there after n - k merges, also where heights are equal."""
        n = len(self.distances)
        # Cluster n + m is the one made by merge m; joining all parts leads back to the rows.
        steps = n - k
        made = np.arange(n, n + steps)
        parents = np.arange(n + steps)
        for side in (0, 1):
            parts = self.merges[:steps, side].astype(np.int64)
            join_edges(parents, parts, made, np.zeros(steps, dtype=np.bool_))
        labels, _ = number_by_first_row(roots_of(parents)[:n])
        return Clustering(
            labels, cluster_medoids(self.distances, labels), NearestRow(np.arange(n), labels)
        )
