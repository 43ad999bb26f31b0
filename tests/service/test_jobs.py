"""Long work: jobs with progress, and an end; views of a whole collection."""

import asyncio
import json
import threading
import time

import numpy as np
import pytest

import lookalike as la
from lookalike._runtime.progress import Cancelled, watching
from lookalike._runtime.threads import run
from lookalike.service import ServiceError
from lookalike.service import jobs as jobs_module
from lookalike.service.api.views import POLL_SECONDS, _events
from lookalike.service.jobs import Job, Jobs
from lookalike.service.problems import Refused
from lookalike.service.store.store import NotFound
from service.running import run_alone, running

RANDOM = np.random.default_rng(0)


MANY = [
    {
        "name": f"row {i}",
        "x": float(RANDOM.normal() + 4 * (i % 3)),
        "y": float(RANDOM.normal()),
        "group": "abc"[i % 3],
    }
    for i in range(120)
]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    with running(tmp_path_factory.mktemp("many") / "a.sqlite") as (service, client):
        client.create("many", rows=MANY)
        client.service = service
        yield client


def test_work_reports_and_can_be_ended():
    heard = []
    with watching(lambda *found_result: heard.append(found_result)):
        run(time.sleep, [(0.001,)] * 5, 2, "resting")
    assert heard[-1] == ("resting", 5, 5)
    stop = threading.Event()
    for jobs in (1, 2):
        stop.clear()
        with pytest.raises(Cancelled), watching(lambda *_: stop.set(), stop.is_set):
            run(time.sleep, [(0.01,)] * 500, jobs, "resting")
    assert run(abs, [(-1,)], 1) == [1]  # not watched any more


def test_jobs_run_in_turn_and_the_same_one_runs_once():
    jobs, go = Jobs(), threading.Event()

    def work(job):
        assert go.wait(300)
        return {"x": 1}

    one = jobs.start("a", "c", 1, work)
    assert jobs.start("a", "c", 1, work) is one
    two = jobs.start("b", "c", 1, work)
    assert two.to_dict()["state"] == "queued"
    jobs.cancel(two)
    go.set()
    assert one.ended.wait(300)
    assert one.to_dict()["result"] == {"x": 1}
    assert two.state == "cancelled"
    jobs.close()


def test_what_waits_is_not_forgotten_and_no_more_than_so_much_waits(monkeypatch):
    monkeypatch.setattr(jobs_module, "MAX_JOBS", 3)
    jobs, go = Jobs(), threading.Event()
    done = jobs.start("a", "c", 0, lambda job: {})
    assert done.ended.wait(300)
    waiting = [jobs.start("a", "c", key, lambda job: {"ok": go.wait(300)}) for key in (1, 2)]
    last = jobs.start("a", "c", 3, lambda job: {})  # in the place of the one that is done
    with pytest.raises(NotFound):
        jobs.get(done.id)
    with pytest.raises(Refused, match="fewer than 3 that wait") as caught:
        jobs.start("a", "c", 4, lambda job: {})
    assert caught.value.status == 503
    assert [jobs.get(job.id) for job in (*waiting, last)] == [*waiting, last]
    go.set()
    assert last.ended.wait(300)
    jobs.close()


def test_large_results_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(jobs_module, "MAX_RESULTS", 2_000)
    jobs = Jobs()
    for key, size in enumerate((10, 1_500, 1_500, 9_000)):
        job = jobs.start("a", "c", key, lambda job, size=size: {"x": "x" * size})
        assert job.ended.wait(300)
    jobs.close()  # waits for the last one to be counted
    assert [len(one.result["x"]) for one in jobs._jobs.values()] == [9_000]


def test_a_job_that_fails_has_a_problem():
    jobs = Jobs()
    bad = jobs.start("a", "c", 1, lambda job: la.read_table({"x": []}))
    assert bad.ended.wait(300)
    assert bad.state == "failed"
    assert bad.problem["status"] == 422
    assert bad.problem["needed"]
    worse = jobs.start("b", "c", 1, lambda job: 1 / 0)
    assert worse.ended.wait(300)
    assert worse.problem["status"] == 500
    assert "division" not in json.dumps(worse.problem)
    jobs.close()


