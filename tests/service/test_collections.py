"""Collections: what is in memory is what is in the store, however it came there."""

import datetime as dt
import json

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service import answers
from lookalike.service.analysis.results import fit_again
from lookalike.service.api.models import SearchIn
from lookalike.service.catalog import Catalog, name_from
from lookalike.service.cells import read_stored, stored_columns
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.store import database as tables
from lookalike.service.store.store import Conflict, NotFound, Store
from service.running import PETS


@pytest.fixture
def catalog(address):
    made = Catalog(Store(address))
    made.address = address
    yield made
    made.store.close()


def create(catalog, rows=PETS, **options):
    return catalog.create("pets", rows, CollectionSettings("pets", **options), RequestLimits())


def search(view, asked):
    """Search as a request does, with all defaults."""
    return answers.search(view, SearchIn.model_validate(asked).model_dump())


def lists(collection, **options):
    """The whole ranking of every row, with scores and reasons."""
    view = collection.view
    found = []
    for row in collection.store.rows_at(collection.key, view.generation):
        asked = {"query": {"id": json.loads(row.id)}, "k": 100, **options}
        answer = search(view, asked)
        answer.pop("took_ms")
        found.append(answer)
    return found


def without_cache(catalog):
    with catalog.store.database.write() as connection:
        connection.execute(tables.caches.delete())


def reopened(catalog):
    return Catalog(catalog.store).get("pets")


def change(collection):
    collection.add([{"name": "Wolfi", "weight": 27, "animal": "wolf", "tags": ["wild"]}])
    collection.replace(1, {"name": "Rex II", "weight": 33, "animal": "dog", "tags": ["tame"]})
    collection.remove([3])
    collection.add([{"name": "Fuchs", "weight": 8, "animal": "fox", "tags": ["wild", "red"]}])


def test_an_index_is_made_again_as_it_was(catalog):
    collection = create(catalog)
    collection.view  # noqa: B018
    change(collection)
    expected = lists(collection)
    assert len(expected) == 7
    cached = reopened(catalog)
    assert lists(cached) == expected
    assert cached.last_load == "read from the cache"
    without_cache(catalog)
    fitted = reopened(catalog)
    assert lists(fitted) == expected
    assert fitted.last_load == "fitted again: no cache"
    fitted.save_cache()
    again = reopened(catalog)
    assert lists(again) == expected
    assert again.last_load == "read from the cache"


def test_the_answers_are_those_of_the_library(catalog):
    collection = create(catalog)
    index = la.Index(la.measures.Gower(scale="rank")).fit(PETS)
    for id in range(len(PETS)):
        hits = index.search(id, 10)
        answer = search(collection.view, {"query": {"id": id}})
        assert [hit["id"] for hit in answer["hits"]] == hits.ids
        assert [hit["similarity"] for hit in answer["hits"]] == [hit.similarity for hit in hits]


def test_a_damaged_cache_is_noticed_and_made_again(catalog):
    collection = create(catalog)
    expected = lists(collection)
    with catalog.store.database.write() as connection:
        part = connection.execute(tables.cache_parts.select()).first()
        data = bytearray(part.bytes)
        data[len(data) // 2] ^= 1
        connection.execute(tables.cache_parts.update().values(bytes=bytes(data)))
    again = reopened(catalog)
    assert lists(again) == expected
    assert again.last_load == "fitted again: a damaged cache (its hash is wrong)"


def test_a_cache_that_is_whole_but_not_ours_is_not_used(catalog):
    import hashlib

    collection = create(catalog)
    expected = lists(collection)
    with catalog.store.database.write() as connection:
        data = b"PK\x03\x04 not an index"
        connection.execute(tables.cache_parts.update().values(bytes=data))
        connection.execute(tables.caches.update().values(hash=hashlib.sha256(data).hexdigest()))
    again = reopened(catalog)
    assert lists(again) == expected
    assert again.last_load == "fitted again: a cache that cannot be read"


def test_two_catalogs_follow_one_log(catalog):
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store).get("pets")
    assert lists(one) == lists(other)
    change(one)
    assert other.view.generation == 1
    other.follow()
    assert lists(one) == lists(other)
    ids, generation = other.add([PETS[0]])  # ids are not given twice, whoever writes
    assert ids == [9]
    assert one.at_least(generation, 1.0).generation == generation
    assert lists(one) == lists(other)
    one.refit(lambda view: fit_again(view, "gower", {}, {"weight": 3.0}))
    other.add([PETS[1]])  # a writer catches up first, with a new measure too
    one.follow()
    assert lists(one) == lists(other)
    assert other.view.settings.measure == "gower"
    other_store.close()


