"""Search and check a folder of shards by many workers, and find its neighbor graph."""

import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, LookalikeError, Phrase
from lookalike.index import Index
from lookalike.index.dask.scheduling import Folder, Tell, WorkItem, connect, ignore, run_items
from lookalike.index.dask.tasks import check_part, graph_part, save_query, search_part
from lookalike.index.segments import Masks, SegmentQuery, Segments
from lookalike.index.shards.folder import SHARDS, ShardFolder
from lookalike.index.snapshot import check_list_size
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import open_shard
from lookalike.saving.fields import Integer

ROWS_PER_TASK = 8192  # whose neighbors one task finds (chosen by hand: a task takes seconds)
QUERY_PREFIX = "query-"  # folders of searches under way, beside those of graphs
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
    opened = _open(folder, "knn_graph")
    n = opened.manifest.next_position
    check_k(k, n - 1, "knn_graph", True, "k")
    check_list_size("knn_graph", n, k, "the lists are in the folder, as shards")
    items = _items(opened, rows_per_task, int(k))
    with connect(client) as workers:
        tell(run_items(workers, graph_part, items, "found the neighbors of"))
    lists = NeighborGraph.empty(n, k, n)
    for item in items:
        shard, part = open_shard(item.args[3]), slice(*item.args[4:6])
        lists.indices[part] = shard.array("indices")
        lists.distances[part] = shard.array("distances")
    return lists.finish("last" if opened.head.measure.traits.undefined_last else "raise")


# -- tasks -----------------------------------------------------------------------------------------


def _open(folder: Folder, who: str) -> ShardFolder:
    opened = ShardFolder.open(Path(folder).absolute())
    shards = (open_shard(opened.path / SHARDS / name) for name in opened.manifest.shards)
    rows = sum(shard.number("rows") for shard in shards)
    # Lists are arrays by position: with deleted rows some positions would have no list.
    if opened.manifest.deleted is not None or rows != opened.manifest.next_position:
        extra = InPython(", or use Index.neighbors")
        hint = Phrase("Build a new folder from files without them", extra)
        needed = "an index from which no row was deleted"
        raise InvalidInput(who, needed, "rows that were deleted", hint)
    return opened


def _items(opened: ShardFolder, rows: int, k: int) -> list[WorkItem]:
    """Return a task for every ``rows`` rows; those with a result of an earlier run are done."""
    Integer(1).check("scale", "rows_per_task", rows, "Raise it")
    n, mark = opened.manifest.next_position, opened.manifest.mark
    here = f"{opened.manifest.generation:06d}-{mark}"
    # The name has all that a result depends on, so that one of another request is never used.
    work = opened.path / WORK / here / f"neighbors-{k}-{rows}"
    work.mkdir(parents=True, exist_ok=True)
    # Results for an earlier state of the rows are removed: nothing can use them any more.
    for old in (opened.path / WORK).iterdir():
        if old.name != here and not old.name.startswith(QUERY_PREFIX):
            shutil.rmtree(old, ignore_errors=True)
    items = []
    for number, start in enumerate(range(0, n, rows)):
        stop, target = min(start + rows, n), work / f"{number:06d}"
        args = (str(opened.path), __version__, mark, str(target), start, stop, k)
        items.append(WorkItem(args, _is_done(target, start, stop)))
    return items


def _is_done(target: Path, start: int, stop: int) -> bool:
    # A shard is written whole or not at all, so its page is enough to know that it is complete.
    try:
        about = open_shard(target).about
    except LookalikeError:
        return False
    return about.get("start") == start and about.get("stop") == stop


# -- search ----------------------------------------------------------------------------------------


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
        self, query: SegmentQuery, masks: Masks = None, sketches: Any = None
    ) -> NeighborGraph:
        """Return unfinished lists, merged from those that the workers find."""
        lists = [NeighborGraph.empty(len(query.exclude), query.k, self.next_position)]

        # Merging is commutative, ties included, so tasks may finish in any order.
        def merge(some: NeighborGraph) -> None:
            lists[0] = lists[0].merge(some)

        # In the folder of the index, since that is what all workers see.
        path = self.folder / WORK / f"{QUERY_PREFIX}{uuid.uuid4().hex}"
        items = _per_shard(self.segments, self.folder, self.mark, path)
        try:
            save_query(path, query, self.measure, masks)
            self.tell(run_items(self.client, search_part, items, "searched", merge))
        finally:
            shutil.rmtree(path, ignore_errors=True)
        return lists[0]
