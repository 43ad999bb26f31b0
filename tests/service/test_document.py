"""The OpenAPI document: every operation has a shape, and answers have the shapes it says."""

import copy
import http.client
import json
from urllib.parse import urlsplit

import pytest

from lookalike.service.api import models
from lookalike.service.api.document import SCHEMAS, describe_api, index_page
from lookalike.service.api.models import EXAMPLES
from lookalike.service.safety import AccessPolicy
from lookalike.service.server import create_app
from lookalike.service.service import Service
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.requests import request_model
from service.running import PETS, running

jsonschema = pytest.importorskip("jsonschema", reason="it comes with schemathesis")
PETS_AT = "/api/v1/collections/pets"
ROWS = [{**PETS[i % 6], "name": f"pet {i}", "weight": i * 7 % 29 + 0.5} for i in range(24)]


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("document") / "store.sqlite")
    yield describe_api(create_app(service))
    service.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with running(tmp_path_factory.mktemp("site") / "store.sqlite") as (_, client):
        client.create("pets", rows=ROWS, label_column="name")
        yield client


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def test_every_answer_has_a_shape_and_an_example(document):
    n_json = 0
    for path, method, one in operations(document):
        assert one["operationId"].replace("_", "").isalpha(), one["operationId"]
        assert one["summary"]
        assert one["description"]
        assert path.startswith(("/api/v1/", "/healthz", "/readyz", "/metrics"))
        for status, answer in one["responses"].items():
            for kind, content in answer.get("content", {}).items():
                assert content["schema"] not in ({}, {"type": "object"}), (path, method, status)
                if kind == "application/json":
                    n_json += 1
                    assert content["example"], (path, method)
    assert n_json > 50
    ids = [one["operationId"] for _, _, one in operations(document)]
    assert len(set(ids)) == len(ids)


def test_every_body_has_examples_that_are_accepted(document):
    for path, _, one in operations(document):
        content = one.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            continue
        shape = content["schema"]
        name = shape.get("$ref", "").rpartition("/")[2]
        shape = document["components"]["schemas"].get(name, shape)
        assert shape["examples"], path
        verb = path.rpartition("/ask/")[2] if "/ask/" in path else None
        for example in shape["examples"]:
            if verb:
                request_model(get_verb(verb)).model_validate(example)
            else:
                getattr(models, shape["title"]).model_validate(example)


def test_problems_are_documented_as_what_they_are(document):
    shared = document["components"]["responses"]
    for path, method, one in operations(document):
        for status in ("401", "404", "422", "503"):
            answer = one["responses"][status]
            if "$ref" in answer:
                answer = shared[answer["$ref"].rpartition("/")[2]]
                (kind,) = answer["content"]
                assert kind == "application/problem+json"
            else:
                assert (path, method, status) == ("/readyz", "GET", "503")
    assert document["security"] == [{}, {"token": []}]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert document["paths"]["/healthz"]["get"]["security"] == []


def strict(document):
    """Return the document with every named field as the only ones: none is sent undocumented."""
    made = copy.deepcopy(document)
    for shape in made["components"]["schemas"].values():
        if "properties" in shape:
            shape["additionalProperties"] = False
    return made


def complain(document, schema, value):
    whole = {**schema, "components": document["components"]}
    errors = jsonschema.Draft202012Validator(whole).iter_errors(value)
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in errors]


def test_examples_have_the_shapes_that_they_show(document):
    exact = strict(document)
    for path, method, one in operations(exact):
        for answer in one["responses"].values():
            content = answer.get("content", {}).get("application/json", {})
            if "example" in content:
                wrong = complain(exact, content["schema"], content["example"])
                assert wrong == [], (path, method)
    assert set(SCHEMAS) <= set(document["components"]["schemas"])
    assert complain(
        exact, {"$ref": "#/components/schemas/Row"}, {"id": 1.5, "label": "", "row": {}}
    )


