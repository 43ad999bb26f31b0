"""Adding the rows of files to an index in a folder, part by part, so that they need no memory.

Parts become shards that no manifest names yet; they can be written in any order, by any process
that sees the folder. The manifest is written last: an addition that was stopped has not happened,
and what it left is removed by the next change.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._threads import blocks
from lookalike.errors import InvalidInput, message
from lookalike.neighbors.shards import Shard, open_shard
from lookalike.search.segments import Segment
from lookalike.search.shard_folder import SHARDS, ShardFolder
from lookalike.search.shard_segment import write_segment
from lookalike.search.snapshot import Snapshot
from lookalike.table.parquet_parts import ParquetParts, find_files

__all__ = ["Addition", "begin_adding", "finish_adding", "write_added"]

WHO = "Index.add_files"


@dataclass(frozen=True, eq=False)
class Addition:
    """Files that are being added to a folder: what every worker needs to know.

    Parameters
    ----------
    folder : ShardFolder
    now : Snapshot, the index as it is
    files : ParquetParts
    """

    folder: ShardFolder
    now: Snapshot
    files: ParquetParts

    @property
    def parts(self) -> list[slice]:
        """Which rows of the files go into each shard."""
        return list(blocks(len(self.files), self.folder.manifest.shard_rows))

    def name(self, number: int) -> str:
        """Return the name of a shard; those that ``add`` writes come with every generation too."""
        return f"added-{self.folder.manifest.generation + 1:06d}-{number:06d}"


def begin_adding(folder: str | os.PathLike[str] | ShardFolder, paths: Any) -> Addition:
    """Look at files that are to be added.

    Parameters
    ----------
    folder : path, or ShardFolder
    paths : Parquet files, as ``read_table(paths, lazy=True)`` takes them
    """
    place = folder if isinstance(folder, ShardFolder) else ShardFolder.open(folder)
    place.as_opened(WHO)
    files = ParquetParts.open(find_files(paths))
    if not len(files):
        raise InvalidInput(message(WHO, "rows to add", "0 rows", "Name files that have some"))
    return Addition(place, place.snapshot(), files)


def write_added(addition: Addition, number: int) -> Shard:
    """Read and encode the rows of one part, and write them as a shard."""
    part, now = addition.parts[number], addition.now
    table = now.read_added(addition.files.read(part.start, part.stop), WHO)
    places = now.segments.next_place + np.arange(part.start, part.stop)
    segment = Segment(now.measure.encode(table), table, places, np.ones(len(table), bool))
    path = addition.folder.path / SHARDS / addition.name(number)
    return write_segment(path, now.measure, segment, now.id_column, fitted=False)


def finish_adding(addition: Addition) -> None:
    """Name the shards of an addition in the manifest; whoever calls it holds the folder's lock."""
    folder = addition.folder
    names = [addition.name(number) for number in range(len(addition.parts))]
    shards = [open_shard(folder.path / SHARDS / name) for name in names]
    _check_ids(addition, shards)
    folder.append(names, addition.now.segments.next_place + len(addition.files), WHO)


def _check_ids(addition: Addition, shards: Sequence[Shard]) -> None:
    """Refuse an id that comes in two parts; those of one part, and old ones, were looked at."""
    column = addition.now.id_column
    if column is None or len(shards) < 2:
        return
    hashes = np.concatenate([shard.array("ids", "hash") for shard in shards])
    once, times = np.unique(hashes, return_counts=True)
    for twice in once[times > 1]:
        rows = []
        for shard, part in zip(shards, addition.parts, strict=True):
            at = shard.array("ids", "row")[shard.array("ids", "hash") == twice]
            rows += (part.start + at).tolist()
        cells = addition.files.take(np.array(sorted(rows)), [column]).column(0).to_pylist()
        again = next((id for at, id in enumerate(cells) if id in cells[:at]), None)
        if again is not None:
            who = f"{WHO} (id_column={column!r})"
            do = "Use a column without repeats"
            raise InvalidInput(message(who, "ids that differ", f"{again!r} twice", do))
