"""Maps, hubs and clusters are kept across restarts, as long as the rows are the same."""

import base64

import numpy as np
import pytest
import sqlalchemy as sa

import lookalike as la
from lookalike.service import ServiceError
from lookalike.service.store import caches
from lookalike.service.store import database as tables
from lookalike.service.store.caches import Kept, load_result, save_result
from lookalike.service.store.store import Store
from service.running import PETS, running

RANDOM = np.random.default_rng(3)
ROWS = [
    {"x": float(RANDOM.normal() + 4 * (i % 3)), "y": float(RANDOM.normal()), "group": "abc"[i % 3]}
    for i in range(60)
]
VIEWS = ("map", "hubs", "clusters")


def looked_at(client):
    head, places = client.map("some")
    return head, places.tolist(), client.hubs("some"), client.clusters("some")


def jobs(client):
    """Return which views start a job."""
    found = set()
    for view in VIEWS:
        answer = client.request("GET", f"/api/collections/some/{view}")
        if isinstance(answer, dict) and "job" in answer:
            found.add(view)
            client.wait(answer["job"]["id"])
    return found


def test_what_was_found_is_there_after_a_restart(address):
    with running(address) as (_, client):
        client.create("some", rows=ROWS)
        client.replace("some", 3, ROWS[4])
        assert jobs(client) == set(VIEWS)
        before = looked_at(client)
        shown = client.request("GET", "/api/collections/some/hubs/5")
    with running(address) as (_, client):
        assert jobs(client) == set()
        assert looked_at(client) == before
        assert client.request("GET", "/api/collections/some/hubs/5") == shown
        color = client.request("GET", "/api/collections/some/map/colors?column=cluster")
        assert color["kind"] == "category"
        client.add("some", [ROWS[0]])  # now they are of other rows
        assert jobs(client) == set(VIEWS)
        assert looked_at(client)[0]["rows"] == len(ROWS) + 1
    with running(address) as (service, client):
        assert jobs(client) == set()
        client.refit("some", "gower", weights={"x": 3})
        assert jobs(client) == set(VIEWS)
        client.drop("some")
        with service.store.database.read() as connection:
            assert connection.execute(sa.select(tables.results.c.kind)).all() == []


def test_rows_that_a_cache_has_taken_in_count_as_changed(tmp_path):
    """Else the map after a restart would be that of the rows which were fitted."""
    store = tmp_path / "store.sqlite"
    with running(store) as (service, client):
        client.create("some", rows=ROWS)
        client.add("some", ROWS[:5])
        client.replace("some", 0, ROWS[1])
        client.delete("some", 2)
        changed = service.catalog.get("some").view.changed
        service.catalog.get("some").save_cache()
    with running(store) as (service, client):
        collection = service.catalog.get("some")
        assert collection.view.changed == changed == 8
        assert collection.last_load == "read from the cache"
        assert len(client.map("some")[1]) == len(ROWS) + 4
        assert client.hubs("some")["rows"] == len(ROWS) + 4


@pytest.fixture
def kept_map(tmp_path):
    store = tmp_path / "store.sqlite"
    with running(store) as (_, client):
        client.create("some", rows=ROWS)
        before = client.map("some")
    return store, before


