"""Feedback sessions: searched once per round, without keeping those who write waiting."""

import datetime as dt
import threading
import time

import pytest

import lookalike as la
from lookalike.index import Index
from lookalike.service import ServiceError
from lookalike.service.api.models import SessionIn
from lookalike.service.collection import Collection
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Service
from lookalike.service.store import database as tables
from lookalike.service.store.store import NotFound
from service.running import PETS, running

ASKED = SessionIn(query={"id": 0}, k=4).model_dump()


@pytest.fixture
def service(tmp_path):
    service = Service(tmp_path / "store.sqlite")
    service.catalog.create("pets", PETS, CollectionSettings("pets"), RequestLimits())
    yield service
    service.store.close()


def parts(service) -> tuple[Collection, object]:
    found = service.catalog.get("pets")
    return found, found.view


def ids(document):
    return [hit["id"] for hit in document["answer"]["hits"]]


def test_an_answer_searches_for_the_last_round_and_the_one_before(service, monkeypatch):
    _, view = parts(service)
    sessions = service.sessions
    start = sessions.start(view, ASKED)
    one = sessions.mark(view, start["id"], [1], [])
    sessions.mark(view, start["id"], [], [4])
    sessions.mark(view, start["id"], [3], [])
    searched = []
    search = Index.search
    monkeypatch.setattr(Index, "search", lambda *a, **b: searched.append(1) or search(*a, **b))
    sessions.get(view, start["id"])
    assert len(searched) == 3  # the query alone, too, however many rounds there were
    sessions.undo(view, start["id"])
    assert sessions.undo(view, start["id"])["answer"]["hits"] == one["answer"]["hits"]
    assert ids(sessions.undo(view, start["id"])) == ids(start)


def test_writers_do_not_wait_for_the_search_of_a_round(service, monkeypatch):
    found, view = parts(service)
    start = service.sessions.start(view, ASKED)
    go, inside = threading.Event(), threading.Event()
    search = Index.search

    def slow(*args, **options):
        inside.set()
        assert go.wait(300)
        return search(*args, **options)

    monkeypatch.setattr(Index, "search", slow)
    marked = []
    work = lambda: marked.append(service.sessions.mark(view, start["id"], [1], []))  # noqa: E731
    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(300)
    began = time.monotonic()
    added, _ = found.add([{"name": "Max", "weight": 7, "animal": "dog", "tags": []}])
    assert time.monotonic() - began < 25  # else it would have waited for the store
    assert not marked
    go.set()
    thread.join()
    assert marked[0]["round"] == 1
    assert added[0] in found.view.index


def test_two_servers_change_one_session(service, tmp_path):
    """The second takes back a round and makes another: as many rounds, but not the same."""
    other = Service(tmp_path / "store.sqlite")
    _, view = parts(service)
    _, seen = parts(other)
    id = service.sessions.start(view, ASKED)["id"]
    service.sessions.mark(view, id, [1], [])
    other.sessions.undo(seen, id)
    changed = other.sessions.mark(seen, id, [3], [])
    again = service.sessions.get(view, id)
    assert again["liked"] == [3]
    assert ids(again) == ids(changed)
    other.store.close()


