"""Kernels are given to numba when they are called, with whatever they call."""

import pickle
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lookalike.kernels import COMPILED, _jit, lists

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

IMPORT = """
import importlib, pkgutil, sys
import lookalike.kernels as kernels
for found in pkgutil.iter_modules(kernels.__path__):
    importlib.import_module(f"lookalike.kernels.{found.name}")
assert not {"numba", "llvmlite"} & set(sys.modules)
"""


def test_no_kernel_loads_numba_before_it_is_called():
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@_jit.inline
def twice(x):
    return 2 * x


other = types.ModuleType("other")
other.twice = twice


@_jit.kernel
def count_down(n):
    return 0 if n == 0 else 1 + count_down(n - 1)


@_jit.kernel
def add_up(values):
    return sum([other.twice(v) for v in values]) + count_down(3)


def make_inner(more):
    @_jit.kernel
    def inner(x):
        return more(x) + 1

    return inner


@pytest.fixture(autouse=True)
def nothing_is_written(monkeypatch):
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)


def test_what_a_kernel_calls_is_made_with_it():
    assert not add_up.overloads
    assert add_up(np.array([1, 2])) == 9
    assert len(add_up.overloads) == 1
    assert add_up.__name__ == "add_up"
    assert make_inner(twice)(4) == 9


def test_a_kernel_inside_another_is_part_of_it():
    inner = make_inner(twice)
    assert make_inner(inner)(4) == 10
    assert not inner.overloads  # nothing that Python could call
    assert inner(4) == 9
    assert len(inner.overloads) == 1


def test_listeners_hear_of_the_compiler(monkeypatch):
    heard = []
    monkeypatch.setattr(_jit, "when_compiling", [lambda: heard.append(1)])
    loop = make_inner(twice)
    assert not heard
    loop(4)
    assert heard
    before = len(heard)
    loop(5)  # compiled for these types
    assert len(heard) == before


def test_a_kernel_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(lists.keep_pairs)) is lists.keep_pairs


def test_threads_that_meet_make_one_kernel():
    loop, begin = make_inner(make_inner(twice)), threading.Barrier(8)

    def call(x):
        begin.wait(10)
        return loop(x), loop.ready()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(call, range(8)))
    assert [answer for answer, _ in answers] == [2 * x + 2 for x in range(8)]
    assert len({id(made) for _, made in answers}) == 1


def test_no_name_of_a_module_is_replaced():
    add_up(np.array([1, 2]))
    assert type(twice) is type(count_down) is _jit.Deferred
    assert other.twice is twice
