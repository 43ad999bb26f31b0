"""Who may talk to the server, and how much they may send."""

import gzip
import http.client
import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from lookalike._runtime.threads import check_stopped
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service import Client, limits
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import HEADERS, AccessPolicy, Safety
from service.running import PETS, run_alone, running


def send(client, method, path, body=None, **headers):
    """Send a request with headers as a browser would; return status, headers and document."""
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=300)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        given.setdefault("Content-Type", "application/json")
    connection.request(method, path, data, given)
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    kind = answer.headers.get_content_type()
    return answer.status, answer.headers, json.loads(raw) if kind.endswith("json") and raw else raw


SEARCH = "/api/collections/pets/search"


ASK = {"query": {"id": 0}}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io", "", "*"],
)
def test_dns_rebinding_is_refused(server, host):
    # The name of another site points to this machine: the browser then sends that name.
    for method, path, body in [
        ("GET", "/", None),
        ("GET", "/api/collections", None),
        ("POST", SEARCH, ASK),
    ]:
        status, _, problem = send(server, method, path, body, Host=host)
        assert status == 403
        assert problem["who"] == "header Host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8571", "localhost."]
)
def test_names_of_this_machine_are_allowed(server, host):
    assert send(server, "GET", "/api/collections", Host=host)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_site_cannot_write(server, headers):
    for method, path, body in [
        ("POST", "/api/collections", {"name": "x", "rows": PETS}),
        ("POST", "/api/collections/pets/rows", {"rows": PETS}),
        ("DELETE", "/api/collections/pets", None),
        ("POST", SEARCH, ASK),
    ]:
        status, answer, problem = send(server, method, path, body, **headers)
        assert status == 403
        assert problem["who"] == "header Origin"
        assert "Access-Control-Allow-Origin" not in answer
    assert server.describe("pets")["rows"] == 6


def test_a_form_of_another_site_cannot_upload(server):
    form = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\n1\r\n--x--'
    )
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc)
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Origin": "https://evil.example"}
    connection.request("POST", "/api/collections", form, headers)
    assert connection.getresponse().status == 403
    connection.close()


def test_our_own_page_can_write(server):
    assert (
        send(server, "POST", SEARCH, ASK, Origin=server.address, Sec_Fetch_Site="same-origin")[0]
        == 200
    )


def test_nothing_allows_another_site_to_read(server):
    status, headers, _ = send(
        server,
        "OPTIONS",
        SEARCH,
        Origin="https://evil.example",
        Access_Control_Request_Method="POST",
    )
    assert status in (403, 405)
    for name in headers:
        assert not name.lower().startswith("access-control")
    _, headers, _ = send(server, "GET", "/api/collections", Origin="https://evil.example")
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("path", ["/", "/api/collections", "/nowhere", "/healthz", "/openapi.json"])
def test_every_answer_has_the_headers(server, path):
    _, headers, _ = send(server, "GET", path)
    for name, value in HEADERS.items():
        assert headers[name] == value
    assert "'unsafe" not in headers["Content-Security-Policy"]
    assert "server" not in headers


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    path = tmp_path_factory.mktemp("guarded") / "a.sqlite"
    limits = RequestLimits(rate=30, burst=30)
    with running(path, access=AccessPolicy(tokens=True), limits=limits) as (service, client):
        texts = {}
        for scope in ("read", "write"):
            texts[scope] = service.tokens.create(scope, scope)[1]
        with Client(client.address, token=texts["write"]) as writer:
            writer.create("pets", rows=PETS)
        client.texts, client.service = texts, service
        yield client


def bearer(text):
    return {"Authorization": f"Bearer {text}"}


def test_without_a_token_only_the_page_and_the_pulse_are_open(guarded):
    for path in ("/api/collections", "/metrics", "/openapi.json", "/api/jobs/x"):
        status, headers, problem = send(guarded, "GET", path)
        assert status == 401, path
        assert headers["WWW-Authenticate"] == "Bearer"
        assert "token" in problem["needed"]
    assert send(guarded, "POST", SEARCH, ASK)[0] == 401
    assert send(guarded, "GET", "/healthz")[0] == 200


