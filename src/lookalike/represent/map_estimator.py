"""The map as an estimator, which places new rows without moving the fitted ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput
from lookalike.kernels.layout import place_new_rows
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import TaskSource, check_task_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.represent.base import Representation
from lookalike.represent.map_layout import count_neighbors, draw_map
from lookalike.saving.fields import Array, Dims, Fields, Integer, Maybe, Saved

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

    measure: Measure | None = None
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
        k = count_neighbors(self.n_neighbors, n, n - 1, type(self).__name__, "n_neighbors")
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
