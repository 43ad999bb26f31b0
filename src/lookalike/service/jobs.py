"""Jobs: long work in the background, with progress, which can be cancelled."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lookalike._runtime.progress import Cancelled, watching
from lookalike.service.cells import to_json
from lookalike.service.problems import Refused, collected, problem_of
from lookalike.service.store.store import NotFound

# Jobs that are remembered, so that clients can ask for their results, and bytes of these as JSON
# (in memory they are some ten times as large); chosen by hand.
MAX_JOBS, MAX_RESULTS = 500, 64 * 2**20
# Collections with a running job at a time; each holds the neighbor lists of its table in memory.
MAX_RUNNING = 4
# How long a view that no client watches is worked on: longer than a page takes to be loaded again.
GRACE_SECONDS = 30.0
# The same for a script that has asked for it once: it may wait long before it asks again.
PATIENCE_SECONDS = 300.0
ENDED = ("done", "failed", "cancelled")
LATER = {"Retry-After": "10"}
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
    for_view : bool
        Whether it is of use only while a client waits for it.
    seen : float
        When a client last asked for its state, or had a stream of its events open, in monotonic
        seconds.
    size : int
        Bytes of its result as JSON.
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
    for_view: bool = False
    seen: float = 0.0
    size: int = 0
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


Work = Callable[[Job], dict[str, Any]]


class Started(Exception):
    """What was asked for is not known yet: a job computes it."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job


class Jobs:
    """The jobs of a server: those of one collection sequentially, collections in turn."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(MAX_RUNNING, thread_name_prefix="lookalike-job")
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        # By collection, the one that had its turn last at the end.
        self._waiting: OrderedDict[str, deque[tuple[Job, Work]]] = OrderedDict()
        self._busy: set[str] = set()

    def start(
        self, kind: str, collection: str, key: Hashable, work: Work, for_view: bool = False
    ) -> Job:
        """Start a job, or return a running one of the same kind and key.

        Parameters
        ----------
        kind, collection : str
        key : hashable
        work : callable
            Takes the job and returns its result.
        for_view : bool
            Whether the job ends when no client watches it any more.
        """
        with self._lock:
            # Under the lock: two requests for the same analysis share one job.
            for job in self._jobs.values():
                if (job.kind, job.key) == (kind, key) and job.state not in ENDED:
                    job.clients += 1
                    return job
            self._forget(MAX_JOBS - 1)
            if len(self._jobs) >= MAX_JOBS:
                needed, hint = f"fewer than {MAX_JOBS:,} that wait", "Send the request again later"
                raise Refused(503, "jobs", needed, f"{MAX_JOBS:,}", hint, headers=LATER)
            job = Job(secrets.token_hex(8), kind, collection, key, clients=1, for_view=for_view)
            self._jobs[job.id] = job
            job.seen = time.monotonic() + PATIENCE_SECONDS - GRACE_SECONDS
            self._waiting.setdefault(collection, deque()).append((job, work))
            self._give_turns()
        return job

    def _forget(self, most: int) -> None:
        """Forget the oldest jobs that have ended; called under the lock."""
        ended = [job for job in self._jobs.values() if job.state in ENDED]
        size = sum(job.size for job in ended)
        # A single result may be too large: its client has not seen it yet.
        while ended and (len(self._jobs) > most or (size > MAX_RESULTS and len(ended) > 1)):
            oldest = self._jobs.pop(ended.pop(0).id)
            size -= oldest.size

    def _give_turns(self) -> None:
        """Run the next job of each collection that has none running; called under the lock."""
        for collection in [one for one in self._waiting if one not in self._busy]:
            if len(self._busy) >= MAX_RUNNING:
                return
            waiting = self._waiting.pop(collection)
            job, work = waiting.popleft()
            if waiting:
                self._waiting[collection] = waiting  # at the end: others come first
            self._busy.add(collection)
            self._pool.submit(self._run, job, work)

    def end_unwatched(self) -> None:
        """Cancel jobs for views that no client waits for any more."""
        for job in self.of():
            if job.for_view and time.monotonic() > job.seen + GRACE_SECONDS:
                self.cancel(job)

    def get(self, id: str) -> Job:
        """Return a job by its id."""
        job = self._jobs.get(id)
        if job is None:
            who, hint = f"job {id[:32]!r}", "Start it again; each server knows its own jobs only"
            raise NotFound(who, "the id of a job", "none", hint, problem="not found")
        job.seen = time.monotonic()
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
        with self._lock:
            self._waiting.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, work: Work) -> None:
        try:
            if not job.cancel.is_set():
                job.change("running")
                with watching(job.report, job.cancel.is_set), collected() as notes:
                    result = work(job)
                result = result | ({"notes": notes} if notes else {})
                job.change("done", progress=1.0, result=result, size=len(to_json(result)))
        except Cancelled:
            job.change("cancelled")
        except Exception as error:
            # A client asks for the result later: the problem is what it would have been sent.
            status, problem, _ = problem_of(error)
            if status == 500:
                log.exception("job failed", extra={"job": job.kind})
            job.change("failed", problem=problem)
        finally:
            with self._lock:
                self._busy.discard(job.collection)
                self._forget(MAX_JOBS)
                self._give_turns()