def test_a_running_job_is_ended(many):
    def work(job):
        run(time.sleep, [(0.02,)] * 3_000, 2, "resting")
        return {}

    job = many.service.jobs.start("rest", "many", "x", work)
    while many.get(f"/api/jobs/{job.id}")["progress"] is None:
        time.sleep(0.02)
    assert many.get(f"/api/jobs/{job.id}")["text"] == "resting"
    many.request("DELETE", f"/api/jobs/{job.id}")
    assert job.ended.wait(300)
    assert many.get(f"/api/jobs/{job.id}")["state"] == "cancelled"
    with pytest.raises(ServiceError, match="the job was cancelled"):
        many.wait(job.id)


def test_events_tell_the_whole_story(many):
    def work(job):
        run(time.sleep, [(0.1,)] * 8, 1, "resting")
        return {"n": 8}

    job = many.service.jobs.start("rest", "many", "y", work)
    raw = many.request("GET", f"/api/jobs/{job.id}/events").decode()
    events = [part for part in raw.split("\n\n") if part]
    assert all(event.startswith("event: job\ndata: {") for event in events)
    states = [json.loads(event.partition("data: ")[2]) for event in events]
    assert len(states) >= 3
    shares = [one["progress"] for one in states if one["progress"] is not None]
    assert shares == sorted(shares)
    assert states[-1]["state"] == "done"
    assert states[-1]["result"] == {"n": 8}


def test_small_steps_are_no_events():
    """A loop may report thousands of times a second; each event is sent to every client."""
    job = Job("x", "a", "c", 1)
    for done in (0, 5, 9, 10, 19, 20, 1_000):
        job.report("resting", done, 1_000)
    assert job.version == 4  # 0, 10, 20 and the end
    assert job.progress == 1
    job.report("another", 0, 0)
    assert (job.version, job.progress) == (5, None)


def test_jobs_that_are_remembered_are_few(monkeypatch):
    monkeypatch.setattr(jobs_module, "MAX_JOBS", 3)
    jobs = Jobs()
    made = []
    for number in range(5):
        made.append(jobs.start("a", "c", number, lambda job: {}))
        assert made[-1].ended.wait(300)
    assert jobs.get(made[2].id) is made[2]
    with pytest.raises(NotFound, match="not found"):
        jobs.get(made[1].id)
    assert jobs.counts() == {"done": 3}
    jobs.close()


def test_a_job_that_does_not_change_sends_no_event():
    job = Job("1", "map", "films", "key")

    async def listen():
        events = _events(job)
        sent = [await anext(events)]
        waiting = asyncio.ensure_future(anext(events, b"end"))
        for _ in range(3):  # three looks at a job that is as it was
            await asyncio.sleep(POLL_SECONDS)
            assert not waiting.done()
        job.state, job.version = "done", job.version + 1
        job.ended.set()
        return [*sent, await waiting, await anext(events, b"end")]

    first, last, end = run_alone(listen())
    assert b'"queued"' in first
    assert b'"done"' in last
    assert end == b"end"


def test_a_job_step_by_step():
    job = Job("7", "map", "pets", 1)
    assert job.to_dict() == {
        "id": "7", "kind": "map", "collection": "pets", "state": "queued", "progress": None,
        "text": "", "problem": None, "result": {},
    }  # fmt: skip
    for what, done, total, version, progress in (
        ("a", 0, 1_000, 1, 0.0),
        ("a", 9, 1_000, 1, 0.0),  # less than one percent
        ("a", 11, 1_000, 2, 0.011),
        ("b", 11, 1_000, 3, 0.011),
        ("b", 995, 1_000, 4, 0.995),
        ("b", 1_000, 1_000, 5, 1.0),  # the end always counts
        ("b", 3, 0, 6, None),
    ):
        job.report(what, done, total)
        assert (job.version, job.progress, job.text) == (version, progress, what)
    job.change("running")
    assert (job.version, job.ended.is_set()) == (7, False)
    job.change("done", result={"x": 1})
    assert (job.version, job.result, job.ended.is_set()) == (8, {"x": 1}, True)


def test_clients_of_a_job_are_counted():
    jobs, go = Jobs(), threading.Event()
    first = jobs.start("a", "pets", 1, lambda job: go.wait(60) and {})
    second = jobs.start("b", "pets", 1, lambda job: {"x": 1})
    assert jobs.start("b", "pets", 1, dict) is second
    assert jobs.start("b", "pets", 2, dict) is not second
    assert (first.clients, second.clients) == (1, 2)
    assert [job.kind for job in jobs.of("pets")] == ["a", "b", "b"]
    assert jobs.of("others") == []
    assert len(jobs.of()) == 3
    jobs.leave(second)
    assert not second.cancel.is_set()
    jobs.leave(second)
    assert (second.state, second.cancel.is_set()) == ("cancelled", True)
    go.set()
    assert first.ended.wait(60)
    jobs.close()
    counts = jobs.counts()
    assert counts["cancelled"] >= 1
    assert sum(counts.values()) == 3
    assert jobs.failure("a", 1) is None
    assert jobs.failure("a", 9) is None
    jobs.leave(first)
    assert first.state == "done"


