"""A collection: rows in the store, and an index of them in memory that follows the change log.

Readers see a ``View``: a generation and its index. Views are immutable; a write makes the next
one, has it stored, and only then replaces the old.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from lookalike.errors import InvalidInput, LookalikeError, Param, suggest
from lookalike.index import Index
from lookalike.index.shards.from_files import sample_positions
from lookalike.service.cells import dumps, plain_id, read_stored, store_record
from lookalike.service.fitting import CollectionSettings, build_index, name_rows, settle, stored_ids
from lookalike.service.notes import collected
from lookalike.service.store.caches import dump, load_index, parse_schema, save_index
from lookalike.service.store.store import Changed, Conflict, Head, Store, missing_collection
from lookalike.service.view import TextSearch, View, apply_changes
from lookalike.table import Table

POLL_SECONDS = 0.02  # between two reads of the change log, for a generation that is waited for
# The cache is written again when as many rows have changed; both chosen by hand. Loading replays
# the changes since, so that fewer are not worth writing the whole index.
MIN_CHANGED_SHARE, MIN_CHANGED_ROWS = 0.1, 1_000


class TooFarBehind(InvalidInput):
    """The generation that was asked for has not been read by this server yet."""


class Collection:
    """One collection of a store, in memory once it is asked for.

    Parameters
    ----------
    store : Store
    head : Head
    """

    def __init__(self, store: Store, head: Head) -> None:
        self.store, self.key, self.name = store, head.key, head.name
        self._lock = threading.RLock()
        self._view: View | None = None
        self._cached = 0  # rows that had changed when the cache was written
        self.texts = TextSearch()
        self.last_load = ""  # how the index came into memory, for the log

    # -- reading -----------------------------------------------------------------------------------

    @property
    def loaded(self) -> bool:
        """Whether the index is in memory."""
        return self._view is not None

    @property
    def view(self) -> View:
        """The newest view; read from the store when it is first asked for."""
        if self._view is None:
            with self._lock:
                # Asked again under the lock: the thread before this one may have loaded it.
                if self._view is None:
                    self._set(self._load())
        assert self._view is not None
        return self._view

    def count(self) -> int:
        """Return the number of live rows, from the store: the index need not be loaded."""
        return self.store.count(self.key)

    def at_least(self, generation: int | None, patience: float) -> View:
        """Return a view of a generation or a later one; wait a little for it."""
        view, end = self.view, time.monotonic() + patience
        if generation is None or view.generation >= generation:
            return view
        while (view := self.follow()).generation < generation:
            if time.monotonic() >= end:
                who, hint = Param("at_least", generation), "Send the request again in a second"
                raise TooFarBehind(who, "this generation", str(view.generation), hint)
            time.sleep(POLL_SECONDS)
        return view

    def follow(self) -> View:
        """Apply the changes that other servers have written since."""
        self.view  # noqa: B018  loaded before the lock is taken: loading may be long
        with self._lock:
            # Read under the lock: another thread may have moved the view on meanwhile, and changes
            # since an older view would then be applied a second time.
            view = self.view
            head, changed = self.store.changed(self.key, view.generation)
            if head is None:
                raise missing_collection(self.name)
            after = self._caught_up(view, head, changed)
            self._set(after, [json.loads(id) for id in changed.deleted], stored_ids(changed.added))
            return after

    def _caught_up(self, view: View, head: Head, changed: Changed) -> View:
        if head.generation <= view.generation:
            return view
        if head.fitted != view.fitted:
            return self._load()
        return apply_changes(view, head.generation, changed)

    def _load(self) -> View:
        """Make the index: from the cache and the changes since, or by fitting it again."""
        head = self.store.head(self.name, self.key)
        settings, schema = CollectionSettings.of_text(head.settings), parse_schema(head.schema)
        found = load_index(self.store.database, self.key, head.fitted)
        if isinstance(found, str):
            self.last_load = f"fitted again: {found}"
            index = build_index(self.store.rows_at(self.key, head.fitted), schema, settings)
            generation = head.fitted
            self._cached = -MIN_CHANGED_ROWS  # so that the cache counts as old
        else:
            self.last_load = "read from the cache"
            generation, index = found
        # How many changes the cached index has applied since the fit, only the change log knows.
        moved = self.store.moved(self.key, head.fitted, generation)
        view = View(generation, head.fitted, head.created, settings, schema, index, changed=moved)
        newest, changed = self.store.changed(self.key, generation)
        if newest is None or newest.fitted != head.fitted:
            return self._load()  # fitted by another server meanwhile
        return apply_changes(view, newest.generation, changed)

    def _set(self, view: View, deleted: Sequence[Any] = (), added: Sequence[Any] = ()) -> None:
        before, self._view = self._view, view
        if before is None or before.fitted != view.fitted:
            self.texts.clear()  # columns may be read as other kinds now
        else:
            self.texts.follow(view, deleted, added)

    # -- writing -----------------------------------------------------------------------------------

    def add(self, records: Sequence[Mapping[str, Any]]) -> tuple[list[Any], int]:
        """Add rows, all or none; return their ids and the generation."""
        return self._write("add", [], records)

    def replace(self, id: Any, record: Mapping[str, Any]) -> int:
        """Replace a row; it keeps its id."""
        return self._write("replace", [id], [record])[1]

    def remove(self, ids: Sequence[Any]) -> int:
        """Delete rows, all or none."""
        return self._write("delete", ids, [])[1]

    def _write(
        self, kind: str, deleted: Sequence[Any], records: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Any], int]:
        """Make a change durable, then show it: readers never see what is not on the disk."""
        self.view  # noqa: B018  loaded before the transaction begins: loading may be long
        with self._lock:
            with self.store.turn(self.key, self.name) as turn:
                view = self.view
                if turn.head.generation > view.generation:
                    changed = turn.changed(view.generation)
                    view = self._caught_up(view, turn.head, changed)
                    self.texts.clear()  # it has not followed the changes of the other server
                view.require(deleted)
                if not records and len(view.index) <= len(deleted):
                    # A measure cannot be fitted to no rows.
                    who, hint = (
                        f"collection {self.name!r}",
                        "Delete the collection, or add a row first",
                    )
                    raise InvalidInput(who, "at least one row", "none left", hint)
                # A row that replaces another has its id.
                ids = deleted if kind == "replace" else _new_ids(view, records, turn.head.next_row)
                after = view.moved(turn.generation, deleted, _complete(view, records, ids))
                turn.remove([dumps(id) for id in deleted])
                if kind != "delete":
                    turn.add(_to_store(after, ids))
                turn.finish(kind, max(len(deleted), len(records)))
            self._set(after, deleted, ids)
        return list(ids), after.generation

    def refit(self, make: Callable[[View], View]) -> View:
        """Fit the measure again while the old one serves, then replace it.

        Parameters
        ----------
        make : callable
            Takes a view and returns one whose index is fitted to the same rows; its settings and
            schema may be others.
        """
        before = self.view
        fitted = make(before)  # outside of the lock and of the transaction: it may take minutes
        with self._lock:
            with self.store.turn(self.key, self.name) as turn:
                if turn.head.fitted != before.fitted:
                    hint = "Send the request again; another refit was faster"
                    raise Conflict("measure", "the measure it began with", "another one", hint)
                # Rows that were written meanwhile are added to the new index.
                changed = turn.changed(before.generation)
                after = apply_changes(fitted, turn.generation, changed)
                after = replace(after, fitted=before.generation)
                turn.refit(before.generation, after.settings.to_text(), dump(after.schema))
                turn.finish("fit", len(before.index))
            self._set(after)
        return after

    def set_repaired(self, view: View, repaired: Index) -> None:
        """Keep the space with reduced hubness that was computed from a view, brought up to date."""
        with self._lock:
            newest = self.view
            if newest.fitted != view.fitted:
                return  # of another measure by now
            if newest.generation > view.generation:
                _, changed = self.store.changed(self.key, view.generation)
                alone = replace(view, index=repaired, repaired=None)
                repaired = apply_changes(alone, newest.generation, changed).index
            self._set(replace(newest, repaired=repaired))

    # -- the cache ---------------------------------------------------------------------------------

    @property
    def cache_is_old(self) -> bool:
        """Whether so many rows have changed that the cache is worth writing again."""
        if (view := self._view) is None:
            return False
        enough = max(MIN_CHANGED_ROWS, MIN_CHANGED_SHARE * len(view.index))
        return view.changed - self._cached >= enough

    def save_cache(self) -> None:
        """Write the index beside the rows, so that the next start need not fit it."""
        view = self.view
        self._cached = view.changed
        save_index(self.store.database, self.key, view.generation, view.fitted, view.index)


# -- parts -----------------------------------------------------------------------------------------


def _new_ids(view: View, records: Sequence[Mapping[str, Any]], start: int) -> list[Any]:
    column = view.settings.id_column
    if column is None:
        return list(range(start, start + len(records)))
    ids = [plain_id(record.get(column), row, column) for row, record in enumerate(records)]
    seen: set[Any] = set()
    for id in ids:
        if id in seen or id in view.index:
            hint = "PUT .../rows/{id} replaces a row"
            found = f"{id!r:.80} " + ("twice" if id in seen else "again, which exists already")
            raise Conflict(Param("id_column", column), "new ids", found, hint)
        seen.add(id)
    return ids


def _complete(
    view: View, records: Sequence[Mapping[str, Any]], ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return records with every column and their ids; columns they do not name are missing."""
    columns, own = [*view.schema.kinds, *view.schema.aside], view.settings.id_column
    complete = []
    for record, id in zip(records, ids, strict=True):
        for name in record:
            # A mistyped name would otherwise be a missing cell that is never noticed.
            if name not in columns and name != own:
                hint = suggest(str(name), sorted(columns))
                raise InvalidInput("row", "columns of the table", repr(name)[:80], hint)
        if own is not None and record.get(own, id) != id:
            hint = "Leave it out, or make it the same"
            raise InvalidInput(f"row {id!r}", "its own id", f"{record[own]!r:.80}", hint)
        complete.append({name: record.get(name) for name in columns} | {view.settings.names: id})
    return complete


