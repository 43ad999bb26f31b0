"""The client: rows, searches and errors as the server has them."""

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