def test_parallel_marks_are_all_kept(service):
    _, view = parts(service)
    id = service.sessions.start(view, ASKED)["id"]
    threads = [
        threading.Thread(target=service.sessions.mark, args=(view, id, [row], []))
        for row in (1, 2, 3, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    document = service.sessions.get(view, id)
    assert sorted(document["liked"]) == [1, 2, 3, 4]
    assert document["round"] == 4


def refused(status, call, *arguments, **options):
    with pytest.raises(ServiceError) as error:
        call(*arguments, **options)
    problem = error.value.problem
    assert error.value.status == problem["status"] == status, problem
    always = {"type", "title", "status", "detail", "who", "needed", "found", "hint"}
    assert always <= set(problem) <= always | {"parameter", "value"}
    assert all(problem[part] for part in ("who", "needed", "found", "hint")), problem
    return problem


def test_feedback_changes_the_list_and_undo_brings_it_back(server):
    start = server.session("pets", 0, 3)
    assert start["round"] == 0
    assert [hit["moved"] for hit in start["answer"]["hits"]] == [0, 0, 0]
    one = server.mark("pets", start["id"], like=[1])
    session = la.index.FeedbackSession(la.Index().fit(PETS), 0, k=3)
    expected = session.like(1)
    assert [hit["id"] for hit in one["answer"]["hits"]] == expected.ids
    assert [hit["score"] for hit in one["answer"]["hits"]] == [1 - hit.score for hit in expected]
    before = [hit["id"] for hit in start["answer"]["hits"]]
    for hit in one["answer"]["hits"]:
        was = before.index(hit["id"]) + 1 if hit["id"] in before else None
        assert hit["moved"] == ("new" if was is None else was - hit["rank"])
    two = server.mark("pets", start["id"], unlike=[4])
    assert (two["round"], two["liked"], two["unliked"]) == (2, [1], [4])
    assert two["history"][1] == {"round": 2, "liked": [], "unliked": [4]}
    assert server.get(f"/api/collections/pets/sessions/{start['id']}") == two
    refused(422, server.mark, "pets", start["id"], like=[4])
    refused(422, server.mark, "pets", start["id"])
    assert server.undo("pets", start["id"])["answer"]["hits"] == one["answer"]["hits"]
    back = server.undo("pets", start["id"])
    assert back["answer"]["hits"] == start["answer"]["hits"]
    refused(422, server.undo, "pets", start["id"])
    server.request("DELETE", f"/api/collections/pets/sessions/{start['id']}")
    refused(404, server.undo, "pets", start["id"])


def test_a_session_outlives_the_server_and_its_rows(tmp_path):
    path = tmp_path / "a.sqlite"
    with running(path) as (_, client):
        client.create("pets", rows=PETS)
        id = client.session("pets", 0, 3)["id"]
        marked = client.mark("pets", id, like=[1], unlike=[4])
    with running(path) as (_, client):
        assert client.get(f"/api/collections/pets/sessions/{id}") == marked
        client.delete("pets", 1)
        after = client.get(f"/api/collections/pets/sessions/{id}")
        assert after["round"] == 1
        without = client.search("pets", 0, 3, unlike=[4])
        assert [h["id"] for h in after["answer"]["hits"]] == [h["id"] for h in without["hits"]]


def test_sessions_expire_a_month_after_the_last_mark(service, monkeypatch):
    _, view = parts(service)
    ids_made = [service.sessions.start(view, ASKED)["id"] for _ in range(2)]
    c = tables.sessions.c
    day = dt.timedelta(days=1)
    with service.store.database.write() as connection:
        for id, age in zip(ids_made, (29.9, 30.1), strict=True):
            at = (dt.datetime.now(dt.UTC) - age * day).isoformat(timespec="seconds")
            query = tables.sessions.update().where(c.id == id)
            connection.execute(query.values(touched=at))
    assert service.sessions.sweep() == 1
    assert service.sessions.get(view, ids_made[0])["round"] == 0
    with pytest.raises(NotFound, match=f"session '{ids_made[1]}': not found"):
        service.sessions.get(view, ids_made[1])
    assert service.sessions.sweep() == 0
    old = tables.sessions.update().values(touched="2020-01-01T00:00:00+00:00")
    service.store.database.change(old)
    service.sessions.start(view, ASKED)  # which looks for old ones
    with pytest.raises(NotFound):
        service.sessions.get(view, ids_made[0])


def test_a_session_that_is_deleted_is_gone(service):
    _, view = parts(service)
    sessions = service.sessions
    one = sessions.start(view, ASKED)["id"]
    assert len(one) == 16
    sessions.delete(view, one)
    with pytest.raises(NotFound):
        sessions.delete(view, one)


def test_a_session_in_full(service):
    found, view = parts(service)
    start = service.sessions.start(view, ASKED | {"query": "Tom", "gamma": 0.5})
    assert start["asked"]["query"] == {"id": 0}
    assert (start["round"], start["history"], start["liked"], start["unliked"]) == (0, [], [], [])
    assert (start["answer"]["matched"], start["answer"]["space"]) == (6, "plain")
    assert start["answer"]["generation"] == 1
    two = service.sessions.mark(view, start["id"], [1, 3], [4])
    expected = la.Index().fit(PETS).search(0, 4, like=[1, 3], unlike=[4], gamma=0.5)
    assert ids(two) == expected.ids
    assert two["history"] == [{"round": 1, "liked": [1, 3], "unliked": [4]}]
    ranks = {id: rank for rank, id in enumerate(ids(start), 1)}
    assert [hit["moved"] for hit in two["answer"]["hits"]] == [
        ranks[id] - rank if id in ranks else "new" for rank, id in enumerate(ids(two), 1)
    ]
    # All rows of the round are deleted: it counts, and changes nothing.
    service.sessions.undo(view, start["id"])
    service.sessions.mark(view, start["id"], [2], [])
    found.remove([2])
    after = service.sessions.get(found.view, start["id"])
    assert (after["round"], after["liked"]) == (1, [2])
    back = service.sessions.undo(found.view, start["id"])
    assert (back["round"], ids(back)) == (0, ids(after))
    record = service.sessions.start(view, ASKED | {"query": {"record": {"weight": 3}}})
    assert record["answer"]["query"]["id"] is None
