"""From cells as they arrive to the arrays that each kind keeps."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput, WrongType
from lookalike.table.formats.raw import Raw, of_values
from lookalike.table.model.cells import convert, is_graph, raw_of_column, set_aside
from lookalike.table.model.kind import ID, KINDS, Kind, Reading
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


def test_words_that_mean_missing_by_kind():
    cells = ["a", "NA", "a b", "n/a"]
    assert [read("text", cells).cell(row) for row in range(4)] == ["a", None, "a b", "n/a"]
    assert read("category", cells).values.tolist()[1] == -1
    assert read(Kind("category", role="code"), cells).cell(1) == "NA"
    fitted = Kind("category", levels=("NA", "a"), role="code")
    assert read(fitted, ["NA", "a"], fitted=True).values.tolist() == [0, 1]
    assert read(Kind("category", levels=("US", "DE")), ["NA", "US"], fitted=True).unknown
    assert read(Kind("category", levels=("Rio", "DE")), ["NA", "DE"], fitted=True).cell(0) is None
    marked = Kind("text", reading=Reading(missing_words=("a",)))
    assert read(marked, cells).cell(0) is None
    names = read(Kind("text", role=ID), ["NA", None, " "])
    assert names.values.tolist() == ["NA", None, " "]
    assert read(Kind("text", role=ID), [1.5, None]).values.tolist() == [1.5, None]


def test_cells_of_lists_and_sequences():
    assert read("set", [["a", None, "a"], {"b"}]).values.tolist() == [{"a"}, {"b"}]
    assert read("set", [[["a", "b"]]]).cell(0) == {("a", "b")}
    assert read("set", [np.array([1, 2])]).cell(0) == {1, 2}
    split = read("set", ["a;b", "b", None, "a;c"])
    assert split.values.tolist() == [{"a", "b"}, {"b"}, None, {"a", "c"}]
    assert split.kind.reading.separator == ";"
    again = convert(of_values("x", ["a,b;;c"]), split.kind, fitted=True)
    assert again.cell(0) == {"a,b", "c"}
    assert read("sequence", ["ab", None]).values.tolist() == [("a", "b"), None]
    assert read("sequence", [["a", None, ["b", None]]]).cell(0) == ("a", frozenset({"b"}))
    assert read("text", [1.0, 2.5, None]).values.tolist() == ["1", "2.5", None]
    for kind, cells, words in (
        ("set", ["ab cd", "ef"], r"a string is not a set.*\(first: 'ab cd', row 0\)"),
        ("sequence", [["a"], {"b"}], "items in order.*row 1"),
        ("sequence", [["a"], [{"b": 1}]], "items that can be compared.*row 1"),
        ("sequence", [["a"], 7], "lists of items or strings.*row 1"),
        ("series", [[1.0], "a"], "row 1"),
        ("series", [[1.0], [["a"]]], "lists of numbers.*row 1"),
        ("vector", [[1.0], {"a": 1}], "lists of numbers.*row 1"),
        ("graph", [{"nodes": []}], "graphs with nodes and edges.*row 0"),
        ("text", ["a", [1]], "texts.*row 1"),
    ):
        with pytest.raises(WrongType, match=words):
            read(kind, cells)


def test_numbers_in_lists_are_cut_out_of_one_array():
    series = read("series", [[1, 2], None, [3], []])
    assert [None if cell is None else cell.tolist() for cell in series.values] == [
        [1.0, 2.0], None, [3.0], [],
    ]  # fmt: skip
    assert series.values[0].dtype == np.float64
    flags = convert(Raw("x", pa.array([[True, False]])), Kind("series"))
    assert flags.values[0].tolist() == [1.0, 0.0]
    assert read("series", [(1.5, None), None]).cell(1) is None
    matrix = read("vector", [None, [1.0, 2.0], [3.0, None]])
    np.testing.assert_array_equal(matrix.values, [[np.nan] * 2, [1.0, 2.0], [3.0, np.nan]])
    assert (matrix.kind.width, matrix.values.dtype) == (2, np.float64)
    assert read("histogram", [[0.0, 2.0]]).values.tolist() == [[0.0, 2.0]]
    assert read("vector", [[-1.0, 2.0]]).values.tolist() == [[-1.0, 2.0]]
    with pytest.raises(InvalidInput, match=r"3 numbers in every vector, found 1 in row 0"):
        read(Kind("vector", width=3), [[1.0]])


def test_columns_turn_back_into_cells():
    number = raw_of_column(read("number", [1.5, None]))
    assert (number.type, number.values()) == (pa.float64(), [1.5, None])
    for kind in ("category", "order"):
        back = raw_of_column(read(Kind(kind, levels=("b", "a")), ["a", None, "b"]))
        assert (back.declared, back.values()) == (kind, ["a", None, "b"])
        assert back.words.to_pylist() == ["b", "a"]
    fitted = Kind("category", levels=("a",))
    unknown = raw_of_column(read(fitted, ["a", "z"], fitted=True))
    assert (unknown.declared, unknown.values()) == ("", ["a", "z"])
    assert is_graph({"nodes": 1, "edges": 2})
    assert not is_graph({"nodes": 1})
    assert not is_graph({"edges": 1})
    assert not is_graph("nodes")
    assert is_graph(SimpleNamespace(nodes=1, edges=2))
    assert not is_graph(SimpleNamespace(nodes=1))


def test_graphs_of_objects_with_a_direction():
    def graph(directed):
        return SimpleNamespace(
            nodes={"a": {}, "b": {}}, edges=[("b", "a", 7)], is_directed=lambda: directed
        )

    assert read("graph", [graph(True)]).cell(0).edges == {("b", "a")}
    assert read("graph", [graph(False)]).cell(0).edges == {("a", "b")}
    assert read("graph", [{"nodes": None, "edges": None}]).cell(0) == Graph({}, frozenset())
    same = Graph({"a": None}, frozenset())
    assert read("graph", [same]).cell(0) is same
    with pytest.raises(InvalidInput, match="an edge to 'z', which is not a node, in row 1"):
        read("graph", [same, {"nodes": ["a"], "edges": [("z", "a")]}])
