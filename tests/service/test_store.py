"""The store: the same on SQLite and on PostgreSQL."""

import json
import os
import sqlite3
import stat

import pytest
import sqlalchemy as sa

from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.service.store import database as tables
from lookalike.service.store.database import Database, StoreFull, StoreUnavailable
from lookalike.service.store.store import Conflict, NotFound, Store


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


def test_pages_follow_the_order_of_the_rows(store):
    key = store.create("a", "{}", b"", rows(*range(10))).key
    write(store, key, add=["z"], remove=[4])
    assert ids(store.page(key, None, 4)) == [0, 1, 2, 3]
    assert ids(store.page(key, "3", 3)) == [5, 6, 7]
    assert ids(store.page(key, "4", 2)) == [5, 6]  # the page ended at a row that was deleted since
    assert ids(store.page(key, "8", 9)) == [9, "z"]
    with pytest.raises(NotFound):
        store.page(key, '"unknown"', 3)


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
        connection.execute(tables.version.delete().where(tables.version.c.version == 4))
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
    with pytest.raises(InvalidInput, match="a folder"):
        Store(tmp_path)
    with pytest.raises(InvalidInput, match="a folder that exists"):
        Store(tmp_path / "not" / "there.sqlite")


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
