"""Maps, hubs and clusters are kept across restarts, as long as the rows are the same."""

import numpy as np
import pytest
import sqlalchemy as sa

from lookalike.service.store import caches
from lookalike.service.store import database as tables
from lookalike.service.store.caches import Kept, load_result, save_result
from lookalike.service.store.store import Store
from service.running import running

RANDOM = np.random.default_rng(3)
ROWS = [
    {"x": float(RANDOM.normal() + 4 * (i % 3)), "y": float(RANDOM.normal()), "group": "abc"[i % 3]}
    for i in range(60)
]
VIEWS = ("map", "hubs", "clusters")


def looked_at(client):
    head, places = client.map("some")
    return head, places.tolist(), client.hubs("some"), client.clusters("some")


def jobs(client):
    """Return which views start a job."""
    found = set()
    for view in VIEWS:
        answer = client.request("GET", f"/api/collections/some/{view}")
        if isinstance(answer, dict) and "job" in answer:
            found.add(view)
            client.wait(answer["job"]["id"])
    return found


def test_what_was_found_is_there_after_a_restart(address):
    with running(address) as (_, client):
        client.create("some", rows=ROWS)
        client.replace("some", 3, ROWS[4])
        assert jobs(client) == set(VIEWS)
        before = looked_at(client)
        shown = client.request("GET", "/api/collections/some/hubs/5")
    with running(address) as (_, client):
        assert jobs(client) == set()
        assert looked_at(client) == before
        assert client.request("GET", "/api/collections/some/hubs/5") == shown
        color = client.request("GET", "/api/collections/some/map/colors?column=cluster")
        assert color["kind"] == "category"
        client.add("some", [ROWS[0]])  # now they are of other rows
        assert jobs(client) == set(VIEWS)
        assert looked_at(client)[0]["rows"] == len(ROWS) + 1
    with running(address) as (service, client):
        assert jobs(client) == set()
        client.refit("some", "gower", weights={"x": 3})
        assert jobs(client) == set(VIEWS)
        client.drop("some")
        with service.store.database.read() as connection:
            assert connection.execute(sa.select(tables.results.c.kind)).all() == []


def test_rows_that_a_cache_has_taken_in_count_as_changed(tmp_path):
    """Else the map after a restart would be that of the rows which were fitted."""
    store = tmp_path / "store.sqlite"
    with running(store) as (service, client):
        client.create("some", rows=ROWS)
        client.add("some", ROWS[:5])
        client.replace("some", 0, ROWS[1])
        client.delete("some", 2)
        changed = service.catalog.get("some").view.changed
        service.catalog.save_caches(only_old=False)
    with running(store) as (service, client):
        collection = service.catalog.get("some")
        assert collection.view.changed == changed == 8
        assert collection.last_load == "read from the cache"
        assert len(client.map("some")[1]) == len(ROWS) + 4
        assert client.hubs("some")["rows"] == len(ROWS) + 4


@pytest.fixture
def kept_map(tmp_path):
    store = tmp_path / "store.sqlite"
    with running(store) as (_, client):
        client.create("some", rows=ROWS)
        before = client.map("some")
    return store, before


@pytest.mark.parametrize("damage", ["byte", "cut", "version", "not an archive"])
def test_a_damaged_result_is_made_again(kept_map, damage):
    path, before = kept_map
    store = Store(path)
    with store.database.write() as connection:
        data = bytearray(connection.execute(sa.select(tables.results.c.bytes)).scalar())
        values = {}
        if damage == "byte":
            data[len(data) // 2] ^= 1
            values = {"bytes": bytes(data)}
        elif damage == "cut":
            values = {"bytes": bytes(data[: len(data) // 2])}
        elif damage == "version":
            values = {"version": "0.0.0"}
        else:  # its hash is right, and it is still nothing
            bad = b"PK nothing"
            values = {"bytes": bad, "hash": caches.hashlib.sha256(bad).hexdigest()}
        connection.execute(tables.results.update().values(**values))
    store.close()
    with running(path) as (_, client):
        answer = client.request("GET", "/api/collections/some/map")
        assert answer["job"]["kind"] == "map"
        after = client.map("some")
    assert after[0] == before[0]
    assert np.array_equal(after[1], before[1])


def test_results_are_few_and_small(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])

    def kinds():
        with store.database.read() as connection:
            return {kind for (kind,) in connection.execute(sa.select(tables.results.c.kind))}

    kept = Kept({"a": [1, "b"]}, {"x": np.arange(5.0)})
    for k in range(12):
        assert save_result(store.database, head.key, f"hubs-{k:02}", 1, kept)
    assert len(kinds()) == caches.MAX_RESULTS
    assert "hubs-11" in kinds()
    found = load_result(store.database, head.key, "hubs-11", 1)
    assert found.about == kept.about
    assert np.array_equal(found.arrays["x"], kept.arrays["x"])
    assert load_result(store.database, head.key, "hubs-11", 2) is None
    assert save_result(store.database, head.key, "map", 2, kept)
    assert kinds() == {"map"}  # what belongs to older rows has gone
    monkeypatch.setattr(caches, "MAX_RESULT_BYTES", 100)
    assert not save_result(store.database, head.key, "clusters", 2, kept)
    assert not save_result(store.database, head.key + 1, "map", 2, kept)
    assert kinds() == {"map"}
    store.close()


def test_objects_are_never_read(tmp_path):
    """An array of objects would be a pickle."""
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])
    values = np.empty(1, dtype=object)
    values[0] = {"a": 1}
    save_result(store.database, head.key, "map", 1, Kept({}, {"x": values}))
    assert load_result(store.database, head.key, "map", 1) is None
    store.close()
