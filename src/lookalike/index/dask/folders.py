"""Build, search and check an index in a folder by many workers, and find its neighbor graph.

A task reads files, calls what one process calls, and writes a shard; no rows are sent. What columns
hold is counted by rows: a task reads some of them and returns facts. The numbers of a column are
counted by column: a task reads it through all files and writes its tally as a shard, which is
mapped here, so that no column travels through the scheduler.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, reduce, wraps
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import config
from lookalike._runtime.files import locked
from lookalike._runtime.threads import blocks
from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, LookalikeError, MissingFile, Phrase
from lookalike.index import Index
from lookalike.index.dask.scheduling import Failure, Folder, Summary, Tell, connect, run_items
from lookalike.index.segments import Masks, SegmentQuery, Segments
from lookalike.index.shards import build as one_process
from lookalike.index.shards.build import SHARD_ROWS, WHO
from lookalike.index.shards.folder import SHARDS, ShardFolder
from lookalike.index.snapshot import Snapshot, check_list_size, neighbors_of
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import check_k
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Key, find_shard, open_shard, write_shard
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import digest_of
from lookalike.saving.encode import write as write_saved
from lookalike.saving.fields import Integer
from lookalike.table import Kind, LazyTable, Table
from lookalike.table.formats.lazy import ColumnFacts, Learner, learn_facts, read_lazy
from lookalike.table.formats.parquet import BATCH_ROWS, ParquetParts, find_files
from lookalike.table.model.kind import missing_tokens
from lookalike.table.model.table import CODED
from lookalike.table.model.tally import Tally

ROWS_PER_FACTS = 2 * BATCH_ROWS  # whose facts one task counts: two batches as they are read
PREFIX = ".learned-"  # of folders of tallies; a dot, so that a build takes no notice of them
TALLIED = ("number", *CODED)  # kinds whose distinct values most measures need
ROWS_PER_TASK = 8192  # whose neighbors one task finds (chosen by hand: a task takes seconds)
WORK = "graphs"  # folder of results, inside that of the index

# -- tasks -----------------------------------------------------------------------------------------

Answer = tuple[int, int, Any]  # rows done, bytes written, answer
Task = Callable[..., Answer]
Names = tuple[str, ...]  # paths of Parquet files
LIKE = "like.lookalike"  # a table without rows: the columns that are tallied


def task(body: Task) -> Task:
    """Check version and folder of the worker, run the body in one thread, return its error.

    An error that is raised would be retried: returned, it is raised where the work began.
    """

    @wraps(body)
    def checked(folder: str, version: str, *args: Any) -> Answer:
        try:
            who = f"worker {os.uname().nodename}"
            if version != __version__:
                needed = f"lookalike {version}, as where the work began"
                hint = "Install the same version of lookalike on all machines"
                raise InvalidInput(who, needed, __version__, hint)
            if folder and not Path(folder).is_dir():
                hint = "Use a folder that all machines see under the same path"
                raise MissingFile(who, f"the folder {folder!r}", "no such folder", hint)
            # One thread: Dask starts a worker per core, and their threads would compete.
            with config(n_jobs=1, progress=False):
                return body(folder, *args)
        except LookalikeError as error:
            return 0, 0, Failure(type(error), error.given)

    return checked


@task
def facts_part(folder: str, files: Names, chosen: Any, tokens: Any, part: slice) -> Answer:
    """Count what decides about the kinds of the columns, in some rows of files."""
    facts = learn_facts(_files(files), chosen, tokens, part.start, part.stop)
    return part.stop - part.start, 0, facts


@task
def tally_part(folder: str, files: Names, name: str, number: int) -> Answer:
    """Count the distinct values of one column of files."""
    like = read_saved(Path(folder, LIKE), root=Table)
    assert isinstance(like, Table)
    tally = LazyTable(_files(files), like, like.missing).tally(name)
    arrays: dict[Key, np.ndarray] = {("values",): tally.values, ("counts",): tally.counts}
    about = {"rows": tally.rows, "missing": tally.missing, "infinite": tally.infinite}
    return tally.rows, write_shard(Path(folder, str(number)), arrays, about).size, None


@task
def write_part(folder: str, files: Names, mark: str, run: str, number: int) -> Answer:
    """Write one shard of a build, or of files that are added, from the files its rows are in."""
    shard = _writer(folder, files, mark, run).write_part(number)
    return int(shard.about["rows"]), shard.size, number


@task
def graph_part(folder: str, mark: str, target: str, start: int, stop: int, k: int) -> Answer:
    """Find the neighbors of some rows of a folder among all of them."""
    lists = neighbors_of(_opened(folder, mark), start, stop, k)
    return len(lists), write_shard(target, lists.to_arrays(), {}).size, None


@task
def search_part(
    folder: str, mark: str, number: int, query: SegmentQuery, mask: np.ndarray | None
) -> Answer:
    """Search one shard of a folder; ``mask`` has a bit per row, which may be found."""
    now = _opened(folder, mark)
    segment = now.segments.segments[number]
    query = replace(query, measure=now.measure) if query.measure is None else query
    allowed = [None if mask is None else np.unpackbits(mask, count=len(segment)).astype(bool)]
    lists = Segments((segment,), now.segments.next_position).nearest(query, allowed)
    # As they are: those of CSLS keep the values they are sorted by until the lists are merged.
    return len(segment), 0, lists


@task
def check_part(folder: str, mark: str, number: int) -> Answer:
    """Read all of one shard of a folder, and return what is wrong with it."""
    return 0, 0, _folder(folder, mark).faults_of(number)


def _files(files: Names) -> ParquetParts:
    return ParquetParts.open(find_files(list(files)))


# What a worker has opened is kept for its next tasks, by all that it depends on: a folder may be
# removed and built again under the same name, and files may be written again before another run.


@lru_cache(maxsize=4)
def _writer(
    folder: str, files: Names, mark: str, run: str
) -> one_process.IndexBuild | one_process.Addition:
    if mark:
        return one_process.begin_adding(_folder(folder, mark), list(files))
    return one_process.open_build(folder, files)


@lru_cache(maxsize=4)
def _opened(folder: str, mark: str) -> Snapshot:
    return _folder(folder, mark).snapshot()


def _folder(folder: str, mark: str) -> ShardFolder:
    opened = ShardFolder.open(folder)
    # Positions of one generation must not be mixed with rows of another.
    if opened.manifest.mark != mark:
        hint = "Run it again, for the folder as it is now"
        needed = f"the folder {folder!r} as it was"
        raise InvalidInput("scale", needed, "a change by another process", hint)
    return opened


# -- building --------------------------------------------------------------------------------------


class ClusterLearner(Learner):
    """Learn from files with the workers of a Dask scheduler: they count, the counts merge here.

    Parameters
    ----------
    client : distributed.Client
    folder : Path, optional
        Where tallies are written, which all workers see; without one they are counted here.
    """

    def __init__(self, client: Any, folder: Path | None = None) -> None:
        self.client, self.folder = client, folder

    def facts(
        self, parts: ParquetParts, chosen: Mapping[str, Kind | None], tokens: tuple[Any, ...]
    ) -> dict[str, ColumnFacts]:
        """Count what decides about the kinds of the columns, in all rows."""
        args = (_names(parts.files), dict(chosen), tokens)
        items = [(*args, part) for part in blocks(len(parts), ROWS_PER_FACTS)]
        counted, _ = run_items(self.client, facts_part, "", items, "looked through")
        whole: dict[str, ColumnFacts] = {}
        for facts in counted:
            for name, more in facts.items():
                if name in whole:
                    whole[name].merge(more)
                else:
                    whole[name] = more
        return whole

    def tally(self, table: LazyTable, name: str) -> Tally:
        """Count the distinct values of a column, and of all others that will be needed."""
        if self.folder is None:
            return super().tally(table, name)
        # Named by what it is read from and how: a build that is resumed finds its tallies.
        states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in table.files]
        path = self.folder / f"{PREFIX}{digest_of((__version__, table.schema, states))}"
        if not (path / LIKE).is_file():
            path.mkdir(exist_ok=True)
            write_saved(path / LIKE, table.like)
        targets = {column.name: path / str(n) for n, column in enumerate(table.like.columns)}
        if not targets[name].is_dir():
            # All columns in one run, so that every worker has one to count.
            others = [c.name for c in table.like.columns if c.kind.name in TALLIED]
            left = [n for n in dict.fromkeys([name, *others]) if not targets[n].is_dir()]
            items = [(_names(table.files), each, int(targets[each].name)) for each in left]
            run_items(self.client, tally_part, path, items, "counted")
        shard = open_shard(targets[name])
        numbers = (int(shard.about[key]) for key in ("rows", "missing", "infinite"))
        return Tally.counted(shard.array("values"), shard.array("counts"), *numbers)


def _names(files: Sequence[Path]) -> Names:
    return tuple(str(path.absolute()) for path in files)


def read_table(
    paths: Any, client: Any = None, *, kinds: Mapping[Any, Any] | None = None, missing: Any = None
) -> LazyTable:
    """Infer the kinds of the columns of Parquet files by many workers.

    The table that ``lookalike.read_table(paths, lazy=True)`` returns.

    Parameters
    ----------
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them under the same paths.
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    kinds, missing : as in ``lookalike.read_table``

    Examples
    --------
    >>> from lookalike.index.dask import read_table
    >>> table = read_table("rows/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    with connect(client) as workers:
        table = read_lazy(paths, kinds, missing_tokens(missing), ClusterLearner(workers))
    return table.learned_by(Learner())


def fit_encode(
    paths: Any,
    folder: Folder,
    measure: Any = "auto",
    client: Any = None,
    *,
    id_column: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    shard_rows: int = SHARD_ROWS,
    tell: Tell = lambda summary: None,
) -> Index:
    """Build an index in a folder from Parquet files, its shards written by many workers.

    The workers infer kinds, count the values of the columns and encode the rows; their counts are
    merged here. (``Vector`` and ``StochasticForest`` also read the rows here, in one pass.) A build
    that was stopped is resumed, and the folder is the one that ``lookalike.index.build_index``
    writes, byte for byte.

    Parameters
    ----------
    paths : paths of Parquet files, as ``read_table(paths, lazy=True)`` takes them, or its table
        Every worker must see them, and the folder, under the same paths.
    folder : path
        Created if missing.
    measure : Measure, name of one, or "auto"
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    id_column, kinds, shard_rows : as in ``lookalike.index.build_index``
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.index.dask import fit_encode
    >>> index = fit_encode(
    ...     "rows/*.parquet", "rows.index", client="tcp://scheduler:8786", tell=print
    ... )  # doctest: +SKIP
    """
    paths, path = one_process.prepare(paths, Path(folder).absolute())
    with connect(client) as workers, locked(path, WHO):
        table = one_process.read_source(paths, id_column, kinds, ClusterLearner(workers, path))
        if not isinstance(table, LazyTable):
            extra = InPython(", or use lookalike.index.build_index")
            hint = Phrase("Write the table as Parquet", extra)
            needed = "Parquet files, which workers can read"
            raise InvalidInput(WHO, needed, "a table in memory", hint)
        index = Index(measure, id_column=id_column, kinds=kinds)
        build = one_process.begin_build(table, path, index, shard_rows)
        numbers = build.numbers
        left = [number for number in numbers if build.finished(number) is None]
        # Only names and numbers are sent: workers read the head, and what it learned, themselves.
        summary = _write_parts(workers, path, table.files, "", left, len(numbers) - len(left))
        build.finish()
        # Not after an error: a build that was stopped finds its tallies when it is resumed.
        for tallies in path.glob(f"{PREFIX}*"):
            shutil.rmtree(tallies, ignore_errors=True)
    tell(summary)
    return Index.open(path)


def add(
    folder: Folder, paths: Any, client: Any = None, *, tell: Tell = lambda summary: None
) -> int:
    """Add the rows of Parquet files to an index in a folder by many workers; return how many.

    As ``Index.add_files``: all rows are in the index when it returns, or none of them.

    Parameters
    ----------
    folder : path of an index
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them, and the folder, under the same paths.
    client : distributed.Client, address of a scheduler, or None
        What runs the tasks (see ``connect``).
    tell : callable
        Called with a ``Summary`` at the end.

    Examples
    --------
    >>> from lookalike.index.dask import add
    >>> add("rows.index", "more/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    path = Path(folder).absolute()
    with connect(client) as workers, locked(path, "scale.add"):
        addition = one_process.begin_adding(path, paths)
        mark, files = addition.folder.manifest.mark, addition.files.files
        summary = _write_parts(workers, path, files, mark, range(len(addition.parts)))
        addition.finish()
    tell(summary)
    return len(addition.files)


def _write_parts(
    workers: Any,
    path: Path,
    files: Sequence[Path],
    mark: str,
    numbers: Sequence[int],
    found: int = 0,
) -> Summary:
    args, what = (_names(files), mark, uuid.uuid4().hex), "added" if mark else "encoded"
    return run_items(workers, write_part, path, [(*args, n) for n in numbers], what, found)[1]


# -- searching and checking ------------------------------------------------------------------------


def knn_graph(
    folder: Folder,
    k: int = 5,
    client: Any = None,
    *,
    rows_per_task: int = ROWS_PER_TASK,
    tell: Tell = lambda summary: None,
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
        tell(run_items(workers, graph_part, path, items, "found the neighbors of", found)[1])
    lists = NeighborGraph.empty(n, k, n)
    for target, part in parts.items():
        shard = open_shard(target)
        lists.indices[part] = shard.array("indices")
        lists.distances[part] = shard.array("distances")
    return lists.finish("last" if opened.head.measure.traits.undefined_last else "raise")


@contextmanager
def open_index(
    folder: Folder, client: Any = None, *, tell: Tell = lambda summary: None
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


def check(
    folder: Folder, client: Any = None, *, tell: Tell = lambda summary: None
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
    with connect(client) as workers:
        items = [(manifest.mark, number) for number in range(len(manifest.shards))]
        faults, summary = run_items(workers, check_part, path, items, "checked")
    tell(summary)
    return {name: some for name, some in zip(manifest.shards, faults, strict=True) if some}


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
        # Workers have the measure of the index; only another one is sent.
        asked = replace(query, measure=None) if query.measure is self.measure else query
        bits = [None if mask is None else np.packbits(mask) for mask in masks or ()]
        bits = bits or [None] * len(self.segments)
        items = [(self.mark, number, asked, mask) for number, mask in enumerate(bits)]
        found, summary = run_items(self.client, search_part, self.folder, items, "searched")
        self.tell(summary)
        return reduce(NeighborGraph.merge, found)
