"""Lists of the nearest rows of another table, against a loop over all pairs."""

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.linkage import read_two
from lookalike.linkage.two_tables import EVERY, drop_pairs, equal_keys
from lookalike.measures import Gower
from lookalike.neighbors import NeighborGraph

CELLS = {
    "size": st.none() | st.integers(0, 6).map(float),
    "color": st.none() | st.sampled_from(["red", "blue", "green"]),
    "land": st.none() | st.sampled_from(["x", "y"]),
    "age": st.none() | st.integers(20, 26).map(float),
}


@st.composite
def pairs_of_tables(draw):
    """Two tables that have every kind of cell filled at least once, so that kinds are the same."""
    first = {"size": 3.5, "color": "red", "land": "x", "age": 21.5}
    last = {"size": 0.5, "color": "blue", "land": "y", "age": 25.5}
    rows = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=12)
    kinds = {"size": "number", "color": "category", "land": "category", "age": "number"}
    return [la.read_table([first, *draw(rows), last], kinds=kinds) for _ in range(2)]


def naive(left, right, distances, k, by=(), calipers=(), barred=()):
    """The k nearest rows of the right table for each row of the left one, by a loop."""
    lists = []
    for i in range(len(left)):
        a, found = left.record(i), []
        for j in range(len(right)):
            b = right.record(j)
            same = all(a[name] is not None and a[name] == b[name] for name in by)
            near = all(
                None not in (a[name], b[name]) and abs(a[name] - b[name]) <= width
                for name, width in dict(calipers).items()
            )
            if same and near and math.isfinite(distances[i, j]) and i not in barred:
                found.append((distances[i, j], j))
        lists.append([j for _, j in sorted(found)[:k]])
    return lists


def listed(graph):
    return [[j for j in row if j >= 0] for row in graph.indices.tolist()]


OPTIONS = [
    {},
    {"by": ["land"]},
    {"by": ["land", "color"]},
    {"calipers": {"age": 1.0}},
    {"calipers": {"age": 2.0, "size": 1.0}},
    {"by": ["land"], "calipers": {"age": 1.0}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=25, deadline=None)
@given(tables=pairs_of_tables(), k=st.integers(1, 3))
def test_lists_are_those_of_a_loop_over_all_pairs(options, tables, k):
    left, right = tables
    k = min(k, len(right))
    two = read_two(left, right, Gower(missing="midpoint"), on=["size", "color", "age"], **options)
    measure = Gower(missing="midpoint").fit(right.compare_by(["size", "color", "age"]))
    square = measure.distance(left.compare_by(["size", "color", "age"]))
    compared = [left[name].missing for name in ("size", "color", "age")]
    empty = set(np.flatnonzero(np.all(compared, axis=0)).tolist())
    expected = naive(left, right, square, k, barred=empty, **options)
    graph = two.nearest(k)
    assert listed(graph) == expected
    for row, list_ in enumerate(expected):
        assert graph.distances[row, : len(list_)].tolist() == [square[row, j] for j in list_]
        assert np.isinf(graph.distances[row, len(list_) :]).all()


@pytest.mark.parametrize("options", [{}, {"by": ["land"]}, {"calipers": {"age": 2.0}}], ids=str)
@settings(max_examples=25, deadline=None)
@given(tables=pairs_of_tables(), k=st.integers(1, 3))
def test_mutual_pairs_are_in_both_lists(options, tables, k):
    left, right = tables
    k = min(k, len(left), len(right))
    on = ["size", "color", "age"]
    two = read_two(left, right, Gower(missing="midpoint"), on=on, **options)
    square = two.measure.distance(left.compare_by(on))
    empty = set(np.flatnonzero(np.all([left[n].missing for n in on], axis=0)).tolist())
    there = naive(left, right, square, k, barred=empty, **options)
    turned = square.T.copy()
    turned[:, sorted(empty)] = np.inf
    back = naive(right, left, turned, k, **options)
    expected = [[j for j in list_ if i in back[j]] for i, list_ in enumerate(there)]
    assert listed(two.mutual(two.nearest(k))) == expected


def test_every_kind_of_column_is_compared():
    right = {
        "size": [1.0, 5.0, 9.0],
        "day": [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)],
        "tags": [["a", "b"], ["c"], ["d", "e"]],
        "note": ["a long walk by the sea", "an old house in town", "the third of three notes"],
    }
    left = {name: cells[::-1] for name, cells in right.items()}
    two = read_two(la.read_table(left), la.read_table(right))
    assert set(two.on) == set(right)
    assert listed(two.nearest(1)) == [[2], [1], [0]]
    dates = {"calipers": {"day": 366.0}, "on": ["size"]}
    two = read_two(la.read_table(left), la.read_table(right), **dates)
    assert [len(one) for one in listed(two.nearest(3))] == [2, 3, 2]  # 365 or 366 days, never 731


def test_weights_and_columns_decide():
    right = la.read_table({"size": [1.0, 9.0, 5.0], "color": ["red", "blue", "blue"]})
    left = la.read_table({"size": [9.5], "color": ["red"], "more": ["x"]})
    assert listed(read_two(left, right, on="size").nearest(1)) == [[1]]
    assert listed(read_two(left, right, weights={"color": 9}).nearest(1)) == [[0]]


