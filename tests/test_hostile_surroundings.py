"""Surroundings that work against a process: forks at a bad moment, folders that cannot be written.

Each runs in processes of its own, which may hang or leave threads behind.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import threading

import pytest

import lookalike as la
from lookalike.index import build_index
from lookalike.measures import Gower, Vector

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes as Unix makes them")


@pytest.fixture
def run(tmp_path_factory):
    """Run code in a process; return what it prints, line by line."""
    script = tmp_path_factory.mktemp("script") / "script.py"  # numba caches what is in a file

    def run_script(code, *arguments, before=(), **environment):
        script.write_text(code)
        command = [*before, sys.executable, "-W", "ignore", script, *map(str, arguments)]
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run_script


WAIT = """
import os, time

def wait_for(child):
    end = time.monotonic() + 200
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hangs"
"""

FORK_AT_WORK = (
    WAIT
    + """
import threading
import numpy as np
import lookalike as la
from lookalike.measures import Vector

rows = np.random.default_rng(0).random((600, 3))
index = la.Index(Vector(), n_jobs=2).fit(rows)
far = [[1e6, 1e6, 1e6]]

def answers():
    return [hits.ids for hits in index.search(list(range(10)), k=3)]

expected, stop = answers(), threading.Event()

def write():
    while not stop.is_set():
        index.delete(index.add(far))

def read():
    while not stop.is_set():
        answers()

threads = [threading.Thread(target=work) for work in (write, read, read)]
for thread in threads:
    thread.start()
for _ in range(8):
    child = os.fork()
    if not child:
        index.delete(index.add(far))
        os._exit(0 if answers() == expected else 1)
    print(wait_for(child))
stop.set()
for thread in threads:
    thread.join()
print(answers() == expected)
"""
)


@forks
def test_a_process_that_forks_at_work_goes_on_and_so_do_its_children(run):
    assert run(FORK_AT_WORK) == ["0"] * 8 + ["True"]


FORK_WHILE_COMPILING = (
    WAIT
    + """
import threading
from numba.core.event import Listener, register
from lookalike.kernels._jit import kernel

begun = threading.Event()

def one(x):
    return x + 1

def other(x):
    return x * 2

one, other = kernel(one), kernel(other)
one.ready()

class Begins(Listener):
    def on_start(self, event):
        begun.set()
        time.sleep(0.5)  # numba holds its lock: forks come in the middle

    def on_end(self, event):
        pass

register("numba:compile", Begins())
thread = threading.Thread(target=one, args=[1.5])
thread.start()
begun.wait()
child = os.fork()
if not child:
    os._exit(int(other(2) - 4))
print(wait_for(child))
thread.join()
print(one(1.5))
"""
)


@forks
@pytest.mark.long
def test_a_process_forked_while_another_thread_compiles_can_compile(run, tmp_path):
    found = run(FORK_WHILE_COMPILING, NUMBA_CACHE_DIR=str(tmp_path), LOOKALIKE_COMPILE="1")
    assert found == ["0", "2.5"]


SPAWN = """
import multiprocessing, sys, threading
import numpy as np
import lookalike as la
from lookalike.measures import Vector

def ask(index):
    return [hits.ids for hits in index.search([0, 1, 2], k=3)]

def child(index, expected, answers):
    index.delete(index.add([[1e6, 1e6, 1e6]]))
    answers.put(ask(index) == expected)

if __name__ == "__main__":
    index = la.Index(Vector()).fit(np.random.default_rng(0).random((500, 3)))
    expected, stop = ask(index), threading.Event()

    def write():
        while not stop.is_set():
            index.delete(index.add([[1e6, 1e6, 1e6]]))

    thread = threading.Thread(target=write)
    thread.start()
    start = multiprocessing.get_context("spawn")
    answers = start.Queue()
    children = [start.Process(target=child, args=(index, expected, answers)) for _ in range(2)]
    for one in children:
        one.start()
    print([answers.get(timeout=300) for _ in children])
    stop.set()
    thread.join()
    for one in children:
        one.join()
        print(one.exitcode)
"""


@pytest.mark.long
def test_processes_are_spawned_with_an_index_that_is_written_to(run):
    assert run(SPAWN) == ["[True, True]", "0", "0"]


START = """
import sys
import numpy as np
import lookalike as la
from lookalike.kernels.first_use import compile_at_once

rng = np.random.default_rng(0)
rows = {"size": rng.random(300), "kind": [f"k{i % 7}" for i in range(300)]}
with compile_at_once():
    index = la.Index("gower").fit(rows)
    for row in sys.argv[1:]:
        print([hit.id for hit in index.search(int(row), k=5)])
