"""Jobs: long work in the background, with progress, which can be cancelled."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lookalike._runtime.progress import Cancelled, watching
from lookalike.service.problems import collected, problem_of
from lookalike.service.store.store import NotFound

MAX_JOBS = 500  # that are remembered, so that clients can ask for their results; chosen by hand
ENDED = ("done", "failed", "cancelled")
log = logging.getLogger("lookalike.service")


@dataclass(eq=False)
class Job:
    """Work that takes longer than a request.

    Parameters
    ----------
    id, kind, collection : str
    key : hashable
        Jobs of one kind and key do the same.
    clients : int
        Requests that asked for it, without those that were gone before they had its id.
    """

    id: str
    kind: str
    collection: str
    key: Hashable
    state: str = "queued"
    progress: float | None = None
    text: str = ""
    problem: dict[str, Any] | None = None
    result: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    clients: int = 0
    ended: threading.Event = field(default_factory=threading.Event)
    cancel: threading.Event = field(default_factory=threading.Event)

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON holds it."""
        names = ("id", "kind", "collection", "state", "progress", "text", "problem", "result")
        return {name: getattr(self, name) for name in names}

    def report(self, what: str, done: int, total: int) -> None:
        """Set text and progress."""
        share = done / total if total else None
        # Steps below one percent are not events: a loop may report thousands of times a second.
        if self.text == what and share is not None and self.progress is not None:
            if abs(share - self.progress) < 0.01 and done < total:
                return
        self.text, self.progress = what, share
        self.version += 1

    def change(self, state: str, **values: Any) -> None:
        """Move to another state."""
        # The state last: who sees "done" also sees the result.
        for name, value in values.items():
            setattr(self, name, value)
        self.state = state
        self.version += 1
        if state in ENDED:
            self.ended.set()


class Jobs:
    """The jobs of a server, which run sequentially."""

    def __init__(self) -> None:
        # One worker: each job uses all cores by itself.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lookalike-job")
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def start(
        self, kind: str, collection: str, key: Hashable, work: Callable[[Job], dict[str, Any]]
    ) -> Job:
        """Start a job, or return a running one of the same kind and key.

        Parameters
        ----------
        kind, collection : str
        key : hashable
        work : callable
            Takes the job and returns its result.
        """
        with self._lock:
            # Under the lock: two requests for the same analysis share one job.
            for job in self._jobs.values():
                if (job.kind, job.key) == (kind, key) and job.state not in ENDED:
                    job.clients += 1
                    return job
            job = Job(secrets.token_hex(8), kind, collection, key, clients=1)
            self._jobs[job.id] = job
            while len(self._jobs) > MAX_JOBS:
                self._jobs.popitem(last=False)
        self._pool.submit(self._run, job, work)
        return job

    def get(self, id: str) -> Job:
        """Return a job by its id."""
        job = self._jobs.get(id)
        if job is None:
            who, hint = f"job {id[:32]!r}", "Start it again; each server knows its own jobs only"
            raise NotFound(who, "the id of a job", "none", hint, problem="not found")
        return job

    def of(self, collection: str | None = None) -> list[Job]:
        """Return the queued and running jobs of a collection, or all of them."""
        jobs = [job for job in list(self._jobs.values()) if job.state not in ENDED]
        return [job for job in jobs if collection in (None, job.collection)]

    def failure(self, kind: str, key: Hashable) -> dict[str, Any] | None:
        """Return the problem of the last job that did the same, if it has failed."""
        same = [j for j in list(self._jobs.values()) if (j.kind, j.key) == (kind, key)]
        return same[-1].problem if same else None

    def counts(self) -> dict[str, int]:
        """Return the number of jobs by state."""
        return Counter(job.state for job in list(self._jobs.values()))

    def cancel(self, job: Job) -> None:
        """Cancel a job; its partial result is discarded."""
        job.cancel.set()
        if job.state == "queued":  # a running one stops at its next report of progress
            job.change("cancelled")

    def leave(self, job: Job) -> None:
        """Forget a client that is gone; without any other the job is cancelled."""
        with self._lock:
            job.clients -= 1
            if job.clients <= 0 and job.state not in ENDED:
                self.cancel(job)

    def close(self) -> None:
        """Cancel all jobs and wait for them."""
        for job in self.of():
            self.cancel(job)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, work: Callable[[Job], dict[str, Any]]) -> None:
        if job.cancel.is_set():
            return
        job.change("running")
        try:
            with watching(job.report, job.cancel.is_set), collected() as notes:
                result = work(job)
            result = result | ({"notes": notes} if notes else {})
            job.change("done", progress=1.0, result=result)
        except Cancelled:
            job.change("cancelled")
        except Exception as error:
            # A client asks for the result later: the problem is what it would have been sent.
            status, problem, _ = problem_of(error)
            if status == 500:
                log.exception("job failed", extra={"job": job.kind})
            job.change("failed", problem=problem)
