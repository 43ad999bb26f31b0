"""Snapshots: many threads use one index, against the same writes made sequentially."""

import copy
import pickle
import subprocess
import sys
import threading
import warnings
from dataclasses import fields

import numpy as np
import pytest

import lookalike as la
from index.dask.conftest import mixed
from lookalike._runtime.threads import lock_of
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.index import build_index
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.snapshot import neighbors_of
from lookalike.measures import Gower, Ranked, Vector

FIRST = np.random.default_rng(0).integers(-9, 9, (30, 2)).astype(float)


@pytest.fixture(autouse=True)
def hectic():
    """Let threads take turns a million times a second, and keep drift to itself."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        yield
    sys.setswitchinterval(usual)


def run_together(tasks):
    """Run functions in threads of their own, begun together; raise what one of them raised."""
    errors, gate = [], threading.Barrier(len(tasks))

    def run(task):
        gate.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Log:
    """Results of writers: rows that were added, ids that were deleted. Appending is atomic."""

    def __init__(self):
        self.added, self.deleted = [], []

    def live(self, first):
        every = {**first, **dict(self.added)}
        return {id: every[id] for id in sorted(every.keys() - set(self.deleted))}


def writer(index, log, seed, steps, as_rows=lambda rows, seed, step: rows):
    """Return a task that adds rows and deletes some of those that it added, noting both."""

    def write():
        random = np.random.default_rng(seed)
        own = []
        for step in range(steps):
            rows = random.integers(-9, 9, (int(random.integers(1, 4)), 2)).astype(float)
            ids = index.add(as_rows(rows, seed, step))
            log.added.extend(zip(ids, map(tuple, rows.tolist()), strict=True))
            own.extend(ids)
            if step % 3 == 2:
                gone = [own.pop(int(random.integers(len(own)))) for _ in range(2)]
                index.delete(gone)
                log.deleted.extend(gone)

    return write


def reader(index, log, stop):
    """Return a task that reads in every way; ids of deleted rows are the only fair complaint."""

    def read():
        random = np.random.default_rng(7)
        while not stop.is_set():
            known = [id for id, _ in log.added] or [1]
            id = known[int(random.integers(len(known)))]
            for ask in (
                lambda id=id: index.get(id),
                lambda id=id: index.search(id, 3, unlike=0),
                lambda id=id: index.explain(0, id),
                lambda id=id: index.search(0, 5, filter=[0, 1, id]),
            ):
                refused = complaint_of(ask)
                if refused is not None:
                    assert "an existing id" in refused
                    assert id not in index
            gone = set(log.deleted)
            hits = index.search([[0.0, 0.0]], 8, filter={"x0": (">", -99)})
            assert not gone & set(hits.ids)
            assert [hit.row["x0"] for hit in hits] == [log_row(log, hit)[0] for hit in hits]
            assert len(index.records()) > 0
            index.drift()

    return read


def complaint_of(ask):
    """Return what a call that was refused says, None for one that was answered."""
    try:
        ask()
    except InvalidInput as error:
        return str(error)
    return None


def log_row(log, hit):
    """Return the row that an id was given to, as far as its writer has noted it yet."""
    return dict(log.added).get(hit.id, tuple(hit.row.values()))


def together(index, n_writers, steps, **options):
    log, stop = Log(), threading.Event()
    left = threading.Semaphore(0)

    def counted(write):
        def task():
            try:
                write()
            finally:
                left.release()

        return task

    def watch():
        for _ in range(n_writers):
            left.acquire()
        stop.set()

    writers = [counted(writer(index, log, seed, steps, **options)) for seed in range(n_writers)]
    readers = [reader(index, log, stop)] * 2 if not options else []
    run_together([*writers, *readers, watch])
    return log


@pytest.mark.parametrize("measure", [Vector("cityblock"), Ranked(), Gower()], ids=str)
def test_every_write_is_there_and_searches_equal_a_serial_replay(measure):
    index = la.Index(measure).fit(FIRST)
    log = together(index, 8, 24)
    ids = [id for id, _ in log.added]
    assert sorted(ids) == list(range(30, 30 + len(ids)))  # none twice, none lost
    live = log.live(dict(enumerate(map(tuple, FIRST.tolist()))))
    assert index.ids == list(live)
    assert len(index) == len(live)
    assert [tuple(record.values()) for record in index.records()] == list(live.values())

    serial = la.Index(measure).fit(FIRST)
    for id, row in sorted(log.added):
        assert serial.add([row]) == [id]
    serial.delete(log.deleted)
    random = np.random.default_rng(1)
    for query in [*random.integers(-9, 9, (10, 1, 2)).astype(float), *list(live)[::17]]:
        ours, theirs = index.search(query, 25), serial.search(query, 25)
        assert [(hit.id, hit.distance) for hit in ours] == [(h.id, h.distance) for h in theirs]

    alone = index.measure_
    queries = random.integers(-9, 9, (10, 2)).astype(float)
    later = [row for _, row in sorted(log.added)]
    far = np.hstack([alone.distance(queries, None), alone.distance(queries, np.array(later))])
    far[:, log.deleted] = np.inf
    nearest = np.argsort(far, axis=1, kind="stable")[:, :25]
    assert [hits.ids for hits in index.search(queries, 25)] == nearest.tolist()


def test_ids_from_a_column_are_given_once():
    frame = {"name": ["a", "b"], "x0": [0.0, 1.0], "x1": [0.0, 1.0]}
    index = la.Index(Gower(), id_column="name").fit(frame)

    def named(rows, seed, step):
        return [{"name": f"{seed}-{step}-{at}", "x0": x, "x1": y} for at, (x, y) in enumerate(rows)]

    log = together(index, 6, 18, as_rows=named)
    live = log.live({"a": (0.0, 0.0), "b": (1.0, 1.0)})
    assert sorted(index.ids) == list(live)
    assert {id: (index.get(id)["x0"], index.get(id)["x1"]) for id in live} == live

    said = []  # many threads want the same name: one of them gets it
    wanted = {"name": "wanted", "x0": 0.5, "x1": 0.5}

    def take():
        said.append(complaint_of(lambda: index.add(wanted)))

    for _ in range(10):
        run_together([take] * 8)
        assert said.count(None) == 1
        assert sum("there already" in words for words in said if words) == 7
        assert index.ids.count("wanted") == 1
        index.delete("wanted")
        said.clear()


def test_a_read_sees_all_of_a_write_or_nothing():
    index = la.Index(Vector()).fit([[0.0], [0.0], [0.0]])
    stop = threading.Event()

    def write():
        for step in range(1, 60):
            ids = index.add([[float(step)], [-step / 2], [-step / 2]])
            if step % 2:
                index.delete(ids)
            if step % 20 == 0:
                index.refit()
        stop.set()

    def read():
        while not stop.is_set():
            values = index.table["x0"].values
            assert values.sum() == 0.0
            assert len(values) % 3 == 0
            assert sum(record["x0"] for record in index.records()) == 0.0
            assert len(index) % 3 == len(index.ids) % 3 == 0
            assert sum(hit.row["x0"] for hit in index.search([[0.0]], 10_000)) == 0.0

    run_together([write, read, read, read])


def test_refitting_beside_writers_keeps_ids_apart():
    index = la.Index(Ranked()).fit(FIRST)
    log, stop = Log(), threading.Event()

    def refit():
        while not stop.is_set():
            index.refit()

    def writers():
        try:
            run_together([writer(index, log, seed, 12) for seed in range(4)])
        finally:
            stop.set()

    run_together([writers, refit])
    live = log.live(dict(enumerate(map(tuple, FIRST.tolist()))))
    assert index.ids == list(live)
    again = la.Index(Ranked()).fit(np.array(list(live.values())))
    index.refit()
    ours, theirs = index.search([[0.5, 0.5]], 20), again.search([[0.5, 0.5]], 20)
    assert ours.ids == [list(live)[at] for at in theirs.ids]
    assert [hit.distance for hit in ours] == [hit.distance for hit in theirs]


def test_readers_do_not_wait_for_a_writer(tmp_path):
    index = la.Index(Vector()).fit(FIRST)
    locked, done = threading.Event(), threading.Event()

    def hold():
        with lock_of(index):
            locked.set()
            assert done.wait(60)

    def read():
        locked.wait()
        try:
            index.search(0), index.get(0), index.ids, index.records(), index.table, index.drift()
            len(index), 0 in index, index.explain(0, 1), pickle.dumps(index), copy.deepcopy(index)
            index.save(tmp_path / "index.lookalike")
        finally:
            done.set()

    run_together([hold, read])


def test_a_copy_takes_nothing_that_a_reader_may_be_adding_to():
    index = la.Index(Vector()).fit([[0.0], [1.0]])
    assert index.search(0, 1).ids == [1]
    state = index.state_
    assert set(vars(pickle.loads(pickle.dumps(state)))) == {field.name for field in fields(state)}
    assert set(vars(state)) > {field.name for field in fields(state)}


def test_copies_and_files_made_beside_writers_are_whole(tmp_path):
    index = la.Index(Vector()).fit([[0.0], [0.0]])
    stop = threading.Event()

    def write():
        for step in range(1, 40):
            index.delete(index.add([[float(step)], [-float(step)]]) if step % 2 else [])
            index.add([[float(step)], [-float(step)]])
        stop.set()

    def take():
        while not stop.is_set():
            index.save(tmp_path / "index.lookalike")
            for other in (
                copy.copy(index),
                copy.deepcopy(index),
                pickle.loads(pickle.dumps(index)),
                la.load(tmp_path / "index.lookalike"),
            ):
                size = len(other)
                assert other.table["x0"].values.sum() == 0.0
                (new,) = other.add([[5.0]])  # with a lock of its own
                assert len(other) == size + 1
                assert other.get(new) == {"x0": 5.0}

    run_together([write, take])
    assert len(index) == 2 + 2 * 39


def test_a_write_that_fails_changes_nothing(monkeypatch):
    index = la.Index(Vector()).fit(FIRST)
    before = index.state_

    def fail(table):
        raise KeyboardInterrupt

    monkeypatch.setattr(index.measure_, "encode", fail)
    with pytest.raises(KeyboardInterrupt):
        index.add([[0.0, 0.0]])
    with pytest.raises(InvalidInput, match="existing id"):
        index.delete([1, 2, 99])
    assert index.state_ is before
    monkeypatch.undo()
    assert index.add([[0.0, 0.0]]) == [30]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_process_does_not_inherit_a_held_lock():
    code = """
