"""Choose k rows such that all are near to one of them (k-medoids)."""

from __future__ import annotations

import numpy as np

from lookalike.clustering._clustering import Clustering, NearestExemplar
from lookalike.clustering._space import Space
from lookalike.measures.medoids import fasterpam


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
