"""Parts of one task in several threads: order, errors, nesting, BLAS."""

import copy
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike._runtime.threads import blocks, lock_of, look_for_blas, run, single_blas


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
