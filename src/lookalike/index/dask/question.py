"""A question as workers get it: a folder of encoded rows, masks and, if it differs, a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.index.segments import Feedback, Segments
from lookalike.index.shards.segment import map_rows, pack_rows
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Key, open_shard, write_shard
from lookalike.saving.encode import write as write_saved
from lookalike.saving.load import load

MEASURE = "measure.lookalike"
ABOUT, ASKED, UNLIKED = "about", "asked", "unliked"


@dataclass(frozen=True, eq=False)
class Question:
    """What the shards of a folder are asked.

    Parameters
    ----------
    measure : Measure
    asked : Rows, the queries; with feedback the rows that a list should be near to
    k : int
    exclude : int64, one position per query that may not be in its list; -1: none
    hide : int64, positions that may be in no list
    masks : a boolean array per shard, optional
        Only these rows are searched.
    gamma : float or None
        With feedback, how much the rows count that a list should be far from.
    unliked : Rows, optional
        These rows.
    """

    measure: Measure
    asked: Rows
    k: int
    exclude: np.ndarray
    hide: np.ndarray
    masks: Sequence[np.ndarray] | None = None
    gamma: float | None = None
    unliked: Rows | None = None

    @property
    def n_lists(self) -> int:
        """How many lists there will be."""
        return len(self.asked) if self.gamma is None else 1

    def write(self, folder: Path, known: Measure) -> None:
        """Write it to a folder that is not there yet.

        Parameters
        ----------
        folder : Path
        known : Measure, that of the index: another one is written too
        """
        folder.mkdir(parents=True)
        if self.measure is not known:
            write_saved(folder / MEASURE, self.measure)
        for name, rows in ((ASKED, self.asked), (UNLIKED, self.unliked)):
            if rows is not None:
                arrays = pack_rows(self.measure, rows)
                write_shard(folder / name, {**arrays, ("seen",): rows.seen}, {"rows": len(rows)})
        arrays = {("exclude",): self.exclude, ("hide",): self.hide}
        masks: dict[Key, np.ndarray] = {
            ("mask", str(number)): mask for number, mask in enumerate(self.masks or ())
        }
        write_shard(folder / ABOUT, {**arrays, **masks}, {"k": self.k, "gamma": self.gamma})

    @classmethod
    def read(cls, folder: Path, known: Measure, number: int) -> Question:
        """Read what one shard is asked; of the masks its own alone.

        Parameters
        ----------
        folder : Path
        known : Measure of the index
        number : int, which shard
        """
        other = folder / MEASURE
        measure = load(other) if other.is_file() else known
        about = open_shard(folder / ABOUT)
        mask = ("mask", str(number))
        rows = []
        for name in (ASKED, UNLIKED):
            shard = open_shard(folder / name) if (folder / name).is_dir() else None
            rows.append(None if shard is None else map_rows(measure, shard, shard.array("seen")))
        asked, unliked = rows
        assert asked is not None, "every question asks about rows"
        return cls(
            measure,
            asked,
            int(about.about["k"]),
            about.array("exclude"),
            about.array("hide"),
            [about.array(*mask)] if mask in about.members else None,
            about.about["gamma"],
            unliked,
        )

    def answer(self, segments: Segments) -> NeighborGraph:
        """Return the lists of some segments, as one machine finds them."""
        if self.gamma is None:
            return segments.nearest(
                self.measure, self.asked, self.k, self.exclude, self.hide, self.masks
            )
        wanted = Feedback(self.asked, self.unliked, self.gamma)
        return segments.best(self.measure, wanted, self.k, self.hide, self.masks)
