"""From a file or records to rows with ids."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.index import Index
from lookalike.measures import Gower
from lookalike.service.fitting import (
    CollectionSettings,
    list_measures,
    make,
    read_rows,
    settle,
)
from lookalike.service.service import Catalog
from lookalike.service.store.store import Conflict, Store
from lookalike.table import Kind, read_table
from service.collections_made import create, lists, reopened, without_cache


def test_rows_named_by_a_column(catalog):
    collection = create(catalog, id_column="name")
    assert collection.view.index.ids[:2] == ["Tom", "Rex"]
    collection.add([{"name": "a/b ü", "weight": 7, "animal": "cat"}])
    assert collection.view.record("a/b ü")["weight"] == 7
    with pytest.raises(Conflict, match="again, which exists already"):
        collection.add([{"name": "Tom", "weight": 7}])
    with pytest.raises(InvalidInput, match="a string or an integer"):
        collection.add([{"weight": 7}])
    with pytest.raises(InvalidInput, match="its own id"):
        collection.replace("Tom", {"name": "Rex", "weight": 1})
    collection.replace("Tom", {"weight": 4.5})
    assert collection.view.record("Tom")["weight"] == 4.5
    expected = lists(collection)
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([{"id": 1, "x": 1}, {"id": 1, "x": 2}], "found 1 twice"),
        ([{"id": 1.5, "x": 1}, {"id": 2, "x": 2}], "1.5 in row 0"),
        ([{"id": None, "x": 1}, {"id": 2, "x": 2}], "None in row 0"),
    ],
)
def test_bad_ids_are_named(tmp_path, rows, found):
    catalog = Catalog(Store(tmp_path / "a.sqlite"))
    with pytest.raises(InvalidInput, match=found):
        create(catalog, rows, id_column="id")
    assert catalog.store.heads() == []
    catalog.store.close()


def test_single_precision_is_stored_as_it_is_compared(tmp_path):
    catalog = Catalog(Store(tmp_path / "a.sqlite"))
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = np.random.default_rng(0).normal(size=40).astype(np.float32)
    pq.write_table(pa.table({"x": values, "y": values[::-1] * 3}), tmp_path / "a.parquet")
    collection = create(catalog, tmp_path / "a.parquet")
    expected = lists(collection)
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected
    catalog.store.close()


def test_settings_follow_from_the_table():
    table = read_table({"name": ["a b", "c d", "e f", "g h"], "x": [1.0, 2.0, 5.0, 3.0]})
    found = settle(CollectionSettings("t", kinds={"x": Kind("number"), "name": "text"}), table)
    assert (found.names, found.kinds) == ("lookalike_id", {"x": "number", "name": "text"})
    assert found.label_column == "name"
    assert found.row_label.columns == ("name",)
    assert found.aside == {
        column.name: {
            "kind": column.kind.name, "role": column.kind.role, "reason": column.kind.reason,
        }
        for column in table.aside
    }  # fmt: skip
    hidden = read_table(
        {"lookalike_id": [3.0, 1.0, 2.0, 7.0], "lookalike_id_": [1.0, 2.0, 9.0, 4.0]}
    )
    assert settle(CollectionSettings("t"), hidden).names == "lookalike_id__"
    # The ids name the rows where nothing else does, or where they are asked to.
    numbers = read_table({"x": [1.0, 2.0, 5.0, 3.0], "y": [4.0, 1.0, 2.5, 0.0]})
    by_id = settle(CollectionSettings("t", id_column="id"), numbers)
    assert (by_id.names, by_id.label_column) == ("id", "id")
    assert by_id.label == {"columns": ["id"], "with_id": False}
    asked = settle(CollectionSettings("t", id_column="id", label_column="id"), table)
    assert asked.label_column == "id"
    named = settle(CollectionSettings("t", id_column="id"), table)
    assert named.label_column == "name"
    assert settle(CollectionSettings("t"), numbers).label_column is None
    assert settle(CollectionSettings("t", label_column="x"), numbers).label_column == "x"
    with pytest.raises(
        InvalidInput, match="label_column: needs a column of the table, found 'nam'"
    ):
        settle(CollectionSettings("t", label_column="nam"), table)


def test_settings_as_a_text():
    settings = CollectionSettings("t", label_column="a", label={"columns": ["a"]})
    assert CollectionSettings.of_text(settings.to_text()) == settings
    assert (settings.row_label.columns, settings.row_label.with_id) == (("a",), False)
    assert CollectionSettings("t").row_label.columns == ()
    kept = CollectionSettings("t", label={"columns": ["a", "b"], "with_id": True})
    assert (kept.row_label.columns, kept.row_label.with_id) == (("a", "b"), True)
    assert (settings.measure, settings.reason, settings.compared) == ("auto", "given", 0)


def test_rows_from_an_index_keep_their_ids():
    rows = {"id": ["a", "b", "c"], "x": [1.0, 2.0, 4.0], "c": ["u", "v", "u"]}
    for column, expected in (("id", ["a", "b", "c"]), (None, [0, 1, 2])):
        index = Index(id_column=column).fit(rows)
        table, ids, settings = read_rows(index, CollectionSettings("t", id_column="other"))
        assert (ids, settings.id_column) == (expected, column)
        assert "id" not in [one.name for one in table.columns]
    table, ids, settings = read_rows(rows, CollectionSettings("t", id_column="id"))
    assert ids == ["a", "b", "c"]
    assert [one.name for one in table.columns] == ["x", "c"]
    numbered = read_rows(rows, CollectionSettings("t", missing=[4.0], kinds={"x": "number"}))
    assert numbered[1] == [0, 1, 2]
    assert numbered[0]["x"].missing.tolist() == [False, False, True]


def test_measures_by_name():
    table = read_table({"x": [1.0, 2.0, 5.0, 3.0], "c": ["u", "v", "u", "u"]})
    measure, reason = make(CollectionSettings("t", measure="gower", weights={"x": 2.0}), table)
    assert (type(measure).__name__, reason, measure.weights) == ("Gower", "given", {"x": 2.0})
    assert make(CollectionSettings("t"), table)[1] != "given"
    assert make(CollectionSettings("t", measure="ratio"), table)[0].random_state == 0
    listed = list_measures()
    names = [one["name"] for one in listed]
    assert names[0] == "auto"
    assert names[1:] == sorted(names[1:])
    text = {one["name"]: one["text"] for one in listed}
    assert text["gower"] == (Gower.__doc__ or "").strip().partition("\n")[0]
    assert "=" in text["cosine"]
    assert text["cosine"].endswith(")")


def test_measures_that_cannot_compare_the_rows_are_not_listed():
    def names(**columns):
        listed = list_measures(read_table(columns))
        return [one["name"] for one in listed], {one["name"]: one for one in listed}

    numbers = {"x": [float(i) for i in range(60)], "y": [float(i * i % 17) for i in range(60)]}
    order, found = names(**numbers)
    assert order[:3] == ["auto", "ranked", "ratio"]  # in plain words first
    assert found["ranked"]["words"] == "order only"
    assert found["cosine"]["words"] is None
    assert len(order) == len(set(order))
    assert not {"combined", "nicdm", "ratiorf", "forest-proximity"} & set(order)
    assert (found["auto"]["weighable"], found["ratio"]["weighable"]) == (True, False)
    # One missing cell, far behind the rows that are tried: these measures need all numbers.
    order, found = names(**numbers | {"y": [*numbers["y"][:-1], None]})
    assert not {"ranked", "cosine", "euclidean"} & set(order)
    assert {"auto", "gower", "ratio"} <= set(order)
    assert "ranked" not in names(c=["u", "v", "w"] * 20)[0]
