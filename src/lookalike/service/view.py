"""A collection at one generation: what readers see, never changed once made; its texts."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.index import Index
from lookalike.service.cells import read_stored
from lookalike.service.fitting import Settings, name_rows, stored_ids
from lookalike.service.notes import collected
from lookalike.service.store.store import Changed, NotFound
from lookalike.table import Schema, Table


@dataclass(frozen=True, eq=False)
class View:
    """A collection at one generation.

    Parameters
    ----------
    generation, fitted : int
        The last change that is in it, and the one whose rows the measure was fitted to.
    created : str
    settings : Settings
    schema : Schema
    index : Index
    repaired : Index or None
        The same rows in a space without hubs, where it was made.
    changed : int
        Rows that came or went since fitting.
    sample : Table or None
        Rows that stand for all, where all are too many to be looked at.
    """

    generation: int
    fitted: int
    created: str
    settings: Settings
    schema: Schema
    index: Index
    repaired: Index | None = None
    changed: int = 0
    sample: Table | None = None

    @property
    def table(self) -> Table:
        """The rows with their ids; of a collection in a folder, those that stand for all."""
        return self.index.table if self.sample is None else self.sample

    def find(self, text: str) -> str | int:
        """Return the id that a path names; one that is not there is an error."""
        ids: tuple[str | int, ...] = (text, *_whole(text))
        for id in ids:
            if id in self.index:
                return id
        raise missing_row(text)

    def record(self, id: Any) -> dict[str, Any]:
        """Return a row without the column that only we know of."""
        if id not in self.index:
            raise missing_row(id)
        return self.shown(self.index.get(id))

    def shown(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record without the column that only we know of."""
        hidden = self.settings.names if self.settings.id_column is None else None
        return {name: cell for name, cell in record.items() if name != hidden}

    def label(self, id: Any, record: Mapping[str, Any]) -> str:
        """Return what a row is called: its label, else its id."""
        cell = record.get(self.settings.label_column or "")
        return str(id if cell is None or cell == "" else cell)

    def space(self, name: str) -> Index:
        """Return the index of a space: "plain" or "repaired"."""
        if name == "plain":
            return self.index
        if self.repaired is None:
            hint = Phrase("POST .../repair, wait for the job, or use ", Param("space", "plain"))
            raise InvalidInput(Param("space", "repaired"), "a space that was made", "none", hint)
        return self.repaired

    def moved(self, generation: int, gone: Sequence[Any], came: Any) -> View:
        """Return the view with some rows gone, by their ids, and others added.

        Parameters
        ----------
        generation : int
        gone : ids
        came : list of records, or a table, with ids
        """
        spaces = {"index": self.index, "repaired": self.repaired}
        for name, index in spaces.items():
            if index is None:
                continue
            index = copy.copy(index)  # its snapshot is replaced, never changed
            with collected():
                if gone:
                    index.delete(list(gone))
                if len(came):
                    index.add(came)
            spaces[name] = index
        changed = self.changed + len(gone) + len(came)
        return replace(self, generation=generation, changed=changed, **spaces)  # type: ignore[arg-type]


def apply_changes(view: View, generation: int, changed: Changed) -> View:
    """Return the view with what happened since."""
    if not changed.gone and not changed.came:
        return replace(view, generation=generation)
    gone = [json.loads(id) for id in changed.gone]
    came: Any = []
    if changed.came:
        table = read_stored([json.loads(row.record) for row in changed.came], view.schema)
        came = name_rows(table, stored_ids(changed.came), view.settings.names)
    return view.moved(generation, gone, came)


def missing_row(id: Any) -> NotFound:
    """Return the error about a row that is not there."""
    hint = "GET .../rows lists those that are there"
    return NotFound(f"row {id!r}"[:120], "an id that is there", "none", hint, problem="not found")


def _whole(text: str) -> list[int]:
    plain = text.removeprefix("-")
    ok = plain.isascii() and plain.isdigit() and len(plain) <= 18 and str(int(text)) == text
    return [int(text)] if ok else []


WRITTEN = ("text", "category", "order", "object")


class Texts:
    """The words of all rows of a collection in lower case, made when they are first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Any, tuple[str, str]] | None = None

    def clear(self) -> None:
        """Forget all words."""
        with self._lock:
            self._rows = None

    def follow(self, view: View, gone: Iterable[Any], came: Iterable[Any]) -> None:
        """Take in the words of rows that came, and forget those of rows that went."""
        with self._lock:
            if self._rows is None:
                return
            for id in gone:
                self._rows.pop(id, None)
            columns = _columns(view)
            for id in came:
                self._rows[id] = _words(view.index.get(id), columns)

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
        ranked: list[list[Any]] = [[], [], [], []]
        with self._lock:
            if self._rows is None:
                self._rows = _words_of(view)
            for id, (label, rest) in self._rows.items():
                if label.startswith(wanted):
                    ranked[0 if len(label) == len(wanted) else 1].append(id)
                elif wanted in label:
                    ranked[2].append(id)
                elif wanted in rest:
                    ranked[3].append(id)
                if len(ranked[0]) >= limit:
                    break
        return [id for ids in ranked for id in ids][:limit]


def _columns(view: View) -> list[str]:
    """Return the columns whose words are looked at, the label first."""
    label = view.settings.label_column
    compared = [name for name, kind in view.schema.kinds.items() if kind.name in WRITTEN]
    aside = [name for name in view.schema.aside if view.settings.aside[name]["kind"] in WRITTEN]
    rest = [name for name in (*aside, *compared) if name != label]
    return [label or "", *rest]


def _words(record: Mapping[str, Any], columns: list[str]) -> tuple[str, str]:
    cells = [record.get(name) for name in columns]
    first, *rest = ["" if cell is None else str(plain(cell)).casefold() for cell in cells]
    return first, "\n".join(rest)


def _words_of(view: View) -> dict[Any, tuple[str, str]]:
    table, columns = view.table, _columns(view)
    every = {column.name: column for column in table.columns + table.aside}
    used = [every[name] for name in columns if name in every]
    names = [column.name for column in used]
    ids = table[view.settings.names].values.tolist()
    return {
        id: _words({name: c.cell(row) for name, c in zip(names, used, strict=True)}, columns)
        for row, id in enumerate(ids)
    }
