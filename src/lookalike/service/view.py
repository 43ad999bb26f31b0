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
from lookalike.service.cells import integer_of, read_stored
from lookalike.service.fitting import CollectionSettings, name_rows, stored_ids
from lookalike.service.notes import collected
from lookalike.service.store.store import Changed, NotFound
from lookalike.table import Schema, Table
from lookalike.table.model.labels import DOT


@dataclass(frozen=True, eq=False)
class View:
    """A collection at one generation.

    Parameters
    ----------
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


def apply_changes(view: View, generation: int, changed: Changed) -> View:
    """Return the view with an entry of the change log applied."""
    if not changed.deleted and not changed.added:
        return replace(view, generation=generation)
    added: Any = []
    if changed.added:
        table = read_stored([json.loads(row.record) for row in changed.added], view.schema)
        added = name_rows(table, stored_ids(changed.added), view.settings)
    return view.moved(generation, [json.loads(id) for id in changed.deleted], added)


def missing_row(id: Any) -> NotFound:
    """Return the error about a row that does not exist."""
    hint = "GET .../rows lists the rows"
    return NotFound(f"row {id!r}"[:120], "the id of a row", "none", hint, problem="not found")


SEARCHED_KINDS = ("text", "category", "order", "object")


class TextSearch:
    """The texts of all rows of a collection in lower case, made when they are first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Any, tuple[str, str]] | None = None

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._rows = None

    def follow(self, view: View, deleted: Iterable[Any], added: Iterable[Any]) -> None:
        """Add the texts of new rows, and forget those of deleted ones."""
        with self._lock:
            if self._rows is None:
                return
            for id in deleted:
                self._rows.pop(id, None)
            columns = _text_columns(view)
            for id in added:
                self._rows[id] = _texts(view.index.get(id), columns)

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
            if self._rows is None:
                self._rows = _all_texts(view)
            for id, (label, rest) in self._rows.items():
                if label == wanted or str(id).casefold() == wanted:
                    ranked[0].append(id)
                elif label.startswith(wanted):
                    ranked[1].append(id)
                elif wanted in label:
                    ranked[2].append(id)
                elif wanted in rest or wanted in str(id).casefold():
                    ranked[3].append(id)
                if len(ranked[0]) >= limit:
                    break
        return [id for ids in ranked for id in ids][:limit]


def _text_columns(view: View) -> list[str]:
    """Return the columns whose texts are searched, the label first."""
    label = view.settings.label_column
    compared = [name for name, kind in view.schema.kinds.items() if kind.name in SEARCHED_KINDS]
    # The schema keeps only the names of columns set aside; the settings know what they hold.
    known = view.settings.aside
    aside = [name for name in view.schema.aside if known[name]["kind"] in SEARCHED_KINDS]
    return [label or "", *(name for name in (*aside, *compared) if name != label)]


def _all_texts(view: View) -> dict[Any, tuple[str, str]]:
    table, columns = view.table, _text_columns(view)
    used = [column for column in table.columns + table.aside if column.name in columns]
    return {
        id: _texts({column.name: column.cell(row) for column in used}, columns)
        for row, id in enumerate(table[view.settings.names].values.tolist())
    }


def _texts(record: Mapping[str, Any], columns: list[str]) -> tuple[str, str]:
    """Return the label and the other texts of a row; a line end keeps cells apart."""
    cells = [record.get(name) for name in columns]
    first, *rest = ["" if cell is None else str(plain(cell)).casefold() for cell in cells]
    return first, "\n".join(rest)
