"""Starting the service: which address needs a token."""

import contextlib
import socket
import threading
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import AccessPolicy, TokenStore
from lookalike.service.server import (
    Server,
    TimedHeaders,
    _serve_folder,
    _write,
    data_folder,
    default_store,
    free_port,
    is_loopback,
    make_service,
    measure_text,
    run,
    serve_file,
    serve_films,
)
from lookalike.service.service import Service
from lookalike.service.store.store import Store
from service.running import PETS, running


def test_an_address_that_others_reach_needs_a_token(tmp_path):
    path = tmp_path / "a.sqlite"
    with pytest.raises(InvalidInput, match="lookalike token create"):
        make_service(path, "0.0.0.0")
    store = Store(path)
    TokenStore(store.database).create("me", "write")
    store.close()
    service = make_service(path, "0.0.0.0", hosts=["films.example"])
    assert service.access.tokens
    for host in ("films.example", "192.168.1.5:80", "localhost", "[fe80::1]"):
        assert service.access.allows_host(host)
    assert not service.access.allows_host("evil.example")
    service.close()
    local = make_service(path, "127.0.0.1")
    assert not local.access.tokens
    assert not local.access.allows_host("192.168.1.5")
    local.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "host"])
def test_loopback(host):
    assert is_loopback(host) is (host in ("127.0.0.1", "::1", "localhost"))


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"--port {port}: cannot listen here"):
            free_port("127.0.0.1", port)
    assert free_port("127.0.0.1", port) == port
    assert free_port("127.0.0.1", 0) > 0


def test_a_measure_that_has_no_text_is_refused():
    assert measure_text(la.measures.Gower(missing="midpoint")) == "gower:missing=midpoint"
    with pytest.raises(InvalidInput, match="a measure that can be named"):
        measure_text(la.measures.Vector(scale=object()))


