"""Threads that wait for work, kept as long as the process lives.

They are started when first needed, at most as many as one call asks for or as there are cores. A
caller submits a job and works on it itself: a job that no thread has time for costs nothing, so
callers cannot deadlock by waiting for each other. A forked process starts without threads and gets
its own when it needs them. Idle threads are joined at exit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from weakref import WeakSet

NAME = "lookalike-worker"


class _Workers:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.size = 0
        self.pool: ThreadPoolExecutor | None = None
        self.jobs: WeakSet[Future[None]] = WeakSet()

    def submit(self, job: Callable[[], None], n_threads: int) -> None:
        with self.lock:
            most = max(n_threads, (os.cpu_count() or 1) - 1)  # the caller is a thread as well
            if self.pool is None or most > self.size:
                if self.pool is not None:
                    self.pool.shutdown(wait=False)  # its threads end when they have nothing to do
                self.pool, self.size = ThreadPoolExecutor(most, NAME), most
            for _ in range(n_threads):
                try:
                    self.jobs.add(self.pool.submit(job))
                # The limit of the system, or at exit: fewer threads will do, the caller is one.
                except RuntimeError:
                    return


_workers = _Workers()


def submit(job: Callable[[], None], n_threads: int) -> None:
    """Let some threads call a function that must not raise; some may start late, or never.

    Parameters
    ----------
    job : callable without arguments
    n_threads : int
    """
    _workers.submit(job, n_threads)


def busy() -> int:
    """Return how many jobs are waiting or at work."""
    return sum(not job.done() for job in list(_workers.jobs))


def _begin_anew() -> None:
    """Start a forked process without threads: none but the one that forked is in it."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
