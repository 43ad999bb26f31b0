"""Everything that a running service holds."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import anyio

from lookalike._runtime.config import count_jobs
from lookalike._runtime.progress import watching
from lookalike.errors import LookalikeError
from lookalike.kernels import load_compiler
from lookalike.service.analysis import Analyses
from lookalike.service.answers import describe, first_answer
from lookalike.service.catalog import Catalog
from lookalike.service.collection import Collection
from lookalike.service.fitting import CollectionSettings
from lookalike.service.jobs import Jobs
from lookalike.service.limits import RequestLimits
from lookalike.service.monitoring import Metrics
from lookalike.service.problems import Refused
from lookalike.service.safety import AccessPolicy, TokenStore
from lookalike.service.sessions import Sessions
from lookalike.service.store.store import Head, Store
from lookalike.verbs.source import is_index_folder

FOLLOW_SECONDS = 0.25  # between two reads of the change log: how far servers lag behind
SWEEP_SECONDS = 3600.0  # between two searches for sessions that have expired


class Service:
    """A store, its collections in memory, sessions and jobs.

    Parameters
    ----------
    address : str or path
        Where the store is.
    limits : RequestLimits, optional
    folder : str or path, optional
        Files below it may be made collections by their path; None: none may.
    access : AccessPolicy, optional
        Who may use it; by default every user of this machine.

    Attributes
    ----------
    settles : bool
        Whether loaded tables are frozen for the garbage collector, as in a process that only
        serves: it would visit every cell of every table again and again, and all requests wait
        for it meanwhile.
    """

    def __init__(
        self,
        address: str | os.PathLike[str],
        *,
        limits: RequestLimits | None = None,
        folder: str | os.PathLike[str] | None = None,
        access: AccessPolicy | None = None,
    ) -> None:
        self.limits = limits or RequestLimits()
        self.folder = None if folder is None else Path(os.path.realpath(folder))
        self.store = Store(address)
        self.catalog = Catalog(self.store)
        self.sessions = Sessions(self.store.database)
        self.tokens = TokenStore(self.store.database)
        self.access = access or AccessPolicy()
        self.metrics = Metrics()
        self.jobs = Jobs()
        self.analyses = Analyses(self.jobs)
        self.store_answers = True
        # At least two: on one core a short search need not wait for a long one.
        self.turns = anyio.CapacityLimiter(max(2, count_jobs(-1)))
        self.settles = False
        self._settled: set[tuple[int, int]] = set()  # tables, and what they were fitted to
        self._stop = threading.Event()
        self._follower: threading.Thread | None = None
        self._warmer: threading.Thread | None = None

    def start(self) -> None:
        """Follow the change log from now on."""
        self._follower = threading.Thread(target=self._follow, name="lookalike-follow", daemon=True)
        self._follower.start()

    def warm(self, name: str) -> None:
        """Load a collection, and compute its first answer."""
        first_answer(name, self.catalog.get(name).view)

    def warm_soon(self) -> None:
        """Warm the collection that the page opens on, while the server answers already."""

        def work() -> None:
            load_compiler()  # slow to import, also where all loops are cached
            heads = self.store.heads()
            with contextlib.suppress(LookalikeError), watching(cancelled=self._stop.is_set):
                if heads:
                    self.warm(heads[0].name)

        self._warmer = threading.Thread(target=work, name="lookalike-warm", daemon=True)
        self._warmer.start()

    def close(self) -> None:
        """Cancel all jobs, stop following, close the store."""
        self._stop.set()
        self.jobs.close()
        for thread in (self._follower, self._warmer):
            if thread is not None:
                thread.join()
        self.store.close()

    def _settle(self) -> None:
        """Freeze loaded tables for the garbage collector, when a new one is in memory."""
        loaded = {(one.key, one.view.fitted) for one in self.catalog if one.loaded}
        if self.settles and not loaded <= self._settled:
            gc.unfreeze()  # so that tables of dropped collections are freed
            gc.collect()
            gc.freeze()
            self._settled = loaded

    def _follow(self) -> None:
        swept = float("-inf")
        while not self._stop.wait(FOLLOW_SECONDS):
            try:
                if time.monotonic() - swept > SWEEP_SECONDS:
                    self.sessions.sweep()
                    swept = time.monotonic()
                self.catalog.follow()
                self.catalog.save_caches()
                self._settle()
                self.store_answers = True
            except LookalikeError:
                self.store_answers = False  # readyz reports it; the next round tries again

    def briefs(self) -> list[dict[str, Any]]:
        """Return name, size and measure of every collection, without loading any."""
        return [self._brief(head) for head in self.store.heads()]

    def _brief(self, head: Head) -> dict[str, Any]:
        settings, one = CollectionSettings.of_text(head.settings), self.catalog.get(head.name)
        return {
            "name": head.name,
            "title": settings.title,
            "rows": len(one.view.index) if one.loaded else one.count(),
            "columns": len(settings.aside) + settings.compared,
            "measure": settings.measured,
            "generation": head.generation,
            "created": head.created,
        }

    def document(self, collection: Collection) -> dict[str, Any]:
        """Return the description of a collection, with its spaces and its running jobs."""
        view, active = collection.view, self.jobs.of(collection.name)
        # A job for hubs computes the space as well, see Analyses.hubs.
        repaired = "ready" if view.repaired is not None else "none"
        if repaired == "none" and any(job.kind in ("repair", "hubs") for job in active):
            repaired = "job"
        hubs = self.analyses.known_hubs(collection, view)
        # None: unknown until hubs are counted. Results kept by an earlier version do not say it.
        helps = None if hubs is None else hubs.document.get("reduction_helps")
        spaces = {"plain": True, "repaired": repaired, "reduction_helps": helps}
        jobs = [job.to_dict() for job in active]
        return describe(collection.name, view) | {"spaces": spaces, "jobs": jobs}

    def file_under_folder(self, path: str) -> Path:
        """Return a file by its path below the allowed folder; refuse every other."""
        hint = "Upload the file, or start the server with --folder"
        if self.folder is None:
            raise Refused(403, "path", "a folder to read from", "none allowed", hint)
        if "\0" in path:
            raise Refused(422, "path", "a path", "a NUL character", "Correct the path")
        # Links are followed first: one inside of the folder may lead out of it.
        whole = Path(os.path.realpath(self.folder / path))
        if not whole.is_relative_to(self.folder):
            raise Refused(403, "path", "a file below the allowed folder", "one outside of it", hint)
        if not whole.is_file() and not is_index_folder(whole):
            raise Refused(404, "path", "a file", "none", "Check the path", problem="file not found")
        return whole
