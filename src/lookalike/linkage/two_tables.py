"""Two tables read by one schema: for the rows of one the nearest rows of the other.

What joins, matches and audits share. The rows of the right table are those of an index; the left
table is read by the schema of the right one, in parts if it stays in its files. No matrix of all
pairs is made: every answer is a list of neighbors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, WrongType, name_some, suggest
from lookalike.index import Index
from lookalike.index.hits import Reasons
from lookalike.index.relevance import reweigh
from lookalike.index.segments import rows_at, tables_at
from lookalike.index.snapshot import Snapshot
from lookalike.measures import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.neighbors.exact import MAX_QUERIES_PER_BLOCK, fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.table import Kind, LazyTable, Schema, Table, as_table
from lookalike.table.formats.raw import as_number

BATCH_ROWS = 65_536  # rows of the left table that are encoded together; chosen by hand
SECONDS_PER_DAY = 86_400.0
EVERY = slice(None)
# Kinds whose cells are written as text, and are equal or not; series, vectors and graphs are not.
WRITTEN = ("number", "category", "order", "flag", "text", "set", "sequence", "object")
Names = str | Iterable[str] | None
# What a verb calls its tables, if not "table" and "other"; an audit asks for each synthetic row.
NAMES = {"match": ("table", "control"), "audit": ("synthetic", "table")}


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

    def take(self, at: Any) -> Side:
        """Return some of the rows."""
        if at is EVERY:  # the same object, with the byte codes that are cached beside its rows
            return self
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
    max_distance : float
        The largest distance within a pair.
    words : what the verb calls the left and the right table, for errors
    """

    left: Table | LazyTable
    right: Snapshot
    measure: Measure
    on: tuple[str, ...]
    by: tuple[str, ...] = ()
    calipers: Mapping[str, float] = field(default_factory=dict)
    max_distance: float = math.inf
    words: tuple[str, str] = ("table", "other")
    _codes: dict[Hashable, int] = field(default_factory=dict, repr=False)

    @property
    def reason(self) -> str | None:
        """Why this measure; None where it was asked for."""
        return None if self.right.reason == "given" else self.right.reason

    def nearest(self, k: int = 1, who: str = "join") -> NeighborGraph:
        """Return lists of the k nearest rows of the right table for each row of the left one.

        A list is shorter, filled with -1, where fewer rows may be paired, or have anything in
        common with it. Positions are those of the index.
        """
        check_matches(k, len(self.right.segments), who)
        return self._pair_up(self.left_sides(), self.right_sides, k)

    def mutual(self, lists: NeighborGraph) -> NeighborGraph:
        """Return the lists with those pairs only in which each row is in the list of the other."""
        wanted = np.unique(lists.indices[lists.indices >= 0])
        if not len(wanted):
            return lists
        asked = [side.take(np.isin(side.positions, wanted)) for side in self.right_sides]
        back = NeighborGraph.empty(len(wanted), lists.k, len(lists))
        for part in self.left_sides():  # one after another: they need not fit in memory together
            back = back.merge(self._pair_up(asked, [part.take(part.positions >= 0)], lists.k))
        place = np.minimum(np.searchsorted(wanted, lists.indices), len(wanted) - 1)
        own = np.arange(len(lists))[:, None, None]
        return drop_pairs(lists, ~(back.indices[place] == own).any(axis=2))

    def _pair_up(self, sides: Iterable[Side], others: Sequence[Side], k: int) -> NeighborGraph:
        """Return the k nearest of the others for each row, among those that may be paired."""
        found = []
        for side in sides:
            lists = NeighborGraph.empty(len(side.rows), k, self.right.segments.next_position)
            for other in others:
                near = NeighborGraph.empty(len(side.rows), k, 0)
                for i, j in equal_keys(side.keys, other.keys) if len(other.rows) else ():
                    some = self._search(side.take(i), other.take(j), k)
                    near.indices[i, : some.k] = some.indices
                    near.distances[i, : some.k] = some.distances
                lists = lists.merge(near)
            # A row without any value, at position -1, is equally far from all others.
            far = ~np.isfinite(lists.distances) | (lists.distances > self.max_distance)
            found.append(drop_pairs(lists, far | (side.positions < 0)[:, None]))
        indices = np.concatenate([one.indices for one in found])
        distances = np.concatenate([one.distances for one in found])
        return NeighborGraph(indices, distances, found[0].n_indexed)

    def _search(self, side: Side, other: Side, k: int) -> NeighborGraph:
        """Return the nearest rows within all calipers; pairs outside count as infinitely far."""
        if not self.calipers:
            most = min(k, len(other.rows))
            return self.measure.nearest(side.rows, other.rows, most, ids=other.positions).plain()
        # Sorted by the first caliper: the candidates of neighboring queries are one window. Rows
        # where the cell is missing are last, and left out: they are within no caliper.
        width, (x, y) = next(iter(self.calipers.values())), (side.numbers[0], other.numbers[0])
        queries, candidates = (np.argsort(z)[: np.isfinite(z).sum()] for z in (x, y))
        lists = NeighborGraph.empty(len(side.rows), k, 0)
        for part in blocks(len(queries), MAX_QUERIES_PER_BLOCK):
            at = queries[part]
            low = np.searchsorted(y[candidates], x[at[0]] - width, "left")
            high = np.searchsorted(y[candidates], x[at[-1]] + width, "right")
            near = other.take(candidates[low:high])
            block = partial(self._block, side.take(at), near)
            fill = fill_by_blocks(block, near.positions, np.full(len(at), -1))
            found = search(fill, len(at), len(near.rows), k)
            lists.indices[at], lists.distances[at] = found.indices, found.distances
        return lists

    def _block(self, one: Side, other: Side, i: slice, j: slice) -> np.ndarray:
        far = self.measure.block(one.rows[i], other.rows[j])
        for width, x, y in zip(self.calipers.values(), one.numbers, other.numbers, strict=True):
            far[~(np.abs(x[i, None] - y[None, j]) <= width)] = np.inf  # of NaN too
        return far

    # -- rows of either side -----------------------------------------------------------------------

    def left_sides(self) -> Iterator[Side]:
        """Yield the rows of the left table in parts; a row without any value is at position -1."""
        for rows in blocks(len(self.left), BATCH_ROWS):
            known = self.read_left(self.left[rows])
            empty = np.all([known[name].missing for name in self.on], axis=0)
            positions = np.where(empty, -1, np.arange(rows.start, rows.stop))
            yield self._side(self.encode_left(known), positions, known)

    @cached_property
    def right_sides(self) -> list[Side]:
        """The live rows of the right table, a side for each segment."""
        parts = self.right.segments.segments
        sides = [self._side(one.rows, one.positions, one.table) for one in parts]
        live = [EVERY if one.n_live == len(one) else one.live for one in parts]
        return [side.take(rows) for side, rows in zip(sides, live, strict=True)]

    def _side(self, rows: Rows, positions: np.ndarray, table: Table) -> Side:
        keys = None
        if self.by:
            columns = [table[name] for name in self.by]
            cells = zip(*(column.values.tolist() for column in columns), strict=True)
            codes = [self._codes.setdefault(cell, len(self._codes)) for cell in cells]
            keys = np.where(np.any([column.missing for column in columns], axis=0), -1, codes)
        numbers = [np.asarray(table[name].values, np.float64) for name in self.calipers]
        return Side(rows, positions, keys, numbers)

    def read_left(self, part: Table, word: str = "") -> Table:
        """Read rows of the left table, or of one like it, by the schema of the right one.

        Parameters
        ----------
        part : Table
        word : str
            What the verb calls the table; "": the left one.
        """
        both = word or self.words[0], self.words[1]
        kinds = dict(self.right.schema.kinds)
        sample = self.right.segments.segments[0].typical_table
        kinds |= {name: sample[name].kind for name in (*self.by, *self.calipers)}
        names = dict.fromkeys((*self.on, *self.by, *self.calipers))
        differ = [name for name in names if part[name].kind.name != kinds[name].name]
        for name in differ:
            # Numbers would all be unknown levels, where no level is a number.
            worded = kinds[name].name in ("category", "order") and part[name].kind.name == "number"
            if worded and all(as_number(str(level)) is None for level in kinds[name].levels):
                raise _other_kind(name, part[name].kind, kinds[name], both)
        schema = Schema(kinds, {}, self.right.schema.missing)
        try:
            return as_table(part.only(names), schema, who=Phrase(Param(both[0])), partial=True)
        except (InvalidInput, WrongType) as error:
            if not differ:
                raise
            raise _other_kind(differ[0], part[differ[0]].kind, kinds[differ[0]], both) from error

    def encode_left(self, known: Table) -> Rows:
        """Encode rows that ``read_left`` returned."""
        return self.measure.encode(known.only(self.measure.schema_.kinds))

    def right_rows(self, positions: np.ndarray) -> Table:
        """Return rows of the right table, in the order asked for."""
        if not len(positions):
            return self.right.segments.segments[0].typical_table[:0]
        return tables_at(self.right.segments.look_up(positions.tolist()))

    def explain(self, row: int, positions: Sequence[int]) -> list[Explanation]:
        """Say why a row of the left table is like some of the right one."""
        known, locations = self.read_left(self.left[[row]]), self.right.segments.look_up(positions)
        cells = [(segment.table, offset) for segment, offset in locations]
        query, find = self.encode_left(known), partial(rows_at, locations)
        reasons = Reasons(self.measure, query, (known, 0), find, cells, self.right.styles)
        return [reasons.of(number) for number in range(len(positions))]


