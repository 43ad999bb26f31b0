"""Everything an index holds at one moment, never changed once made.

Readers take the snapshot that stands when they begin and never wait; a writer makes a new one from
the old, shares with it what did not change, and puts it in its place with one assignment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

from lookalike.errors import InvalidInput
from lookalike.index.drift import ColumnDrift, Drift, Fitted, report_drift
from lookalike.index.ids import RowIds, take_ids
from lookalike.index.query import QueryReader
from lookalike.index.segments import Segments, as_id, check_alike, join_tables
from lookalike.measures.contract.base import Measure
from lookalike.saving.encode import saveable
from lookalike.saving.fields import (
    Dims,
    Fields,
    Flag,
    Integer,
    MapOf,
    Maybe,
    Saved,
    Text,
    TupleOf,
    require,
)
from lookalike.show.reasons import Styles
from lookalike.table import Kind, Schema, Table, as_table
from lookalike.table.model.names import with_labels

OFTEN = 1.1  # drift is looked for when the added rows are so many times those of the last look


@saveable
@dataclass(frozen=True, eq=False)
class Snapshot:
    """An index at one moment.

    Parameters
    ----------
    measure : Measure, fitted
    reason : str, why this measure
    schema : Schema, how rows are read
    segments : Segments, the rows
    id_column : str or None, the column that names the rows
    id_kind : Kind or None, what that column holds
    target : str or None, the column that the measure has learned from, if it was named
    learned_target : bool, whether there was a target at all
    fitted : mapping of column to what is remembered of its fitted values
    drifted : columns that a warning was given about
    checked : int, rows added when drift was last looked for
    """

    FIELDS: ClassVar[Fields] = {
        "measure": Saved("Measure"),
        "reason": Text(),
        "schema": Saved("Schema"),
        "segments": Saved("Segments"),
        "id_column": Maybe(Text()),
        "id_kind": Maybe(Saved("Kind")),
        "target": Maybe(Text()),
        "learned_target": Flag(),
        "fitted": MapOf(Text(), Saved("Fitted")),
        "drifted": TupleOf(Text()),
        "checked": Integer(0),
    }

    measure: Measure
    reason: str
    schema: Schema
    segments: Segments
    id_column: str | None
    id_kind: Kind | None
    target: str | None
    learned_target: bool
    fitted: Mapping[str, Fitted] = field(default_factory=dict)
    drifted: tuple[str, ...] = ()
    checked: int = 0

    def __getstate__(self) -> dict[str, Any]:
        # Not what was worked out on demand: another thread may be adding to it at this moment.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # -- reading -----------------------------------------------------------------------------------

    @cached_property
    def names(self) -> RowIds:
        """The ids of the rows."""
        return RowIds(self.segments, self.id_column)

    @cached_property
    def styles(self) -> Styles:
        """How the cells of each column are written, for phrases about them."""
        return Styles(self.segments.segments[0].typical_table)

    @cached_property
    def reader(self) -> QueryReader:
        """What reads queries against these rows."""
        named = self.id_column is not None
        return QueryReader(self.measure, self.schema, self.segments, self.names.position, named)

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, in the order in which they came."""
        return self.names.of(self.segments.positions)

    @property
    def table(self) -> Table:
        """All rows as one table, in the order of ``ids``."""
        segments = self.segments.segments
        parts = [segment.table[segment.live] for segment in segments if segment.live.any()]
        return join_tables(parts or [segments[0].table[:0]])

    def record(self, id: Any, who: str) -> dict[str, Any]:
        """Return a row as a record."""
        ((segment, at),) = self.segments.look_up([self.names.position(id, who)])
        return segment.table.record(at)

    def drift(self) -> Drift:
        """Compare the rows that were added with those that were fitted."""
        later = self.segments.added_later
        added = [(segment.table, segment.live) for segment in later if segment.n_live]
        before = len(self.segments) - sum(segment.n_live for segment in later)
        return report_drift(self.fitted, before, added)

    # -- changing: each returns a new snapshot -----------------------------------------------------

    def added(self, rows: Any, who: str) -> tuple[Snapshot, list[Any]]:
        """Return the snapshot with more rows, and their ids."""
        table = self.read_added(rows, who)
        segments = self.segments.added(self.measure.encode(table), table)
        after = replace(self, segments=segments).prepared()
        return after, after.names.of(range(self.segments.next_position, segments.next_position))

    def read_added(self, rows: Any, who: str) -> Table:
        """Read more rows as the first ones were read; ids that are there already are refused."""
        if self.id_kind is None or self.id_column is None:
            return self.reader.read_table(rows, who)
        rows, _ = with_labels(rows, self.id_column, who)
        kinds = {**self.schema.kinds, self.id_column: self.id_kind}
        aside = {n: why for n, why in self.schema.aside.items() if n != self.id_column}
        whole = as_table(rows, Schema(kinds, aside, self.schema.missing), who=who)
        return take_ids(whole, self.id_column, who, self.names)[0]

    def prepared(self) -> Snapshot:
        """Return this snapshot once all is made that its first question would wait for."""
        for segment in self.segments.segments:
            self.measure.prepare(segment.rows)  # what is made already is not made again
        return self

    def without(self, ids: Any, who: str) -> Snapshot:
        """Return the snapshot with some rows hidden."""
        listed = hasattr(ids, "__iter__") and not isinstance(ids, str | bytes)
        wanted = list(ids) if listed else [ids]
        positions = [self.names.position(id, who) for id in wanted]
        if len(set(positions)) < len(positions):
            twice = next(id for at, id in enumerate(wanted) if positions[at] in positions[:at])
            raise InvalidInput(who, "each id once", f"id {as_id(twice)!r} twice", "Name it once")
        return replace(self, segments=self.segments.without(positions))

    def compacted(self, most: int) -> tuple[Snapshot, bool]:
        """Return the snapshot with one part of it joined, and whether there was one."""
        found = self.segments.compacted(most)
        return (self, False) if found is None else (replace(self, segments=found).prepared(), True)

    def look_for_drift(self) -> tuple[Snapshot, list[ColumnDrift]]:
        """Return the snapshot that knows of drift, and the columns where it is new."""
        added = sum(map(len, self.segments.added_later))
        if added < OFTEN * self.checked:  # rows may come one by one: look again after some more
            return self, []
        new = [c for c in self.drift().columns if c.reason and c.column not in self.drifted]
        drifted = (*self.drifted, *(column.column for column in new))
        return replace(self, checked=added, drifted=drifted), new

    # -- loading -----------------------------------------------------------------------------------

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that every segment holds rows of the measure and of the table."""
        first = self.segments.segments[0].table
        kinds = {name: kind.name for name, kind in self.schema.kinds.items()}
        same = [(c.name, c.kind.name) for c in first.columns] == list(kinds.items())
        require(same, "Snapshot.schema", "the columns of the table", "others")
        known = {name: kind.name for name, kind in self.measure.schema_.kinds.items()}
        require(known == kinds, "Snapshot.schema", "the columns of the measure", "others")
        for number, segment in enumerate(self.segments.segments):
            where = f"Snapshot.segments[{number}]"
            self.measure.check_rows(segment.rows, f"{where}.rows")
            check_alike(segment.table, first, where)
        named = self.id_column is None or self.id_column in {c.name for c in first.aside}
        require(named, "Snapshot.id_column", "a column of ids", str(self.id_column)[:40])
        same = (self.id_column is None) == (self.id_kind is None)
        require(same, "Snapshot.id_kind", "a kind for a column of ids", "another")
        if not self.measure.traits.pairwise:
            same = set(self.fitted) == set(kinds)
            require(same, "Snapshot.fitted", "what is remembered of every column", "others")
        self.prepared()
