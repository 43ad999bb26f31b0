"""Maps, hubs and clusters are kept across restarts, as long as the rows are the same."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sqlalchemy as sa

import lookalike as la
from lookalike.clustering import profile_clusters
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service import ServiceError, analysis
from lookalike.service.api.models import MeasureIn
from lookalike.service.jobs import Started
from lookalike.service.store import database as tables
from lookalike.service.store.store import NotFound, Store
from lookalike.table import read_table
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
        assert collection._cached >= 0  # read from the cache
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
            values = {"bytes": bad, "hash": hashlib.sha256(bad).hexdigest()}
        connection.execute(tables.results.update().values(**values))
    store.close()
    with running(path) as (_, client):
        answer = client.request("GET", "/api/collections/some/map")
        assert answer["job"]["kind"] == "map"
        after = client.map("some")
    assert after[0] == before[0]
    assert np.array_equal(after[1], before[1])


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
    many.create("counted", rows=MANY)  # no other test has counted its hubs
    assert many.describe("counted")["spaces"]["reduction_helps"] is None
    found = many.hubs("counted", k=5)
    # No problem, so that no other space is computed.
    assert found["sentence"].startswith("No hub problem here: the largest hub is in ")
    assert (found["hub_problem"], found["reduction_helps"]) == (False, False)
    assert many.describe("counted")["spaces"] == {
        "plain": True, "repaired": "none", "reduction_helps": False,
    }  # fmt: skip
    check_hubs(many, "counted", found, [found["plain"]])
    assert found["repaired"] is None


def test_hubs_are_reduced_where_that_helps(many):
    values = np.random.default_rng(0).normal(size=(120, 20))
    values[0] *= 0.05  # in the middle of all others
    rows = [{f"x{j}": value for j, value in enumerate(row)} for row in values.tolist()]
    many.create("spots", rows=rows)
    found = many.hubs("spots", k=5)
    largest = [found[space]["largest"] for space in ("plain", "repaired")]
    words = "and the reduction helps: the largest hub is in {} -> {} lists, skewness "
    assert words.format(*largest) in found["sentence"]
    assert (found["hub_problem"], found["reduction_helps"]) == (True, True)
    assert many.describe("spots")["spaces"] == {
        "plain": True, "repaired": "ready", "reduction_helps": True,
    }  # fmt: skip
    check_hubs(many, "spots", found, [found["plain"], found["repaired"]])
    # The verb over HTTP offers it in the spelling of a request.
    asked = many.post("/api/collections/spots/ask/hubs", {"k": 5})
    assert asked["verdict"].startswith("Hubs are a problem, and the reduction helps: ")
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
        assert space["drawn"].startswith("Of the 5 nearest rows the first 2 reach ")
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


def test_what_drawn_lists_reach_is_said_as_simulated():
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.normal(size=40) - rng.normal(size=(200, 40)) / 2, axis=1)[:, :6]
    chosen = [
        np.take_along_axis(lists, rng.permuted(np.tile(np.arange(6), (200, 1)), axis=1), 1)[:, :3]
        for _ in range(400)
    ]
    reached = [len(np.unique(some)) / 200 for some in chosen]
    said = analysis.say_reach(lists)
    near, drawn = (int(text) for text in re.findall(r"(\d+)%", said))
    assert near == round(100 * len(np.unique(lists[:, :3])) / 200)
    assert drawn == pytest.approx(100 * np.mean(reached), abs=0.6)
    assert said.endswith("worth a try." if drawn - near >= 2 else "little is gained.")
    ring = (np.arange(50)[:, None] + np.arange(1, 5)) % 50
    assert analysis.say_reach(ring).endswith(
        "first 2 reach 100% of all rows, 2 drawn from them 94%: little is gained."
    )
    assert analysis.say_reach(ring[:, :1]) == ""


def test_the_repaired_space_answers_and_says_why_it_cannot_weigh(many):
    many.hubs("many", k=5)  # says whether the reduction helps
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


def test_a_result_fits_until_a_share_of_many_rows_has_changed():
    def at(changed, n, fitted=1):
        return SimpleNamespace(fit=(fitted, "{}"), changed=changed, index=range(n))

    def fits(view, now):
        return analysis.RowSample(view, [], None, False).still_fits(now)

    assert fits(at(3, 5_000), at(3, 5_000))
    assert not fits(at(3, 5_000), at(3, 5_000, fitted=2))
    assert not fits(at(3, 5_000), at(4, 5_000))
    assert not fits(at(4, 5_000), at(3, 5_000))
    assert fits(at(0, 5_001), at(250, 5_001))
    assert not fits(at(0, 5_001), at(251, 5_001))
    assert fits(at(300, 6_000), at(0, 6_000))
    assert not fits(at(301, 6_000), at(0, 6_000))


def test_rows_are_taken_whole_or_as_a_sample(made):
    view = made.view
    whole = analysis.take(view, 12)
    assert (whole.ids, whole.sampled) == (list(range(12)), False)
    assert whole.positions == {i: i for i in range(12)}
    assert [c.name for c in whole.table.columns + whole.table.aside] == ["x", "y", "group", "name"]
    assert whole.name(3) == {"id": 3, "label": "row 3"}
    assert whole.row(3)["row"] == {"x": 3.0, "y": 9.0, "group": "b", "name": "row 3"}
    some = analysis.take(view, 11)
    assert some.sampled
    expected = sorted(np.random.default_rng(0).choice(12, 11, replace=False).tolist())
    assert some.ids == expected
    assert [some.row(p)["row"]["name"] for p in range(11)] == [f"row {i}" for i in expected]
    of_folder = analysis.take(replace(view, sample=view.table[np.arange(4)]))
    assert (of_folder.ids, of_folder.sampled) == ([0, 1, 2, 3], True)
    # The measure is that of the view only where it was fitted to exactly these rows.
    assert whole.fitted_measure() is not None
    assert some.fitted_measure() is None
    assert analysis.take(replace(view, changed=1)).fitted_measure() is None

    kept = {"document": {}, "arrays": {}}
    assert analysis.Hubs.of(view, kept | {"ids": list(range(12))}).sample.ids == list(range(12))
    order = [*range(1, 12), 0]
    again = analysis.Hubs.of(view, kept | {"ids": order}).sample
    assert (again.ids, again.sampled) == (order, False)
    assert again.row(11)["row"]["name"] == "row 0"
    assert analysis.Hubs.of(view, kept | {"ids": order[1:]}) is None
    assert analysis.Hubs.of(view, kept | {"ids": [*order[1:], 99]}) is None

    assert analysis.with_rows(whole, [1, 2, 1]) is whole
    few = analysis.RowSample(view, [0, 1], whole.table[np.arange(2)], False)
    more = analysis.with_rows(few, [5, 1, 5, 3])
    assert (more.ids, more.sampled) == ([0, 1, 5, 3], True)
    assert [more.row(p)["row"]["name"] for p in range(4)] == ["row 0", "row 1", "row 5", "row 3"]


def test_only_a_measure_in_memory_can_be_repaired(made):
    view = made.view
    assert analysis.can_be_repaired(view)
    repaired = analysis.fit_repaired(view)
    assert repaired.ids == view.index.ids
    assert hasattr(repaired.measure_, "measure_")
    assert not analysis.can_be_repaired(replace(view, index=repaired))
    matrix = SimpleNamespace(measure_=SimpleNamespace(traits=SimpleNamespace(pairwise=True)))
    assert not analysis.can_be_repaired(replace(view, index=matrix))
    with pytest.raises(InvalidInput, match="rows in a folder of shards"):
        analysis.fit_repaired(replace(view, sample=view.table))


def test_the_rows_of_a_collection_are_a_source_of_verbs(made):
    view = made.view
    source = analysis.CollectionSource(view)
    assert source.name == "table"
    assert source.index is view.index
    assert dict(source.more) == {}
    assert source.rows().ids == list(range(12))
    assert source.rows("group = a").ids == list(range(0, 12, 2))
    weighed = analysis.CollectionSource(view, "made", gamma=0.5, among=None)
    assert weighed.more == {"gamma": 0.5}


def test_who_shows_a_row_by_rank_then_row(made):
    lists = np.array([[1, 2], [2, 0], [1, 0], [2, 1], [1, -1]], dtype=np.int32)
    sample = analysis.RowSample(made.view, [0, 1, 2, 3, 4], analysis.take(made.view).table, False)
    found = analysis.Hubs(sample, {"k": 2}, {"plain": lists, "repaired": lists[:, ::-1]})
    assert {space: n.tolist() for space, n in found.occurrences.items()} == {
        "plain": [2, 4, 3, 0, 0], "repaired": [2, 4, 3, 0, 0],
    }  # fmt: skip
    first = [(0, 1), (2, 1), (4, 1), (3, 2)]
    for space, limit, expected in (
        ("plain", 9, first),
        ("other", 9, first),
        ("plain", 3, first[:3]),
        ("repaired", 9, [(3, 1), (0, 2), (2, 2), (4, 2)]),
    ):
        shown = found.shown_by(1, space, limit)
        assert shown == {
            "id": 1,
            "occurrence": 4,
            "shown_by": [{"id": i, "label": f"row {i}", "rank": rank} for i, rank in expected],
        }
    assert found.shown_by(3, "plain", 9) == {"id": 3, "occurrence": 0, "shown_by": []}
    with pytest.raises(NotFound, match="row 5"):
        found.shown_by(5, "plain", 9)


def test_hubs_of_a_view_are_counted_in_lists_no_longer_than_the_others(made):
    found = analysis.find_hubs(replace(made.view, generation=7), None, 50)
    about = found.document
    assert (about["k"], about["rows"], about["generation"]) == (11, 12, 7)
    assert (about["sampled"], about["repaired"]) == (False, None)
    # Everyone is in every list but its own.
    assert about["plain"]["histogram"] == {
        "edges": [0, *np.unique(np.geomspace(1, 12, 30).round().astype(int)).tolist()],
        "counts": [0] * 11 + [12],  # the last bin ends behind the largest count
    }
    assert (about["plain"]["largest"], about["plain"]["unreachable"]) == (11, 0)
    assert about["plain"]["unreachable_share"] == 0
    assert [one["id"] for one in about["plain"]["top"]] == list(range(12))  # ties in their order
    assert about["plain"]["orphans"] == []
    assert found.arrays["plain"].shape == (12, 11)
    assert found.arrays["plain"].dtype == np.int32
    assert found.sample.view.generation == 7
    again = analysis.Hubs.of(made.view, found.kept())
    assert again.document == about
    assert again.sample.ids == list(range(12))
    assert analysis.Hubs.of(made.view, {"ids": [1], "document": {}, "arrays": {}}) is None
    both = analysis.find_hubs(made.view, analysis.fit_repaired(made.view), 3)
    assert set(both.arrays) == {"plain", "repaired"}
    assert both.arrays["repaired"].shape == (12, 3)
    assert (
        both.document["repaired"]["histogram"]["edges"]
        == both.document["plain"]["histogram"]["edges"]
    )
    assert both.sample.view is made.view


def test_a_profile_of_few_and_of_many_rows(made, monkeypatch):
    view = made.view
    found = analysis.profile(view, [3, 1, 3])
    assert (found["size"], found["rest"], found["sampled"]) == (2, 10, False)
    assert found["generation"] == view.generation
    assert found["typical"] == [{"id": 1, "label": "row 1"}, {"id": 3, "label": "row 3"}]
    scores = [one["score"] for one in found["differs"]]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0
    assert all("size" not in one and one["text"] for one in found["differs"])
    sample = analysis.take(view)
    (one,) = profile_clusters(np.zeros(7, int), sample.table[np.arange(2, 9)], n_examples=5)
    whole = analysis._typical(sample, np.arange(2, 9))
    assert whole == [2 + row for row in one.typical]
    assert len(whole) == 5
    assert len(analysis._typical(sample, np.arange(3))) == 3
    monkeypatch.setattr(analysis, "MAX_ROWS_FOR_TYPICAL", 7)
    assert analysis._typical(sample, np.arange(2, 9)) == whole
    monkeypatch.setattr(analysis, "MAX_ROWS_FOR_TYPICAL", 6)
    drawn = np.sort(np.random.default_rng(0).choice(np.arange(2, 9), 6, replace=False))
    (one,) = profile_clusters(np.zeros(6, int), sample.table[drawn], n_examples=5)
    assert analysis._typical(sample, np.arange(2, 9)) == drawn[list(one.typical)].tolist()
    with pytest.raises(NotFound, match="row 99"):
        analysis.profile(view, [99])


class Lists(list):
    """The hits of a row as an index has them."""

    @property
    def ids(self):
        return [hit.id for hit in self]


class Ring:
    """An index of numbers, whose neighbors are the next ones; of some the one before, too."""

    def __init__(self):
        self.asked, self.back = [], set()

    def search(self, ids, k):
        self.asked.append(list(ids))
        steps = [*range(1, k + 1)]
        return [
            Lists(
                SimpleNamespace(id=id + step, similarity=1 / abs(step))
                for step in [*steps, *([-1] if id in self.back else [])]
            )
            for id in ids
        ]


def grown(index, depth, most):
    """Return the graph around row 0 of an index, the depth of each row on it."""
    view = SimpleNamespace(
        space=lambda name: index, label=lambda *row: "", record=lambda id: None, generation=1
    )
    found = analysis.grow(view, 0, depth=depth, k=2, space="plain", most=most, hubs=None)
    return found, {one["id"]: one["depth"] for one in found["nodes"]}


def test_a_graph_is_walked_ring_by_ring():
    index = Ring()
    found, depths = grown(index, 1, 9)
    assert (depths, index.asked) == ({0: 0, 1: 1, 2: 1}, [[0], [1, 2]])
    # The list of 2 shows 3 and 4, which are not on the graph; those of the last ring are no links.
    assert found["links"] == [
        {"source": 0, "target": 1, "similarity": 1.0, "mutual": False},
        {"source": 0, "target": 2, "similarity": 0.5, "mutual": False},
    ]
    index = Ring()
    index.back = {1}
    assert [one["mutual"] for one in grown(index, 1, 9)[0]["links"]] == [True, False]
    for most, expected in ((9, {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}), (4, {0: 0, 1: 1, 2: 1, 3: 2})):
        index = Ring()
        found, depths = grown(index, 2, most)
        assert depths == expected
        assert index.asked == [[0], [1, 2], list(expected)[3:]]
        assert all((one["target"] in expected) for one in found["links"])
    index = Ring()
    assert grown(index, 3, 1)[1] == {0: 0}
    assert index.asked == [[0]]


def test_nodes_of_a_graph_are_ringed_and_hollow(made, monkeypatch):
    # Row 0 is in all twelve lists, row 11 in none; row 5 came after they were counted.
    lists = np.array([[0, 1 + i % 10] for i in range(12)], dtype=np.int32)
    sample = analysis.take(made.view)
    sample.ids[5] = "another"
    hubs = analysis.Hubs(sample, {"k": 2}, {"plain": lists})

    depths = {0: 0, 5: 1, 11: 1, 3: 2}

    def nodes(space, hubs):
        view = replace(made.view, repaired=made.view.index)
        found = analysis.grow(view, 0, depth=2, k=2, space=space, most=9, hubs=hubs)
        return [tuple(one.values()) for one in found["nodes"]]

    expected = [
        (0, "row 0", 0, 12, True, False),
        (5, "row 5", 1, None, False, False),
        (11, "row 11", 1, 0, False, True),
        (3, "row 3", 2, 1, False, False),
    ]
    monkeypatch.setattr(analysis, "_walk", lambda *given: ({}, depths))
    assert nodes("plain", hubs) == nodes("repaired", hubs) == expected
    assert [one[3:] for one in nodes("plain", None)] == [(None, False, False)] * 4
    monkeypatch.undo()
    grown = analysis.grow(made.view, 0, depth=1, k=2, space="plain", most=9, hubs=hubs)
    assert [one["depth"] for one in grown["nodes"]] == [0, 1, 1]
    assert [one["source"] for one in grown["links"]] == [0, 0]
    assert grown["generation"] == 1


def test_an_answer_about_a_sample_says_so(many, monkeypatch):
    """Verbs whose answer is about every row look at all of them."""
    whole = many.post("/api/collections/many/ask/inspect", {})
    assert not any("at random" in note for note in whole["notes"])
    n = whole["rows"]
    monkeypatch.setattr(analysis, "MAX_ANALYZED_ROWS", 20)
    some = many.post("/api/collections/many/ask/inspect", {})
    assert some["rows"] == 20
    note = f"many: 20 of {n} rows were looked at, drawn at random (the same every time)"
    assert note in some["notes"]
    joined = many.post("/api/collections/many/ask/join", {"other": "many"})
    assert (joined["rows"], joined["notes"]) == (n, [])
    found = many.post("/api/collections/many/ask/dedupe", {})
    assert (found["rows"], found["notes"]) == ([n], [])
    assert many.post("/api/collections/many/ask/impute", {})["notes"] == whole["notes"]


def job_of(call):
    """Return the job that computes what is not known yet."""
    with pytest.raises(Started) as started:
        call()
    return started.value.job


def test_a_sketch_stands_until_the_whole_map_is_known(made, monkeypatch):
    monkeypatch.setattr(analysis, "SKETCH_ROWS", 5)
    jobs = Now()
    analyses = analysis.Analyses(jobs)
    assert job_of(lambda: analyses.map(made, sketch=True)) == "a job"
    rough = analyses.map(made, sketch=True)
    assert (len(rough.sample.ids), rough.document["sketch"]) == (5, True)
    assert set(rough.sample.ids) < set(range(12))
    assert job_of(lambda: analyses.map(made)) == "a job"
    whole = analyses.map(made)
    assert (len(whole.sample.ids), whole.document["sketch"]) == (12, False)
    assert analyses.map(made, sketch=True) is whole
    assert [kind for kind, *_ in jobs.started] == ["map", "map"]
    monkeypatch.setattr(analysis, "SKETCH_ROWS", 6)
    other = analysis.Analyses(Now())  # few rows: the whole map, here from the store
    assert len(other.map(made, sketch=True).sample.ids) == 12


def test_another_measure_is_tried_by_one_client_alone(made, monkeypatch):
    monkeypatch.setattr(analysis, "MAX_TRIALS", 2)
    jobs = Now()
    analyses, view = analysis.Analyses(jobs), made.view
    assert job_of(lambda: analyses.trial(made, "ratio:n_trees=3")) == "a job"
    tried = analyses.trial(made, "ratio:n_trees=3")
    assert tried.settings.measured == "ForestProximity"
    assert tried.generation == view.generation
    assert made.view is view  # the others go on as before
    for name in ("gower", "ratio:n_trees=4"):
        assert job_of(lambda name=name: analyses.trial(made, name)) == "a job"
    assert analyses.trial(made, "gower").settings.measured == "Gower"
    assert (
        job_of(lambda: analyses.trial(made, "ratio:n_trees=3")) == "a job"
    )  # the oldest was dropped
    analyses.forget(made)
    assert job_of(lambda: analyses.trial(made, "gower")) == "a job"
    sampled = SimpleNamespace(view=replace(view, sample=view.table), key=1, name="folder")
    with pytest.raises(InvalidInput, match="rows in memory"):
        analyses.trial(sampled, "gower")


def test_a_fit_with_other_options_keeps_rows_and_settings(made):
    view = replace(made.view, changed=4, repaired=made.view.index)
    after = analysis.fit_again(
        view, MeasureIn(measure="gower", kinds={"group": "text"}, weights={"x": 2.0})
    )
    settings = after.settings
    assert (settings.measure, settings.weights, settings.kinds) == (
        "gower", {"x": 2.0}, {"group": "text"},
    )  # fmt: skip
    assert (settings.reason, settings.measured, settings.compared) == ("given", "Gower", 3)
    assert list(settings.aside) == ["name"]
    assert settings.aside["name"] == made.view.settings.aside["name"]
    assert (after.repaired, after.changed, after.generation) == (None, 0, view.generation)
    assert after.index.ids == view.index.ids
    assert after.schema.kinds["group"].name == "text"
    assert after.index.measure_.get_params()["weights"] == {"x": 2.0}
    plain = analysis.fit_again(view, MeasureIn(measure="auto"))
    assert plain.settings.measure == "auto"
    assert plain.settings.reason != "given"
    assert plain.schema.kinds["group"].name == "category"


class Now:
    """Jobs that are done immediately, or kept."""

    def __init__(self):
        self.started, self.cancelled, self.problem = [], [], None

    def start(self, kind, name, key, work, for_view=False):
        self.started.append((kind, name, key))
        self.result = work(None)
        return "a job"

    def failure(self, kind, key):
        return self.problem

    def of(self, name):
        return [f"job of {name}"]

    def cancel(self, job):
        self.cancelled.append(job)


def test_results_are_kept_until_they_are_forgotten(made, monkeypatch):
    jobs = Now()
    analyses, view = analysis.Analyses(jobs), made.view
    assert analyses.known_hubs(made, view) is None
    assert job_of(lambda: analyses.clusters(made)) == "a job"
    assert jobs.started == [("clusters", "made", (made.key, "clusters", *view.fit, 0))]
    assert jobs.result == {"rows": 12, "sampled": False, "generation": 1}
    found = analyses.clusters(made)
    assert isinstance(found, analysis.Clusters)
    assert analyses.clusters(made) is found
    assert len(jobs.started) == 1
    assert analyses.known_hubs(made, view) is None  # clusters are no hubs
    assert job_of(lambda: analyses.hubs(made, 3)) == "a job"
    assert jobs.started[1] == ("hubs", "made", (made.key, "hubs-3", *view.fit, 0))
    hubs = analyses.hubs(made, 3)
    assert hubs.document["k"] == 3
    assert analyses.known_hubs(made, view) is hubs
    assert analyses.known_hubs(made, replace(view, fitted=2)) is None
    assert analyses.known_hubs(SimpleNamespace(key=made.key + 1), view) is None
    analyses.forget(SimpleNamespace(key=made.key + 1, name="other"))
    assert analyses.known_hubs(made, view) is hubs
    analyses.forget(made)
    assert jobs.cancelled == ["job of other", "job of made"]
    assert analyses.known_hubs(made, view) is None
    again = analyses.clusters(made)  # from the store
    assert again is not found
    assert again.document == found.document
    assert analyses.clusters(made) is again
    assert len(jobs.started) == 2
    parts = dict.fromkeys(("type", "title", "detail", "who", "needed", "found", "hint"), "x")
    jobs.problem = parts | {"status": 422, "who": "too few rows"}
    assert analyses.clusters(made) is again
    with pytest.raises(LookalikeError, match="too few rows"):
        analyses.hubs(made, 4)
    assert len(jobs.started) == 2


def test_hubness_is_reduced_once_and_only_where_it_helps(made, monkeypatch):
    jobs, kept = Now(), []
    view, fitted = made.view, []
    one = SimpleNamespace(
        key=99, name="one", view=view, set_repaired=lambda *given: kept.append(given),
        store=SimpleNamespace(load_result=lambda *_: None, save_result=lambda *_: True),
    )  # fmt: skip
    monkeypatch.setattr(analysis, "fit_repaired", lambda view: fitted.append(view) or "repaired")

    def count(view, repaired, k):
        sample = analysis.take(view)
        return analysis.Hubs(sample, {"reduction_helps": helps, "space": repaired}, {})

    monkeypatch.setattr(analysis, "find_hubs", count)
    analyses = analysis.Analyses(jobs)
    for k, helps in enumerate((False, True), 1):
        job_of(lambda k=k: analyses.hubs(one, k))
        assert analyses.hubs(one, k).document["space"] == ("repaired" if helps else None)
        assert len(fitted) == len(kept) == helps
    assert kept == [(view, "repaired")]
    one.view = replace(view, repaired="before")
    job_of(lambda: analyses.hubs(one, 3))
    assert analyses.hubs(one, 3).document["space"] == "before"
    one.view = view
    monkeypatch.setattr(analysis, "MAX_ANALYZED_ROWS", 12)
    job_of(lambda: analyses.hubs(one, 4))
    assert len(kept) == 2
    monkeypatch.setattr(analysis, "MAX_ANALYZED_ROWS", 11)
    job_of(lambda: analyses.hubs(one, 5))
    assert len(kept) == 2
    monkeypatch.setattr(analysis, "can_be_repaired", lambda view: False)
    monkeypatch.setattr(analysis, "MAX_ANALYZED_ROWS", 99)
    job_of(lambda: analyses.hubs(one, 6))
    assert len(kept) == 2
    with pytest.raises(InvalidInput, match="a measure without a reducer"):
        analyses.repair(one)
    monkeypatch.setattr(analysis, "can_be_repaired", lambda view: True)
    analyses.repair(one)
    assert jobs.started[-1] == ("repair", "one", (99, *view.fit))
    assert jobs.result == {"space": "repaired", "generation": 1}
    assert len(kept) == 3
    one.view = replace(view, repaired="before")
    analyses.repair(one)
    assert len(kept) == 3


def test_a_refit_is_one_job_for_equal_options(made):
    jobs, saved = Now(), []
    one = SimpleNamespace(
        key=99, name="one", save_cache=lambda: saved.append(True),
        refit=lambda make: replace(make(made.view), generation=5),
    )  # fmt: skip
    asked = MeasureIn(measure="gower", kinds={"group": "text"}, weights={"y": 2, "x": 1})
    analysis.Analyses(jobs).refit(one, asked)
    key = (99, asked.model_dump_json())
    assert jobs.started == [("measure", "one", key)]
    assert jobs.result == {"measure": "Gower", "generation": 5}
    assert saved == [True]


def test_an_empty_set_is_not_called_missing():
    rows = {"tags": [{"a"}, set(), {"a", "b"}], "more": [{"a"}, None, {"b"}]}
    sample = SimpleNamespace(table=read_table(rows), ids=[0, 1, 2])
    drawn = analysis.Map(sample, {"trust": None}, {"places": np.zeros((3, 2))})
    assert drawn.colors("tags")["gap"] == "none"
    assert drawn.colors("more")["gap"] == "missing"


def decoded(colors, dtype=np.uint8):
    return np.frombuffer(base64.b64decode(colors["values"]), dtype).tolist()


def test_colors_are_codes_of_the_most_common_names():
    names = ["b", "a", None, "b", *"hgfedc"]
    found = analysis._codes(names, "gone")
    assert (found["kind"], found["gap"]) == ("category", "gone")
    assert found["labels"] == ["b", "a", "c", "d", "e", "f", "g", "h"]
    assert decoded(found) == [0, 1, 255, 0, 7, 6, 5, 4, 3, 2]
    more = analysis._codes([*names, "i"], "gone")
    assert more["labels"] == [*found["labels"], "other"]
    assert decoded(more)[-1] == 8
    cells = [{"x", "y"}, {"y"}, None, set(), {"z", "x"}, {"v", "w"}]
    assert analysis._common_items(cells) == ["x", "y", None, None, "x", "v"]
    assert analysis._numbers([1, np.nan])["kind"] == "number"


def test_a_map_as_bytes_and_in_colors(made):
    places = np.arange(24.0).reshape(12, 2)
    sample = analysis.take(made.view)
    about = {"trust": 0.5, "sketch": False, "regions": []}
    drawn = analysis.Map(sample, about, {"places": places})
    head, _, cells = drawn.to_bytes().partition(b"\n")
    assert json.loads(head) == {
        "rows": 12, "ids": "positions", "generation": 1, "sampled": False, "newer": 0,
        **about, "columns": ["x", "y", "group"],
    }  # fmt: skip
    assert np.frombuffer(cells, "<f4").tolist() == [*range(0, 24, 2), *range(1, 24, 2)]
    some = analysis.RowSample(made.view, [1, 0, 7], sample.table[np.array([1, 0, 7])], True)
    part = analysis.Map(some, {"trust": None}, {"places": places[:3]})
    head = json.loads(part.to_bytes().partition(b"\n")[0])
    assert (head["ids"], head["rows"], head["sampled"]) == ([1, 0, 7], 3, True)
    assert decoded(part.colors("y"), "<f4") == [1, 0, 5]
    assert part.colors("group")["labels"] == ["b", "a"]
    assert part.colors("name")["labels"] == ["row 0", "row 1", "row 7"]
    with pytest.raises(NotFound, match="Did you mean 'group'"):
        part.colors("grup")
    clusters = analysis.Clusters(sample, {}, {"labels": np.array([1, -1, *[0] * 10])})
    assert part.by_cluster(clusters) == analysis._codes(
        [None, "cluster 1", "cluster 0"], "no cluster"
    )
    gone = analysis.Clusters(some, {}, {"labels": np.array([2, 0, 0])})
    assert decoded(drawn.by_cluster(gone))[:3] == [0, 1, 255]
    hubs = analysis.Hubs(some, {}, {"plain": np.array([[1], [2], [1]])})
    assert decoded(part.by_occurrence(hubs), "<f4") == [0, 2, 1]
    assert np.isnan(decoded(drawn.by_occurrence(hubs), "<f4")).sum() == 9


def test_a_map_is_trusted_by_as_many_neighbors_as_are_defined(made, monkeypatch):
    view = made.view
    asked = []

    def trusted(measure, places, k):
        asked.append((len(places), k))
        return np.float64(0.75)

    monkeypatch.setattr(analysis, "trustworthiness", trusted)
    monkeypatch.setattr(analysis, "layout", lambda measure: np.zeros((size, 2)))
    monkeypatch.setattr(analysis, "find_regions", lambda places, table: [])
    for size in (4, 5, 7, 24, 25):
        found = analysis.make_map(view)
        trust = None if size == 4 else 0.75
        assert found.document == {"trust": trust, "sketch": False, "regions": []}
    assert analysis.make_map(view, 12).document["trust"] is None  # a sketch
    assert asked == [(5, 1), (7, 2), (24, 10), (25, 10)]


def test_regions_are_told_by_what_sets_them_apart():
    rng = np.random.default_rng(0)
    part = np.repeat([0, 1, 2], [60, 40, 20])
    places = rng.normal(scale=0.01, size=(120, 2)) + np.array([[0, 0], [1, 0], [0, 1]])[part]
    table = read_table(
        {"color": np.array(["red", "blue", "green"])[part], "x": rng.normal(size=120)}
    )
    regions = analysis.find_regions(places, table)
    assert [region["size"] for region in regions] == sorted(
        (r["size"] for r in regions), reverse=True
    )
    assert sum(region["size"] for region in regions) == 120
    for region in regions:
        nearest = np.abs(places - [region["x"], region["y"]]).sum(axis=1).argmin()
        strongest = region["differs"][0]
        level = ["red", "blue", "green"][part[nearest]]
        assert strongest["column"] == "color"
        # What a slow count finds: all of the region, and the share of the rest.
        assert (strongest["value"], strongest["inside"]) == (level, 1.0)
        others = (part == part[nearest]).sum() - region["size"]
        assert strongest["outside"] == pytest.approx(others / (120 - region["size"]))
    assert analysis.find_regions(places, table) == regions
    assert analysis.find_regions(places[:29], table[np.arange(29)]) == []  # too few for two
    assert analysis.find_regions(np.zeros((120, 2)), table) == []  # all at one place


def test_rows_that_meet_a_filter_are_bits_in_the_order_of_the_map(made):
    sample = analysis.take(made.view)
    drawn = analysis.Map(sample, {}, {"places": np.zeros((12, 2))})

    def met(filter):
        found = drawn.matches(filter)
        bits = np.unpackbits(decoded_bytes(found), bitorder="little")[:12].astype(bool)
        assert found["matched"] == bits.sum()
        return np.flatnonzero(bits).tolist()

    values = [i * i % 11 for i in range(12)]
    assert met("y>=4") == [i for i in range(12) if values[i] >= 4]
    assert met('{"group": {"in": ["a"]}, "x": {"<": 3}}') == [0, 2, 8]
    assert met(json.dumps({made.view.settings.names: {"in": [3, 11]}})) == [3, 11]
    assert met("{}") == list(range(12))
    with pytest.raises(LookalikeError, match="grup"):
        met('{"grup": {"==": "a"}}')


def decoded_bytes(found):
    return np.frombuffer(base64.b64decode(found["values"]), np.uint8)
