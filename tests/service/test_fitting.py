"""From a file or records to rows with ids."""

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.service.catalog import Catalog
from lookalike.service.store.store import Conflict, Store
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


def test_measures_are_listed(server):
    found = {one["name"]: one["text"] for one in server.get("/api/measures")["measures"]}
    assert {"auto", "gower", "ranked", "cosine"} <= set(found)
    assert all(found.values())
