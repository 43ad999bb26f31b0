"""``serve``, ``token``, ``mcp`` and ``explore``: from a file to a server, and who may use it."""

import base64
import gzip
import json
import os
import re
import sys

import pytest

from cli.run import run
from lookalike.cli import serving
from lookalike.errors import InvalidInput

pytest.importorskip("fastapi", reason="install lookalike[service] to test the service")
from service.running import Process

TABLE = "name,weight,animal\nTom,4,cat\nRex,30,dog\nKitty,5,cat\nGrey,28,wolf\n"


@pytest.fixture
def pets(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.long
def test_a_file_is_served_and_read_again_only_if_it_has_changed(pets, tmp_path):
    store = tmp_path / "pets.lookalike.sqlite"
    with Process(store, str(pets), "--label-column", "name") as server:
        client = server.client
        assert client.collections()[0]["rows"] == 4
        assert client.search("pets", 0, 1)["hits"][0]["label"] == "Kitty"
    heard = "".join(server.heard)
    assert f"rows are kept in {store}" in heard
    assert "reading" in heard
    assert f"serving http://127.0.0.1:{server.port}/" in heard
    pets.write_text(TABLE + "Mini,3,cat\n")
    with Process(store, str(pets)) as server:
        assert server.client.collections()[0]["rows"] == 5
        server.client.add("pets", [{"name": "Neu", "weight": 1, "animal": "cat"}])
    pets.write_text(TABLE)
    with Process(store, str(pets)) as server:  # what was written is not thrown away
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


def test_other_options_read_the_file_again_and_none_leave_it(pets, tmp_path):
    from lookalike.service.server import make_service, serve_file

    service, heard = make_service(tmp_path / "a.sqlite", "127.0.0.1"), []

    def kind(**options):
        heard.clear()
        found = service.catalog.get(serve_file(service, str(pets), options, heard.append))
        return found.view.schema.kinds["weight"].name

    try:
        assert kind() == "number"
        assert kind(kinds={"weight": "category"}) == "category"
        assert heard == [f"reading {pets}"]
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
def test_a_saved_index_is_served_with_its_ids_and_its_measure(pets, tmp_path):
    saved = tmp_path / "pets.lookalike"
    words = ("--id-column", "name", "--measure", "gower:scale=rank", "--weight", "weight=2")
    assert run("index", "build", pets, "-o", saved, *words).exit_code == 0
    asked = run("search", saved, "--row", "Tom", "-k", 1, "--output", "json")
    (hit,) = json.loads(asked.stdout)["hits"]
    with Process(tmp_path / "a.sqlite", str(saved)) as server:
        (found,) = server.client.search("pets", "Tom", 1)["hits"]
        assert (found["id"], found["distance"]) == (hit["id"], pytest.approx(hit["distance"]))
    wrong = run("serve", saved, "--missing", "?", "--store", tmp_path / "b.sqlite")
    assert wrong.exit_code == 1
    assert "--missing: needs a table to read" in wrong.stderr


def test_the_store_has_a_place_by_itself(tmp_path, monkeypatch):
    from lookalike.service.server import default_store

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_store([]) == tmp_path / "data" / "lookalike" / "store.sqlite"
    file = tmp_path / "films.csv.gz"
    assert default_store([str(file)]) == tmp_path / "films.lookalike.sqlite"
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        place = default_store([str(tmp_path / "locked" / "a.csv")])
        assert place == tmp_path / "data" / "lookalike" / "a.sqlite"


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    done = run("serve")
    assert done.exit_code == 1
    assert 'pip install "lookalike[service]"' in done.stderr


# -- tokens ----------------------------------------------------------------------------------------


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


# -- mcp; with its packages it is asked by a client in tests/mcp -----------------------------------


def test_a_missing_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "lookalike.mcp.server", raising=False)
    done = run("mcp", tmp_path)
    assert done.exit_code == 1
    assert "lookalike[mcp]" in " ".join(done.stderr.split())


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    done = run("mcp", tmp_path / "none")
    assert done.exit_code == 1
    assert "file not found" in done.stderr


# -- explore ---------------------------------------------------------------------------------------


@pytest.fixture
def cats(tmp_path):
    path = tmp_path / "cats.csv"
    rows = (f"cat {i},{i},{'black' if i % 2 else 'white'}\n" for i in range(30))
    path.write_text("name,weight,color\n" + "".join(rows))
    return path


def test_a_report_to_explore_is_one_file_of_some_rows(cats, tmp_path, monkeypatch):
    page, words = tmp_path / "cats.html", ("--sample", 10, "--filter", "weight>=12", "--seed", 4)
    done = run("report", cats, "--explore", "--weight", "weight=2", *words, "-o", page)
    assert done.exit_code == 0, done.output
    assert f"wrote {page}" in done.stderr.replace("\n", "")
    data = re.search('id="data">([^<]*)<', page.read_text("utf-8"))[1]
    head = json.loads(gzip.decompress(base64.b64decode(data)).partition(b"\n")[0])
    assert len(head["ids"]) == 10
    assert min(head["ids"]) >= 12
    assert head["labels"] == [f"cat {id}" for id in head["ids"]]  # the ids of the table
    assert head["weights"]["weight"] == 2
    assert head["info"]["title"].endswith("cats.csv (10 of 30 rows)")
    # Without a name the page is called after the table, as a report is.
    monkeypatch.chdir(tmp_path)
    page.unlink()
    assert run("report", cats, "--explore", "--label", "color").exit_code == 0
    assert "Content-Security-Policy" in page.read_text("utf-8")


def test_the_page_is_opened_until_it_is_stopped(cats, monkeypatch):
    opened = []
    monkeypatch.setattr(serving.typer, "launch", opened.append)

    def stop(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(serving.time, "sleep", stop)
    done = run("explore", str(cats))
    assert done.exit_code == 130
    assert [url.partition("/#/cats")[0][:17] for url in opened] == ["http://127.0.0.1:"]


@pytest.mark.parametrize(
    ("words", "result"),
    [(["-o", "csv"], "NAME.html"), (["--label", "colr"], "color"), (["--columns", "wight"], "wei")],
)
def test_mistakes_are_one_line(cats, tmp_path, monkeypatch, words, result):
    monkeypatch.chdir(tmp_path)
    done = run("report", cats, "--explore", *words)
    assert done.exit_code == 1
    assert result in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["cats.csv"]
