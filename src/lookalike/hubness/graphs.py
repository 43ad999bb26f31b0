"""Reduce the hubness of a given neighbor graph by re-ranking its lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooFewRows, WrongType
from lookalike.evaluate.space import without_self
from lookalike.hubness.mutual_proximity import MODELS, MutualProximity
from lookalike.hubness.reducer import _Scaled, keep_best
from lookalike.hubness.scaling import CSLS, EPS, NICDM, LocalScaling
from lookalike.measures.precomputed import Precomputed
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Choice, Integer

REDUCERS = {"nicdm": NICDM, "local_scaling": LocalScaling, "csls": CSLS}
METHODS = (*REDUCERS, "shared_neighbors")


def rescale(
    graph: Any,
    method: Any = "nicdm",
    *,
    n_neighbors: int = 10,
    k: int | None = None,
    reference: NeighborGraph | None = None,
) -> NeighborGraph:
    """Reduce the hubness of a neighbor graph: the same candidates, re-ranked.

    Make the graph with more neighbors than you need (ten times as many is plenty), so that there is
    something to choose from.

    Parameters
    ----------
    graph : NeighborGraph, or scikit-learn's sparse k-graph
        Distances of each query to its candidates.
    method : {"nicdm", "local_scaling", "csls", "shared_neighbors"} or a fitted reducer
        A name takes the scales of the rows from the graph itself. A reducer that was fitted to the
        same rows, in the same order, has its own: use that for ``MutualProximity``, whose means
        and spreads do not follow from nearest neighbors alone.
    n_neighbors : int
        The k of the local scale; a fitted reducer has its own.
    k : int, optional
        Length of the new lists. Default: that of the graph.
    reference : NeighborGraph, optional
        The neighbors of the collection within itself, where the queries of ``graph`` are other
        rows.

    Returns
    -------
    NeighborGraph with the distances of the method

    Examples
    --------
    >>> from lookalike.hubness import rescale
    >>> from lookalike.measures import Vector
    >>> graph = Vector().fit([[0.0], [1.0], [3.0], [7.0]]).neighbors(k=3)
    >>> rescale(graph, "nicdm", n_neighbors=2, k=1).indices.ravel()
    array([1, 0, 1, 2])
    """
    if hasattr(graph, "tocsr"):
        graph = NeighborGraph.from_csr(graph)
    if not isinstance(graph, NeighborGraph):
        hint = InPython("Use measure.neighbors()")
        raise WrongType("rescale", "a NeighborGraph", type(graph).__name__, hint)
    # A row in its own list would be its own nearest neighbor, with a distance and a scale of 0.
    if reference is None and len(graph) == graph.n_indexed:
        graph = without_self(graph, "rescale")
    k = graph.k if k is None else k
    if not Integer(1).fits(k) or k > graph.k:
        who, needed = Param("k", k, of="rescale"), f"1 to {graph.k} neighbors"
        raise TooFewRows(who, needed, repr(k), "Make a longer graph")
    if isinstance(method, _Scaled):
        values, shift = _by_reducer(graph, method, reference), method.order_shift
    else:
        values, shift = _by_name(graph, method, n_neighbors, reference)
    lists = NeighborGraph.empty(len(graph), k, graph.n_indexed, graph.has_self)
    values[graph.indices < 0] = np.inf
    keep_best(values, graph.indices, lists)
    return lists.shifted(shift).plain()


def _by_reducer(
    graph: NeighborGraph, reducer: _Scaled, reference: NeighborGraph | None
) -> np.ndarray:
    who = Param("method", of="rescale")
    if not hasattr(reducer, "rows_"):
        raise InvalidInput(who, "a fitted reducer", "one that is not fitted", "Call fit first")
    if isinstance(reducer, MutualProximity) and reducer.model_ in MODELS[:2]:
        needed, model = "a model that keeps facts of each row", Param("model", "gauss_independent")
        hint = ("Use ", model, ", or ", Param("n_candidates"), " on the reducer itself")
        raise InvalidInput(who, needed, repr(reducer.model_), hint)
    # Facts are looked up by position, so rows of another collection would get those of others.
    n = len(reducer.rows_)
    if len(graph) != n or graph.n_indexed != n or reference is not None:
        needed = f"the neighbors of the {n} fitted rows among themselves"
        advice = ("For new rows set ", Param("n_candidates"), " on the reducer and use kneighbors")
        raise InvalidInput(who, needed, _size_of(graph), advice)
    return reducer._rescaled(graph, reducer.rows_.arrays, reducer.rows_.arrays)


def _check_collection(graph: NeighborGraph, fitted: NeighborGraph) -> None:
    if len(fitted) != graph.n_indexed or len(fitted) != fitted.n_indexed:
        needed = f"the lists of all {graph.n_indexed} rows of the collection"
        advice = ("Pass ", Param("reference"), ", the neighbors of the collection within itself")
        raise InvalidInput("rescale", needed, _size_of(fitted), advice)


def _by_name(
    graph: NeighborGraph, method: Any, n_neighbors: int, reference: NeighborGraph | None
) -> tuple[np.ndarray, float]:
    """Return what lists are sorted by, and what is added to it for distances."""
    mp = "Pass a fitted MutualProximity(..., 'gauss_independent') instead of a name"
    hint = Phrase(InPython(mp)) if str(method).startswith("m") else ""  # "mp", "mutual_proximity"
    Choice(*METHODS).check("rescale", "method", method, hint)
    Integer(1).check("rescale", "n_neighbors", n_neighbors, "Raise it")
    who = Phrase(Param("n_neighbors", n_neighbors, of="rescale"))
    fitted = graph if reference is None else reference
    _check_collection(graph, fitted)
    ours, theirs = (_first(lists, n_neighbors, who) for lists in (graph, fitted))
    near = graph.indices
    if method == "shared_neighbors":
        pairs = zip(near, ours.indices, strict=True)
        shared = [np.isin(theirs.indices[some], own).sum(axis=1) for some, own in pairs]
        return 1 - np.reshape(shared, near.shape) / n_neighbors, 0.0
    reducer = REDUCERS[method](Precomputed(), n_neighbors)
    a, b = ({reducer.FACTORS[0]: reducer._fact_of(lists)} for lists in (ours, theirs))
    if isinstance(reducer, NICDM):
        # As after fitting, but of the distances that a graph has: the largest of these.
        largest = np.nanmax(np.where(near < 0, np.nan, graph.distances), initial=0.0)
        reducer.floor_, reducer.factor_ = EPS * float(largest) or 1.0, 1.0
    elif isinstance(reducer, CSLS):
        reducer.offset_ = 2 * float(b["level"].max())
    return reducer._rescaled(graph, a, b), reducer.order_shift


def _size_of(graph: NeighborGraph) -> str:
    return f"{len(graph)} lists over {graph.n_indexed} rows"


def _first(graph: NeighborGraph, k: int, who: str) -> NeighborGraph:
    if graph.k < k:
        hint = ("Lower ", Param("n_neighbors"))
        raise TooFewRows(who, f"lists of {k}", f"lists of {graph.k}", hint)
    cut = replace(graph, indices=graph.indices[:, :k], distances=graph.distances[:, :k])
    return cut.finish()
