"""Run serial kernels side by side.

A pool is made for each call and gone after it: nothing is left over that a fork could break or that
several Python threads could fight about (making one costs about 0.1 ms). Work started from inside a
worker runs in that worker, so nested calls neither deadlock nor multiply threads. BLAS is held to
one thread all the while, so that n_jobs means what it says.

Ctrl-C and errors stop the work soon: Python cannot break into a running kernel, so long work is cut
by ``blocks``, which looks between two blocks whether the work it belongs to was stopped
(``check_stopped``). A kernel call should take well under a second.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any

from lookalike._config import count_jobs
from lookalike._progress import Progress, check_cancelled

__all__ = ["blocks", "check_stopped", "lock_of", "run", "single_blas"]

_here = threading.local()
_numbers = itertools.count()
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


class _Stopped(BaseException):
    """Ends a worker whose work was stopped elsewhere; nobody but ``run`` sees it."""


def run(
    task: Callable[..., Any],
    parts: Iterable[tuple[Any, ...]],
    n_jobs: int | None = None,
    what: str = "working",
) -> list[Any]:
    """Call ``task(*part)`` for every part and return the answers in order.

    The first error stops the work: parts not yet begun are dropped, those begun end at their next
    block, and the error is raised here once all threads are gone. Ctrl-C does the same.
    """
    todo = list(parts)
    jobs = min(count_jobs(n_jobs), len(todo))
    if jobs <= 1 or getattr(_here, "inside", False):
        quiet = getattr(_here, "inside", False)
        with single_blas(), Progress(what, len(todo), quiet=quiet) as bar:
            answers = []
            for part in todo:
                check_stopped()
                answers.append(task(*part))
                bar.advance()
            return answers

    context = copy_context()  # the workers see the caller's settings
    name = f"lookalike-{next(_numbers)}"
    stop = threading.Event()

    def inside(*part: Any) -> Any:
        _here.inside, _here.stop = True, stop
        check_stopped()
        own = context.copy()
        own.run(check_cancelled)  # whoever watches the caller is known in its context alone
        return own.run(task, *part)

    with (
        single_blas(),
        Progress(what, len(todo)) as bar,
        ThreadPoolExecutor(jobs, thread_name_prefix=name) as pool,
    ):
        try:
            futures = [pool.submit(inside, *part) for part in todo]
            for future in futures:
                future.add_done_callback(lambda _: bar.advance())
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        except BaseException:  # an error or ctrl-c: leaving the block waits for the threads
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            # Ctrl-c may have come while a thread was being started: the pool does not know it yet.
            for thread in threading.enumerate():
                if thread.name.startswith(f"{name}_"):
                    thread.join()
            raise


def check_stopped() -> None:
    """End this worker if the work that it belongs to was stopped; for loops without ``blocks``."""
    stop = getattr(_here, "stop", None)
    if stop is not None and stop.is_set():
        raise _Stopped
    check_cancelled()


def blocks(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of at most ``size``; between them the work can be stopped."""
    for start in range(0, n, max(1, size)):
        check_stopped()
        yield slice(start, min(n, start + max(1, size)))


@cache
def _blas_libraries() -> Any:
    """Find the BLAS libraries once: looking through the process costs more than a small search."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def single_blas() -> Iterator[None]:
    """Hold BLAS to one thread; counted, so that several callers may overlap."""
    global _blas_users, _blas_limit
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _blas_libraries().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
                _blas_limit = None


_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()


def lock_of(thing: Any) -> Any:
    """Return the lock that belongs to an object; the same thread may take it again.

    It is kept beside the object, not in it: a copy has a lock of its own, and neither pickles nor
    saved files know of it.
    """
    with _locks_lock:
        return _locks.setdefault(thing, threading.RLock())


def _forget_locks() -> None:
    """Start a forked process without locks: the threads that held them are not in it."""
    global _locks_lock, _blas_lock
    _locks_lock, _blas_lock = threading.Lock(), threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
