"""Processes that compile at once do not hand each other the wrong loop."""

import os
import subprocess
import sys
import threading
import time

import pytest

from lookalike.kernels import COMPILED
from lookalike.kernels._one_at_a_time import LOCK, _Turn

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
        time.sleep(6.0)  # far longer than it takes to come to the loop
        assert process.poll() is None
    assert process.communicate(timeout=300)[0] == "wrong 0\n"


@pytest.mark.long
def test_importing_does_not_wait(start, tmp_path):
    """Whoever compiles nothing does not wait for a process that does, however long that takes."""
    start(0).communicate(timeout=300)  # makes the folder
    (lock,) = tmp_path.rglob(LOCK)
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LOOKALIKE_COMPILE": "1"}
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        words = [sys.executable, "-c", "import lookalike.kernels.objects; print('there')"]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=100)
    assert done.stdout == "there\n", done.stderr


def test_who_has_waited_is_next(tmp_path):
    greedy, waiting = _Turn(str(tmp_path)), _Turn(str(tmp_path))
    rounds, asked, over = [], threading.Event(), threading.Event()

    def compile_one_after_the_other():
        while not over.is_set() and len(rounds) < 200:
            greedy.take()
            if len(rounds) == 3:
                asked.set()
            time.sleep(0.03)
            rounds.append(len(rounds))
            greedy.give_back()

    thread = threading.Thread(target=compile_one_after_the_other)
    thread.start()
    asked.wait()
    before = len(rounds)
    waiting.take()
    passed = len(rounds) - before
    over.set()
    waiting.give_back()
    thread.join()
    assert passed <= 3
