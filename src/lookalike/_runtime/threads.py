"""Run serial kernels side by side.

Threads are started when first needed, at most as many as one call asks for or as there are cores,
and kept as long as the process lives; idle ones are joined at exit. A caller submits a job and is
one of the workers: a job that no thread has time for costs nothing, so callers cannot deadlock by
waiting for each other. A forked process starts without threads and gets its own when it needs them.
Work started from inside a worker runs in that worker, so nested calls neither deadlock nor multiply
threads. BLAS is held to one thread all the while, so that n_jobs means what it says.

Ctrl-C and errors stop the work soon: Python cannot break into a running kernel, so long work is cut
by ``blocks``, which looks between two blocks whether the work it belongs to was stopped
(``check_stopped``). A kernel call should take well under a second.
"""

import functools
import itertools
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from lookalike._runtime.config import count_jobs
from lookalike._runtime.progress import Progress, check_cancelled

NAME = "lookalike-worker"

_here = threading.local()
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


class _Workers:
    """Threads that wait for work."""

    def __init__(self) -> None:
        self.lock, self.size = threading.Lock(), 0
        self.pool: ThreadPoolExecutor | None = None

    def submit(self, job: Callable[[], None], n_threads: int, futures: list[Future[None]]) -> None:
        """Let some threads call a function that must not raise; some may start late, or never."""
        with self.lock:
            most = max(n_threads, (os.cpu_count() or 1) - 1)  # the caller is a thread as well
            if self.pool is None or most > self.size:
                if self.pool is not None:
                    self.pool.shutdown(wait=False)  # its threads end when they have nothing to do
                self.pool, self.size = ThreadPoolExecutor(most, NAME), most
            # The limit of the system, or at exit: fewer threads will do, the caller is one.
            with suppress(RuntimeError):
                for _ in range(n_threads):
                    futures.append(self.pool.submit(job))


_workers = _Workers()


class _Stopped(BaseException):
    """Ends a worker whose work was stopped elsewhere; only ``run`` sees it."""


def run(
    task: Callable[..., Any],
    parts: Iterable[tuple[Any, ...]],
    n_jobs: int | None = None,
    what: str = "working",
) -> list[Any]:
    """Call ``task(*part)`` for every part and return the answers in order.

    The first error stops the work: parts not yet begun are dropped, those begun end at their next
    block, and the error is raised here when no thread works on it any more. Ctrl-C does the same.
    """
    todo = list(parts)
    jobs = min(count_jobs(n_jobs), len(todo))
    inside = getattr(_here, "inside", False)
    with single_blas(), Progress(what, len(todo), quiet=inside) as bar:
        if jobs <= 1 or inside:
            answers = []
            for part in todo:
                check_stopped()
                answers.append(task(*part))
                bar.advance()
            return answers
        work, helpers = _Work(task, todo, bar.advance), list[Future[None]]()
        try:
            _workers.submit(work.do, jobs - 1, helpers)
            work.do()
        except BaseException:  # ctrl-c between two steps of this very code
            work.stop.set()
            raise
        finally:  # nothing goes on working for a call that has ended
            begun = [helper for helper in helpers if not helper.cancel()]
            try:
                wait(begun)
            except BaseException:  # ctrl-c: parts that were begun end at their next block
                work.stop.set()
                wait(begun)
                raise
        # A helper that was dropped stays in the queue; it must not keep the caller's arrays alive.
        work.task, work.todo = (lambda *_: None), []
        if work.error is not None:
            error, work.error = work.error, None
            raise error
        return work.answers


