"""The client: rows, searches and errors as the server has them."""

import numpy as np
import pytest

import lookalike as la
from lookalike.service import Client, ServiceError
from service.running import running


def refused(status, call, *arguments, **options):
    with pytest.raises(ServiceError) as error:
        call(*arguments, **options)
    problem = error.value.problem
    assert error.value.status == problem["status"] == status, problem
    always = {"type", "title", "status", "detail", "who", "needed", "found", "hint"}
    assert always <= set(problem) <= always | {"parameter", "value"}
    assert all(problem[part] for part in ("who", "needed", "found", "hint")), problem
    return problem


def test_ids_with_every_letter_in_a_path(tmp_path):
    ids = ["a/b", "ü?#%", "..", "../rows", "7", "<b>", "x\x00y"]
    with running(tmp_path / "a.sqlite") as (_, client):
        client.create("t", rows=[{"id": id, "x": i} for i, id in enumerate(ids)], id_column="id")
        for i, id in enumerate(ids):
            assert client.row("t", id)["row"]["x"] == i
            assert client.search("t", id, 1)["query"]["id"] == id
        client.delete("t", "a/b")
        refused(404, client.row, "t", "a/b")


def test_a_client_says_what_is_wrong():
    with pytest.raises(la.errors.InvalidInput, match="an address of http"):
        Client("ftp://x")


def test_the_token_and_the_address_are_sent_as_given(tmp_path):
    with running(tmp_path / "a.sqlite") as (_, client):
        with Client(client.address + "/", token="la_no_token") as other:
            assert other.get("/healthz") == {"ok": True}
            assert other.collections() == []  # where no token is needed
        assert repr(client) == f"Client({client.address!r})"
    with Client(client.address) as late, pytest.raises(la.errors.NoAnswer, match="running"):
        late.collections()


def test_an_answer_that_is_being_made_is_waited_for(monkeypatch):
    answers, waited = [{"job": {"id": "7"}}, {"job": {"id": "8"}}, {"job": 1, "hits": []}], []
    with Client("http://127.0.0.1:1") as client:
        monkeypatch.setattr(client, "get", lambda path, options: answers.pop(0))
        monkeypatch.setattr(client, "wait", waited.append)
        assert client._waited("/api", {}) == {"job": 1, "hits": []}
    assert waited == ["7", "8"]


class Sent:
    """A transport that records requests and answers from a list."""

    def __init__(self, *answers):
        import httpx

        self.requests, self.answers = [], list(answers)
        self.transport = httpx.MockTransport(self.answer)

    def answer(self, request):
        import httpx

        path = request.url.raw_path.decode()
        self.requests.append((request.method, path, request.read().decode()))
        status, content = self.answers.pop(0) if self.answers else (200, {})
        if isinstance(content, bytes):
            return httpx.Response(status, content=content)
        return httpx.Response(status, json=content)


def with_answers(client, *answers):
    import httpx

    sent = Sent(*answers)
    client._http = httpx.Client(base_url=client.address, transport=sent.transport)
    return sent


