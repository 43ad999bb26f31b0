"""Collections are found, made and followed; short requests get through while long ones wait."""

import contextlib
import threading
import time
from types import SimpleNamespace

import anyio
import pytest

from lookalike._runtime.config import count_jobs
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service import Client
from lookalike.service.analysis import fit_again
from lookalike.service.api import search as routes
from lookalike.service.api.models import MeasureIn
from lookalike.service.fitting import CollectionSettings
from lookalike.service.jobs import Job
from lookalike.service.limits import RequestLimits
from lookalike.service.problems import Refused
from lookalike.service.safety import AccessPolicy
from lookalike.service.service import Catalog, Service, check_name, name_from, settings_from
from lookalike.service.store.store import Conflict, NotFound, Store
from service.collections_made import change, create, lists
from service.running import PETS, running


def test_two_catalogs_follow_one_log(catalog):
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store).get("pets")
    assert lists(one) == lists(other)
    change(one)
    assert other.view.generation == 1
    other.follow()
    assert lists(one) == lists(other)
    ids, generation = other.add([PETS[0]])  # no id is given twice, by any server
    assert ids == [9]
    assert one.at_least(generation, 1.0).generation == generation
    assert lists(one) == lists(other)
    asked = MeasureIn(measure="gower", weights={"weight": 3.0})
    one.refit(lambda view: fit_again(view, asked))
    other.add([PETS[1]])  # a writer catches up first, with a new measure too
    one.follow()
    assert lists(one) == lists(other)
    assert other.view.settings.measure == "gower"
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


def test_a_collection_is_known_once_it_was_asked_for(catalog):
    assert catalog.known("pets") is None
    made = create(catalog)
    assert catalog.known("pets") is made
    assert catalog.known("others") is None


def test_names_are_safe_and_of_limited_length(catalog):
    for name in ("a", "9", "x" * 64, "a.b-c_d"):
        assert check_name(name) == name
    for name in ("", "x" * 65, "a..b", "-a", "a b", "a/b", "ü"):
        with pytest.raises(InvalidInput, match="collection name: needs 1 to 64 letters"):
            check_name(name)
    assert name_from("x" * 80 + ".csv") == "x" * 64
    assert name_from("a..b.parquet") == "a.b"
    with pytest.raises(NotFound, match="collection 'a/b': not found"):
        catalog.get("a/b")
    with pytest.raises(InvalidInput, match="collection name"):
        catalog.create("a/b", PETS, CollectionSettings("x"), RequestLimits())


def test_a_collection_is_made_within_limits_and_replaced_on_request(catalog):
    one = create(catalog)
    settings = one.view.settings
    assert (settings.measured, settings.compared) == ("Gower", 3)
    assert settings.reason != "given"
    assert one.view.index.ids == list(range(6))
    assert catalog.store.load_index(one.key, 1)[0] == 1
    rows = [(row.id, row.record) for row in catalog.store.rows_at(one.key, 1)]
    assert rows[1] == ("1", rows[1][1])
    assert '"weight":30' in rows[1][1]
    with pytest.raises(Conflict, match="it exists already"):
        create(catalog, PETS[:3])
    with pytest.raises(LookalikeError):
        catalog.create("small", PETS, CollectionSettings("x"), RequestLimits(rows=5))
    with pytest.raises(LookalikeError):
        catalog.create("small", PETS, CollectionSettings("x"), RequestLimits(columns=3))
    limits = RequestLimits(rows=6, columns=4)
    assert catalog.create("small", PETS, CollectionSettings("x"), limits).count() == 6
    new = catalog.create("pets", PETS[:3], CollectionSettings("y"), limits, replace_old=True)
    assert new is not one
    assert new is catalog.get("pets") is catalog.known("pets")
    assert {found.name for found in catalog} == {"pets", "small"}
    catalog.delete("small")
    assert catalog.known("small") is None


def test_a_catalog_says_how_far_it_lags(catalog):
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store)
    theirs = other.get("pets")
    other.follow()
    assert other.lag == {}  # not loaded, so that nothing lags
    assert not theirs.loaded
    theirs.view  # noqa: B018
    one.add([PETS[0]])
    seen, follow = [], theirs.follow
    theirs.follow = lambda: seen.append(dict(other.lag)) or follow()
    other.follow()
    assert seen == [{"pets": 1}]
    assert other.lag == {"pets": 0}
    assert theirs.view.generation == 2
    other.follow()
    assert len(seen) == 1  # nothing new
    one.add([PETS[1]])

    def gone():
        raise NotFound("x", "y", "z", "h")

    theirs.follow = gone
    other.follow()
    assert other.lag == {"pets": 1}
    newest = other.store.generations()
    other.store.generations = lambda: dict.fromkeys(newest, 1)
    other.follow()
    assert other.lag == {"pets": 0}  # written since the query
    other.store.generations = dict
    other.follow()
    assert other.lag == {}
    assert list(other) == []
    other_store.close()


def test_old_caches_are_written(catalog):
    one = create(catalog)
    saved = []
    one.view  # noqa: B018
    one.save_cache = lambda: saved.append(True)
    catalog.follow()
    assert saved == []
    one._cached = -1_000
    catalog.follow()
    assert saved == [True]

    def fails():
        raise LookalikeError("no")

    one.save_cache = fails
    catalog.follow()  # not worth an error


def test_settings_from_options():
    options = {"title": None, "kinds": {}, "measure": "gower", "id_column": "", "rows": [1]}
    assert settings_from(options, "t", {"file": "f"}) == CollectionSettings(
        "t", measure="gower", source={"file": "f"}
    )
    assert settings_from({"title": "own"}, "t", {}).title == "own"


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

    monkeypatch.setattr(service.catalog, "follow", lambda: done.append("follow"))
    service.store_answers = False
    service._stop = Rounds(2)
    service._follow()
    assert done == ["follow", "follow"]
    assert service.store_answers is True
    monkeypatch.setattr(service.catalog, "follow", fails)
    service._stop = Rounds(2)
    service._follow()
    assert done[2:] == ["fails", "fails"]
    assert service.store_answers is False


def test_the_first_collection_is_warmed_in_the_background(service, monkeypatch):
    warmed = []
    monkeypatch.setattr(
        "lookalike.service.service.load_compiler", lambda: warmed.append("compiler")
    )
    monkeypatch.setattr(service, "warm", warmed.append)
    service.catalog.create("zoo", ROWS, CollectionSettings("zoo"), RequestLimits())
    service.warm_soon()
    service._threads[-1].join()
    assert warmed == ["compiler", "pets"]
    assert service._threads[-1].daemon
    for name in ("pets", "zoo"):
        service.catalog.delete(name)
    service.warm_soon()
    service._threads[-1].join()
    assert warmed == ["compiler", "pets", "compiler"]
    service.start()
    assert service._threads[-1].daemon
    service.close()
    assert not service._threads[-1].is_alive()
