"""Short requests get through while long ones wait in line; loaded tables are left alone."""

import contextlib
import gc
import threading
import time
from types import SimpleNamespace

import anyio
import pytest

from lookalike._runtime.config import count_jobs
from lookalike.errors import LookalikeError
from lookalike.service import Client
from lookalike.service.api import search as routes
from lookalike.service.fitting import CollectionSettings
from lookalike.service.jobs import Job
from lookalike.service.limits import RequestLimits
from lookalike.service.problems import Refused
from lookalike.service.safety import AccessPolicy
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


@pytest.fixture
def service(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    made = Service(tmp_path / "store.sqlite", folder=folder)
    made.catalog.create("pets", ROWS, CollectionSettings("Pets"), RequestLimits())
    yield made
    made.close()


def test_a_service_is_what_it_was_asked_to_be(service, tmp_path):
    assert service.limits == RequestLimits()
    assert service.access == AccessPolicy()
    assert service.store_answers is True
    assert service.settles is False
    assert service.turns.total_tokens == max(2, count_jobs(-1))
    with contextlib.closing(Service(tmp_path / "b.sqlite", limits=RequestLimits(k=3))) as other:
        assert other.folder is None
        assert other.limits.k == 3


def test_a_brief_needs_no_index(service):
    expected = {
        "name": "pets", "title": "Pets", "rows": 8, "columns": 2, "measure": "Gower",
        "generation": 1,
    }  # fmt: skip
    (brief,) = service.briefs()
    assert brief.pop("created")
    assert brief == expected
    collection = service.catalog.get("pets")
    assert not collection.loaded
    collection.view  # noqa: B018
    assert service.briefs()[0]["rows"] == 8


def test_a_document_says_what_is_being_computed(service, monkeypatch):
    collection = service.catalog.get("pets")

    def spaces():
        return service.document(collection)["spaces"]

    assert spaces() == {"plain": True, "repaired": "none", "reduction_helps": None}
    assert service.document(collection)["jobs"] == []
    for kind, said in (("repair", "job"), ("hubs", "job"), ("map", "none")):
        job = Job("7", kind, "pets", 1)
        monkeypatch.setattr(service.jobs, "of", lambda name, job=job: [job])
        assert spaces()["repaired"] == said
        assert service.document(collection)["jobs"] == [job.to_dict()]
    known = SimpleNamespace(document={"reduction_helps": True})
    monkeypatch.setattr(service.analyses, "known_hubs", lambda *given: known)
    assert spaces()["reduction_helps"] is True
    collection.set_repaired(collection.view, collection.view.index)
    monkeypatch.setattr(service.jobs, "of", lambda name: [Job("7", "repair", "pets", 1)])
    assert spaces()["repaired"] == "ready"


def test_only_files_below_the_folder_are_read(service, tmp_path):
    folder = tmp_path / "tables"
    (folder / "a.csv").write_text("x\n1\n")
    (folder / "inner").mkdir()
    assert service.file_under_folder("a.csv") == folder / "a.csv"
    assert service.file_under_folder("inner/../a.csv") == folder / "a.csv"
    for path, status in (("../store.sqlite", 403), ("a\0", 422), ("none", 404), ("inner", 404)):
        with pytest.raises(Refused) as caught:
            service.file_under_folder(path)
        assert caught.value.status == status
    service.folder = None
    with pytest.raises(Refused) as caught:
        service.file_under_folder("a.csv")
    assert caught.value.status == 403


def test_one_round_after_the_other(service, monkeypatch):
    """What the thread in the background does, without the thread."""
    done = []

    class Rounds:
        def __init__(self, count):
            self.left = count

        def wait(self, seconds):
            assert seconds == 0.25
            self.left -= 1
            return self.left < 0

        def set(self):
            pass

    def fails():
        done.append("fails")
        raise LookalikeError("gone")

    monkeypatch.setattr(service.sessions, "sweep", lambda: done.append("sweep"))
    monkeypatch.setattr(service.catalog, "follow", lambda: done.append("follow"))
    monkeypatch.setattr(service.catalog, "save_caches", lambda: done.append("save"))
    monkeypatch.setattr(service, "_settle", lambda: done.append("settle"))
    service.store_answers = False
    service._stop = Rounds(2)
    service._follow()
    assert done == ["sweep", "follow", "save", "settle", "follow", "save", "settle"]
    assert service.store_answers is True
    monkeypatch.setattr(service.catalog, "follow", fails)
    service._stop = Rounds(2)
    service._follow()
    assert done[7:] == ["sweep", "fails", "fails"]
    assert service.store_answers is False


def test_the_first_collection_is_warmed_in_the_background(service, monkeypatch):
    warmed = []
    monkeypatch.setattr(
        "lookalike.service.service.load_compiler", lambda: warmed.append("compiler")
    )
    monkeypatch.setattr(service, "warm", warmed.append)
    service.catalog.create("zoo", ROWS, CollectionSettings("zoo"), RequestLimits())
    service.warm_soon()
    service._warmer.join()
    assert warmed == ["compiler", "pets"]
    assert service._warmer.daemon
    for name in ("pets", "zoo"):
        service.catalog.delete(name)
    service.warm_soon()
    service._warmer.join()
    assert warmed == ["compiler", "pets", "compiler"]
    service.start()
    assert service._follower.daemon
    service.close()
    assert not service._follower.is_alive()
