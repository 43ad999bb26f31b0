"""Views: rows found by a text, ids in a path."""

import pytest

from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.store.store import NotFound
from lookalike.table.model.labels import label_of
from service.collections_made import create
from service.running import PETS


def test_text_is_found_label_first(catalog):
    collection = create(catalog)
    assert collection.texts.find(collection.view, "re", 9) == [1, 3]  # Rex, then Grey
    assert collection.texts.find(collection.view, "REX", 9) == [1]
    assert collection.texts.find(collection.view, "cat", 9) == [0, 2]
    collection.add([{"name": "Regina", "weight": 2}])
    assert collection.texts.find(collection.view, "re", 9) == [1, 6, 3]
    collection.remove([1])
    assert collection.texts.find(collection.view, "re", 9) == [6, 3]


def test_a_path_has_numbers_as_text(catalog):
    """Of integer ids "7" is one; of texts it is one of its own, and 7 is not."""

    def view_of(name, ids):
        rows, settings = [{"id": id, "x": i} for i, id in enumerate(ids)], {"id_column": "id"}
        return catalog.create(
            name, rows, CollectionSettings(name, **settings), RequestLimits()
        ).view

    numbers, texts = view_of("numbers", (7, -3, 8)), view_of("texts", ("7", "007", "a"))
    assert [numbers.find(id) for id in ("7", "-3", 8)] == [7, -3, 8]
    assert [texts.find(id) for id in ("7", "007")] == ["7", "007"]
    for view, id in [(texts, 7), *((numbers, id) for id in ("07", "7.0", "9", 9, "７", "9" * 30))]:
        with pytest.raises(NotFound, match="not found"):
            view.find(id)


def test_a_row_is_shown_by_its_label_without_the_hidden_ids(catalog):
    view = create(catalog).view
    assert view.hidden == "lookalike_id"
    row = view.named_row(0, view.index.get(0))
    assert row == {"id": 0, "label": "Tom", "row": PETS[0] | {"tags": ["small", "tame"]}}
    assert view.label(3, {"name": ""}) == view.label(3, {"name": None}) == "3"
    assert view.label(3, {"name": 0}) == "0"


def test_a_view_is_never_changed(catalog):
    collection = create(catalog)
    before = collection.view
    collection.add([PETS[0]])
    collection.replace(1, PETS[2])
    assert len(before.index) == 6
    assert before.index.get(1)["name"] == "Rex"
    assert (collection.view.changed, collection.view.generation) == (3, 3)


def test_a_label_that_does_not_tell_rows_apart_has_the_id_and_survives_a_restart(catalog):
    rows = [{"species": "ab"[i % 2], "island": "xyz"[i % 3], "mass": float(i)} for i in range(18)]
    made = catalog.create("birds", rows, CollectionSettings("birds"), RequestLimits())
    assert made.view.named_row(4, rows[4])["label"] == "y · a · #4"
    assert made.texts.find(made.view, "4", 1) == [4]  # the id is always found
    kept = CollectionSettings.of_text(made.view.settings.to_text())
    assert kept.row_label.columns == label_of(made.view.table).columns == ("island", "species")
