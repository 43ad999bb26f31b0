"""Clusterings cut into k parts: affinity propagation, linkage and k-medoids."""

from __future__ import annotations

import warnings

import numpy as np

from lookalike.clustering._clustering import (
    Clustering,
    NearestExemplar,
    NearestRow,
    cluster_medoids,
    number_by_first_row,
)
from lookalike.clustering._space import Space
from lookalike.kernels.clustering import join_edges, roots_of
from lookalike.measures.medoids import fasterpam

DAMPING, ITERATIONS, STABLE = 0.9, 2000, 200
BISECTIONS = 20
WIDENINGS = 5


class Affinity:
    """Rows elect exemplars by passing messages; how eagerly is found by bisection.

    The similarity of two rows is minus their distance, that of a row with itself the preference: a
    lower one makes fewer exemplars. The preference shared by all rows is searched between one that
    gives at most k clusters and one that gives at least k. Messages are passed by scikit-learn,
    with its tiny seeded noise against symmetry. A new row joins the cluster of the nearest
    exemplar.

    Parameters
    ----------
    space : Space
        Distances may be directed.
    seed : int

    References
    ----------
    .. [1] B. J. Frey, D. Dueck (2007). Clustering by passing messages between data points. Science
       315(5814), 972-976. doi:10.1126/science.1136800
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.distances, self.seed = space.distances(), seed
        self.tried: dict[float, np.ndarray] = {}  # preference -> exemplars

    def cut(self, k: int) -> Clustering:
        """Return k clusters, or as near to k as the search comes."""
        return around(self.distances, self._search(k))

    def _search(self, k: int) -> np.ndarray:
        n = len(self.distances)
        others = self.distances[~np.eye(n, dtype=bool)].reshape(n, n - 1)
        high = -float(others.min())  # as good as the best other exemplar: nobody needs one
        # Frey and Dueck's bound: below it one exemplar for all is better than any two.
        low = float(np.max(-self.distances.sum(axis=0)) + others.min(axis=1).sum())
        low = min(low, high) - max(abs(high), float(others.max())) * 1e-3
        best = self._nearer(self._run(high), self._run(low), k)
        for _ in range(WIDENINGS):
            if len(self._run(low)) <= k:
                break
            low -= high - low
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            found = self._run(middle)
            best = self._nearer(best, found, k)
            if len(found) == k:
                break
            if len(found) < k:
                low = middle
            else:
                high = middle
        return best

    @staticmethod
    def _nearer(best: np.ndarray, found: np.ndarray, k: int) -> np.ndarray:
        return found if abs(len(found) - k) < abs(len(best) - k) else best

    def _run(self, preference: float) -> np.ndarray:
        """Return the exemplars for one preference, also where messages never settle."""
        if preference not in self.tried:
            from sklearn.cluster import affinity_propagation

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a run that does not settle is not the last one
                chosen, _ = affinity_propagation(
                    -self.distances,
                    preference=preference,
                    damping=DAMPING,
                    max_iter=ITERATIONS,
                    convergence_iter=STABLE,
                    random_state=self.seed,
                )
            if not len(chosen):  # nobody was elected: one exemplar for all
                chosen = [int(self.distances.sum(axis=0).argmin())]
            self.tried[preference] = np.sort(np.asarray(chosen, dtype=np.int64))
        return self.tried[preference]


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


class Medoids:
    """K-medoids by FasterPAM, started by BUILD.

    A new row joins the cluster of the nearest medoid.

    Parameters
    ----------
    space : Space

    References
    ----------
    .. [1] E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering. Information
       Systems 101, 101804. doi:10.1016/j.is.2021.101804
    """

    def __init__(self, space: Space) -> None:
        self.distances = space.distances()

    def cut(self, k: int) -> Clustering:
        """Return k clusters around k medoids."""
        return around(self.distances, np.sort(fasterpam(self.distances, k).medoids))


def around(distances: np.ndarray, chosen: np.ndarray) -> Clustering:
    """Return clusters around exemplars, numbered by their first row.

    An exemplar is in its own cluster even where another one is at distance 0.
    """
    labels = distances[:, chosen].argmin(axis=1)
    labels[chosen] = np.arange(len(chosen))
    # Numbering by first row keeps labels stable when exemplars move a little.
    first = np.array([int(np.argmax(labels == label)) for label in range(len(chosen))])
    order = np.argsort(first)
    rank = np.empty(len(chosen), dtype=np.int64)
    rank[order] = np.arange(len(chosen))
    exemplars = chosen[order]
    return Clustering(rank[labels], exemplars, NearestExemplar(exemplars))
