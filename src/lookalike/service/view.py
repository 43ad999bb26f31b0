"""A collection at one generation: what readers see, never changed once made."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lookalike.errors import InvalidInput, Param
from lookalike.index import Index
from lookalike.service.cells import read_stored
from lookalike.service.fitting import Settings, name_rows, stored_ids
from lookalike.service.notes import collected
from lookalike.service.store.store import Changed, NotThere
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
            hint = ("POST .../repair, wait for the job, or use ", Param("space", "plain"))
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


def missing_row(id: Any) -> NotThere:
    """Return the error about a row that is not there."""
    hint = "GET .../rows lists those that are there"
    return NotThere(f"row {id!r}"[:120], "an id that is there", "none", hint, problem="not found")


def _whole(text: str) -> list[int]:
    plain = text.removeprefix("-")
    ok = plain.isascii() and plain.isdigit() and len(plain) <= 18 and str(int(text)) == text
    return [int(text)] if ok else []