def test_every_method_is_one_request(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x\n1\n")
    at = "/api/v1/collections/a%2Eb"
    with Client("http://127.0.0.1:1/") as client:
        assert client.address == "http://127.0.0.1:1"
        sent = with_answers(client, (200, {"collections": [1]}))
        assert client.collections() == [1]
        client.opening()
        client.opening("a")
        client.create("n", rows=[{"x": 1}], kinds={"x": "number"})
        client.create(path="p")
        client.describe("a.b")
        client.drop("a.b")
        client.row("a.b", "x/y")
        client.add("a.b", ({"x": 1},))
        client.replace("a.b", 3, {"x": 1})
        client.delete("a.b", 3)
        client.search("a.b", [{"x": 1}, 2, "name"], 4, space="plain")
        client.search("a.b", 2)
        client.session("a.b", {"x": 1})
        client.mark("a.b", "s", like=(1,))
        client.undo("a.b", "s")
        client.graph("a.b", 0, k=3)
        client.profile("a.b", (1, 2))
        client.hubs("a.b", k=5)
        client.clusters("a.b")
        assert sent.requests == [
            ("GET", "/api/v1/collections", ""),
            ("GET", "/api/v1/opening", ""),
            ("GET", "/api/v1/opening?collection=a", ""),
            ("POST", "/api/v1/collections",
             '{"kinds": {"x": "number"}, "name": "n", "rows": [{"x": 1}]}'),
            ("POST", "/api/v1/collections", '{"path": "p"}'),
            ("GET", at, ""),
            ("DELETE", at, ""),
            ("GET", f"{at}/rows/x%2Fy", ""),
            ("POST", f"{at}/rows", '{"rows": [{"x": 1}]}'),
            ("PUT", f"{at}/rows/3", '{"row": {"x": 1}}'),
            ("DELETE", f"{at}/rows/3", ""),
            ("POST", f"{at}/search",
             '{"query": [{"record": {"x": 1}}, 2, "name"], "k": 4, "space": "plain"}'),
            ("POST", f"{at}/search", '{"query": 2, "k": 10}'),
            ("POST", f"{at}/sessions", '{"query": {"record": {"x": 1}}, "k": 10}'),
            ("POST", f"{at}/sessions/s/marks", '{"like": [1], "unlike": []}'),
            ("POST", f"{at}/sessions/s/undo", ""),
            ("GET", f"{at}/graph?id=0&k=3", ""),
            ("POST", f"{at}/profile", '{"ids": [1, 2]}'),
            ("GET", f"{at}/hubs?k=5", ""),
            ("GET", f"{at}/clusters", ""),
        ]  # fmt: skip
        sent = with_answers(client)
        client.create("n", file=table, measure="gower")
        assert 'name="options"\r\n\r\n{"measure": "gower", "name": "n"}' in sent.requests[0][2]
        assert 'filename="t.csv"' in sent.requests[0][2]


def test_pages_maps_and_jobs_are_read_to_their_end(monkeypatch):
    waited = []
    monkeypatch.setattr("lookalike.service.client.time.sleep", waited.append)
    with Client("http://127.0.0.1:1") as client:
        pages = [{"rows": [1, 2], "next": 2}, {"rows": [3], "next": None}]
        sent = with_answers(client, *((200, page) for page in pages))
        assert list(client.rows("a", "t")) == [1, 2, 3]
        assert [path for _, path, _ in sent.requests] == [
            "/api/v1/collections/a/rows?limit=1000&text=t",
            "/api/v1/collections/a/rows?limit=1000&after=2&text=t",
        ]
        places = np.arange(6, dtype="<f4")
        with_answers(client, (200, b'{"rows": 3}\n' + places.tobytes()))
        head, found = client.map("a")
        assert head == {"rows": 3}
        assert found.tolist() == [[0, 3], [1, 4], [2, 5]]
        done = {"state": "done", "id": "7"}
        job = {"job": {"id": "7"}}
        sent = with_answers(client, (202, job), (200, {"state": "running"}), (200, done))
        assert client.refit("a", weights={"x": 2}) == done
        assert waited == [0.05]
        assert sent.requests[0] == (
            "POST", "/api/v1/collections/a/measure", '{"measure": "auto", "weights": {"x": 2}}',
        )  # fmt: skip
        assert sent.requests[1][1] == "/api/v1/jobs/7"
        with_answers(client, (202, job), (200, done))
        assert client.repair("a") == done
        for state in ("failed", "cancelled"):
            with_answers(client, (200, {"state": state, "problem": None}))
            with pytest.raises(ServiceError, match=f"the job was {state}") as caught:
                client.wait("7")
            assert caught.value.status == 0
        with_answers(client, (200, {"state": "failed", "problem": {"detail": "x", "status": 422}}))
        with pytest.raises(ServiceError, match="x") as caught:
            client.wait("7")
        assert caught.value.status == 422


def test_answers_of_any_form():
    with Client("http://127.0.0.1:1", token="la_x", timeout=7.0) as client:
        assert client._http.headers["authorization"] == "Bearer la_x"
        assert client._http.timeout.read == 7.0
        assert client._http.trust_env is False
        with_answers(client, (204, b""), (200, b"text"), (502, b"gateway"), (404, {"detail": "no"}))
        assert client.request("DELETE", "/a") is None
        assert client.request("GET", "/a") == b"text"
        for status, text in ((502, "Bad Gateway"), (404, "no")):
            with pytest.raises(ServiceError, match=text) as caught:
                client.get("/a")
            assert caught.value.problem == {"status": status, "detail": text}
    with Client("https://h") as client:
        assert "authorization" not in client._http.headers
        assert client._http.timeout.read == 60.0
    assert client._http.is_closed
    for address in ("http://", "h:80", "ftp://h"):
        with pytest.raises(la.errors.InvalidInput):
            Client(address)