import os, threading, warnings
import lookalike as la
from lookalike._runtime.threads import lock_of
warnings.simplefilter("ignore")
index = la.Index(la.measures.Vector()).fit([[0.0], [1.0]])
held, done = threading.Event(), threading.Event()
def hold():
    with lock_of(index):
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    os._exit(0 if index.add([[2.0]]) == [2] else 1)
answer = os.waitpid(child, 0)[1]
done.set()
thread.join()
raise SystemExit(answer)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# -- one snapshot after another --------------------------------------------------------------------


def test_a_change_returns_the_next_snapshot_and_its_answer():
    rows = {"code": ["a", "b", "c", "d"], "x": [0.0, 1.0, 2.0, 3.0]}
    now = la.Index("gower", id_column="code").fit(rows).state_
    more, ids = now.added({"code": ["e", "f"], "x": [4.0, 5.0]}, "add")
    assert ids == ["e", "f"]
    assert (len(now.segments), len(more.segments)) == (4, 6)
    assert more.ids == list("abcdef")
    less = more.without(["b", "e"], "delete")
    assert less.ids == list("acdf")
    assert less.without("a", "delete").ids == list("cdf")
    assert less.table["x"].values.tolist() == [0.0, 2.0, 3.0, 5.0]
    assert less.record("f", "get") == {"x": 5.0, "code": "f"}
    with pytest.raises(InvalidInput, match="delete: needs each id once, found id 'a' twice"):
        more.without(["b", "a", "a"], "delete")
    with pytest.raises(InvalidInput, match="'a' again, which is there already"):
        more.added({"code": ["a"], "x": [1.0]}, "add")
    # Fitted rows and later ones stay apart, so there are two groups to compact, then none.
    once, changed = less.compacted(100)
    assert changed
    assert [len(segment) for segment in once.segments.segments] == [3, 2]
    twice, changed = once.compacted(100)
    assert changed
    assert [len(segment) for segment in twice.segments.segments] == [3, 1]
    same, changed = twice.compacted(100)
    assert not changed
    assert same is twice
    assert same.ids == less.ids
    empty = same.without(list("acdf"), "delete")
    assert empty.ids == []
    assert (len(empty.table), empty.table.names) == (0, ("x",))