def test_only_our_own_mistakes_are_logged(monkeypatch):
    jobs, logged = Jobs(), []
    monkeypatch.setattr(jobs_module.log, "exception", lambda text, extra: logged.append(extra))
    for kind, error, status in (
        ("given", la.errors.InvalidInput("a", "b", "c", "d"), 422),
        ("ours", RuntimeError("a cell"), 500),
    ):

        def work(job, error=error):
            raise error

        job = jobs.start(kind, "pets", 1, work)
        assert job.ended.wait(60)
        assert (job.state, job.problem["status"]) == ("failed", status)
        assert jobs.failure(kind, 1) is job.problem
    assert logged == [{"job": "ours"}]
    jobs.close()


def test_no_table_waits_for_the_long_job_of_another():
    jobs, go = Jobs(), threading.Event()
    order = []

    def long(job):
        assert go.wait(60)
        return {}

    first = jobs.start("long", "films", 1, long)
    behind = jobs.start("short", "films", 3, lambda job: order.append("films") or {})
    other = jobs.start("short", "pets", 4, lambda job: order.append("pets") or {})
    assert other.ended.wait(60)
    assert (first.ended.is_set(), behind.state) == (False, "queued")
    go.set()
    assert behind.ended.wait(60)
    assert order == ["pets", "films"]
    jobs.close()


def test_tables_take_turns_where_there_are_more_than_may_run(monkeypatch):
    monkeypatch.setattr(jobs_module, "MAX_RUNNING", 1)
    jobs, go, order = Jobs(), threading.Event(), []
    jobs.start("wait", "a", None, lambda job: go.wait(60) and {})
    made = [
        jobs.start("note", table, (table, number), lambda job: order.append(job.key) or {})
        for table in "abc"
        for number in (1, 2)
    ]
    go.set()
    assert all(job.ended.wait(60) for job in made)
    assert order == [(table, number) for number in (1, 2) for table in "abc"]
    jobs.close()


@pytest.mark.parametrize(("for_view", "state"), [(True, "cancelled"), (False, "running")])
def test_a_view_that_nobody_watches_any_more_is_not_worked_on(monkeypatch, for_view, state):
    monkeypatch.setattr(jobs_module, "GRACE_SECONDS", 0.0)
    jobs, go = Jobs(), threading.Event()

    def work(job):
        while not (go.is_set() or job.cancel.wait(0.01)):
            pass
        if job.cancel.is_set():
            raise Cancelled
        return {}

    job = jobs.start("map", "films", 1, work, for_view)
    while job.state == "queued":
        time.sleep(0.01)
    job.seen = time.monotonic() + 60
    jobs.end_unwatched()
    assert not job.cancel.is_set()  # one has just seen it
    job.seen = time.monotonic() - 0.01
    jobs.end_unwatched()
    if for_view:
        assert job.ended.wait(60)
    assert job.state == state
    go.set()
    assert job.ended.wait(60)
    jobs.close()


def test_a_view_that_was_asked_for_once_is_worked_on_for_a_while(monkeypatch):
    monkeypatch.setattr(jobs_module, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(jobs_module, "PATIENCE_SECONDS", 0.3)
    jobs, go, began = Jobs(), threading.Event(), time.monotonic()
    names = {"films": True, "pets": False}
    view, other = (jobs.start("map", c, c, lambda job: go.wait(60) and {}, names[c]) for c in names)
    while not view.cancel.is_set():
        jobs.end_unwatched()
    assert time.monotonic() - began >= 0.3
    assert not other.cancel.is_set()
    go.set()
    jobs.close()


def test_a_client_that_asks_now_and_then_keeps_a_view_alive(monkeypatch):
    monkeypatch.setattr(jobs_module, "GRACE_SECONDS", 0.2)
    jobs, go = Jobs(), threading.Event()
    job = jobs.start("map", "films", 1, lambda job: go.wait(60) and {}, True)
    job.seen = time.monotonic()
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        assert not jobs.get(job.id).cancel.is_set()
        jobs.end_unwatched()
        time.sleep(0.01)
    while not job.cancel.is_set():  # nobody asks any more
        jobs.end_unwatched()
        time.sleep(0.01)
    go.set()
    jobs.close()
