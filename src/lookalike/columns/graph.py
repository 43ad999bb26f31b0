"""Graphs with labelled nodes."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance, cell_error, show
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.sets import pack_each, shared, token_id, unshared
from lookalike.kernels.objects import graph_edit_block, shared_pairs
from lookalike.saving.fields import Fields, Integer, require
from lookalike.table.model.table import Column, Graph

# Nodes of a graph whose edit distance is counted. The search tries assignments of nodes to nodes,
# whose number grows with the factorial of this; chosen by hand.
MAX_EDIT_NODES = 10


class _Graphs(Distance):
    kinds = ("graph",)
    CELLS = RaggedOf("int64", high=-2)

    def _encode(self, column: Column) -> Ragged:
        return pack_each(column.values, lambda row, cell: self._numbers(cell, column.name, row))

    @abstractmethod
    def _numbers(self, graph: Graph, column: str, row: int) -> list[int]:
        """Encode one graph; the names of column and row are for errors."""


class GraphJaccard(_Graphs):
    """How much of the nodes and edges of two graphs is not in both.

    Nodes (with their labels) and edges together form one set per graph, and the two sets are
    compared as by "jaccard". Nodes are known by their names: it fits graphs over one world, such as
    who wrote to whom in which month. For graphs whose node names mean nothing choose "wl".

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Graph, Kind
    >>> nodes = {1: None, 2: None, 3: None}
    >>> mails = np.array(
    ...     [Graph(nodes, frozenset({(1, 2), (2, 3)})), Graph(nodes, frozenset({(1, 2), (1, 3)}))]
    ... )
    >>> mails = Column("mails", Kind("graph"), mails)
    >>> distance = GraphJaccard().fit(mails)
    >>> cells = distance.encode(mails)
    >>> distance.compare(cells[:1], cells).round(6)
    array([[0.      , 0.333333]])
    """

    name = "graph_jaccard"

    def _numbers(self, graph: Graph, column: str, row: int) -> list[int]:
        nodes = {token_id(("node", *pair)) for pair in graph.nodes.items()}
        return sorted(nodes | {token_id(("edge", *pair)) for pair in graph.edges})

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return unshared(a, b)


class WeisfeilerLehman(_Graphs):
    """How different the neighborhoods are that two graphs are made of.

    Each node starts with its label; in every round it takes a new one made of its own and its
    neighbors' labels [1]_. With k the product of two graphs' label counts over all rounds, the
    distance is ``sqrt(k(g, g) + k(h, h) - 2 k(g, h))``. Node names do not matter, only labels and
    shape; graphs that this cannot distinguish are at 0. Edges are read without direction.

    Parameters
    ----------
    rounds : int, default 3
        How far the neighborhoods reach.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt (2011).
       Weisfeiler-Lehman graph kernels. Journal of Machine Learning Research 12, 2539-2561.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Graph, Kind
    >>> path = Graph({1: "C", 2: "C", 3: "O"}, frozenset({(1, 2), (2, 3)}))
    >>> same = Graph({"a": "O", "b": "C", "c": "C"}, frozenset({("a", "b"), ("b", "c")}))
    >>> other = Graph({1: "C", 2: "O", 3: "C"}, frozenset({(1, 2), (2, 3)}))
    >>> molecule = Column("molecule", Kind("graph"), np.array([path, same, other]))
    >>> distance = WeisfeilerLehman().fit(molecule)
    >>> cells = distance.encode(molecule)
    >>> distance.compare(cells[:1], cells).round(4)
    array([[0.   , 0.   , 4.899]])
    """

    name = "wl"
    FIELDS: ClassVar[Fields] = {"rounds": Integer(0)}

    def __init__(self, rounds: int = 3, scale: float | None = None) -> None:
        self.rounds = rounds
        self.scale = scale

    def _numbers(self, graph: Graph, column: str, row: int) -> list[int]:
        near = _neighbors(graph, column, row)
        label = {node: token_id(("label", kind)) for node, kind in graph.nodes.items()}
        bag = list(label.values())
        for step in range(self.rounds):
            # the round is part of the label, so that labels of two rounds are never taken for one
            label = {
                node: token_id((step, label[node], *sorted(label[other] for other in near[node])))
                for node in label
            }
            bag += label.values()
        return sorted(bag)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        own_a, own_b = _square_counts(a), _square_counts(b)
        return np.sqrt(own_a[:, None] + own_b - 2.0 * shared(a, b))


def _square_counts(bags: Ragged) -> np.ndarray:
    """Return the sum of the squared counts of each row's tokens: pairs of it with itself."""
    out, rows = np.empty(len(bags)), np.arange(len(bags))
    shared_pairs(bags.values, bags.offsets, bags.values, bags.offsets, rows, rows, out)
    return out


class GraphEdit(_Graphs):
    """How many nodes and edges must be added, removed or relabelled to make two graphs equal.

    The exact distance with every edit at cost 1. The time grows steeply with size, so graphs of
    more than ten nodes are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Graph, Kind
    >>> line = Graph({1: "C", 2: "C"}, frozenset({(1, 2)}))
    >>> longer = Graph({1: "C", 2: "C", 3: "O"}, frozenset({(1, 2), (2, 3)}))
    >>> molecule = Column("molecule", Kind("graph"), np.array([line, longer]))
    >>> distance = GraphEdit().fit(molecule)
    >>> cells = distance.encode(molecule)
    >>> distance.compare(cells[:1], cells)
    array([[0., 2.]])
    """

    name = "ged"
    CELLS = RaggedOf("int64")
    # One comparison of large graphs may take a tenth of a second.
    n_sampled = 50
    n_pivots = 4

    def _numbers(self, graph: Graph, column: str, row: int) -> list[int]:
        if len(graph.nodes) > MAX_EDIT_NODES:
            found = f"{len(graph.nodes)}"
            hint = "Choose 'wl' or 'graph_jaccard', which take any size"
            raise cell_error(column, row, f"at most {MAX_EDIT_NODES} nodes", found, hint)
        _neighbors(graph, column, row)
        position = {node: i for i, node in enumerate(graph.nodes)}
        labels = [token_id(("label", kind)) for kind in graph.nodes.values()]
        ends = [position[end] for edge in graph.edges for end in edge]
        return [len(position), *labels, *ends]

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.empty((len(a), len(b)))
        graph_edit_block(a.values, a.offsets, b.values, b.offsets, MAX_EDIT_NODES, out)
        return out

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded cells that are not graphs of at most ten nodes."""
        super().check_cells(cells, n, where)
        for i in np.flatnonzero(~cells.missing):
            row = cells.row(int(i))
            # The kernel trusts these numbers: a count beyond the row, or an end beyond the nodes,
            # would make it read memory that is not its own.
            fits = len(row) and 0 <= row[0] <= MAX_EDIT_NODES and len(row) > row[0]
            require(fits, where, f"graphs of at most {MAX_EDIT_NODES} nodes", "others")
            ends = row[1 + row[0] :]
            fits = len(ends) % 2 == 0 and ((ends >= 0) & (ends < row[0])).all()
            require(fits, where, "edges between nodes of a graph", "others")


def _neighbors(graph: Graph, column: str, row: int) -> dict[Any, set[Any]]:
    near: dict[Any, set[Any]] = {node: set() for node in graph.nodes}
    for one, other in graph.edges:
        if one not in near or other not in near:
            hint = "List both ends of every edge among the nodes"
            needed = "edges between nodes of the graph"
            raise cell_error(column, row, needed, show((one, other)), hint)
        near[one].add(other)
        near[other].add(one)
    return near
