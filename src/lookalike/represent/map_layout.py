"""A map of the rows: like rows near each other in the plane."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

from lookalike._params import AtLeast, OneOf
from lookalike._random import make_generator
from lookalike._threads import single_blas
from lookalike.errors import InvalidInput, MissingExtra, TooFewRows, message
from lookalike.evaluate.space import as_space, size_of
from lookalike.measures.base import Measure
from lookalike.neighbors.graph import NeighborGraph

__all__ = ["layout"]

NEIGHBORS = 15
METHODS = OneOf("auto", "umap", "spectral")
DENSE = 1_000  # nodes up to which all eigenvectors are computed at once
VECTORS = 5  # two are drawn; the others keep the iteration from mixing the second with the third
ROUNDS = 30  # steps of the iteration on each level, which starts from the level below
CLOSE = 1e-4  # residual at which it stops earlier
GAP = 0.15  # between separate parts of the map, as a share of the smaller one's side


def layout(
    space: Any, k: int | None = None, *, method: str = "auto", random_state: Any = 0
) -> np.ndarray:
    """Place all rows on a map, such that neighbors lie near each other.

    The map is made from the neighbor graph alone, so it works for every measure and, after the
    neighbors are found, takes no more memory than their lists. The same rows give the same map
    every time, for any number of threads.

    Read it for groups and transitions, not for distances: how far two groups lie apart, and where
    separate parts are put, says little.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int, optional
        Neighbors of each row that the map looks at. None: 15, or half of the other rows if that is
        less; for a NeighborGraph its whole lists. More give smoother maps.
    method : {"auto", "umap", "spectral"}
        "umap" moves the rows of the spectral map until their neighborhoods fit [1]_; it shows
        groups more clearly and needs the package umap-learn (``lookalike[report]``). "spectral"
        uses the two smoothest eigenvectors of the normalized graph Laplacian [2]_, found on coarser
        copies of the graph first [3]_. "auto": umap where it is installed.
    random_state : None, int, RandomState or Generator
        Seed of the order in which the graph is coarsened, and of umap.

    Returns
    -------
    float64 array of shape (n, 2)

    Notes
    -----
    The spectral map looks at who is whose neighbor, and not at how far: an increasing change of the
    distances changes nothing, and duplicates do no harm. Neighbors count 1 if they are mutual, else
    1/2; pairs that cannot be compared count nothing. Parts of the graph that are not connected are
    laid out by themselves and put side by side, the largest first, each on an area in proportion to
    its rows.

    References
    ----------
    .. [1] L. McInnes, J. Healy, N. Saul, L. Grossberger (2018). UMAP: uniform manifold
       approximation and projection. Journal of Open Source Software 3(29), 861.
       doi:10.21105/joss.00861
    .. [2] M. Belkin, P. Niyogi (2003). Laplacian eigenmaps for dimensionality reduction and data
       representation. Neural Computation 15(6), 1373-1396. doi:10.1162/089976603321780317
    .. [3] S. T. Barnard, H. D. Simon (1994). A fast multilevel implementation of recursive spectral
       bisection for partitioning unstructured problems. Concurrency: Practice and Experience 6(2),
       101-117. doi:10.1002/cpe.4330060203

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Vector
    >>> from lookalike.represent import layout
    >>> angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles), angles * 0])
    >>> places = layout(Vector().fit(ring), 4, method="spectral")
    >>> places.shape
    (60, 2)
    >>> radius = np.hypot(*places.T)
    >>> bool(radius.max() - radius.min() < 1e-6 * radius.max())  # a ring again
    True
    """
    if not METHODS.fits(method):
        who = f"layout(method={method!r})"
        raise InvalidInput(message(who, METHODS.wants(), repr(method), METHODS.advice(method)))
    seed = _as_seed(random_state)
    if method == "auto":
        method = "umap" if find_spec("umap") is not None else "spectral"
    elif method == "umap" and find_spec("umap") is None:
        raise MissingExtra(
            message(
                "layout(method='umap')", "umap-learn", "none", "Install lookalike[report], or "
                "use method='spectral'",
            )
        )  # fmt: skip
    lists = _lists(space, k)
    with single_blas():  # sums in another order would turn the map
        places = _spectral(lists, seed)
        if method == "umap" and len(lists) > lists.k + 1 >= 3:
            places = _umap(lists, places, seed)
    return places


def _as_seed(random_state: Any) -> int:
    """Return one seed: every part of a map is drawn from it, however many parts there are."""
    generator = make_generator(random_state)
    whole = isinstance(random_state, int | np.integer)
    return int(random_state) if whole else int(generator.integers(2**31))


def _lists(space: Any, k: int | None) -> NeighborGraph:
    """Return the lists that the map is made of."""
    checked = as_space(space, "layout")
    n = size_of(checked)
    most = checked.k if isinstance(checked, NeighborGraph) else n - 1
    if k is None:
        # Where everybody is everybody's neighbor, the graph knows nothing: half of the others.
        half = min(NEIGHBORS, max(2, most // 2), most)
        k = most if isinstance(checked, NeighborGraph) else half
    elif not AtLeast(1).fits(k):
        who = f"layout(k={k!r})"
        found = repr(k)
        raise InvalidInput(message(who, AtLeast(1).wants(), found, "Raise it"))
    elif k > most:
        graph = isinstance(checked, NeighborGraph)
        needed = f"lists of {k}" if graph else f"at least {k + 1} rows"
        found = f"lists of {most}" if graph else f"n_samples={n}"
        do = f"Lower k to {most}" if most else "Add rows"
        raise TooFewRows(message(f"layout(k={k})", needed, found, do))
    k = int(k)
    if k == 0:
        return NeighborGraph.empty(n, 0, n)
    if isinstance(checked, Measure):
        return checked.neighbors(None, k)
    return NeighborGraph(checked.indices[:, :k], checked.distances[:, :k], n)


# -- the spectral map ------------------------------------------------------------------------------


def _spectral(lists: NeighborGraph, seed: int) -> np.ndarray:
    from scipy.sparse.csgraph import connected_components

    if len(lists) == 1:
        return np.zeros((1, 2))
    graph = _weights(lists)
    n_parts, part = connected_components(graph, directed=False)
    if n_parts == 1:
        return _scaled(_smoothest(graph, seed))
    places = np.zeros((len(lists), 2))
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part))
    members = np.split(order, ends[:-1])
    members.sort(key=lambda rows: (-len(rows), int(rows[0])))
    corners = _pack(np.array([len(rows) for rows in members]))
    for rows, corner in zip(members, corners, strict=True):
        side = np.sqrt(len(rows))
        if len(rows) > 1:
            places[rows] = _scaled(_smoothest(graph[rows][:, rows], seed)) * side
        places[rows] += corner + side / 2
    return _scaled(places)


def _weights(lists: NeighborGraph) -> Any:
    """Return who is whose neighbor as a symmetric matrix: 1 if mutual, 1/2 if one way."""
    from scipy.sparse import csr_matrix

    n = len(lists)
    used = (lists.indices >= 0) & np.isfinite(lists.distances)
    starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    one_way = csr_matrix((np.full(int(used.sum()), 0.5), lists.indices[used], starts), shape=(n, n))
    return (one_way + one_way.T).tocsr()


def _smoothest(graph: Any, seed: int) -> np.ndarray:
    """Return the two smoothest Laplacian eigenvectors of a connected graph; signs are fixed."""
    n = graph.shape[0]
    vectors = _eigenvectors(graph, min(VECTORS, n - 1), np.random.default_rng(seed))
    places = np.zeros((n, 2))
    found = vectors[:, :2] / np.sqrt(_degrees(graph))[:, None]
    largest = np.abs(found).argmax(axis=0)
    found *= np.where(found[largest, np.arange(found.shape[1])] < 0, -1.0, 1.0)
    places[:, : found.shape[1]] = found
    return places


def _eigenvectors(graph: Any, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return the m eigenvectors of the normalized Laplacian after the trivial first one.

    A large graph is coarsened, and what is found there is carried back and corrected, so that the
    iteration only has to smooth: from a random start it would need thousands of steps on long thin
    data.
    """
    from scipy.linalg import eigh
    from scipy.sparse import csr_matrix, diags, identity
    from scipy.sparse.linalg import lobpcg

    n = graph.shape[0]
    roots = np.sqrt(_degrees(graph))
    walk = (diags(1 / roots) @ graph @ diags(1 / roots)).tocsr()
    if n <= DENSE:
        found = eigh(walk.toarray(), subset_by_index=[n - 1 - m, n - 1])[1]
        return np.asarray(found[:, ::-1][:, 1:])
    home, n_coarse = _coarsen(graph, rng)
    start = rng.normal(size=(n, m))
    if n_coarse < 0.9 * n:
        carry = csr_matrix((np.ones(n), home, np.arange(n + 1)), shape=(n, n_coarse))
        coarse = (carry.T @ graph @ carry).tocsr()
        if n_coarse > 1:
            below = _eigenvectors(coarse, min(m, n_coarse - 1), rng)
            below /= np.sqrt(_degrees(coarse))[:, None]
            start[:, : below.shape[1]] = below[home] * roots[:, None]
    for _ in range(4):  # the steps at the borders of the coarse nodes are what is wrong most
        start = (start + walk @ start) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a map need not be exact to the last digit
        return np.asarray(
            lobpcg(
                identity(n, format="csr") - walk,
                start,
                Y=(roots / np.linalg.norm(roots))[:, None],
                largest=False,
                maxiter=ROUNDS,
                tol=CLOSE,
            )[1]
        )


