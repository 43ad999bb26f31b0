"""Compiled kernels are kept where any change or damage is noticed, also by several processes."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import lookalike
from lookalike.kernels import COMPILED, _cache
from lookalike.kernels._cache import LOCK, CompileLock, ForkLock, unless_forking

SOURCE = Path(lookalike.__file__).parent
CODE = (
    "import numpy as np; from lookalike.kernels.lists import insert;"
    "d, i = np.full(2, np.inf), np.full(2, -1); insert(d, i, 1.0, 7); print(i.tolist());"
    "print(sum(insert.ready().stats.cache_hits.values()))"
)

COMPILING = {"NUMBA_CACHE_DIR": "", "LOOKALIKE_COMPILE": "1"}  # whatever the tests run with


def run(code, cache, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **COMPILING, "XDG_CACHE_HOME": str(cache), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_functions_are_called_when_numba_begins_and_ends():
    from numba.core.event import trigger_event

    calls = []
    _cache.listen("lookalike:test", lambda: calls.append("begins"), lambda: calls.append("ends"))
    with trigger_event("lookalike:test"):
        assert calls == ["begins"]
    assert calls == ["begins", "ends"]
    with trigger_event("lookalike:other"):
        assert calls == ["begins", "ends"]


@pytest.mark.long
def test_kernels_are_compiled_once(tmp_path):
    assert run(CODE, tmp_path) == ["[7, -1]", "0"]
    assert run(CODE, tmp_path) == ["[7, -1]", "1"]


@pytest.mark.long
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("size", [0, 10, 100])
def test_a_file_cut_short_is_thrown_away(tmp_path, ending, size):
    run(CODE, tmp_path)
    kept = list(tmp_path.rglob(f"*{ending}"))
    assert kept
    for file in kept:
        os.truncate(file, size)
    assert run(CODE, tmp_path) == ["[7, -1]", "0"]


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    """A package that cannot keep compiled code anywhere compiles in memory."""
    file = tmp_path / "a file"
    file.write_text("")
    assert run(CODE, file) == ["[7, -1]", "0"]


def test_the_fingerprint_follows_every_kernel(tmp_path, monkeypatch):
    for file in (SOURCE / "kernels").glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(_cache, "__file__", str(tmp_path / "_cache.py"))
    before = _cache.fingerprint.__wrapped__()
    assert before == _cache.fingerprint.__wrapped__()
    (tmp_path / "lists.py").write_text("# changed\n")
    assert _cache.fingerprint.__wrapped__() != before


def test_a_folder_needs_to_be_written_and_entered(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    asked = []
    for answer in (True, False):
        monkeypatch.setattr(os, "access", lambda path, mode: asked.append(mode) or answer)  # noqa: B023
        found = _cache.cache_folder.__wrapped__()
        folder = tmp_path / "lookalike" / "kernels" / _cache.fingerprint()
        assert found == (str(folder) if answer else None)
    assert asked == [os.W_OK | os.X_OK] * 2


def test_the_setting_of_numba_is_put_back():
    import numba

    import lookalike.kernels.lists  # noqa: F401

    assert "lookalike" not in str(numba.config.CACHE_DIR)


def test_kernels_of_other_versions_go_after_a_month(tmp_path):
    old, recent, own = (tmp_path / name for name in ("old", "recent", "own"))
    for folder in (old, recent, own):
        folder.mkdir()
    os.utime(old, (0, 0))
    _cache._remove_old(own)
    assert not old.exists()
    assert recent.exists()


fcntl = pytest.importorskip("fcntl", reason="locks of files as Unix has them")
pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

# One loop for eight sets of types, in an order of its own; says which answers are wrong.
RACE = """
import itertools, random, sys
print("ready", flush=True)
import numpy as np
from lookalike.kernels._jit import kernel

def weigh(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i] * 2

weigh = kernel(weigh)
types = [np.float64, np.float32, np.int64, np.int32, np.uint8]
pairs = list(itertools.product(types, types))
random.Random(int(sys.argv[1])).shuffle(pairs)
wrong = 0
for one, other in pairs[:8]:
    a, b, out = np.arange(50).astype(one), np.arange(50).astype(other), np.zeros(50)
    weigh(a, b, out)
    wrong += not np.array_equal(out, a.astype(float) + b.astype(float) * 2)