def is_closed(connection):
    """Whether the server closes a connection; what it has sent before is read."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(2**16):
            pass
    return True


def test_half_sent_headers_are_timed_out(tmp_path, monkeypatch):
    closed, limits = threading.Event(), RequestLimits(seconds=300, headers=1.0)

    def slow(view, asked):  # an answer that takes longer than headers may
        assert closed.wait(300)
        return {"late": True}

    monkeypatch.setattr("lookalike.service.api.search.find", slow)
    with running(tmp_path / "a.sqlite", limits=limits) as (_, client):
        client.create("pets", rows=PETS)
        late = []
        asked = threading.Thread(target=lambda: late.append(client.search("pets", 0)))
        asked.start()
        where = urlsplit(client.address)
        half = f"GET /healthz HTTP/1.1\r\nHost: {where.netloc}\r\nX-Part: ".encode()
        whole = half + b"1\r\n\r\n"
        with contextlib.ExitStack() as stack:
            made = [
                stack.enter_context(socket.create_connection((where.hostname, where.port), 300))
                for _ in range(40)
            ]
            for number, connection in enumerate(made):
                # Nothing; half; a whole request, and half of the next one.
                connection.sendall((b"", half, whole + half)[number % 3])
            for connection in made[2::3]:
                assert connection.recv(2**16).startswith(b"HTTP/1.1 200")
                connection.sendall(b"more")
            assert all(map(is_closed, made))
        closed.set()
        asked.join()
        assert late == [{"late": True}]
        assert client.get("/healthz") == {"ok": True}


@pytest.fixture
def service(tmp_path):
    made = Service(tmp_path / "s.sqlite")
    yield made
    made.close()


def test_a_file_is_read_once_and_again_when_it_has_changed(service, tmp_path):
    path, said = tmp_path / "Some films.csv", []

    def serve(**options):
        del said[:]
        name = serve_file(service, str(path), options, said.append)
        return name, service.store.head(name).key, list(said)

    path.write_text("title,year\n" + "".join(f"t{i},{i * i}\n" for i in range(6)))
    reading = [f"reading {path}"]
    assert serve(measure="", kinds={})[::2] == ("Some-films", reading)
    first = service.store.head("Some-films").key
    settings = CollectionSettings.of_text(service.store.head("Some-films").settings)
    assert (settings.title, settings.source["file"]) == ("Some films.csv", "Some films.csv")
    assert len(settings.source["hash"]) == 64
    assert settings.source["options"] == "{}"
    assert serve(measure="") == ("Some-films", first, [])
    name, second, notes = serve(measure="gower")  # other options: read again
    assert second > first
    assert notes == reading
    assert serve(measure="gower") == serve() == ("Some-films", second, [])
    path.write_text("title,year\n" + "".join(f"u{i},{i * i}\n" for i in range(7)))
    name, third, notes = serve()
    assert third > second
    assert service.catalog.get(name).count() == 7
    service.catalog.get(name).add([{"year": 3}])
    other = f"{path} has other options than when it was read; rows were written since"
    assert serve(measure="gower") == (name, third, [f"{other}, so the store is served as it is"])
    path.write_text("title,year\na,1\nb,2\nc,4\n")
    changed = f"{path} has changed since it was read; rows were written since"
    assert serve() == (name, third, [f"{changed}, so the store is served as it is"])
    with pytest.raises(LookalikeError, match=r"none\.csv"):
        serve_file(service, str(tmp_path / "none.csv"), {}, said.append)


def test_a_saved_index_has_its_own_kinds_and_measure(service, tmp_path):
    rows = {"x": [1.0, 2.0, 4.0, 7.0], "c": ["a", "b", "a", "b"]}
    path = tmp_path / "kept.lookalike"
    la.Index(la.measures.Gower(missing="midpoint")).fit(rows).save(path)
    name = serve_file(service, str(path), {}, print)
    assert name == "kept"
    settings = service.catalog.get(name).view.settings
    assert settings.measure == "gower:missing=midpoint"
    for option in ("kinds", "missing", "encoding", "delimiter", "id_column"):
        with pytest.raises(InvalidInput, match="needs a table to read, found a saved index"):
            serve_file(service, str(path), {option: "x"}, print)
    service.store.delete("kept")
    service.catalog.follow()
    serve_file(service, str(path), {"measure": "ranked"}, print)
    assert service.catalog.get("kept").view.settings.measure == "ranked"


def test_a_folder_of_shards_is_known_by_its_path(service, tmp_path, monkeypatch):
    opened, deleted = [], []
    monkeypatch.setattr(service.catalog, "create", lambda *given: opened.append(given[:3]))
    monkeypatch.setattr(service.catalog, "delete", deleted.append)
    folder = tmp_path / "shards"
    folder.mkdir()
    assert _serve_folder(service, folder, {"label_column": "t"}) == "shards"
    ((name, where, settings),) = opened
    assert (name, where, settings.title, settings.label_column) == ("shards", folder, "shards", "t")
    assert settings.source == {"file": "shards"}
    for path, gone in ((folder, []), (tmp_path / "other", ["shards"])):
        text = CollectionSettings("shards", source={"folder": str(path)}).to_text()
        service.store.create("shards", text, b"", [], replace_old=True)
        assert _serve_folder(service, folder, {}) == "shards"
        assert deleted == gone
        assert len(opened) == 1 + len(gone)


def test_films_are_read_once(service, monkeypatch):
    made = []
    monkeypatch.setattr("lookalike.service.server.load_example", lambda name: ("Films", name))
    monkeypatch.setattr(service.catalog, "create", lambda *given: made.append(given))
    assert serve_films(service.catalog, service.limits) == "films"
    ((name, rows, settings, limits),) = made
    assert (name, rows, settings.title, limits) == ("films", "films", "Films", service.limits)
    service.store.create("films", CollectionSettings("Films").to_text(), b"", [])
    assert serve_films(service.catalog, service.limits) == "films"
    assert len(made) == 1


def test_where_the_store_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    data = tmp_path / "data" / "lookalike"
    assert default_store([]) == data / "store.sqlite"
    assert data.is_dir()
    files = [str(tmp_path / "a b.csv"), "c.csv"]
    assert default_store(files) == tmp_path / "a-b.lookalike.sqlite"
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert default_store(files) == data / "a-b.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "")
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    assert data_folder() == tmp_path / ".local" / "share" / "lookalike"
    assert data_folder().is_dir()


def test_who_needs_a_token_says_why(tmp_path):
    with pytest.raises(
        InvalidInput, match=r"^--need-token: needs a token in the store, found none"
    ):
        make_service(tmp_path / "a.sqlite", "127.0.0.1", need_token=True)
    with pytest.raises(InvalidInput, match=r"^--host ::, which others can reach"):
        make_service(tmp_path / "a.sqlite", "::")
    local = make_service(tmp_path / "a.sqlite", "localhost", folder=str(tmp_path), hosts=["h"])
    assert local.access == AccessPolicy(("h",))
    assert local.folder == tmp_path
    local.close()


def test_options_as_texts():
    measure = la.measures.Gower(weights={"a": 2}, scale="rank")
    assert measure_text(measure) == 'gower:scale=rank,weights={"a": 2}'
    assert measure_text(la.measures.Gower()) == "gower"
    assert _write("a") == "a"
    assert _write([1, "b"]) == '[1, "b"]'
    assert _write(la.measures.Ranked()) == "ranked"
    assert _write({1}) == "{1}"


class Transport:
    def __init__(self):
        self.closed = False

    def is_closing(self):
        return self.closed

    def close(self):
        assert not self.closed
        self.closed = True


def test_a_connection_is_closed_only_while_it_waits():
    """The timer of headers, without a server."""
    timed = TimedHeaders.__new__(TimedHeaders)
    calls = []
    handle = SimpleNamespace(cancel=lambda: calls.append("cancel"))
    timed.loop = SimpleNamespace(call_later=lambda s, f: calls.append((s, f)) or handle)
    timed._seconds, timed._timer, timed.cycle = 7.0, None, None
    timed.transport = Transport()
    assert timed._waits
    timed._start()
    assert calls == [(7.0, timed._late)]
    assert timed._timer is handle
    timed._stop()
    timed._stop()
    assert (calls[1:], timed._timer) == (["cancel"], None)
    timed.cycle = SimpleNamespace(response_complete=False)
    timed._timer = handle
    timed._late()
    assert (timed._waits, timed.transport.closed, timed._timer) == (False, False, None)
    timed.cycle.response_complete = True
    timed._late()
    assert timed.transport.closed
    timed._late()  # closed already


def test_what_the_server_is_started_with(service):
    said = []
    server = Server(service, "127.0.0.1", 8571, lambda: said.append(True))
    config = server.config
    assert (config.host, config.port, config.log_config, config.access_log) == (
        "127.0.0.1", 8571, None, False,
    )  # fmt: skip
    assert (config.server_header, config.timeout_keep_alive) == (False, 30)
    assert config.timeout_graceful_shutdown == 10
    assert config.http.args == (service.limits.headers,)
    app = config.app
    assert (app.title, app.docs_url, app.redoc_url, app.state.service) == (
        "lookalike", None, None, service,
    )  # fmt: skip
    paths = app.openapi()["paths"]
    assert "/" not in paths
    assert "/web/{path}" not in paths
    assert {
        "/api/v1/collections",
        "/api/v1/collections/{c}/map",
        "/metrics",
        "/api/v1/jobs/{j}",
    } <= set(paths)
    assert said == []


def test_running_says_the_address_and_warms(service, monkeypatch):
    made, said = [], []

    class Listening:
        def __init__(self, service, host, port, started):
            made.append((host, port))
            started()

        def run(self):
            made.append("run")

    monkeypatch.setattr("lookalike.service.server.Server", Listening)
    monkeypatch.setattr("lookalike.service.server.free_port", lambda host, port: port + 1)
    monkeypatch.setattr(service, "warm_soon", lambda: said.append("warm"))
    monkeypatch.setattr("gc.set_threshold", made.append)
    run(service, "127.0.0.1", 8570, said.append)
    run(service, "::1", 8570, said.append)
    assert said == ["http://127.0.0.1:8571/", "warm", "http://[::1]:8571/", "warm"]
    assert made == [("127.0.0.1", 8571), 50_000, "run", ("::1", 8571), 50_000, "run"]