def _to_store(view: View, ids: Sequence[Any]) -> list[tuple[str, str]]:
    """Return rows of a view as the store keeps them: as they were read, not as they were sent."""
    pairs: list[tuple[str, str]] = []
    for id, record in zip(ids, view.index.records(ids), strict=True):
        cells = {name: cell for name, cell in record.items() if name != view.settings.names}
        pairs.append((dumps(id), dumps(store_record(cells, view.schema))))
    # Rows that cannot be read back are refused now: the next start could not load any row.
    try:
        with collected():
            read_stored([json.loads(record) for _, record in pairs], view.schema)
    except (LookalikeError, TypeError, ValueError) as error:
        hint = "Use plain numbers, texts, and lists of them"
        raise InvalidInput("row", "cells that can be stored", "others", hint) from error
    return pairs


FOLDER = "folder"


def settings_of(
    index: Index, settings: CollectionSettings, folder: str | os.PathLike[str]
) -> CollectionSettings:
    """Return the settings of a collection in a folder: the index has decided most of them."""
    settings = replace(
        settings,
        measure=type(index.measure_).__name__,
        reason=index.reason_,
        measured=type(index.measure_).__name__,
        id_column=index.state_.id_column,
        compared=len(index.schema_.kinds),
        source={**settings.source, FOLDER: os.path.realpath(folder)},
    )
    return settle(settings, index.sample)


