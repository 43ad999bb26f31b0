"""Starting the service: which address needs a token."""

import socket

import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.service.safety import TokenStore
from lookalike.service.server import free_port, is_loopback, make_service, measure_text
from lookalike.service.store.store import Store


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