def _coarsen(graph: Any, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return for each node the coarse node it joins, and their number.

    Centers are chosen such that no two are neighbors and every node is next to one; those with much
    weight first, so that a hub takes its neighbors with it.
    """
    from scipy.sparse import triu

    n = graph.shape[0]
    upper = triu(graph, k=1)
    graph = (upper + upper.T).tocsr()  # without what is inside a coarse node
    near, starts = graph.indices, graph.indptr[:-1]
    rank = np.empty(n)
    rank[np.lexsort((rng.permutation(n), _degrees(graph)))] = np.arange(n)
    center, free = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    while free.any():
        best_near = np.maximum.reduceat(np.where(free, rank, -1.0)[near], starts)
        new = free & (rank > best_near)
        center |= new
        free &= ~(new | np.logical_or.reduceat(new[near], starts))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    pull = np.where(center[near], graph.data, -1.0)
    strongest = near[np.lexsort((near, -pull, rows))[starts]]
    names = np.cumsum(center) - 1
    return np.where(center, names, names[strongest]), int(center.sum())


def _degrees(graph: Any) -> np.ndarray:
    return np.asarray(graph.sum(axis=1)).ravel()


def _scaled(places: np.ndarray) -> np.ndarray:
    """Put the middle of a map at (0, 0) and make its longer side 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    longer = float((high - low).max())
    centered = places - (low + high) / 2
    return np.asarray(centered / longer) if longer > 0 else np.zeros_like(places)


def _pack(sizes: np.ndarray) -> np.ndarray:
    """Return the lower left corners of squares of these areas, put in rows, the largest first."""
    sides = np.sqrt(sizes)
    gap = GAP * sides.min()
    width = max(float(sides[0]), 1.1 * float(np.sqrt(((sides + gap) ** 2).sum())))
    corners = np.empty((len(sides), 2))
    x = y = 0.0
    tall = float(sides[0])
    for at, side in enumerate(sides.tolist()):
        if x > 0 and x + side > width:
            x, y = 0.0, y + tall + gap
            tall = side
        corners[at] = x, y
        x += side + gap
    return corners


# -- umap ------------------------------------------------------------------------------------------


def _umap(lists: NeighborGraph, start: np.ndarray, seed: int) -> np.ndarray:
    """Return umap's map of our graph, begun from the spectral one."""
    n = len(lists)
    # umap counts a row as its own first neighbor, and wants places that differ to begin with.
    indices = np.hstack([np.arange(n)[:, None], lists.indices]).astype(np.int32)
    distances = np.hstack([np.zeros((n, 1)), lists.distances]).astype(np.float32)
    indices[~np.isfinite(distances)] = -1  # umap's spelling of a neighbor that is missing
    jitter = np.random.default_rng(seed).normal(scale=1e-4, size=(n, 2))
    with warnings.catch_warnings():
        # It warns of things not asked for: other packages, new rows, several threads.
        warnings.simplefilter("ignore")
        from umap import UMAP  # type: ignore[import-not-found, unused-ignore]

        model = UMAP(
            n_neighbors=lists.k + 1,
            precomputed_knn=(indices, distances),
            init=(10 * (start + jitter)).astype(np.float32),
            random_state=seed,
            n_jobs=1,
        )
        found = model.fit_transform(np.zeros((n, 2), dtype=np.float32))
    return np.asarray(found, dtype=np.float64)
