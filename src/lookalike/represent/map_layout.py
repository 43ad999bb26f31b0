"""A map of the rows: similar rows near each other in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import make_generator, make_seed
from lookalike._runtime.threads import blocks, single_blas
from lookalike.errors import InvalidInput
from lookalike.evaluate.space import as_space, lists_of, size_of
from lookalike.kernels.growing import STATES
from lookalike.kernels.layout import move_rows, place_new_rows
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.measures.task import TaskSource, check_task_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.represent.base import Representation
from lookalike.saving.fields import Array, Dims, Fields, Integer, Maybe, Saved

N_LANDMARKS = 120  # rows that all others are compared with; chosen by hand
N_PIVOTS = 40  # the same for a graph, where each costs a walk over all of it


def similarity_features(measure: Measure, rows: Rows, rng: np.random.Generator) -> np.ndarray:
    """Return the similarities of rows to some of them, drawn at random."""
    n, landmarks = len(rows), np.arange(len(rows))
    if n > N_LANDMARKS:
        landmarks = np.sort(rng.choice(n, N_LANDMARKS, replace=False))
    what = "comparing with landmarks"
    return rectangle(measure, rows, rows[landmarks], "similarity", undefined="half", what=what)


def hop_features(graph: Any) -> np.ndarray:
    """Return coordinates of the rows of a connected graph: hops to pivots, doubly centered.

    Pivot MDS (Brandes and Pich 2007, doi:10.1007/978-3-540-70904-6_6); each pivot is the row
    farthest from those before it, the first the one with the most edges.

    Parameters
    ----------
    graph : CSR matrix of shape (n, n), symmetric
    """
    from scipy.sparse.csgraph import shortest_path

    n = graph.shape[0]
    nearest = np.full(n, np.inf)
    pivot = int(np.diff(graph.indptr).argmax())
    squares = np.empty((n, min(N_PIVOTS, n)))
    for column in range(squares.shape[1]):
        hops = shortest_path(graph, unweighted=True, indices=pivot)
        squares[:, column] = np.square(hops)
        # Farthest-first: the next pivot is the row with the most hops to all pivots so far.
        nearest = np.minimum(nearest, hops)
        pivot = int(nearest.argmax())
    return -(squares - squares.mean(axis=1, keepdims=True)) / 2


def principal_plane(features: np.ndarray) -> np.ndarray:
    """Return the first two principal components of some rows; signs are fixed.

    Parameters
    ----------
    features : float array of shape (n, m)

    Returns
    -------
    float array of shape (n, 2)
    """
    centered = features - features.mean(axis=0)
    # Of the small matrix of columns: rows may be a million, columns are at most 120.
    vectors = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(len(largest))] < 0, -1.0, 1.0)
    plane = np.zeros((len(features), 2))
    plane[:, : vectors.shape[1]] = centered @ vectors
    return plane


# Of the drawing as a whole, chosen by eye.
GAP = 1.5  # between two components, in sides of the square that belongs to one row
ASPECT_RATIO = 1.25  # width by height that the whole drawing aims at
TRIED_WIDTHS = np.geomspace(1.0, 2.5, 13)  # times the narrowest that is possible


def fit_square(places: np.ndarray) -> np.ndarray:
    """Put the middle of a map at (0, 0) and make its longer side 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    longer = float((high - low).max())
    centered = places - (low + high) / 2
    return np.asarray(centered / longer) if longer > 0 else np.zeros_like(places)


def pack(sides: np.ndarray, gap: float = GAP) -> np.ndarray:
    """Return the lower left corners of rectangles put on shelves, in the order given.

    The first shelf begins with the first rectangle; shelves are filled from the left and lie above
    each other. Of several widths the one is taken whose drawing wastes least of a page.

    Parameters
    ----------
    sides : float array of shape (m, 2)
        Widths and heights; best the largest first.
    gap : float
        Left free between two of them.

    Returns
    -------
    float array of shape (m, 2)
    """
    padded = sides + gap
    narrowest = max(float(padded[:, 0].max()), float(np.sqrt(padded.prod(axis=1).sum())))
    tried = [_shelves(padded, float(width)) for width in narrowest * TRIED_WIDTHS]
    corners, _, _ = min(tried, key=lambda shelf: max(shelf[1] / ASPECT_RATIO, shelf[2]))
    return corners


def _shelves(padded: np.ndarray, width: float) -> tuple[np.ndarray, float, float]:
    """Fill shelves of one width; return corners, and the width and height that are used."""
    corners = np.empty_like(padded)
    x = y = tall = wide = 0.0
    for part, (across, up) in enumerate(padded.tolist()):
        # The slack keeps a shelf that fits exactly from being broken by rounding.
        if x > 0 and x + across > width * (1 + 1e-12):
            x, y, tall = 0.0, y + tall, 0.0
        corners[part] = x, y
        x, tall = x + across, max(tall, up)
        wide = max(wide, x)
    return corners, wide, y + tall


