"""Threads that wait for work, kept as long as the process lives.

They are started when first needed, at most as many as one call asks for or as there are cores. A
caller submits a job and works on it itself: a job that no thread has time for costs nothing, so
callers cannot deadlock by waiting for each other. A forked process starts without threads and gets
its own when it needs them. Idle threads are joined at exit.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

NAME = "lookalike-worker"
MAX_JOIN_SECONDS = 1.0  # at exit, for a thread at work; a kernel call takes well under a second

Job = Callable[[], None]


class _Workers:
    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.engaged = 0  # jobs that are waiting or at work
        # Set at exit: the interpreter no longer starts threads, and the caller works alone.
        self.closed = False

    def submit(self, job: Job, n_threads: int) -> None:
        with self.lock:
            if self.closed:
                return
            most = max(n_threads, (os.cpu_count() or 1) - 1)  # the caller is a thread as well
            # Only if all are busy: a second small call uses the threads of the first.
            while len(self.threads) < min(most, self.engaged + n_threads):
                name = f"{NAME}-{len(self.threads)}"
                thread = threading.Thread(target=self.work, name=name, daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the limit of the system, or at exit: fewer threads will do
                    break
                self.threads.append(thread)
            for _ in range(min(n_threads, len(self.threads))):
                self.engaged += 1
                self.jobs.put(job)

    def work(self) -> None:
        while True:
            job = self.jobs.get()
            if job is None:
                return
            try:
                job()
            finally:
                del job  # what it holds is not kept while this thread waits
                with self.lock:
                    self.engaged -= 1

    def close(self) -> None:
        with self.lock:
            self.closed = True
            threads = list(self.threads)
        for _ in threads:
            self.jobs.put(None)  # each thread takes one and ends
        for thread in threads:
            thread.join(MAX_JOIN_SECONDS)


_workers = _Workers()


def submit(job: Job, n_threads: int) -> None:
    """Let some threads call a function that must not raise; some may start late, or never.

    Parameters
    ----------
    job : callable without arguments
    n_threads : int
    """
    _workers.submit(job, n_threads)


def busy() -> int:
    """Return how many jobs are waiting or at work."""
    return _workers.engaged


def _begin_anew() -> None:
    """Start a forked process without threads: none but the one that forked is in it."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
atexit.register(lambda: _workers.close())
