"""Tasks of workers: read files, call what one process calls, write a shard. No rows are sent."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import config
from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, MissingFile
from lookalike.index.dask.scheduling import Failure
from lookalike.index.segments import Masks, SegmentQuery, Segments
from lookalike.index.shards.build import PLAN, Addition, IndexBuild, begin_adding, open_build
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.snapshot import Snapshot, neighbors_of
from lookalike.measures.contract.base import Measure
from lookalike.neighbors.shards import Key, write_shard
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import write as write_saved
from lookalike.table import Kind, LazyTable, Table
from lookalike.table.formats.lazy import learn_facts
from lookalike.table.formats.parquet import ParquetParts, find_files

Answer = tuple[int, int, Any]  # rows done, bytes written, answer
Task = Callable[..., Answer]
Stamp = tuple[tuple[int, int], ...]  # size and time of change of files
LIKE = "like.lookalike"  # a table without rows: the columns that are tallied


def task(body: Task) -> Task:
    """Check version and folder of the worker, run the body in one thread, return its error.

    Errors of lookalike derive from two families of exceptions, which Dask cannot return as they
    are: they are sent as a ``Failure``, and raised where the work began.
    """

    @wraps(body)
    def checked(folder: str, version: str, *args: Any) -> Answer:
        try:
            _check(version, folder)
            # One thread: Dask starts a worker per core, and their threads would compete.
            with config(n_jobs=1, progress=False):
                return body(folder, *args)
        except LookalikeError as error:
            return 0, 0, Failure(type(error).__name__, str(error))

    return checked


@task
def facts_part(
    folder: str,
    files: tuple[str, ...],
    chosen: dict[str, Kind | None],
    tokens: tuple[Any, ...],
    start: int,
    stop: int,
) -> Answer:
    """Count what decides about the kinds of the columns, in some rows of files."""
    return stop - start, 0, (start, learn_facts(_files(files), chosen, tokens, start, stop))


@task
def tally_part(folder: str, files: tuple[str, ...], name: str, number: int) -> Answer:
    """Count the distinct values of one column of files."""
    like = read_saved(Path(folder, LIKE), root=Table)
    assert isinstance(like, Table)
    tally = LazyTable(_files(files), like, like.missing).tally(name)
    arrays: dict[Key, np.ndarray] = {("values",): tally.values, ("counts",): tally.counts}
    about = {"rows": tally.rows, "missing": tally.missing, "infinite": tally.infinite}
    return tally.rows, write_shard(Path(folder, str(number)), arrays, about).size, None


@task
def encode_part(folder: str, files: tuple[str, ...], number: int) -> Answer:
    """Write one shard of a build from the files that its rows are in."""
    written = Path(folder, PLAN).stat().st_mtime_ns
    return _write_part(_build(folder, files, written, _stamp(files)), number)


@task
def add_part(folder: str, mark: str, files: tuple[str, ...], number: int) -> Answer:
    """Write one shard of files that are added to a folder."""
    return _write_part(_addition(folder, files, mark, _stamp(files)), number)


@task
def graph_part(folder: str, mark: str, target: str, start: int, stop: int, k: int) -> Answer:
    """Find the neighbors of some rows of a folder among all of them."""
    lists = neighbors_of(_opened(folder, mark), start, stop, k)
    arrays: dict[Key, np.ndarray] = {("indices",): lists.indices, ("distances",): lists.distances}
    shard = write_shard(target, arrays, {"start": start, "stop": stop, "k": k})
    return len(lists), shard.size, None


@task
def search_part(folder: str, mark: str, query: str, number: int) -> Answer:
    """Search one shard of a folder for a query that was written beside it."""
    now = _opened(folder, mark)
    segment = now.segments.segments[number]
    asked, mask = read_saved(Path(query, QUERY), root=SegmentQuery), Path(query, f"{number}.npy")
    asked = replace(asked, measure=now.measure) if asked.measure is None else asked
    masks = [np.load(mask, allow_pickle=False)] if mask.is_file() else None
    lists = Segments((segment,), now.segments.next_position).nearest(asked, masks)
    # As they are: those of CSLS keep the values they are sorted by until the lists are merged.
    return len(segment), 0, lists


@task
def check_part(folder: str, mark: str, number: int) -> Answer:
    """Read all of one shard of a folder, and return what is wrong with it."""
    opened = _folder(folder, mark)
    return 0, 0, (opened.manifest.shards[number], opened.faults_of(number))


def _check(version: str, folder: str) -> None:
    who = f"worker {os.uname().nodename}"
    if version != __version__:
        hint = "Install the same version of lookalike on all machines"
        raise InvalidInput(who, f"lookalike {version}, as where the work began", __version__, hint)
    if folder and not Path(folder).is_dir():
        hint = "Use a folder that all machines see under the same path"
        raise MissingFile(who, f"the folder {folder!r}", "no such folder", hint)


def _write_part(rows: IndexBuild | Addition, number: int) -> Answer:
    shard = rows.write_part(number)
    return int(shard.about["rows"]), shard.size, number


def _files(files: tuple[str, ...]) -> ParquetParts:
    return ParquetParts.open(find_files(list(files)))


# What a worker has opened is kept for its next tasks, by all that it depends on: a folder may be
# removed and built again under the same name, and files may be written again.


def _stamp(files: tuple[str, ...]) -> Stamp:
    stats = (path.stat() for path in map(Path, files) if path.exists())
    return tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)


@lru_cache(maxsize=4)
def _build(folder: str, files: tuple[str, ...], written: int, stamp: Stamp) -> IndexBuild:
    return open_build(folder, files)


@lru_cache(maxsize=4)
def _addition(folder: str, files: tuple[str, ...], mark: str, stamp: Stamp) -> Addition:
    return begin_adding(_folder(folder, mark), list(files))


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


QUERY = "query.lookalike"


def save_query(folder: Path, query: SegmentQuery, known: Measure, masks: Masks = None) -> None:
    """Write a search to a new folder, as ``search_part`` reads it.

    Parameters
    ----------
    folder : Path
    query : SegmentQuery
    known : Measure of the index: only another one is written
    masks : a boolean array per shard, optional
        Only these rows are searched. In files of their own, since a task reads one of them.
    """
    folder.mkdir(parents=True)
    write_saved(folder / QUERY, replace(query, measure=None) if query.measure is known else query)
    for number, mask in enumerate(masks or ()):
        np.save(folder / f"{number}.npy", mask)