@pytest.mark.parametrize("damage", ["byte", "cut", "version", "not an archive"])
def test_a_damaged_result_is_made_again(kept_map, damage):
    path, before = kept_map
    store = Store(path)
    with store.database.write() as connection:
        data = bytearray(connection.execute(sa.select(tables.results.c.bytes)).scalar())
        values = {}
        if damage == "byte":
            data[len(data) // 2] ^= 1
            values = {"bytes": bytes(data)}
        elif damage == "cut":
            values = {"bytes": bytes(data[: len(data) // 2])}
        elif damage == "version":
            values = {"version": "0.0.0"}
        else:  # its hash is right, and it is still nothing
            bad = b"PK nothing"
            values = {"bytes": bad, "hash": caches.hashlib.sha256(bad).hexdigest()}
        connection.execute(tables.results.update().values(**values))
    store.close()
    with running(path) as (_, client):
        answer = client.request("GET", "/api/collections/some/map")
        assert answer["job"]["kind"] == "map"
        after = client.map("some")
    assert after[0] == before[0]
    assert np.array_equal(after[1], before[1])


def test_results_are_few_and_small(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])

    def kinds():
        with store.database.read() as connection:
            return {kind for (kind,) in connection.execute(sa.select(tables.results.c.kind))}

    kept = Kept({"a": [1, "b"]}, {"x": np.arange(5.0)})
    for k in range(12):
        assert save_result(store.database, head.key, f"hubs-{k:02}", 1, kept)
    assert len(kinds()) == caches.MAX_RESULTS
    assert "hubs-11" in kinds()
    found = load_result(store.database, head.key, "hubs-11", 1)
    assert found.about == kept.about
    assert np.array_equal(found.arrays["x"], kept.arrays["x"])
    assert load_result(store.database, head.key, "hubs-11", 2) is None
    assert save_result(store.database, head.key, "map", 2, kept)
    assert kinds() == {"map"}  # what belongs to older rows has gone
    monkeypatch.setattr(caches, "MAX_RESULT_BYTES", 100)
    assert not save_result(store.database, head.key, "clusters", 2, kept)
    assert not save_result(store.database, head.key + 1, "map", 2, kept)
    assert kinds() == {"map"}
    store.close()


def test_objects_are_never_read(tmp_path):
    """An array of objects would be a pickle."""
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])
    values = np.empty(1, dtype=object)
    values[0] = {"a": 1}
    save_result(store.database, head.key, "map", 1, Kept({}, {"x": values}))
    assert load_result(store.database, head.key, "map", 1) is None
    store.close()


def test_the_map_is_that_of_the_library(pets):
    head, places = pets.map("pets")
    assert head["rows"] == 6
    assert head["ids"] == "positions"
    index = pets.service.catalog.get("pets").view.index
    expected = la.represent.layout(index.measure_)
    assert np.allclose(places, expected, atol=1e-5)


MANY = [
    {
        "name": f"row {i}",
        "x": float(RANDOM.normal() + 4 * (i % 3)),
        "y": float(RANDOM.normal()),
        "group": "abc"[i % 3],
    }
    for i in range(120)
]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    with running(tmp_path_factory.mktemp("many") / "a.sqlite") as (service, client):
        client.create("many", rows=MANY)
        client.service = service
        yield client


def test_hubs_are_those_of_the_library(many):
    assert many.describe("many")["spaces"]["reduction_helps"] is None  # not counted yet
    found = many.hubs("many", k=5)
    # No problem, so that no other space is computed.
    assert found["sentence"].startswith("No hub problem here: largest ")
    assert (found["hub_problem"], found["reduction_helps"]) == (False, False)
    assert many.describe("many")["spaces"] == {
        "plain": True, "repaired": "none", "reduction_helps": False,
    }  # fmt: skip
    check_hubs(many, "many", found, [found["plain"]])
    assert found["repaired"] is None


def test_hubs_are_reduced_where_that_helps(many):
    values = np.random.default_rng(0).normal(size=(120, 20))
    values[0] *= 0.05  # in the middle of all others
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in values.tolist()]
    many.create("spots", rows=rows)
    found = many.hubs("spots", k=5)
    largest = [found[space]["largest"] for space in ("plain", "repaired")]
    words = "A problem, and the reduction helps: largest {} -> {}, skewness "
    assert found["sentence"].startswith(words.format(*largest))
    assert (found["hub_problem"], found["reduction_helps"]) == (True, True)
    assert many.describe("spots")["spaces"] == {
        "plain": True, "repaired": "ready", "reduction_helps": True,
    }  # fmt: skip
    check_hubs(many, "spots", found, [found["plain"], found["repaired"]])
    # The verb over HTTP offers it in the spelling of a request.
    asked = many.post("/api/collections/spots/ask/hubs", {"k": 5})
    assert asked["verdict"].startswith("A problem, and the reduction helps: largest ")
    assert "reduce" in asked["notes"][-1]


