"""Two tables read by one schema: for the rows of one the nearest rows of the other.

What joins, matches and audits share. The rows of the right table are those of an index; the left
table is read by the schema of the right one, in parts if it stays in its files. No matrix of all
pairs is made: every answer is a list of neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Param, Phrase, WrongType, name_some, suggest
from lookalike.index import Index
from lookalike.index.hits import Reasons
from lookalike.index.relevance import reweigh
from lookalike.index.segments import Segment, SegmentQuery, join_tables, rows_at
from lookalike.index.snapshot import Snapshot
from lookalike.measures import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.neighbors.exact import MAX_QUERIES_PER_BLOCK, fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Real
from lookalike.table import Column, Kind, LazyTable, Schema, Table, as_table

BATCH_ROWS = 65_536  # rows of the left table that are encoded together; chosen by hand
SECONDS_PER_DAY = 86_400.0
# Kinds whose cells are equal or not, so that pairs can be required to agree in them.
EXACT = ("number", "category", "order", "flag", "text", "set", "sequence", "object")


@dataclass(frozen=True, eq=False)
class Side:
    """Encoded rows of one table, with what two rows of a pair must agree in.

    Parameters
    ----------
    rows : Rows
    positions : int64, the position of each in its table
    keys : int64 or None
        Equal where all exact-match columns are, -1 where one of them is missing.
    numbers : float64 arrays, the cells of the columns with a caliper
    """

    rows: Rows
    positions: np.ndarray
    keys: np.ndarray | None = None
    numbers: Sequence[np.ndarray] = ()

    def take(self, at: np.ndarray) -> Side:
        """Return some of the rows."""
        keys = None if self.keys is None else self.keys[at]
        return Side(self.rows[at], self.positions[at], keys, [x[at] for x in self.numbers])


@dataclass(frozen=True, eq=False)
class TwoTables:
    """Two tables whose rows are compared; made by ``read_two``.

    Parameters
    ----------
    left : Table or LazyTable
    right : Snapshot of an index
    measure : Measure, fitted to the right table
    on : names of the columns that are compared
    by : names of the columns in which pairs must be equal
    calipers : mapping of a column of numbers to the largest difference within a pair
    reason : str, why this measure
    """

    left: Table | LazyTable
    right: Snapshot
    measure: Measure
    on: tuple[str, ...]
    by: tuple[str, ...] = ()
    calipers: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    _codes: dict[Hashable, int] = field(default_factory=dict, repr=False)

    def nearest(self, k: int = 1, who: str = "join") -> NeighborGraph:
        """Return lists of the k nearest rows of the right table for each row of the left one.

        A list is shorter, filled with -1, where fewer rows may be paired, or have anything in
        common with it. Positions are those of the index.
        """
        check_k(k, len(self.right.segments), who, False, "k")
        parts = [self._nearest(side, k) for side in self.left_sides()]
        return NeighborGraph(
            np.concatenate([part.indices for part in parts]),
            np.concatenate([part.distances for part in parts]),
            self.right.segments.next_position,
        )

    def _nearest(self, side: Side, k: int) -> NeighborGraph:
        if self.by or self.calipers:
            return self.pair_up(side, self.right_sides, k)
        query = SegmentQuery(self.measure, side.rows, k, np.full(len(side.rows), -1))
        return self._only_comparable(self.right.segments.nearest(query).plain(), side)

    def pair_up(self, side: Side, others: Sequence[Side], k: int) -> NeighborGraph:
        """Return the k nearest of the other side for each row, among those that may be paired."""
        size = max((int(one.positions.max(initial=-1)) for one in others), default=-1) + 1
        lists = NeighborGraph.empty(len(side.rows), k, size)
        for other in others:
            lists = lists.merge(self._within_keys(side, other, k, size))
        return self._only_comparable(lists, side)

    def _only_comparable(self, lists: NeighborGraph, side: Side) -> NeighborGraph:
        """Drop pairs at no finite distance; a row without any value is as far from all."""
        drop = ~np.isfinite(lists.distances) | (side.positions < 0)[:, None]
        return drop_pairs(lists, drop)

    def _within_keys(self, side: Side, other: Side, k: int, size: int) -> NeighborGraph:
        lists = NeighborGraph.empty(len(side.rows), k, size)
        for i, j in equal_keys(side.keys, other.keys, len(side.rows), len(other.rows)):
            one, near = side.take(i), other.take(j)
            if self.calipers:
                self._within_calipers(one, near, lists, i)
                continue
            found = self.measure.nearest(
                one.rows, near.rows, min(k, len(j)), ids=near.positions
            ).plain()
            lists.indices[i, : found.k], lists.distances[i, : found.k] = (
                found.indices,
                found.distances,
            )
        return lists

    def _within_calipers(self, side: Side, other: Side, lists: NeighborGraph, to: Any) -> None:
        """Fill lists with the nearest rows within all calipers; the others count as infinite."""
        widths = list(self.calipers.values())
        # Sorted by the first caliper: the candidates of neighboring queries are one window.
        first, (x, y) = widths[0], (side.numbers[0], other.numbers[0])
        queries, candidates = (np.argsort(z, kind="stable")[: np.isfinite(z).sum()] for z in (x, y))
        for part in blocks(len(queries), MAX_QUERIES_PER_BLOCK):
            at = queries[part]
            low, high = x[at[0]] - first, x[at[-1]] + first
            window = candidates[
                np.searchsorted(y[candidates], low, "left") : np.searchsorted(
                    y[candidates], high, "right"
                )
            ]
            if not len(window):
                continue
            one, near = side.take(at), other.take(np.sort(window))

            def compare(i: slice, j: slice, one: Side = one, near: Side = near) -> np.ndarray:
                far = self.measure.block(one.rows[i], near.rows[j])
                for width, a, b in zip(widths, one.numbers, near.numbers, strict=True):
                    # A missing cell is within no caliper: NaN compares as false.
                    far[~(np.abs(a[i, None] - b[None, j]) <= width)] = np.inf
                return far

            fill = fill_by_blocks(compare, near.positions, np.full(len(at), -1))
            found = search(fill, len(at), len(near.rows), lists.k)
            rows = np.asarray(to)[at]
            lists.indices[rows], lists.distances[rows] = found.indices, found.distances

    def mutual(self, lists: NeighborGraph) -> NeighborGraph:
        """Return the lists with those pairs only in which each row is in the list of the other."""
        wanted = np.unique(lists.indices[lists.indices >= 0])
        if not len(wanted):
            return lists
        back = NeighborGraph.empty(len(wanted), lists.k, len(lists))
        asked = [
            side.take(np.flatnonzero(np.isin(side.positions, wanted))) for side in self.right_sides
        ]
        for other in self.left_sides():
            known = other.take(np.flatnonzero(other.positions >= 0))
            parts = [self.pair_up(side, [known], lists.k) for side in asked if len(side.rows)]
            back = back.merge(
                NeighborGraph(
                    np.concatenate([part.indices for part in parts]),
                    np.concatenate([part.distances for part in parts]),
                    len(lists),
                )
            )
        row = np.searchsorted(wanted, lists.indices)
        own = np.arange(len(lists))[:, None, None]
        listed = (back.indices[np.minimum(row, len(wanted) - 1)] == own).any(axis=2)
        return drop_pairs(lists, ~listed)

    # -- rows of either side -----------------------------------------------------------------------

    def left_sides(self) -> Iterator[Side]:
        """Yield the rows of the left table in parts; a row without any value is at position -1."""
        start = 0
        for part in self._left_parts():
            known = self.read_left(part)
            compared = [known[name] for name in self.on]
            empty = np.all([column.missing for column in compared], axis=0)
            positions = np.where(empty, -1, np.arange(start, start + len(part)))
            yield self._side(self.encode_left(known), positions, known)
            start += len(part)

    def _left_parts(self) -> Iterator[Table]:
        if isinstance(self.left, LazyTable):
            yield from self.left.batches(BATCH_ROWS)
        else:
            yield from (self.left[part] for part in blocks(len(self.left), BATCH_ROWS))

    @cached_property
    def right_sides(self) -> list[Side]:
        """The live rows of the right table, a side for each segment."""
        return [self._right_side(segment) for segment in self.right.segments.segments]

    def _right_side(self, segment: Segment) -> Side:
        whole = segment.n_live == len(segment)
        side = self._side(segment.rows, segment.positions, segment.table)
        return side if whole else side.take(np.flatnonzero(segment.live))

    def _side(self, rows: Rows, positions: np.ndarray, table: Table) -> Side:
        keys = None
        if self.by:
            columns = [table[name] for name in self.by]
            missing = np.any([column.missing for column in columns], axis=0)
            cells = zip(*(column.values.tolist() for column in columns), strict=True)
            codes = [self._codes.setdefault(cell, len(self._codes)) for cell in cells]
            keys = np.where(missing, -1, codes)
        numbers = [np.asarray(table[name].values, np.float64) for name in self.calipers]
        return Side(rows, positions, keys, numbers)

    def read_left(self, part: Table) -> Table:
        """Read rows of the left table by the schema of the right one."""
        kinds = dict(self.right.schema.kinds)
        also = {name: self.right_kind(name) for name in (*self.by, *self.calipers)}
        names = dict.fromkeys((*self.on, *also))
        schema = Schema(kinds | also, {}, self.right.schema.missing)
        for name in names:
            _check_levels(part[name], schema.kinds[name])
        try:
            return as_table(part.only(names), schema, who=Phrase(Param("table")), partial=True)
        except (InvalidInput, WrongType) as error:
            differ = [n for n in names if part[n].kind.name != schema.kinds[n].name]
            if not differ:
                raise
            raise other_kind(differ[0], part[differ[0]].kind, schema.kinds[differ[0]]) from error

    def encode_left(self, known: Table) -> Rows:
        """Encode rows that ``read_left`` returned."""
        return self.measure.encode(known.only(self.measure.schema_.kinds))

    def right_kind(self, name: str) -> Kind:
        """Return what a column of the right table holds."""
        return self.right.segments.segments[0].typical_table[name].kind

    def right_rows(self, positions: np.ndarray) -> Table:
        """Return rows of the right table, in the order asked for."""
        segments = self.right.segments.segments
        if len(segments) == 1:  # without a loop over the rows
            return segments[0].table[np.searchsorted(segments[0].positions, positions)]
        owner = np.array(
            [next(n for n, s in enumerate(segments) if s.find(p) >= 0) for p in positions.tolist()],
            dtype=np.int64,
        )
        order = np.argsort(owner, kind="stable")
        parts = [
            segments[n].table[np.searchsorted(segments[n].positions, positions[owner == n])]
            for n in np.unique(owner).tolist()
        ]
        return join_tables(parts or [segments[0].table[:0]])[np.argsort(order)]

    def explain(self, row: int, positions: Sequence[int]) -> list[Explanation]:
        """Say why a row of the left table is like some of the right one."""
        known = self.read_left(self.left[np.array([row])])
        locations = self.right.segments.look_up(positions)
        cells = [(segment.table, offset) for segment, offset in locations]
        reasons = Reasons(
            self.measure, self.encode_left(known), (known, 0), lambda: rows_at(locations), cells,
            self.right.styles,
        )  # fmt: skip
        return [reasons.of(number) for number in range(len(positions))]


def drop_pairs(lists: NeighborGraph, drop: np.ndarray) -> NeighborGraph:
    """Return lists without some of their entries; the others move up."""
    order = np.argsort(drop | (lists.indices < 0), axis=1, kind="stable")
    indices = np.take_along_axis(np.where(drop, -1, lists.indices), order, axis=1)
    distances = np.take_along_axis(np.where(drop, np.inf, lists.distances), order, axis=1)
    return NeighborGraph(indices, distances, lists.n_indexed)


def equal_keys(
    left: np.ndarray | None, right: np.ndarray | None, n: int, m: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the positions of the rows of both sides that have the same key.

    Examples
    --------
    >>> pairs = equal_keys(np.array([0, 1, 0]), np.array([0, -1, 1, 1]), 3, 4)
    >>> [(i.tolist(), j.tolist()) for i, j in pairs]
    [([0, 2], [0]), ([1], [2, 3])]
    """
    if left is None or right is None:
        if n and m:
            yield np.arange(n), np.arange(m)
        return
    # Sorted once, so that each key is a slice: a mask per key would read all rows for each.
    orders = [np.argsort(keys, kind="stable") for keys in (left, right)]
    for key in np.intersect1d(left[left >= 0], right[right >= 0]).tolist():
        i, j = (
            order[slice(*np.searchsorted(keys[order], [key, key + 1]))]
            for keys, order in zip((left, right), orders, strict=True)
        )
        yield i, j


