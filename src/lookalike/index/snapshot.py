"""The state of an index at one moment, immutable.

Readers take the current snapshot when they begin and never wait; a writer makes a new one from the
old, shares with it what did not change, and replaces it with one assignment (copy-on-write).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.threads import blocks, cached_property
from lookalike.errors import InvalidInput, Param, Phrase, TooLarge
from lookalike.index.drift import ColumnDrift, Drift, Fitted, report_drift
from lookalike.index.ids import RowIds, take_ids
from lookalike.index.query import read_rows
from lookalike.index.segments import SegmentQuery, Segments, as_id, check_alike
from lookalike.measures.contract.base import Measure
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.show.reasons import Styles
from lookalike.table import Schema, Table, as_table
from lookalike.table.model.names import with_labels

# Drift is checked again when there are 10 % more added rows than at the last check: rows may come
# one at a time, and every check reads all of them (chosen by hand).
DRIFT_CHECK_GROWTH = 1.1


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """What an index knows beside its rows.

    Parameters
    ----------
    measure : Measure, fitted
    reason : str, why this measure
    schema : Schema, how rows are read
    id_column : str or None, the column that names the rows
    target : str or None, the column that the measure has learned from, if it was named
    learned_target : bool, whether there was a target at all
    fitted : mapping of column to the statistics of its fitted values
    """

    FIELDS: ClassVar[fields.Fields] = {
        "measure": fields.Saved("Measure"),
        "reason": fields.Text(),
        "schema": fields.Saved("Schema"),
        "id_column": fields.Maybe(fields.Text()),
        "target": fields.Maybe(fields.Text()),
        "learned_target": fields.Flag(),
        "fitted": fields.MapOf(fields.Text(), fields.Saved("Fitted")),
    }

    measure: Measure
    reason: str
    schema: Schema
    id_column: str | None = None
    target: str | None = None
    learned_target: bool = False
    fitted: Mapping[str, Fitted] = field(default_factory=dict)

    def learned(self) -> dict[str, Any]:
        """Return these fields by name, without those of a subclass."""
        return {field.name: getattr(self, field.name) for field in dataclass_fields(Learned)}


@saveable
@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot(Learned):
    """An index at one moment.

    Parameters
    ----------
    measure, reason, schema, id_column, target, learned_target, fitted : see ``Learned``
    segments : Segments, the rows
    drifted : columns that a warning was given about
    checked : int, rows added when drift was last checked
    """

    FIELDS: ClassVar[fields.Fields] = {
        "segments": fields.Saved("Segments"),
        "drifted": fields.TupleOf(fields.Text()),
        "checked": fields.Integer(0),
    }

    segments: Segments
    drifted: tuple[str, ...] = ()
    checked: int = 0

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties: another thread may be adding one at this moment.
        return {field.name: getattr(self, field.name) for field in dataclass_fields(self)}

    # -- reading -----------------------------------------------------------------------------------

    @cached_property
    def names(self) -> RowIds:
        """The ids of the rows."""
        return RowIds(self.segments, self.id_column)

    @cached_property
    def styles(self) -> Styles:
        """How the cells of each column are formatted in phrases about them."""
        return Styles(self.segments.segments[0].typical_table)

    @property
    def ids(self) -> list[Any]:
        """The ids of all rows, by position."""
        return self.names.of(self.segments.positions)

    @property
    def table(self) -> Table:
        """All rows as one table, in the order of ``ids``."""
        return self.segments.table

    def record(self, id: Any, who: str) -> dict[str, Any]:
        """Return a row as a record."""
        ((segment, offset),) = self.segments.look_up([self.names.position(id, who)])
        return segment.table.record(offset)

    def drift(self) -> Drift:
        """Compare the rows that were added with those that were fitted."""
        later = self.segments.added_later
        added = [(segment.table, segment.live) for segment in later if segment.n_live]
        before = len(self.segments) - sum(segment.n_live for segment in later)
        return report_drift(self.fitted, before, added)

    # -- changing: each returns a new snapshot -----------------------------------------------------

    def added(self, rows: Any, who: str) -> tuple[Snapshot, list[Any]]:
        """Return the snapshot with more rows, and their ids."""
        table = self.read_added(rows, who, partial=True)
        segments = self.segments.added(self.measure.encode(table), table)
        after = replace(self, segments=segments).prepared()
        return after, after.names.of(range(self.segments.next_position, segments.next_position))

    def read_added(self, rows: Any, who: str, partial: bool = False) -> Table:
        """Read more rows by the schema of the first ones; ids that exist already are refused.

        Files must have all columns (not ``partial``): a column that is missing from a million rows
        is a mistake.
        """
        if self.id_column is None:
            return read_rows(self, rows, who, partial)
        rows, _ = with_labels(rows, self.id_column, who)
        # The column of ids is set aside, but read by the kind it had at first, so that ids compare
        # as equal: a CSV file of digits alone would give numbers.
        known = self.segments.segments[0].table[self.id_column].kind
        kinds = {**self.schema.kinds, self.id_column: known}
        aside = {n: why for n, why in self.schema.aside.items() if n != self.id_column}
        schema = Schema(kinds, aside, self.schema.missing)
        whole = as_table(rows, schema, who=who, partial=partial)
        return take_ids(whole, self.id_column, who, self.names)

    def prepared(self) -> Snapshot:
        """Return this snapshot with all that its first search would have to build first."""
        for segment in self.segments.segments:
            # Kept beside the rows, so only those of new segments take time.
            self.measure.prepare(segment.rows)
        return self

    def without(self, ids: Any, who: str) -> Snapshot:
        """Return the snapshot with some rows deleted."""
        several = hasattr(ids, "__iter__") and not isinstance(ids, str | bytes)
        ids = list(ids) if several else [ids]
        positions = [self.names.position(id, who) for id in ids]
        if len(set(positions)) < len(positions):
            twice = next(id for i, id in enumerate(ids) if positions[i] in positions[:i])
            raise InvalidInput(who, "each id once", f"id {as_id(twice)!r} twice", "Name it once")
        return replace(self, segments=self.segments.without(positions))

    def compacted(self, max_rows: int) -> tuple[Snapshot, bool]:
        """Return the snapshot with one group of segments merged, and whether there was one."""
        if (merged := self.segments.compacted(max_rows)) is None:
            return self, False
        return replace(self, segments=merged).prepared(), True

    def look_for_drift(self) -> tuple[Snapshot, list[ColumnDrift]]:
        """Return the snapshot with the drift found recorded, and the columns where it is new."""
        added = sum(map(len, self.segments.added_later))
        if added < DRIFT_CHECK_GROWTH * self.checked:
            return self, []
        # A column is warned of once, or every row that is added would repeat the warning.
        new = [c for c in self.drift().columns if c.reason and c.column not in self.drifted]
        drifted = (*self.drifted, *(column.column for column in new))
        return replace(self, checked=added, drifted=drifted), new

    # -- loading -----------------------------------------------------------------------------------

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that every segment holds rows of the measure and of the table."""
        first = self.segments.segments[0].table
        kinds = {name: kind.name for name, kind in self.schema.kinds.items()}
        same = [(c.name, c.kind.name) for c in first.columns] == list(kinds.items())
        fields.require(same, "Snapshot.schema", "the columns of the table", "others")
        known = {name: kind.name for name, kind in self.measure.schema_.kinds.items()}
        fields.require(known == kinds, "Snapshot.schema", "the columns of the measure", "others")
        for number, segment in enumerate(self.segments.segments):
            where = f"Snapshot.segments[{number}]"
            self.measure.check_rows(segment.rows, f"{where}.rows")
            check_alike(segment.table, first, where)
        exists = self.id_column is None or self.id_column in {c.name for c in first.aside}
        fields.require(exists, "Snapshot.id_column", "a column of ids", str(self.id_column)[:40])
        if not self.measure.traits.pairwise:
            same = set(self.fitted) == set(kinds)
            fields.require(same, "Snapshot.fitted", "statistics of every column", "others")
        self.prepared()