def test_a_column_that_is_equal_in_all_pairs_is_not_compared_unless_named():
    table = la.read_table({"size": [1.0, 2.0, 4.0], "land": ["x", "y", "x"]})
    assert read_two(table, table, by="land").on == ("size",)
    assert read_two(table, table, by="land", on=["size", "land"]).on == ("size", "land")


def test_an_index_keeps_its_measure_its_ids_and_its_deleted_rows():
    index = la.Index("gower").fit({"size": [1.0, 2.0, 3.0, 9.0], "color": list("abab")})
    index.add({"size": [3.1], "color": ["a"]})
    index.delete([2])
    left = la.read_table({"size": [3.2, 1.1]})
    for options in ({}, {"calipers": {"size": 9.0}}):
        two = read_two(left, index, **options)
        assert two.on == ("size",)
        graph = two.nearest(2)
        assert listed(graph) == [[4, 1], [0, 1]]
        assert two.right_rows(graph.indices[0])["size"].values.tolist() == [3.1, 2.0]
        assert listed(two.mutual(two.nearest(1))) == [[4], [0]]
    (one,) = two.explain(0, [4])
    assert one.cells["size"] == (3.2, 3.1)


def test_files_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.linkage.two_tables.BATCH_ROWS", 7)
    random = np.random.default_rng(0)
    columns = {"size": random.normal(size=30), "color": random.choice(list("abc"), 30)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    right = la.read_table({"size": random.normal(size=20), "color": random.choice(list("abc"), 20)})
    lazy = la.read_table(tmp_path / "rows.parquet", lazy=True)
    for options in ({}, {"by": "color"}, {"calipers": {"size": 0.5}}):
        parts, whole = (read_two(one, right, **options) for one in (lazy, lazy.read()))
        for ask in (lambda two: two.nearest(3), lambda two: two.mutual(two.nearest(3))):
            assert np.array_equal(ask(parts).indices, ask(whole).indices)
            assert np.array_equal(ask(parts).distances, ask(whole).distances)


def test_rows_without_a_value_have_no_match():
    left = la.read_table({"size": [1.0, None], "color": ["a", None], "name": ["x", "y"]})
    right = la.read_table({"size": [1.0, 4.0], "color": ["a", "b"]})
    assert listed(read_two(left, right).nearest(2)) == [[0, 1], []]


def test_the_parts_by_hand():
    lists = NeighborGraph(np.array([[3, 1, 2]]), np.array([[0.1, 0.2, 0.3]]), 4)
    less = drop_pairs(lists, np.array([[False, True, False]]))
    assert less.indices.tolist() == [[3, 2, -1]]
    assert less.distances.tolist() == [[0.1, 0.3, np.inf]]
    assert list(equal_keys(None, np.array([0]))) == [(EVERY, EVERY)]
    assert list(equal_keys(np.array([-1, 3]), np.array([-1, 0]))) == []


# -- bad input -------------------------------------------------------------------------------------


def refused(left, right, match, error=InvalidInput, k=1, **options):
    with pytest.raises(error, match=match):
        read_two(la.read_table(left), la.read_table(right), **options).nearest(k)


def test_wrong_input_is_refused_with_the_way_out():
    sizes, words = {"size": [1.0, 2.0]}, {"size": ["small", "large"], "n": [1.0, 3.0]}
    refused(sizes, {"weight": [1.0, 2.0]}, "column with values in both tables, found 'size' in")
    refused(words, sizes, "column 'size': needs the same kind in both tables.*kinds={'size'")
    refused(sizes, words, "column 'size': needs the same kind in both tables, found number in")
    refused(sizes, sizes, "k=3.*needs at least 3 rows.*Use k=2", TooFewRows, k=3)
    refused(sizes, sizes, "on: needs columns of both tables, found 'sise'.*'size'", on="sise")
    refused(sizes, sizes, "by: needs columns of both tables", by="land")
    refused(sizes, words, "columns of numbers or dates.*by=\\['size'\\]", calipers={"size": 1})
    refused(sizes, {"size": [1.0, 2.0], "v": [[1.0, 2.0], [2.0, 3.0]]}, "both tables", by="v")
    empty = {"size": [None, None], "n": [1.0, 2.0]}
    refused(empty, {"size": [1.0, 2.0]}, "column with values in both tables")
    refused(empty, {"size": [1.0, 2.0]}, "column with values in both tables", on="size")
    refused({"size": [1.0, 2.0], "n": [1.0, 2.0]}, empty, "values in both tables", on="size")
    rows = {"id": [7, 8, 9], "n": [1.0, 2.0, 4.0]}
    refused({"id": [8, 9, 10], "m": [1.0, 2.0, 4.0]}, rows, "only 'id', which is set.*on='id'")


def test_numbers_are_read_as_levels_where_levels_are_numbers():
    """Codes that one table writes as words: 3 is the level "3"."""
    right = la.read_table({"code": ["1", "2", "3", "x"], "size": [1.0, 2.0, 3.0, 4.0]},
                          kinds={"code": "category"})  # fmt: skip
    left = la.read_table({"code": [3, 1], "size": [2.5, 3.5]}, kinds={"code": "number"})
    assert listed(read_two(left, right, on="code").nearest(1)) == [[2], [0]]
