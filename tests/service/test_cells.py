"""Cells between the library, the store and JSON: every kind comes back as it was."""

import datetime as dt
import json

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service.cells import (
    ROW_NAMES,
    _read,
    dumps,
    id_column,
    integer_of,
    plain_id,
    plain_ids,
    read_stored,
    stored_columns,
    to_json,
)
from lookalike.service.service import Catalog
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


def test_ids_are_texts_or_integers():
    for cell in ("a", 7, -3, "007", "x" * 50):
        assert plain_id(cell, 0, "id") == cell
    for cell in (True, 7.5, None, "", ["a"]):
        with pytest.raises(InvalidInput, match=r"id_column='id': needs a string or an integer"):
            plain_id(cell, 4, "id")
    for text, number in {
        "0": 0, "-5": -5, "9" * 18: 10**18 - 1, "9" * 19: None, "-0": None, "+5": None,
        "007": None, "--5": None, "": None, "-": None, "１": None, "1.0": None,
    }.items():  # fmt: skip
        assert integer_of(text) == number, text
    kinds = {"id": ROW_NAMES}
    for ids, expected in ((["7", "8"], [7, 8]), (["7", "b"], ["7", "b"]), ([7, "8"], [7, 8])):
        column = id_column("id", ids)
        assert (column.name, column.values.tolist(), len(column)) == ("id", ids, 2)
        assert plain_ids(column) == expected
    assert la.read_table({"id": ["1", "2"], "x": [1, 2]}, kinds=kinds)["id"].kind.role == "id"


def test_json_is_short_and_plain():
    assert to_json({"a": ["é", 1], "b": "\ud800"}) == '{"a":["é",1],"b":"\\ud800"}'.encode()
    assert dumps({"a": ["é", 1]}) == '{"a":["\\u00e9",1]}'
    for write in (to_json, dumps):
        with pytest.raises(ValueError, match="JSON"):
            write(float("nan"))


def test_each_cell_has_its_stored_form():
    table = la.read_table(EVERY_KIND, kinds=KINDS)
    columns = stored_columns(table)
    assert columns["day"][:2] == ["2020-01-02T00:00:00", "1969-12-31T23:59:59.500000"]
    assert columns["span"] == [86400.0, 1.5, None, 0.0]
    assert columns["infinite"][0] == "inf"
    assert sorted(columns["tags"][0]) == ["x", "y"]
    assert columns["baskets"][0] == [{"$set": ["a"]}, {"$set": ["b", "c"]}]
    assert columns["graph"][0] == {"nodes": [["a", "x"], ["b", "y"]], "edges": [["a", "b"]]}
    assert columns["point"][1] == [0.5, -1]

    def back(cell, name):
        (found,) = _read([cell], table.schema.kinds[name])
        return found

    assert back(None, "day") is None
    assert back("inf", "number") == float("inf")
    assert back("a", "category") == "a"
    assert back([["a", ["b"]]], "tags") == frozenset({("a", ("b",))})
    assert back([1, None], "curve") == pytest.approx([1, np.nan], nan_ok=True)
    aside = read_stored([{"number": 1.0, "unknown": 3}], table.schema)
    assert aside["number"].values.tolist() == [1.0]
