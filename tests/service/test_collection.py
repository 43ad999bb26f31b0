"""Collections: what is in memory is what is in the store, however it came there."""

import json
import os
import threading
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.service import collection as collections
from lookalike.service.analysis import fit_again, take
from lookalike.service.api.models import MeasureIn
from lookalike.service.collection import (
    FolderCollection,
    View,
    _new_ids,
    _text_columns,
    _texts,
    _to_store,
    apply_changes,
    missing_row,
    sample_of,
    settings_of,
)
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Catalog
from lookalike.service.store import database as tables
from lookalike.service.store.store import (
    Changed,
    Conflict,
    NotFound,
    SentOnce,
    Store,
    StoredRow,
    TooFarBehind,
)
from lookalike.table.model.labels import label_of
from service.collections_made import change, create, lists, reopened, without_cache
from service.running import PETS


def test_an_index_is_made_again_as_it_was(catalog):
    collection = create(catalog)
    collection.view  # noqa: B018
    change(collection)
    expected = lists(collection)
    assert len(expected) == 7
    cached = reopened(catalog)
    assert lists(cached) == expected
    assert cached._cached >= 0  # read from the cache
    without_cache(catalog)
    fitted = reopened(catalog)
    assert lists(fitted) == expected
    assert fitted._cached < 0  # fitted again
    fitted.save_cache()
    again = reopened(catalog)
    assert lists(again) == expected
    assert again._cached >= 0  # read from the cache


