"""The rows of an index, each with a position that stays: live rows and deleted ones.

Rows are stored in segments, as in a log-structured merge tree. The first holds the rows the measure
was fitted to; rows that are added go to segments of their own, which are merged when they have
similar sizes, so that adding one row at a time costs little and the fitted rows are never copied.
Every segment is searched by itself, and the lists merge to the list of the whole.

Segments are immutable: adding and deleting return new ones, which share what did not change. A
reader that holds the old ones goes on with the rows they had (a snapshot). Deleting marks a row
(a tombstone); compaction drops it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.threads import cached_property
from lookalike.index.relevance import rocchio
from lookalike.index.sketches import Sketches
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.neighbors.exact import fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.table import Column, Kind, Table
from lookalike.table.infer.kinds import infer
from lookalike.table.model.cells import convert, raw_of_column


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables that were read by one schema.

    Columns that are set aside may be missing in some of the tables, or be of another kind there;
    their cells are then stored as Python objects.
    """
    if len(tables) == 1:
        return tables[0]
    # Columns that are compared have one kind in all tables, so their arrays can be concatenated.
    columns = [join_columns([table[name] for table in tables]) for name in tables[0].names]
    names = dict.fromkeys(column.name for table in tables for column in table.aside)
    aside = [_join_aside(name, tables) for name in names]
    return Table(columns, aside, sum(map(len, tables)), tables[0].missing)


def join_columns(columns: Sequence[Column]) -> Column:
    """Return the cells of several columns of one name and kind."""
    unknown = {code: value for column in columns for code, value in column.unknown.items()}
    values = np.concatenate([column.values for column in columns])
    return Column(columns[0].name, columns[0].kind, values, unknown)


def _join_aside(name: str, tables: Sequence[Table]) -> Column:
    columns = [next((c for c in table.aside if c.name == name), None) for table in tables]
    present = [column for column in columns if column is not None]
    first = present[0].kind
    kinds = {(c.kind.name, c.kind.levels, c.kind.source, c.kind.width) for c in present}
    if len(kinds) == 1 and len(present) == len(tables):
        return join_columns(present)
    cells = np.empty(sum(map(len, tables)), dtype=object)
    start = 0
    for table, column in zip(tables, columns, strict=True):
        for row in range(len(table) if column is not None else 0):
            cells[start + row] = column.cell(row)  # type: ignore[union-attr]
        start += len(table)
    return Column(name, Kind("object", first.reason), cells)


def learn_levels(table: Table) -> Table:
    """Return the table with its unknown categories and levels among the known ones.

    Levels of an inferred order stay unknown where their rank cannot be inferred.
    """
    columns = [_learn(column) if column.unknown else column for column in table]
    return Table(columns, table.aside, len(table), table.missing)


def _learn(column: Column) -> Column:
    raw = raw_of_column(column)
    if column.kind.name == "order":
        # The rank of a new level is inferred from all cells, or it stays unknown.
        kind = infer(raw).kind
        return convert(raw, kind) if kind.name == "order" else column
    return convert(raw, replace(column.kind, levels=()))


def check_alike(table: Table, first: Table, where: str) -> None:
    """Refuse loaded rows that could not be joined with the first ones."""
    for pair in ((table.columns, first.columns), (table.aside, first.aside)):
        ours, theirs = (
            [(c.name, c.kind.name, c.values.shape[1:], c.values.dtype.kind) for c in columns]
            for columns in pair
        )
        fields.require(ours == theirs, where, "the columns of the first segment", "others")


NO_POSITIONS = np.empty(0, np.int64)
Masks = Sequence[np.ndarray | None] | None


