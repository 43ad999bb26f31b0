"""Everything that a running service holds."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from lookalike.errors import LookalikeError, message
from lookalike.service.analysis.results import Analyses
from lookalike.service.answers import search
from lookalike.service.catalog import Catalog
from lookalike.service.collection import Collection
from lookalike.service.describe import describe
from lookalike.service.folder_collection import is_index_folder
from lookalike.service.jobs import Jobs
from lookalike.service.limits import Limits
from lookalike.service.metrics import Metrics
from lookalike.service.problems import Refused
from lookalike.service.safety import Access
from lookalike.service.sessions import Sessions
from lookalike.service.store.store import Store
from lookalike.service.tokens import Tokens
from lookalike.service.view import View

__all__ = ["Service"]

FOLLOW = 0.25  # seconds between two looks at the change log
HOUR = 3600.0  # between two looks for sessions that nobody touches


class Service:
    """A store, its collections in memory, sessions and jobs.

    Parameters
    ----------
    address : str or path
        Where the store is.
    limits : Limits, optional
    folder : str or path, optional
        Files below it may be made collections by their path; None: none may.
    access : Access, optional
        Who may use it; by default everybody on this machine.
    """

    def __init__(
        self,
        address: str | os.PathLike[str],
        *,
        limits: Limits | None = None,
        folder: str | os.PathLike[str] | None = None,
        access: Access | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.folder = None if folder is None else Path(os.path.realpath(folder))
        self.store = Store(address)
        self.catalog = Catalog(self.store)
        self.sessions = Sessions(self.store.database)
        self.tokens = Tokens(self.store.database)
        self.access = access or Access()
        self.metrics = Metrics()
        self.jobs = Jobs()
        self.analyses = Analyses(self.jobs)
        self.store_answers = True
        self._stop = threading.Event()
        self._follower: threading.Thread | None = None

    def start(self) -> None:
        """Follow the change log from now on."""
        self._follower = threading.Thread(target=self._follow, name="lookalike-follow", daemon=True)
        self._follower.start()

    def warm(self, name: str) -> None:
        """Have a collection in memory and everything compiled before somebody asks."""
        view = self.catalog.get(name).view
        found = describe(name, view)
        search(view, {"query": {"id": found["start"]}})

    def close(self) -> None:
        """End all jobs, stop following, close the store."""
        self._stop.set()
        self.jobs.close()
        if self._follower is not None:
            self._follower.join()
        self.store.close()

    def _follow(self) -> None:
        swept = float("-inf")
        while not self._stop.wait(FOLLOW):
            try:
                if time.monotonic() - swept > HOUR:
                    self.sessions.sweep()
                    swept = time.monotonic()
                self.catalog.follow()
                self.catalog.save_caches()
                self.store_answers = True
            except LookalikeError:
                self.store_answers = False  # readyz says so; the next look tries again

    def states(self, collection: Collection, view: View) -> dict[str, Any]:
        """Return which spaces of a collection there are, and what is under way."""
        active = self.jobs.of(collection.name)
        repaired = "ready" if view.repaired is not None else "none"
        if repaired == "none" and any(job.kind in ("repair", "hubs") for job in active):
            repaired = "job"
        return {
            "spaces": {"plain": True, "repaired": repaired},
            "jobs": [job.to_dict() for job in active],
        }

    def file_under_folder(self, path: str) -> Path:
        """Return a file by its path below the allowed folder; refuse every other."""
        do = "Upload the file, or start the server with --folder"
        if self.folder is None:
            raise Refused(403, message("path", "a folder to read from", "none allowed", do))
        if "\0" in path:
            raise Refused(422, message("path", "a path", "a NUL character", "Correct the path"))
        whole = Path(os.path.realpath(self.folder / path))
        if not whole.is_relative_to(self.folder):
            needed, found = "a file below the allowed folder", "one outside of it"
            raise Refused(403, message("path", needed, found, do))
        if not whole.is_file() and not is_index_folder(whole):
            raise Refused(404, message("path", "a file", "none", "Check the path"))
        return whole
