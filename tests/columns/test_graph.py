"""Distances of graphs."""

import numpy as np
import pytest
from hypothesis import given

from columns.make import assert_errors, assert_worked, between, column, compare, few, graphs
from lookalike.columns import GraphEdit, GraphJaccard, WeisfeilerLehman
from lookalike.columns.ragged import Ragged
from lookalike.table.model.table import Graph

NODES = {1: None, 2: None, 3: None}
EMPTY = Graph({}, frozenset())

WORKED = [
    (GraphJaccard(), "graph", Graph(NODES, frozenset({(1, 2), (2, 3)})),
     Graph(NODES, frozenset({(1, 2), (1, 3)})), 1 / 3),
    (GraphJaccard(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (WeisfeilerLehman(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (WeisfeilerLehman(rounds=0), "graph", Graph({1: "C", 2: "C"}, frozenset()),
     Graph({1: "O"}, frozenset()), np.sqrt(5)),
    (GraphEdit(), "graph", Graph({}, frozenset()), Graph({}, frozenset()), 0),
    (GraphEdit(), "graph", Graph(NODES, frozenset({(1, 2), (2, 3)})), Graph({}, frozenset()), 5),
]  # fmt: skip

BAD = [
    (WeisfeilerLehman(), "graph", ["C-O"], TypeError, r"row 0: needs a graph"),
    (WeisfeilerLehman(), "graph", [Graph({1: "C"}, frozenset({(1, 2)}))], ValueError, r"\(1, 2\)"),
    (GraphEdit(), "graph", [Graph({1: "C"}, frozenset({(1, 2)}))], ValueError, r"\(1, 2\)"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


@few
@given(graph=graphs())
def test_weisfeiler_lehman_ignores_node_names(graph):
    renamed = {node: f"n{9 - node}" for node in graph.nodes}
    mirrored = Graph(
        {renamed[node]: label for node, label in reversed(graph.nodes.items())},
        frozenset((renamed[b], renamed[a]) for a, b in graph.edges),
    )
    assert between(WeisfeilerLehman(), "graph", graph, mirrored) == 0
    assert between(GraphEdit(), "graph", graph, mirrored) == 0


def test_weisfeiler_lehman_sees_as_far_as_its_rounds():
    def path(n):
        return Graph(dict.fromkeys(range(n)), frozenset((i, i + 1) for i in range(n - 1)))

    def ring(n):
        return Graph(path(n).nodes, path(n).edges | {(0, n - 1)})

    assert between(WeisfeilerLehman(rounds=0), "graph", path(5), ring(5)) == 0
    assert between(WeisfeilerLehman(rounds=1), "graph", path(5), ring(5)) > 0


def test_large_graphs_are_refused_by_the_exact_distance():
    graph = Graph(dict.fromkeys(range(11)), frozenset())
    with pytest.raises(ValueError, match=r"row 1: needs at most 10 nodes, found 11.*'wl'"):
        compare(GraphEdit(), "graph", [Graph({}, frozenset()), graph])


@few
@given(one=graphs(most=5), other=graphs(most=5))
def test_graph_edits_are_those_that_networkx_counts(one, other):
    networkx = pytest.importorskip("networkx")

    def as_networkx(graph):
        made = networkx.Graph()
        loops = {a for a, b in graph.edges if a == b}  # part of the node: networkx miscounts them
        for node, label in graph.nodes.items():
            made.add_node(node, label=label, loop=node in loops)
        made.add_edges_from(edge for edge in graph.edges if edge[0] != edge[1])
        return made

    counted = networkx.graph_edit_distance(
        as_networkx(one),
        as_networkx(other),
        node_subst_cost=lambda u, v: (u["label"] != v["label"]) + (u["loop"] != v["loop"]),
        node_del_cost=lambda node: 1 + node["loop"],
        node_ins_cost=lambda node: 1 + node["loop"],
    )
    assert between(GraphEdit(scale=1.0), "graph", one, other) == counted
    assert between(GraphEdit(scale=1.0), "graph", other, one) == counted


def test_graphs_of_ten_alike_nodes_are_counted_in_the_end():
    ring = [(i, (i + 1) % 10) for i in range(10)]
    spokes = frozenset([*ring, *((i, i + 5) for i in range(5))])
    two_stars = frozenset([*((i, (i + 1) % 5) for i in range(5)), *((i, i + 5) for i in range(5)),
                           *((5 + i, 5 + (i + 2) % 5) for i in range(5))])  # fmt: skip
    nodes = dict.fromkeys(range(10))
    ladder, petersen = Graph(nodes, spokes), Graph(nodes, two_stars)
    assert between(GraphEdit(scale=1.0), "graph", petersen, petersen) == 0
    assert between(GraphEdit(scale=1.0), "graph", ladder, petersen) == 8  # of all 10! placements


# -- what is loaded --------------------------------------------------------------------------------


def edit_cells(*rows):
    """Encoded graphs: number of nodes, their labels, both ends of each edge."""
    return Ragged.of([np.array(row) for row in rows], np.int64)


def test_loaded_graphs_are_checked_before_a_kernel_reads_them():
    own = GraphEdit().fit(column("graph", [Graph({1: "C", 2: "O"}, frozenset({(1, 2)}))]))
    fine = edit_cells([2, -5, -6, 0, 1], [0], [10, *[-5] * 10])
    own.check_cells(fine, 3, "cells")
    own.check_cells(Ragged.of([None, [1, -5, 0, 0]], np.int64), 2, "cells")
    too_large = ([11, *[-5] * 11], [-1], [], [2, -5], [3, -5, -5])
    for row in too_large:
        with pytest.raises(ValueError, match="graphs of at most 10 nodes"):
            own.check_cells(edit_cells(row), 1, "cells")
    for ends in ([0], [0, 2], [-1, 0], [0, 1, 1]):
        with pytest.raises(ValueError, match="edges between nodes of a graph"):
            own.check_cells(edit_cells([2, -5, -6, *ends]), 1, "cells")
    with pytest.raises(ValueError, match="2 rows"):
        own.check_cells(edit_cells([0]), 2, "cells")


def test_ten_nodes_are_counted_and_eleven_are_not():
    ten, eleven = (Graph(dict.fromkeys(range(n)), frozenset()) for n in (10, 11))
    assert between(GraphEdit(), "graph", ten, Graph({}, frozenset())) == 10
    with pytest.raises(ValueError, match="at most 10 nodes, found 11"):
        compare(GraphEdit(), "graph", [eleven])