def check_matches(k: int, n: int, who: str) -> None:
    """Refuse more matches for each row than the other table has rows.

    Parameters
    ----------
    k : int
    n : int, how many rows the other table has
    who : str, the verb
    """
    check_k(k, sys.maxsize, who, False, "k")
    if k > n:
        needed, hint = f"at least {k} rows in the other table", ("Use ", Param("k", n))
        raise TooFewRows(Param("k", k, of=who), needed, f"{n:,}", hint)


def drop_pairs(lists: NeighborGraph, drop: np.ndarray) -> NeighborGraph:
    """Return lists without some of their entries; the others move up."""
    # Stable: what is kept stays in the order of its distances.
    order = np.argsort(drop | (lists.indices < 0), axis=1, kind="stable")
    indices = np.take_along_axis(np.where(drop, -1, lists.indices), order, axis=1)
    distances = np.take_along_axis(np.where(drop, np.inf, lists.distances), order, axis=1)
    return NeighborGraph(indices, distances, lists.n_indexed)


def equal_keys(left: np.ndarray | None, right: np.ndarray | None) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of both sides that have the same key; all rows where there are no keys.

    Examples
    --------
    >>> pairs = equal_keys(np.array([0, 1, 0]), np.array([0, -1, 1, 1]))
    >>> [(i.tolist(), j.tolist()) for i, j in pairs]
    [([0, 2], [0]), ([1], [2, 3])]
    """
    if left is None or right is None:
        yield EVERY, EVERY
        return
    # Sorted once, so that each key is a slice: a mask per key would read all rows for each.
    orders = [np.argsort(keys, kind="stable") for keys in (left, right)]
    ranked = left[orders[0]], right[orders[1]]
    for key in np.intersect1d(left[left >= 0], right[right >= 0]).tolist():
        i, j = (slice(*np.searchsorted(keys, [key, key + 1])) for keys in ranked)
        yield orders[0][i], orders[1][j]


# -- reading ---------------------------------------------------------------------------------------


def read_two(
    left: Table | LazyTable,
    right: Table | Index,
    measure: Any = "auto",
    *,
    on: Names = None,
    by: Names = None,
    calipers: Mapping[str, float] | None = None,
    max_distance: float = math.inf,
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
        but for those of ``by``. Columns without any value are left out.
    by : name or names, optional
        Columns in which the rows of a pair must be equal; a missing cell equals none.
    calipers : mapping of column to number, optional
        The largest difference within a pair, of numbers, or of dates in days.
    max_distance : float
        The largest distance within a pair.
    weights : mapping of column to number, optional
    who : str
        The verb, for errors.

    Examples
    --------
    >>> import lookalike as la
    >>> cities = la.read_table({"size": [1.0, 5.0, 3.0], "coast": ["yes", "no", "no"]})
    >>> new = la.read_table({"size": [6.0, 1.5], "coast": ["no", "yes"], "name": ["A", "B"]})
    >>> read_two(new, cities).nearest(1).indices.tolist()
    [[1], [0]]
    """
    named, exact, widths = _as_names(on), tuple(_as_names(by)), dict(calipers or {})
    if isinstance(right, Table):
        right = right.compare_also([*(weights or ()), *named])
        sample, known = right, [*right.names]
    else:
        sample, known = right.sample, [*right.schema_.kinds]
    words = NAMES.get(who, ("table", "other"))
    tables = dict(zip(words, (left, sample), strict=True))
    check_names(tables, {"on": named, "by": exact, "max_distance": widths})
    wanted, ours = named or [name for name in known if name not in exact], column_names(left)
    compared = [name for name in wanted if name in ours and not _lacks(name, tables)]
    if not compared:
        raise nothing_common(tables, wanted, exact)
    if isinstance(right, Table):
        right = Index(measure).fit(right.compare_by(compared))
    state = right.state_
    # An index may compare columns that the left table has not: these then weigh nothing.
    only = None if set(compared) == set(state.schema.kinds) else compared
    fitted = reweigh(state.measure, state.schema, weights, only, who)
    for name in widths:  # dates are stored as seconds
        widths[name] *= SECONDS_PER_DAY if sample[name].kind.source else 1.0
    return TwoTables(left, state, fitted, tuple(compared), exact, widths, max_distance, words)