def test_hubs_with_missing_cells_have_a_cure_in_a_request(many):
    values = np.random.default_rng(0).random((80, 6)).round(3)
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in values.tolist()]
    for row in rows[:12]:
        row |= dict.fromkeys(list(row)[1:])
    many.create("holes", rows=rows, measure="gower")
    sentence = many.hubs("holes", k=5)["sentence"]
    assert "rows with many missing cells" in sentence
    assert "gower:missing=midpoint" in sentence


def check_hubs(many, name, found, spaces):
    view = many.service.catalog.get(name).view
    counts = la.hubness.k_occurrence(view.index.measure_, 5)
    assert found["plain"]["largest"] == counts.max()
    assert found["plain"]["skewness"] == pytest.approx(la.hubness.skewness(counts))
    assert found["plain"]["unreachable"] == (counts == 0).sum()
    # Rows in no list have a bin of their own, and the last one ends behind the largest count.
    largest = max(space["largest"] for space in spaces)
    steps = np.geomspace(1, largest + 1, 30).round().astype(int)
    for space in spaces:
        assert space["histogram"]["edges"] == [0, *sorted(set(steps.tolist()))]
        assert sum(space["histogram"]["counts"]) == 120
        assert space["histogram"]["counts"][0] == space["unreachable"]
        assert space["unreachable_share"] == space["unreachable"] / 120
        assert len(space["top"]) == 20
        assert len(space["orphans"]) == min(50, space["unreachable"])
    assert not found["sampled"]
    top = found["plain"]["top"][0]
    assert top["occurrence"] == counts.max()
    shown = many.get(f"/api/collections/{name}/hubs/{top['id']}", {"k": 5, "limit": 1000})
    assert shown["occurrence"] == len(shown["shown_by"]) == top["occurrence"]
    for one in shown["shown_by"][:3]:
        hits = many.search(name, one["id"], 5)["hits"]
        assert hits[one["rank"] - 1]["id"] == top["id"]


def test_the_repaired_space_answers_and_says_why_it_cannot_weigh(many):
    many.repair("many")
    spaces = {"plain": True, "repaired": "ready", "reduction_helps": False}
    assert many.describe("many")["spaces"] == spaces
    plain, repaired = (many.search("many", 3, 20, space=space) for space in ("plain", "repaired"))
    assert plain["hits"] != repaired["hits"]
    with pytest.raises(ServiceError, match="a measure that weighs columns") as error:
        many.search("many", 3, space="repaired", weights={"x": 2})
    assert error.value.status == 422


def test_the_repaired_space_follows_the_rows(pets):
    pets.repair("pets")
    pets.add(
        "pets", [{"name": "Zwilling", "weight": 4, "animal": "cat", "tags": ["tame", "small"]}]
    )
    hits = pets.search("pets", 0, 9, space="repaired")["hits"]
    assert "Zwilling" in [hit["label"] for hit in hits]
    pets.delete("pets", 6)
    assert "Zwilling" not in [
        h["label"] for h in pets.search("pets", 0, 9, space="repaired")["hits"]
    ]


def test_the_graph_holds_the_lists(many):
    graph = many.graph("many", 0, depth=2, k=3)
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert nodes[0]["depth"] == 0
    assert {link["target"] for link in graph["links"] if link["source"] == 0} == {
        hit["id"] for hit in many.search("many", 0, 3)["hits"]
    }
    for link in graph["links"][:6]:
        back = [hit["id"] for hit in many.search("many", link["target"], 3)["hits"]]
        assert link["mutual"] == (link["source"] in back)
    assert len(many.graph("many", 0, depth=4, k=50)["nodes"]) <= 200


