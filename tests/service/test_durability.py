"""Nothing that was acknowledged is lost: killed servers, full disks, restarted databases."""

import http.client
import os
import random
import resource
import sqlite3
import threading
import time

import pytest

import lookalike as la
from lookalike.service import Client, ServiceError
from service.running import PETS, Process, running

# How often a server is killed: `make fuzz` sets the number for each database, 40. The long tests do
# with a few, fewer on PostgreSQL, which keeps its own promises.
ASKED = int(os.environ.get("LOOKALIKE_KILLS") or 0)
KILLS = {"sqlite": ASKED or 4, "postgres": ASKED or 2}
kills_asked_for = (lambda test: test) if ASKED else pytest.mark.long
BATCH = 4
LOST = (OSError, http.client.HTTPException)


class Writer(threading.Thread):
    """Adds, replaces and deletes rows of its own, and remembers what was acknowledged.

    What was under way when the server died may have happened or not; nothing else is open.
    """

    def __init__(self, address, number, seed):
        super().__init__()
        self.client = Client(address, timeout=300)
        self.number, self.random = number, random.Random(seed)
        self.rows, self.open, self.writes = {}, None, 0
        self.failed = None

    def run(self):
        try:
            while True:
                self.write()
                self.writes += 1
        except LOST:
            pass
        except BaseException as error:
            self.failed = error
        finally:
            self.client.close()

    def write(self):
        what = self.random.choice(["add", "add", "replace", "delete"])
        if what == "add" or not self.rows:
            mark = f"{self.number}-{self.random.getrandbits(40)}"
            rows = [self.row(f"{mark}-{i}") for i in range(BATCH)]
            self.open = ("add", mark)
            ids = self.client.add("pets", rows)["ids"]
            self.rows.update(zip(ids, rows, strict=True))
        elif what == "replace":
            id = self.random.choice(list(self.rows))
            row = self.row(f"{self.number}-{self.random.getrandbits(40)}")
            self.open = ("replace", id, row)
            self.client.replace("pets", id, row)
            self.rows[id] = row
        else:
            id = self.random.choice(list(self.rows))
            self.open = ("delete", id)
            self.client.delete("pets", id)
            del self.rows[id]
        self.open = None

    def row(self, name):
        animal = self.random.choice(["cat", "dog", "wolf"])
        return {
            "name": name,
            "weight": self.random.randrange(1, 90),
            "animal": animal,
            "tags": ["x"],
        }


def settle(writer, found):
    """Check all rows of a writer against those of the server; take over what was open."""
    open = writer.open
    mine = {
        id: row for id, row in found.items() if str(row["name"]).startswith(f"{writer.number}-")
    }
    expected = dict(writer.rows)
    if open and open[0] == "add":
        batch = {id: row for id, row in mine.items() if str(row["name"]).startswith(f"{open[1]}-")}
        assert len(batch) in (0, BATCH), "half a batch was written"
        expected.update(batch)
    elif open and open[0] == "replace":
        assert mine.get(open[1]) in (expected[open[1]], open[2])
        expected[open[1]] = mine[open[1]]
    elif open and open[0] == "delete" and open[1] not in mine:
        del expected[open[1]]
    assert mine == expected
    return expected


@kills_asked_for
@pytest.mark.parametrize("database", list(KILLS))
def test_killed_while_three_clients_write(database, tmp_path, request):
    store = str(tmp_path / "store.sqlite")
    if database == "postgres":
        store = request.getfixturevalue("postgres").database("killed")
    with Process(store) as process:
        process.client.create("pets", rows=PETS)
    kept = [{} for _ in range(3)]
    total, seed, kills = 0, random.Random(0), KILLS[database]
    for _ in range(kills):
        process = Process(store).wait()
        found = {row["id"]: row["row"] for row in process.client.rows("pets")}
        writers = [Writer(process.client.address, n, seed.random()) for n in range(3)]
        for writer, rows in zip(writers, kept, strict=True):
            writer.rows = rows
            assert {id: found[id] for id in rows} == rows
            writer.start()
        # However busy the machine is, the kill comes while something has been written.
        end = time.monotonic() + 60
        while sum(writer.writes for writer in writers) < 6 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.7 * seed.random())
        process.kill()
        for writer in writers:
            writer.join()
            assert writer.failed is None, writer.failed
        total += sum(writer.writes for writer in writers)
        with running(store) as (service, client):
            found = {row["id"]: row["row"] for row in client.rows("pets")}
            kept = [settle(writer, found) for writer in writers]
            ours = sum(map(len, kept))
            assert len(found) == len(PETS) + ours
            view = service.catalog.get("pets").view
            assert view.generation == service.store.head("pets").generation
            assert_like_a_fresh_index(view, client, found)
    assert total > 5 * kills


