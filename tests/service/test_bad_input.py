"""Bad input: each request gets a 4xx in the one shape, or the right answer."""

import http.client
import json
import os
import threading
import warnings
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.service import ServiceError
from service.running import PETS

HOSTILE = [
    "'; DROP TABLE lookalike_rows; --",
    '" OR 1=1 --',
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "../../etc/passwd",
    "%00",
    "a\x00b",
    "\x1b[31m\u202e",
    "{{7*7}}",
    "x" * 5_000,
    "",
    "NaN",
    "__proto__",
]


def raw(client, method, path, body, kind="application/json"):
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=300)
    connection.request(method, path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    if answer.status >= 400:
        assert answer.headers.get_content_type() == "application/problem+json", data
        problem = json.loads(data)
        assert {"who", "needed", "found", "hint", "detail", "title", "type"} <= set(problem)
        assert problem["status"] == answer.status
        assert len(data) < 10_000
    return answer.status, data


SEARCH = "/api/collections/pets/search"
ROWS = "/api/collections/pets/rows"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"3",
        b'"x"',
        b"\xff\xfe",
        b'{"query": {"id": NaN}}',
        b'{"query": {"id": 0}, "gamma": Infinity}',
        b'{"query": {"id": 0}, "gamma": 1e999}',
        b'{"query": {"id": 0}, "k": 1.5}',
        b'{"query": {"id": 0}, "k": "3"}',
        b'{"query": {"id": 0}, "k": true}',
        b'{"query": {"id": 1' + b"0" * 400 + b"}}",
        b'{"query": {"id": 1' + b"0" * 5_000 + b"}}",
        b'{"query": {"id": 99999999999999999999}}',
        b'{"query": {"id": true}}',
        b'{"query": {"id": [0]}}',
        b'{"query": {"record": {"weight": "\\ud800"}}}',
        b'{"query": {"record": [1]}}',
        b'{"query": {"record": {"weight": {}}}}',
        b'{"query": {"record": {"weight": [1, 2]}}}',
        b'{"query": {"record": {"tags": 3}}}',
        b'{"query": {"record": {"animal": {"a": 1}}}}',
        b'{"query": {"id": 0}, "query": {"id": 1}}',
        b'{"query": {"id": 0}, "filter": {"weight": {"in": 3}}}',
        b'{"query": {"id": 0}, "filter": {"weight": {"<": null}}}',
        b'{"query": {"id": 0}, "filter": {"weight": {"<": "heavy"}}}',
        b'{"query": {"id": 0}, "filter": {"weight": {"<": {}}}}',
        b'{"query": {"id": 0}, "filter": {"tags": {"contains": {}}}}',
        b'{"query": {"id": 0}, "filter": {"animal": {"<": "a"}}}',
        b'{"query": {"id": 0}, "filter": {"unknown": 1}}',
        b'{"query": {"id": 0}, "filter": [1]}',
        b'{"query": {"id": 0}, "weights": {"weight": "3"}, "columns": 3}',
        b'{"query": {"id": 0}, "weights": {"weight": 0, "animal": 0, "tags": 0}}',
        b'{"query": {"id": 0}, "weights": {"weight": 1e308, "animal": 1e308}}',
        b'{"query": {"id": 0}, "columns": []  , "explain": -1}',
        b'{"query": {"id": 0}, "columns": ["unknown"]}',
        b'{"query": {"id": 0}, "like": [0.5]}',
        b'{"query": {"id": 0}, "like": [null]}',
        b'{"query": {"id": 0}, "at_least": -5, "space": "other"}',
        b"[" * 100_000,
        b'{"query":' + b'{"record":' * 500 + b"1" + b"}" * 501,
    ],
)
def test_bad_searches(server, body):
    status, _ = raw(server, "POST", SEARCH, body)
    assert 400 <= status < 500, body[:80]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [3],
        [None],
        [[]],
        {},
        [{"weight": "heavy"}],
        [{"weight": [1]}],
        [{"weight": {"a": 1}}],
        [{"tags": [{"a": 1}]}],
        [{"tags": 3}],
        [{"animal": []}],
        [{"animal": {"a": []}}],
        [{"unknown": 1}],
        [{"lookalike_id": 1, "weight": 2}],
        [{"weight": 10**18, "animal": 10**30}],
    ],
)
def test_bad_rows(server, rows):
    status, _ = raw(server, "POST", ROWS, json.dumps({"rows": rows}).encode())
    assert 400 <= status < 500, rows
    assert server.describe("pets")["rows"] == 6


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "text/csv"]
)
def test_other_types_of_body(server, kind):
    for path in (SEARCH, "/api/collections"):
        status, _ = raw(server, "POST", path, b'{"query": {"id": 0}}', kind)
        assert 400 <= status < 500


