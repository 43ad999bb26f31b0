"""Long work: jobs with progress, and an end; views of a whole collection."""

import base64
import json
import threading
import time

import numpy as np
import pytest

import lookalike as la
from lookalike._runtime.progress import Cancelled, watching
from lookalike._runtime.threads import run
from lookalike.service import ServiceError
from lookalike.service.jobs import Jobs
from service.running import PETS, running

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
    with watching(lambda *told: heard.append(told)):
        run(time.sleep, [(0.001,)] * 5, 2, "resting")
    assert heard[-1] == ("resting", 5, 5)
    stop = threading.Event()
    for jobs in (1, 2):
        stop.clear()
        with pytest.raises(Cancelled), watching(lambda *_: stop.set(), stop.is_set):
            run(time.sleep, [(0.01,)] * 500, jobs, "resting")
    assert run(abs, [(-1,)], 1) == [1]  # nobody watches any more


def test_jobs_run_in_turn_and_the_same_one_runs_once():
    jobs, go = Jobs(), threading.Event()

    def work(job):
        assert go.wait(10)
        return {"x": 1}

    one = jobs.start("a", "c", 1, work)
    assert jobs.start("a", "c", 1, work) is one
    two = jobs.start("b", "c", 1, work)
    assert two.to_dict()["state"] == "queued"
    jobs.cancel(two)
    go.set()
    assert one.ended.wait(10)
    assert one.to_dict()["result"] == {"x": 1}
    assert two.state == "cancelled"
    jobs.close()


def test_a_job_that_fails_has_a_problem():
    jobs = Jobs()
    bad = jobs.start("a", "c", 1, lambda job: la.read_table({"x": []}))
    assert bad.ended.wait(10)
    assert bad.state == "failed"
    assert bad.problem["status"] == 422
    assert bad.problem["needed"]
    worse = jobs.start("b", "c", 1, lambda job: 1 / 0)
    assert worse.ended.wait(10)
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
    assert job.ended.wait(5)
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


def test_hubs_are_those_of_the_library(many):
    found = many.hubs("many", k=5)
    view = many.service.catalog.get("many").view
    counts = la.hubness.k_occurrence(view.index.measure_, 5)
    assert found["plain"]["largest"] == counts.max()
    assert found["plain"]["skewness"] == pytest.approx(la.hubness.skewness(counts))
    assert found["plain"]["unreachable"] == (counts == 0).sum()
    assert sum(found["plain"]["histogram"]["counts"]) == 120
    assert sum(found["repaired"]["histogram"]["counts"]) == 120
    assert not found["sampled"]
    top = found["plain"]["top"][0]
    assert top["occurrence"] == counts.max()
    shown = many.get(f"/api/collections/many/hubs/{top['id']}", {"k": 5, "limit": 1000})
    assert shown["occurrence"] == len(shown["shown_by"]) == top["occurrence"]
    for one in shown["shown_by"][:3]:
        hits = many.search("many", one["id"], 5)["hits"]
        assert hits[one["rank"] - 1]["id"] == top["id"]


def test_the_repaired_space_answers_and_says_why_it_cannot_weigh(many):
    many.repair("many")
    assert many.describe("many")["spaces"] == {"plain": True, "repaired": "ready"}
    plain, repaired = (many.search("many", 3, 20, space=space) for space in ("plain", "repaired"))
    assert plain["hits"] != repaired["hits"]
    with pytest.raises(ServiceError, match="a measure that weighs columns") as error:
        many.search("many", 3, space="repaired", weights={"x": 2})
    assert error.value.status == 422


def test_the_repaired_space_follows_the_rows(pets):
    pets.repair("pets")
    pets.add(
        "pets", [{"name": "Zwilling", "weight": 4, "animal": "cat", "tags": ["tame", "small"]}]
    )
    hits = pets.search("pets", 0, 9, space="repaired")["hits"]
    assert "Zwilling" in [hit["label"] for hit in hits]
    pets.delete("pets", 6)
    assert "Zwilling" not in [
        h["label"] for h in pets.search("pets", 0, 9, space="repaired")["hits"]
    ]


def test_the_graph_holds_the_lists(many):
    graph = many.graph("many", 0, depth=2, k=3)
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert nodes[0]["depth"] == 0
    assert {link["target"] for link in graph["links"] if link["source"] == 0} == {
        hit["id"] for hit in many.search("many", 0, 3)["hits"]
    }
    for link in graph["links"][:6]:
        back = [hit["id"] for hit in many.search("many", link["target"], 3)["hits"]]
        assert link["mutual"] == (link["source"] in back)
    assert len(many.graph("many", 0, depth=4, k=50)["nodes"]) <= 200