def test_clusters_and_colors(many):
    found = many.clusters("many")
    assert sum(one["size"] for one in found["clusters"]) == 120
    assert found["clusters"][0]["differs"][0]["text"]
    head, places = many.map("many")
    assert places.shape == (120, 2)
    assert np.isfinite(places).all()
    assert head["columns"] == ["x", "y", "group"]
    assert 0.8 < head["trust"] <= 1
    colors = many.get("/api/collections/many/map/colors", {"column": "group"})
    codes = np.frombuffer(base64.b64decode(colors["values"]), np.uint8)
    assert [colors["labels"][code] for code in codes[:3]] == ["a", "b", "c"]
    assert colors["gap"] == "missing"
    numbers = many.get("/api/collections/many/map/colors", {"column": "x"})
    cells = np.frombuffer(base64.b64decode(numbers["values"]), "<f4")
    assert cells[7] == pytest.approx(MANY[7]["x"], rel=1e-6)
    clusters = many.get("/api/collections/many/map/colors", {"column": "cluster"})
    assert len(base64.b64decode(clusters["values"])) == 120
    assert clusters["gap"] == "no cluster"
    with pytest.raises(ServiceError, match="a column"):
        many.get("/api/collections/many/map/colors", {"column": "unknown"})


def test_a_profile_says_what_sets_rows_apart(many):
    ids = list(range(0, 120, 3))  # all of group a
    found = many.profile("many", ids)
    assert (found["size"], found["rest"]) == (40, 80)
    group = next(one for one in found["differs"] if one["column"] == "group")
    assert (group["value"], group["inside"], group["outside"], group["score"]) == ("a", 1, 0, 1)
    assert found["differs"] == sorted(found["differs"], key=lambda one: -one["score"])
    assert {one["id"] for one in found["typical"]} <= set(ids)


def test_a_refit_serves_the_old_measure_until_it_is_done(pets):
    before = pets.search("pets", 0, 5)
    done = pets.refit("pets", "gower", weights={"weight": 5}, kinds={"animal": "text"})
    assert done["result"]["generation"] == 2
    after = pets.describe("pets")
    assert after["measure"]["weights"]["weight"] == 5
    assert {c["name"]: c["kind"] for c in after["columns"]}["animal"] == "text"
    assert pets.search("pets", 0, 5)["hits"] != before["hits"]
    for bad in ("gowwer", "vector:metrics=x"):
        with pytest.raises(ServiceError) as error:
            pets.refit("pets", bad)
        assert error.value.status == 422
    with pytest.raises(ServiceError, match="species|column|weigh"):
        pets.refit("pets", "gower", weights={"unknown": 2})
    assert pets.search("pets", 0, 5)["generation"] == 2


def test_an_analysis_of_too_few_rows_says_so(tmp_path):
    """The job fails, and so does every later request, which would only fail again."""
    with running(tmp_path / "a.sqlite") as (_, client):
        client.create("one", rows=PETS[:1])
        for _ in range(2):
            with pytest.raises(ServiceError, match="at least 2 rows") as error:
                client.hubs("one")
            assert error.value.status == 422
        assert client.clusters("one")["clusters"][0]["size"] == 1


def test_an_empty_set_is_not_called_missing():
    from types import SimpleNamespace

    from lookalike.service.analysis.views import Map
    from lookalike.table import read_table

    rows = {"tags": [{"a"}, set(), {"a", "b"}], "more": [{"a"}, None, {"b"}]}
    sample = SimpleNamespace(table=read_table(rows), ids=[0, 1, 2])
    drawn = Map(sample, {"trust": None}, {"places": np.zeros((3, 2))})
    assert drawn.colors("tags")["gap"] == "none"
    assert drawn.colors("more")["gap"] == "missing"
