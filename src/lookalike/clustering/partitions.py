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

# Chosen by hand: a high damping keeps messages from oscillating, and then needs more rounds than
# the defaults of scikit-learn (0.5, 200 and 15).
DAMPING, MAX_ITER, CONVERGENCE_ITER = 0.9, 2000, 200
MAX_BISECTIONS = 20  # the preference is then known to a millionth of the range
MAX_WIDENINGS = 5


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
        high = -float(others.min())  # as good as the best other exemplar: no row needs another
        # Frey and Dueck's bound: below it one exemplar for all is better than any two.
        low = float(np.max(-self.distances.sum(axis=0)) + others.min(axis=1).sum())
        # A little below the bound: at the bound itself one and two exemplars are equally good.
        low = min(low, high) - max(abs(high), float(others.max())) * 1e-3
        runs = [self._run(high), self._run(low)]
        for _ in range(MAX_WIDENINGS):
            if len(self._run(low)) <= k:
                break
            # Messages that do not settle may leave more than k exemplars: the range is doubled.
            low -= high - low
        for _ in range(MAX_BISECTIONS):
            middle = (low + high) / 2
            runs.append(self._run(middle))
            if len(runs[-1]) == k:
                break
            if len(runs[-1]) < k:
                low = middle
            else:
                high = middle
        return min(runs, key=lambda exemplars: abs(len(exemplars) - k))  # the first on ties

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
                    max_iter=MAX_ITER,
                    convergence_iter=CONVERGENCE_ITER,
                    random_state=self.seed,
                )
            if not len(chosen):  # no row was elected: one exemplar for all
                chosen = [int(self.distances.sum(axis=0).argmin())]
            self.tried[preference] = np.sort(np.asarray(chosen, dtype=np.int64))
        return self.tried[preference]


class Linkage:
    """Complete or Ward linkage on the measure's own distance.

    Ward's update is made for Euclidean distances; on others it is used unchanged. A new row
    joins the cluster of the nearest row.

    Parameters
    ----------
    space : Space
    method : {"complete", "ward"}
    """

    def __init__(self, space: Space, method: str) -> None:
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        self.distances = space.distances()
        self.merges = linkage(squareform(self.distances, checks=False), method)

    def cut(self, k: int) -> Clustering:
        """Return the k clusters after n - k merges, also where heights are equal."""
        n = len(self.distances)
        # Cluster n + m is the one made by merge m; joining all parts leads back to the rows.
        steps = n - k
        made = np.arange(n, n + steps)
        # A union-find over rows and merged clusters cuts ties of heights at exactly k, which
        # fcluster by height cannot.
        parents = np.arange(n + steps)
        for side in (0, 1):
            parts = self.merges[:steps, side].astype(np.int64)
            join_edges(parents, parts, made, np.zeros(steps, dtype=np.bool_))
        labels, _ = number_by_first_row(roots_of(parents)[:n])
        medoids = cluster_medoids(self.distances, labels)
        return Clustering(labels, medoids, NearestRow(np.arange(n), labels))


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
    # With duplicates argmin alone would put an exemplar into the cluster of another.
    labels[chosen] = np.arange(len(chosen))
    # Numbering by first row keeps labels stable when exemplars move a little.
    labels, old = number_by_first_row(labels)
    return Clustering(labels, chosen[old], NearestExemplar(chosen[old]))