@dataclass(frozen=True, eq=False)
class SegmentQuery:
    """A search: what segments, and the workers that have them, are asked for.

    Parameters
    ----------
    measure : Measure; None on the way to workers, which have that of the index
    rows : Rows, the queries; with feedback the rows that one list should be near to
    k : int
    exclude : int64, one position per query that may not be in its list; -1: none
    omit : int64, with feedback, positions that may not be in the list
    gamma : float or None
        With feedback, how much the rows count that a list should be far from.
    unliked : Rows, optional
        These rows.
    """

    measure: Any
    rows: Rows
    k: int
    exclude: np.ndarray
    omit: np.ndarray = field(default_factory=lambda: NO_POSITIONS)
    gamma: float | None = None
    unliked: Rows | None = None

    def search(
        self, segment: Segment, mask: np.ndarray | None, sketches: Sketches | None
    ) -> NeighborGraph | None:
        """Return unfinished lists of the k best rows of a segment; None if it has no such rows."""
        rows, positions, allowed = segment.rows, segment.positions, segment.allowed(mask)
        names = {"exclude": self.exclude, "ids": positions}
        if self.gamma is None:
            if sketches is not None:
                ours = (self.measure, self.rows, rows, self.k, allowed, self.exclude, positions)
                if (lists := sketches.nearest(*ours)) is not None:
                    return lists
            # Without a copy of the allowed rows, where the measure can.
            if allowed is not None and self.measure.steps_over(rows, self.k):
                return self.measure.nearest_among(self.rows, rows, self.k, allowed, **names)
        if allowed is not None:
            # A filter selects rows for one search, so that selection is not cached.
            rows, positions = segment.live_rows if mask is None else segment.select(allowed)
        if not len(rows):
            return None
        if self.gamma is None:
            return self.measure.nearest(self.rows, rows, self.k, **names | {"ids": positions})
        return self._best(rows, positions, self.gamma)

    def _best(self, rows: Rows, positions: np.ndarray, gamma: float) -> NeighborGraph:
        """Return the unfinished list of the rows that score best by feedback."""
        measure, nowhere = self.measure, np.array([-1])

        # Block by block as in exact search: distances to all rows may not fit in memory.
        def score(_: slice, part: slice) -> np.ndarray:
            b = rows[part]
            far: Any = () if self.unliked is None else measure.block(self.unliked, b)
            return np.asarray(rocchio(measure.block(self.rows, b), far, gamma))[None]

        # Longer by the rows that may not be listed: even if all of them are nearest, the k best of
        # the others are found.
        fill, wide = fill_by_blocks(score, positions, nowhere), self.k + len(self.omit)
        lists = search(fill, 1, len(rows), wide, n_jobs=getattr(measure, "n_jobs", None))
        listed = np.flatnonzero(~np.isin(lists.indices[0], self.omit))[: self.k]
        indices, distances = lists.indices[:, listed], lists.distances[:, listed]
        return NeighborGraph(indices, distances, lists.n_indexed)


