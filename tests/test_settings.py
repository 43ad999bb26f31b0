"""Settings, parameters, threads, progress, ragged rows: the rooms everybody uses."""

import io
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike._runtime import progress as _progress
from lookalike._runtime.config import count_jobs, parse_bytes, settings, show_bytes
from lookalike._runtime.threads import look_for_blas, run, single_blas
from lookalike.columns.ragged import Ragged
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


def test_answers_come_in_order_from_any_number_of_threads():
    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0)
        return i * i

    parts = [(i,) for i in range(20)]
    assert run(slow_first, parts, 1) == run(slow_first, parts, 4) == [i * i for i in range(20)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_error_is_raised_and_the_rest_dropped(jobs):
    done = []

    def task(i):
        if i == 3:
            raise KeyError("three")
        time.sleep(0.001)
        done.append(i)

    with pytest.raises(KeyError, match="three"):
        run(task, [(i,) for i in range(500)], jobs)
    assert len(done) < 400


def test_nested_work_stays_in_its_worker():
    def outer(i):
        return run(lambda j: threading.current_thread().name, [(j,) for j in range(3)], 4)

    for names in run(outer, [(0,), (1,)], 2):
        assert len(set(names)) == 1


def test_blas_is_given_back():
    from threadpoolctl import threadpool_info

    def threads():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    look_for_blas()  # tests before this one may have loaded libraries that bring their own
    before = threads()
    with single_blas(), single_blas():
        assert set(threads()) == {1}
    assert threads() == before


def test_a_bar_appears_only_on_long_work(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with la.config(progress=True):
        run(lambda i: None, [(i,) for i in range(5)], 1, "quick work")
        assert stream.getvalue() == ""
        monkeypatch.setattr(_progress, "PATIENCE", 0.0)
        run(lambda i: time.sleep(0.01), [(i,) for i in range(5)], 1, "long work")
    assert "long work" in stream.getvalue()
    length = len(stream.getvalue())
    with la.config(progress=False):
        run(lambda i: time.sleep(0.01), [(i,) for i in range(5)], 1, "silent work")
    assert len(stream.getvalue()) == length


@given(rows=st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=4)), max_size=6))
def test_ragged_rows_can_be_cut_in_any_way(rows):
    ragged = Ragged.of(rows, np.int64)
    n = len(rows)
    assert len(ragged) == n

    def content(part):
        return [None if part.missing[i] else part.row(i).tolist() for i in range(len(part))]

    assert content(ragged) == rows
    for at in (slice(1, None), slice(0, 0), slice(None, None, -1), np.arange(n)[::2]):
        assert content(ragged[at]) == [rows[i] for i in np.arange(n)[at]]
    mask = np.arange(n) % 2 == 1
    assert content(ragged[mask]) == [rows[i] for i in np.flatnonzero(mask)]


def test_kernels_run_uncompiled():
    """One switch turns compiling off; kernels with hand-made vector code use their plain twin."""
    code = (
        "from lookalike.kernels._jit import COMPILED; assert not COMPILED\n"
        "import numpy as np\n"
        "from lookalike.measures import Vector\n"
        "x = np.random.default_rng(0).random((30, 9))\n"
        "print(Vector().fit(x).kneighbors(n_neighbors=2)[1].tolist())\n"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code],
        env={"LOOKALIKE_COMPILE": "0", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    x = np.random.default_rng(0).random((30, 9))
    from lookalike.measures import Vector

    compiled = Vector().fit(x).kneighbors(n_neighbors=2)[1]
    assert plain.stdout.strip() == str(compiled.tolist())


def test_threads_see_the_array_they_were_given():
    array = np.zeros(100)

    def fill(i):
        array[i * 10 : (i + 1) * 10] = i

    run(fill, [(i,) for i in range(10)], 4)
    assert_array_equal(array, np.repeat(np.arange(10), 10))