def test_scopes(guarded):
    read, write = (bearer(guarded.texts[scope]) for scope in ("read", "write"))
    assert send(guarded, "POST", SEARCH, ASK, **read)[0] == 200
    assert send(guarded, "POST", "/api/collections/pets/profile", {"ids": [0, 1]}, **read)[0] == 200
    for method, path, body in [
        ("POST", "/api/collections/pets/rows", {"rows": [PETS[0]]}),
        ("PUT", "/api/collections/pets/rows/0", {"row": PETS[0]}),
        ("DELETE", "/api/collections/pets/rows/0", None),
        ("DELETE", "/api/collections/pets/rows/x/sessions/y", None),
        ("DELETE", "/api/collections/pets", None),
        ("POST", "/api/collections", {"name": "b", "rows": PETS}),
        ("POST", "/api/collections/pets/measure", {}),
    ]:
        assert send(guarded, method, path, body, **read)[0] == 403, path
    assert send(guarded, "PUT", "/api/collections/pets/rows/0", {"row": PETS[0]}, **write)[0] == 200


def test_wrong_tokens(guarded):
    right = guarded.texts["read"]
    _, id, _ = right.split("_", 2)
    for text in (right[:-1], right + "x", f"la_{id}_", f"xx_{id}_{right}", "la", "", "la__", "ü"):
        try:
            status = send(guarded, "GET", "/api/collections", **bearer(text))[0]
        except UnicodeEncodeError:
            continue
        assert status == 401, text


def test_only_hashes_are_kept(guarded):
    secret = guarded.texts["read"].split("_", 2)[2]
    path = guarded.service.store.database.path
    held = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
    assert secret.encode() not in held
    assert guarded.service.tokens.list()[0].hash.encode() in held


def test_a_revoked_token_ends(guarded):
    token, text = guarded.service.tokens.create("short", "read")
    assert send(guarded, "GET", "/api/collections", **bearer(text))[0] == 200
    guarded.service.tokens.revoke(token.id)
    assert send(guarded, "GET", "/api/collections", **bearer(text))[0] == 401
    with pytest.raises(InvalidInput, match="not found, or revoked already"):
        guarded.service.tokens.revoke(token.id)


def test_too_many_requests_are_slowed_down(guarded, monkeypatch):
    text = guarded.service.tokens.create("busy", "read")[1]
    stopped = time.monotonic()  # however slow the machine is, all come within a moment
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: stopped))
    with Client(guarded.address, token=text) as client:
        codes = []
        for _ in range(60):
            try:
                client.get("/api/jobs/none")
            except Exception as error:
                codes.append(error.status)
    assert codes[0] == 404
    assert 429 in codes
    monkeypatch.undo()
    time.sleep(0.2)
    assert send(guarded, "GET", "/api/collections", **bearer(text))[0] == 200


def test_guessing_is_slowed_down(guarded):
    codes = {send(guarded, "GET", "/api/collections", **bearer(f"la_x_{i}"))[0] for i in range(60)}
    assert codes == {401, 429}
    time.sleep(0.5)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    sizes = {"body": 20_000, "upload": 50_000, "cell": 1_000, "depth": 6}
    counts = {"rows": 50, "columns": 10, "batch": 5, "queries": 3, "marks": 4}
    limits = RequestLimits(**sizes, **counts, seconds=5.0)
    with running(tmp_path_factory.mktemp("small") / "a.sqlite", limits=limits) as (service, client):
        client.create("pets", rows=PETS)
        client.service = service
        yield client


def test_limits_of_size(small, tmp_path):
    rows = "/api/collections/pets/rows"
    assert send(small, "POST", rows, {"rows": [{"weight": 1}] * 6})[0] == 413
    assert send(small, "POST", rows, {"rows": [{"name": "x" * 1_001}]})[0] == 413
    assert send(small, "POST", rows, {"rows": [{"name": ["x" * 900] * 40}]})[0] == 413
    assert (
        send(
            small, "POST", "/api/collections", {"name": "b", "rows": [{"x": i} for i in range(51)]}
        )[0]
        == 413
    )
    wide = [{f"c{i}": i * j for i in range(11)} for j in range(3)]
    assert send(small, "POST", "/api/collections", {"name": "b", "rows": wide})[0] == 413
    assert send(small, "POST", SEARCH, {"query": [{"id": 0}] * 4})[0] == 413
    assert send(small, "POST", SEARCH, ASK | {"like": [1, 2, 3, 4, 5]})[0] == 413
    assert send(small, "POST", SEARCH, ASK | {"k": 1_001})[0] == 422
    big = tmp_path / "big.csv"
    big.write_text("x,y\n" + "1,2\n" * 20_000)
    with pytest.raises(Exception, match="at most"):
        small.create("big", file=big)
    deep = {"query": {"record": {"weight": [[[[[1]]]]]}}}
    assert send(small, "POST", SEARCH, deep)[0] == 422
    assert small.describe("pets")["rows"] == 6


