"""The rows of an index: fitted ones, later ones, hidden ones, found by a number that stays.

Rows are kept in segments, as in a log-structured merge tree. The first holds the rows the measure
was fitted to; rows that are added go to segments of their own, which are merged when they grow
alike in size, so that adding one row at a time costs little and the fitted rows are never copied.
Every segment is searched by itself, and the lists merge to the list of the whole.

Nothing here changes once it is made: adding and deleting return new segments, which share what did
not change. Whoever holds the old ones goes on reading them as they were (a snapshot).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from lookalike.index.relevance import rocchio
from lookalike.index.sketches import Sketches
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.neighbors.exact import fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph, ShiftedGraph
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Dims, Fields, Integer, Saved, TupleOf, require
from lookalike.table import Column, Kind, Table
from lookalike.table.infer.kinds import infer
from lookalike.table.model.cells import convert, raw_of_column


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables that were read by one schema.

    Columns that are set aside may be absent from some of the tables, or be of another kind there;
    their cells are then kept as they are.
    """
    if len(tables) == 1:
        return tables[0]
    columns = [_join([table[name] for table in tables]) for name in tables[0].names]
    names = dict.fromkeys(column.name for table in tables for column in table.aside)
    aside = [_join_aside(name, tables) for name in names]
    return Table(columns, aside, sum(map(len, tables)), tables[0].missing)


def _join(columns: Sequence[Column]) -> Column:
    unknown = {code: value for column in columns for code, value in column.unknown.items()}
    values = np.concatenate([column.values for column in columns])
    return Column(columns[0].name, columns[0].kind, values, unknown)


def _join_aside(name: str, tables: Sequence[Table]) -> Column:
    found = [next((c for c in table.aside if c.name == name), None) for table in tables]
    present = [column for column in found if column is not None]
    first = present[0].kind
    alike = all(
        (column.kind.name, column.kind.levels, column.kind.source, column.kind.width)
        == (first.name, first.levels, first.source, first.width)
        for column in present
    )
    if alike and len(present) == len(tables):
        return _join(present)
    cells = np.empty(sum(map(len, tables)), dtype=object)
    at = 0
    for table, column in zip(tables, found, strict=True):
        for row in range(len(table) if column is not None else 0):
            cells[at + row] = column.cell(row)  # type: ignore[union-attr]
        at += len(table)
    return Column(name, Kind("object", first.reason), cells)


def learn_levels(table: Table) -> Table:
    """Return the table with categories and levels that were new among the known ones.

    Levels of an order that was guessed stay new where nothing says what their position is.
    """
    columns = [_learn(column) if column.unknown else column for column in table]
    return Table(columns, table.aside, len(table), table.missing)


def _learn(column: Column) -> Column:
    raw = raw_of_column(column)
    if column.kind.name == "order":
        kind = infer(raw).kind
        return convert(raw, kind) if kind.name == "order" else column
    return convert(raw, replace(column.kind, levels=()))


def check_alike(table: Table, first: Table, where: str) -> None:
    """Refuse loaded rows that could not be joined with the first ones."""
    for some, others in ((table.columns, first.columns), (table.aside, first.aside)):
        mine = [(c.name, c.kind.name, c.values.shape[1:], c.values.dtype.kind) for c in some]
        theirs = [(c.name, c.kind.name, c.values.shape[1:], c.values.dtype.kind) for c in others]
        require(mine == theirs, where, "the columns of the first segment", "others")


SPARE = 64  # hidden rows that a search steps over before the segment is copied without them
Masks = Sequence[np.ndarray] | None


@dataclass(frozen=True, eq=False)
class Feedback:
    """What a row should be near to and far from: encoded rows, and the weight of the latter."""

    positive: Rows
    negative: Rows | None
    gamma: float