# -- reading ---------------------------------------------------------------------------------------


def read_two(
    left: Table | LazyTable,
    right: Table | Index,
    measure: Any = "auto",
    *,
    on: Any = None,
    by: Any = None,
    calipers: Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    who: str = "join",
) -> TwoTables:
    """Fit a measure to the right table, and read the left one as it is read.

    Parameters
    ----------
    left : Table or LazyTable
    right : Table, or Index, which has a measure of its own
    measure : Measure, name of one, or "auto"
    on : name or names, optional
        The columns that are compared. None: all that the right table compares and the left one has,
        but for those of ``by``.
    by : name or names, optional
        Columns in which the rows of a pair must be equal; a missing cell equals none.
    calipers : mapping of column to number, optional
        The largest difference within a pair, of numbers, or of dates in days.
    weights : mapping of column to number, optional
    who : str
        The verb, for errors.

    Examples
    --------
    >>> import lookalike as la
    >>> cities = la.read_table({"size": [1.0, 5.0, 3.0], "coast": ["yes", "no", "no"]})
    >>> new = la.read_table({"size": [4.0, 1.5], "coast": ["no", "yes"], "name": ["A", "B"]})
    >>> read_two(new, cities).nearest(1).indices.tolist()
    [[1], [0]]
    """
    like = left.like if isinstance(left, LazyTable) else left
    if isinstance(right, Index):
        sample, known = right.sample, list(right.schema_.kinds)
    else:
        right = right.compare_also([*(weights or ()), *_as_names(on)])
        sample, known = right, list(right.names)
    exact = tuple(_as_names(by))
    widths = _check_calipers(calipers or {})
    for word, names in (("on", _as_names(on)), ("by", exact), ("max_distance", widths)):
        _check_present(names, like, sample, word)
    _check_kinds_of(sample, exact, widths)
    compared = _as_names(on) or [
        name
        for name in known
        if name in _names(like) and name not in exact and not _is_empty(left, name)
    ]
    if not compared:
        raise _nothing_common(like, sample, exact)
    for name in _as_names(on):
        _check_filled(left, sample, name)
    if not isinstance(right, Index):
        right = Index(measure).fit(right.compare_by(compared))
    state = right.state_
    only = None if set(compared) == set(state.schema.kinds) else compared
    fitted = reweigh(state.measure, state.schema, weights, only, who)
    unit = {name: SECONDS_PER_DAY if sample[name].kind.source else 1.0 for name in widths}
    scaled = {name: width * unit[name] for name, width in widths.items()}
    return TwoTables(left, state, fitted, tuple(compared), exact, scaled, state.reason)