@saveable
@dataclass(frozen=True, eq=False)
class Segment:
    """Some rows of an index; immutable.

    Parameters
    ----------
    rows : Rows
    table : Table, the same rows as they were read
    positions : int64, ascending; the position of each row in the index
    live : bool, False for a row that was deleted
    """

    FIELDS: ClassVar[fields.Fields] = {
        "rows": fields.Saved("Rows"),
        "table": fields.Saved("Table"),
        "positions": fields.Array("int64", "rows", low=0, ascending=True),
        "live": fields.Array("bool", "rows"),
    }

    rows: Rows
    table: Table
    positions: np.ndarray
    live: np.ndarray

    @classmethod
    def of(cls, rows: Rows, table: Table, positions: np.ndarray) -> Segment:
        """Return a segment in which all rows are live."""
        return Segment(rows, table, positions, np.ones(len(rows), bool))

    def __len__(self) -> int:
        return len(self.positions)

    # Cached properties are stored in __dict__ beside the fields, and neither saved nor pickled. Two
    # threads may compute one at the same time; they get equal values.

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclass_fields(self)}

    @cached_property
    def _known(self) -> dict[str, dict[Any, int]]:
        """By column of ids the offset of the last row with each, deleted ones included."""
        return {}

    @cached_property
    def live_rows(self) -> tuple[Rows, np.ndarray]:
        """The live rows and their positions."""
        return self.select(self.live)

    def select(self, allowed: np.ndarray) -> tuple[Rows, np.ndarray]:
        """Return some of the rows and their positions."""
        offsets = np.flatnonzero(allowed)
        return self.rows[offsets], self.positions[offsets]

    @cached_property
    def n_live(self) -> int:
        """The number of live rows."""
        return int(np.count_nonzero(self.live))

    @cached_property
    def _span(self) -> tuple[int, int, bool]:
        """The first and the last position, and whether all between them are here."""
        n = len(self.positions)
        first, last = (int(self.positions[0]), int(self.positions[-1])) if n else (0, -1)
        return first, last, last - first == n - 1  # positions ascend

    def allowed(self, mask: np.ndarray | None) -> np.ndarray | None:
        """Return which rows may be found; None: all of them."""
        if mask is not None:
            return self.live & mask
        return None if self.n_live == len(self) else self.live

    def without(self, offsets: np.ndarray) -> Segment:
        """Return the segment with some of its rows deleted, by their offsets in it."""
        live = self.live.copy()
        live[offsets] = False
        other = replace(self, live=live)
        # Holds for fewer live rows as well: deleting one row need not hash all.
        vars(other)["_known"] = self._known
        return other

    # ``ShardSegment``, whose rows stay in files, overrides these.

    fitted = False  # whether it is known to hold rows that the measure was fitted to

    @property
    def sealed(self) -> bool:
        """Whether it is never merged with rows that are added later."""
        return False

    @property
    def typical_table(self) -> Table:
        """A table that shows how the cells of the whole index are written."""
        return self.table

    def id_at(self, column: str, offset: int) -> Any:
        """Return the id of a row, which a column holds, by its offset."""
        return as_id(self.table[column].values[offset])

    def find_id(self, column: str, id: Any) -> int:
        """Return the offset of the live row with an id, -1 if no row has it.

        An id may be used again after its row was deleted, so the last row that has it counts.
        """
        if column not in self._known:
            values = self.table[column].values
            self._known[column] = {as_id(value): row for row, value in enumerate(values)}
        offset = self._known[column].get(id, -1)
        return offset if offset >= 0 and self.live[offset] else -1

    def ids_among(self, column: str, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids are those of live rows."""
        return {id for id in ids if self.find_id(column, id) >= 0}

    def find(self, position: int) -> int:
        """Return the offset of a row in this segment, -1 if it is in another."""
        # Without a search in the usual case that no row of the segment was compacted away.
        first, last, contiguous = self._span
        if not first <= position <= last:
            return -1
        if contiguous:
            return int(position - first)
        positions = self.positions
        offset = int(positions.searchsorted(position))
        return offset if positions[offset] == position else -1

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that rows and table have the length of their positions."""
        rows, cells, n = len(self.rows), len(self.table), dims["rows"]
        fields.require(rows == cells == n, "Segment", f"{n} rows", f"{rows}, {cells}")


@saveable
@dataclass(frozen=True, eq=False)
class Segments:
    """All rows of an index at one moment; immutable.

    Parameters
    ----------
    segments : tuple of Segment, by ascending positions
    next_position : int, the position of the next row to be added; never used twice
    """

    FIELDS: ClassVar[fields.Fields] = {
        "segments": fields.TupleOf(fields.Saved("Segment"), "segments"),
        "next_position": fields.Integer(0),
    }

    segments: tuple[Segment, ...]
    next_position: int

    @classmethod
    def of(cls, rows: Rows, table: Table, before: Segments | None = None) -> Self:
        """Return one segment with all rows, at positions from 0, or at those of the live rows."""
        positions, end = np.arange(len(rows)), len(rows)
        if before is not None:
            positions, end = before.positions, before.next_position
        return cls((Segment.of(rows, table, positions),), end)

    def __len__(self) -> int:
        return sum(segment.n_live for segment in self.segments)

    @property
    def added_later(self) -> list[Segment]:
        """The segments of rows that were added after the measure was fitted."""
        return [segment for segment in self.segments[1:] if not segment.fitted]

    @property
    def table(self) -> Table:
        """All live rows as one table, by position."""
        parts = [segment.table[segment.live] for segment in self.segments if segment.live.any()]
        return join_tables(parts or [self.segments[0].table[:0]])

    @property
    def positions(self) -> np.ndarray:
        """Positions of the live rows, ascending."""
        return np.concatenate([segment.positions[segment.live] for segment in self.segments])

    def added(self, rows: Rows, table: Table) -> Segments:
        """Return the segments with more rows, at the next positions."""
        end = self.next_position + len(rows)
        segments = [*self.segments, Segment.of(rows, table, np.arange(self.next_position, end))]
        # Sizes halve from segment to segment, so there are about log2(n), and a row is copied at
        # most that often. The first one, of the fitted rows, is never copied.
        while len(segments) > 2 and len(segments[-2]) < 2 * len(segments[-1]):
            if segments[-2].sealed:
                break
            segments[-2:] = [_merge_segments(segments[-2:])]
        return Segments(tuple(segments), end)

    def compacted(self, max_rows: int) -> Segments | None:
        """Return the segments with some adjacent ones merged and their deleted rows dropped.

        One group is merged per call, so that no more than ``max_rows`` rows are copied at a time;
        None: there is nothing to do. Fitted rows and later ones stay apart.

        Parameters
        ----------
        max_rows : int
            The live rows of a group.
        """
        for start, segment in enumerate(self.segments):
            count, stop = segment.n_live, start + 1
            later = start > 0 and not segment.fitted
            while stop < len(self.segments):
                other = self.segments[stop]
                if later != (not other.fitted) or count + other.n_live > max_rows:
                    break
                count, stop = count + other.n_live, stop + 1
            if stop - start == 1 and segment.n_live == len(segment):
                continue
            # An empty group is dropped, but for the first: its table holds the columns.
            group = self.segments[start:stop]
            merged = [] if start and not count else [_merge_segments(group, drop_deleted=True)]
            return replace(self, segments=(*self.segments[:start], *merged, *self.segments[stop:]))
        return None

    def without(self, positions: Iterable[int]) -> Segments:
        """Return the segments with some live rows deleted."""
        if not (locations := self.look_up(positions)):
            return self
        groups, _ = _by_segment(locations)
        changed = {id(segment): segment.without(offsets) for segment, offsets in groups}
        segments = tuple(changed.get(id(segment), segment) for segment in self.segments)
        return Segments(segments, self.next_position)

    def find(self, position: int) -> tuple[Segment, int] | None:
        """Return the segment of a row and its offset there; None if it is deleted or unknown."""
        for segment in self.segments:
            offset = segment.find(position)
            if offset >= 0:
                return (segment, offset) if segment.live[offset] else None
        return None

    def look_up(self, positions: Iterable[int]) -> list[tuple[Segment, int]]:
        """Return the segment and the offset of each of some live rows."""
        locations = [self.find(position) for position in positions]
        assert None not in locations, "only live rows are looked up"
        return locations  # type: ignore[return-value]

    # -- searching ---------------------------------------------------------------------------------

    def nearest(
        self, query: SegmentQuery, masks: Masks = None, sketches: Sketches | None = None
    ) -> NeighborGraph:
        """Return unfinished lists of the k live rows that are nearest, or score best by feedback.

        Parameters
        ----------
        query : SegmentQuery
        masks : a boolean array per segment, optional
            Only these rows are searched.
        sketches : Sketches, optional
            Graphs that propose rows instead of a scan of all; None: exact search.
        """
        pairs = zip(self.segments, masks or [None] * len(self.segments), strict=True)
        found = (query.search(segment, mask, sketches) for segment, mask in pairs)
        parts = [lists for lists in found if lists is not None]
        if not parts:
            return NeighborGraph.empty(len(query.exclude), query.k, self.next_position)
        return reduce(NeighborGraph.merge, parts).within(self.next_position)

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that positions ascend from segment to segment."""
        fields.require(self.segments, "Segments", "at least one segment", "none")
        last = -1
        for segment in self.segments:
            ascending = not len(segment) or segment.positions[0] > last
            fields.require(ascending, "Segments", "positions that ascend over segments", "others")
            last = int(segment.positions[-1]) if len(segment) else last
        fits = last < self.next_position
        fields.require(fits, "Segments.next_position", f"above {last}", "another")


def as_id(value: Any) -> Any:
    """Return an id as a Python value; an integer as int, also if a column stores floats."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def rows_at(locations: Sequence[tuple[Segment, int]]) -> Rows:
    """Return encoded rows in the order of their locations."""
    groups, order = _by_segment(locations)
    rows = join_rows([segment.rows[offsets] for segment, offsets in groups])
    return rows if len(groups) == 1 else rows[order]


def tables_at(locations: Sequence[tuple[Segment, int]]) -> Table:
    """Return the cells of rows in the order of their locations, of which there is at least one."""
    groups, order = _by_segment(locations)
    return join_tables([segment.table[offsets] for segment, offsets in groups])[order]


def _by_segment(
    locations: Sequence[tuple[Segment, int]],
) -> tuple[list[tuple[Segment, np.ndarray]], np.ndarray]:
    """Group locations by segment, each selected in one call; return the inverse order as well."""
    groups: dict[int, list[int]] = {}
    for number, (segment, _) in enumerate(locations):
        groups.setdefault(id(segment), []).append(number)
    numbers = list(groups.values())
    parts = [(locations[some[0]][0], np.array([locations[n][1] for n in some])) for some in numbers]
    return parts, np.argsort(np.concatenate(numbers))


def _merge_segments(segments: Sequence[Segment], drop_deleted: bool = False) -> Segment:
    """Return the rows of some segments as one, in memory."""
    # Without a selection arrays are joined as they are, not copied twice.
    live = [np.flatnonzero(s.live) if drop_deleted else slice(None) for s in segments]
    pairs = list(zip(segments, live, strict=True))
    return Segment(
        join_rows([s.rows[some] for s, some in pairs]),
        join_tables([s.table[some] for s, some in pairs]),
        np.concatenate([s.positions[some] for s, some in pairs]),
        np.concatenate([s.live[some] for s, some in pairs]),
    )