class FolderCollection(Collection):
    """One collection that is kept in a folder of shards."""

    def _load(self) -> View:
        head = self.store.head(self.name, self.key)
        settings = CollectionSettings.of_text(head.settings)
        index = Index.open(settings.source[FOLDER])
        self.last_load = f"opened in {settings.source[FOLDER]}"
        known = (head.generation, head.fitted, head.created, settings, index.schema_, index)
        return View(*known, sample=sample_of(index, settings))

    def count(self) -> int:
        """Return the number of live rows."""
        return len(self.view.index)

    def follow(self) -> View:
        """Return the view: nothing is written through the store."""
        return self.view

    def page(self, after: Any, limit: int) -> list[Any]:
        """Return ids in the order of the rows, those behind one of them."""
        state = self.view.index.state_
        last = -1 if after is None else state.names.position(after, "rows")
        found: list[int] = []
        for segment in state.segments.segments:
            start = int(np.searchsorted(segment.positions, last, side="right"))
            # A page needs few of the many rows of a shard. Deleted ones are rare, so that four
            # times as many are usually enough.
            live = start + np.flatnonzero(segment.live[start : start + 4 * limit])
            if len(live) < limit:
                live = start + np.flatnonzero(segment.live[start:])
            found += segment.positions[live[: limit - len(found)]].tolist()
            if len(found) >= limit:
                break
        return list(state.names.of(found))

    def add(self, records: Sequence[Mapping[str, Any]]) -> tuple[list[Any], int]:
        """Refuse: rows are added to the folder itself."""
        self._refuse("lookalike index add FOLDER FILE adds rows; restart the server then")

    def replace(self, id: Any, record: Mapping[str, Any]) -> int:
        """Refuse: rows are changed in the folder itself."""
        self._refuse("lookalike index delete FOLDER ID, then lookalike index add FOLDER FILE")

    def remove(self, ids: Sequence[Any]) -> int:
        """Refuse: rows are deleted from the folder itself."""
        self._refuse("lookalike index delete FOLDER ID deletes rows; restart the server then")

    def refit(self, make: Callable[[View], View]) -> View:
        """Refuse: the measure was fitted when the folder was built."""
        self._refuse("Build another folder: lookalike index build FILES -o FOLDER")

    def set_repaired(self, view: View, repaired: Index) -> None:
        """Refuse: reducing hubness needs all rows in memory."""
        self._refuse("Ask in the space 'plain'")

    def _refuse(self, hint: str) -> NoReturn:
        who = f"collection {self.name!r}"
        found = "one in a folder of shards, which is only read here"
        raise Conflict(who, "a collection in the store", found, hint)

    @property
    def cache_is_old(self) -> bool:
        """Whether the cache is worth writing: never, the index is in the folder."""
        return False

    def save_cache(self) -> None:
        """Do nothing: the index is in the folder."""


def sample_of(index: Index, settings: CollectionSettings) -> Table:
    """Return the sample rows of an index that are still live, with a column of their ids."""
    table = index.sample
    if settings.id_column is None:
        table = name_rows(table, sample_positions(index).tolist(), settings)
    ids = table[settings.names].values
    return table[np.array([id in index for id in ids], bool)]