@saveable
@dataclass(frozen=True, eq=False)
class Segment:
    """Some rows of an index; never changed once made.

    Parameters
    ----------
    rows : Rows
    table : Table, the same rows as they were read
    positions : int64, ascending; the number of each row in the index
    live : bool, False for a row that was deleted
    """

    FIELDS: ClassVar[Fields] = {
        "rows": Saved("Rows"),
        "table": Saved("Table"),
        "positions": Array("int64", "rows", low=0, ascending=True),
        "live": Array("bool", "rows"),
    }

    # What is worked out on demand is kept in __dict__ beside the fields: a cache that is neither
    # saved nor pickled. Two threads may work it out at once; they find the same.

    rows: Rows
    table: Table
    positions: np.ndarray
    live: np.ndarray

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def n_live(self) -> int:
        """How many rows are not hidden."""
        known = self.__dict__
        if "_n_live" not in known:
            known["_n_live"] = int(np.count_nonzero(self.live))
        return int(known["_n_live"])

    def allowed(self, mask: np.ndarray | None) -> np.ndarray | None:
        """Return which rows may be found; None: all of them."""
        if mask is not None:
            return self.live & mask
        return None if self.n_live == len(self) else self.live

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def without(self, at: np.ndarray) -> Segment:
        """Return the segment with some of its rows hidden, by where they stand in it."""
        live = self.live.copy()
        live[at] = False
        other = replace(self, live=live)
        # What was worked out holds for fewer live rows as well.
        known = self.__dict__
        other.__dict__.update({name: known[name] for name in ("_kept", "_by_id") if name in known})
        return other

    # A segment whose rows are kept in files (``shard_segment``) answers these otherwise.

    @property
    def fitted(self) -> bool:
        """Whether it is known to hold rows that the measure was fitted to."""
        return False

    @property
    def sealed(self) -> bool:
        """Whether it is never merged with rows that come later."""
        return False

    @property
    def typical_table(self) -> Table:
        """A table that shows how the cells of the whole index are written."""
        return self.table

    def id_at(self, column: str, at: int) -> Any:
        """Return the id that a column gives to a row, by where it stands."""
        return as_id(self.table[column].values[at])

    def find_id(self, column: str, id: Any) -> int:
        """Return where the live row stands that a column gives an id to, -1 if there is none.

        A value may come back after its row was deleted, so the last row that has it counts.
        """
        by_id = self.__dict__.get("_by_id")
        if by_id is None:
            by_id = {as_id(value): at for at, value in enumerate(self.table[column].values)}
            self.__dict__["_by_id"] = by_id
        at = by_id.get(id, -1)
        return at if at >= 0 and self.live[at] else -1

    def ids_among(self, column: str, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids a column gives to live rows."""
        return {id for id in ids if self.find_id(column, id) >= 0}

    def find(self, position: int) -> int:
        """Return where a row stands in this segment, -1 if it does not."""
        first, last, whole = self._span
        if not first <= position <= last:
            return -1
        if whole:
            return int(position - first)
        positions = self.positions
        at = int(positions.searchsorted(position))
        return at if positions[at] == position else -1

    @property
    def _span(self) -> tuple[int, int, bool]:
        """The first and the last number, and whether all between them are here."""
        known = self.__dict__
        if "_ends" not in known:
            n = len(self.positions)
            first, last = (int(self.positions[0]), int(self.positions[-1])) if n else (0, -1)
            known["_ends"] = first, last, last - first == n - 1  # they rise
        return known["_ends"]

    def view(self, mask: np.ndarray | None) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Return rows to be searched, their numbers, and the numbers among them that are hidden."""
        if mask is not None:
            at = np.flatnonzero(self.live & mask)
            return self.rows[at], self.positions[at], np.empty(0, np.int64)
        rows, at = self.__dict__.get("_kept", (self.rows, None))
        live = self.live if at is None else self.live[at]
        if len(live) - np.count_nonzero(live) > SPARE:
            at = np.flatnonzero(self.live)
            rows = self.rows[at]
            self.__dict__["_kept"] = rows, at
            live = self.live[at]
        positions = self.positions if at is None else self.positions[at]
        return rows, positions, positions[~live]

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that rows and table are as long as their numbers."""
        fits = len(self.rows) == len(self.table) == dims["rows"]
        require(fits, "Segment", f"{dims['rows']} rows", f"{len(self.rows)}, {len(self.table)}")


@saveable
@dataclass(frozen=True, eq=False)
class Segments:
    """All rows of an index at one moment; never changed once made.

    Parameters
    ----------
    segments : tuple of Segment, by ascending positions
    next_position : int, the number that the next row gets
    """

    FIELDS: ClassVar[Fields] = {
        "segments": TupleOf(Saved("Segment"), "segments"),
        "next_position": Integer(0),
    }

    segments: tuple[Segment, ...]
    next_position: int

    @classmethod
    def of(
        cls,
        rows: Rows,
        table: Table,
        positions: np.ndarray | None = None,
        next_position: int | None = None,
    ) -> Self:
        """Return one segment with all rows in it, numbered from 0 if not told otherwise."""
        if positions is None or next_position is None:
            positions, next_position = np.arange(len(rows)), len(rows)
        return cls((Segment(rows, table, positions, np.ones(len(rows), bool)),), next_position)

    def __len__(self) -> int:
        return sum(segment.n_live for segment in self.segments)

    @property
    def added_later(self) -> list[Segment]:
        """The segments of rows that came after the measure was fitted."""
        return [segment for segment in self.segments[1:] if not segment.fitted]

    @property
    def positions(self) -> np.ndarray:
        """Numbers of the rows that are not hidden, ascending."""
        return np.concatenate([segment.positions[segment.live] for segment in self.segments])

    def added(self, rows: Rows, table: Table) -> Segments:
        """Return the segments with more rows, which get the next numbers."""
        end = self.next_position + len(rows)
        positions = np.arange(self.next_position, end)
        segments = [*self.segments, Segment(rows, table, positions, np.ones(len(rows), bool))]
        while len(segments) > 2 and len(segments[-2]) < 2 * len(segments[-1]):
            if segments[-2].sealed:
                break
            last, before = segments.pop(), segments.pop()
            segments.append(_join_segments([before, last]))
        return Segments(tuple(segments), end)

    def compacted(self, most: int) -> Segments | None:
        """Return the segments with some neighbors joined and their hidden rows dropped.

        One group is joined at a call, so that no more than so many rows are copied at once; None:
        there is nothing to be done. Fitted rows and later ones stay apart.

        Parameters
        ----------
        most : int
            The rows of a group.
        """
        for start, segment in enumerate(self.segments):
            count, stop = segment.n_live, start + 1
            later = start > 0 and not segment.fitted
            while stop < len(self.segments):
                other = self.segments[stop]
                if later != (not other.fitted) or count + other.n_live > most:
                    break
                count, stop = count + other.n_live, stop + 1
            group = self.segments[start:stop]
            if stop - start == 1 and segment.n_live == len(segment):
                continue
            joined = [] if start and not count else [_live_rows(group)]
            return replace(self, segments=(*self.segments[:start], *joined, *self.segments[stop:]))
        return None

    def without(self, positions: Iterable[int]) -> Segments:
        """Return the segments with some rows, none of them hidden yet, hidden."""
        found = self.look_up(positions)
        if not found:
            return self
        parts, _ = _gather(found)
        hidden = {id(segment): segment.without(at) for segment, at in parts}
        return Segments(tuple(hidden.get(id(s), s) for s in self.segments), self.next_position)

    def find(self, position: int) -> tuple[Segment, int] | None:
        """Return the segment of a row and its position there; None if it is hidden or unknown."""
        for segment in self.segments:
            at = segment.find(position)
            if at >= 0:
                return (segment, at) if segment.live[at] else None
        return None

    def look_up(self, positions: Iterable[int]) -> list[tuple[Segment, int]]:
        """Return for each of some rows, none of them hidden, its segment and where it stands."""
        return [self._locate(position) for position in positions]

    def _locate(self, position: int) -> tuple[Segment, int]:
        location = self.find(position)
        assert location is not None, "the index asks for live rows only"
        return location

    # -- searching ---------------------------------------------------------------------------------

    def nearest(
        self,
        measure: Measure,
        a: Rows,
        k: int,
        exclude: np.ndarray,
        hide: np.ndarray,
        masks: Masks = None,
        sketches: Sketches | None = None,
    ) -> NeighborGraph:
        """Return unfinished lists of the k nearest live rows.

        Parameters
        ----------
        measure : Measure
        a : Rows, the queries
        k : int
        exclude : int64, one position per query that may not be in its list; -1: none
        hide : int64, positions that may be in no list
        masks : a boolean array per segment, optional
            Only these rows are searched.
        sketches : Sketches, optional
            What proposes rows instead of looking at all; None: exact search.
        """

        def ask(rows: Rows, positions: np.ndarray, wide: int) -> NeighborGraph:
            return measure.nearest(a, rows, wide, exclude=exclude, ids=positions)

        def among(segment: Segment, mask: np.ndarray | None) -> NeighborGraph | None:
            if sketches is not None and not len(hide):
                allowed, positions = segment.allowed(mask), segment.positions
                found = sketches.nearest(measure, a, segment.rows, k, allowed, exclude, positions)
                if found is not None:
                    return found
            if len(hide) or not measure.steps_over(segment.rows, k):
                return None
            allowed, positions = segment.allowed(mask), segment.positions
            if allowed is None:
                return ask(segment.rows, positions, k)
            return measure.nearest_among(
                a, segment.rows, k, allowed, exclude=exclude, ids=positions
            )

        return self._merge(ask, len(a), k, hide, masks, among)

    def best(
        self, measure: Measure, wanted: Feedback, k: int, hide: np.ndarray, masks: Masks = None
    ) -> NeighborGraph:
        """Return the unfinished list of the k live rows with the smallest feedback scores."""
        nobody = np.array([-1])
        n_jobs = getattr(measure, "n_jobs", None)

        def ask(rows: Rows, positions: np.ndarray, wide: int) -> NeighborGraph:
            def score(_: slice, part: slice) -> np.ndarray:
                b = rows[part]
                far: Any = ()
                if wanted.negative is not None:
                    far = measure.block(wanted.negative, b)
                return rocchio(measure.block(wanted.positive, b), far, wanted.gamma)[None]

            fill = fill_by_blocks(score, positions, nobody)
            return search(fill, 1, len(rows), wide, n_jobs=n_jobs)

        return self._merge(ask, 1, k, hide, masks)

    def _merge(
        self,
        ask: Callable[[Rows, np.ndarray, int], NeighborGraph],
        n: int,
        k: int,
        hide: np.ndarray,
        masks: Masks,
        among: Callable[[Segment, np.ndarray | None], NeighborGraph | None] = lambda *_: None,
    ) -> NeighborGraph:
        lists: NeighborGraph | None = None
        for number, segment in enumerate(self.segments):
            mask = None if masks is None else masks[number]
            found = among(segment, mask)
            if found is None:  # else rows were stepped over, nothing had to be copied
                rows, positions, hidden = segment.view(mask)
                if not len(rows):
                    continue
                gone = np.concatenate([hidden, hide])
                # Enough room for the k best even if every row that may not be listed comes first.
                found = _without(ask(rows, positions, min(k + len(gone), len(rows))), gone, k)
            lists = found if lists is None else lists.merge(found)
        if lists is None:
            return NeighborGraph.empty(n, k, self.next_position)
        return replace(lists, n_indexed=self.next_position)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that numbers rise from segment to segment."""
        require(self.segments, "Segments", "at least one segment", "none")
        last = -1
        for segment in self.segments:
            rising = not len(segment) or segment.positions[0] > last
            require(rising, "Segments", "numbers that rise from segment to segment", "others")
            last = int(segment.positions[-1]) if len(segment) else last
        require(last < self.next_position, "Segments.next_position", f"above {last}", "another")


def as_id(value: Any) -> Any:
    """Return an id as Python writes it: a whole number as int, whatever it was kept as."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def rows_at(locations: Sequence[tuple[Segment, int]]) -> Rows:
    """Return encoded rows in the order in which they were looked up."""
    parts, order = _gather(locations)
    rows = join_rows([segment.rows[at] for segment, at in parts])
    return rows if len(parts) == 1 else rows[order]


def _gather(
    locations: Sequence[tuple[Segment, int]],
) -> tuple[list[tuple[Segment, np.ndarray]], np.ndarray]:
    """Group rows by segment, which is much quicker than one by one; return the way back too."""
    groups: dict[int, list[int]] = {}
    for number, (segment, _) in enumerate(locations):
        groups.setdefault(id(segment), []).append(number)
    numbers = list(groups.values())
    parts = [(locations[some[0]][0], np.array([locations[n][1] for n in some])) for some in numbers]
    return parts, np.argsort(np.concatenate(numbers))


def _without(lists: NeighborGraph, gone: np.ndarray, k: int) -> NeighborGraph:
    """Return lists of k without the rows that may not be listed."""
    if isinstance(lists, ShiftedGraph):
        return _without(lists.unshifted(), gone, k).shifted(lists.shift)
    drop = np.isin(lists.indices, gone)
    order = np.argsort(drop, axis=1, kind="stable")[:, :k]
    dropped = np.take_along_axis(drop, order, axis=1)
    indices = np.take_along_axis(lists.indices, order, axis=1)
    distances = np.take_along_axis(lists.distances, order, axis=1)
    kept = NeighborGraph.empty(len(lists), k, lists.n_indexed, lists.has_self)
    width = order.shape[1]
    kept.indices[:, :width] = np.where(dropped, -1, indices)
    kept.distances[:, :width] = np.where(dropped, np.inf, distances)
    return kept


def _join_segments(parts: Sequence[Segment]) -> Segment:
    return Segment(
        join_rows([part.rows for part in parts]),
        join_tables([part.table for part in parts]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.live for part in parts]),
    )


def _live_rows(parts: Sequence[Segment]) -> Segment:
    """Return the rows of some segments that are not hidden, held in memory."""
    at = [np.flatnonzero(part.live) for part in parts]
    positions = np.concatenate([part.positions[some] for part, some in zip(parts, at, strict=True)])
    return Segment(
        join_rows([part.rows[some] for part, some in zip(parts, at, strict=True)]),
        join_tables([part.table[some] for part, some in zip(parts, at, strict=True)]),
        positions,
        np.ones(len(positions), bool),
    )
