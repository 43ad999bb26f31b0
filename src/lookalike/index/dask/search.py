"""Search and check a folder of shards by many workers."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._version import __version__
from lookalike.index import Index
from lookalike.index.dask.clients import connect
from lookalike.index.dask.graph import QUERY_PREFIX, WORK, Tell, ignore
from lookalike.index.dask.scheduling import WorkItem, run_items
from lookalike.index.dask.tasks import ShardQuery, check_part, search_part
from lookalike.index.segments import NO_POSITIONS, Feedback, Masks, Segments
from lookalike.index.shards.folder import ShardFolder
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.neighbors.graph import NeighborGraph


@contextmanager
def open_index(
    folder: str | os.PathLike[str], client: Any = None, *, tell: Tell = ignore
) -> Iterator[Index]:
    """Return an index in a folder whose shards are searched by many workers, for a block.

    Records, ids, filters, weights, feedback and reasons are those of ``Index``, and so are the
    results; only the search itself is distributed. Rows that are added or deleted here are written
    to the folder, and from then on this process searches alone.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    tell : callable
        Called with a ``Summary`` after every search.

    Examples
    --------
    >>> from lookalike.index.dask import open_index
    >>> with open_index("rows.index", "tcp://scheduler:8786") as index:  # doctest: +SKIP
    ...     index.search({"weight": 29.0}, k=10, filter={"town": "Bern"})
    """
    path = Path(folder).absolute()
    index = Index.open(path)
    with connect(client) as workers:
        now = index.state_
        assert index._folder is not None, "it was opened from one"
        mark = index._folder.manifest.mark
        rows = now.segments.segments, now.segments.next_position
        remote = _RemoteSegments(*rows, now.measure, path, mark, workers, tell)
        # Only the segments are replaced: reading queries, filters and reasons stay as they are.
        index.state_ = replace(now, segments=remote)
        yield index


def kneighbors(
    folder: str | os.PathLike[str],
    queries: Any,
    k: int = 5,
    client: Any = None,
    *,
    tell: Tell = ignore,
) -> NeighborGraph:
    """Return the rows of an index in a folder that are nearest to others, found by many workers.

    Every task searches one shard; the lists merge in any order to those of one process, ties
    included. Positions are those of the rows in the files.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
    queries : id, record, table, or several of them, as ``Index.search`` takes them
        A row of the index is not in its own list.
    k : int
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.index.dask import kneighbors
    >>> graph = kneighbors("rows.index", {"weight": 29.0}, k=10)  # doctest: +SKIP
    """
    with open_index(folder, client, tell=tell) as index:
        now = index.state_
        check_k(k, len(now.segments), "kneighbors", False, "k")
        read = now.reader.read(queries, "kneighbors")
        lists = now.segments.nearest(now.measure, read.rows, int(k), read.positions, NO_POSITIONS)
        return lists.plain()


def check(
    folder: str | os.PathLike[str], client: Any = None, *, tell: Tell = ignore
) -> dict[str, list[str]]:
    """Read every file of an index in a folder by many workers, and return what is wrong.

    Parameters
    ----------
    folder : path of an index
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    tell : callable
        Called with a ``Summary`` at the end.

    Returns
    -------
    mapping of the name of a shard to its faults, empty if all is whole; as ``Index.check``

    Examples
    --------
    >>> from lookalike.index.dask import check
    >>> check("rows.index", "tcp://scheduler:8786")  # doctest: +SKIP
    {}
    """
    path = Path(folder).absolute()
    manifest = ShardFolder.open(path).manifest
    faults: dict[str, list[str]] = {}
    with connect(client) as workers:
        items = _per_shard(manifest.shards, path, manifest.mark)
        tell(run_items(workers, check_part, items, "checked", lambda one: faults.update([one])))
    return {name: faults[name] for name in manifest.shards if faults[name]}


def _per_shard(shards: Sequence[Any], *args: Any) -> list[WorkItem]:
    folder, *more = map(str, args)
    return [WorkItem((folder, __version__, *more, number)) for number in range(len(shards))]


@dataclass(frozen=True, eq=False)
class _RemoteSegments(Segments):
    """The shards of a folder, searched by workers; all else is done here.

    Parameters
    ----------
    segments, next_position : as in ``Segments``
    measure : Measure of the index
    folder : Path
    mark : str, of the folder when it was opened
    client : distributed.Client
    tell : callable
    """

    measure: Measure
    folder: Path
    mark: str
    client: Any
    tell: Tell

    def nearest(
        self,
        measure: Measure,
        a: Rows,
        k: int,
        exclude: np.ndarray,
        omit: np.ndarray,
        masks: Masks = None,
        sketches: Any = None,
    ) -> NeighborGraph:
        """Return unfinished lists of the k nearest live rows."""
        return self._run(ShardQuery(measure, a, k, exclude, omit), len(a), masks)

    def best(
        self, measure: Measure, wanted: Feedback, k: int, omit: np.ndarray, masks: Masks = None
    ) -> NeighborGraph:
        """Return the unfinished list of the k live rows with the smallest feedback scores."""
        exclude = np.array([-1])
        feedback = wanted.gamma, wanted.negative
        return self._run(
            ShardQuery(measure, wanted.positive, k, exclude, omit, *feedback), 1, masks
        )

    def _run(self, query: ShardQuery, n: int, masks: Masks) -> NeighborGraph:
        lists = [NeighborGraph.empty(n, query.k, self.next_position)]

        # Merging is commutative, ties included, so tasks may finish in any order.
        def merge(some: NeighborGraph) -> None:
            lists[0] = lists[0].merge(some)

        # In the folder of the index, since that is what all workers see.
        path = self.folder / WORK / f"{QUERY_PREFIX}{uuid.uuid4().hex}"
        items = _per_shard(self.segments, self.folder, self.mark, path)
        try:
            query.write(path, self.measure, masks)
            self.tell(run_items(self.client, search_part, items, "searched", merge))
        finally:
            shutil.rmtree(path, ignore_errors=True)
        return lists[0]