print("wrong", wrong)
"""


@pytest.fixture
def start(tmp_path):
    script = tmp_path / "weigh.py"
    script.write_text(RACE)
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LOOKALIKE_COMPILE": "1"}

    def begin(seed):
        words = [sys.executable, str(script), str(seed)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(words, env=env, text=True, **pipes)

    return begin


@pytest.mark.long
def test_every_process_gets_the_loop_for_its_types(start):
    together = [start(seed) for seed in range(4)]
    answers = [process.communicate(timeout=300) for process in together]
    after = [start(seed).communicate(timeout=300) for seed in range(4)]
    for out, err in [*answers, *after]:
        assert out == "ready\nwrong 0\n", err


@pytest.mark.long
def test_a_process_waits_for_its_turn(start, tmp_path):
    start(0).communicate(timeout=300)  # makes the folder
    (lock,) = tmp_path.rglob(LOCK)
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start(1)  # other types: it has to compile
        assert process.stdout.readline() == "ready\n"
        time.sleep(6.0)  # far longer than it takes to reach the loop
        assert process.poll() is None
    assert process.communicate(timeout=300)[0] == "wrong 0\n"


@pytest.mark.long
def test_importing_does_not_wait(start, tmp_path):
    """A process that compiles nothing does not wait for one that does, however long it takes."""
    start(0).communicate(timeout=300)  # makes the folder
    (lock,) = tmp_path.rglob(LOCK)
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LOOKALIKE_COMPILE": "1"}
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        words = [sys.executable, "-c", "import lookalike.kernels.objects; print('there')"]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100)
    assert done.stdout == "there\n", done.stderr


def test_a_process_that_has_waited_is_next(tmp_path):
    greedy, waiting = CompileLock(str(tmp_path)), CompileLock(str(tmp_path))
    rounds, asked, over = [], threading.Event(), threading.Event()

    def compile_one_after_the_other():
        while not over.is_set() and len(rounds) < 200:
            greedy.acquire()
            if len(rounds) == 3:
                asked.set()
            time.sleep(0.03)
            rounds.append(len(rounds))
            greedy.release()

    thread = threading.Thread(target=compile_one_after_the_other)
    thread.start()
    asked.wait()
    before = len(rounds)
    waiting.acquire()
    passed = len(rounds) - before
    over.set()
    waiting.release()
    thread.join()
    assert passed <= 3


def test_threads_of_one_process_share_a_turn(tmp_path):
    turn, other = CompileLock(str(tmp_path)), CompileLock(str(tmp_path))
    turn.acquire()
    waiting = threading.Thread(target=other.acquire)
    waiting.start()  # is in the queue
    second = threading.Thread(target=turn.acquire)
    second.start()
    second.join(10)
    assert not second.is_alive()  # without waiting for the queue
    turn.release()
    assert waiting.is_alive()
    turn.release()
    waiting.join(10)
    assert other.lock.is_locked
    other.release()
    assert not other.lock.is_locked


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes as Unix makes them")
def test_a_forked_process_has_no_turn_of_its_parent(tmp_path):
    turn = CompileLock(str(tmp_path))
    turn.acquire()
    child = os.fork()
    if child == 0:
        os._exit(int(turn.lock.is_locked))
    assert os.waitpid(child, 0)[1] == 0
    assert turn.lock.is_locked
    turn.release()


def test_a_fork_takes_the_lock_of_the_compiler_without_that_of_other_processes():
    calls, held = [], []
    announce = unless_forking(lambda: calls.append(1))

    class Announcing:  # as numba's lock tells who listens that it is taken
        def acquire(self):
            announce()
            held.append(1)

        def release(self):
            held.pop()
            announce()

    lock = Announcing()
    fork = ForkLock(lock)
    fork.acquire()
    assert (calls, held) == ([], [1])
    fork.release()
    assert (calls, held) == ([], [])
    lock.acquire()
    lock.release()
    assert (calls, held) == ([1, 1], [])


def test_no_folder_to_lock_is_no_error(tmp_path):
    turn = CompileLock(str(tmp_path / "gone"))
    (tmp_path / "gone").write_text("a file")
    turn.acquire()
    turn.release()
