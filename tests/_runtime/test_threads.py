"""Parts of one task in several threads: order, errors, nesting, BLAS.

The threads live as long as the process: shared, bounded, safe after a fork, gone at exit.
"""

import copy
import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike._runtime import threads
from lookalike._runtime.threads import (
    blocks,
    lock_of,
    look_for_blas,
    run,
    single_blas,
    taking_turns,
)


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


def test_threads_see_the_array_they_were_given():
    array = np.zeros(100)

    def fill(i):
        array[i * 10 : (i + 1) * 10] = i

    run(fill, [(i,) for i in range(10)], 4)
    assert_array_equal(array, np.repeat(np.arange(10), 10))


def test_blocks_cover_a_range_and_end_with_the_work():
    assert list(blocks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(blocks(2, 0)) == [slice(0, 1), slice(1, 2)]
    assert list(blocks(0, 3)) == []
    begun = threading.Event()

    def task(i):
        if i == 1:
            assert begun.wait(60)
            raise KeyError("stop")
        for _ in blocks(10**9, 1):  # ends because the other part fails
            begun.set()

    with pytest.raises(KeyError, match="stop"):
        run(task, [(0,), (1,)], 2)


def test_an_object_has_one_lock_and_its_copy_another():
    class Thing:
        pass

    thing = Thing()
    with lock_of(thing), lock_of(thing):  # the same thread may take it again
        assert lock_of(thing) is lock_of(thing)
    assert lock_of(copy.copy(thing)) is not lock_of(thing)


FORKS = hasattr(os, "fork")


def threads_used(n_parts, jobs):
    def task(i):
        time.sleep(0.005)
        return threading.current_thread().name

    return set(run(task, [(i,) for i in range(n_parts)], jobs))


def workers():
    return {t for t in threading.enumerate() if t.name.startswith(threads.NAME)}


def test_threads_are_kept_and_used_again():
    threads_used(6, 3)
    before = workers()
    assert before
    for _ in range(5):
        threads_used(6, 3)
    assert workers() == before


@pytest.mark.parametrize("jobs", [2, 3, 5])
def test_no_more_than_n_jobs_work_concurrently(jobs):
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

    monkeypatch.setattr(threads, "_workers", threads._Workers())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run(lambda i: i, [(i,) for i in range(9)], 3) == list(range(9))


def test_callers_of_short_work_take_turns_in_the_order_of_coming(monkeypatch):
    turns = threads._Turns()
    turns.free = 1
    monkeypatch.setattr(threads, "_turns", turns)
    order = []

    def work(number):
        with taking_turns():
            with taking_turns():  # inside of it: at once
                order.append(number)

    callers = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    with taking_turns():
        for number, caller in enumerate(callers):
            caller.start()
            while len(turns.waiting) <= number:
                time.sleep(0.001)
        assert not order
        with taking_turns(short=False):
            pass
    for caller in callers:
        caller.join()
    assert order == list(range(6))
    assert turns.free == 1


def test_a_caller_that_is_stopped_while_it_waits_leaves_its_place(monkeypatch):
    turns = threads._Turns()
    turns.free = 0

    class Stopping:
        """A lock whose second holder is stopped by Ctrl-C."""

        def __init__(self):
            self.taken = False

        def acquire(self):
            if self.taken:
                raise KeyboardInterrupt
            self.taken = True

        def release(self):
            pass

    lock = turns.lock
    monkeypatch.setattr(threads.threading, "Lock", Stopping)
    with pytest.raises(KeyboardInterrupt):
        turns.enter()
    assert not turns.waiting
    assert turns.free == 0
    # The place was given to the caller just before it was stopped: it goes to the next.
    monkeypatch.setattr(Stopping, "acquire", lambda self: given(self))

    def given(mine):
        if mine.taken:
            with lock:
                turns.waiting.clear()
            raise KeyboardInterrupt
        mine.taken = True

    with pytest.raises(KeyboardInterrupt):
        turns.enter()
    assert turns.free == 1
