"""Kernels are handed to numba when they are called, with whatever they call."""

import pickle
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor, wait

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


def test_listeners_hear_of_the_first_one(monkeypatch):
    heard = []
    monkeypatch.setattr(_jit, "_started", False)
    monkeypatch.setattr(_jit, "when_started", [lambda: heard.append(1)])
    for more in (twice, twice):
        make_inner(more)(4)
    assert heard == [1]


def test_a_kernel_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(lists.keep_pairs)) is lists.keep_pairs


def test_no_thread_calls_a_kernel_whose_parts_are_not_ready(monkeypatch):
    """The second thread comes while the first is at the parts, and waits."""
    outer, began, go = make_inner(make_inner(twice)), threading.Event(), threading.Event()
    make = _jit._make_inner

    def slowly(body):
        began.set()
        go.wait(10)
        make(body)

    monkeypatch.setattr(_jit, "_make_inner", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(outer, 1)
        began.wait(10)
        second = pool.submit(outer, 2)
        assert not wait([second], timeout=0.2).done
        go.set()
        assert (first.result(60), second.result(60)) == (4, 6)