def test_clusters_and_colors(many):
    found = many.clusters("many")
    assert sum(one["size"] for one in found["clusters"]) == 120
    assert found["clusters"][0]["differs"][0]["text"]
    head, places = many.map("many")
    assert places.shape == (120, 2)
    assert np.isfinite(places).all()
    assert head["columns"] == ["x", "y", "group"]
    assert 0.8 < head["trust"] <= 1
    colors = many.get("/api/collections/many/map/colors", {"column": "group"})
    codes = np.frombuffer(base64.b64decode(colors["values"]), np.uint8)
    assert [colors["labels"][code] for code in codes[:3]] == ["a", "b", "c"]
    assert colors["gap"] == "missing"
    numbers = many.get("/api/collections/many/map/colors", {"column": "x"})
    cells = np.frombuffer(base64.b64decode(numbers["values"]), "<f4")
    assert cells[7] == pytest.approx(MANY[7]["x"], rel=1e-6)
    clusters = many.get("/api/collections/many/map/colors", {"column": "cluster"})
    assert len(base64.b64decode(clusters["values"])) == 120
    assert clusters["gap"] == "no cluster"
    with pytest.raises(ServiceError, match="a column"):
        many.get("/api/collections/many/map/colors", {"column": "nobody"})


def test_a_profile_says_what_sets_rows_apart(many):
    ids = list(range(0, 120, 3))  # all of group a
    found = many.profile("many", ids)
    assert (found["size"], found["rest"]) == (40, 80)
    group = next(one for one in found["differs"] if one["column"] == "group")
    assert (group["value"], group["inside"], group["outside"], group["score"]) == ("a", 1, 0, 1)
    assert found["differs"] == sorted(found["differs"], key=lambda one: -one["score"])
    assert {one["id"] for one in found["typical"]} <= set(ids)


def test_a_refit_serves_the_old_measure_until_it_is_done(pets):
    before = pets.search("pets", 0, 5)
    done = pets.refit("pets", "gower", weights={"weight": 5}, kinds={"animal": "text"})
    assert done["result"]["generation"] == 2
    after = pets.describe("pets")
    assert after["measure"]["weights"]["weight"] == 5
    assert {c["name"]: c["kind"] for c in after["columns"]}["animal"] == "text"
    assert pets.search("pets", 0, 5)["hits"] != before["hits"]
    for bad in ("gowwer", "vector:metrics=x"):
        with pytest.raises(ServiceError) as error:
            pets.refit("pets", bad)
        assert error.value.status == 422
    with pytest.raises(ServiceError, match="species|column|weigh"):
        pets.refit("pets", "gower", weights={"nobody": 2})
    assert pets.search("pets", 0, 5)["generation"] == 2


def test_drift_is_told(pets):
    pets.add("pets", [{"name": "x", "weight": 500 + i, "animal": "whale"} for i in range(30)])
    found = pets.describe("pets")["drift"]
    assert found["refit"]
    assert any("weight" in reason for reason in found["reasons"])
    pets.refit("pets")
    assert not pets.describe("pets")["drift"]["refit"]


def test_an_analysis_of_too_few_rows_says_so(tmp_path):
    """The job fails, and so does every later request, which would only fail again."""
    with running(tmp_path / "a.sqlite") as (_, client):
        client.create("one", rows=PETS[:1])
        for _ in range(2):
            with pytest.raises(ServiceError, match="at least 2 rows") as error:
                client.hubs("one")
            assert error.value.status == 422
        assert client.clusters("one")["clusters"][0]["size"] == 1


def test_measures_are_listed(server):
    found = {one["name"]: one["text"] for one in server.get("/api/measures")["measures"]}
    assert {"auto", "gower", "ranked", "cosine"} <= set(found)
    assert all(found.values())


def test_an_empty_set_is_not_called_missing():
    from types import SimpleNamespace

    from lookalike.service.analysis.views import Map
    from lookalike.table import read_table

    rows = {"tags": [{"a"}, set(), {"a", "b"}], "more": [{"a"}, None, {"b"}]}
    sample = SimpleNamespace(table=read_table(rows), ids=[0, 1, 2])
    drawn = Map(sample, {"trust": None}, {"places": np.zeros((3, 2))})
    assert drawn.colors("tags")["gap"] == "none"
    assert drawn.colors("more")["gap"] == "missing"