def test_drift_is_checked_again_after_a_tenth_more_rows_and_reported_once():
    now = la.Index("gower").fit({"x": [float(i) for i in range(40)]}).state_
    assert now.drift().added == 0
    more, _ = now.added({"x": [99.0] * 20}, "add")
    assert (more.drift().fitted, more.drift().added) == (40, 20)
    checked, new = more.look_for_drift()
    assert [column.column for column in new] == ["x"]
    assert (checked.checked, checked.drifted) == (20, ("x",))
    for added, at in ((1, 20), (2, 22)):  # not before 22 rows were added
        later = checked.added({"x": [99.0] * added}, "add")[0]
        again, new = later.look_for_drift()
        assert (again.checked, new) == (at, [])
        assert (again is later) == (at == 20)


def test_ids_are_read_by_the_kind_they_had_at_first():
    """A column of digits in a CSV file would be numbers, and 007 another id than "007"."""
    rows = {"code": ["007", "010"], "x": [0.0, 1.0]}
    kinds = {"code": "text"}
    now = la.Index("gower", id_column="code", kinds=kinds).fit(rows).state_
    more = now.read_added({"code": ["011"], "x": [2.0]}, "add")
    assert more.aside[-1].values.tolist() == ["011"]
    plain = la.Index("gower").fit({"x": [0.0, 1.0]}).state_
    assert plain.id_column is None
    assert plain.read_added({"x": [2.0]}, "add").names == ("x",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("folder") / "index"
    build_index(la.read_table(mixed(3000)), path, "gower", shard_rows=1024)
    return path


def test_parts_of_a_folder_are_those_of_the_rows_in_memory(folder):
    measure = Gower().fit(la.read_table(mixed(3000)))
    now, whole = ShardFolder.open(folder).snapshot(), measure.neighbors(k=6)
    for start, stop in ((0, 3000), (1000, 1100), (2999, 3000)):
        part = neighbors_of(now, start, stop, 6)
        np.testing.assert_array_equal(part.indices, whole.indices[start:stop])
        np.testing.assert_array_equal(part.distances, whole.distances[start:stop])
