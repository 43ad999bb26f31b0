"""A folder of shards as a collection: searched, explained, filtered, marked; not written to."""

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.index import build_index
from lookalike.measures import Gower
from lookalike.service.client import ServiceError
from lookalike.service.server import serve_file
from service.running import running
from table.parts import cut


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("served")
    rows = {
        "title": [f"film {at}" for at in range(1500)],
        "size": [float(at * 37 % 101) for at in range(1500)],
        "color": [["red", "blue", "green"][at % 3] for at in range(1500)],
    }
    build_index(cut(pa.table(rows), place / "in", [700]), place / "films", Gower(), shard_rows=1024)
    return place


def test_a_folder_is_served_and_only_read(place, tmp_path):
    index = la.Index.open(place / "films")
    with running(tmp_path / "store.db", folder=place) as (service, client):
        assert serve_file(service, str(place / "films"), {}, print) == "films"
        assert serve_file(service, str(place / "films"), {}, print) == "films"  # known by now
        about = client.describe("films")
        assert about["rows"] == 1500
        assert {column["name"] for column in about["columns"]} == {"title", "size", "color"}
        assert about["start"] in index
        collection = service.catalog.get("films")
        assert collection.follow() is collection.view  # nothing is written through the store
        for filter in (None, {"color": "red"}):
            found = client.search("films", 7, k=4, filter=filter)
            assert [hit["id"] for hit in found["hits"]] == index.search(7, k=4, filter=filter).ids
        listed = [row["id"] for row in client.rows("films")]
        assert listed == index.ids
        session = client.session("films", 7, k=4)
        marked = client.mark("films", session["id"], like=[session["answer"]["hits"][0]["id"]])
        assert len(marked["answer"]["hits"]) == 4
        for write in (
            lambda: client.add("films", [{"title": "x", "size": 1, "color": "red"}]),
            lambda: client.add("films", [{"title": "x", "size": 1, "color": "red"}], key="once"),
            lambda: client.delete("films", 3),
            lambda: client.replace("films", 3, {"title": "x", "size": 1, "color": "red"}),
        ):
            with pytest.raises(ServiceError, match="lookalike index") as refused:
                write()
            assert refused.value.status == 409
        made = client.post("/api/collections", {"path": "films", "name": "again"})
        assert made["rows"] == 1500
        client.drop("again")
        assert len(la.Index.open(place / "films")) == 1500
    with running(tmp_path / "store.db") as (_, client):  # the store remembers where it is
        assert client.search("films", 7, k=2)["hits"][0]["id"] == index.search(7, k=1).ids[0]


def test_a_set_of_a_folder_may_be_any_rows(tmp_path):
    """What describes the folder is a sample; the rows that are asked about need not be in it."""
    rows = {"size": [at * 37 % 101 for at in range(6000)], "color": ["red", "blue", "green"] * 2000}
    index = build_index(cut(pa.table(rows), tmp_path / "in", [700]), tmp_path / "films", Gower())
    with running(tmp_path / "store.db") as (service, client):
        serve_file(service, str(tmp_path / "films"), {}, print)
        view = service.catalog.get("films").view
        known = set(view.table[view.settings.names].values.tolist())
        reds = [id for id in index.ids if index.get(id)["color"] == "red"][:40]
        assert not known.issuperset(reds)
        found = client.post("/api/collections/films/profile", {"ids": reds})
        assert found["sampled"]
        assert found["size"] == 40
        first = found["differs"][0]
        assert (first["column"], first["value"], first["inside"]) == ("color", "red", 1)
        assert 0.2 < first["outside"] < 0.4
        with pytest.raises(ServiceError, match="rows that are in memory.*'films', a folder"):
            client.post("/api/collections/films/ask/dedupe", {})
        assert {one["id"] for one in found["typical"]} <= set(reds)
