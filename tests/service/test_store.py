"""The store: the same on SQLite and on PostgreSQL."""

import json
import os
import sqlite3
import stat

import numpy as np
import pytest
import sqlalchemy as sa

from lookalike.errors import InvalidInput, UnreadableFile, UnwritableFile
from lookalike.index import Index
from lookalike.service.store import database as tables
from lookalike.service.store import store as stored
from lookalike.service.store.database import Database, StoreFull, StoreUnavailable
from lookalike.service.store.store import Changed, Conflict, NotFound, Store, StoredRow
from lookalike.table import Schema, read_table


@pytest.fixture
def store(address):
    made = Store(address)
    yield made
    made.close()


def rows(*values):
    return [(json.dumps(value), json.dumps({"x": value})) for value in values]


def ids(found):
    return [json.loads(row.id) for row in found]


def write(store, key, add=(), remove=()):
    with store.turn(key, "a") as turn:
        turn.remove([json.dumps(id) for id in remove])
        turn.add(rows(*add))
        turn.finish("test", len(add) + len(remove))
    return turn.generation


def test_a_collection_has_its_rows_in_their_order(store):
    head = store.create("a", "{}", b"schema", rows(3, 1, "x"))
    assert (head.generation, head.fitted, head.next_row) == (1, 1, 3)
    assert ids(store.rows_at(head.key, 1)) == [3, 1, "x"]
    assert store.head("a") == head
    assert store.count(head.key) == 3


def log(store, key):
    """Return the entries of the change log."""
    c = tables.changes.c
    query = sa.select(tables.changes).where(c.collection == key).order_by(c.generation)
    with store.database.read() as connection:
        return [dict(row._mapping) for row in connection.execute(query)]


def test_generations_count_and_the_log_is_kept(store):
    key = store.create("a", "{}", b"", rows(1, 2)).key
    assert write(store, key, add=[3]) == 2
    assert write(store, key, remove=[1]) == 3
    assert store.generations() == {key: 3}
    assert [(c["generation"], c["kind"]) for c in log(store, key)] == [
        (1, "create"),
        (2, "test"),
        (3, "test"),
    ]


def test_what_happened_since_can_be_followed_from_any_generation(store):
    key = store.create("a", "{}", b"", rows(1, 2, 3)).key
    write(store, key, add=[4, 5])  # 2
    write(store, key, add=[6], remove=[1, 4])  # 3
    write(store, key, add=[1], remove=[6])  # 4
    states = {1: [1, 2, 3], 2: [1, 2, 3, 4, 5], 3: [2, 3, 5, 6], 4: [2, 3, 5, 1]}
    for generation, expected in states.items():
        assert ids(store.rows_at(key, generation)) == expected
        head, changed = store.changed(key, generation)
        assert head.generation == 4
        left = [id for id in expected if id not in [json.loads(id) for id in changed.deleted]]
        assert left + ids(changed.added) == states[4]


def test_a_turn_that_fails_leaves_nothing(store):
    key = store.create("a", "{}", b"", rows(1)).key

    def fail():
        with store.turn(key, "a") as turn:
            turn.add(rows(2, 3))
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail()
    assert ids(store.rows_at(key, 9)) == [1]
    assert store.generations() == {key: 1}


def test_two_live_rows_cannot_have_one_id(store):
    key = store.create("a", "{}", b"", rows(1)).key
    with pytest.raises(sa.exc.IntegrityError):
        write(store, key, add=[1])
    assert write(store, key, add=[1], remove=[1]) == 2


def test_names_are_given_once(store):
    store.create("a", "{}", b"", rows(1))
    with pytest.raises(Conflict, match="it exists already"):
        store.create("a", "{}", b"", rows(2))
    assert len(store.heads()) == 1


def test_a_deleted_collection_leaves_nothing(store):
    key = store.create("a", "{}", b"", rows(1)).key
    store.delete("a")
    with pytest.raises(NotFound):
        store.head("a")
    with pytest.raises(NotFound):
        store.delete("a")
    assert store.changed(key, 1)[0] is None
    with store.database.read() as connection:
        for table in (tables.rows, tables.changes):
            count = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar()
            assert count == 0


