"""The answer of a join: pairs of rows, nearest first, with their cells and reasons."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lookalike._runtime.files import replacing
from lookalike._runtime.frames import frame_of_arrow
from lookalike._runtime.text import short
from lookalike._runtime.threads import blocks
from lookalike.linkage.two_tables import EVERY, TwoTables
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.reasons import Reason, sentence
from lookalike.show.result import Console, Result, Spell, as_json
from lookalike.table import Table
from lookalike.table.model.labels import RowLabel, label_of

MAX_SHOWN_PAIRS = 20  # in the text form
MAX_CELL_WIDTH = 32  # characters of the name of a row there
PAIRS_PER_PART = 65_536  # pairs that are written to a file together; chosen by hand
SIDES = ("for", "against")


@dataclass(eq=False)
class Joined(Result):
    """Pairs of rows of two tables; ``to_frame()`` is a frame of the kind that came in.

    Parameters
    ----------
    tables : TwoTables
    lists : NeighborGraph
        For each row of the first table the rows of the other; -1 fills shorter lists.
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
    frames: tuple[Any, Any] = field(default=(None, None), repr=False)

    def __post_init__(self) -> None:
        found = self.lists.indices >= 0
        self.rows, ranks = np.nonzero(found)
        self.ranks, self.matches = ranks + 1, self.lists.indices[found]
        self.distances = self.lists.distances[found]
        self.unmatched = self.ids[0](np.flatnonzero(~found.any(axis=1)))

    def __len__(self) -> int:
        return len(self.rows)

    def _about(self, part: slice = EVERY) -> dict[str, Sequence[Any]]:
        """Return ids, rank and distance of some pairs."""
        ids = self.ids[0](self.rows[part]), self.ids[1](self.matches[part])
        numbers = self.ranks[part].tolist(), self.distances[part].tolist()
        return dict(zip(("row", "match", "rank", "distance"), (*ids, *numbers), strict=True))

    def to_arrow(self, part: slice = EVERY) -> Any:
        """Return pairs as an Arrow table: ids, rank and distance, then the cells of both rows.

        A column of the other table that the first one has too is called ``other.<name>``.

        Parameters
        ----------
        part : slice of the pairs
        """
        rows, matches = self.rows[part], self.matches[part]
        columns: dict[str, Any] = self._about(part)
        for i, side in enumerate(SIDES if self.why else ()):
            columns[side] = ["; ".join(one.text for one in both[i]) for both in self.phrases(part)]
        # Frames that came in keep the types of their library; others are written as they were read.
        for i, (prefix, frame) in enumerate(zip(("table.", "other."), self.frames, strict=True)):
            if frame is not None:
                cells = frame.take(pa.array((rows, matches)[i]))
            else:
                table = self.tables.right_rows(matches) if i else self.tables.left[rows]
                cells = table.to_frame("pyarrow")
            for name in cells.column_names:
                columns[f"{prefix}{name}" if name in columns else name] = cells[name]
        return pa.table(columns)

    def phrases(self, part: slice = EVERY) -> list[tuple[list[Reason], list[Reason]]]:
        """Return the two best reasons for and against each of some pairs."""
        rows, matches = self.rows[part], self.matches[part]
        # By row of the first table, which is read and encoded once for all its matches.
        each = ((row, matches[rows == row].tolist()) for row in np.unique(rows).tolist())
        return [one.phrases(2) for row, some in each for one in self.tables.explain(row, some)]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the pairs as a data frame, by default of the library that the first table is of.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
        """
        return frame_of_arrow(self.to_arrow(), backend or self.backend)

    def head(self, n: int = 5) -> Any:
        """Return the first pairs, as ``to_frame()`` has them.

        Parameters
        ----------
        n : int
        """
        return frame_of_arrow(self.to_arrow(slice(0, n)), self.backend)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs to a Parquet file, in parts: they need not fit in memory.

        Parameters
        ----------
        path : str or path
        """
        # The first part decides on the types: one with missing cells only would have others.
        head = self.to_arrow(slice(0, PAIRS_PER_PART))
        with replacing(path) as file, pq.ParquetWriter(file, head.schema) as writer:
            writer.write_table(head)
            for part in [*blocks(len(self), PAIRS_PER_PART)][1:]:
                writer.write_table(self.to_arrow(part).cast(head.schema))

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per pair, as ``to_arrow`` does."""
        return dict(self.to_arrow().to_pydict())

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs with the record of the row found, and the rows without a match."""
        about, found = self._about(), self.tables.right_rows(self.matches)
        pairs = [dict(zip(about, line, strict=True)) for line in zip(*about.values(), strict=True)]
        for number, pair in enumerate(pairs):
            pair["record"] = found.record(number)
        for pair, both in zip(pairs, self.phrases(), strict=True) if self.why else ():
            phrases = [[one.to_dict() for one in some] for some in both]
            pair["reasons"] = dict(zip(SIDES, phrases, strict=True))
        return as_json(
            measure=self.measure,
            reason=self.tables.reason,
            on=self.tables.on,
            by=self.tables.by,
            rows=len(self.lists),
            pairs=pairs,
            unmatched=self.unmatched,
        )

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the first pairs, by the names of their rows, and how many rows have none."""
        n, (left, right) = len(self.lists), self.names
        rows = "row" if self.k == 1 else f"{self.k} rows"
        text = f"{left}: the nearest {rows} of {right} for each of {n:,} rows, by {self.measure}"
        self._render_head(console, text)
        shown = slice(0, MAX_SHOWN_PAIRS)
        about, matches = self._about(shown), self.matches[shown]
        some = self.tables.left[self.rows[shown]]
        right_rows = self.tables.right.segments.segments[0].typical_table
        # A table on disk is named by the rows that are shown.
        left_rows = self.tables.left if isinstance(self.tables.left, Table) else some
        names = [
            write_names(some, about["row"], label_of(left_rows)),
            write_names(self.tables.right_rows(matches), about["match"], label_of(right_rows)),
            [f"{distance:.3g}" for distance in about["distance"]],
        ]
        heads = [("row", "left"), ("match", "left"), ("distance", "right")]
        if self.why:  # reasons are sentences: below their pair they have the whole width
            reasons = [sentence(*both) for both in self.phrases(shown)]
            for row, match, distance, why in zip(*names, reasons, strict=True):
                layout.headline(console, f"{row}: {match}, at {distance}")
                layout.say(console, why, indent=2)
        elif len(self):
            console.print(layout.grid(heads, zip(*names, strict=True)))
        if len(self) > MAX_SHOWN_PAIRS:
            more = f"{len(self) - MAX_SHOWN_PAIRS:,} more pairs (csv, json and parquet have all)"
            layout.say(console, more)
        self._render_unmatched(console)

    def _render_head(self, console: Console, text: str) -> None:
        layout.headline(console, text)
        if self.tables.reason is not None:
            layout.say(console, self.tables.reason)

    def _render_unmatched(self, console: Console) -> None:
        if self.unmatched:
            gone = f"{len(self.unmatched):,} of {len(self.lists):,} rows have no match"
            layout.say(console, gone, "yellow")


def write_names(table: Table, ids: Sequence[Any], label: RowLabel) -> list[str]:
    """Return the names of rows with their ids, cut to what fits in a column.

    The label is that of the whole table: any column tells a few rows apart.
    """
    names = [label.write(table.record(row), id) for row, id in enumerate(ids)]
    return [str(short(name, MAX_CELL_WIDTH)) for name in names]
