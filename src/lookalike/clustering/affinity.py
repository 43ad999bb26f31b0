"""Affinity propagation with the number of clusters given."""

from __future__ import annotations

import warnings

import numpy as np

from lookalike.clustering._clustering import Clustering
from lookalike.clustering._space import Space
from lookalike.clustering.medoids import around

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
