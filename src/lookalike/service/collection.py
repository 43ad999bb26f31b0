"""A collection: rows in the store, and an index of them in memory that follows the change log.

Readers see a ``View``: a generation and its index. Views are immutable; a write makes the next
one, has it stored, and only then replaces the old.
"""

from __future__ import annotations

import copy
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, suggest
from lookalike.index import Index
from lookalike.index.shards.build import sample_positions
from lookalike.service.cells import dumps, integer_of, plain_id, read_stored, stored_texts
from lookalike.service.fitting import CollectionSettings, fit_index, name_rows, settle, stored_ids
from lookalike.service.problems import collected
from lookalike.service.store import store as stored
from lookalike.table import Schema, Table, as_table
from lookalike.table.model.labels import DOT

POLL_SECONDS = 0.02  # between two reads of the change log, for a generation that is waited for
# The cache is written again when as many rows have changed; both chosen by hand. Loading replays
# the changes since, so that fewer are not worth writing the whole index.
MIN_CHANGED_SHARE, MIN_CHANGED_ROWS = 0.1, 1_000

Records = Sequence[Mapping[str, Any]]
Once = stored.SentOnce | None


@dataclass(frozen=True, eq=False)
class View:
    """A collection at one generation.

    Parameters
    ----------
    key : int, of the collection
    generation, fitted : int
        The last change that is in it, and the one whose rows the measure was fitted to.
    created : str
    settings : CollectionSettings
    schema : Schema
    index : Index
    repaired : Index or None
        The same rows in the space with reduced hubness, where it was computed.
    changed : int
        Rows added or deleted since fitting.
    sample : Table or None
        A sample of the rows, where all are too many to be held in memory.
    """

    key: int
    generation: int
    fitted: int
    created: str
    settings: CollectionSettings
    schema: Schema
    index: Index
    repaired: Index | None = None
    changed: int = 0
    sample: Table | None = None

    @property
    def fit(self) -> tuple[int, str]:
        """Which fit it is: by its rows, and by its settings, as the same rows are fitted again."""
        return self.fitted, self.settings.to_text()

    @property
    def table(self) -> Table:
        """The rows with their ids; of a collection in a folder, a sample of them."""
        return self.index.table if self.sample is None else self.sample

    @property
    def hidden(self) -> str | None:
        """The column of ids that only the service knows of; None if the table has its own."""
        return self.settings.names if self.settings.id_column is None else None

    def find(self, id: str | int) -> str | int:
        """Return the id of a row; a path, and JSON made from one, has numbers as text."""
        # As text first: in a table with the ids "7" and 7 a path means the text.
        for known in (id, integer_of(id) if isinstance(id, str) else None):
            if known is not None and known in self.index:
                return known
        raise missing_row(id)

    def record(self, id: Any) -> dict[str, Any]:
        """Return a row without the hidden column of ids."""
        self.require([id])
        return self.shown(self.index.get(id))

    def require(self, ids: Iterable[Any]) -> None:
        """Refuse ids of rows that do not exist."""
        for id in ids:
            if id not in self.index:
                raise missing_row(id)

    def shown(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record without the hidden column of ids."""
        hidden = self.hidden
        return {name: cell for name, cell in record.items() if name != hidden}

    def label(self, id: Any, record: Mapping[str, Any]) -> str:
        """Return the label of a row, with its id where others have the same; else its id."""
        label = self.settings.row_label
        name = label.of(record)
        if name is None:
            return str(id)
        return f"{name}{DOT}#{id}" if label.with_id else name

    def named_row(self, id: Any, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return id, label and record of a row, as JSON holds them."""
        row = {name: plain(cell) for name, cell in self.shown(record).items()}
        return {"id": id, "label": self.label(id, row), "row": row}

    def page(self, after: Any, limit: int) -> list[dict[str, Any]]:
        """Return some rows behind the one of an id, in the order in which they were added."""
        state = self.index.state_
        last = -1 if after is None else state.names.position(after, "rows")
        found: list[int] = []
        for segment in state.segments.segments:
            start = int(np.searchsorted(segment.positions, last, side="right"))
            live = segment.positions[start:][segment.live[start:]]
            found += live[: limit - len(found)].tolist()
            if len(found) >= limit:
                break
        return [self.named_row(id, self.record(id)) for id in state.names.of(found)]

    def space(self, name: str) -> Index:
        """Return the index of a space: "plain" or "repaired"."""
        if name == "plain":
            return self.index
        if self.repaired is None:
            hint = Phrase("POST .../repair, wait for the job, or use ", Param("space", "plain"))
            raise InvalidInput(Param("space", name), "a space that was computed", "none", hint)
        return self.repaired

    def moved(self, generation: int, deleted: Sequence[Any], added: Any) -> View:
        """Return the view after some rows were deleted and others added.

        Parameters
        ----------
        generation : int
        deleted : ids
        added : list of records, or a table, with ids
        """
        spaces = {"index": self.index, "repaired": self.repaired}
        for name, index in spaces.items():
            if index is None:
                continue
            # A shallow copy: the snapshot inside is replaced, never changed, so that readers of
            # this view go on with theirs.
            index = copy.copy(index)
            with collected():
                # Deleted first: a replaced row keeps its id, which must be free when it is added.
                if deleted:
                    index.delete(list(deleted))
                if len(added):
                    index.add(added)
            spaces[name] = index
        changed = self.changed + len(deleted) + len(added)
        return replace(self, generation=generation, changed=changed, **spaces)  # type: ignore[arg-type]


def apply_changes(view: View, generation: int, changed: stored.Changed) -> View:
    """Return the view with an entry of the change log applied."""
    deleted = [json.loads(id) for id in changed.deleted]
    return view.moved(generation, deleted, _as_read(view, changed.added))


def _as_read(view: View, rows: Sequence[stored.StoredRow]) -> Table | list[Any]:
    """Return stored rows as the next start will read them, with their ids."""
    if not rows:
        return []
    table = read_stored([json.loads(row.record) for row in rows], view.schema)
    return name_rows(table, stored_ids(rows), view.settings)


def fit_of(head: stored.Head) -> tuple[int, str]:
    """Return which fit the store has, in the form of ``View.fit``."""
    # Read and written again: the settings of an older version have fewer fields.
    return head.fitted, CollectionSettings.of_text(head.settings).to_text()


def missing_row(id: Any) -> stored.NotFound:
    """Return the error about a row that does not exist."""
    who, hint = f"row {id!r}"[:120], "GET .../rows lists the rows"
    return stored.NotFound(who, "the id of a row", "none", hint, problem="not found")


SEARCHED_KINDS = ("text", "category", "order", "object")


class TextSearch:
    """The texts of all rows of a collection in lower case, made when they are first asked for.

    Parameters
    ----------
    store : Store
    key : int, the collection
    """

    def __init__(self, store: stored.Store, key: int) -> None:
        self._store, self._key = store, key
        self._lock = threading.Lock()
        self._fit, self._generation = (0, ""), 0
        self._rows: dict[Any, tuple[str, str]] = {}

    def _follow(self, view: View) -> None:
        """Bring the texts up to a view."""
        columns = _text_columns(view)
        if self._fit != view.fit:  # columns may be read as other kinds now
            used = [column for column in view.table.every if column.name in columns]
            self._rows = {
                id: _texts({column.name: column.cell(row) for column in used}, columns)
                for row, id in enumerate(view.table[view.settings.names].values.tolist())
            }
        elif self._generation < view.generation:
            changed = self._store.changed(self._key, self._generation, view.generation)[1]
            for gone in changed.deleted:
                self._rows.pop(json.loads(gone), None)
            for id in stored_ids(changed.added):
                self._rows[id] = _texts(view.index.get(id), columns)
        else:
            return  # these rows, or newer ones that another thread has seen
        self._fit, self._generation = view.fit, view.generation

    def find(self, view: View, text: str, limit: int) -> list[Any]:
        """Return ids of rows that hold a text: in the label first, at its beginning first of all.

        Parameters
        ----------
        view : View
        text : str
        limit : int
            How many at most.
        """
        wanted = text.casefold().strip()
        # Four ranks: label or id are the text, the label begins with it, holds it; another column
        # or the id holds it.
        ranked: list[list[Any]] = [[], [], [], []]
        with self._lock:
            self._follow(view)
            for id, (label, rest) in self._rows.items():
                if label == wanted or str(id).casefold() == wanted:
                    ranked[0].append(id)
                elif label.startswith(wanted):
                    ranked[1].append(id)
                elif wanted in label:
                    ranked[2].append(id)
                elif wanted in rest or wanted in str(id).casefold():
                    ranked[3].append(id)
        return [id for ids in ranked for id in ids][:limit]


def _text_columns(view: View) -> list[str]:
    """Return the columns whose texts are searched, the label first."""
    label = view.settings.label_column
    compared = [name for name, kind in view.schema.kinds.items() if kind.name in SEARCHED_KINDS]
    # The schema keeps only the names of columns set aside; the settings know what they hold.
    known = view.settings.aside
    aside = [name for name in view.schema.aside if known[name]["kind"] in SEARCHED_KINDS]
    return [label or "", *(name for name in (*aside, *compared) if name != label)]


def _texts(record: Mapping[str, Any], columns: list[str]) -> tuple[str, str]:
    """Return the label and the other texts of a row; a line end keeps cells apart."""
    cells = [record.get(name) for name in columns]
    first, *rest = ["" if cell is None else str(plain(cell)).casefold() for cell in cells]
    return first, "\n".join(rest)


class Collection:
    """One collection of a store, in memory once it is asked for.

    Parameters
    ----------
    store : Store
    head : Head
    """

    def __init__(self, store: stored.Store, head: stored.Head) -> None:
        self.store, self.key, self.name = store, head.key, head.name
        self._lock = threading.RLock()
        self._view: View | None = None
        self._cached = 0  # rows that had changed when the cache was written
        self.texts = TextSearch(store, head.key)

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
                    self._view = self._load()
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
                raise stored.TooFarBehind(who, "this generation", str(view.generation), hint)
            time.sleep(POLL_SECONDS)
        return view

    def rows_since(self, generation: int) -> int:
        """Return how many rows were added, replaced or deleted behind a generation."""
        if self.view.generation <= generation:
            return 0
        _, changed = self.store.changed(self.key, generation)
        return len({*changed.deleted, *(row.id for row in changed.added)})

    def follow(self) -> View:
        """Apply the changes that other servers have written since."""
        self.view  # noqa: B018  loaded before the lock is taken: loading may be long
        with self._lock:
            # Read under the lock: another thread may have moved the view on meanwhile, and changes
            # since an older view would then be applied a second time.
            view = self.view
            head, changed = self.store.changed(self.key, view.generation)
            if head is None:
                raise stored.missing_collection(self.name)
            self._view = after = self._caught_up(view, head, changed)
            return after

    def _caught_up(self, view: View, head: stored.Head, changed: stored.Changed) -> View:
        if head.generation <= view.generation:
            return view
        if fit_of(head) != view.fit:
            return self._load()
        return apply_changes(view, head.generation, changed)

    def _load(self) -> View:
        """Make the index: from the cache and the changes since, or by fitting it again."""
        head = self.store.head(self.name, self.key)
        settings = CollectionSettings.of_text(head.settings)
        schema = stored.parse(head.schema, Schema)
        found = self.store.load_index(self.key, head.fitted)
        if found is None:
            generation, rows = head.fitted, self.store.rows_at(self.key, head.fitted)
            # With the schema of the first reading: guessing kinds again could differ after changes.
            table = read_stored([json.loads(row.record) for row in rows], schema)
            index = fit_index(table, stored_ids(rows), settings)[0]
            self._cached = -MIN_CHANGED_ROWS  # so that the cache counts as old
        else:
            generation, index = found
        # How many changes the cached index has applied since the fit, only the change log knows.
        moved = self.store.moved(self.key, head.fitted, generation)
        known = (self.key, generation, head.fitted, head.created, settings, schema, index)
        view = View(*known, changed=moved)
        newest, changed = self.store.changed(self.key, generation)
        if newest is None or fit_of(newest) != view.fit:
            return self._load()  # fitted by another server meanwhile
        return apply_changes(view, newest.generation, changed)

    # -- writing -----------------------------------------------------------------------------------

    def add(self, records: Records, once: Once = None) -> tuple[list[Any], int]:
        """Add rows, all or none; return their ids and the generation.

        Parameters
        ----------
        records : list of dict
        once : SentOnce, optional
            Rows that were added with it before are not added again.
        """
        return self._write("add", [], records, once=once)

    def replace(self, id: Any, record: Mapping[str, Any]) -> int:
        """Replace a row; it keeps its id."""
        return self._write("replace", [id], [record], id)[1]

    def restore(self, id: Any, record: Mapping[str, Any]) -> int:
        """Add a row under an id of its own, which may be that of a row that was deleted."""
        return self._write("restore", [], [record], id)[1]

    def remove(self, ids: Sequence[Any]) -> int:
        """Delete rows, all or none."""
        return self._write("delete", list(ids), [])[1]

    def _write(
        self, kind: str, deleted: list[Any], records: Records, named: Any = None, once: Once = None
    ) -> tuple[list[Any], int]:
        """Make a change durable, then show it: readers never see what is not on the disk."""
        self.view  # noqa: B018  loaded before the transaction begins: loading may be long
        with self._lock:
            with self.store.turn(self.key, self.name) as turn:
                if once is not None and (answered := turn.answered(once)) is not None:
                    return answered
                view = self.view
                if turn.head.generation > view.generation:  # other servers have written
                    view = self._caught_up(view, turn.head, turn.changed(view.generation))
                view.require(deleted)
                if not records and len(view.index) <= len(deleted):
                    # A measure cannot be fitted to no rows.
                    who, hint = f"collection {self.name!r}", "Delete it, or add a row first"
                    raise InvalidInput(who, "at least one row", "none left", hint)
                if kind == "restore":
                    _check_restored(view, named)
                # A row that replaces another has its id.
                ids = _new_ids(view, records, turn.head.next_row) if named is None else [named]
                rows = _to_store(view, records, ids) if records else []
                # What was stored is read back, so that a restart changes nothing.
                after = view.moved(turn.generation, deleted, _read_back(view, rows))
                turn.remove([dumps(id) for id in deleted])
                numbered = kind == "restore" and view.settings.id_column is None
                turn.add(rows, named if numbered else 0)
                if once is not None:
                    turn.remember(once, ids)
                turn.finish(kind, max(len(deleted), len(records)))
            self._view = after
        return ids, after.generation

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
                if fit_of(turn.head) != before.fit:
                    needed, found = "the measure it began with", "another one"
                    hint = "Send the request again; another refit was faster"
                    raise stored.Conflict("measure", needed, found, hint)
                # Rows that were written meanwhile are added to the new index.
                changed = turn.changed(before.generation)
                after = apply_changes(fitted, turn.generation, changed)
                after = replace(after, fitted=before.generation)
                turn.refit(before.generation, after.settings.to_text(), stored.dump(after.schema))
                turn.finish("fit", len(before.index))
            self._view = after
        return after

    def set_repaired(self, view: View, repaired: Index) -> None:
        """Keep the space with reduced hubness that was computed from a view, brought up to date."""
        with self._lock:
            newest = self.view
            if newest.fit != view.fit:
                return  # of another measure by now
            if newest.generation > view.generation:
                _, changed = self.store.changed(self.key, view.generation)
                alone = replace(view, index=repaired, repaired=None)
                repaired = apply_changes(alone, newest.generation, changed).index
            self._view = replace(newest, repaired=repaired)

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
        self._cached = view.changed  # before: what fails is not tried again in every round
        self.store.save_index(self.key, view.generation, view.fitted, view.index)


# -- parts -----------------------------------------------------------------------------------------


def _new_ids(view: View, records: Records, start: int) -> list[Any]:
    column = view.settings.id_column
    if column is None:
        return list(range(start, start + len(records)))
    ids = [plain_id(record.get(column), row, column) for row, record in enumerate(records)]
    seen: set[Any] = set()
    for id in ids:
        if id in seen or id in view.index:
            hint = "PUT .../rows/{id} replaces a row"
            found = f"{id!r:.80} " + ("twice" if id in seen else "again, which exists already")
            raise stored.Conflict(Param("id_column", column), "new ids", found, hint)
        seen.add(id)
    return ids


MAX_NUMBER = 10**15  # of a row that a client numbers: later ones are exact in JavaScript, too


def _check_restored(view: View, id: Any) -> None:
    """Refuse an id that a new row cannot have."""
    if id in view.index:  # added since the request looked for it
        who, hint = f"row {id!r}"[:120], "Send the request again, which replaces it"
        raise stored.Conflict(who, "an id that is free", "one that exists", hint)
    numbered = view.settings.id_column is None
    if numbered and not (isinstance(id, int) and 0 <= id < MAX_NUMBER):
        who, needed = f"row {id!r}"[:120], f"a number from 0, below {MAX_NUMBER:,}"
        hint = "POST .../rows gives the next number"
        raise stored.NotFound(who, needed, "another id", hint, problem="rows here are numbered")


def _to_store(view: View, records: Records, ids: Sequence[Any]) -> list[stored.StoredRow]:
    """Return new rows as the store keeps them: as they were read, not as they were sent."""
    columns, own = [*view.schema.kinds, *view.schema.aside], view.settings.id_column
    for record, id in zip(records, ids, strict=True):
        for name in record:
            # A mistyped name would otherwise be a missing cell that is never noticed.
            if name not in columns and name != own:
                hint = suggest(str(name), sorted(columns))
                raise InvalidInput("row", "columns of the table", repr(name)[:80], hint)
        if own is not None and record.get(own, id) != id:
            hint = "Leave it out, or make it the same"
            raise InvalidInput(f"row {id!r}", "its own id", f"{record[own]!r:.80}", hint)
    complete = [{name: record.get(name) for name in columns} for record in records]
    with collected():
        texts = stored_texts(as_table(complete, view.schema, who="row"))
    return [stored.StoredRow(dumps(id), text) for id, text in zip(ids, texts, strict=True)]


def _read_back(view: View, rows: Sequence[stored.StoredRow]) -> Table | list[Any]:
    """Return rows that are about to be stored as the next start will read them."""
    # Refused now: the next start could not load any row.
    try:
        with collected():
            return _as_read(view, rows)
    except (LookalikeError, TypeError, ValueError) as error:
        hint = "Use plain numbers, texts, and lists of them"
        raise InvalidInput("row", "cells that can be stored", "others", hint) from error


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


# How rows of a folder are added, replaced and deleted.
ADD = "lookalike index add FOLDER FILE adds rows; restart the server then"
FOLDER_COMMANDS = {
    "restore": ADD,
    "add": ADD,
    "replace": "lookalike index delete FOLDER ID, then lookalike index add FOLDER FILE",
    "delete": "lookalike index delete FOLDER ID deletes rows; restart the server then",
}


class FolderCollection(Collection):
    """One collection that is kept in a folder of shards; its index is never cached as well."""

    def _load(self) -> View:
        head = self.store.head(self.name, self.key)
        settings = CollectionSettings.of_text(head.settings)
        index = Index.open(settings.source[FOLDER])
        last = (head.generation, head.fitted, head.created)
        known = (self.key, *last, settings, index.schema_, index)
        return View(*known, sample=sample_of(index, settings))

    def count(self) -> int:
        """Return the number of live rows."""
        return len(self.view.index)

    def _write(self, kind: str, *_: Any, **__: Any) -> NoReturn:
        """Refuse: rows are changed in the folder itself."""
        self._refuse(FOLDER_COMMANDS[kind])

    def refit(self, make: Callable[[View], View]) -> View:
        """Refuse: the measure was fitted when the folder was built."""
        self._refuse("Build another folder: lookalike index build FILES -o FOLDER")

    def _refuse(self, hint: str) -> NoReturn:
        who = f"collection {self.name!r}"
        found = "one in a folder of shards, which is only read here"
        raise stored.Conflict(who, "a collection in the store", found, hint)


def sample_of(index: Index, settings: CollectionSettings) -> Table:
    """Return the sample rows of an index that are still live, with a column of their ids."""
    table = index.sample
    if settings.id_column is None:
        table = name_rows(table, sample_positions(index).tolist(), settings)
    ids = table[settings.names].values
    return table[np.array([id in index for id in ids], bool)]
