"""The answer of a join: pairs of rows, nearest first, with their cells and reasons."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lookalike._runtime.files import replacing
from lookalike._runtime.frames import frame_of_arrow
from lookalike._runtime.text import plain, short
from lookalike._runtime.threads import blocks
from lookalike.linkage.two_tables import TwoTables
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.reasons import sentence
from lookalike.show.result import Result, Spell
from lookalike.table import Table
from lookalike.table.model.labels import label_of

if TYPE_CHECKING:
    from rich.console import Console

MAX_SHOWN_PAIRS = 20  # in the text form
MAX_CELL_WIDTH = 32  # characters of the name of a row there
PAIRS_PER_PART = 65_536  # pairs that are written to a file together; chosen by hand
OURS = ("row", "match", "rank", "distance")
SIDES = ("for", "against")
NO_FRAMES: tuple[Any, Any] = (None, None)


@dataclass(frozen=True, eq=False)
class Joined(Result):
    """Pairs of rows of two tables; ``to_frame()`` is a frame of the kind that came in.

    Parameters
    ----------
    tables : TwoTables
    lists : NeighborGraph
        For each row of the first table the rows of the other, -1 where there is none.
    ids : functions of positions, that return the ids of the rows of either table
    names : of the two tables
    measure : str, in words
    k : int
    why : bool
        Whether reasons belong to the answer.
    backend : str
        The library of the frame that came in.
    frames : the two tables as Arrow, where frames came in; None: their cells as they were read

    Attributes
    ----------
    rows, matches, ranks, distances : arrays with an entry for each pair
        Position in the first table, position in the other, 1 for the nearest, and the distance.
    unmatched : list, the ids of the rows of the first table that have no match
    """

    tables: TwoTables
    lists: NeighborGraph
    ids: tuple[Callable[[np.ndarray], list[Any]], Callable[[np.ndarray], list[Any]]]
    names: tuple[str, str]
    measure: str
    k: int = 1
    why: bool = False
    backend: str = "pandas"
    frames: tuple[Any, Any] = field(default=NO_FRAMES, repr=False)

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        rows, ranks = np.nonzero(self.lists.indices >= 0)
        return rows, ranks

    @property
    def rows(self) -> np.ndarray:
        """Positions in the first table, ascending."""
        return self._pairs[0]

    @property
    def matches(self) -> np.ndarray:
        """Positions in the other table."""
        return self.lists.indices[self._pairs]

    @property
    def ranks(self) -> np.ndarray:
        """1 for the nearest row, 2 for the next, ..."""
        return self._pairs[1] + 1

    @property
    def distances(self) -> np.ndarray:
        """Distances of the pairs."""
        return self.lists.distances[self._pairs]

    @cached_property
    def unmatched(self) -> list[Any]:
        """Ids of the rows of the first table without a match."""
        return self.ids[0](np.flatnonzero((self.lists.indices < 0).all(axis=1)))

    def __len__(self) -> int:
        return len(self.rows)

    # -- forms -------------------------------------------------------------------------------------

    def to_arrow(self, part: slice = slice(None)) -> Any:
        """Return pairs as an Arrow table: ids, rank and distance, then the cells of both rows.

        A column of the other table that the first one has too is called ``other.<name>``.

        Parameters
        ----------
        part : slice of the pairs
        """
        rows, matches = self.rows[part], self.matches[part]
        columns: dict[str, Any] = {
            "row": arrow_ids(self.ids[0](rows)),
            "match": arrow_ids(self.ids[1](matches)),
            "rank": pa.array(self.ranks[part]),
            "distance": pa.array(self.distances[part]),
        }
        if self.why:
            texts = [
                [[reason.text for reason in side] for side in both] for both in self.phrases(part)
            ]
            for i, side in enumerate(SIDES):
                columns[side] = pa.array(["; ".join(both[i]) for both in texts], pa.string())
        first = take_cells(self.frames[0], lambda: self.tables.left[rows], rows)
        other = take_cells(self.frames[1], lambda: self.tables.right_rows(matches), matches)
        for prefix, cells in (("table.", first), ("other.", other)):
            for name in cells.column_names:
                columns[f"{prefix}{name}" if name in columns else name] = cells[name]
        return pa.table(columns)

    def phrases(self, part: slice = slice(None)) -> list[tuple[list[Any], list[Any]]]:
        """Return the two best reasons for and against each of some pairs."""
        rows, matches = self.rows[part], self.matches[part]
        found: list[tuple[list[Any], list[Any]]] = []
        for row in np.unique(rows).tolist():
            explained = self.tables.explain(row, matches[rows == row].tolist())
            found += [each.phrases(2) for each in explained]
        return found

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the pairs as a data frame, by default of the library that the first table is of.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
        """
        return frame_of_arrow(self.to_arrow(), backend or self.backend)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs to a Parquet file, in parts: they need not fit in memory.

        Parameters
        ----------
        path : str or path
        """
        head = self.to_arrow(slice(0, PAIRS_PER_PART))
        with replacing(path) as file, pq.ParquetWriter(file, head.schema) as writer:
            writer.write_table(head)
            for part in [*blocks(len(self), PAIRS_PER_PART)][1:]:
                writer.write_table(self.to_arrow(part).cast(head.schema))

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per pair, as ``to_arrow`` does."""
        whole = self.to_arrow()
        return {name: whole[name].to_pylist() for name in whole.column_names}

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs with the record of the row found, and the rows without a match."""
        found = self.tables.right_rows(self.matches)
        ids = (of(some) for of, some in zip(self.ids, (self.rows, self.matches), strict=True))
        columns = *ids, self.ranks.tolist(), self.distances.tolist()
        pairs = [dict(zip(OURS, line, strict=True)) for line in zip(*columns, strict=True)]
        for number, pair in enumerate(pairs):
            pair["record"] = found.record(number)
        if self.why:
            for pair, both in zip(pairs, self.phrases(), strict=True):
                sides = ([reason.to_dict() for reason in side] for side in both)
                pair["reasons"] = dict(zip(SIDES, sides, strict=True))
        answer = {
            "measure": self.measure,
            "reason": self.tables.reason,
            "on": list(self.tables.on),
            "by": list(self.tables.by),
            "rows": len(self.lists),
            "pairs": pairs,
            "unmatched": self.unmatched,
        }
        return {name: plain(value) for name, value in answer.items()}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the first pairs, by the names of their rows, and how many rows have none."""
        n, (left, right) = len(self.lists), self.names
        rows = "row" if self.k == 1 else f"{self.k} rows"
        layout.headline(console, f"{left}: the nearest {rows} of {right} for each of {n:,} rows, "
                        f"by {self.measure}")  # fmt: skip
        if self.tables.reason not in ("", "given"):
            layout.say(console, self.tables.reason)
        shown = slice(0, MAX_SHOWN_PAIRS)
        if len(self):
            self._render_pairs(console, shown)
        if len(self) > MAX_SHOWN_PAIRS:
            more = f"{len(self) - MAX_SHOWN_PAIRS:,} more pairs (csv, json and parquet have all)"
            layout.say(console, more)
        if self.unmatched:
            gone = f"{len(self.unmatched):,} of {n:,} rows have no match"
            layout.say(console, gone, "yellow")

    def _render_pairs(self, console: Console, shown: slice) -> None:
        rows, matches = self.rows[shown], self.matches[shown]
        first = write_names(self.tables.left[rows], self.ids[0](rows))
        other = write_names(self.tables.right_rows(matches), self.ids[1](matches))
        lines = [[a, b, f"{d:.3g}"]
                 for a, b, d in zip(first, other, self.distances[shown], strict=True)]  # fmt: skip
        heads = [("row", "left"), ("match", "left"), ("distance", "right")]
        if self.why:
            heads.append(("why", "fold"))
            for line, both in zip(lines, self.phrases(shown), strict=True):
                line.append(sentence(*both))
        console.print(layout.grid(heads, lines))


def write_names(table: Table, ids: Sequence[Any]) -> list[str]:
    """Return the names of rows with their ids, cut to what fits in a column."""
    label = label_of(table)
    names = [label.write(table.record(row), id) for row, id in enumerate(ids)]
    return [str(short(name, MAX_CELL_WIDTH)) for name in names]


def arrow_ids(ids: Sequence[Any]) -> Any:
    """Return ids as an Arrow array; of several types they are text."""
    try:
        return pa.array(ids)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([str(id) for id in ids])


def take_cells(frame: Any, read: Callable[[], Table], rows: np.ndarray) -> Any:
    """Return the cells of some rows as Arrow: of a frame that came in, else as they were read."""
    return read().to_frame("pyarrow") if frame is None else frame.take(pa.array(rows))