def test_two_threads_that_follow_apply_no_change_twice(catalog):
    """While one waits for its turn another catches up, and the other server writes once more."""
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store).get("pets")
    assert lists(one) == lists(other)
    one.add([PETS[0]])
    turn = other._lock

    class Late:
        """A lock that is had only after another thread has followed."""

        def __enter__(self):
            other._lock = turn
            other.follow()
            one.add([PETS[1]])
            turn.acquire()

        def __exit__(self, *error):
            turn.release()

    other._lock = Late()
    assert other.follow().generation == one.view.generation
    assert lists(one) == lists(other)
    other_store.close()


def test_a_collection_that_another_server_made_again_is_not_taken_for_the_old_one(catalog):
    one = create(catalog)
    change(one)
    others = [Catalog(Store(catalog.address)) for _ in range(2)]
    loaded, waiting = (other.get("pets") for other in others)
    assert lists(loaded) == lists(one)
    catalog.delete("pets")
    again = create(catalog, PETS[:3])
    with pytest.raises(NotFound, match="'pets'"):
        loaded.add([PETS[0]])
    with pytest.raises(NotFound):
        waiting.view  # noqa: B018
    for other in others:
        other.follow()
        assert lists(other.get("pets")) == lists(again)
        other.store.close()


def test_a_refit_keeps_what_was_written_meanwhile(catalog):
    collection = create(catalog)

    def make(view):
        after = fit_again(view, "gower", {"animal": "text"}, {})
        change(collection)  # written while the new measure was being fitted
        return after

    collection.refit(make)
    assert collection.view.generation == 6
    assert collection.view.schema.kinds["animal"].name == "text"
    expected = lists(collection)
    assert {hit["label"] for hit in expected[0]["hits"]} >= {"Wolfi", "Rex II", "Fuchs"}
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected


def test_odd_cells_come_back_too(catalog):
    collection = create(catalog)
    collection.add([{"name": "odd", "weight": 3, "animal": "1.0", "tags": [["a", "b"], ["c"]]}])
    expected = lists(collection)
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected


def test_rows_that_are_refused_change_nothing(catalog):
    collection = create(catalog)
    expected = lists(collection)
    for bad in (
        [{"weight": 3}, {"weight": "heavy"}],  # no number
        [{"weight": 3, "wieght": 4}],  # no column
        [{"weight": 3, "tags": {"no": "set"}}],
    ):
        with pytest.raises((InvalidInput, TypeError)):
            collection.add(bad)
    with pytest.raises(NotFound):
        collection.remove([1, 77])
    with pytest.raises(NotFound):
        collection.replace(77, PETS[0])
    assert collection.view.generation == 1
    assert lists(collection) == expected
    assert lists(reopened(catalog)) == expected


def test_the_last_row_stays(catalog):
    collection = create(catalog)
    with pytest.raises(InvalidInput, match="at least one row"):
        collection.remove(list(range(len(PETS))))


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
        ([{"id": 1, "x": 1}, {"id": 1, "x": 2}], "1 is in it twice"),
        ([{"id": 1.5, "x": 1}, {"id": 2, "x": 2}], "1.5 in row 0"),
        ([{"id": None, "x": 1}, {"id": 2, "x": 2}], "None in row 0"),
    ],
)
def test_bad_ids_are_named(tmp_path, rows, found):
    catalog = Catalog(Store(tmp_path / "a.sqlite"))
    with pytest.raises(InvalidInput, match=found):
        create(catalog, rows, id_column="id")
    assert catalog.heads() == []
    catalog.store.close()


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


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("films.csv", "films"),
        ("../../etc/passwd", "etc-passwd"),
        ("Filme & Serien (2005).csv.gz", "Filme-Serien-2005"),
        (".csv", "table"),
        ("ü", "table"),
    ],
)
def test_names_from_files(file, name):
    assert name_from(file) == name


def test_text_is_found_label_first(catalog):
    collection = create(catalog)
    assert collection.texts.find(collection.view, "re", 9) == [1, 3]  # Rex, then Grey
    assert collection.texts.find(collection.view, "REX", 9) == [1]
    assert collection.texts.find(collection.view, "cat", 9) == [0, 2]
    collection.add([{"name": "Regina", "weight": 2}])
    assert collection.texts.find(collection.view, "re", 9) == [1, 6, 3]
    collection.remove([1])
    assert collection.texts.find(collection.view, "re", 9) == [6, 3]