# Of every verb, in few rows and trees; of some twice, where an answer depends on what was asked.
FEW = {"method": "forest:trees=10", "folds": 2}
ASKED = [
    ("inspect", {}), ("search", {"row": 0}), ("outliers", {"n": 2}), ("hubs", {"k": 3}),
    ("cluster", {"n_clusters": 2}),
    ("cluster", {"n_clusters": 2, "method": "means", "label": "animal"}),
    ("match", {"control": ROWS[:6]}), ("join", {"other": ROWS[:6], "why": True}),
    ("explain", {"row": 0, "other": {"weight": 3}}), ("audit", {"synthetic": ROWS[:6]}),
    ("compare", {"measures": ["gower"], "label": "animal"}), ("compare", {"measures": ["gower"]}),
    ("classify", {"label": "animal", "predict": ROWS[:1], **FEW}),
    ("regress", {"label": "weight", "method": "neighbors", "folds": 2}),
    ("report", {"sample": 20}), ("dedupe", {}), ("impute", {}), ("impute", {"draws": 2}),
    ("link", {"other": ROWS[:6], "threshold": 0.5}),
]  # fmt: skip


def asked(site):
    """Return a request for every other operation that answers with JSON: path, method, body."""
    session = site.session("pets", 0, 3)["id"]
    job = site.post(f"{PETS_AT}/repair", None)["job"]["id"]
    site.wait(job)
    row = {"name": "new", "weight": 3.5}
    lists = [
        ("", "GET", None), ("/rows?limit=2", "GET", None), ("/rows", "POST", {"rows": [row]}),
        ("/rows/1", "GET", None), ("/rows/1", "PUT", {"row": row}), ("/rows/2", "DELETE", None),
        ("/rows/2", "PUT", {"row": row}),
        ("/search", "POST", {"query": 0, "explain": "all"}),
        ("/search", "POST", {"query": [0, {"record": row}], "like": [3], "space": "repaired"}),
        ("/sessions", "POST", {"query": 0}), (f"/sessions/{session}", "GET", None),
        (f"/sessions/{session}/marks", "POST", {"like": [3]}),
        (f"/sessions/{session}/undo", "POST", None),
        ("/graph?id=0", "GET", None), ("/map", "GET", None), ("/hubs", "GET", None),
        ("/hubs/1", "GET", None), ("/clusters?labels=true", "GET", None),
        *((f"/map/colors?column={name}", "GET", None)
          for name in ("weight", "animal", "cluster", "occurrence")),
        ("/map/matches?filter=weight%3E3", "GET", None), ("/measures", "GET", None),
        ("/profile", "POST", {"ids": [0, 1, 3]}), ("/repair", "POST", None),
        ("/column", "POST", {"column": "animal", "kind": "text"}), ("/measure", "POST", {}),
    ]  # fmt: skip
    yield from ((PETS_AT + path, method, body) for path, method, body in lists)
    for path in ("collections", "examples", "measures", "opening", f"jobs/{job}"):
        yield f"/api/v1/{path}", "GET", None
    yield f"/api/v1/jobs/{job}", "DELETE", None
    yield "/api/v1/collections", "POST", {"name": "more", "rows": PETS}
    yield "/healthz", "GET", None
    yield "/readyz", "GET", None


def send(site, path, method, body, **headers):
    connection = http.client.HTTPConnection(urlsplit(site.address).netloc, timeout=300)
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    kind = answer.headers.get_content_type()
    return answer, json.loads(content) if kind.endswith("json") else content


def operation_of(document, path, method):
    """Return the operation that a request is for: that of the longest path that fits."""
    parts = path.partition("?")[0].split("/")
    found = []
    for known, methods in document["paths"].items():
        pairs = list(zip(known.split("/"), parts, strict=False))
        fits = known.count("/") == len(parts) - 1 and method.lower() in methods
        if fits and all(one[:1] == "{" or one == two for one, two in pairs):
            found.append((known.count("{"), known))
    known = min(found)[1]
    return known, document["paths"][known][method.lower()]


def complain_of(document, site, path, method, body):
    """Return what is undocumented in the answer to a request, and the operation."""
    known, operation = operation_of(document, path, method)
    answer, value = send(site, path, method, body)
    while answer.status == 202 and not known.endswith(("/measure", "/repair")):
        site.wait(value["job"]["id"])
        answer, value = send(site, path, method, body)
    assert answer.status < 300, (path, value)
    content = operation["responses"][str(answer.status)]["content"]
    assert list(content) == [answer.headers.get_content_type()], path
    schema = content.get("application/json", {}).get("schema")
    return known, [] if schema is None else complain(document, schema, value)


@pytest.mark.parametrize(("verb", "body"), ASKED)
def test_verbs_answer_as_documented(document, site, verb, body):
    # A new field of an answer is described in openapi.json.
    path = f"{PETS_AT}/ask/{verb}"
    assert complain_of(strict(document), site, path, "POST", body) == (
        f"/api/v1/collections/{{c}}/ask/{verb}", [],
    )  # fmt: skip


