"""Cells between the library, the store and JSON: every kind comes back as it was."""

import datetime as dt
import json

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service.catalog import Catalog
from lookalike.service.cells import read_stored, stored_columns
from lookalike.service.store.store import Store
from service.collections_made import create, lists, reopened, without_cache


def test_odd_cells_come_back_too(catalog):
    collection = create(catalog)
    collection.add([{"name": "odd", "weight": 3, "animal": "1.0", "tags": [["a", "b"], ["c"]]}])
    expected = lists(collection)
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected


EVERY_KIND = {
    "number": [1.5, -2, None, 1e300],
    "infinite": [float("inf"), 1.0, 2.0, 3.0],
    "category": ["a", "b", "a", None],
    "digits": ["007", "010", "007", "011"],
    "flag": [True, False, None, True],
    "order": ["low", "high", None, "low"],
    "day": [dt.datetime(2020, 1, 2), dt.datetime(1969, 12, 31, 23, 59, 59, 500000), None, None],
    "span": [dt.timedelta(days=1), dt.timedelta(seconds=1.5), None, dt.timedelta(0)],
    "tags": [["x", "y"], [], None, ["x"]],
    "steps": [["a", "b", "a"], ["b", "b"], None, ["c", "c"]],
    "baskets": [[["a"], ["b", "c"]], [[], ["a"]], [["c"], ["c"]], None],
    "curve": [[1.0, 2.0, 3.0], [0.5], None, [1.0, 1.0]],
    "point": [[1.0, 2.0], [0.5, -1.0], [0.0, 0.0], [1.0, 1.0]],
    "bins": [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75]],
    "note": ["a long text", "", "another <b>", "ü\u202e"],
    "graph": [
        {"nodes": {"a": "x", "b": "y"}, "edges": [["a", "b"]]},
        {"nodes": {"a": "x"}, "edges": []},
        {"nodes": {"c": "x"}, "edges": []},
        {"nodes": {"a": "x", "b": "x"}, "edges": [["b", "a"]]},
    ],
}


KINDS = {
    "digits": "code",
    "order": ["low", "middle", "high"],
    "steps": "sequence",
    "baskets": "sequence",
    "curve": "series",
    "point": "vector",
    "bins": "histogram",
    "note": "text",
    "graph": "graph",
}


def same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=True)
    return a == b or (a != a and b != b)


def test_every_kind_of_cell_comes_back_from_the_store():
    table = la.read_table(EVERY_KIND, kinds=KINDS)
    columns = stored_columns(table)
    cells = zip(*columns.values(), strict=True)
    texts = [json.dumps(dict(zip(columns, row, strict=True)), allow_nan=False) for row in cells]
    records = [json.loads(text) for text in texts]
    again = read_stored(records, table.schema)
    assert again.schema == table.schema
    for column in table.columns:
        for row in range(len(table)):
            before, after = column.values[row], again[column.name].values[row]
            assert same(before, after), (column.name, row, before, after)


def test_a_date_written_another_way_round_comes_back(tmp_path):
    catalog = Catalog(Store(tmp_path / "a.sqlite"))
    rows = [{"born": f"{day:02}/12/2004", "x": day} for day in range(10, 20)]
    collection = create(catalog, rows, kinds={"born": "dmy"})
    collection.add([{"born": "24/12/2003", "x": 5}])
    assert collection.view.record(10)["born"] == dt.datetime(2003, 12, 24)
    expected = lists(collection)
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected
    catalog.store.close()


def test_numbers_that_json_has_no_word_for_come_back():
    table = la.read_table({"x": [1.5, float("inf"), None, -2.0], "y": [1.0, 2.0, 3.0, 4.0]})
    columns = json.loads(json.dumps(stored_columns(table)))
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    back = read_stored(records, table.schema)
    assert [back["x"].cell(row) for row in range(4)] == [1.5, float("inf"), None, -2.0]
    with pytest.raises(InvalidInput, match="at least one row"):
        read_stored([], table.schema)