def _as_names(names: Names) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def column_names(table: Table | LazyTable) -> list[str]:
    """Return the names of all columns, those set aside too."""
    return [column.name for column in (table.like if isinstance(table, LazyTable) else table).every]


def _lacks(name: str, tables: Mapping[str, Table | LazyTable]) -> bool:
    """Whether one of the tables has no value in a column."""
    return any(
        (t.n_missing.get(name, 0) if isinstance(t, LazyTable) else t[name].missing.sum()) == len(t)
        for t in tables.values()
    )


def check_names(
    tables: Mapping[str, Table | LazyTable],
    given: Mapping[str, Iterable[str]],
    written: Container[str] = ("by",),
) -> None:
    """Refuse columns that a table has not, or whose kind cannot be what they are named for.

    Parameters
    ----------
    tables : mapping of what a verb calls a table to the table
    given : mapping of a parameter to the columns that it names
    written : parameters whose columns have to hold what can be written, and so be equal
    """
    both = "columns of both tables" if len(tables) > 1 else "columns of the table"
    last: Any = [*tables.values()][-1]
    for word, name in ((word, name) for word, names in given.items() for name in names):
        for which, table in tables.items():
            if name not in (known := column_names(table)):
                there = (f"{name!r}, which is not in ", Param(which))
                raise InvalidInput(Param(word), both, there, suggest(name, known))
        # In the last table: the first one is read as it is.
        kind = last[name].kind.name
        found = f"{name!r}, which holds {kind}"
        if word == "max_distance" and kind != "number":
            equal = ("Use ", Param("by", [name]), " for pairs that are equal in it")
            raise InvalidInput(Param(word), "columns of numbers or dates", found, equal)
        if word in written and kind not in WRITTEN:
            hint = "Use columns of numbers, categories or texts"
            raise InvalidInput(Param(word), "cells that can be equal", found, hint)


