"""What workers do: read files, call what one machine calls, write a shard. Nothing else is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.config import config
from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, MissingFile
from lookalike.index.dask.parts import Failure
from lookalike.index.dask.question import Question
from lookalike.index.segments import Segments
from lookalike.index.shards.build import (
    Addition,
    Build,
    begin_adding,
    open_build,
    write_added,
    write_part,
)
from lookalike.index.shards.folder import ShardFolder
from lookalike.index.shards.graph import moments_of, neighbors_of
from lookalike.index.snapshot import Snapshot
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Key, write_shard
from lookalike.saving.decode import read as read_saved
from lookalike.table import Kind, LazyTable, Table
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.infer.learning import learn_facts

Answer = tuple[int, int, Any]  # rows done, bytes written, what is told
Task = Callable[..., Answer]


def says_errors(task: Task) -> Task:
    """Let a task answer with its error: Dask cannot carry errors of two families back."""

    @wraps(task)
    def done(*args: Any) -> Answer:
        try:
            return task(*args)
        except LookalikeError as error:
            return 0, 0, Failure.of(error)

    return done


@says_errors
def facts_part(
    version: str,
    files: tuple[str, ...],
    chosen: dict[str, Kind | None],
    tokens: tuple[Any, ...],
    start: int,
    stop: int,
) -> Answer:
    """Count what decides about the columns of some rows of files."""
    _check(version)
    with config(n_jobs=1, progress=False):
        found = learn_facts(_files(files), chosen, tokens, start, stop)
    return stop - start, 0, (start, found)


@says_errors
def tally_part(folder: str, version: str, files: tuple[str, ...], name: str, number: int) -> Answer:
    """Count the distinct values of one column of files."""
    _check(version, folder)
    like = read_saved(Path(folder, "like.lookalike"), root=Table)
    assert isinstance(like, Table)
    with config(n_jobs=1, progress=False):
        tally = LazyTable(_files(files), like, like.missing).tally(name)
    arrays: dict[Key, np.ndarray] = {("values",): tally.values, ("counts",): tally.counts}
    about = {"rows": tally.rows, "missing": tally.missing, "infinite": tally.infinite}
    shard = write_shard(Path(folder, str(number)), arrays, about)
    return tally.rows, shard.size, None


@says_errors
def encode_part(folder: str, version: str, files: tuple[str, ...], number: int) -> Answer:
    """Write one shard of a build from the files that its rows are in."""
    _check(version, folder)
    plan = Path(folder, "plan.json").stat()
    build = _build(folder, files, plan.st_mtime_ns, _stamp(files))
    with config(n_jobs=1, progress=False):
        shard = write_part(build, number)
    return int(shard.about["rows"]), shard.size, number


@says_errors
def add_part(folder: str, version: str, mark: str, files: tuple[str, ...], number: int) -> Answer:
    """Write one shard of files that are added to a folder."""
    _check(version, folder)
    with config(n_jobs=1, progress=False):
        shard = write_added(_addition(folder, files, mark, _stamp(files)), number)
    return int(shard.about["rows"]), shard.size, number


@says_errors
def graph_part(
    folder: str, version: str, mark: str, target: str, start: int, stop: int, k: int
) -> Answer:
    """Find the neighbors of some rows of a folder among all of them."""
    _check(version, folder)
    now = _opened(folder, mark)
    with config(n_jobs=1, progress=False):
        found = neighbors_of(now, start, stop, k)
        arrays: dict[Key, np.ndarray] = {("indices",): found.indices}
        arrays[("distances",)] = found.distances
        shard = write_shard(target, arrays, {"start": start, "stop": stop, "k": k})
    return len(found), shard.size, None


@says_errors
def moments_part(
    folder: str,
    version: str,
    mark: str,
    target: str,
    start: int,
    stop: int,
    reference: tuple[int, ...],
) -> Answer:
    """Average the distances of some rows of a folder to a few rows of it."""
    _check(version, folder)
    now = _opened(folder, mark)
    with config(n_jobs=1, progress=False):
        mean, sd = moments_of(now, start, stop, np.array(reference))
        shard = write_shard(target, {("mean",): mean, ("sd",): sd}, {"start": start, "stop": stop})
    return len(mean), shard.size, None


@says_errors
def answer_part(folder: str, version: str, mark: str, question: str, number: int) -> Answer:
    """Answer a question, which was written beside, from one shard of a folder."""
    _check(version, folder)
    now = _opened(folder, mark)
    with config(n_jobs=1, progress=False):
        segment = now.segments.segments[number]
        asked = Question.read(Path(question), now.measure, number)
        found = asked.answer(Segments((segment,), now.segments.next_position))
    return len(segment), 0, NeighborGraph(found.indices, found.distances, found.n_indexed)


@says_errors
def check_part(folder: str, version: str, mark: str, number: int) -> Answer:
    """Read all of one shard of a folder, and say what is wrong with it."""
    _check(version, folder)
    opened = _folder(folder, mark)
    name = opened.manifest.shards[number]
    return 0, 0, (name, opened.faults_of(number))


def _check(version: str, folder: str | None = None) -> None:
    if version != __version__:
        hint = "Install the same version of lookalike on all machines"
        needed = f"lookalike {version}, as where the work began"
        raise InvalidInput(f"worker {os.uname().nodename}", needed, __version__, hint)
    if folder is not None and not Path(folder).is_dir():
        hint = "Use a folder that all machines see under the same path"
        who = f"worker {os.uname().nodename}"
        raise MissingFile(who, f"the folder {folder!r}", "no such folder", hint)


def _files(files: tuple[str, ...]) -> ParquetParts:
    return ParquetParts.open(find_files(list(files)))


# What a worker has opened is kept for its next tasks, by all that it depends on: a folder may be
# removed and built again under the same name, and files may be written again.


def _stamp(files: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    there = (path.stat() for path in map(Path, files) if path.exists())
    return tuple((about.st_size, about.st_mtime_ns) for about in there)


@lru_cache(maxsize=4)
def _build(
    folder: str, files: tuple[str, ...], written: int, stamp: tuple[tuple[int, int], ...]
) -> Build:
    return open_build(folder, files)


@lru_cache(maxsize=4)
def _addition(
    folder: str, files: tuple[str, ...], mark: str, stamp: tuple[tuple[int, int], ...]
) -> Addition:
    return begin_adding(_folder(folder, mark), list(files))


@lru_cache(maxsize=4)
def _opened(folder: str, mark: str) -> Snapshot:
    return _folder(folder, mark).snapshot()


def _folder(folder: str, mark: str) -> ShardFolder:
    opened = ShardFolder.open(folder)
    if opened.manifest.mark != mark:
        hint = "Run it again, for the folder as it is now"
        needed = f"the folder {folder!r} as it was"
        raise InvalidInput("scale", needed, "a change by another process", hint)
    return opened
