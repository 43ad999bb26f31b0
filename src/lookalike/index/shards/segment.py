"""A segment of an index whose rows stay in files: mapped codes and rows, cells read when shown."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, UnreadableFile
from lookalike.index.segments import Segment, as_id
from lookalike.index.shards.cells import ShardTable, write_cells
from lookalike.index.shards.rows import (
    check_lengths,
    map_numbers,
    map_rows,
    pack_numbers,
    pack_rows,
)
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.shards import Key, Shard, write_shard
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import encode_cell
from lookalike.saving.encode import write as write_saved
from lookalike.table import Column, Table

CELLS, UNKNOWN = "cells.parquet", "unknown.lookalike"
NOTHING = np.empty(0, np.uint64)
SEALED = 2**16  # rows from which a shard is not written again when rows are added


@dataclass(frozen=True, eq=False)
class ShardSegment(Segment):
    """Some rows of an index, kept in a shard.

    Parameters
    ----------
    rows : Rows, mapped
    table : Table that reads its cells when they are asked for
    places, alive : as in ``Segment``
    shard : Shard
    is_fitted : bool, whether the measure was fitted to these rows
    sample : Table, optional
        What shows how the cells of all rows are written; None: this shard.
    ids : (hashes of the ids, ascending, and the row of each), mapped; empty without a column of ids
    """

    shard: Shard
    is_fitted: bool = False
    sample: Table | None = None
    ids: tuple[np.ndarray, np.ndarray] = (NOTHING, NOTHING)

    @property
    def fitted(self) -> bool:
        """Whether it is known to hold rows that the measure was fitted to."""
        return self.is_fitted

    @property
    def sealed(self) -> bool:
        """Whether it is never merged with rows that come later."""
        return self.is_fitted or len(self) >= SEALED

    @property
    def typical_table(self) -> Table:
        """A table that shows how the cells of the whole index are written."""
        return self.table if self.sample is None else self.sample

    def id_at(self, column: str, at: int) -> Any:
        """Return the id that a column gives to a row, by where it stands."""
        return as_id(self.table[column].cell(int(at)))

    def find_id(self, column: str, id: Any) -> int:
        """Return where the living row stands that a column gives an id to, -1 if there is none."""
        hashes, rows = self.ids
        wanted = np.array([_hash(id)], np.uint64)[0]
        first, last = (int(np.searchsorted(hashes, wanted, side)) for side in ("left", "right"))
        for at in sorted(rows[first:last].tolist(), reverse=True):
            if self.id_at(column, at) == id:  # the last one counts, deleted or not
                return at if self.alive[at] else -1
        return -1

    def ids_among(self, column: str, ids: Sequence[Any]) -> set[Any]:
        """Return which of some ids a column gives to living rows."""
        hashes = self.ids[0]
        wanted = np.fromiter(map(_hash, ids), np.uint64, len(ids))
        at = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
        maybe = np.flatnonzero(hashes[at] == wanted) if len(hashes) else ()
        return super().ids_among(column, [ids[int(one)] for one in maybe])

    def view(self, mask: np.ndarray | None) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Return rows to be searched, their numbers, and the numbers among them that are hidden."""
        # Unlike in memory, what is cut out is not kept: all shards together may not fit.
        allowed = self.allowed(mask)
        if allowed is None:
            return self.rows, self.places, np.empty(0, np.int64)
        at = np.flatnonzero(allowed)
        return self.rows[at], self.places[at], np.empty(0, np.int64)


def write_segment(
    folder: Path, measure: Measure, segment: Segment, id_column: str | None, **about: Any
) -> Shard:
    """Write the rows of a segment as a shard, whole or not at all.

    Parameters
    ----------
    folder : Path that the shard gets
    measure : Measure, fitted, that the rows are encoded by
    segment : Segment
    id_column : str or None
    about : what else is to be said about the shard; JSON must hold it
    """
    arrays: dict[Key, np.ndarray] = pack_rows(measure, segment.rows)
    said: dict[str, Any] = {"rows": len(segment)}
    for key, numbers in (("places", segment.places), ("seen", segment.rows.seen)):
        packed, words = pack_numbers(key, numbers)
        arrays |= packed
        said |= words
    table = segment.table
    if id_column is not None:
        hashes = id_hashes(table[id_column])
        order = np.argsort(hashes, kind="stable")
        arrays["ids", "hash"], arrays["ids", "row"] = hashes[order], order
    more = {CELLS: lambda path: write_cells(path, table)}
    if any(column.unknown for column in table):
        more[UNKNOWN] = lambda path: write_saved(path, table[:0])
    return write_shard(folder, arrays, {**about, **said}, more)


def open_segment(
    measure: Measure, shard: Shard, like: Table, *, fitted: bool, sample: Table | None
) -> ShardSegment:
    """Return the rows of a shard as a segment, none of them read.

    Parameters
    ----------
    measure : Measure, fitted
    shard : Shard
    like : Table without rows, with the columns of the index
    fitted : bool, whether the measure was fitted to these rows
    sample : Table, optional, what shows how cells are written
    """
    n = shard.number("rows")
    check_lengths(shard, n)
    if UNKNOWN in shard.files:
        like = read_saved(shard.path(UNKNOWN), root=Table)
    rows = map_rows(measure, shard, map_numbers(shard, "seen", n))
    table = ShardTable(shard.path(CELLS), like, n)
    places = map_numbers(shard, "places", n)
    if len(places) != n:
        where = f"Shard {shard.folder.name!r}.places"
        raise UnreadableFile(where, f"{n:,} numbers", f"{len(places):,}", "Build it again")
    ids = (NOTHING, NOTHING)
    if ("ids", "hash") in shard.members:  # mapped now: the shard may be replaced meanwhile
        ids = shard.array("ids", "hash"), shard.array("ids", "row")
    return ShardSegment(rows, table, places, np.ones(n, bool), shard, fitted, sample, ids)


def id_hashes(column: Column) -> np.ndarray:
    """Return a number per id, the same for equal ids."""
    found = (_hash(as_id(value)) for value in column.values)
    return np.fromiter(found, np.uint64, len(column))


def refuse_repeats(
    shards: Sequence[Shard], read: Callable[[int, int], Any], column: str, who: str
) -> None:
    """Refuse an id that comes in two shards; ids of one shard were compared when it was written.

    Parameters
    ----------
    shards : sequence of Shard
    read : callable from the number of a shard and of a row in it to the row's id
    column : str, the column of ids
    who : str, whose name an error begins with
    """
    hashes = np.concatenate([shard.array("ids", "hash") for shard in shards])
    where = np.repeat(np.arange(len(shards)), [len(shard.array("ids", "hash")) for shard in shards])
    order = np.argsort(hashes, kind="stable")
    hashes, where = hashes[order], where[order]
    for at in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
        ids = []
        for number in where[at : at + 2].tolist():
            shard = shards[number]
            row = shard.array("ids", "row")[shard.array("ids", "hash") == hashes[at]][0]
            ids.append(read(number, int(row)))
        if ids[0] == ids[1]:  # different ids may have one hash
            hint = "Use a column without repeats"
            found = f"{ids[0]!r} twice"
            raise InvalidInput(Param("id_column", column, of=who), "ids that differ", found, hint)


def _hash(id: Any) -> int:
    digest = hashlib.blake2b(encode_cell(id).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