def nothing_common(
    tables: Mapping[str, Table | LazyTable], tried: Iterable[str], exact: Iterable[str] = ()
) -> InvalidInput:
    """Return the error about tables without a column to compare.

    Parameters
    ----------
    tables : mapping of what a verb calls a table to the table
    tried : names of columns that have no values in both tables
    exact : names of columns in which pairs are equal
    """
    names, words = [*map(column_names, tables.values())], [*map(Param, tables)]
    common = [name for name in names[0] if name in names[-1]]
    empty = [name for name in common if _lacks(name, tables)]
    back = [name for name in common if name not in {*empty, *tried, *exact}]
    ours, theirs = (name_some(some, 5) for some in (names[0], names[-1]))
    found: Any = (f"{ours} in ", words[0], f", {theirs} in ", words[-1])
    hint: Any = "Rename columns so that what is to be compared has one name in both"
    if back:
        last: Any = [*tables.values()][-1]
        found = f"only {back[0]!r}, which is set aside ({last[back[0]].kind.reason})"
        hint = ("Compare by it all the same: ", Param("on", back[0]))
    elif empty:
        found, hint = f"only missing cells in {name_some(empty)}", "Fill in a column"
    blamed = words[0] if [*tables] == [*NAMES["audit"]] else words[-1]
    return InvalidInput(blamed, "a column with values in both tables", found, hint)


def _other_kind(name: str, left: Kind, right: Kind, words: tuple[str, str]) -> InvalidInput:
    """Return the error about a column that holds something else in each table."""
    first, second = map(Param, words)
    ours, theirs = f" ({left.reason}), {right.name} in ", f" ({right.reason})"
    found = (f"{left.name} in ", first, ours, second, theirs)
    kinds = Param("kinds", {name: "text"}, of="read_table")
    option = Param("columns" if words == NAMES["audit"] else "on")
    hint = ("Say what it is in both with ", kinds, ", or name other columns with ", option)
    return InvalidInput(f"column {name!r}", "the same kind in both tables", found, hint)
