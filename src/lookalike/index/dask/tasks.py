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
from lookalike.index.segments import SegmentQuery, Segments
from lookalike.index.shards.build import Addition, IndexBuild, begin_adding, open_build
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.snapshot import Snapshot, neighbors_of
from lookalike.neighbors.shards import Key, write_shard
from lookalike.saving.decode import read as read_saved
from lookalike.table import Kind, LazyTable, Table
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.infer.learning import learn_facts

Answer = tuple[int, int, Any]  # rows done, bytes written, answer
Task = Callable[..., Answer]
LIKE = "like.lookalike"  # a table without rows: the columns that are tallied


def task(body: Task) -> Task:
    """Check version and folder of the worker, run the body in one thread, return its error.

    Dask would retry an error that is raised, and send it as text if its class is odd.
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
            return 0, 0, error

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
def write_part(folder: str, files: tuple[str, ...], mark: str, run: str, number: int) -> Answer:
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
    opened = _folder(folder, mark)
    return 0, 0, (opened.manifest.shards[number], opened.faults_of(number))


def _files(files: tuple[str, ...]) -> ParquetParts:
    return ParquetParts.open(find_files(list(files)))


# What a worker has opened is kept for its next tasks, by all that it depends on: a folder may be
# removed and built again under the same name, and files may be written again before another run.


@lru_cache(maxsize=4)
def _writer(folder: str, files: tuple[str, ...], mark: str, run: str) -> IndexBuild | Addition:
    return begin_adding(_folder(folder, mark), list(files)) if mark else open_build(folder, files)


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
