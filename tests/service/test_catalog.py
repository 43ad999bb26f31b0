"""The catalog: names of collections, and changes by other servers."""

import json

import pytest

from lookalike.service import answers
from lookalike.service.analysis.results import fit_again
from lookalike.service.api.models import SearchIn
from lookalike.service.catalog import Catalog, name_from
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.store.store import NotFound, Store
from service.running import PETS


@pytest.fixture
def catalog(address):
    made = Catalog(Store(address))
    made.address = address
    yield made
    made.store.close()


def create(catalog, rows=PETS, **options):
    return catalog.create("pets", rows, CollectionSettings("pets", **options), RequestLimits())


def search(view, asked):
    """Search as a request does, with all defaults."""
    return answers.search(view, SearchIn.model_validate(asked).model_dump())


def lists(collection, **options):
    """The whole ranking of every row, with scores and reasons."""
    view = collection.view
    found = []
    for row in collection.store.rows_at(collection.key, view.generation):
        asked = {"query": {"id": json.loads(row.id)}, "k": 100, **options}
        answer = search(view, asked)
        answer.pop("took_ms")
        found.append(answer)
    return found


def change(collection):
    collection.add([{"name": "Wolfi", "weight": 27, "animal": "wolf", "tags": ["wild"]}])
    collection.replace(1, {"name": "Rex II", "weight": 33, "animal": "dog", "tags": ["tame"]})
    collection.remove([3])
    collection.add([{"name": "Fuchs", "weight": 8, "animal": "fox", "tags": ["wild", "red"]}])


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