@pytest.mark.parametrize(
    "form",
    [
        b"",
        b"--x",
        b"--x\r\n\r\n",
        b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n--x--\r\n',
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="../a"\r\n\r\na\r\n--x--',
        b'--x\r\nContent-Disposition: form-data; name="options"\r\n\r\n{"nam\r\n--x--\r\n',
    ],
)
def test_bad_forms(server, form):
    status, _ = raw(server, "POST", "/api/collections", form, "multipart/form-data; boundary=x")
    assert 400 <= status < 500
    status, _ = raw(server, "POST", "/api/collections", form, "multipart/form-data")
    assert 400 <= status < 500


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_in_every_field(server, text):
    for path in (
        f"/api/collections/{quote(text, safe='')}",
        f"{ROWS}/{quote(text, safe='')}",
        f"{ROWS}?text={quote(text[:300])}",
        f"{ROWS}?after={quote(text[:300])}",
        f"{ROWS}?limit={quote(text[:300])}",
        f"/api/collections/pets/sessions/{quote(text, safe='')}",
        f"/api/collections/pets/graph?id={quote(text[:300])}",
        f"/api/jobs/{quote(text, safe='')}",
        f"/web/{quote(text, safe='')}",
    ):
        status, data = raw(server, "GET", path, None)
        assert status < 500, path
        assert b"root:" not in data
    for body in (
        {"query": {"id": text}},
        {"query": {"record": {"name": text, "animal": text, "weight": 3}}},
        {"query": {"record": {text: 1}}},
        {"query": {"id": 0}, "filter": {"animal": text}},
        {"query": {"id": 0}, "filter": {text: 1}},
        {"query": {"id": 0}, "weights": {text: 1}},
        {"query": {"id": 0}, "columns": [text]},
    ):
        status, _ = raw(server, "POST", SEARCH, json.dumps(body).encode())
        assert status < 500, body


def test_hostile_words_are_kept_as_they_are(pets):
    for text in HOSTILE:
        id = pets.add("pets", [{"name": text, "weight": 3, "animal": text, "tags": [text]}])["ids"][
            0
        ]
        row = pets.row("pets", id)["row"]
        if text.strip() and text != "NaN":
            assert row["tags"] == [text]
        assert pets.search("pets", id, 1)["query"]["id"] == id
    assert pets.describe("pets")["rows"] == 6 + len(HOSTILE)


def test_two_clients_make_one_collection(pets):
    codes = []

    def create():
        try:
            pets.create("same", rows=PETS)
            codes.append(201)
        except ServiceError as error:
            codes.append(error.status)

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [201] + [409] * 5
    assert pets.describe("same")["rows"] == 6


def test_a_collection_is_deleted_while_it_is_searched(pets):
    codes, stop = set(), threading.Event()

    def search():
        while not stop.is_set():
            try:
                pets.search("pets", 0, 3)
                codes.add(200)
            except ServiceError as error:
                codes.add(error.status)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        pets.drop("pets")
        pets.create("pets", rows=PETS)
    stop.set()
    for thread in threads:
        thread.join()
    assert codes <= {200, 404}
    assert 200 in codes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["weight", "animal", "tags", "name", "id", "record", "in", "<", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.fixed_dictionaries(
        {"query": JSON},
        optional=dict.fromkeys(("k", "like", "filter", "weights", "columns", "explain"), JSON),
    )
)
def test_any_json_is_answered(server, body):
    status, _ = raw(server, "POST", SEARCH, json.dumps(body).encode())
    assert status < 500


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["weight", "animal", "tags", "name"]), JSON, max_size=4))
def test_any_record_is_answered(server, record):
    body = {"query": {"record": record}, "filter": record}
    status, _ = raw(server, "POST", SEARCH, json.dumps(body).encode())
    assert status < 500
    status, data = raw(server, "POST", ROWS, json.dumps({"rows": [record]}).encode())
    assert status < 500
    if status == 201:
        id = json.loads(data)["ids"][0]
        assert raw(server, "GET", f"{ROWS}/{id}", None)[0] == 200
        assert raw(server, "GET", "/api/collections/pets", None)[0] == 200
        assert raw(server, "DELETE", f"{ROWS}/{id}", None)[0] == 200


# Set by `make fuzz`, to 50: requests of each operation, others in every run.
ASKED = int(os.environ.get("LOOKALIKE_EXAMPLES") or 0)


def test_the_openapi_document_finds_no_5xx(pets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
        schema = schemathesis.openapi.from_dict(pets.get("/openapi.json"))
        seen = {}
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path.endswith("/events"):
                continue

            @settings(
                max_examples=ASKED or 5,
                derandomize=not ASKED,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy())
            def check(case):
                operation = case.operation
                if "c" in (case.path_parameters or {}) and operation.method.upper() != "DELETE":
                    case.path_parameters["c"] = "pets"
                answer = case.call(base_url=pets.address, timeout=300)
                seen.setdefault(operation.label, set()).add(answer.status_code)
                assert answer.status_code < 500 or answer.status_code == 503, (
                    case.as_curl_command(),
                    answer.text,
                )
                # Older versions of schemathesis send headers that uvicorn refuses in its own words.
                if answer.status_code >= 400 and answer.text != "Invalid HTTP request received.":
                    assert "application/problem+json" in answer.headers["content-type"]

            check()
    assert len(seen) >= 25
    assert any(200 in codes for codes in seen.values())
