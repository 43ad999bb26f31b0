"""A space is anything with neighbors: a fitted measure, a neighbor graph, a matrix of distances."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lookalike._runtime.estimator import check_is_fitted
from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Param, TooFewRows, WrongType
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.measures.precomputed import Precomputed
from lookalike.neighbors.graph import NeighborGraph

Space = Measure | NeighborGraph
# Distances of one block: 4 MB.
MAX_BLOCK_ROWS, MAX_BLOCK_COLUMNS = 256, 2048


def as_space(space: Any, who: str) -> Space:
    """Return a fitted measure or a checked graph of a collection with itself.

    A square matrix must hold distances and be symmetric; pass one that is not as
    ``Precomputed(symmetric=False)``.
    """
    if isinstance(space, Measure):
        check_is_fitted(space, "rows_")
        return space
    if hasattr(space, "tocsr"):  # a sparse matrix has the distances of neighbors only
        space = NeighborGraph.from_csr(space)
    if isinstance(space, NeighborGraph):
        return without_self(space, who)
    if isinstance(space, np.ndarray | list) or hasattr(space, "to_numpy"):
        return Precomputed().fit(space)
    needed = "a fitted measure, a NeighborGraph or a square matrix of distances"
    raise WrongType(who, needed, type(space).__name__, "Fit a measure to your rows first")


def without_self(graph: NeighborGraph, who: str) -> NeighborGraph:
    """Return the graph with no row in its own list; queries must be the collection itself."""
    if len(graph) != graph.n_indexed:
        needed = "the neighbors of every row of a collection within that collection"
        hint = InPython("Use measure.neighbors() without new rows")
        raise InvalidInput(who, needed, f"{len(graph)} lists over {graph.n_indexed} rows", hint)
    own = graph.indices == np.arange(len(graph))[:, None]
    if not own.any():
        return graph
    # All lists must stay of one length, so each loses one entry: the row itself where it is listed,
    # else the farthest neighbor.
    drop = np.where(own.any(axis=1), own.argmax(axis=1), graph.k - 1)
    keep = np.arange(graph.k) != drop[:, None]
    shape = (len(graph), graph.k - 1)
    indices, distances = (v[keep].reshape(shape) for v in (graph.indices, graph.distances))
    return NeighborGraph(indices, distances, graph.n_indexed)


def size_of(space: Space) -> int:
    """Return the number of rows."""
    return len(space) if isinstance(space, NeighborGraph) else len(space.rows_)


def lists_of(space: Space, k: int, who: str) -> NeighborGraph:
    """Return complete lists of the k nearest other rows."""
    check_k(k, size_of(space) - 1, who, True, "k")
    if isinstance(space, Measure):
        return space.neighbors(None, k)
    if space.k < k:
        needed, hint = f"lists of {k} neighbors", ("Lower ", Param("k"))
        raise TooFewRows(Param("k", k, of=who), needed, f"lists of {space.k}", hint)
    cut = NeighborGraph(space.indices[:, :k], space.distances[:, :k], space.n_indexed)
    return cut.finish("last")


def needs_distances(space: Space, who: str) -> Measure:
    """Return the measure; refuse a graph, which has the distances of neighbors only."""
    if isinstance(space, NeighborGraph):
        found = "a NeighborGraph, which has those of neighbors only"
        hint = "Pass the fitted measure or the matrix"
        raise InvalidInput(who, "distances between all rows", found, hint)
    return space


def distance_blocks(
    measure: Measure, tall: int = MAX_BLOCK_ROWS, wide: int = MAX_BLOCK_COLUMNS
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield (rows, columns, distances) over all pairs of fitted rows; a row itself is NaN."""
    rows = measure.rows_
    for down in blocks(len(rows), tall):
        for across in blocks(len(rows), wide):
            d = measure.block(rows[down], rows[across])
            # The diagonal of the whole matrix crosses the blocks that share positions.
            own = np.arange(max(down.start, across.start), min(down.stop, across.stop))
            d[own - down.start, own - across.start] = np.nan
            yield down, across, d
