"""Views: rows found by a text, ids in a path."""

import pytest

from lookalike.service.catalog import Catalog
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.store.store import Store
from service.running import PETS


@pytest.fixture
def catalog(address):
    made = Catalog(Store(address))
    made.address = address
    yield made
    made.store.close()


def create(catalog, rows=PETS, **options):
    return catalog.create("pets", rows, CollectionSettings("pets", **options), RequestLimits())


def test_text_is_found_label_first(catalog):
    collection = create(catalog)
    assert collection.texts.find(collection.view, "re", 9) == [1, 3]  # Rex, then Grey
    assert collection.texts.find(collection.view, "REX", 9) == [1]
    assert collection.texts.find(collection.view, "cat", 9) == [0, 2]
    collection.add([{"name": "Regina", "weight": 2}])
    assert collection.texts.find(collection.view, "re", 9) == [1, 6, 3]
    collection.remove([1])
    assert collection.texts.find(collection.view, "re", 9) == [6, 3]