DEFAULT_NEIGHBORS = 15
N_NEGATIVES = 5  # random rows that repel, for each neighbor that attracts; UMAP's default
FINAL_NOISE = 0.05  # noise level of the contrastive loss [3] at the end; it begins at 1
EPOCHS_FEW, EPOCHS_MANY, MAX_FEW_ROWS = 800, 300, 50_000  # epochs up to so many rows, and beyond
NEIGHBOR_DECAY = 0.8  # weight of a neighbor relative to the one before it in the list
START_WIDTH = 20.0  # of the map that the rows begin with, where a neighbor is about 1 away
JITTER = 1e-2  # separates rows that begin at the same point
ROWS_PER_CALL = 100_000  # moved in one call of the kernel: well below a second
MIN_ASPECT = 0.25  # least height by width that a separate component is counted with


def layout(space: Any, k: int | None = None, *, random_state: Any = 0) -> np.ndarray:
    """Place all rows on a map, such that neighbors lie near each other.

    The map is made from the neighbor graph, so it works for every measure and, after the neighbors
    are found, takes no more memory than their lists. The same rows give the same map every time,
    for any number of threads.

    Read it for groups and transitions, not for distances: how far two groups lie apart, and where
    separate parts are put, says little. ``trustworthiness`` and ``continuity`` of
    ``lookalike.evaluate`` say how far a map can be relied on.

    Parameters
    ----------
    space : fitted measure, NeighborGraph or square matrix of distances
    k : int, optional
        Neighbors of each row that the map looks at. None: 15, or half of the other rows if that is
        less; for a NeighborGraph its whole lists. More give smoother maps.
    random_state : None, int, RandomState or Generator
        Seed of the landmarks and of the rows that repel each other.

    Returns
    -------
    float64 array of shape (n, 2)
        The middle of the map is (0, 0) and its longer side 1.

    See Also
    --------
    MapLayout : the same as an estimator, which places new rows without moving the old.

    Notes
    -----
    Rows begin at the first two principal components of their similarities to 120 landmark rows, or,
    if only a graph is known, where pivot MDS of its hops puts them [1]_. Then each row is drawn to
    its neighbors and pushed away from rows drawn at random, by stochastic gradient descent on the
    cross-entropy with negative samples that UMAP uses [2]_. The noise level that neighbors are
    contrasted with falls from UMAP's 1, which separates groups, to 0.05, which comes near to t-SNE
    and fills the drawing [3]_.

    Only the order of neighbors counts, not their distances: duplicates do no harm. Each
    neighbor counts 0.8 of the one before it, mutual ones for both lists; pairs that cannot be
    compared count nothing. Parts of the graph that are not connected
    (components) are laid out by themselves and put on shelves, the largest first, each on an area
    in proportion to its rows.

    References
    ----------
    .. [1] U. Brandes, C. Pich (2007). Eigensolver methods for progressive multidimensional scaling
       of large data. Graph Drawing 2006, 42-53. doi:10.1007/978-3-540-70904-6_6
    .. [2] L. McInnes, J. Healy, N. Saul, L. Grossberger (2018). UMAP: uniform manifold
       approximation and projection. Journal of Open TaskSource Software 3(29), 861.
       doi:10.21105/joss.00861
    .. [3] S. Damrich, J. N. Boehm, F. A. Hamprecht, D. Kobak (2023). From t-SNE to UMAP with
       contrastive learning. International Conference on Learning Representations.
       doi:10.48550/arXiv.2206.01816

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Vector
    >>> from lookalike.represent import layout
    >>> groups = np.repeat([0, 1], 30)
    >>> rows = np.random.default_rng(0).normal(size=(60, 5)) + 9 * groups[:, None]
    >>> places = layout(Vector().fit(rows))
    >>> places.shape
    (60, 2)
    >>> near = Vector().fit(places).neighbors(None, 5).indices
    >>> bool((groups[near] == groups[:, None]).mean() > 0.95)  # of one group, nearly all
    True
    """
    checked = as_space(space, "layout")
    if isinstance(checked, NeighborGraph):
        return draw_map(checked if k is None else lists_of(checked, k, "layout"), random_state)
    n = size_of(checked)
    k = count_neighbors(k, n, "layout", "k")
    lists = checked.neighbors(None, k) if k > 0 else NeighborGraph.empty(n, 0, n)
    return draw_map(lists, random_state, checked, checked.rows_)


