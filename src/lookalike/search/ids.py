"""Ids of the rows of an index: whole numbers, or the values of a column."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, message, suggest
from lookalike.search.segments import Segments
from lookalike.table import Kind, Table
from lookalike.table.raw import is_missing

__all__ = ["RowIds", "as_id", "take_ids"]


class RowIds:
    """The ids of the rows in some segments.

    Parameters
    ----------
    segments : Segments
    column : str or None, the column that gives the ids
    """

    def __init__(self, segments: Segments, column: str | None) -> None:
        self.segments, self.column = segments, column

    @cached_property
    def known(self) -> dict[Any, int]:
        """Id to place of every living row, where a column gives the ids; built once."""
        assert self.column is not None, "whole numbers need no table"
        return {
            as_id(segment.table[self.column].values[at]): int(segment.places[at])
            for segment in self.segments.segments
            for at in np.flatnonzero(segment.alive)
        }

    def of(self, places: Iterable[int]) -> list[Any]:
        """Return the ids of rows that are there."""
        if self.column is None:
            return [int(place) for place in places]
        found = (self.segments.find(int(place)) for place in places)
        return [as_id(segment.table[self.column].values[at]) for segment, at in found]  # type: ignore[misc]

    def find(self, id: Any) -> int | None:
        """Return the place of an id, None if there is no such row."""
        id = as_id(id)
        if self.column is not None:
            try:
                return self.known.get(id)
            except TypeError:  # not hashable: no id
                return None
        if isinstance(id, bool) or not isinstance(id, int):
            return None
        return None if self.segments.find(id) is None else id

    def note_added(self, places: np.ndarray) -> list[Any]:
        """Take note of rows that were added; return their ids."""
        ids = self.of(places)
        if "known" in self.__dict__:
            self.known.update(zip(ids, places.tolist(), strict=True))
        return ids

    def note_deleted(self, ids: Iterable[Any]) -> None:
        """Take note of ids that are gone."""
        if self.column is not None:
            for id in ids:
                del self.known[as_id(id)]

    def place(self, id: Any, who: str) -> int:
        """Return the place of an id; one that is not there is an error that names it."""
        found = self.find(id)
        if found is not None:
            return found
        id = as_id(id)
        do = "Use index.ids to see the ids that are there"
        if self.column is not None:
            near = suggest(str(id), [str(name) for name in list(self.known)[:1000]])
            do = near if near.startswith("Did") else do
        elif (
            isinstance(id, int) and not isinstance(id, bool) and 0 <= id < self.segments.next_place
        ):
            raise InvalidInput(message(who, "an id that is there", f"{id}, which was deleted", do))
        elif not isinstance(id, int):
            do = "Ids are whole numbers; give id_column= to name rows by a column"
        raise InvalidInput(message(who, "an id that is there", repr(id), do))


def as_id(value: Any) -> Any:
    """Return an id as Python writes it: a whole number as int, whatever it was kept as."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def take_ids(
    table: Table, name: str, who: str = "Index.fit", known: Collection[Any] = ()
) -> tuple[Table, Kind]:
    """Set the column of ids aside, checked: no gaps, each value once, none that is known."""
    every = {column.name: column for column in table.columns + table.aside}
    if name not in every:
        do = suggest(name, every)
        raise InvalidInput(message(f"{who} (id_column={name!r})", "a column of ids", "none", do))
    column = every[name]
    seen: set[Any] = set()
    for row in range(len(column)):
        id = as_id(column.values[row])
        where = f"{who} (id_column={name!r})"
        if id is None or is_missing(id):
            found = f"none in row {row}"
            raise InvalidInput(message(where, "an id for every row", found, "Fill it in"))
        if not isinstance(id, str | int | float | bytes | datetime.date | datetime.timedelta):
            found = f"a {type(id).__name__} in row {row}"
            raise InvalidInput(
                message(where, "numbers, texts or dates", found, "Use another column")
            )
        if id in seen or id in known:
            found = f"{id!r} " + ("twice" if id in seen else "again, which is there already")
            do = "Delete the old row first" if id in known else "Use a column without repeats"
            raise InvalidInput(message(where, "ids that differ", found, do))
        seen.add(id)
    columns = [column for column in table.columns if column.name != name]
    aside = [column for column in table.aside if column.name != name]
    if not columns:
        found = f"only {name!r}"
        do = "Add a column"
        raise InvalidInput(message(who, "a column to compare beside the ids", found, do))
    return Table(columns, [*aside, column], len(table), table.missing), column.kind