def test_a_body_without_a_length_is_bounded_too(small):
    connection = http.client.HTTPConnection(urlsplit(small.address).netloc, timeout=300)
    parts = (b"x" * 1_000 for _ in range(100))
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    try:
        connection.request("POST", SEARCH, parts, headers, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before all of it was sent
    connection.close()
    assert small.describe("pets")["rows"] == 6


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_may_have_exactly_as_many_bytes_as_the_limit(small, chunked):
    """20,000 bytes are read, one more is refused, with and without a length in the header."""
    for size, status in ((20_000, 200), (20_001, 413)):
        body = json.dumps(ASK).encode().ljust(size)
        connection = http.client.HTTPConnection(urlsplit(small.address).netloc, timeout=300)
        headers = {"Content-Type": "application/json"}
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
            connection.request("POST", SEARCH, iter([body]), headers, encode_chunked=True)
        else:
            connection.request("POST", SEARCH, body, headers)
        assert connection.getresponse().status == status, size
        connection.close()


def test_the_limits_of_a_request_are_reached_but_not_passed(small):
    """As many queries, marks and rows as the limit are answered."""
    assert send(small, "POST", SEARCH, {"query": [{"id": 0}] * 3})[0] == 200
    assert send(small, "POST", SEARCH, ASK | {"like": [1, 2], "unlike": [3, 4]})[0] == 200
    assert send(small, "POST", SEARCH, ASK | {"k": 1_000})[0] == 200
    longest = {"query": {"record": {"name": "x" * 1_000, "weight": 4}}}
    assert send(small, "POST", SEARCH, longest)[0] == 200
    profile = {"ids": [0, 1] * 20}
    assert send(small, "POST", "/api/collections/pets/profile", profile)[0] == 200
    profile["ids"].append(0)
    assert send(small, "POST", "/api/collections/pets/profile", profile)[0] == 413


@pytest.mark.long
def test_a_slow_body_does_not_hold_the_server(small):
    connection = http.client.HTTPConnection(urlsplit(small.address).netloc, timeout=300)
    connection.putrequest("POST", SEARCH)
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "100")
    connection.endheaders()
    connection.send(b'{"query"')
    answer = connection.getresponse()
    assert answer.status == 408
    connection.close()


def test_a_client_that_hangs_up_mid_upload(small):
    before = threading.active_count()
    for _ in range(5):
        connection = http.client.HTTPConnection(urlsplit(small.address).netloc, timeout=300)
        connection.putrequest("POST", "/api/collections")
        connection.putheader("Content-Type", "multipart/form-data; boundary=x")
        connection.putheader("Content-Length", "40000")
        connection.endheaders()
        connection.send(
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b'
        )
        connection.close()
    assert send(small, "POST", SEARCH, ASK)[0] == 200
    assert [c["name"] for c in small.collections()] == ["pets"]
    assert threading.active_count() <= before + 40


@pytest.mark.long
def test_a_request_that_takes_too_long_is_ended(small, monkeypatch):
    def endless(view, asked):
        while True:
            check_stopped()

    monkeypatch.setattr("lookalike.service.api.search.find", endless)
    status, _, problem = send(small, "POST", SEARCH, ASK)
    assert status == 503
    assert "5 seconds of processor time" in problem["needed"]


def leave(client, path, body, begun):
    """Send a request, and close the connection when the server works on it."""
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=300)
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if body is not None else {}
    connection.request("GET" if body is None else "POST", path, data, headers)
    assert begun.wait(300)
    connection.close()


@pytest.mark.parametrize(
    ("path", "body", "function"),
    [
        (SEARCH, ASK, "lookalike.service.api.search.find"),
        ("/api/collections/pets/ask/inspect", {}, "lookalike.service.api.search.ask"),
        ("/api/collections/pets/ask/outliers", {}, "lookalike.service.api.search.ask"),
        ("/api/collections/pets/graph?id=0", None, "lookalike.service.api.views.grow"),
    ],
)
def test_work_ends_when_its_client_is_gone(server, monkeypatch, path, body, function):
    begun, ended = threading.Event(), threading.Event()

    def endless(*given, **options):
        begun.set()
        try:
            while True:
                check_stopped()
                time.sleep(0.001)
        finally:
            ended.set()

    monkeypatch.setattr(function, endless)
    leave(server, path, body, begun)
    assert ended.wait(300)


