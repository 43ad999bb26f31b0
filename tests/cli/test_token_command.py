"""``lookalike token``: who may use a server."""

import json

import pytest

from cli.run import run

pytest.importorskip("fastapi", reason="install lookalike[service] to test the service")


def test_tokens_are_made_listed_and_revoked(tmp_path):
    store = tmp_path / "a.sqlite"
    made = run("token", "create", "me", "--scope", "write", "--store", store)
    text = made.stdout.strip()
    assert text.startswith("la_")
    listed = json.loads(run("token", "list", "--store", store, "--output", "json").stdout)
    (token,) = listed["tokens"]
    assert (token["name"], token["scope"], token["revoked"]) == ("me", "write", None)
    assert text.split("_", 2)[2] not in json.dumps(listed)
    assert "me" in run("token", "list", "--store", store).stdout
    run("token", "revoke", token["id"], "--store", store)
    listed = json.loads(run("token", "list", "--store", store, "--output", "json").stdout)
    assert listed["tokens"][0]["revoked"]
    again = run("token", "revoke", token["id"], "--store", store)
    assert again.exit_code == 1
    wrong = run("token", "create", "me", "--scope", "all", "--store", store)
    assert wrong.exit_code == 1


def test_tokens_are_listed_in_every_form(tmp_path):
    store = tmp_path / "a.sqlite"
    for verb in (["list"], ["revoke", "3f9c21aa"]):  # a typing error makes no store
        done = run("token", *verb, "--store", store)
        assert done.exit_code == 1
        assert "file not found" in done.stderr
        assert not store.exists()
    run("token", "create", "me", "--store", store)
    assert run("token", "list", "--store", store, "-o", "csv").stdout.startswith("id,name,scope")
    shown = run("token", "list", "--store", store, "-o", "json").stdout
    assert '"name": "me"' in shown
