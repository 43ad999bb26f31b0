"""Neighbors as a sparse matrix, in scikit-learn's shape and meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.neighbors.graph import NeighborGraph

MODES = ("connectivity", "distance")


class KNeighborsGraph:
    """What every measure has beside ``kneighbors``: the same lists as a sparse matrix."""

    def neighbors(self, X: Any = None, k: int = 5) -> NeighborGraph:
        """Return the k nearest fitted rows of each row; written by the measure."""
        raise AssertionError("written by the measure")

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int = 5, mode: str = "connectivity"
    ) -> Any:
        """Return the nearest fitted rows as a sparse matrix, as scikit-learn does.

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; no row is then among its own neighbors.
        n_neighbors : int
        mode : {"connectivity", "distance"}
            Whether an entry is 1, or the distance. Rows with nothing to compare are left out.

        Returns
        -------
        CSR matrix of shape (rows of X, fitted rows)
            The entries of each row are sorted by distance; distances of 0 are stored.

        Examples
        --------
        >>> from lookalike.measures import Vector
        >>> Vector("cityblock").fit([[0.0], [1.0], [3.0]]).kneighbors_graph(
        ...     n_neighbors=1, mode="distance"
        ... ).toarray()
        array([[0., 1., 0.],
               [1., 0., 0.],
               [0., 2., 0.]])
        """
        check_mode(mode, f"{type(self).__name__}.kneighbors_graph")
        return to_sparse(self.neighbors(X, n_neighbors), mode)


def check_mode(mode: str, who: str) -> None:
    """Refuse a mode that is not there."""
    if mode not in MODES:
        needed = f"one of {', '.join(map(repr, MODES))}"
        raise InvalidInput(
            Param("mode", mode, of=who), needed, repr(mode), suggest(str(mode), MODES)
        )


def to_sparse(graph: NeighborGraph, mode: str, include_self: bool = False) -> Any:
    """Return lists of neighbors as a CSR matrix without pairs that cannot be compared.

    Parameters
    ----------
    graph : NeighborGraph
    mode : {"connectivity", "distance"}
    include_self : bool
        Whether each row stands first in its own list, at distance 0.
    """
    known = np.isfinite(graph.distances)
    indices = np.where(known, graph.indices, -1)
    lists = NeighborGraph(indices, graph.distances, graph.n_indexed, graph.has_self)
    matrix = lists.to_csr(include_self=include_self)
    if mode == "connectivity":
        matrix.data = np.ones_like(matrix.data)
    return matrix
