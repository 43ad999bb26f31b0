"""Ctrl-C ends long work within a second or so, and leaves no thread at work behind."""

import json
import subprocess
import sys

import pytest

LIMIT = 60.0  # seconds: a second is usual, a busy machine may need longer; uninterrupted, minutes

# Each scenario runs smaller first, with all loops compiled (the compiler cannot be interrupted);
# then large, and is interrupted by a real signal.
CODE = """
import json, os, signal, sys, threading, time, warnings

warnings.simplefilter("ignore")
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from lookalike._runtime.threads import NAME
from lookalike.clustering import SimilarityClustering
from lookalike.hubness import MutualProximity
from lookalike.kernels.first_use import compile_at_once
from lookalike.leaderboard import compare
from lookalike.measures import ForestProximity, Gower, relieff_weights
from lookalike.prediction import RandomSimilarityForestClassifier

random = np.random.default_rng(0)

def numbers(n):
    return random.random((n, 10))

def mixed(n):
    words = {f"c{j}": random.choice(list("abcdef"), n) for j in range(4)}
    return {f"x{j}": random.random(n) for j in range(4)} | words

def classes(n):
    return random.integers(0, 3, n).astype(str)

SCENARIOS = {
    "forest fit": (200_000, lambda n: ForestProximity(random_state=0).fit(numbers(n))),
    "forest neighbors": (
        30_000,
        lambda n: ForestProximity("ratio", n_estimators=20, random_state=0)
        .fit(numbers(n))
        .kneighbors(),
    ),
    "gower neighbors": (60_000, lambda n: Gower().fit(mixed(n)).kneighbors()),
    "density clusters": (
        60_000,
        lambda n: SimilarityClustering(Gower(), method="density").fit(mixed(n)),
    ),
    "hdbscan clusters": (
        30_000,
        lambda n: SimilarityClustering(Gower(), method="hdbscan").fit(mixed(n)),
    ),
    "mutual proximity": (20_000, lambda n: MutualProximity(Gower()).fit(mixed(n))),
    "relieff": (60_000, lambda n: relieff_weights(mixed(n), classes(n))),
    "similarity forest": (
        40_000,
        lambda n: RandomSimilarityForestClassifier(200, random_state=0).fit(mixed(n), classes(n)),
    ),
    "leaderboard": (20_000, lambda n: compare(mixed(n), sample=n)),
}

jobs, submit = [], ThreadPoolExecutor.submit

def submit_and_record(self, *args):
    jobs.append(submit(self, *args))
    return jobs[-1]

ThreadPoolExecutor.submit = submit_and_record

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

for name, (n, task) in SCENARIOS.items():
    with compile_at_once():
        task(600 if name == "leaderboard" else 5000)
    sent = []
    timer = threading.Timer(0.7, interrupt)
    timer.start()
    try:
        task(n)
        timer.cancel()
        took, left = None, []
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
        timer.join()
        time.sleep(0.05)  # idle threads have just been woken to end
        left = [t.name for t in threading.enumerate()[1:] if not t.name.startswith(NAME)]
        left += ["at work"] * sum(not job.done() for job in jobs)
    print(json.dumps([name, took, left]), flush=True)
"""

NAMES = [line.split('"')[1] for line in CODE.splitlines() if line.startswith('    "')]


@pytest.fixture(scope="module")
def outcomes():
    """Run everything in one process of its own, since compiled kernels take time to load."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return {name: (took, left) for name, took, left in map(json.loads, done.stdout.splitlines())}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("name", NAMES)
def test_long_work_ends_soon_after_ctrl_c(name, outcomes):
    took, left = outcomes[name]
    assert took is not None, "the work was done before it was interrupted"
    assert took < LIMIT
    assert left == []
