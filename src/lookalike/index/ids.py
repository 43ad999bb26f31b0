"""Ids of the rows of an index: integers, or the values of a column."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lookalike.errors import InPython, InvalidInput, Param, Phrase, suggest
from lookalike.index.segments import Segments, as_id
from lookalike.table import Column, Table
from lookalike.table.formats.raw import is_missing

ID_TYPES = str | int | float | bytes | datetime.date | datetime.timedelta
MAX_LISTED_IDS = 5  # of those that several rows have
MAX_SUGGESTED_IDS = 1000  # that a mistyped id is compared with: reading more would take seconds


class RowIds:
    """The ids of the live rows in some segments.

    Parameters
    ----------
    segments : Segments
    column : str or None, the column that holds the ids; None: positions are ids
    """

    def __init__(self, segments: Segments, column: str | None) -> None:
        self.segments, self.column = segments, column

    def of(self, positions: Iterable[int]) -> list[Any]:
        """Return the ids of live rows."""
        if self.column is None:
            return [int(position) for position in positions]
        locations = self.segments.look_up(int(position) for position in positions)
        return [segment.id_at(self.column, offset) for segment, offset in locations]

    def find(self, id: Any) -> int | None:
        """Return the position of an id, None if there is no such row."""
        id = as_id(id)
        if self.column is None:
            return id if _is_int(id) and self.segments.find(id) is not None else None
        # The last segment first: an id may be used again after its row was deleted.
        for segment in reversed(self.segments.segments):
            try:
                offset = segment.find_id(self.column, id)
            # Not hashable, so not an id.
            except TypeError:
                return None
            if offset >= 0:
                return int(segment.positions[offset])
        return None

    def __contains__(self, id: Any) -> bool:
        return self.find(id) is not None

    def present(self, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids exist; looked up together, which is much faster in shards."""
        if self.column is None:
            return {id for id in ids if id in self}
        parts = (segment.ids_among(self.column, ids) for segment in self.segments.segments)
        return set().union(*parts)

    def position(self, id: Any, who: str) -> int:
        """Return the position of an id; raise for one that does not exist."""
        if (position := self.find(id)) is not None:
            return position
        id, found = as_id(id), repr(as_id(id))
        hint: str = Phrase(InPython("Use index.ids to see the ids that are there"))
        if self.column is not None:
            known = self.of(self.segments.positions[:MAX_SUGGESTED_IDS])
            near = suggest(str(id), [str(name) for name in known])
            hint = near if near.startswith("Did") else hint
        elif not isinstance(id, int):
            hint = Phrase("Ids are integers; to name rows by a column, give ", Param("id_column"))
        elif _is_int(id) and 0 <= id < self.segments.next_position:
            found = f"{id}, which was deleted"
        raise InvalidInput(who, "an existing id", found, hint)


def _is_int(id: Any) -> bool:
    return isinstance(id, int) and not isinstance(id, bool)


def take_ids(table: Table, name: str, who: str = "Index.fit", known: RowIds | None = None) -> Table:
    """Set the column of ids aside, checked: none missing, each value once, none that is known."""
    every = {column.name: column for column in table.columns + table.aside}
    if name not in every:
        hint = suggest(name, every)
        raise InvalidInput(Param("id_column", name, of=who), "a column of ids", "none", hint)
    _check_ids(every[name], Param("id_column", name, of=who), known)
    columns = [column for column in table.columns if column.name != name]
    aside = [column for column in table.aside if column.name != name]
    if not columns:
        found = f"only {name!r}"
        raise InvalidInput(who, "a column to compare beside the ids", found, "Add a column")
    return Table(columns, [*aside, every[name]], len(table), table.missing)


def _check_ids(column: Column, where: Param, known: RowIds | None) -> None:
    # Compared as as_id writes them, so that 1 and 1.0 are the same id.
    ids = [as_id(value) for value in column.values]
    taken: set[Any] = set()
    if known is not None:
        taken = known.present([id for id in ids if isinstance(id, ID_TYPES)])
    for row, id in enumerate(ids):
        if id is None or is_missing(id):
            raise InvalidInput(where, "an id for every row", f"none in row {row}", "Fill it in")
        if not isinstance(id, ID_TYPES):
            found = f"a {type(id).__name__} in row {row}"
            raise InvalidInput(where, "numbers, texts or dates", found, "Use another column")
        if id in taken:
            found, hint = f"{id!r} again, which is there already", "Delete the old row first"
            raise InvalidInput(where, "ids that differ", found, hint)
    refuse_repeats(ids, where)


def refuse_repeats(ids: Sequence[Any], where: Param) -> None:
    """Refuse ids that several rows have; list them, and say what to do instead."""
    repeated = [(id, n) for id, n in Counter(ids).items() if n > 1]
    if not repeated:
        return
    shown = [f"{id!r} {'twice' if n == 2 else f'{n:,} times'}" for id, n in repeated]
    more = f" and {len(shown) - MAX_LISTED_IDS:,} more" if len(shown) > MAX_LISTED_IDS else ""
    found = ", ".join(shown[:MAX_LISTED_IDS]) + more
    name = Param("label_column", where.value)
    hint = ("Use a column without repeats, or number the rows and show them by ", name)
    raise InvalidInput(where, "ids that differ", found, hint)