def _as_names(names: Any) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns + table.aside]


def _is_empty(table: Table | LazyTable, name: str) -> bool:
    if isinstance(table, LazyTable):
        return table.n_missing.get(name, 0) == len(table)
    return bool(table[name].missing.all())


def _check_present(names: Any, left: Table, right: Table, word: str) -> None:
    for name in names:
        for table, which in ((left, "the first"), (right, "the other")):
            if name not in _names(table):
                hint = suggest(str(name), _names(table))
                found = f"{name!r}, which {which} has not"
                raise InvalidInput(Param(word), "columns of both tables", found, hint)


def _check_calipers(calipers: Mapping[str, float]) -> dict[str, float]:
    for name, width in calipers.items():
        hint = ("Pass for example ", Param("max_distance", {name: 2}))
        Real(0.0, finite=True).check(Phrase(Param("max_distance")), str(name), width, Phrase(*hint))
    return {name: float(width) for name, width in calipers.items()}


def _check_kinds_of(sample: Table, exact: Sequence[str], widths: Mapping[str, float]) -> None:
    for name in widths:
        if sample[name].kind.name != "number":
            found = f"{name!r}, which holds {sample[name].kind.name}"
            exactly = ("Use ", Param("by", [name]), " for pairs that are equal in it")
            needed = "a column of numbers or dates"
            raise InvalidInput(Param("max_distance"), needed, found, exactly)
    for name in exact:
        if sample[name].kind.name not in EXACT:
            found = f"{name!r}, which holds {sample[name].kind.name}"
            hint = "Use a column of numbers, categories or texts"
            raise InvalidInput(Param("by"), "columns whose cells can be equal", found, hint)