def test_answers_have_the_shapes_that_are_documented(document, site):
    exact, seen = strict(document), set()
    for path, method, body in asked(site):
        known, wrong = complain_of(exact, site, path, method, body)
        assert wrong == [], (method, path)
        seen.add((known, method))
    assert {verb for verb, _ in ASKED} == set(VERBS)
    seen |= {(f"/api/v1/collections/{{c}}/ask/{verb}", "POST") for verb in VERBS}
    assert {(path, method) for path, method, _ in operations(document)} - seen == {
        ("/metrics", "GET"),
        ("/api/v1/jobs/{j}/events", "GET"),
        ("/api/v1/collections/{c}", "DELETE"),
        ("/api/v1/collections/{c}/sessions/{s}", "DELETE"),
    }


def test_a_job_says_where_it_is(site):
    answer, value = send(site, f"{PETS_AT}/measure", "POST", {})
    job = value["job"]["id"]
    assert (answer.status, answer.headers["Location"]) == (202, f"/api/v1/jobs/{job}")
    assert int(answer.headers["Retry-After"]) >= 1
    assert send(site, answer.headers["Location"], "GET", None)[1]["id"] == job
    site.wait(job)


def test_what_was_made_says_where_it_is(site):
    rows = [{"name": "a/b ..", "weight": 1.0}, {"name": "..", "weight": 2.0}]
    body = {"name": "placed", "rows": rows * 3, "id_column": None}
    at = "/api/v1/collections/placed"
    assert send(site, "/api/v1/collections", "POST", body)[0].headers["Location"] == at
    for path, method, sent, where in (
        ("/rows", "POST", {"rows": rows[:1]}, "/rows/6"),
        ("/rows", "POST", {"rows": rows}, "/rows"),
        ("/rows/20", "PUT", {"row": rows[0]}, "/rows/20"),
        ("/sessions", "POST", {"query": 2}, "/sessions/"),
    ):
        answer, made = send(site, at + path, method, sent)
        assert answer.status == 201
        own = made["id"] if path == "/sessions" else ""
        assert answer.headers["Location"] == at + where + own
        assert send(site, answer.headers["Location"], "GET", None)[0].status == 200
    assert "Location" not in send(site, f"{at}/rows/20", "PUT", {"row": rows[1]})[0].headers
    site.drop("placed")
    named = [{"key": id, "weight": i} for i, id in enumerate(["a/b", "..", "c d", "e", "f"])]
    body = {"name": "k/..", "rows": named[2:], "id_column": "key"}
    problem = send(site, "/api/v1/collections", "POST", body)[1]
    assert problem["status"] == 422  # a name is a part of a path
    site.post("/api/v1/collections", body | {"name": "keyed"})
    for row in named[:2]:
        answer = send(site, "/api/v1/collections/keyed/rows", "POST", {"rows": [row]})[0]
        found = send(site, answer.headers["Location"], "GET", None)[1]
        assert found["id"] == row["key"]
    site.drop("keyed")


def test_both_names_of_a_version_answer_alike(site):
    for path in ("/collections/pets/rows/1", "/measures"):
        assert send(site, "/api" + path, "GET", None)[1] == site.get("/api/v1" + path)
    for path in ("/api/v2/measures", "/api/v11/measures"):
        assert send(site, path, "GET", None)[0].status == 404
    start = send(site, "/api", "GET", None)[1]
    assert start == send(site, "/api/v1", "GET", None)[1]
    for path in (start["docs"], start["openapi"], start["collections"]):
        assert send(site, path, "GET", None)[0].status == 200


def test_a_page_lists_all_requests_without_other_hosts(document, tmp_path):
    page = index_page(document)
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    for path, method, _ in operations(document):
        assert f"{method} {path}" in page
    assert EXAMPLES["deleted"]["id"] == 0
    assert "same animal: cat" in page
    assert "List the collections of this server." in page
    assert page.count("<h3>Body</h3>") > 25
    limited = AccessPolicy(tokens=True)
    with running(tmp_path / "store.sqlite", access=limited) as (_, client):
        assert send(client, "/docs", "GET", None)[0].status == 200  # code is no secret
        assert send(client, "/openapi.json", "GET", None)[0].status == 401
