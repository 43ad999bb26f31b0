"""Threads that wait for work, kept as long as the process lives.

They are started when they are first wanted and never outnumber what one call may ask for, or the
cores. Whoever has work invites them and goes on working on it alone: an invitation that nobody has
time for costs nothing, so callers cannot wait for each other in a circle. A forked process starts
without threads and gets its own when it needs them. At exit idle ones are sent home.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

NAME = "lookalike-worker"
PATIENCE = 1.0  # seconds that leaving the program waits for a thread at work

Job = Callable[[], None]


class _Workers:
    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.engaged = 0  # jobs that are waiting or at work
        self.closed = False

    def invite(self, job: Job, many: int) -> None:
        with self.lock:
            if self.closed:
                return
            most = max(many, (os.cpu_count() or 1) - 1)
            while len(self.threads) < min(most, self.engaged + many):
                name = f"{NAME}-{len(self.threads)}"
                thread = threading.Thread(target=self.work, name=name, daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # no more threads, or too late for one: those there are do
                    break
                self.threads.append(thread)
            for _ in range(min(many, len(self.threads))):
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
            self.jobs.put(None)
        for thread in threads:
            thread.join(PATIENCE)


_workers = _Workers()


def invite(job: Job, many: int) -> None:
    """Ask some threads to call a function that must not raise; some may come late, or never.

    Parameters
    ----------
    job : callable without arguments
    many : int, how many threads
    """
    _workers.invite(job, many)


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
