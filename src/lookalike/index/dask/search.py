"""Search and check a folder of shards by many workers; its neighbor graph, hubness and clusters."""

import hashlib
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._version import __version__
from lookalike.clustering.density import graph_density
from lookalike.errors import InPython, InvalidInput, LookalikeError, Phrase
from lookalike.hubness import k_occurrence, skewness
from lookalike.hubness.mutual_proximity import mutual_proximity_graph
from lookalike.index import Index
from lookalike.index.dask.scheduling import Folder, Tell, WorkItem, connect, ignore, run_items
from lookalike.index.dask.tasks import check_part, graph_part, moments_part, save_query, search_part
from lookalike.index.query import read_query
from lookalike.index.segments import Masks, SegmentQuery, Segments
from lookalike.index.shards.folder import SHARDS, ShardFolder
from lookalike.index.snapshot import check_list_size
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Shard, open_shard
from lookalike.saving.fields import Integer

ROWS_PER_TASK = 8192  # whose neighbors one task finds (chosen by hand: a task takes seconds)
QUERY_PREFIX = "query-"  # folders of searches under way, beside those of graphs
WORK = "graphs"  # folder of results, inside that of the index


@dataclass(frozen=True, eq=False)
class Hubness:
    """Hubness of a large collection, before and after hubness reduction.

    Parameters
    ----------
    k_occurrence : int64 per row, in how many lists of k it is
    skewness : float, of the k-occurrence; above about 1 there are hubs
    mean, sd : float64 per row, of its distances to a sample of rows
    reduced : NeighborGraph, the same candidates re-ranked by sampled mutual proximity
    reduced_skewness : float
    """

    k_occurrence: np.ndarray
    skewness: float
    mean: np.ndarray
    sd: np.ndarray
    reduced: NeighborGraph
    reduced_skewness: float


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
    >>> from lookalike.index.dask import knn_graph
    >>> graph = knn_graph("rows.index", k=10, client="tcp://scheduler:8786")  # doctest: +SKIP
    """
    opened = _open(folder, "knn_graph")
    n = opened.manifest.next_position
    check_k(k, n - 1, "knn_graph", True, "k")
    check_list_size("knn_graph", n, k, "the lists are in the folder, as shards")
    items = _items(opened, f"neighbors-{k}", rows_per_task, (int(k),))
    with connect(client) as workers:
        tell(run_items(workers, graph_part, items, "found the neighbors of"))
    lists = NeighborGraph.empty(n, k, n)
    for shard, start, stop in _results(items):
        lists.indices[start:stop] = shard.array("indices")
        lists.distances[start:stop] = shard.array("distances")
    return lists.finish("last" if opened.head.measure.traits.undefined_last else "raise")


def hubness(
    folder: Folder,
    k: int = 5,
    client: Any = None,
    *,
    sample: int = 30,
    candidates: int | None = None,
    random_state: Any = 0,
    rows_per_task: int = ROWS_PER_TASK,
    tell: Tell = ignore,
) -> Hubness:
    """Measure the hubness of an index in a folder, before and after hubness reduction.

    The reducer is mutual proximity with moments from a sample of rows, so its cost grows linearly
    with the rows; it re-ranks the candidates of each list.

    Parameters
    ----------
    folder, client, rows_per_task, tell : as in ``knn_graph``
    k : int
        Length of the lists.
    sample : int
        Rows that means and spreads of distances are taken from.
    candidates : int, optional
        Rows that are re-ranked for each list; None: four times k.
    random_state : None, int, RandomState or Generator
        Which rows are sampled.

    Examples
    --------
    >>> from lookalike.index.dask import hubness
    >>> found = hubness("rows.index", k=10)  # doctest: +SKIP
    """
    opened = _open(folder, "hubness")
    n = opened.manifest.next_position
    Integer(2, high=n - 1).check("hubness", "sample", sample, "Take fewer rows than there are")
    wide = min(n - 1, 4 * k if candidates is None else candidates)
    check_k(k, wide, "hubness", False, "k")
    # Drawn here, once, so that all tasks use the same sample.
    reference = np.sort(make_generator(random_state).choice(n, sample, replace=False))
    with connect(client) as workers:
        graph = knn_graph(opened.path, wide, workers, rows_per_task=rows_per_task, tell=tell)
        digest = hashlib.sha256(reference.astype("<i8").tobytes()).hexdigest()[:16]
        items = _items(opened, f"moments-{digest}", rows_per_task, (tuple(reference.tolist()),))
        tell(run_items(workers, moments_part, items, "averaged the distances of"))
    mean, sd = np.empty(n), np.empty(n)
    for shard, start, stop in _results(items):
        mean[start:stop], sd[start:stop] = shard.array("mean"), shard.array("sd")
    # The candidates are the longer lists, of which "before" uses the first k.
    short = NeighborGraph(graph.indices[:, :k], graph.distances[:, :k], n)
    reduced = mutual_proximity_graph(graph, mean, sd, k)
    before, after = k_occurrence(short, k), k_occurrence(reduced, k)
    return Hubness(before, float(skewness(before)), mean, sd, reduced, float(skewness(after)))


def density_clusters(
    folder: Folder,
    k: int = 10,
    client: Any = None,
    *,
    eps: float | None = None,
    min_neighbors: int = 5,
    rows_per_task: int = ROWS_PER_TASK,
    tell: Tell = ignore,
) -> np.ndarray:
    """Return a cluster for every row of an index in a folder, -1 for noise, by density.

    As DBSCAN, on the pairs that are in each other's lists of k; see
    ``lookalike.clustering.density``.

    Parameters
    ----------
    folder, k, client, rows_per_task, tell : as in ``knn_graph``
    eps : float, optional
        How near a neighbor counts; None: the knee of the distances to the neighbor number
        ``min_neighbors``.
    min_neighbors : int
        Rows within eps, itself among them, that make a row part of a dense region.

    Examples
    --------
    >>> from lookalike.index.dask import density_clusters
    >>> labels = density_clusters("rows.index", k=20, min_neighbors=10)  # doctest: +SKIP
    """
    graph = knn_graph(folder, k, client, rows_per_task=rows_per_task, tell=tell)
    return graph_density(graph, eps, min_neighbors)


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


def _items(opened: ShardFolder, name: str, rows: int, more: tuple[Any, ...]) -> list[WorkItem]:
    """Return a task for every ``rows`` rows; those with a result of an earlier run are done."""
    Integer(1).check("scale", "rows_per_task", rows, "Raise it")
    n, mark = opened.manifest.next_position, opened.manifest.mark
    here = f"{opened.manifest.generation:06d}-{mark}"
    # The name has all that a result depends on, so that one of another request is never used.
    work = opened.path / WORK / here / f"{name}-{rows}"
    work.mkdir(parents=True, exist_ok=True)
    # Results for an earlier state of the rows are removed: nothing can use them any more.
    for old in (opened.path / WORK).iterdir():
        if old.name != here and not old.name.startswith(QUERY_PREFIX):
            shutil.rmtree(old, ignore_errors=True)
    items = []
    for number, start in enumerate(range(0, n, rows)):
        stop, target = min(start + rows, n), work / f"{number:06d}"
        args = (str(opened.path), __version__, mark, str(target), start, stop, *more)
        items.append(WorkItem(args, _is_done(target, start, stop)))
    return items


def _is_done(target: Path, start: int, stop: int) -> bool:
    # A shard is written whole or not at all, so its page is enough to know that it is complete.
    try:
        about = open_shard(target).about
    except LookalikeError:
        return False
    return about.get("start") == start and about.get("stop") == stop


def _results(items: list[WorkItem]) -> list[tuple[Shard, int, int]]:
    return [(open_shard(item.args[3]), item.args[4], item.args[5]) for item in items]


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


def kneighbors(
    folder: Folder, queries: Any, k: int = 5, client: Any = None, *, tell: Tell = ignore
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
        read = read_query(now, queries, "kneighbors")
        asked = SegmentQuery(now.measure, read.rows, int(k), read.positions)
        return now.segments.nearest(asked).plain()


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
