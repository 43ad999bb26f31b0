"""``lookalike serve`` and ``lookalike token``: from a file to a server, and who may use it."""

import json

import pytest

from cli.run import run
from lookalike.errors import InvalidInput

pytest.importorskip("fastapi", reason="install lookalike[service] to test the service")
from service.running import Process

TABLE = "name,weight,animal\nTom,4,cat\nRex,30,dog\nKitty,5,cat\nGrey,28,wolf\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.long
def test_a_file_is_served_and_read_again_only_if_it_has_changed(table, tmp_path):
    store = tmp_path / "pets.lookalike.sqlite"
    with Process(store, str(table), "--label-column", "name") as server:
        client = server.client
        assert client.collections()[0]["rows"] == 4
        assert client.search("pets", 0, 1)["hits"][0]["label"] == "Kitty"
    heard = "".join(server.heard)
    assert f"rows are kept in {store}" in heard
    assert "reading" in heard
    assert f"serving http://127.0.0.1:{server.port}/" in heard
    table.write_text(TABLE + "Mini,3,cat\n")
    with Process(store, str(table)) as server:
        assert server.client.collections()[0]["rows"] == 5
        server.client.add("pets", [{"name": "Neu", "weight": 1, "animal": "cat"}])
    table.write_text(TABLE)
    with Process(store, str(table)) as server:  # what was written is not thrown away
        assert server.client.collections()[0]["rows"] == 6
    assert "has changed since" in "".join(server.heard)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "lookalike token create"),
        (["--need-token"], "lookalike token create"),
        (["unknown.csv"], "unknown.csv"),
        (["--store", "mysql://a/b"], "PostgreSQL or a file"),
        (["--port", "70000"], "--port"),
    ],
)
def test_mistakes_are_reported_before_anything_starts(tmp_path, words, said):
    store = [] if "--store" in words else ["--store", tmp_path / "a.sqlite"]
    done = run("serve", *words, *store)
    assert done.exit_code in (1, 2)
    assert said in " ".join((done.stderr or done.output).split())


def test_a_file_is_read_with_the_options_that_other_verbs_have(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_bytes(
        "name;weight;likes\nJürgen;4;fish|milk\nRex;30;bones\nZoë;5;fish\n".encode("latin-1")
    )
    words = ("--encoding", "latin-1", "--delimiter", ";", "--split", "likes=|")
    with Process(tmp_path / "a.sqlite", str(path), *words) as server:
        about = server.client.describe("pets")
        assert {one["name"]: one["kind"] for one in about["columns"]}["likes"] == "set"
        assert server.client.row("pets", 0)["row"]["name"] == "Jürgen"


def test_other_options_read_the_file_again_and_none_leave_it(table, tmp_path):
    from lookalike.service.server import make_service, serve_file

    service, heard = make_service(tmp_path / "a.sqlite", "127.0.0.1"), []

    def kind(**options):
        heard.clear()
        found = service.catalog.get(serve_file(service, str(table), options, heard.append))
        return found.view.schema.kinds["weight"].name

    try:
        assert kind() == "number"
        assert kind(kinds={"weight": "category"}) == "category"
        assert heard == [f"reading {table}"]
        assert kind() == "category"  # as the store has it
        assert heard == []
        with pytest.raises(InvalidInput, match="wieght"):  # what is kept is not lost by a mistake
            kind(kinds={"wieght": "category"})
        assert kind() == "category"
        service.catalog.get("pets").add([{"name": "Neu", "weight": 4, "animal": "cat"}])
        assert kind(kinds={"weight": "number"}) == "category"
        assert "has other options" in heard[0]
    finally:
        service.store.close()


@pytest.mark.long
def test_a_saved_index_is_served_with_its_ids_and_its_measure(table, tmp_path):
    saved = tmp_path / "pets.lookalike"
    words = ("--id-column", "name", "--measure", "gower:scale=rank", "--weight", "weight=2")
    assert run("index", "build", table, "-o", saved, *words).exit_code == 0
    asked = run("search", saved, "--row", "Tom", "-k", 1, "--output", "json")
    (hit,) = json.loads(asked.stdout)["hits"]
    with Process(tmp_path / "a.sqlite", str(saved)) as server:
        (found,) = server.client.search("pets", "Tom", 1)["hits"]
        assert (found["id"], found["distance"]) == (hit["id"], pytest.approx(hit["distance"]))
    wrong = run("serve", saved, "--missing", "?", "--store", tmp_path / "b.sqlite")
    assert wrong.exit_code == 1
    assert "--missing: needs a table to read" in wrong.stderr
