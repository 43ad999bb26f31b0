"""Starting the service: which address needs a token."""

import pytest

from lookalike.errors import InvalidInput
from lookalike.service.safety import TokenStore
from lookalike.service.server import is_loopback, make_service
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
