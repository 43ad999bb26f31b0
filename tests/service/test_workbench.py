"""What the page needs to bring a table and to change it: kinds on trial, rows brought back."""

import pytest

from lookalike.service.client import ServiceError
from lookalike.service.fitting import read_as
from lookalike.table import read_table
from service.running import PETS

ROWS = [
    {
        "name": f"thing {i}",
        "year": "unknown?" if i in (3, 7) else str(1990 + i),
        "tags": "a, b" if i % 2 else "b",
        "size": ["S", "M", "L"][i % 3],
        "x": 1.5 * i,
    }
    for i in range(20)
]


@pytest.fixture
def things(pets):
    pets.create("things", rows=ROWS)
    return pets


def tried(client, column, kind):
    return client.post("/api/collections/things/column", {"column": column, "kind": kind})


def test_a_kind_on_trial_counts_the_cells_that_cannot_be_read(things):
    found = tried(things, "year", "number")
    assert found["missing"] == ["unknown?"]
    assert found["cells"] == 2
    assert found["column"]["kind"] == "number"
    assert found["column"]["gaps"] == 0.1
    assert found["column"]["summary"]["max"] == 2009
    assert things.describe("things")["generation"] == 1  # nothing was changed
    sets = tried(things, "tags", "category")
    assert sets["column"]["summary"]["counts"] == [["a, b", 10], ["b", 10]]
    levels = tried(things, "size", ["L", "M", "S"])["column"]
    assert [level for level, _ in levels["summary"]["counts"]] == ["L", "M", "S"]


@pytest.mark.parametrize(
    ("column", "kind", "words"),
    [
        ("size", "number", "20 of 20 cells"),  # no cell is left
        ("name", "number", "20 of 20 cells"),  # more values than are named
        ("tags", "number", "cells that are not"),
        ("x", "color", "color"),
        ("nothing", "text", "Known: "),
        ("lookalike_id", "text", "Known: "),
    ],
)
def test_a_kind_that_cannot_be_is_refused(things, column, kind, words):
    with pytest.raises(ServiceError, match=words):
        tried(things, column, kind)


def test_a_column_with_many_unreadable_values_is_of_another_kind():
    table = read_table({"x": [*map(str, range(100)), *(f"w{i}" for i in range(30))]}, {"x": "text"})
    with pytest.raises(ValueError, match="of 130 cells"):
        read_as(table, "x", "number")
    assert read_as(table[:110], "x", "number")[1] == [f"w{i}" for i in range(10)]


def test_a_refit_reads_kinds_missing_values_and_the_label(things):
    kinds = {"year": "number", "tags": "category", "x": "aside"}
    options = {"kinds": kinds, "missing": ["unknown?"], "label_column": "year"}
    assert things.refit("things", **options)["state"] == "done"
    info = things.describe("things")
    columns = {column["name"]: column for column in info["columns"]}
    assert info["label_column"] == "year"
    assert columns["year"]["gaps"] == 0.1
    assert columns["year"]["compared"]
    assert columns["tags"]["kind"] == "category"
    assert not columns["x"]["compared"]
    assert columns["name"]["kind"] == "name"  # what it was is still known
    row = {"name": "new", "year": "unknown?", "tags": "b", "size": "S"}
    (id,) = things.add("things", [row])["ids"]
    assert things.row("things", id)["row"]["year"] is None


def test_a_deleted_row_comes_back_under_its_id(pets):
    before = pets.search("pets", 1, 5)["hits"]
    pets.delete("pets", 0)
    assert pets.replace("pets", 0, PETS[0])["id"] == 0
    assert pets.search("pets", 1, 5)["hits"] == before
    with pytest.raises(ServiceError, match="rows here are numbered"):
        pets.replace("pets", "name", PETS[0])
    assert pets.add("pets", [PETS[0]])["ids"] == [7]  # 6 was used up by the row that came back


def test_a_row_of_a_named_table_may_be_put(pets):
    pets.create("named", rows=PETS, id_column="name")
    pets.delete("named", "Tom")
    assert pets.replace("named", "Tom", PETS[0])["id"] == "Tom"
    assert pets.replace("named", "Neu", {**PETS[0], "name": "Neu"})["id"] == "Neu"
    with pytest.raises(ServiceError, match="its own id"):
        pets.replace("named", "Other", PETS[0])


def test_rows_are_filtered_by_id(pets):
    name = pets.describe("pets")["row_ids"]
    asked = {"filter": {name: {"in": [1, 3, 4]}, "animal": {"!=": None}}}
    assert {hit["id"] for hit in pets.search("pets", 0, 5, **asked)["hits"]} == {1, 3}
    pets.create("named", rows=PETS, id_column="name")
    asked = {"filter": {pets.describe("named")["row_ids"]: {"in": ["Rex", "Otto"]}}}
    assert {hit["id"] for hit in pets.search("named", "Tom", 5, **asked)["hits"]} == {"Rex", "Otto"}


def test_an_older_analysis_is_good_enough_on_request(pets):
    clusters = "/api/collections/pets/clusters"
    first = pets._waited(clusters, {"labels": "true"})
    assert first["newer"] == 0
    assert first["ids"] == list(range(6))
    assert len(first["labels"]) == 6
    pets.delete("pets", 5)
    pets.replace("pets", 4, PETS[4])
    old = pets.get(clusters, {"at_least": 0})
    assert (old["newer"], old["generation"]) == (2, 1)
    head, _ = pets.map("pets")
    assert head["newer"] == 0
    fresh = pets._waited(clusters, {"at_least": 3})
    assert (fresh["newer"], fresh["generation"]) == (0, 3)


def test_the_number_of_clusters_may_be_chosen(pets):
    for n in (2, 3):
        found = pets._waited("/api/collections/pets/clusters", {"n": n})["clusters"]
        assert len(found) == n
        assert all({"label_rows", "borderline", "differs"} <= set(one) for one in found)
    with pytest.raises(ServiceError, match="n"):
        pets.get("/api/collections/pets/clusters", {"n": 1})


def test_examples_are_listed_and_made(pets):
    names = [one["name"] for one in pets.get("/api/examples")["examples"]]
    assert names == ["films", "penguins"]
    made = pets.post("/api/collections", {"example": "penguins"})
    assert (made["name"], made["rows"]) == ("penguins", 344)
    with pytest.raises(ServiceError, match="penguins"):
        pets.post("/api/collections", {"example": "penguin"})
    with pytest.raises(ServiceError, match="one of file, path, rows and example"):
        pets.post("/api/collections", {"example": "penguins", "rows": PETS})
