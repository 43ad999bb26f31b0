"""All collections of a store: made, found, deleted, and kept in step with other servers."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, TooLarge
from lookalike.index import Index
from lookalike.service.cells import dumps, stored_columns
from lookalike.service.collection import Collection, FolderCollection, settings_of
from lookalike.service.fitting import CollectionSettings, make, name_rows, read_rows
from lookalike.service.limits import RequestLimits
from lookalike.service.notes import collected
from lookalike.service.store.caches import dump, save_index
from lookalike.service.store.store import Head, NotFound, Store, missing_collection, taken_name
from lookalike.table import Table

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_name(name: str) -> str:
    """Return the name of a collection, or say what it may look like."""
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
    stem = re.split(
        r"\.(?:csv|tsv|txt|jsonl?|ndjson|parquet|pq|arrow|feather|ipc|xlsx|lookalike)\b", text
    )[0]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:64].replace("..", ".")
    return name or "table"


def check_size(table: Table, limits: RequestLimits) -> None:
    """Refuse a table that is larger than one collection may be."""
    columns = len(table.columns) + len(table.aside)
    for what, count, most in (
        ("rows", len(table), limits.rows),
        ("columns", columns, limits.columns),
    ):
        if count > most:
            hint = "Split the table, or start the server with larger limits"
            raise TooLarge("collection", f"at most {most:,} {what}", f"{count:,}", hint)


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
        """Return a collection that was asked for before, without a look into the store."""
        return self._known.get(name)

    def get(self, name: str) -> Collection:
        """Return a collection by its name."""
        known = self.known(name)
        if known is not None:
            return known
        if not NAME.fullmatch(name):
            raise missing_collection(name[:80])
        return self._enter(self.store.head(name))

    def _enter(self, head: Head) -> Collection:
        with self._lock:
            known = self._known.get(head.name)
            if known is None or known.key != head.key:
                folder = CollectionSettings.of_text(head.settings).source.get("folder")
                kind = Collection if folder is None else FolderCollection
                known = self._known[head.name] = kind(self.store, head)
            return known

    def heads(self) -> list[Head]:
        """Return what the store knows about every collection."""
        return self.store.heads()

    def create(
        self,
        name: str,
        source: Any,
        settings: CollectionSettings,
        limits: RequestLimits,
        *,
        instead: bool = False,
    ) -> Collection:
        """Read rows from a file or records, fit an index, and keep both.

        Parameters
        ----------
        name : str
        source : path, list of records, table, or an index that is kept in one file
        settings : CollectionSettings
        limits : RequestLimits
        instead : bool
            Whether it takes the place of the collection of this name, which stays as it is unless
            everything here succeeds.
        """
        check_name(name)
        if not instead:
            self._check_free(name)
        with collected():
            table, ids, settings = read_rows(source, settings)
            check_size(table, limits)
            measure, reason = make(settings, table)
            settings = replace(
                settings,
                reason=reason,
                measured=type(measure).__name__,
                compared=len(table.columns),
            )
            index = Index(measure, id_column=settings.names)
            index.fit(name_rows(table, ids, settings.names))
        columns = stored_columns(table)
        names = list(columns)
        records = [
            (dumps(id), dumps(dict(zip(names, cells, strict=True))))
            for id, cells in zip(ids, zip(*columns.values(), strict=True), strict=True)
        ]
        head = self.store.create(
            name, settings.to_text(), dump(table.schema), records, instead=instead
        )
        save_index(self.store.database, head.key, 1, 1, index)
        return self._enter(head)

    def open_folder(self, name: str, folder: Any, settings: CollectionSettings) -> Collection:
        """Make the index in a folder of shards a collection; its rows stay where they are.

        Parameters
        ----------
        name : str
        folder : path
        settings : CollectionSettings
        """
        check_name(name)
        self._check_free(name)
        with collected():
            index = Index.open(folder)
            settings = settings_of(index, settings, folder)
        head = self.store.create(name, settings.to_text(), dump(index.schema_), [])
        return self._enter(head)

    def _check_free(self, name: str) -> None:
        if name in {head.name for head in self.heads()}:
            raise taken_name(name)

    def delete(self, name: str) -> None:
        """Remove a collection for good; what is in a folder of shards stays there."""
        self.store.delete(name)
        with self._lock:
            self._known.pop(name, None)

    def follow(self) -> None:
        """Take in what other servers have written, in every collection that is in memory."""
        newest = self.store.generations()
        for collection in self:
            if collection.key not in newest:
                with self._lock:
                    if self._known.get(collection.name) is collection:
                        del self._known[collection.name]
                self.lag.pop(collection.name, None)
                continue
            if not collection.loaded:
                continue
            behind = newest[collection.key] - collection.view.generation
            self.lag[collection.name] = max(0, behind)
            if behind > 0:
                try:
                    collection.follow()
                except NotFound:
                    continue
                self.lag[collection.name] = 0

    def save_caches(self, only_old: bool = True) -> list[str]:
        """Write the caches of collections that have changed much; return their names."""
        saved = []
        for collection in self:
            if collection.loaded and (collection.cache_is_old or not only_old):
                try:
                    collection.save_cache()
                except LookalikeError:
                    continue  # a cache is not worth an error; the next look tries again
                saved.append(collection.name)
        return saved


def settings_from(
    options: Mapping[str, Any], title: str, source: Mapping[str, str]
) -> CollectionSettings:
    """Return settings from the options of a request or of the command line."""
    missing: Sequence[Any] = options.get("missing") or []
    return CollectionSettings(
        title=str(options.get("title") or title),
        measure=str(options.get("measure") or "auto"),
        kinds=dict(options.get("kinds") or {}),
        missing=list(missing),
        encoding=options.get("encoding"),
        delimiter=options.get("delimiter"),
        id_column=options.get("id_column"),
        label_column=options.get("label_column"),
        source=dict(source),
    )
