"""Adding the rows of files to an index in a folder, part by part, so that they need no memory.

Parts become shards that no manifest names yet; they can be written in any order, by any process
that sees the folder. The manifest is written last: an addition that was stopped has not happened,
and what it left is removed by the next change.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput
from lookalike.index.segments import Segment
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.manifest import SHARDS
from lookalike.index.shards.segment import refuse_repeats, write_segment
from lookalike.index.snapshot import Snapshot
from lookalike.neighbors.shards import Shard, open_shard
from lookalike.table.formats.parquet import ParquetParts, find_files

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
        raise InvalidInput(WHO, "rows to add", "0 rows", "Name files that have some")
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
    column = addition.now.id_column
    if column is not None:

        def read(number: int, row: int) -> Any:
            at = np.array([addition.parts[number].start + row])
            return addition.files.take(at, [column]).column(0)[0].as_py()

        refuse_repeats(shards, read, column, WHO)
    folder.append(names, addition.now.segments.next_place + len(addition.files), WHO)