"""


@pytest.mark.long
def test_many_processes_start_with_one_empty_cache_of_kernels(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "LOOKALIKE_COMPILE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", START]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    together = [subprocess.Popen([*command, row], env=env, **pipes) for row in "01234"]
    found = [process.communicate(timeout=600) for process in together]
    assert [process.returncode for process in together] == [0] * 5, found
    assert [err for _, err in found] == [""] * 5
    env["LOOKALIKE_COMPILE"] = "0"
    alone = subprocess.run([*command, *"01234"], env=env, capture_output=True, text=True)
    assert [out for out, _ in found] == alone.stdout.splitlines(keepends=True)


def test_threads_save_to_one_file_while_others_add(tmp_path):
    index = la.Index(Vector()).fit([[-99.0], [99.0]])
    path, failed = tmp_path / "index.lookalike", []
    index.save(path)
    done = threading.Event()

    def add():
        for step in range(1, 25):
            index.add([[float(step)], [-float(step)]])  # the sum stays 0

    def save():
        while not done.is_set():
            index.save(path)

    def load():
        while not done.is_set():
            assert la.load(path).table["x0"].values.sum() == 0.0

    def watched(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    adding = [threading.Thread(target=watched, args=[add]) for _ in range(2)]
    others = [threading.Thread(target=watched, args=[work]) for work in (save, save, load)]
    for thread in adding + others:
        thread.start()
    for thread in adding:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    assert failed == []
    index.save(path)
    assert la.load(path).table["x0"].values.tolist() == index.table["x0"].values.tolist()
    assert os.listdir(tmp_path) == [path.name]  # no draft is left


def test_threads_add_to_one_folder_and_readers_see_whole_changes(tmp_path):
    table = la.read_table({"x": [-99.0, 0.0, 0.0, 99.0], "key": list("abcd")})
    index = build_index(table, tmp_path / "index", Gower(), id_column="key")
    failed, done = [], threading.Event()

    def add(name):
        for step in range(6):
            index.add(
                {"x": [float(step), -float(step)], "key": [f"{name}{step}", f"{name}-{step}"]}
            )

    def read():
        while not done.is_set():
            other = la.Index.open(tmp_path / "index")
            assert sum(record["x"] for record in other.records()) == 0.0

    def watched(work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:
            failed.append(error)

    adding = [threading.Thread(target=watched, args=[add, name]) for name in "pq"]
    reading = threading.Thread(target=watched, args=[read])
    for thread in [*adding, reading]:
        thread.start()
    for thread in adding:
        thread.join()
    done.set()
    reading.join()
    assert failed == []
    again = la.Index.open(tmp_path / "index")
    assert again.check() == {}
    assert again.ids == index.ids
    assert len(again) == 4 + 2 * 2 * 6


READ_ONLY = """
import sys
from pathlib import Path
import lookalike as la
from lookalike.errors import LookalikeError
from lookalike.index import build_index
from lookalike.service.store.store import Store

place = Path(sys.argv[1])
index, rows = la.Index.open(place / "index"), la.read_table({"size": [1.0, 2.0, 5.0]})
saved = la.load(place / "model.lookalike")
for name, work in {
    "search": lambda: index.search(0, k=2).ids,
    "check": index.check,
    "load": lambda: saved.search(0, k=2).ids,
    "table": lambda: la.read_table(place / "rows.csv").shape,
    "add": lambda: index.add({"size": [3.0]}),
    "delete": lambda: index.delete([0]),
    "build": lambda: build_index(rows, place / "new", "gower"),
    "build again": lambda: build_index(rows, place / "index", "gower"),
    "save": lambda: saved.save(place / "model.lookalike"),
    "save anew": lambda: saved.save(place / "new.lookalike"),
    "store": lambda: Store(place / "rows.sqlite"),
    "new store": lambda: Store(place / "new.sqlite"),
    "rows": lambda: len(index),
}.items():
    try:
        print(name, work())
    except LookalikeError as error:
        print(name, type(error).__name__)
"""


def digests(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.skipif(os.name != "posix", reason="modes of files as Unix has them")
def test_folders_that_are_read_only_are_read_and_changes_refused(run, tmp_path):
    pytest.importorskip("sqlalchemy")
    from lookalike.service.store.store import Store

    # The administrator may write anywhere, unless this one right is taken away.
    before = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    if before and (not shutil.which("setpriv") or subprocess.run([*before, "true"]).returncode):
        pytest.skip("the administrator may write anywhere, and setpriv is not here")
    rows = la.read_table({"size": [1.0, 2.0, 5.0]})
    build_index(rows, tmp_path / "index", "gower")
    la.Index("gower").fit(rows).save(tmp_path / "model.lookalike")
    Store(tmp_path / "rows.sqlite").close()
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    kept = digests(tmp_path)
    try:
        found = run(READ_ONLY, tmp_path, before=before)
    finally:
        for path in everything:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert found == [
        "search [1, 2]",
        "check {}",
        "load [1, 2]",
        "table (2, 2)",
        "add UnwritableFile",
        "delete UnwritableFile",
        "build UnwritableFile",
        "build again UnwritableFile",
        "save UnwritableFile",
        "save anew UnwritableFile",
        "store UnwritableFile",
        "new store UnwritableFile",
        "rows 3",
    ]
    assert digests(tmp_path) == kept
