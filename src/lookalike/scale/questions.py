"""Questions to a folder of shards, each shard asked by whoever has time."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lookalike._version import __version__
from lookalike.measures.lists import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import write_shard
from lookalike.scale.clients import connect
from lookalike.scale.parts import Part, run_parts
from lookalike.scale.summary import Summary
from lookalike.scale.tasks import answer_part
from lookalike.search.shard_folder import ShardFolder
from lookalike.search.shard_rows import pack_rows

__all__ = ["kneighbors"]


def kneighbors(
    folder: str | os.PathLike[str],
    queries: Any,
    k: int = 5,
    client: Any = None,
    *,
    tell: Callable[[Summary], None] = lambda summary: None,
) -> NeighborGraph:
    """Return the rows of an index in a folder that are nearest to others, found by many workers.

    Every task asks one shard; the lists merge in any order to those of one process, ties included.
    Positions are those of the rows in the files.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.search.build_index``)
    queries : id, record, table, or several of them, as ``Index.search`` takes them
        A row of the index is not in its own list.
    k : int
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.scale import kneighbors
    >>> graph = kneighbors("rows.index", {"weight": 29.0}, k=10)  # doctest: +SKIP
    """
    place = Path(folder).absolute()
    opened = ShardFolder.open(place)
    now = opened.snapshot()
    check_k(k, len(now.segments), "kneighbors", False, "k")
    read = now.reader.read(queries, "kneighbors")
    asked = place / "graphs" / f"questions-{uuid.uuid4().hex}"
    asked.parent.mkdir(exist_ok=True)
    arrays = pack_rows(now.measure, read.rows)
    arrays[("seen",)], arrays[("exclude",)] = read.rows.seen, read.places
    write_shard(asked, arrays, {"rows": len(read.rows)})
    lists = [NeighborGraph.empty(len(read.rows), k, now.segments.next_place)]

    def merge(found: NeighborGraph) -> None:
        lists[0] = lists[0].merge(found)

    args = (str(place), __version__, opened.manifest.generation, str(asked))
    parts = [Part((*args, number, int(k))) for number in range(len(now.segments.segments))]
    try:
        with connect(client) as workers:
            tell(run_parts(workers, answer_part, parts, "searched", merge))
    finally:
        shutil.rmtree(asked, ignore_errors=True)
    return lists[0]
