"""From cells as they arrive to the arrays that each kind keeps."""

import numpy as np
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table.formats.raw import Raw, of_values
from lookalike.table.model.cells import convert, raw_of_column, set_aside
from lookalike.table.model.kind import KINDS, Kind
from lookalike.table.model.table import Graph, check_cells

CELLS = {
    "number": [1.5, None], "category": ["a", None], "order": ["low", "high"], "flag": ["yes", "no"],
    "text": ["a b", None], "set": [["a", "b"], None], "sequence": [["a", "a"], None],
    "series": [[1.0, 2.0], [3.0]], "histogram": [[1.0, 2.0], None], "vector": [[1.0, -2.0], None],
    "graph": [{"nodes": ["a", "b"], "edges": [("b", "a")]}, None], "object": [{"x": 1}, None],
}  # fmt: skip


def read(kind, cells, **options):
    return convert(of_values("x", cells), kind if isinstance(kind, Kind) else Kind(kind), **options)


def test_every_kind_comes_back_as_it_was_read():
    assert set(CELLS) == set(KINDS)
    for kind, cells in CELLS.items():
        column = read(kind, cells)
        check_cells(column.values, column.kind, kind)
        again = convert(raw_of_column(column), column.kind, fitted=True)
        for row in range(len(cells)):
            np.testing.assert_equal(again.cell(row), column.cell(row), err_msg=kind)


def test_vectors_of_float32_stay_so_and_histograms_do_not():
    cells = pa.array([[1.0, 2.0], None], pa.list_(pa.float32()))
    assert convert(Raw("x", cells), Kind("vector")).values.dtype == np.float32
    assert convert(Raw("x", cells), Kind("histogram")).values.dtype == np.float64
    assert read("vector", [None, None]).values.shape == (2, 0)
    assert read(Kind("vector", width=3), [None]).values.shape == (1, 3)


def test_what_a_kind_cannot_hold_is_named_with_its_row():
    for kind, cells, error, words in (
        (
            "vector",
            [[1.0], [1.0, 2.0]],
            InvalidInput,
            "every vector, found 2 in row 1",
        ),
        ("histogram", [[1.0], [-2.0]], InvalidInput, "-2 in row 1"),
        ("set", [["a"], 3], WrongType, "row 1"),
        ("set", [["a"], [{"b": 1}]], WrongType, "items that can be compared"),
        ("text", ["a", {1}], WrongType, "row 1"),
        ("graph", [{"nodes": ["a"], "edges": [("a", "b")]}], InvalidInput, "an edge to 'b'"),
    ):
        with pytest.raises(error, match=words):
            read(kind, cells)


def test_graphs_of_any_form_are_one():
    expected = Graph({"a": "C", "b": None}, frozenset({("a", "b")}))
    for nodes in ({"a": "C", "b": None}, {"a": {"label": "C"}, "b": {}},
                  [{"id": "a", "label": "C"}, {"id": "b"}]):  # fmt: skip
        for edge in (("b", "a"), {"source": "a", "target": "b"}):
            assert read("graph", [{"nodes": nodes, "edges": [edge]}]).cell(0) == expected


def test_set_aside_columns_keep_their_cells():
    for cells, kind in ((["a"], "text"), ([1.5], "number"), ([[1]], "object")):
        column = set_aside(of_values("x", cells), "by hand")
        assert (column.kind.name, column.cell(0)) == (kind, cells[0])
