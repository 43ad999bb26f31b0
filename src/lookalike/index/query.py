"""What a search can start from: ids, records, rows of a table, or several of these."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, WrongType, suggest
from lookalike.index.segments import Segments, rows_at
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.measures.numeric import NUMERIC
from lookalike.table import Schema, Table, as_table


@dataclass(frozen=True, eq=False)
class Queries:
    """One query or several, read and encoded.

    Parameters
    ----------
    rows : Rows, encoded
    cells : where each row stands as it was read: a table, and the number of the row in it
    positions : int64, the number of each row in the index, -1 for one that is not in it
    one : bool, whether a single row was asked about, so that a single answer is expected
    """

    rows: Rows
    cells: Sequence[tuple[Table, int]]
    positions: np.ndarray
    one: bool

    def __len__(self) -> int:
        return len(self.rows)

    def once(self, without: int) -> Rows | None:
        """Return each row of the index once, and every record; the row ``without`` is left out."""
        seen = {without} - {-1}
        at = []
        for row, position in enumerate(self.positions.tolist()):
            if position not in seen:
                at.append(row)
                seen |= {position} - {-1}
        return self.rows[np.array(at)] if at else None


@dataclass(frozen=True, eq=False)
class QueryReader:
    """Reads queries for one state of an index.

    Parameters
    ----------
    measure : Measure, fitted
    schema : Schema of the rows
    segments : Segments
    position_of : callable from id to position, which raises for an id that is not there
    names_rows : bool, whether ids are values of a column instead of whole numbers
    """

    measure: Measure
    schema: Schema
    segments: Segments
    position_of: Callable[[Any, str], int]
    names_rows: bool

    def read(self, query: Any, who: str) -> Queries:
        """Read an id, a record, a table, or a list of ids and records."""
        query = _plain(query)
        if isinstance(query, Mapping) or self._is_id(query):
            return self._read_several([query], who, one=True)
        if isinstance(query, np.ndarray) and query.ndim == 1:
            query = query.tolist()
        if isinstance(query, set | frozenset):
            query = sorted(query, key=repr)
        if isinstance(query, list | tuple):
            if not query:
                hint = "Pass at least one id or record"
                raise InvalidInput(who, "something to start from", "an empty list", hint)
            items = [_plain(item) for item in query]
            if all(isinstance(item, Mapping) or _is_scalar(item) for item in items):
                return self._read_several(items, who, one=False)
        if _is_scalar(query):
            raise WrongType(
                who,
                "an id (a whole number), a record, or a table of rows",
                f"{query!r}",
                (
                    InPython("Use index.ids to see the ids, or "),
                    Param("id_column"),
                    " names rows by a column",
                ),
            )
        table = self.read_table(query, who)
        positions = np.full(len(table), -1)
        cells = [(table, row) for row in range(len(table))]
        return Queries(self.measure.encode(table), cells, positions, one=len(table) == 1)

    def read_table(self, source: Any, who: str) -> Table:
        """Read rows as the fitted ones were read."""
        if self.measure.traits.pairwise:
            return self.measure.read_new(source)
        return as_table(source, self.schema, who=who)

    def read_some(self, items: Any, who: str) -> Queries | None:
        """Read rows that were marked: one or several ids or records; None for none."""
        items = _plain(items)
        if items is None:
            return None
        if isinstance(items, Mapping) or _is_scalar(items):
            items = [items]
        if isinstance(items, list | tuple | set | frozenset | np.ndarray) and not len(items):
            return None
        return self.read(items, who)

    # -- parts -------------------------------------------------------------------------------------

    def _read_several(self, items: Sequence[Any], who: str, one: bool) -> Queries:
        """Read ids and records in the order given; all records together, which is quicker."""
        if len(items) == 1 and not isinstance(items[0], Mapping):
            position = self.position_of(items[0], who)
            found = self.segments.look_up([position])
            where = [(segment.table, at) for segment, at in found]
            return Queries(rows_at(found), where, np.array([position], dtype=np.int64), one)
        records = [item for item in items if isinstance(item, Mapping)]
        ids = [self.position_of(item, who) for item in items if not isinstance(item, Mapping)]
        rows: list[Rows] = []
        cells: list[tuple[Table, int]] = []
        if records:
            table = self._read_records(records, who)
            rows.append(self.measure.encode(table))
            cells += [(table, row) for row in range(len(table))]
        if ids:
            found = self.segments.look_up(ids)
            rows.append(rows_at(found))
            cells += [(segment.table, at) for segment, at in found]
        # From "records, then ids" back to the order in which they were given.
        is_id = np.array([not isinstance(item, Mapping) for item in items])
        order = np.where(is_id, np.cumsum(is_id) - 1 + len(records), np.cumsum(~is_id) - 1)
        positions = np.concatenate([np.full(len(records), -1), np.array(ids, dtype=np.int64)])
        if len(rows) == 1:
            return Queries(rows[0], cells, positions, one)
        given = [cells[at] for at in order.tolist()]
        return Queries(join_rows(rows)[order], given, positions[order], one)

    def _read_records(self, records: Sequence[Mapping[Any, Any]], who: str) -> Table:
        compared = list(self.schema.kinds)
        every = [*compared, *self.schema.aside]
        whole = []
        for record in records:
            for name in record:
                if name not in every:
                    hint = suggest(str(name), every)
                    raise InvalidInput(who, "columns of the table", repr(name), hint)
            cells = {name: record.get(name) for name in compared}
            whole.append(cells | {n: record[n] for n in self.schema.aside if n in record})
        table = as_table(whole, self.schema, who=who)
        empty = np.all([column.missing for column in table], axis=0)
        if empty.any():
            names = ", ".join(map(repr, compared[:5])) + (", ..." if len(compared) > 5 else "")
            found = "a record without any of them"
            raise InvalidInput(who, f"a value in one of {names}", found, "Fill in one")
        self._check_complete(table, who)
        self._warn_unknown(table, who)
        return table

    def _check_complete(self, table: Table, who: str) -> None:
        """Name the numbers that a record lacks where the measure does not take gaps."""
        if self.measure.traits.missing:
            return
        lacking = [c.name for c in table if c.kind.name in NUMERIC and c.missing.any()]
        if lacking:
            names = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
            raise InvalidInput(
                f"{who} with {type(self.measure).__name__}",
                "a value in every number column",
                f"a record without {names}",
                "Fill them in, or use a measure that takes gaps, such as Gower",
            )

    def _warn_unknown(self, table: Table, who: str) -> None:
        """Say which categories no row has: mistyped ones, as a rule."""
        for column in table.of_kind("category"):  # new levels of an order are warned of before
            for code, value in column.unknown.items():
                if any(
                    code in segment.table[column.name].unknown for segment in self.segments.segments
                ):
                    continue
                warnings.warn(
                    LookalikeWarning(
                        who,
                        f"a category that occurs in the column {column.name!r}",
                        repr(value),
                        "No row shares it. " + suggest(str(value), column.kind.levels[:20]),
                    ),
                    stacklevel=6,
                )

    def _is_id(self, item: Any) -> bool:
        if isinstance(item, bool | np.bool_):
            return False
        whole = isinstance(item, int | np.integer)
        return whole or (self.names_rows and _is_scalar(item))


def _is_scalar(item: Any) -> bool:
    """Whether something is one value and no collection; a path of a file is read as an id."""
    return isinstance(item, str | bytes | np.generic) or not hasattr(item, "__len__")


def _plain(item: Any) -> Any:
    """Return a row of a pandas frame as a record, and everything else as it is."""
    if hasattr(item, "to_dict") and getattr(item, "ndim", 0) == 1:
        return item.to_dict()
    return item