def test_a_damaged_cache_is_noticed_and_made_again(catalog):
    collection = create(catalog)
    expected = lists(collection)
    with catalog.store.database.write() as connection:
        part = connection.execute(tables.cache_parts.select()).first()
        data = bytearray(part.bytes)
        data[len(data) // 2] ^= 1
        connection.execute(tables.cache_parts.update().values(bytes=bytes(data)))
    again = reopened(catalog)
    assert lists(again) == expected
    assert again._cached < 0  # fitted again


def test_a_cache_that_is_whole_but_not_ours_is_not_used(catalog):
    import hashlib

    collection = create(catalog)
    expected = lists(collection)
    with catalog.store.database.write() as connection:
        data = b"PK\x03\x04 not an index"
        connection.execute(tables.cache_parts.update().values(bytes=data))
        connection.execute(tables.caches.update().values(hash=hashlib.sha256(data).hexdigest()))
    again = reopened(catalog)
    assert lists(again) == expected
    assert again._cached < 0  # fitted again


def test_two_threads_that_follow_apply_no_change_twice(catalog):
    """While one waits for its turn another catches up, and the other server writes once more."""
    one = create(catalog)
    other_store = Store(catalog.address)
    other = Catalog(other_store).get("pets")
    assert lists(one) == lists(other)
    one.add([PETS[0]])
    turn = other._lock

    class Late:
        """A lock that is had only after another thread has followed."""

        def __enter__(self):
            other._lock = turn
            other.follow()
            one.add([PETS[1]])
            turn.acquire()

        def __exit__(self, *error):
            turn.release()

    other._lock = Late()
    assert other.follow().generation == one.view.generation
    assert lists(one) == lists(other)
    other_store.close()


def test_a_refit_keeps_what_was_written_meanwhile(catalog):
    collection = create(catalog)

    def make(view):
        after = fit_again(view, MeasureIn(measure="gower", kinds={"animal": "text"}))
        change(collection)  # written while the new measure was being fitted
        return after

    collection.refit(make)
    assert collection.view.generation == 6
    assert collection.view.schema.kinds["animal"].name == "text"
    expected = lists(collection)
    assert {hit["label"] for hit in expected[0]["hits"]} >= {"Wolfi", "Rex II", "Fuchs"}
    without_cache(catalog)
    assert lists(reopened(catalog)) == expected


def test_rows_that_are_refused_change_nothing(catalog):
    collection = create(catalog)
    expected = lists(collection)
    for bad in (
        [{"weight": 3}, {"weight": "heavy"}],  # no number
        [{"weight": 3, "wieght": 4}],  # no column
        [{"weight": 3, "tags": {"no": "set"}}],
    ):
        with pytest.raises((InvalidInput, TypeError)):
            collection.add(bad)
    with pytest.raises(NotFound):
        collection.remove([1, 77])
    with pytest.raises(NotFound):
        collection.replace(77, PETS[0])
    assert collection.view.generation == 1
    assert lists(collection) == expected
    assert lists(reopened(catalog)) == expected


def test_the_last_row_stays(catalog):
    collection = create(catalog)
    with pytest.raises(InvalidInput, match="at least one row"):
        collection.remove(list(range(len(PETS))))


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


def test_pages_have_the_rows_as_they_were_added(catalog):
    """Also where other servers, or the next start, have read the same rows."""
    collection = create(catalog)
    collection.add([PETS[0], PETS[1]])
    collection.replace(2, PETS[3])
    collection.remove([0])
    collection.restore(0, PETS[4])
    for found in (collection, reopened(catalog)):
        pages, after = [], None
        while page := [row["id"] for row in found.view.page(after, 3)]:
            pages, after = [*pages, page], page[-1]
        assert pages == [[1, 3, 4], [5, 6, 7], [2, 0]]
    without_cache(catalog)
    assert [row["id"] for row in reopened(catalog).view.page(5, 9)] == [6, 7, 2, 0]


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


def test_a_view_answers_about_rows_and_spaces(catalog):
    view = create(catalog).view
    assert view.space("plain") is view.index
    with pytest.raises(InvalidInput) as caught:
        view.space("repaired")
    assert "a space that was computed, found none" in str(caught.value)
    assert replace(view, repaired=view.schema).space("repaired") is view.schema
    assert len(view.table) == 6
    assert replace(view, sample=view.schema).table is view.schema
    assert "lookalike_id" not in view.record(0)
    assert view.require([0, 5]) is None
    with pytest.raises(NotFound) as missing:
        view.require([0, 6])
    assert str(missing.value) == "row 6: not found. GET .../rows lists the rows."
    assert len(missing_row("x" * 300).who) == 120
    named = replace(view, settings=replace(view.settings, id_column="name"))
    assert named.hidden is None
    assert "lookalike_id" in named.shown({"lookalike_id": 1})
    with_id = replace(view.settings, label={"columns": ["name"], "with_id": True})
    assert replace(view, settings=with_id).label(3, {"name": "Grey"}) == "Grey · #3"


def test_a_view_moves_in_both_spaces(catalog):
    view = create(catalog).view
    both = replace(view, repaired=view.index, changed=2)
    row = {name: view.index.get(0)[name] for name in ("name", "weight", "animal", "tags")}
    after = both.moved(7, [1, 3], [row | {"lookalike_id": 9}])
    assert (after.generation, after.changed) == (7, 5)
    assert after.index.ids == after.repaired.ids == [0, 2, 4, 5, 9]
    assert both.moved(8, [], []).changed == 2
    assert view.moved(8, [1], []).repaired is None
    assert apply_changes(view, 3, Changed([], [])).index.ids == view.index.ids
    record = json.dumps({"name": "Neu", "weight": 1.0, "animal": None, "tags": ["tame"]})
    added = apply_changes(view, 4, Changed([], [StoredRow("9", record)]))
    assert (added.generation, added.changed, added.index.get(9)["name"]) == (4, 1, "Neu")
    gone = apply_changes(view, 4, Changed(["2"], []))
    assert (gone.index.ids, gone.changed) == ([0, 1, 3, 4, 5], 1)


def test_texts_have_four_ranks(catalog):
    names = ["box", "redbox", "Box office", "red", "abc", "1"]
    more = ["x", "x", "x", "mailbox", "x", "x"]
    rows = [
        {"title": n, "kept": k, "size": float(i * i)}
        for i, (n, k) in enumerate(zip(names, more, strict=True))
    ]
    settings = CollectionSettings("t", label_column="title", kinds={"kept": "category"})
    made = catalog.create("t", rows, settings, RequestLimits())
    view, texts = made.view, made.texts
    assert texts._rows == {}  # nothing was asked for yet
    assert texts.find(view, " BOX ", 9) == [0, 2, 1, 3]
    for limit in (1, 2, 3):
        assert texts.find(view, "box", limit) == [0, 2, 1, 3][:limit]
    assert texts.find(view, "1", 9) == [1, 5]  # an id, and a label
    assert texts.find(view, "nothing", 9) == []
    made.remove([0])
    made.replace(3, {"title": "no", "kept": "x", "size": 9.0})
    made.add([{"title": "box 7", "kept": "x", "size": 7.0}])
    assert texts.find(made.view, "box", 9) == [2, 7, 1]
    assert texts.find(view, "box", 9) == [2, 7, 1]  # a thread that is late changes nothing
    made.refit(lambda view: fit_again(view, MeasureIn(measure="gower")))
    made.remove([2])
    assert texts.find(made.view, "box", 9) == [7, 1]
    assert set(texts._rows) == set(made.view.index.ids)
    assert _text_columns(view) == ["title", "kept"]
    plain = replace(view, settings=replace(view.settings, label_column=None))
    assert _text_columns(plain) == ["", "title", "kept"]
    assert _texts({"a": "Ä", "b": None, "c": 2}, ["a", "b", "c", "d"]) == ("ä", "\n2\n")
    many = catalog.create(
        "ids", [{"id": f"a{i}", "x": i} for i in range(12)],
        CollectionSettings("ids", id_column="id"), RequestLimits(),
    )  # fmt: skip
    assert many.texts.find(many.view, "A1", 9) == ["a1", "a10", "a11"]


def test_a_generation_is_waited_for(catalog, monkeypatch):
    collection = create(catalog)
    assert not reopened(catalog).loaded
    view = collection.view
    assert collection.loaded
    assert collection.count() == 6
    assert collection.at_least(None, 0.0) is view
    assert collection.at_least(1, 0.0) is view
    slept = []
    monkeypatch.setattr(
        collections, "time", SimpleNamespace(monotonic=lambda: len(slept), sleep=slept.append)
    )
    with pytest.raises(TooFarBehind) as caught:
        collection.at_least(2, 3)
    assert slept == [0.02] * 3
    assert str(caught.value) == (
        "at_least=2: needs this generation, found 1. Send the request again in a second."
    )
    assert collection.follow() is view
    catalog.delete("pets")
    with pytest.raises(NotFound, match="'pets'"):
        collection.follow()


def test_the_cache_is_old_when_enough_rows_have_changed(catalog):
    collection = create(catalog)
    other = reopened(catalog)
    assert other.cache_is_old is False
    view = collection.view
    for n, changed, cached, old in (
        (6, 1_000, 0, True), (6, 999, 0, False), (6, 1_005, 5, True), (6, 1_004, 5, False),
        (20_000, 2_000, 0, True), (20_000, 1_999, 0, False), (6, 0, -1_000, True),
    ):  # fmt: skip
        collection._view = replace(view, index=range(n), changed=changed)
        collection._cached = cached
        assert collection.cache_is_old is old
    collection._view = replace(view, changed=3)
    collection.save_cache()
    assert collection._cached == 3
    without_cache(catalog)
    other.view  # noqa: B018
    assert other._cached == -1_000  # fitted again: it counts as old
    assert other.cache_is_old


def test_a_repaired_space_is_brought_up_to_date(catalog):
    collection = create(catalog)
    before = collection.view
    collection.add([PETS[0]])
    collection.remove([2])
    collection.set_repaired(before, before.index)
    assert collection.view.repaired.ids == collection.view.index.ids == [0, 1, 3, 4, 5, 6]
    now = collection.view
    collection.set_repaired(now, before.index)
    assert collection.view.repaired is before.index
    collection.set_repaired(replace(now, fitted=9), now.index)  # of another measure by now
    assert collection.view.repaired is before.index


def test_a_refit_that_was_overtaken_is_refused(catalog):
    collection = create(catalog)

    def make(view):
        if view.settings.measure == "auto":
            collection.refit(lambda view: fit_again(view, MeasureIn(measure="gower")))
        return fit_again(view, MeasureIn(measure="gower", weights={"weight": 2.0}))

    with pytest.raises(Conflict) as caught:
        collection.refit(make)
    assert str(caught.value) == (
        "measure: needs the measure it began with, found another one. "
        "Send the request again; another refit was faster."
    )
    view = collection.view
    assert (view.generation, view.fitted, view.settings.weights) == (2, 1, {})


def test_a_refit_of_the_same_rows_reaches_other_servers_and_the_next_start(catalog):
    """No row has changed since the first fit: only the settings tell the two apart."""
    collection, other = create(catalog), reopened(catalog)
    before = lists(other)
    assert other.texts.find(other.view, "cat", 9) == [0, 2]
    sample = take(collection.view)
    collection.refit(
        lambda view: fit_again(view, MeasureIn(measure="gower", weights={"weight": 9.0}))
    )
    assert not sample.still_fits(collection.view)
    expected = lists(collection)
    assert expected != before
    other.follow()
    assert other.view.settings.weights == {"weight": 9.0}
    assert lists(other) == expected
    # The cache of before is gone, though it is of the same rows.
    started = reopened(catalog)
    assert lists(started) == expected
    assert started._cached < 0  # fitted again


def test_new_rows_are_named_and_complete(catalog):
    numbered, view = create(catalog).view, create_named(catalog)
    assert _new_ids(numbered, PETS[:3], 6) == [6, 7, 8]
    assert _new_ids(view, [{"id": "x"}, {"id": 7}], 3) == ["x", 7]
    for rows, found in (
        ([{"id": "x"}, {"id": "x"}], "'x' twice"),
        ([{"id": "a"}], "'a' again, which exists already"),
    ):
        with pytest.raises(Conflict) as caught:
            _new_ids(view, rows, 3)
        assert str(caught.value) == (
            f"id_column='id': needs new ids, found {found}. PUT .../rows/{{id}} replaces a row."
        )
    assert read(_to_store(view, [{"x": 1}, {"id": "z"}], ["y", "z"])) == [
        ("y", {"x": 1, "c": None}), ("z", {"x": None, "c": None}),
    ]  # fmt: skip
    assert read(_to_store(numbered, [{"name": "a"}, PETS[2]], [7, 8])) == [
        (7, {"name": "a", "weight": None, "animal": None, "tags": None}), (8, PETS[2]),
    ]  # fmt: skip
    with pytest.raises(InvalidInput) as caught:
        _to_store(view, [{"id": "z"}], ["y"])
    assert str(caught.value) == (
        "row 'y': needs its own id, found 'z'. Leave it out, or make it the same."
    )
    for record in ({"wieght": 1}, {"lookalike_id": 1}):
        with pytest.raises(InvalidInput, match="needs columns of the table, found"):
            _to_store(numbered, [record], [7])


def read(rows):
    return [(json.loads(row.id), json.loads(row.record)) for row in rows]


def in_threads(works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_rows_that_are_added_at_once_have_ids_of_their_own(catalog):
    collection = create(catalog)
    added, refused = {}, {}

    def add(number):
        rows = [{"name": f"{number}-{i}", "weight": number} for i in range(1 + number % 3)]
        try:
            added[number] = collection.add(rows if number != 3 else [{"weight": "heavy"}])
        except InvalidInput as error:
            refused[number] = str(error)

    in_threads(partial(add, number) for number in range(8))
    assert list(refused) == [3]
    assert "'heavy'" in refused[3]
    for number, (ids, generation) in added.items():
        names = [collection.view.record(id)["name"] for id in ids]
        assert names == [f"{number}-{i}" for i in range(1 + number % 3)]
        assert 1 < generation <= collection.view.generation
    every = sorted(id for ids, _ in added.values() for id in ids)
    assert every == list(range(6, 6 + len(every)))
    assert collection.view.generation == 1 + len(added)
    expected = lists(collection)
    assert lists(reopened(catalog)) == expected


def test_requests_with_keys_that_come_at_once_are_made_once_each(catalog):
    collection = create(catalog)
    first = collection.add([PETS[0]], SentOnce.of("k0", 0))
    # Nine requests: one was answered before, two are the same, one took the key of another.
    sent = [("k0", 0), ("k1", 1), ("k1", 1), ("k1", 2), *((f"k{i}", i) for i in range(2, 6)), None]
    added, refused = {}, {}

    def add(number, once):
        try:
            rows = [{"name": f"new {number}"}]
            added[number] = collection.add(rows, once and SentOnce.of(*once))
        except InvalidInput as error:
            refused[number] = str(error)

    in_threads(partial(add, *one) for one in enumerate(sent))
    assert added[0] == first
    same = [number for number in (1, 2, 3) if number in added]
    assert len({added[number][0][0] for number in same}) == 1
    assert same + list(refused) in ([1, 2, 3], [3, 1, 2], [3, 2, 1])
    assert "Idempotency-Key" in next(iter(refused.values()))
    assert len(collection.view.index) == 6 + 1 + 6  # of nine, six were new
    for number in range(4, 9):
        assert collection.view.record(added[number][0][0])["name"] == f"new {number}"
        if sent[number]:
            assert collection.add([{}], SentOnce.of(*sent[number])) == added[number]
    assert lists(reopened(catalog)) == lists(collection)


def create_named(catalog):
    rows = [{"id": id, "x": float(i * i), "c": "uv"[i % 2]} for i, id in enumerate("abcd")]
    settings = CollectionSettings("named", id_column="id")
    return catalog.create("named", rows, settings, RequestLimits()).view


class Shard:
    def __init__(self, positions, live):
        self.positions, self.live = np.array(positions), np.array(live, bool)


def test_pages_of_a_folder_leave_deleted_rows_out():
    shards = [
        Shard([0, 1, 2, 3], [1, 0, 1, 1]),
        Shard(range(4, 20), [0] * 12 + [1] * 4),
        Shard([20, 21], [1, 1]),
    ]
    names = SimpleNamespace(
        position=lambda id, who: int(id[1:]), of=lambda found: [f"r{p}" for p in found]
    )
    state = SimpleNamespace(names=names, segments=SimpleNamespace(segments=shards))
    folder = FolderCollection(None, SimpleNamespace(key=1, name="shards"))
    index = SimpleNamespace(state_=state)
    folder._view = view = SimpleNamespace(
        index=index, record=lambda id: {"id": id}, named_row=lambda id, row: f"row {row['id']}"
    )
    every = [0, 2, 3, 16, 17, 18, 19, 20, 21]
    for after in (None, "r0", "r1", "r2", "r3", "r4", "r16", "r20", "r21"):
        behind = [p for p in every if after is None or p > int(after[1:])]
        for limit in (1, 2, 3, 5, 9, 10):
            assert View.page(view, after, limit) == [f"row r{p}" for p in behind[:limit]]
    view.index = range(5)
    assert folder.count() == 5
    for call, hint in (
        (lambda: folder.add([{}]), "lookalike index add FOLDER FILE adds rows; restart"),
        (lambda: folder.replace(1, {}), "lookalike index delete FOLDER ID, then lookalike index"),
        (lambda: folder.remove([1]), "lookalike index delete FOLDER ID deletes rows; restart"),
        (lambda: folder.refit(None), "Build another folder: lookalike index build"),
    ):
        with pytest.raises(Conflict) as caught:
            call()
        assert str(caught.value).startswith(
            "collection 'shards': needs a collection in the store, found one in a folder of "
            f"shards, which is only read here. {hint}"
        )


class Sampled:
    """What a folder of shards knows without reading its rows."""

    def __init__(self, table, schema, live):
        self.sample, self.schema_, self.live = table, schema, live
        self.measure_, self.reason_ = Gower(), "because"
        self.state_ = SimpleNamespace(id_column="id")

    def __contains__(self, id):
        return id in self.live


def test_the_settings_and_the_sample_of_a_folder(catalog, tmp_path):
    view = create_named(catalog)
    index = Sampled(view.table, view.schema, {"a", "d"})
    kept = sample_of(index, view.settings)
    assert kept["id"].values.tolist() == ["a", "d"]
    asked = CollectionSettings("title", source={"file": "f"})
    settings = settings_of(index, asked, tmp_path / "." / "x")
    assert (settings.measure, settings.reason, settings.measured) == ("Gower", "because", "Gower")
    assert (settings.id_column, settings.names, settings.compared) == ("id", "id", 2)
    assert settings.source == {"file": "f", "folder": os.path.realpath(tmp_path / "x")}
    assert settings.title == "title"
