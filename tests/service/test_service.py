"""Short requests get through while long ones wait in line; loaded tables are left alone."""

import gc
import threading
import time

import anyio
import pytest

from lookalike.service import Client
from lookalike.service.api import search as routes
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Service
from service.running import running

ROWS = [{"weight": weight, "animal": "cat"} for weight in range(1, 9)]


def test_searches_wait_in_line_and_rows_do_not(tmp_path, monkeypatch):
    """Six slow searches: never more in parallel than the limit, and a row is answered meanwhile."""
    now, most, lock = 0, 0, threading.Lock()
    find = routes.find

    def slow(view, asked):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.2)
        with lock:
            now -= 1
        return find(view, asked)

    with running(tmp_path / "store.sqlite") as (service, client):
        client.create("pets", rows=ROWS)
        client.search("pets", 0)
        service.turns = anyio.CapacityLimiter(2)
        monkeypatch.setattr(routes, "find", slow)
        found = []

        def ask():
            with Client(client.address) as own:
                found.append(own.search("pets", 0, 3)["hits"])

        callers = [threading.Thread(target=ask) for _ in range(6)]
        for caller in callers:
            caller.start()
        while now < 2:
            time.sleep(0.01)
        assert client.row("pets", 3)["row"]["weight"] == 4
        assert len(found) < 6
        for caller in callers:
            caller.join()
    assert most == 2
    assert len(found) == 6
    assert all(hits == found[0] for hits in found)


@pytest.fixture
def thawed():
    yield
    gc.unfreeze()


def test_the_collector_leaves_loaded_tables_alone(tmp_path, thawed):
    service = Service(tmp_path / "store.sqlite")
    service.catalog.create("pets", ROWS, CollectionSettings("pets"), RequestLimits())
    service.warm("pets")
    service._settle()
    assert gc.get_freeze_count() == 0  # a service inside of another program touches nothing
    service.settles = True
    service._settle()
    frozen = gc.get_freeze_count()
    assert frozen > 0
    gc.unfreeze()
    service._settle()  # nothing new: not again
    assert gc.get_freeze_count() == 0
    service.catalog.create("more", ROWS, CollectionSettings("more"), RequestLimits())
    service.warm("more")
    service._settle()
    assert gc.get_freeze_count() > 0
    service.store.close()
