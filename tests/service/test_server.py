"""Starting the service: which address needs a token."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit

import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import TokenStore
from lookalike.service.server import free_port, is_loopback, make_service, measure_text
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