def assert_like_a_fresh_index(view, client, found):
    """Search equals that of an index that is fitted and filled without any service."""
    names = [f"{id}" for id in found]
    index = la.Index(id_column="key").fit([PETS[i] | {"key": str(i)} for i in range(len(PETS))])
    later = [dict(row) | {"key": str(id)} for id, row in found.items() if id >= len(PETS)]
    if later:
        index.add(later)
    for id in list(found)[:: max(1, len(found) // 10)]:
        hits = client.search("pets", id, 20)["hits"]
        expected = index.search(str(id), 20)
        assert [str(hit["id"]) for hit in hits] == expected.ids
        assert [hit["similarity"] for hit in hits] == [hit.similarity for hit in expected]
    assert len(names) == len(view.index)


def test_a_full_disk_loses_nothing(tmp_path):
    store = tmp_path / "store.sqlite"
    with running(store) as (_, client):
        client.create("pets", rows=PETS)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        wal = tmp_path / "store.sqlite-wal"
        import signal

        usual = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (wal.stat().st_size + 60_000, before[1]))
            acknowledged, full = [], None
            for i in range(200):
                row = PETS[0] | {"name": f"{i} " + "x" * 2_000}
                try:
                    acknowledged += client.add("pets", [row])["ids"]
                except ServiceError as error:
                    full = error
                    break
            assert full is not None, "the disk never filled up"
            assert full.status == 507
            assert full.problem["found"] == "a full disk"
            assert client.search("pets", 0)["hits"]  # reading goes on
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, usual)
        ids = [row["id"] for row in client.rows("pets")]
        assert ids == [*range(len(PETS)), *acknowledged]
        again = client.add("pets", [PETS[1]])
        assert again["ids"] == [len(ids)]
    with running(store) as (_, client):
        assert [row["id"] for row in client.rows("pets")] == [*ids, len(ids)]


def test_a_damaged_database_is_reported_by_the_command(tmp_path):
    store = tmp_path / "store.sqlite"
    with running(store) as (_, client):
        client.create("pets", rows=PETS)
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = bytearray(store.read_bytes())
    for start in range(4_096, len(data), 4_096):
        data[start : start + 200] = bytes(200)
    store.write_bytes(data)
    process = Process(store)
    assert process.process.wait(300) == 1
    process._close()
    heard = " ".join("".join(process.heard).split())
    assert "the database is damaged" in heard
    assert "was left as it is" in heard
    assert store.read_bytes() == bytes(data)


def test_a_database_that_is_restarted(postgres):
    address = postgres.database("restarted")
    with running(address) as (service, client):
        client.create("pets", rows=PETS)
        client.add("pets", [PETS[0]])
        postgres.stop()
        with pytest.raises(ServiceError) as error:
            client.add("pets", [PETS[1]])
        assert error.value.status == 503
        assert error.value.problem["hint"]
        assert client.search("pets", 0, 3)["hits"]  # from memory
        end = time.monotonic() + 20
        while service.store_answers and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.raises(ServiceError) as error:
            client.get("/readyz")
        assert error.value.status == 503
        postgres.start()
        codes = set()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                added = client.add("pets", [PETS[2]])
                break
            except ServiceError as problem:
                codes.add(problem.status)
                time.sleep(0.1)
        assert codes <= {503}
        assert added["ids"] == [7]
        assert [row["id"] for row in client.rows("pets")] == list(range(8))
        while not service.store_answers:
            time.sleep(0.05)
        assert client.get("/readyz")["ok"]


def test_two_servers_on_one_database(postgres):
    address = postgres.database("two")
    with running(address) as (_, one), running(address) as (_, other):
        one.create("pets", rows=PETS)
        assert other.search("pets", 0, 3)["hits"] == one.search("pets", 0, 3)["hits"]
        copy = PETS[0] | {"name": "Zwilling"}
        generation = one.add("pets", [copy])["generation"]
        found = other.search("pets", 0, 1, at_least=generation)
        assert found["hits"][0]["label"] == "Zwilling"
        generation = other.delete("pets", 6)["generation"]
        found = one.search("pets", 0, 1, at_least=generation)
        assert found["hits"][0]["label"] != "Zwilling"
        # Without being asked to, a server follows within a moment.
        other.add("pets", [copy])
        end = time.monotonic() + 20
        while len(one.search("pets", 0, 9)["hits"]) < 6:
            assert time.monotonic() < end
            time.sleep(0.05)
        # Both write in parallel: every id is given once, and both end with the same rows.
        given = []

        def write(client):
            for _ in range(10):
                given.extend(client.add("pets", [copy, copy])["ids"])

        threads = [threading.Thread(target=write, args=[client]) for client in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(given) == list(range(8, 48))
        last = max(one.describe("pets")["generation"], other.describe("pets")["generation"])
        answers = [client.search("pets", 0, 60, at_least=last)["hits"] for client in (one, other)]
        assert answers[0] == answers[1]
        assert len(answers[0]) == 46
        # A measure that one has fitted serves on the other.
        one.refit("pets", "gower", weights={"weight": 4})
        last = one.describe("pets")["generation"]
        answers = [client.search("pets", 1, 60, at_least=last)["hits"] for client in (one, other)]
        assert answers[0] == answers[1]
        assert other.describe("pets")["measure"]["weights"]["weight"] == 4
        # A session that began on one goes on on the other.
        session = one.session("pets", 0, 5)["id"]
        marked = other.mark("pets", session, like=[1])
        assert one.get(f"/api/collections/pets/sessions/{session}") == marked
        other.drop("pets")
        end = time.monotonic() + 20
        while one.collections():
            assert time.monotonic() < end
        while True:
            try:
                one.search("pets", 0)
            except ServiceError as error:
                code = error.status
                break
            assert time.monotonic() < end + 20
            time.sleep(0.05)
        assert code == 404
