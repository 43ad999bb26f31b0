"""Processes that compile concurrently do not give each other the wrong loop."""

import os
import subprocess
import sys
import threading
import time

import pytest

from lookalike.kernels import COMPILED
from lookalike.kernels._cache import LOCK, CompileLock

fcntl = pytest.importorskip("fcntl", reason="locks of files as Unix has them")
pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

# One loop for eight sets of types, in an order of its own; says which answers are wrong.
CODE = """
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
    script.write_text(CODE)
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


def test_no_folder_to_lock_is_no_error(tmp_path):
    turn = CompileLock(str(tmp_path / "gone"))
    (tmp_path / "gone").write_text("a file")
    turn.acquire()
    turn.release()