def count_neighbors(k: int | None, n: int, who: str, name: str) -> int:
    """Return how many neighbors a map of n rows looks at.

    None: 15, or half of the other rows: where all rows are neighbors, the graph says nothing.
    """
    if k is None:
        return min(DEFAULT_NEIGHBORS, max(2, (n - 1) // 2), n - 1)
    check_k(k, n - 1, who, True, name)
    return int(k)


def draw_map(
    lists: NeighborGraph,
    random_state: Any,
    measure: Measure | None = None,
    rows: Rows | None = None,
) -> np.ndarray:
    """Return the map of some lists of neighbors.

    Parameters
    ----------
    lists : NeighborGraph
    random_state : None, int, RandomState or Generator
    measure : Measure, optional
        What the lists were made with; None: the map begins from the graph alone.
    rows : Rows, with a measure
        The rows that the lists are about.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    # One seed for every part, however many there are.
    seed = make_seed(random_state)
    with single_blas():  # sums in another order would turn the map
        # The lists as a sparse matrix: 1 for the first neighbor, less for the next.
        used = (lists.indices >= 0) & np.isfinite(lists.distances)
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        shares = np.broadcast_to(NEIGHBOR_DECAY ** np.arange(lists.k), used.shape)[used]
        edges = csr_matrix((shares, lists.indices[used], starts), shape=(len(lists), len(lists)))
        n_parts, part = connected_components(edges, directed=False)
        features = None
        if measure is not None and rows is not None and len(lists) > 2:
            features = similarity_features(measure, rows, make_generator(seed))
        order = np.argsort(part, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(part))[:-1])
        # Largest first, then by first row: the same packing every time.
        members.sort(key=lambda some: (-len(some), int(some[0])))
        calls = (-(-_n_epochs(n) // max(1, ROWS_PER_CALL // n)) for n in map(len, members))
        with Progress("drawing the map", sum(calls)) as bar:
            maps = []
            for some in members:
                own = edges if n_parts == 1 else edges[some][:, some]
                start = _start(None if features is None else features[some], own, seed)
                maps.append(_move(start, own, seed, bar))
    return _assemble(maps, members)


def _start(features: np.ndarray | None, edges: Any, seed: int) -> np.ndarray:
    """Return where the rows of one connected part begin."""
    n = edges.shape[0]
    if n == 1:
        return np.zeros((1, 2))
    if features is None:
        features = hop_features((edges + edges.T).tocsr())
    plane = fit_square(principal_plane(features)) * START_WIDTH
    return plane + np.random.default_rng(seed).normal(scale=JITTER, size=(n, 2))


def _n_epochs(n: int) -> int:
    return 0 if n <= 2 else EPOCHS_FEW if n <= MAX_FEW_ROWS else EPOCHS_MANY


def _move(places: np.ndarray, edges: Any, seed: int, bar: Progress) -> np.ndarray:
    """Move the rows of one part until neighbors are near."""
    n, epochs = len(places), _n_epochs(len(places))
    starts, near = edges.indptr.astype(np.int64), edges.indices.astype(np.int64)
    # Components of different sizes have streams of their own.
    state = np.random.default_rng([seed, n]).integers(1, STATES, 1)
    done = np.arange(epochs) / max(1, epochs)
    # The rate falls linearly, as in UMAP; the noise level reaches its end at half time.
    rates, levels = 1.0 - done, FINAL_NOISE ** np.minimum(1.0, 2.0 * done)
    for part in blocks(epochs, ROWS_PER_CALL // n):
        move_rows(places, starts, near, edges.data, rates[part], levels[part], N_NEGATIVES, state)
        bar.advance()
    return places


def _assemble(maps: list[np.ndarray], members: list[np.ndarray]) -> np.ndarray:
    """Put separate maps side by side, each on an area in proportion to its rows."""
    if len(maps) == 1:
        return fit_square(maps[0])
    sides = np.empty((len(maps), 2))
    for part, places in enumerate(maps):
        box = np.ptp(places, axis=0)
        # A chain of rows has no height: it would be scaled to an endless line.
        box = np.maximum(box, max(MIN_ASPECT * box.max(), 1e-12))
        scale = np.sqrt(len(places) / box.prod())
        maps[part] = (places - (places.min(axis=0) + places.max(axis=0)) / 2) * scale
        sides[part] = box * scale
    out = np.empty((sum(map(len, maps)), 2))
    for rows, places, middle in zip(members, maps, pack(sides) + sides / 2, strict=True):
        out[rows] = places + middle
    return fit_square(out)


# -- the map as an estimator -----------------------------------------------------------------------
# The map as an estimator, which places new rows without moving the fitted ones.

N_STEPS = 20  # of a new row toward the robust mean of its neighbors; chosen by hand
BLOCK_ROWS = 20_000  # rows placed in one call of the kernel, which cannot be interrupted


@dataclass(eq=False, repr=False)
class MapLayout(Representation):
    """Draw a map of rows on which neighbors lie near each other, and place new rows on it.

    ``fit_transform`` draws the map as ``layout`` does (a neighbor embedding), ``transform`` puts
    new rows among their neighbors; the fitted rows stay where they are, and a new row goes to the
    same point whichever rows are transformed with it.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted.
    n_neighbors : int, optional
        Neighbors of each row that the map looks at. None: 15, or half of the other rows if that is
        less.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        Seed of the landmarks and of the rows that repel each other.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    embedding_ : float64 array of shape (n, 2)
        Where the fitted rows are.
    n_neighbors_ : int
        Neighbors that were looked at.
    measure_ : the fitted measure
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    See Also
    --------
    layout : the map of a space that is fitted already.

    Examples
    --------
    >>> from lookalike.represent import MapLayout
    >>> pets = {"weight": [4.0, 5.0, 4.5, 30.0, 35.0, 32.0], "animal": ["cat"] * 3 + ["dog"] * 3}
    >>> drawing = MapLayout().fit(pets)
    >>> drawing.embedding_.shape
    (6, 2)
    >>> new = drawing.transform({"weight": 4.2, "animal": "cat"})
    >>> bool(abs(drawing.embedding_ - new).sum(axis=1).argmin() < 3)  # beside a cat
    True
    """

    FIELDS: ClassVar[Fields] = {
        "n_neighbors": Maybe(Integer(1)),
        "embedding_": Array("float64", "n", 2, finite=True),
        "n_neighbors_": Integer(0),
        "rows_": Saved("Rows"),
    }

    n_neighbors: int | None = None
    _: KW_ONLY
    kinds: Mapping[str, Any] | None = None
    random_state: Any = 0
    n_jobs: int | None = None

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Draw the map of some rows and return where they are.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            For a measure that learns from it.

        Returns
        -------
        array of shape (n, 2)
        """
        self._fit(X, y)
        return self.embedding_.copy()

    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        self.measure_, self.rows_ = source.fit(y)
        n = len(self.rows_)
        k = count_neighbors(self.n_neighbors, n, type(self).__name__, "n_neighbors")
        lists = NeighborGraph.empty(n, 0, n)
        if k > 0:
            lists = self.measure_.nearest(self.rows_, self.rows_, k, exclude=np.arange(n))
        self.n_neighbors_ = k
        self.embedding_ = draw_map(lists, self.random_state, self.measure_, self.rows_)
        return self.rows_

    def _represent(self, rows: Rows) -> np.ndarray:
        # A map of one row has no neighbors among fitted rows, but a new row has that one.
        k = min(max(1, self.n_neighbors_), len(self.rows_))
        return place_rows(self.measure_.nearest(rows, self.rows_, k), self.embedding_)

    def _names_out(self) -> list[str]:
        return ["map x", "map y"]

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that map, rows and measure belong together."""
        check_task_rows(self, len(self.embedding_))


def place_rows(near: NeighborGraph, places: np.ndarray) -> np.ndarray:
    """Place new rows on a map among their neighbors, without moving the fitted ones.

    A row begins at the neighbor that is nearest to all the others on the map (their medoid) and
    moves to their mean, far ones counting little (a robust mean with Cauchy weights). A row at
    distance 0 to fitted ones is put where they are.

    Parameters
    ----------
    near : NeighborGraph
        The neighbors of the new rows among those of the map.
    places : float array of shape (n, 2)
        The map, such as ``layout`` draws it.

    Returns
    -------
    float64 array of shape (number of new rows, 2)
        NaN for rows that cannot be compared with any other.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Vector
    >>> from lookalike.represent import layout, place_rows
    >>> measure = Vector().fit(np.arange(40.0)[:, None])
    >>> places = layout(measure)
    >>> place_rows(measure.neighbors([[7.4]], 5), places).shape
    (1, 2)
    """
    where = np.ascontiguousarray(places, dtype=np.float64)
    if where.shape != (near.n_indexed, 2):
        needed = f"a point for each of the {near.n_indexed} rows that were searched"
        found, hint = f"an array of shape {np.shape(places)}", "Pass the map of the same rows"
        raise InvalidInput("place_rows", needed, found, hint)
    # Neighbors that cannot be compared say nothing about where a row belongs.
    indices = np.where(np.isfinite(near.distances), near.indices, -1)
    # Rows at distance 0 are counted first in every list: their number says where they end.
    equal = ((near.distances == 0) & (indices >= 0)).sum(axis=1)
    out = np.empty((len(indices), 2))
    for part in blocks(len(out), BLOCK_ROWS):
        place_new_rows(indices[part], equal[part], where, N_STEPS, out[part])
    return out
