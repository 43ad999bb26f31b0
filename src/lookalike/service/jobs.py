"""Long work in the background, with progress, and with a way to end it."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lookalike._runtime.progress import Cancelled, watching
from lookalike.service.notes import collected
from lookalike.service.problems import problem_of
from lookalike.service.store.store import NotFound

KEPT = 500  # jobs that are remembered
ENDED = ("done", "failed", "cancelled")
log = logging.getLogger("lookalike.service")


@dataclass(eq=False)
class Job:
    """Work that takes longer than a request.

    Parameters
    ----------
    id, kind, collection : str
    key : what makes two jobs the same
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
    ended: threading.Event = field(default_factory=threading.Event)
    cancel: threading.Event = field(default_factory=threading.Event)

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON holds it."""
        names = ("id", "kind", "collection", "state", "progress", "text", "problem", "result")
        return {name: getattr(self, name) for name in names}

    def report(self, what: str, done: int, total: int) -> None:
        """Say how far the work is."""
        share = done / total if total else None
        if self.text == what and share is not None and self.progress is not None:
            if abs(share - self.progress) < 0.01 and done < total:
                return
        self.text, self.progress = what, share
        self.version += 1

    def change(self, state: str, **values: Any) -> None:
        """Move to another state."""
        for name, value in values.items():
            setattr(self, name, value)
        self.state = state
        self.version += 1
        if state in ENDED:
            self.ended.set()


class Jobs:
    """The jobs of a server; they run one after the other.

    Parameters
    ----------
    workers : int
        How many run at once; each uses all cores by itself.
    """

    def __init__(self, workers: int = 1) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="lookalike-job")
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def start(
        self, kind: str, collection: str, key: Hashable, work: Callable[[Job], dict[str, Any]]
    ) -> Job:
        """Start a job, or return the one that does the same already.

        Parameters
        ----------
        kind, collection : str
        key : hashable
            Jobs of one kind and key do the same.
        work : callable
            Takes the job and returns its result.
        """
        with self._lock:
            for job in self._jobs.values():
                if (job.kind, job.key) == (kind, key) and job.state not in ENDED:
                    return job
            job = Job(secrets.token_hex(8), kind, collection, key)
            self._jobs[job.id] = job
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        self._pool.submit(self._run, job, work)
        return job

    def get(self, id: str) -> Job:
        """Return a job by its id."""
        job = self._jobs.get(id)
        if job is None:
            hint = "Start it again; jobs belong to the server that runs them"
            raise NotFound(
                f"job {id[:32]!r}", "a job of this id", "none", hint, problem="not found"
            )
        return job

    def of(self, collection: str, active: bool = True) -> list[Job]:
        """Return the jobs of a collection, those under way or all."""
        found = [job for job in list(self._jobs.values()) if job.collection == collection]
        return [job for job in found if job.state not in ENDED] if active else found

    def failure(self, kind: str, key: Hashable) -> dict[str, Any] | None:
        """Return the problem of the last job that did the same, if it has failed."""
        same = [j for j in list(self._jobs.values()) if (j.kind, j.key) == (kind, key)]
        return same[-1].problem if same else None

    def counts(self) -> dict[str, int]:
        """Return how many jobs are in each state."""
        found: dict[str, int] = {}
        for job in list(self._jobs.values()):
            found[job.state] = found.get(job.state, 0) + 1
        return found

    def cancel(self, job: Job) -> None:
        """End a job; what it has done so far is thrown away."""
        job.cancel.set()
        if job.state == "queued":
            job.change("cancelled")

    def cancel_all(self, collection: str) -> None:
        """End all jobs of a collection."""
        for job in self.of(collection):
            self.cancel(job)

    def close(self) -> None:
        """End all jobs and wait for them."""
        for job in list(self._jobs.values()):
            if job.state not in ENDED:
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
            status, problem, _ = problem_of(error)
            if status == 500:
                log.exception("job failed", extra={"job": job.kind})
            job.change("failed", problem=problem)
