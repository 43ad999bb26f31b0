"""Ids of the rows of an index: whole numbers, or the values of a column."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from lookalike.errors import InPython, InvalidInput, Param, Phrase, suggest
from lookalike.index.segments import Segments, as_id
from lookalike.table import Kind, Table
from lookalike.table.formats.raw import is_missing

NAMES = str | int | float | bytes | datetime.date | datetime.timedelta  # what may be an id
SUGGESTED = 1000  # ids that a mistyped one is compared with


class RowIds:
    """The ids of the live rows in some segments.

    Parameters
    ----------
    segments : Segments
    column : str or None, the column that gives the ids
    """

    def __init__(self, segments: Segments, column: str | None) -> None:
        self.segments, self.column = segments, column

    def of(self, positions: Iterable[int]) -> list[Any]:
        """Return the ids of rows that are there."""
        if self.column is None:
            return [int(position) for position in positions]
        found = (self.segments.find(int(position)) for position in positions)
        return [segment.id_at(self.column, at) for segment, at in found]  # type: ignore[misc]

    def find(self, id: Any) -> int | None:
        """Return the position of an id, None if there is no such row."""
        id = as_id(id)
        if self.column is not None:
            for segment in reversed(self.segments.segments):
                try:
                    at = segment.find_id(self.column, id)
                except TypeError:  # not hashable: no id
                    return None
                if at >= 0:
                    return int(segment.positions[at])
            return None
        if isinstance(id, bool) or not isinstance(id, int):
            return None
        return None if self.segments.find(id) is None else id

    def __contains__(self, id: Any) -> bool:
        return self.find(id) is not None

    def present(self, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids, as Python writes them, are there; looked up all together."""
        if self.column is None:
            return {id for id in ids if id in self}
        parts = (segment.ids_among(self.column, ids) for segment in self.segments.segments)
        return set().union(*parts)

    def position(self, id: Any, who: str) -> int:
        """Return the position of an id; one that is not there is an error that names it."""
        found = self.find(id)
        if found is not None:
            return found
        id = as_id(id)
        hint: str = Phrase(InPython("Use index.ids to see the ids that are there"))
        if self.column is not None:
            some = self.of(self.segments.positions[:SUGGESTED])
            near = suggest(str(id), [str(name) for name in some])
            hint = near if near.startswith("Did") else hint
        elif (
            isinstance(id, int)
            and not isinstance(id, bool)
            and 0 <= id < self.segments.next_position
        ):
            raise InvalidInput(who, "an existing id", f"{id}, which was deleted", hint)
        elif not isinstance(id, int):
            hint = Phrase(
                "Ids are integers; give ", Param("id_column"), " to name rows by a column"
            )
        raise InvalidInput(who, "an existing id", repr(id), hint)


def take_ids(
    table: Table, name: str, who: str = "Index.fit", known: RowIds | None = None
) -> tuple[Table, Kind]:
    """Set the column of ids aside, checked: no gaps, each value once, none that is known."""
    every = {column.name: column for column in table.columns + table.aside}
    if name not in every:
        hint = suggest(name, every)
        raise InvalidInput(Param("id_column", name, of=who), "a column of ids", "none", hint)
    column = every[name]
    seen: set[Any] = set()
    ids = [as_id(value) for value in column.values]
    there = set() if known is None else known.present([id for id in ids if isinstance(id, NAMES)])
    for row, id in enumerate(ids):
        where = Param("id_column", name, of=who)
        if id is None or is_missing(id):
            raise InvalidInput(where, "an id for every row", f"none in row {row}", "Fill it in")
        if not isinstance(id, NAMES):
            found = f"a {type(id).__name__} in row {row}"
            raise InvalidInput(where, "numbers, texts or dates", found, "Use another column")
        if id in seen or id in there:
            found = f"{id!r} " + ("twice" if id in seen else "again, which is there already")
            hint = "Delete the old row first" if id in there else "Use a column without repeats"
            raise InvalidInput(where, "ids that differ", found, hint)
        seen.add(id)
    columns = [column for column in table.columns if column.name != name]
    aside = [column for column in table.aside if column.name != name]
    if not columns:
        found = f"only {name!r}"
        raise InvalidInput(who, "a column to compare beside the ids", found, "Add a column")
    return Table(columns, [*aside, column], len(table), table.missing), column.kind