def test_a_job_that_another_client_waits_for_goes_on(server, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def ask(verb, collection, given, others=None):
        begun.set()
        while not go_on.wait(0.01):
            check_stopped()
        return {"verb": verb}

    monkeypatch.setattr("lookalike.service.api.search.ask", ask)
    path = "/api/collections/pets/ask/outliers"
    leave(server, path, {"n": 3}, begun)
    # The same question joins the job before the server notices that the first client has left.
    status, _, found = send(server, "POST", path, {"n": 3})
    assert status == 202
    (job,) = (j for j in server.service.jobs.of("pets") if j.id == found["job"]["id"])
    go_on.set()
    assert job.ended.wait(300)
    assert job.state == "done"


def test_a_question_about_another_table_of_the_same_name_is_another_one(pets, monkeypatch):
    go_on = threading.Event()

    def ask(verb, collection, given, others):
        assert go_on.wait(300)
        return {"animals": [row["animal"] for row in others["other"].index.records()]}

    monkeypatch.setattr("lookalike.service.api.search.ask", ask)
    pets.service.limits = replace(pets.service.limits, wait=0.01)
    jobs = []
    for animal in ("cow", "pig"):  # in a collection of one name, in the same generation
        pets.create("other", rows=[{"animal": animal, "weight": 500.0}] * 2)
        jobs.append(pets.post("/api/collections/pets/ask/join", {"other": "other"})["job"]["id"])
        pets.drop("other")
    go_on.set()
    found = [pets.wait(job)["result"]["animals"] for job in jobs]
    assert found == [["cow"] * 2, ["pig"] * 2]


def test_a_short_question_does_not_ask_for_pairs_that_fill_the_memory(server):
    for verb, table in (("join", "other"), ("match", "control")):
        path, body = f"/api/collections/pets/ask/{verb}", {table: "pets", "k": 1000}
        server.service.limits = replace(server.service.limits, pairs=10 * len(PETS))
        status, _, problem = send(server, "POST", path, body)
        assert status == 422
        assert f"at most {10 if verb == 'join' else 3} for {len(PETS)} rows" in problem["needed"]
    server.service.limits = replace(server.service.limits, pairs=200_000)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/collections", {"name": "x", "rows": PETS, "measure": "ratio:n_trees=1000000000"}),
        ("/api/collections/pets/measure", {"measure": "ratio:n_trees=1000000000"}),
        ("/api/collections/pets/ask/search", {"row": 0, "measure": "ratio:trees=1000000000"}),
        ("/api/collections/pets/ask/compare", {"measures": ["gower", "shi:trees=1000000000"]}),
        ("/api/collections/pets/ask/compare", {"measures": "gower,shi:trees=1000000000"}),
        ("/api/collections/pets/ask/outliers", {"method": "isolation:trees=1000000000"}),
        ("/api/collections/pets/ask/outliers", {"n": 1000000000}),
        ("/api/collections/pets/ask/classify", {"label": "animal", "folds": 1000000000}),
        ("/api/collections/pets/ask/cluster", {"n_clusters": 1000000000}),
        ("/api/collections/pets/ask/hubs", {"k": 1000000000}),
    ],
)
def test_no_request_asks_for_a_billion(server, path, body):
    status, _, problem = send(server, "POST", path, body)
    assert status == 422
    assert "at most" in problem["needed"]
    assert problem["found"] == "1,000,000,000"


def test_filters_of_many_values_are_refused_by_every_route(small):
    small.service.limits = replace(small.service.limits, values=10)
    filter = {"weight": {"in": list(range(11))}}
    for path, body in (
        (SEARCH, ASK),
        ("/api/collections/pets/sessions", ASK),
        ("/api/collections/pets/ask/inspect", {}),
    ):
        status, _, problem = send(small, "POST", path, body | {"filter": filter})
        assert (status, problem["who"]) == (413, "filter")


@pytest.mark.parametrize("ending", ["arrow", "parquet", "csv.gz"])
def test_a_small_upload_of_very_many_rows_is_refused(server, tmp_path, monkeypatch, ending):
    path = tmp_path / f"bomb.{ending}"
    n = 2_000_001
    if ending == "csv.gz":
        path.write_bytes(gzip.compress(b"a\n" + b"1\n" * n))
    else:
        table = pa.table({"a": np.zeros(n)})
        if ending == "arrow":
            pyarrow.feather.write_feather(table, path, "zstd")
        else:
            pyarrow.parquet.write_table(table, path)
    assert path.stat().st_size < 30_000
    with pytest.raises(LookalikeError, match="at most") as caught:
        server.create("bomb", file=path)
    assert caught.value.status == 413


def test_web_sockets_are_closed_and_the_end_of_the_server_passes():
    sent, passed = [], []

    async def send(message):
        sent.append(message)

    async def app(scope, receive, send):
        passed.append(scope["type"])

    safety = Safety(app, AccessPolicy(), RequestLimits(), None)
    for kind in ("websocket", "lifespan"):
        run_alone(safety({"type": kind}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert passed == ["lifespan"]
