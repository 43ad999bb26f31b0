"""The catalog: names of collections, and changes by other servers."""

import pytest

from lookalike.service.analysis.results import fit_again
from lookalike.service.catalog import Catalog, name_from
from lookalike.service.store.store import NotFound, Store
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