def test_deleted_rows_are_dropped_when_the_measure_was_fitted_without_them(store):
    key = store.create("a", "{}", b"", rows(1, 2, 3)).key
    write(store, key, remove=[1])  # 2
    write(store, key, remove=[2])  # 3
    with store.turn(key, "a") as turn:
        turn.refit(2, '{"new": 1}', b"new")
        turn.finish("fit", 2)
    head = store.head("a")
    assert (head.fitted, head.generation, head.schema) == (2, 4, b"new")
    assert ids(store.rows_at(key, 2)) == [2, 3]
    with store.database.read() as connection:
        count = connection.execute(sa.select(sa.func.count()).select_from(tables.rows)).scalar()
    assert count == 2


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE lookalike_rows; --", "\x00", "<b>", "ü\u202e", "%s"]
)
def test_every_text_is_kept_as_it_is(store, text):
    key = store.create("a", json.dumps({"t": text}), b"\x00\xff", rows(text)).key
    assert ids(store.rows_at(key, 1)) == [text]
    write(store, key, remove=[text], add=["other"])
    assert ids(store.rows_at(key, 2)) == ["other"]
    assert json.loads(store.head("a").settings) == {"t": text}


def test_many_rows_are_one_change(store):
    key = store.create("a", "{}", b"", rows(*range(12_000))).key
    assert store.count(key) == 12_000
    write(store, key, remove=range(11_000))
    assert store.count(key) == 1_000


def test_no_key_is_given_twice(store):
    first = store.create("a", "{}", b"", rows(1)).key
    store.delete("a")
    second = store.create("a", "{}", b"", rows(1)).key
    third = store.create("a", "{}", b"", rows(1), replace_old=True).key
    with pytest.raises(Conflict):
        store.create("a", "{}", b"", rows(1))
    assert first < second < third < store.create("b", "{}", b"", []).key
    with pytest.raises(NotFound, match="'a'"):
        store.head("a", second)


def test_keys_go_on_behind_those_of_an_older_store(address):
    store = Store(address)
    key = store.create("a", "{}", b"", rows(1)).key
    with store.database.write() as connection:  # as it was before keys were counted
        connection.execute(sa.text("DROP TABLE lookalike_keys"))
        connection.execute(sa.text("DROP TABLE lookalike_requests"))
        connection.execute(tables.version.delete().where(tables.version.c.version >= 4))
    store.close()
    again = Store(address)
    assert again.migrated == (3, len(tables.MIGRATIONS))
    assert again.create("b", "{}", b"", []).key > key
    again.close()


def test_an_older_schema_is_brought_up_to_date(address):
    database = Database(address)
    with database.write() as connection:
        tables.METADATA.create_all(connection, tables=[tables.version])
        tables.MIGRATIONS[0](connection)
        connection.execute(tables.version.insert().values(version=1))
        assert not sa.inspect(connection).has_table("lookalike_tokens")
    database.close()
    store = Store(address)
    assert store.migrated == (1, len(tables.MIGRATIONS))
    with store.database.read() as connection:
        assert sa.inspect(connection).has_table("lookalike_tokens")
    store.close()
    again = Store(address)
    assert again.migrated == (len(tables.MIGRATIONS),) * 2
    again.close()


def test_a_newer_schema_is_left_alone(address):
    store = Store(address)
    with store.database.write() as connection:
        connection.execute(tables.version.insert().values(version=99))
    store.close()
    with pytest.raises(UnreadableFile, match="version 99, made by a newer lookalike"):
        Store(address)


def test_sqlite_is_durable(tmp_path):
    store = Store(tmp_path / "a.sqlite")
    with store.database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    store.close()


