"""The HTTP API: the words of the library, as JSON."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from lookalike.service import ServiceError
from lookalike.service.api import collections as collection_routes
from lookalike.service.api import document, models, shared
from lookalike.service.api import search as search_routes
from lookalike.service.api import views as views_routes
from lookalike.service.fitting import CollectionSettings
from lookalike.service.jobs import Job
from lookalike.service.limits import RequestLimits
from lookalike.service.problems import Refused
from lookalike.service.service import Service
from lookalike.service.store.database import requests
from lookalike.service.store.store import Store
from lookalike.verbs import get_verb
from service.running import PETS, run_alone, running

SEARCH = "/api/collections/pets/search"


def refused(status, call, *arguments, **options):
    with pytest.raises(ServiceError) as error:
        call(*arguments, **options)
    problem = error.value.problem
    assert error.value.status == problem["status"] == status, problem
    always = {"type", "title", "status", "detail", "who", "needed", "found", "hint"}
    assert always <= set(problem) <= always | {"parameter", "value"}
    assert all(problem[part] for part in ("who", "needed", "found", "hint")), problem
    return problem


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ({"weight": [">=", 28]}, {1, 3, 5}),
        ({"weight": {">": 4, "<": 30}}, {2, 3}),
        ({"animal": "cat"}, {0, 2}),
        ({"animal": {"in": ["dog", "wolf"]}}, {1, 3}),
        ({"animal": None}, {4}),
        ({"tags": ["contains", "wild"]}, {3}),
        ({"name": "Rex"}, {1}),
        ({"weight": [">", 1000]}, set()),
    ],
)
def test_filters(server, condition, ids):
    answer = server.search("pets", {"weight": 10}, 10, filter=condition)
    assert {hit["id"] for hit in answer["hits"]} == ids
    assert answer["matched"] == len(ids)


def test_measures_are_listed(server):
    found = {one["name"]: one["text"] for one in server.get("/api/measures")["measures"]}
    # Other tests may have defined measures without a docstring.
    assert all(found[name] for name in ("auto", "gower", "ranked", "cosine", "zhu3"))


def test_a_measure_is_tried_without_changing_the_table(pets):
    path = "/api/collections/pets"
    listed = [one["name"] for one in pets.get(f"{path}/measures")["measures"]]
    assert listed[0] == "auto"
    assert "combined" not in listed  # which needs its parts
    body = {"query": {"id": 0}, "k": 3}
    before = pets.post(f"{path}/search", body)
    asked = body | {"measure": "ratio:n_trees=20"}
    job = pets.post(f"{path}/search", asked)["job"]
    assert (job["kind"], job["collection"]) == ("trial", "pets")
    pets.wait(job["id"])
    tried = pets.post(f"{path}/search", asked)
    assert [hit["similarity"] for hit in tried["hits"]] != [h["similarity"] for h in before["hits"]]
    assert pets.post(f"{path}/search", body)["hits"] == before["hits"]
    assert pets.get(path)["measure"]["asked"] == "auto"
    for bad in ("nothing", "ratio:n_trees=1000000000"):
        with pytest.raises(ServiceError, match="measure"):
            pets.post(f"{path}/search", body | {"measure": bad})


def test_rows_come_and_go(pets):
    added = pets.add("pets", [{"name": "Fuchs", "weight": 8, "animal": "fox", "tags": ["red"]}])
    assert added == {"ids": [6], "generation": 2}
    assert pets.row("pets", 6)["row"]["tags"] == ["red"]
    found = pets.search("pets", {"weight": 8, "animal": "fox", "tags": ["red"]}, 1, at_least=2)
    assert found["hits"][0]["id"] == 6
    assert found["hits"][0]["similarity"] == 1
    changed = pets.replace("pets", 6, {"name": "Fuchs", "weight": 9})
    assert changed["row"] == {"name": "Fuchs", "weight": 9, "animal": None, "tags": None}
    assert pets.delete("pets", 6) == {"id": 6, "generation": 4}
    refused(404, pets.row, "pets", 6)
    assert [row["id"] for row in pets.rows("pets")] == [0, 1, 2, 3, 4, 5]
    assert pets.add("pets", PETS[:2])["ids"] == [8, 9]  # ids are never given again


def test_pages_and_texts(server):
    first = server.get("/api/collections/pets/rows", {"limit": 4})
    assert [row["id"] for row in first["rows"]] == [0, 1, 2, 3]
    rest = server.get("/api/collections/pets/rows", {"limit": 4, "after": first["next"]})
    assert [row["id"] for row in rest["rows"]] == [4, 5]
    assert rest["next"] is None
    found = server.get("/api/collections/pets/rows", {"text": "TOM"})["rows"]
    assert found == [{"id": 0, "label": "Tom", "row": dict(PETS[0], tags=["small", "tame"])}]


def test_what_does_not_exist_is_404(server):
    refused(404, server.describe, "unknown")
    refused(404, server.search, "unknown", 0)
    refused(404, server.search, "pets", 99)
    refused(404, server.search, "pets", 0, like=[99])
    refused(404, server.row, "pets", "unknown")
    refused(404, server.undo, "pets", "unknown")
    refused(404, server.get, "/api/jobs/unknown")
    refused(404, server.get, "/nowhere")
    refused(404, server.get, "/web/../service.py")
    refused(404, server.get, "/web/%2e%2e/service.py")
    refused(405, server.request, "PATCH", "/api/collections/pets")


def test_bad_searches_are_distinguished(server):
    problem = refused(422, server.search, "pets", 0, weights={"wieght": 2})
    assert problem["hint"] == "Did you mean 'weight'?"
    refused(422, server.search, "pets", 0, weights={"weight": -1})
    refused(422, server.search, "pets", 0, filter={"weight": ["~", 3]})
    refused(422, server.search, "pets", 0, k=0)
    refused(422, server.search, "pets", 0, k=10**6)
    refused(422, server.search, "pets", 0, kk=3)
    refused(422, server.search, "pets", {})
    refused(422, server.search, "pets", [])
    refused(422, server.search, "pets", 0, like=[1], unlike=[1])
    refused(422, server.search, "pets", 0, space="repaired")
    refused(422, server.search, "pets", True)


def test_a_generation_that_is_not_there_yet_is_503(tmp_path):
    with running(tmp_path / "a.sqlite", limits=RequestLimits(wait=0.1)) as (_, client):
        client.create("pets", rows=PETS)
        problem = refused(503, client.search, "pets", 0, at_least=5)
        assert problem["found"] == "1"


def test_names_are_given_once(server):
    refused(409, server.create, "pets", rows=PETS)
    for name in ("", "a/b", "..", "a b", "x" * 65, "ü", "-a"):
        refused(422, server.create, name, rows=PETS)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".jsonl", ".parquet"])
def test_files_are_uploaded(server, tmp_path, ending):
    import gzip

    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / f"table{ending}"
    rows = [{"a": i, "b": "xy"[i % 2]} for i in range(8)]
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        mark = "\t" if ending == ".tsv" else ","
        text = "\n".join([f"a{mark}b", *(f"{r['a']}{mark}{r['b']}" for r in rows)])
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    name = "up" + ending.replace(".", "-")
    found = server.create(name, file=path, kinds={"b": "category"})
    assert found["rows"] == 8
    assert found["title"] == name
    assert {c["name"]: c["kind"] for c in found["columns"]}["b"] == "category"


def test_a_file_that_is_none_is_refused(server, tmp_path):
    for name, data in [("a.csv", b""), ("a.parquet", b"PAR1"), ("a.exe", b"MZ"), ("a", b"x")]:
        path = tmp_path / name
        path.write_bytes(data)
        refused(422, server.create, "bad", file=path)
    refused(422, server.create, "bad", rows=[])
    refused(422, server.create, "bad")
    refused(422, server.create, "bad", rows=PETS, path="x")


def test_paths_stay_below_the_folder(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "a.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    (tmp_path / "secret.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    with running(tmp_path / "a.sqlite", folder=folder) as (_, client):
        assert client.create("a", path="a.csv")["rows"] == 3
        for path in (
            "../secret.csv",
            str(tmp_path / "secret.csv"),
            "link.csv",
            "x/../../secret.csv",
        ):
            refused(403, client.create, "b", path=path)
        refused(404, client.create, "b", path="none.csv")
        refused(422, client.create, "b", path="a.csv\x00")
    with running(tmp_path / "b.sqlite") as (_, client):
        refused(403, client.create, "b", path="a.csv")


def test_a_deleted_collection_is_gone(pets):
    id = pets.session("pets", 0)["id"]
    pets.drop("pets")
    refused(404, pets.describe, "pets")
    refused(404, pets.get, f"/api/collections/pets/sessions/{id}")
    assert pets.collections() == []
    pets.create("pets", rows=PETS[:3])
    assert pets.describe("pets")["rows"] == 3


def test_the_openapi_document_has_examples(server):
    document = server.get("/openapi.json")
    assert {
        "/api/v1/collections",
        "/api/v1/collections/{c}/search",
        "/api/v1/jobs/{j}/events",
    } <= set(document["paths"])
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            assert one.get("summary"), (path, method)
            ok = [r for status, r in one["responses"].items() if status.startswith("2")]
            assert ok, (path, method)


def test_the_store_can_be_looked_into_while_it_is_served(pets):
    store = Store(pets.service.store.database.path)
    assert [head.name for head in store.heads()] == ["pets"]
    store.close()


def test_a_new_level_of_a_guessed_order_is_a_note_and_comes_back(pets):
    rows = [{"size": size, "mass": mass} for mass, size in enumerate(["small", "medium", "large"])]
    pets.create("boxes", rows=[*rows, *rows])
    note = pets.search("boxes", {"size": "huge", "mass": 1}, 2)["note"]
    assert note.count("'huge' in 'size'. They are taken as missing") == 1
    (id,) = pets.add("boxes", [{"size": "huge", "mass": 1}])["ids"]
    assert pets.row("boxes", id)["row"]["size"] == "huge"
    assert "huge" in str(pets.search("boxes", id, 2))


IDS = [
    "null",
    "NA",
    "nan",
    "NULL",
    "None",
    "\n",
    " ",
    "a\nb",
    "a/b",
    "..",
    "%2F",
    "x?y#z",
    "+",
    "é",
]


@pytest.mark.parametrize("how", ["rows", "csv", "added"])
def test_every_text_is_an_id(tmp_path, how):
    rows = [{"key": key, "x": i, "c": "ab"[i % 2]} for i, key in enumerate(IDS)]
    with running(tmp_path / "a.sqlite") as (_, client):
        if how == "csv":
            path = tmp_path / "t.csv"
            lines = [f'"{row["key"]}",{row["x"]},{row["c"]}\n' for row in rows]
            path.write_text("key,x,c\n" + "".join(lines), encoding="utf-8", newline="")
            client.create("t", file=path, id_column="key")
        elif how == "rows":
            client.create("t", rows=rows, id_column="key")
        else:
            client.create(
                "t", rows=[row | {"key": f"_{row['x']}"} for row in rows], id_column="key"
            )
            client.add("t", rows)
        for row in rows:
            found = client.row("t", row["key"])
            assert (found["id"], found["row"]["x"]) == (row["key"], row["x"])
            assert client.replace("t", row["key"], row | {"x": 50})["row"]["x"] == 50
            client.search("t", row["key"], k=2)
        client.delete("t", "NA")
    with running(tmp_path / "a.sqlite") as (_, client):  # read from the store again
        assert {row["id"] for row in client.rows("t")} >= set(IDS) - {"NA"}


def test_ids_of_a_file_are_numbers_only_where_all_of_them_are(tmp_path, pets):
    path = tmp_path / "t.csv"
    for texts, ids in (("7 8 -9", [7, 8, -9]), ("7 8 null", ["7", "8", "null"])):
        path.write_text("key,x\n" + "".join(f"{t},{i}\n" for i, t in enumerate(texts.split())))
        name = "numbers" if ids[0] == 7 else "texts"
        pets.create(name, file=path, id_column="key")
        assert [row["id"] for row in pets.rows(name)] == ids


def test_defaults_and_bounds_of_requests():
    asked = models.SearchIn(query=1)
    assert (asked.k, asked.gamma, asked.explain, asked.space) == (10, None, 3, "plain")
    assert (asked.filter, asked.weights, asked.columns, asked.at_least) == (None,) * 4
    assert (asked.like, asked.unlike) == ([], [])
    made = models.CreateIn()
    assert made.model_dump() == {
        "name": None, "title": None, "path": None, "rows": None, "kinds": {}, "missing": [],
        "id_column": None, "label_column": None, "measure": "auto", "example": None,
    }  # fmt: skip
    assert models.MeasureIn().model_dump() == {
        "measure": "auto", "kinds": {}, "weights": {}, "missing": [], "label_column": None,
    }  # fmt: skip
    for model, fits, refuses in (
        (models.SearchIn, {"query": "x" * 1_000}, {"query": "x" * 1_001}),
        (models.SearchIn, {"query": 1, "k": 1}, {"query": 1, "k": 0}),
        (models.SearchIn, {"query": 1, "gamma": 0}, {"query": 1, "gamma": -0.1}),
        (models.SearchIn, {"query": 1, "gamma": 100}, {"query": 1, "gamma": 100.5}),
        (models.SearchIn, {"query": 1, "gamma": None}, {"query": 1, "gamma": float("nan")}),
        (models.SearchIn, {"query": 1, "explain": 0}, {"query": 1, "explain": -1}),
        (models.SearchIn, {"query": 1, "explain": 1_000}, {"query": 1, "explain": 1_001}),
        (models.SearchIn, {"query": 1, "weights": {"a": 0}}, {"query": 1, "weights": {"a": -1}}),
        (models.MeasureIn, {"weights": {"a": 1e300}}, {"weights": {"a": float("inf")}}),
        (models.MeasureIn, {"measure": "m" * 1_000}, {"measure": "m" * 1_001}),
        (models.CreateIn, {"title": "t" * 200}, {"title": "t" * 201}),
        (models.CreateIn, {"path": "p" * 1_000}, {"path": "p" * 1_001}),
        (models.CreateIn, {"missing": ["x"] * 100}, {"missing": ["x"] * 101}),
        (models.CreateIn, {"measure": "m" * 1_000}, {"measure": "m" * 1_001}),
        (models.RowsIn, {"rows": [{}]}, {"rows": []}),
        (models.ProfileIn, {"ids": [1]}, {"ids": []}),
    ):
        model.model_validate(fits)
        with pytest.raises(ValidationError):
            model.model_validate(refuses)


def test_json_that_no_column_can_hold_is_refused():
    few = RequestLimits(cell=5, depth=3)
    for fits in (["abcde"], {"a": 2**63 - 1}, [-(2**63)], [1e308], [True], {"abcde": None}):
        assert shared.read_json(json.dumps(fits).encode(), few) == fits
    for bad, status, needed in (
        (b'["abcdef"]', 413, "texts of at most 5 characters, found one of 6"),
        (b'{"abcdef": 1}', 413, "texts of at most 5 characters"),
        (b"[9223372036854775808]", 422, "integers of at most 64 bits, found a larger one"),
        (b"[-9223372036854775809]", 422, "integers of at most 64 bits"),
        (b"[1e400]", 422, "numbers that a float can hold|JSON"),
        (b'["\\ud800"]', 422, "whole characters, found half of a surrogate pair"),
        (b"[[[[1]]]]", 422, "a JSON text"),
        (b"nothing", 422, "a JSON text"),
    ):
        with pytest.raises(Refused, match=needed) as caught:
            shared.read_json(bad, few)
        assert caught.value.status == status
    assert (shared.answer({}).status_code, shared.answer([1], 201).status_code) == (200, 201)
    assert list(document.documented("row")) == [200]
    assert shared.LATER[202]["content"]["application/json"]["example"] == "started"


def test_limits_of_lists_and_the_pages_behind_them(server):
    limits, get = server.service.limits, server.get
    at = "/api/collections/pets"
    server.service.limits = replace(limits, marks=2, queries=2, nodes=3, batch=2, rows=7)
    try:
        server.search("pets", [0, 1])
        refused(413, server.search, "pets", [0, 1, 2])
        server.search("pets", 0, like=[1], unlike=[2])
        refused(413, server.search, "pets", 0, like=[1], unlike=[2, 3])
        id = server.session("pets", 0)["id"]
        server.mark("pets", id, like=[1], unlike=[2])
        refused(413, server.mark, "pets", id, like=[1, 2], unlike=[3])
        assert server.profile("pets", [0, 1, 2, 3] * 5)["size"] == 4
        refused(413, server.profile, "pets", [0] * 21)
        assert len(server.graph("pets", 0, k=5)["nodes"]) == 3
        refused(413, server.add, "pets", PETS[:3])
        refused(413, server.add, "pets", PETS[:2])  # one more than the collection may have
        refused(413, server.create, "eight", rows=[*PETS, *PETS[:2]])
    finally:
        server.service.limits = limits
    assert len(server.graph("pets", 0)["nodes"]) == 6  # five neighbors by default
    for query in ({"limit": 0}, {"limit": 1_001}, {"text": "x" * 201}, {"after": "x" * 1_001}):
        refused(422, get, f"{at}/rows", query)
    assert get(f"{at}/rows", {"limit": 6})["next"] is None
    assert get(f"{at}/rows", {"limit": 5})["next"] == 4
    assert [row["id"] for row in get(f"{at}/rows", {"text": "cat", "limit": 1})["rows"]] == [0]
    assert len(get(f"{at}/rows", {"text": " "})["rows"]) == 6
    for path in ("graph?id=0&depth=0", "graph?id=0&depth=5", "graph?id=0&k=51", "hubs?k=0"):
        refused(422, get, f"{at}/{path}")
    assert len(get(f"{at}/graph", {"id": 0, "depth": 4, "k": 50})["nodes"]) == 6


def test_events_of_a_job(monkeypatch):
    job, now, slept = Job("7", "map", "pets", 1), [0.0], []

    async def sleep(seconds):
        slept.append(seconds)
        now[0] += 10
        if len(slept) == 3:
            job.change("done")

    # Of this module alone: servers of other tests sleep, too.
    monkeypatch.setattr(views_routes, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(views_routes, "asyncio", SimpleNamespace(sleep=sleep))

    async def listen():
        return [event async for event in views_routes._events(job)]

    events = run_alone(listen())
    states = [event if event[:1] == b":" else json.loads(event[17:])["state"] for event in events]
    assert states == ["queued", b": alive\n\n", "done"]
    assert events[0].startswith(b"event: job\ndata: {")
    assert slept == [0.1] * 3
    assert job.seen == 30  # a job that is followed is not ended as one that nobody watches


def test_verbs_are_asked_in_their_own_words():
    assert search_routes._without({"h": 1, "a": [{"h": 2, "b": 3}, 4]}, "h") == {"a": [{"b": 3}, 4]}
    model = search_routes.request_model(get_verb("hubs"))
    assert model.__name__ == "HubsAsk"
    assert model(k=1).k == 1
    for wrong in ({"k": 0}, {"k": True}, {"k": "5"}, {"kk": 5}):
        with pytest.raises(ValidationError):
            model.model_validate(wrong)
    assert search_routes.QUICK_VERBS == ("inspect", "search")


def test_what_the_page_opens_on(tmp_path):
    service = Service(tmp_path / "a.sqlite")

    def opening(name, answered):
        return json.loads(collection_routes.opening(service, name, answered).body)

    for name in ("pets", "more"):
        service.catalog.create(name, PETS, CollectionSettings(name), service.limits)
    opened = opening(None, True)
    assert (opened["collection"]["name"], opened["answer"]["query"]["id"]) == ("pets", 5)
    assert [one["name"] for one in opened["collections"]] == ["pets", "more"]
    assert opening("more", False)["answer"] is None
    assert opening("more", True)["collection"]["name"] == "more"
    service.store.close()


def test_rows_that_are_sent_again_with_their_key_are_added_once(tmp_path):
    path = tmp_path / "a.sqlite"
    with running(path) as (service, client):
        client.create("pets", rows=PETS)
        first = client.add("pets", PETS[:2], key="k1")
        assert first == {"ids": [6, 7], "generation": 2}
        assert client.add("pets", PETS[:2], key="k1") == first
        assert client.add("pets", PETS[:2], key="k2")["ids"] == [8, 9]
        problem = refused(422, client.add, "pets", PETS[:3], key="k1")
        assert problem["who"] == "header Idempotency-Key"
        refused(422, client.add, "pets", PETS[:1], key="x" * 201)
        refused(422, client.add, "pets", [{"weight": "heavy"}], key="k3")  # not kept: not written
        assert client.add("pets", PETS[:1], key="k3")["ids"] == [10]
        client.create("more", rows=PETS)
        assert client.add("more", PETS[:2], key="k1")["ids"] == [6, 7]  # keys of each collection
    with running(path) as (service, client):  # also after a restart
        assert client.add("pets", PETS[:2], key="k1") == first
        assert client.describe("pets")["rows"] == 11
        old = requests.c.at < "9"
        with service.store.database.write() as connection:
            connection.execute(requests.update().where(old).values(at="2020-01-01T00:00:00"))
        assert client.add("pets", PETS[:1], key="k4")["ids"] == [11]
        assert client.add("pets", PETS[:2], key="k1")["ids"] == [12, 13]  # forgotten after a day


def test_a_collection_that_is_sent_again_with_its_key_is_made_once(server):
    body = {"name": "once", "rows": PETS}
    first = server.request("POST", "/api/collections", body, "key")
    assert server.request("POST", "/api/collections", body, "key")["created"] == first["created"]
    refused(409, server.request, "POST", "/api/collections", body, "other")
    refused(409, server.request, "POST", "/api/collections", body | {"rows": PETS[:3]}, "key")
    refused(409, server.request, "POST", "/api/collections", body)


def test_put_creates_a_row(pets):
    assert pets.replace("pets", 20, PETS[0])["id"] == 20
    assert pets.add("pets", PETS[:1])["ids"] == [21]  # no number is given twice
    assert pets.replace("pets", 10, PETS[1])["row"]["name"] == "Rex"  # one that was left out
    assert pets.add("pets", PETS[:1])["ids"] == [23]
    assert [row["id"] for row in pets.rows("pets")][-4:] == [20, 21, 10, 23]
    for id in ("x", -1, 10**15, "007"):
        problem = refused(404, pets.replace, "pets", id, PETS[0])
        assert problem["needed"] == "a number from 0, below 1,000,000,000,000,000"
    assert pets.search("pets", 20, 1)["hits"][0]["id"] in (0, 21, 23)


def test_a_number_is_an_id_as_in_python(server):
    assert server.post(SEARCH, {"query": 4})["query"]["id"] == 4
    assert server.post(SEARCH, {"query": {"id": 4}})["query"]["id"] == 4
    assert server.post(SEARCH, {"query": [4, 1]})["answers"][1]["query"]["id"] == 1
    refused(404, server.post, SEARCH, {"query": 821})


def test_lists_are_drawn_from_more_neighbors(server):
    body = {"query": 4, "k": 3}
    near = [hit["id"] for hit in server.post(SEARCH, body | {"k": 8})["hits"]]
    drawn = [hit["id"] for hit in server.post(SEARCH, body | {"among": 8})["hits"]]
    assert [near.index(id) for id in drawn] == sorted(near.index(id) for id in drawn)
    assert len(drawn) == 3
    assert drawn != near[:3]
    assert server.post(SEARCH, body | {"among": 8})["hits"][0]["id"] == drawn[0]
    refused(422, server.post, SEARCH, body | {"among": 2})
    refused(413, server.post, SEARCH, body | {"among": 2001})
