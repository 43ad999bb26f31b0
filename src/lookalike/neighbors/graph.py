"""Lists of nearest neighbors: the interface between measures and all tasks that read neighbors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike.errors import InvalidInput, Param, TooFewRows
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Fields, Flag, Integer


@saveable
@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """For each query row its nearest rows, in order.

    Lists are sorted by (distance, index): ties go to the lower index. Lists made from parts of a
    collection can be merged into those of the whole, ties included, which is what threads, files
    and clusters of machines rely on.

    Parameters
    ----------
    indices : int64 array of shape (n_queries, k)
        Positions in the collection; -1 where no neighbor was found (an unfinished list).
    distances : float64 array of shape (n_queries, k)
        Ascending in each row; inf for missing neighbors and for pairs that cannot be compared.
    n_indexed : int
        Size of the collection.
    has_self : bool
        Whether row i may list itself.

    Examples
    --------
    >>> import numpy as np
    >>> near = NeighborGraph(np.array([[2, 0]]), np.array([[0.5, 1.0]]), 3)
    >>> far = NeighborGraph(np.array([[1, -1]]), np.array([[0.7, np.inf]]), 3)
    >>> near.merge(far).indices
    array([[2, 1]])
    """

    FIELDS: ClassVar[Fields] = {
        "indices": Array("int64", "queries", "k", low=-1, below="indexed"),
        "distances": Array("float64", "queries", "k", low=0.0, no_nan=True),
        "n_indexed": Integer(0, size="indexed"),
        "has_self": Flag(),
    }

    indices: np.ndarray
    distances: np.ndarray
    n_indexed: int
    has_self: bool = False
    # What unfinished lists are sorted by, and the constant that was added to it: see ``shifted``.
    order: ClassVar[np.ndarray | None] = None
    shift: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.indices.shape != self.distances.shape or self.indices.ndim != 2:
            needed = "indices and distances of one shape (n_queries, k)"
            found = f"{self.indices.shape} and {self.distances.shape}"
            raise InvalidInput("NeighborGraph", needed, found, "Give one distance per index")

    @classmethod
    def empty(cls, n_queries: int, k: int, n_indexed: int, has_self: bool = False) -> NeighborGraph:
        """Return lists without any neighbor yet."""
        lists = np.full((n_queries, k), -1, dtype=np.int64), np.full((n_queries, k), np.inf)
        return cls(*lists, n_indexed, has_self)

    def __len__(self) -> int:
        return len(self.indices)

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return indices and distances as a shard keeps them."""
        return {("indices",): self.indices, ("distances",): self.distances}

    @property
    def k(self) -> int:
        """Length of each list."""
        return int(self.indices.shape[1])

    def __getitem__(self, at: Any) -> NeighborGraph:
        """Return the lists of some of the queries."""
        cut = replace(self, indices=self.indices[at], distances=self.sorted_by[at])
        return cut.shifted(self.shift)

    @property
    def sorted_by(self) -> np.ndarray:
        """The distances before a constant was added to them; see ``shifted``."""
        return self.distances if self.order is None else self.order

    def shifted(self, shift: float) -> NeighborGraph:
        """Return lists whose distances are larger by a constant, in their present order.

        A large constant rounds different distances to equal ones. Until the lists are finished they
        keep the values they were sorted by, so that parts still merge to the lists of the whole.
        """
        if shift == 0.0:
            return self
        lists = replace(self, distances=self.distances + shift)
        # Beside the fields, as no list that is finished has them.
        vars(lists).update(order=self.distances, shift=shift)
        return lists

    def within(self, n_indexed: int) -> NeighborGraph:
        """Return the lists as those of a collection of another size."""
        lists = self.indices, self.sorted_by, n_indexed, self.has_self
        return NeighborGraph(*lists).shifted(self.shift)

    def plain(self) -> NeighborGraph:
        """Return the lists without the values they were sorted by."""
        return self if self.order is None else replace(self)

    def merge(self, other: NeighborGraph) -> NeighborGraph:
        """Return the lists over both collections; both must have the same queries."""
        from lookalike.kernels import fallback
        from lookalike.kernels.first_use import pick
        from lookalike.kernels.lists import merge_lists

        if self.indices.shape != other.indices.shape:
            needed = f"lists of shape {self.indices.shape}"
            hint = "Search the same queries with the same k in every part"
            raise InvalidInput("NeighborGraph.merge", needed, str(other.indices.shape), hint)
        # A fold of merges begins with plain, empty lists.
        shift = self.shift or other.shift
        mine, theirs = (g.distances - shift if g.order is None else g.order for g in (self, other))
        indices, distances = self.indices.copy(), mine.copy()
        merge = pick(merge_lists, fallback.merge_lists, distances.size)
        merge(distances, indices, theirs, other.indices)
        n_indexed, has_self = max(self.n_indexed, other.n_indexed), self.has_self or other.has_self
        return NeighborGraph(indices, distances, n_indexed, has_self).shifted(shift)

    def finish(self, undefined: str = "raise") -> NeighborGraph:
        """Return the graph if every list is complete, else raise.

        Parameters
        ----------
        undefined : {"raise", "last"}
            Whether a neighbor at an undefined or infinite distance is an error, or may be at the
            end of a list.
        """
        missing = self.indices < 0
        if undefined == "raise":
            missing = missing | ~np.isfinite(self.distances)
        if not missing.any():
            return self.plain()
        row = int(np.flatnonzero(missing.any(axis=1))[0])
        found, rest = int(self.k - missing[row].sum()), " out the rows that cannot be compared"
        fewer = ("Use ", Param("n_neighbors", found), ", or leave") if found else ("Leave",)
        who, needed = f"neighbors of row {row}", f"{self.k} rows at a finite distance"
        raise TooFewRows(who, needed, str(found), (*fewer, rest))

    def to_csr(self, include_self: bool = False) -> Any:
        """Return scikit-learn's k-graph: a CSR matrix of distances, zeros kept, sorted by distance.

        Parameters
        ----------
        include_self : bool
            Put each row first in its own list at distance 0, as scikit-learn's transformers do for
            the rows they were fitted on.
        """
        from scipy.sparse import csr_matrix

        indices, distances = self.indices, self.distances
        if include_self and not self.has_self:
            own = np.arange(len(self), dtype=np.int64)[:, None]
            indices = np.hstack([own, indices])
            distances = np.hstack([np.zeros((len(self), 1)), distances])
        taken = indices >= 0
        starts = np.concatenate([[0], np.cumsum(taken.sum(axis=1))])
        shape = (len(self), self.n_indexed)
        return csr_matrix((distances[taken], indices[taken], starts), shape=shape)

    @classmethod
    def from_csr(cls, graph: Any, has_self: bool | None = None) -> NeighborGraph:
        """Read a k-graph as scikit-learn makes it; lists of unequal length are padded.

        Parameters
        ----------
        graph : sparse matrix of distances, one row per query
        has_self : bool, optional
            Whether rows list themselves. None: they do if the graph is square and every row does;
            such entries are then dropped, so that the lists hold others only.
        """
        from scipy.sparse import csr_matrix

        graph = csr_matrix(graph)
        if graph.nnz and (not np.isfinite(graph.data).all() or graph.data.min() < 0):
            found = f"a smallest entry of {graph.data.min():g}"
            hint = "Remove entries that are not distances"
            raise InvalidInput("NeighborGraph.from_csr", "finite distances >= 0", found, hint)
        n, n_indexed = graph.shape
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        columns, data = graph.indices.astype(np.int64), graph.data.astype(np.float64)
        own = rows == columns
        if has_self is None and n == n_indexed and int(own.sum()) == n:
            rows, columns, data = rows[~own], columns[~own], data[~own]
        # Sorted by (row, distance, index), as all lists are: ties go to the lower index.
        order = np.lexsort((columns, data, rows))
        rows, columns, data = rows[order], columns[order], data[order]
        counts = np.bincount(rows, minlength=n)
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        lists = cls.empty(n, max(1, int(counts.max(initial=0))), n_indexed, bool(has_self))
        lists.indices[rows, rank], lists.distances[rows, rank] = columns, data
        return lists
