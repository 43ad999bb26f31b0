"""Search and check a folder of shards by many workers, and find its neighbor graph."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.index import Index
from lookalike.index.dask.scheduling import Folder, Tell, connect, ignore, run_items
from lookalike.index.dask.tasks import check_part, graph_part, search_part
from lookalike.index.segments import Masks, SegmentQuery, Segments
from lookalike.index.shards.folder import SHARDS, ShardFolder
from lookalike.index.snapshot import check_list_size
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import find_shard, open_shard
from lookalike.saving.fields import Integer

ROWS_PER_TASK = 8192  # whose neighbors one task finds (chosen by hand: a task takes seconds)
WORK = "graphs"  # folder of results, inside that of the index


def knn_graph(
    folder: Folder,
    k: int = 5,
    client: Any = None,
    *,
    rows_per_task: int = ROWS_PER_TASK,
    tell: Tell = ignore,
) -> NeighborGraph:
    """Return the k nearest rows of every row of an index in a folder, found by many workers.

    Each task finds the neighbors of some rows among all, as ``Index.search`` would, and writes them
    to the folder; after a stop only those that are not there are found. The lists are those of one
    process, byte for byte.

    Parameters
    ----------
    folder : path of an index (``fit_encode``, ``lookalike.index.build_index``)
        From which no row was ever deleted.
    k : int
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    rows_per_task : int
        Fewer: more tasks, so that a lost worker costs less.
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.clustering import graph_density
    >>> from lookalike.hubness import k_occurrence
    >>> from lookalike.index.dask import knn_graph
    >>> graph = knn_graph("rows.index", k=10, client="tcp://scheduler:8786")  # doctest: +SKIP
    >>> hubs, clusters = k_occurrence(graph, 5), graph_density(graph)  # doctest: +SKIP
    """
    opened = ShardFolder.open(Path(folder).absolute())
    manifest, path = opened.manifest, opened.path
    n = manifest.next_position
    shards = [open_shard(path / SHARDS / name) for name in manifest.shards]
    # Lists are arrays by position: with deleted rows some positions would have no list.
    if manifest.deleted is not None or sum(shard.number("rows") for shard in shards) != n:
        extra = InPython(", or use Index.neighbors")
        hint = Phrase("Build a new folder from files without them", extra)
        needed = "an index from which no row was deleted"
        raise InvalidInput("knn_graph", needed, "rows that were deleted", hint)
    check_k(k, n - 1, "knn_graph", True, "k")
    check_list_size("knn_graph", n, k, "the lists are in the folder, as shards")
    Integer(1).check("scale", "rows_per_task", rows_per_task, "Raise it")
    # The name has all that a result depends on, so that one of another request is never used.
    here = path / WORK / f"{manifest.generation:06d}-{manifest.mark}"
    work = here / f"neighbors-{k}-{rows_per_task}"
    work.mkdir(parents=True, exist_ok=True)
    # Results for an earlier state of the rows are removed: nothing can use them any more.
    for old in set((path / WORK).iterdir()) - {here}:
        shutil.rmtree(old, ignore_errors=True)
    parts = {work / f"{i:06d}": part for i, part in enumerate(blocks(n, rows_per_task))}
    items = [
        (manifest.mark, str(target), part.start, part.stop, int(k))
        for target, part in parts.items()
        if find_shard(target) is None
    ]
    found = len(parts) - len(items)
    with connect(client) as workers:
        tell(run_items(workers, graph_part, path, items, "found the neighbors of", found))
    lists = NeighborGraph.empty(n, k, n)
    for target, part in parts.items():
        shard = open_shard(target)
        lists.indices[part] = shard.array("indices")
        lists.distances[part] = shard.array("distances")
    return lists.finish("last" if opened.head.measure.traits.undefined_last else "raise")


@contextmanager
def open_index(folder: Folder, client: Any = None, *, tell: Tell = ignore) -> Iterator[Index]:
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


def check(folder: Folder, client: Any = None, *, tell: Tell = ignore) -> dict[str, list[str]]:
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
        items = [(manifest.mark, number) for number in range(len(manifest.shards))]
        done = lambda answer: faults.update([answer])  # noqa: E731
        tell(run_items(workers, check_part, path, items, "checked", done=done))
    return {name: faults[name] for name in manifest.shards if faults[name]}


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
        self, query: SegmentQuery, masks: Masks = None, sketches: Any = None
    ) -> NeighborGraph:
        """Return unfinished lists, merged from those that the workers find."""
        lists = [NeighborGraph.empty(len(query.exclude), query.k, self.next_position)]

        # Merging is commutative, ties included, so tasks may finish in any order.
        def merge(some: NeighborGraph) -> None:
            lists[0] = lists[0].merge(some)

        # Workers have the measure of the index; only another one is sent.
        asked = replace(query, measure=None) if query.measure is self.measure else query
        bits = [None if mask is None else np.packbits(mask) for mask in masks or ()]
        bits = bits or [None] * len(self.segments)
        items = [(self.mark, number, asked, mask) for number, mask in enumerate(bits)]
        self.tell(run_items(self.client, search_part, self.folder, items, "searched", done=merge))
        return lists[0]
