"""The catalog: names of collections, and changes by other servers."""

import pytest

from lookalike.errors import InvalidInput, LookalikeError
from lookalike.service.analysis import fit_again
from lookalike.service.catalog import Catalog, check_name, name_from, settings_from
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.store.store import Conflict, NotFound, Store
from service.collections_made import change, create, lists
from service.running import PETS


def test_two_catalogs_follow_one_log(catalog):
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store).get("pets")
    assert lists(one) == lists(other)
    change(one)
    assert other.view.generation == 1
    other.follow()
    assert lists(one) == lists(other)
    ids, generation = other.add([PETS[0]])  # no id is given twice, by any server
    assert ids == [9]
    assert one.at_least(generation, 1.0).generation == generation
    assert lists(one) == lists(other)
    one.refit(lambda view: fit_again(view, "gower", {}, {"weight": 3.0}))
    other.add([PETS[1]])  # a writer catches up first, with a new measure too
    one.follow()
    assert lists(one) == lists(other)
    assert other.view.settings.measure == "gower"
    other_store.close()


def test_a_collection_that_another_server_made_again_is_not_taken_for_the_old_one(catalog):
    one = create(catalog)
    change(one)
    others = [Catalog(Store(catalog.address)) for _ in range(2)]
    loaded, waiting = (other.get("pets") for other in others)
    assert lists(loaded) == lists(one)
    catalog.delete("pets")
    again = create(catalog, PETS[:3])
    with pytest.raises(NotFound, match="'pets'"):
        loaded.add([PETS[0]])
    with pytest.raises(NotFound):
        waiting.view  # noqa: B018
    for other in others:
        other.follow()
        assert lists(other.get("pets")) == lists(again)
        other.store.close()


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("films.csv", "films"),
        ("../../etc/passwd", "etc-passwd"),
        ("Filme & Serien (2005).csv.gz", "Filme-Serien-2005"),
        (".csv", "table"),
        ("ü", "table"),
    ],
)
def test_names_from_files(file, name):
    assert name_from(file) == name


def test_a_collection_is_known_once_it_was_asked_for(catalog):
    assert catalog.known("pets") is None
    made = create(catalog)
    assert catalog.known("pets") is made
    assert catalog.known("others") is None


def test_names_are_safe_and_of_limited_length(catalog):
    for name in ("a", "9", "x" * 64, "a.b-c_d"):
        assert check_name(name) == name
    for name in ("", "x" * 65, "a..b", "-a", "a b", "a/b", "ü"):
        with pytest.raises(InvalidInput, match="collection name: needs 1 to 64 letters"):
            check_name(name)
    assert name_from("x" * 80 + ".csv") == "x" * 64
    assert name_from("a..b.parquet") == "a.b"
    with pytest.raises(NotFound, match="collection 'a/b': not found"):
        catalog.get("a/b")
    with pytest.raises(InvalidInput, match="collection name"):
        catalog.create("a/b", PETS, CollectionSettings("x"), RequestLimits())


def test_a_collection_is_made_within_limits_and_replaced_on_request(catalog):
    one = create(catalog)
    settings = one.view.settings
    assert (settings.measured, settings.compared) == ("Gower", 3)
    assert settings.reason != "given"
    assert one.view.index.ids == list(range(6))
    assert catalog.store.load_index(one.key, 1)[0] == 1
    rows = [(row.id, row.record) for row in catalog.store.rows_at(one.key, 1)]
    assert rows[1] == ("1", rows[1][1])
    assert '"weight":30' in rows[1][1]
    with pytest.raises(Conflict, match="it exists already"):
        create(catalog, PETS[:3])
    with pytest.raises(LookalikeError):
        catalog.create("small", PETS, CollectionSettings("x"), RequestLimits(rows=5))
    with pytest.raises(LookalikeError):
        catalog.create("small", PETS, CollectionSettings("x"), RequestLimits(columns=3))
    limits = RequestLimits(rows=6, columns=4)
    assert catalog.create("small", PETS, CollectionSettings("x"), limits).count() == 6
    new = catalog.create("pets", PETS[:3], CollectionSettings("y"), limits, replace_old=True)
    assert new is not one
    assert new is catalog.get("pets") is catalog.known("pets")
    assert {found.name for found in catalog} == {"pets", "small"}
    catalog.delete("small")
    assert catalog.known("small") is None


def test_a_catalog_says_how_far_it_lags(catalog):
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store)
    theirs = other.get("pets")
    other.follow()
    assert other.lag == {}  # not loaded, so that nothing lags
    assert not theirs.loaded
    theirs.view  # noqa: B018
    one.add([PETS[0]])
    seen, follow = [], theirs.follow
    theirs.follow = lambda: seen.append(dict(other.lag)) or follow()
    other.follow()
    assert seen == [{"pets": 1}]
    assert other.lag == {"pets": 0}
    assert theirs.view.generation == 2
    other.follow()
    assert len(seen) == 1  # nothing new
    one.add([PETS[1]])

    def gone():
        raise NotFound("x", "y", "z", "h")

    theirs.follow = gone
    other.follow()
    assert other.lag == {"pets": 1}
    newest = other.store.generations()
    other.store.generations = lambda: dict.fromkeys(newest, 1)
    other.follow()
    assert other.lag == {"pets": 0}  # written since the query
    other.store.generations = dict
    other.follow()
    assert other.lag == {}
    assert list(other) == []
    other_store.close()


def test_old_caches_are_written(catalog):
    one = create(catalog)
    saved = []
    one.view  # noqa: B018
    assert catalog.save_caches() == []
    one._cached = -1_000
    one.save_cache = lambda: saved.append(True)
    assert (catalog.save_caches(), saved) == (["pets"], [True])

    def fails():
        raise LookalikeError("no")

    one.save_cache = fails
    assert catalog.save_caches() == []


def test_settings_from_options():
    options = {"title": None, "kinds": {}, "measure": "gower", "id_column": "", "rows": [1]}
    assert settings_from(options, "t", {"file": "f"}) == CollectionSettings(
        "t", measure="gower", source={"file": "f"}
    )
    assert settings_from({"title": "own"}, "t", {}).title == "own"
