"""Collections of a catalog, made, searched and opened again, as several tests need them."""

import json

from lookalike.service import answers
from lookalike.service.api.models import SearchIn
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Catalog
from lookalike.service.store import database as tables
from service.running import PETS


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


def without_cache(catalog):
    with catalog.store.database.write() as connection:
        connection.execute(tables.caches.delete())


def reopened(catalog):
    return Catalog(catalog.store).get("pets")


def change(collection):
    collection.add([{"name": "Wolfi", "weight": 27, "animal": "wolf", "tags": ["wild"]}])
    collection.replace(1, {"name": "Rex II", "weight": 33, "animal": "dog", "tags": ["tame"]})
    collection.remove([3])
    collection.add([{"name": "Fuchs", "weight": 8, "animal": "fox", "tags": ["wild", "red"]}])
