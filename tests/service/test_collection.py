"""Collections: what is in memory is what is in the store, however it came there."""

import pytest

from lookalike.errors import InvalidInput
from lookalike.service.analysis.results import fit_again
from lookalike.service.catalog import Catalog
from lookalike.service.store import database as tables
from lookalike.service.store.store import NotFound, Store
from service.collections_made import change, create, lists, reopened, without_cache
from service.running import PETS


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