def test_a_damaged_file_is_reported_and_left_as_it_is(tmp_path):
    path = tmp_path / "a.sqlite"
    store = Store(path)
    store.create("a", "{}", b"", rows(*range(2_000)))
    store.close()
    whole = bytearray(path.read_bytes())
    for start in range(4_096, len(whole), 4_096):
        whole[start : start + 64] = b"\xde\xad" * 32
    path.write_bytes(whole)
    with pytest.raises(UnreadableFile, match="was left as it is"):
        Store(path)
    assert path.read_bytes() == bytes(whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.sqlite"]


def test_another_file_is_not_overwritten(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list, long enough to look like something " * 10)
    before = path.read_bytes()
    with pytest.raises(UnreadableFile, match="the database is damaged"):
        Store(path)
    assert path.read_bytes() == before


def test_a_foreign_database_keeps_its_tables(tmp_path):
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    Store(path).close()
    with sqlite3.connect(path) as other:
        other.execute("SELECT x FROM mine")
    other.close()


@pytest.mark.parametrize("address", ["mysql://a/b", "http://x", "postgresql+asyncpg://a/b"])
def test_other_databases_are_refused(address):
    with pytest.raises(InvalidInput, match="PostgreSQL or a file"):
        Store(address)


def test_a_folder_or_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(UnwritableFile, match="a folder"):
        Store(tmp_path)
    with pytest.raises(UnwritableFile, match="a folder that exists"):
        Store(tmp_path / "not" / "there.sqlite")


def test_a_path_is_always_a_file(tmp_path, monkeypatch):
    """SQLite gives names such as ":memory:" a meaning of its own, and rows would be lost."""
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file::memory:", "a b?mode=ro#c"):
        store = Store(name)
        assert store.database.shown == name
        store.create("a", "{}", b"", rows(1))
        store.close()
        again = Store(tmp_path / name)
        assert [head.name for head in again.heads()] == ["a"]
        again.close()


def test_only_its_owner_can_read_a_new_store(tmp_path):
    path = tmp_path / "a.sqlite"
    before = os.umask(0o022)
    try:
        store = Store(path)
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert files["a.sqlite"] == 0o600
    assert set(files.values()) == {0o600}  # the log beside it, too


def test_a_store_that_exists_keeps_its_mode(tmp_path):
    path = tmp_path / "a.sqlite"
    Store(path).close()
    path.chmod(0o640)
    Store(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_errors_of_the_database_become_our_own():
    """Each with its message: an operator has nothing else to go by."""

    class LostConnection(Exception):
        """An error of a driver."""

    def said(error):
        with pytest.raises(Exception) as caught, tables._translated("rows.sqlite"):  # noqa: PT011
            raise error
        return caught.value

    def of_driver(text):
        return said(sa.exc.OperationalError("SELECT 1", {}, LostConnection(text)))

    for text in (
        "database or disk is full",
        "DISK I/O error",
        "No space left",
        "could not extend file",
    ):
        full = of_driver(text)
        assert isinstance(full, StoreFull)
        assert str(full) == (
            "store 'rows.sqlite': the disk is full. Free some space, then send the request again; "
            "nothing of it was written."
        )
    for text in ("database disk image is malformed", "file is not a database"):
        damaged = of_driver(text)
        assert isinstance(damaged, UnreadableFile)
        assert f"the database is damaged ({text})" in str(damaged)
    lost = of_driver("gone")
    assert isinstance(lost, StoreUnavailable)
    assert str(lost) == (
        "store 'rows.sqlite': the database did not answer (LostConnection). Try again; nothing was "
        "written."
    )
    busy = said(sa.exc.TimeoutError())
    assert isinstance(busy, StoreUnavailable)
    assert str(busy) == ("store 'rows.sqlite': all connections are in use. Try again in a moment.")
    assert busy.found == "none"
    # Only the caller knows what two equal ids or names mean.
    twice = sa.exc.IntegrityError("INSERT", {}, LostConnection("UNIQUE"))
    assert said(twice) is twice


def test_results_are_few_and_small(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])

    def kinds():
        with store.database.read() as connection:
            return {kind for (kind,) in connection.execute(sa.select(tables.results.c.kind))}

    kept = {"about": {"a": [1, "b"]}, "arrays": {"x": np.arange(5.0)}}
    for k in range(12):
        assert store.save_result(head.key, f"hubs-{k:02}", 1, kept)
    assert len(kinds()) == stored.MAX_RESULTS
    assert "hubs-11" in kinds()
    found = store.load_result(head.key, "hubs-11", 1)
    assert found["about"] == kept["about"]
    assert np.array_equal(found["arrays"]["x"], kept["arrays"]["x"])
    assert store.load_result(head.key, "hubs-11", 2) is None
    assert store.save_result(head.key, "map", 2, kept)
    assert kinds() == {"map"}  # what belongs to older rows has gone
    size = len(stored.dump(kept))
    for most, fits in ((size, True), (size - 1, False)):
        monkeypatch.setattr(stored, "MAX_RESULT_BYTES", most)
        assert store.save_result(head.key, "map", 2, kept) is fits
    assert not store.save_result(head.key, "clusters", 2, kept)
    assert not store.save_result(head.key + 1, "map", 2, kept)
    assert kinds() == {"map"}
    store.close()


def test_objects_are_data(tmp_path):
    """An array of objects would be a pickle for numpy; here its cells are read as plain values."""
    store = Store(tmp_path / "store.sqlite")
    head = store.create("some", "{}", b"", [("0", "{}")])
    values = np.empty(1, dtype=object)
    values[0] = {"a": 1}
    store.save_result(head.key, "map", 1, {"x": values})
    assert store.load_result(head.key, "map", 1)["x"].tolist() == [{"a": 1}]
    store.close()


def test_a_result_comes_back_as_it_was_kept(tmp_path):
    kept = {"about": {"a": [1, "é"]}, "arrays": {"x": np.arange(3)}}
    again = stored.parse(stored.dump(kept), dict)
    assert again["about"] == {"a": [1, "é"]}
    assert list(again["arrays"]) == ["x"]
    store = Store(tmp_path / "a.sqlite")
    key, other = (store.create(name, "{}", b"", []).key for name in "ab")
    for one in (key, other):
        assert store.save_result(one, "map", 1, kept)
    assert store.load_result(key, "hubs", 1) is None
    with store.database.write() as connection:
        connection.execute(tables.results.update().values(version="0.0.0"))
    assert store.load_result(key, "map", 1) is None
    assert store.save_result(key, "hubs", 1, kept)  # takes the place of those of another version

    def kinds(collection):
        c = tables.results.c
        with store.database.read() as connection:
            found = connection.execute(sa.select(c.kind).where(c.collection == collection))
            return [kind for (kind,) in found]

    assert (kinds(key), kinds(other)) == (["hubs"], ["map"])
    assert store.save_result(key, "hubs", 1, {"new": 1})
    assert store.load_result(key, "hubs", 1) == {"new": 1}
    with store.database.write() as connection:
        connection.execute(tables.results.update().values(hash="0"))
    assert store.load_result(key, "hubs", 1) is None
    store.close()


def test_the_cache_of_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "PART_BYTES", 1_000)
    store = Store(tmp_path / "a.sqlite")
    key, other = (store.create(name, "{}", b"", []).key for name in "ab")
    first, second = (Index().fit({"x": [1.0, 2.0, n], "c": ["a", "b", "a"]}) for n in (4.0, 5.0))
    assert store.load_index(key, 1) is None
    store.save_index(key, 3, 1, first)
    store.save_index(other, 1, 1, second)
    generation, found = store.load_index(key, 1)
    assert (generation, found.get(2)["x"]) == (3, 4.0)
    c = tables.cache_parts.c
    with store.database.read() as connection:
        query = sa.select(c.part, sa.func.length(c.bytes)).where(c.collection == key)
        parts = connection.execute(query.order_by(c.part)).all()
    assert [number for number, _ in parts] == list(range(len(parts)))
    assert len(parts) > 1
    assert {size for _, size in parts[:-1]} == {1_000}
    store.save_index(key, 2, 1, second)  # an older one than that of another server
    assert store.load_index(key, 1)[1].get(2)["x"] == 4.0
    store.save_index(key, 3, 1, second)
    assert store.load_index(key, 1)[1].get(2)["x"] == 5.0
    assert store.load_index(key, 2) is None
    with store.database.write() as connection:
        connection.execute(tables.caches.update().values(version="0.0.0"))
    assert store.load_index(key, 1) is None
    store.save_index(key, 4, 2, second)
    assert store.load_index(key, 2)[0] == 4
    store.save_index(99, 1, 1, first)  # deleted meanwhile
    assert store.load_index(99, 1) is None
    store.delete("a")
    with store.database.read() as connection:
        assert set(connection.execute(sa.select(c.collection)).scalars()) == {other}
    store.close()


def test_how_many_rows_have_moved(store):
    key = store.create("a", "{}", b"", rows(*range(9))).key
    other = store.create("b", "{}", b"", rows(1)).key
    for kind, count in (("add", 3), ("replace", 2), ("fit", 9), ("delete", 4)):
        with store.turn(key, "a") as turn:
            turn.finish(kind, count)
    expected = {(1, 2): 3, (1, 3): 7, (1, 4): 7, (1, 5): 11, (2, 3): 4, (4, 5): 4, (0, 1): 9}
    assert {span: store.moved(key, *span) for span in expected} == expected
    assert store.moved(key, 5, 5) == store.moved(key, 5, 99) == store.moved(other, 1, 9) == 0
    assert [(c["kind"], c["rows"]) for c in log(store, key)] == [
        ("create", 9), ("add", 3), ("replace", 2), ("fit", 9), ("delete", 4),
    ]  # fmt: skip


def test_changes_are_those_of_one_collection_and_until_the_transaction(store):
    key, other = (store.create(name, "{}", b"", rows(1, 2)).key for name in "ab")
    write(store, other, add=[7], remove=[1])
    write(store, key, add=[3, 4], remove=[2])  # 2
    write(store, key, remove=[3])  # 3
    with store.turn(key, "a") as turn:
        assert (turn.head.generation, turn.generation, turn.head.next_row) == (3, 4, 4)
        assert turn.changed(1) == Changed(["2"], [StoredRow("4", '{"x": 4}')])
        assert turn.changed(2) == Changed(["3"], [])
        assert turn.changed(3) == Changed([], [])
    assert store.changed(key, 3) == (store.head("a"), Changed([], []))
    assert store.changed(key, 2)[1] == Changed(["3"], [])
    assert store.changed(99, 1) == (None, Changed([], []))
    assert ids(store.rows_at(other, 1)) == [1, 2]
    assert ids(store.rows_at(other, 2)) == [2, 7]
    assert ids(store.rows_at(key, 3)) == [1, 4]
    assert store.count(other) == 2
    assert store.generations() == {key: 3, other: 2}
    assert store.head("a").next_row == 4
    with pytest.raises(NotFound, match="collection 'gone': not found"), store.turn(99, "gone"):
        pass


def test_rows_are_written_in_parts(store, monkeypatch):
    monkeypatch.setattr(stored, "BATCH_ROWS", 3)
    head = store.create("a", '{"t": 1}', b"s", rows(*range(8)))
    assert vars(head) | {"created": ""} == {
        "key": head.key, "name": "a", "created": "", "generation": 1, "fitted": 1, "next_row": 8,
        "settings": '{"t": 1}', "schema": b"s",
    }  # fmt: skip
    c = tables.rows.c
    with store.database.read() as connection:
        found = connection.execute(sa.select(c.number, c.id, c.born, c.died).order_by(c.number))
        assert found.all() == [(i, str(i), 1, None) for i in range(8)]
    write(store, head.key, remove=range(7), add=[9, 10])
    assert ids(store.rows_at(head.key, 2)) == [7, 9, 10]
    with store.database.read() as connection:
        found = connection.execute(sa.select(c.number, c.born, c.died).order_by(c.number)).all()
    assert found == [*((i, 1, 2) for i in range(7)), (7, 1, None), (8, 2, None), (9, 2, None)]
    assert len(stored.now()) == len("2026-01-01T00:00:00+00:00")


def test_names_are_checked_before_the_work(store):
    store.create("b", "{}", b"", [])
    store.create("a", "{}", b"", [])
    assert [head.name for head in store.heads()] == ["b", "a"]
    store.check_free("c")
    message = (
        "collection 'a': it exists already. Choose another name, or delete the old collection."
    )
    with pytest.raises(Conflict) as caught:
        store.check_free("a")
    assert str(caught.value) == message
    with pytest.raises(NotFound) as missing:
        store.head("c")
    assert str(missing.value) == (
        "collection 'c': not found. GET /api/collections lists all collections."
    )
    assert store.head("wrong name", store.head("a").key).name == "a"


def test_a_schema_is_read_back():
    schema = read_table({"x": [1.0, 2.0], "c": ["a", "b"]}).schema
    again = stored.parse(stored.dump(schema), Schema)
    assert {name: kind.name for name, kind in again.kinds.items()} == {
        name: kind.name for name, kind in schema.kinds.items()
    }


def test_the_tables_of_the_store():
    """A column that is nullable, or a key of too few columns, would be noticed by no other test."""
    keyed = {
        name.removeprefix("lookalike_"): (
            sorted(column.name for column in table.primary_key),
            sorted(column.name for column in table.columns if column.nullable),
            sorted(
                f"{column.name}:{column.type.length}"
                for column in table.columns
                if getattr(column.type, "length", None)
            ),
        )
        for name, table in tables.METADATA.tables.items()
    }
    cached = ["hash:64", "version:32"]
    assert keyed == {
        "version": ([], [], []),
        "keys": ([], [], []),
        "collections": (["key"], [], ["created:32", "name:100"]),
        "rows": (["collection", "number"], ["died"], []),
        "changes": (["collection", "generation"], [], ["at:32", "kind:16"]),
        "caches": (["collection"], [], cached),
        "cache_parts": (["collection", "part"], [], []),
        "requests": (["collection", "request"], [], ["at:32", "hash:64", "request:64"]),
        "results": (["collection", "kind"], [], ["hash:64", "kind:32", "made:32", "version:32"]),
        "tokens": (
            ["id"], ["revoked"],
            ["created:32", "hash:64", "id:16", "name:100", "revoked:32", "scope:8"],
        ),
        "sessions": (["id"], [], ["id:32", "touched:32"]),
    }  # fmt: skip
    counted = {t.name: t.autoincrement_column for t in tables.METADATA.tables.values()}
    assert [name for name, c in counted.items() if c is not None] == ["lookalike_collections"]
    assert tables.collections.c.name.unique
    indexes = {i.name: i.unique for t in tables.METADATA.tables.values() for i in t.indexes}
    assert indexes == {
        "lookalike_rows_by_id": True, "lookalike_rows_born": False, "lookalike_rows_died": False,
        "lookalike_sessions_touched": False,
    }  # fmt: skip
    for table in tables.METADATA.tables.values():
        for key in table.foreign_keys:
            assert key.ondelete == "CASCADE"


def test_a_connection_to_sqlite(tmp_path):
    database = Database(tmp_path / "a.sqlite")
    assert (database.dialect, database.path) == ("sqlite", tmp_path / "a.sqlite")
    assert database.shown == str(tmp_path / "a.sqlite")
    with database.read() as connection:
        assert tables.version_of(connection) == 0
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    # A writer has its turn from its start; a reader does not wait for it.
    impatient = sqlite3.connect(tmp_path / "a.sqlite", timeout=0, isolation_level=None)
    with database.write(), database.read():
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            impatient.execute("BEGIN IMMEDIATE")
    with database.read():
        impatient.execute("BEGIN IMMEDIATE")
        impatient.execute("ROLLBACK")
    impatient.close()
    with database.write() as connection:
        assert tables.migrate(connection) == (0, 5)
        assert tables.version_of(connection) == 5
        assert connection.execute(sa.select(tables.keys.c.last)).scalar() == 0
        numbers = connection.execute(sa.select(tables.version.c.version)).scalars().all()
        assert sorted(numbers) == [1, 2, 3, 4, 5]
    database.close()


def test_a_file_is_looked_at_before_it_is_opened(tmp_path):
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    tables._check_file(empty)
    path = tmp_path / "a.sqlite"
    store = Store(path)
    tables._check_file(path)  # open, with a log beside it
    store.close()
    tables._check_file(path)
    for where, message in (
        (tmp_path, f"File {str(tmp_path)!r}: needs the name of a file, found a folder. "),
        (tmp_path / "no" / "a", f"needs a folder that exists, found no folder '{tmp_path}/no'."),
    ):
        with pytest.raises(UnwritableFile) as caught:
            tables._check_file(where)
        assert message in str(caught.value)


def test_the_address_of_a_server():
    pytest.importorskip("psycopg")
    for address in ("postgres://me:secret@h/d", "postgresql+psycopg://me:secret@h/d"):
        database = Database(address)
        assert (database.dialect, database.path) == ("postgresql", None)
        assert database.shown == "postgresql+psycopg://me:***@h/d"
        pool = database.engine.pool
        assert (pool.size(), pool._max_overflow, pool._pre_ping) == (8, 8, True)
        database.close()
    with pytest.raises(InvalidInput, match="an address of a database, found another"):
        Database("://")


def test_the_address_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for address, path in (
        ("sqlite:///rows.db", "rows.db"),
        (f"sqlite:///{tmp_path}/whole.db", tmp_path / "whole.db"),
        ("sqlite+pysqlite:///other.db", "other.db"),
    ):
        store = Store(address)
        assert str(store.database.path) == str(path)
        store.close()
        assert Store(path).heads() == []
    for address in ("sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///a.db?mode=ro"):
        with pytest.raises(InvalidInput, match="the path of a file, found none, or options"):
            Database(address)
    with pytest.raises(InvalidInput, match="PostgreSQL or a file, found 'mysql'"):
        Database("mysql://h/d")