def _check_filled(left: Table | LazyTable, right: Table, name: str) -> None:
    for table, which in ((left, "the first table"), (right, "the other table")):
        if _is_empty(table, name):
            found, hint = f"{name!r}, missing in every row of {which}", "Compare by other columns"
            raise InvalidInput(Param("on"), "columns with values", found, hint)


def _nothing_common(left: Table, right: Table, exact: Sequence[str]) -> InvalidInput:
    ours, theirs = (name_some(_names(table), 5) for table in (left, right))
    aside = [c for c in right.aside if c.name in _names(left) and c.name not in exact]
    aside = [c for c in aside if not (c.missing.all() or left[c.name].missing.all())]
    if aside:
        reason = f"{aside[0].name!r}, which is set aside ({aside[0].kind.reason})"
        still = ("Compare by it all the same: ", Param("on", aside[0].name))
        needed = "a column to compare in both tables"
        return InvalidInput(Param("other"), needed, f"only {reason}", still)
    found = f"{ours} in the first table, {theirs} in the other"
    hint = "Rename columns so that what is to be compared has one name in both"
    return InvalidInput(Param("other"), "a column with values in both tables", found, hint)


def other_kind(name: str, left: Kind, right: Kind) -> InvalidInput:
    """Return the error about a column that holds something else in each table."""
    found = f"{left.name} in the first ({left.reason}), {right.name} in the other ({right.reason})"
    read = InPython(" of read_table for both tables")
    kinds, rest = (
        Param("kinds", {name: "text"}),
        (", or compare by other columns with ", Param("on")),
    )
    hint = ("Say what it is with ", kinds, read, *rest)
    return InvalidInput(f"column {name!r}", "the same kind in both tables", found, hint)


def _check_levels(given: Column, kind: Kind) -> None:
    """Refuse numbers where the right table has levels, none of which is a number."""
    if given.kind.name == "number" and kind.name in ("category", "order"):
        if not any(map(_is_number, kind.levels)):
            raise other_kind(given.name, given.kind, kind)


def _is_number(level: Any) -> bool:
    try:
        return math.isfinite(float(level))
    except (TypeError, ValueError):
        return False