class _Work:
    """The parts of one call; each thread that is free takes the next one."""

    def __init__(self, task: Callable[..., Any], todo: list[Any], done: Callable[[], None]) -> None:
        self.task, self.todo, self.done = task, todo, done
        self.answers: list[Any] = [None] * len(todo)
        self.error: BaseException | None = None
        self.stop = threading.Event()
        self.context = copy_context()  # the workers see the caller's settings
        self._numbers = itertools.count()

    def do(self) -> None:
        """Take on parts until none is left or the work is stopped."""
        before = getattr(_here, "inside", False), getattr(_here, "stop", None)
        _here.inside, _here.stop = True, self.stop
        try:
            while not self.stop.is_set():
                part = next(self._numbers)  # atomic: no two threads take the same part
                if part >= len(self.answers):
                    break
                own = self.context.copy()  # a context can be entered by one thread at a time
                own.run(check_cancelled)  # the watcher is known in the caller's context alone
                self.answers[part] = own.run(self.task, *self.todo[part])
                self.done()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = self.error or error  # the first one; others follow from stopping
            self.stop.set()
        finally:
            _here.inside, _here.stop = before


def check_stopped() -> None:
    """End this worker if the work that it belongs to was stopped; for loops without ``blocks``."""
    stop = getattr(_here, "stop", None)
    if stop is not None and stop.is_set():
        raise _Stopped
    check_cancelled()


def blocks(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of at most ``size``; between them the work can be stopped."""
    size = max(1, size)  # a memory limit below one row still takes row by row
    for start in range(0, n, size):
        check_stopped()
        yield slice(start, min(n, start + size))


@functools.cache
def _blas_libraries() -> Any:
    """Find the BLAS libraries once: looking through the process costs more than a small search."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def look_for_blas() -> None:
    """Look for BLAS libraries again, after an import that may have loaded one."""
    _blas_libraries.cache_clear()


@contextmanager
def single_blas() -> Iterator[None]:
    """Hold BLAS to one thread; counted, so that several callers may overlap."""
    global _blas_users, _blas_limit
    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = _blas_libraries().limit(limits=1, user_api="blas")
        _blas_users += 1  # the limit is of the process: the last user of several lifts it
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
                _blas_limit = None


class _Turns:
    """Places for short work; who comes while all are taken waits in the order of coming.

    Callers that answer in less time than Python lets a thread run (5 ms) would otherwise take turns
    at random: one answers ten questions while another waits for its first.
    """

    def __init__(self) -> None:
        self.lock, self.free = threading.Lock(), os.cpu_count() or 1
        self.waiting: deque[threading.Lock] = deque()

    def enter(self) -> None:
        """Take a place, or wait for one."""
        with self.lock:
            if self.free:
                self.free -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self.waiting.append(mine)
        try:
            mine.acquire()
        except BaseException:  # ctrl-c: the place that this caller has, or would get, is not lost
            with self.lock:
                had = mine not in self.waiting
                if not had:
                    self.waiting.remove(mine)
            if had:
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place to the caller that has waited longest."""
        with self.lock:
            if self.waiting:
                self.waiting.popleft().release()
            else:
                self.free += 1


_turns = _Turns()


@contextmanager
def taking_turns(short: bool = True) -> Iterator[None]:
    """Do short work in turn with the other callers; longer work, or work inside of it, at once."""
    if not short or getattr(_here, "has_turn", False):
        yield
        return
    turns = _turns
    turns.enter()
    _here.has_turn = True
    try:
        yield
    finally:
        _here.has_turn = False
        turns.leave()


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """That of Python 3.12: one that takes a lock hangs in a child forked while it is held."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            # Two threads may compute it at the same time; they get equal values.
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_locks_lock = threading.Lock()


def lock_of(thing: Any) -> Any:
    """Return the lock that belongs to an object; the same thread may take it again.

    It is kept beside the object, not in it: a copy has a lock of its own, and neither pickles nor
    saved files know of it.
    """
    with _locks_lock:  # setdefault of a weak dictionary is not atomic
        return _locks.setdefault(thing, threading.RLock())


def _begin_anew() -> None:
    """Start a forked process without threads and locks: only the thread that forked is in it."""
    global _workers, _turns, _locks_lock, _blas_lock
    _workers, _turns = _Workers(), _Turns()
    # New ones: a lock that another thread held at the fork would never be released.
    _locks_lock, _blas_lock = threading.Lock(), threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
