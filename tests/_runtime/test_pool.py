"""Threads that live as long as the process: shared, bounded, safe after a fork, gone at exit."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

from lookalike._runtime import pool as _pool
from lookalike._runtime.threads import run

FORKS = hasattr(os, "fork")


def threads_used(n_parts, jobs):
    def task(i):
        time.sleep(0.005)
        return threading.current_thread().name

    return set(run(task, [(i,) for i in range(n_parts)], jobs))


def workers():
    return {t for t in threading.enumerate() if t.name.startswith(_pool.NAME)}


def test_threads_are_kept_and_used_again():
    threads_used(6, 3)
    before = workers()
    assert before
    for _ in range(5):
        threads_used(6, 3)
    assert workers() == before


@pytest.mark.parametrize("jobs", [2, 3, 5])
def test_no_more_than_n_jobs_work_at_once(jobs):
    at_once, most, lock = 0, 0, threading.Lock()

    def task(i):
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.004)
        with lock:
            at_once -= 1

    run(task, [(i,) for i in range(8 * jobs)], jobs)
    assert 2 <= most <= jobs


def test_the_caller_works_along():
    assert threading.current_thread().name in threads_used(8, 2)


def test_many_callers_share_few_threads_and_all_finish():
    found, before = {}, len(workers())

    def call(number):
        found[number] = run(lambda i: i + number, [(i,) for i in range(50)], 2)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert found == {number: [i + number for i in range(50)] for number in range(8)}
    assert len(workers()) <= max(before, (os.cpu_count() or 1) - 1, 1)


def test_nested_calls_of_all_callers_finish():
    def outer(i):
        return sum(run(lambda j: j, [(j,) for j in range(4)], 4))

    assert run(outer, [(i,) for i in range(20)], 4) == [6] * 20


def test_an_error_reaches_the_caller_and_the_threads_live_on():
    def task(i):
        raise KeyError(i)

    with pytest.raises(KeyError):
        run(task, [(i,) for i in range(10)], 3)
    assert run(lambda i: i, [(i,) for i in range(10)], 3) == list(range(10))


def test_waiting_threads_hold_on_to_nothing():
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    run(lambda x, i: None, [(thing, i) for i in range(6)], 3)
    del thing
    for _ in range(100):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


@pytest.mark.skipif(not FORKS, reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    threads_used(6, 3)
    child = os.fork()
    if child == 0:
        try:
            fine = not workers() and run(lambda i: i, [(i,) for i in range(20)], 3) == [*range(20)]
            os._exit(0 if fine and len(threads_used(20, 3)) > 1 else 1)
        finally:
            os._exit(2)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        pytest.fail("the forked process hangs")
    assert threads_used(6, 3)


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "import _thread; _thread.interrupt_main()"])
def test_no_thread_keeps_the_program_from_ending(ending):
    code = (
        "import atexit, sys, time\n"
        "from lookalike._runtime.threads import run\n"
        "run(lambda i: time.sleep(0.01), [(i,) for i in range(6)], 3)\n"
        "late = lambda: print(sum(run(lambda i: i, [(i,) for i in range(6)], 3)))\n"
        "atexit.register(late)\n" + ending
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.stdout.strip() == "15"  # work that comes at the very end is done as well
    assert ("KeyboardInterrupt" in ended.stderr) == ("interrupt" in ending)
    assert "Error" not in ended.stderr.replace("KeyboardInterrupt", "")


def test_work_is_done_when_no_thread_can_be_started(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_pool, "_workers", _pool._Workers())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run(lambda i: i, [(i,) for i in range(9)], 3) == list(range(9))