# -- neighbors of the rows among all of them, some at a time ---------------------------------------

QUERIES_PER_BLOCK = 1024  # whose lists are filled together; every shard is read once per block


def check_list_size(who: str, n: int, k: int, advice: str) -> None:
    """Refuse n lists of k that are larger than the memory limit.

    Parameters
    ----------
    who : str, the caller
    n, k : int
    advice : str, what else can be done
    """
    size, limit = 16 * n * k, settings().memory_limit  # an index and a distance, 8 bytes each
    if size > limit:
        hint = Phrase("Raise ", Param("memory_limit", of="config"), f"; {advice}")
        needed = f"lists under the memory limit of {show_bytes(limit)}"
        raise TooLarge(who, needed, show_bytes(size), hint)


def neighbors_of(now: Snapshot, start: int, stop: int, k: int) -> NeighborGraph:
    """Return unfinished lists of the k nearest rows of some rows, each left out of its own.

    Shard after shard is searched and the lists merge, so that it takes no more memory than a shard
    and a few queries.

    Parameters
    ----------
    now : Snapshot
    start, stop : int, positions of the rows
    k : int
    """
    lists = NeighborGraph.empty(stop - start, k, now.segments.next_position)
    for segment in now.segments.segments:
        first, last = np.searchsorted(segment.positions, [start, stop])
        for block in blocks(int(last - first), QUERIES_PER_BLOCK):
            part = slice(int(first) + block.start, int(first) + block.stop)
            live = segment.live[part]
            rows, positions = segment.rows[part], segment.positions[part]
            # Selected only where rows were deleted: a slice maps the file, a selection copies.
            if not live.all():
                rows, positions = rows[np.flatnonzero(live)], positions[live]
            if len(positions):
                some = now.segments.nearest(SegmentQuery(now.measure, rows, k, positions))
                lists.indices[positions - start] = some.indices
                lists.distances[positions - start] = some.distances
    return lists
