"""Settings: of a block, of a thread, of the process, and of its workers."""

import os
import subprocess
import sys
import threading

import pytest

import lookalike as la
from lookalike._runtime.config import count_jobs, parse_bytes, settings, show_bytes
from lookalike._runtime.threads import run
from lookalike.errors import InvalidInput


def test_settings_last_as_long_as_their_block():
    before = settings()
    with la.config(memory_limit="10MB", n_jobs=1) as inside:
        assert inside.memory_limit == 10_000_000
        with la.config(n_jobs=3):
            assert count_jobs(None) == 3
        assert count_jobs(None) == 1
    assert settings() == before


def test_settings_of_one_thread_are_not_those_of_another():
    seen = []
    inside, looked = threading.Event(), threading.Event()

    def other():
        inside.wait(5)
        seen.append(settings().memory_limit)
        looked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with la.config(memory_limit="10MB"):
        inside.set()
        assert looked.wait(5)
    thread.join()
    assert seen == [2 * 10**9]


def test_workers_have_the_settings_of_their_caller():
    with la.config(memory_limit="10MB"):
        found = run(lambda i: settings().memory_limit, [(i,) for i in range(4)], 2)
    assert found == [10_000_000] * 4


def test_settings_everywhere_reach_other_threads():
    code = (
        "import threading, lookalike as la; from lookalike._runtime.config import settings;"
        "la.config(memory_limit='10MB', everywhere=True); found = [];"
        "t = threading.Thread(target=lambda: found.append(settings().memory_limit));"
        "t.start(); t.join(); print(found[0])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "10000000"


def test_a_pool_of_processes_limits_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_jobs(None) == 1
    assert count_jobs(2) == 2
    with la.config(n_jobs=3):
        assert count_jobs(None) == 3


def test_joblib_workers_are_not_oversubscribed():
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(count_jobs)(None) for _ in range(2)) == [
            1,
            1,
        ]


def test_settings_survive_an_error():
    before = settings()
    with pytest.raises(RuntimeError), la.config(progress=True):
        raise RuntimeError
    assert settings() == before


@pytest.mark.parametrize(
    ("size", "bytes_"), [("1.5GB", 1.5e9), ("200 kb", 2e5), ("7", 7), (12, 12), ("3M", 3e6)]
)
def test_sizes(size, bytes_):
    assert parse_bytes(size) == bytes_


@pytest.mark.parametrize("size", ["", "much", "-1GB", 0, True, None, "1.2.3MB", float("inf")])
def test_sizes_that_are_none(size):
    with pytest.raises(InvalidInput, match="memory_limit=.*number of bytes"):
        la.config(memory_limit=size)


def test_unknown_settings_are_refused():
    with pytest.raises(InvalidInput, match="'memory'"):
        la.config(memory="1GB")
    with pytest.raises(InvalidInput, match="progress=.*True, False or None"):
        la.config(progress="yes")
    with pytest.raises(InvalidInput, match="n_jobs"):
        la.config(n_jobs=0)


def test_sizes_are_shown_as_a_person_would():
    assert [show_bytes(b) for b in (12, 3.2e9, 5e13)] == ["12 B", "3.2 GB", "50 TB"]


def test_jobs_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert [count_jobs(n) for n in (None, 1, 9, -1, -2, -9)] == [6, 1, 9, 6, 5, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")  # no limit
    assert count_jobs(None) == 3
    with la.config(n_jobs=-2):
        assert count_jobs(None) == 5
    for bad in (0, True, 1.5, "2"):
        with pytest.raises(InvalidInput, match="n_jobs: .*an integer that is not 0"):
            count_jobs(bad)
