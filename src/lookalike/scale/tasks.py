"""What workers do: read files, call what one machine calls, write a shard. Nothing else is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._config import config
from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, MissingFile, message
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.shards import Key, open_shard, write_shard
from lookalike.scale.parts import Failure
from lookalike.search.segments import Segments
from lookalike.search.shard_build import Build, open_build, write_part
from lookalike.search.shard_folder import ShardFolder
from lookalike.search.shard_graph import moments_of, neighbors_of
from lookalike.search.shard_rows import map_rows
from lookalike.search.snapshot import Snapshot

__all__ = ["answer_part", "encode_part", "graph_part", "moments_part"]

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
def encode_part(folder: str, version: str, files: tuple[str, ...], number: int) -> Answer:
    """Write one shard of a build from the files that its rows are in."""
    _check(folder, version)
    plan = Path(folder, "plan.json").stat()
    build = _build(folder, files, plan.st_mtime_ns)
    with config(n_jobs=1, progress=False):
        shard = write_part(build, number)
    return int(shard.about["rows"]), shard.size, number


@says_errors
def graph_part(
    folder: str, version: str, generation: int, target: str, start: int, stop: int, k: int
) -> Answer:
    """Find the neighbors of some rows of a folder among all of them."""
    _check(folder, version)
    now = _opened(folder, generation)
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
    generation: int,
    target: str,
    start: int,
    stop: int,
    reference: tuple[int, ...],
) -> Answer:
    """Average the distances of some rows of a folder to a few rows of it."""
    _check(folder, version)
    now = _opened(folder, generation)
    with config(n_jobs=1, progress=False):
        mean, sd = moments_of(now, start, stop, np.array(reference))
        shard = write_shard(target, {("mean",): mean, ("sd",): sd}, {"start": start, "stop": stop})
    return len(mean), shard.size, None


@says_errors
def answer_part(
    folder: str, version: str, generation: int, questions: str, number: int, k: int
) -> Answer:
    """Answer questions, which were encoded and written beside, from one shard of a folder."""
    _check(folder, version)
    now = _opened(folder, generation)
    asked = open_shard(questions)
    exclude = asked.array("exclude")
    with config(n_jobs=1, progress=False):
        rows = map_rows(now.measure, asked, asked.array("seen"))
        segment = now.segments.segments[number]
        nobody = np.empty(0, np.int64)
        part = Segments((segment,), now.segments.next_place)
        found = part.nearest(now.measure, rows, k, exclude, nobody)
    return len(segment), 0, NeighborGraph(found.indices, found.distances, found.n_indexed)


def _check(folder: str, version: str) -> None:
    if version != __version__:
        do = "Install the same version of lookalike on all machines"
        needed = f"lookalike {version}, as where the work began"
        raise InvalidInput(message(f"worker {os.uname().nodename}", needed, __version__, do))
    if not Path(folder).is_dir():
        do = "Use a folder that all machines see under the same path"
        who = f"worker {os.uname().nodename}"
        raise MissingFile(message(who, f"the folder {folder!r}", "no such folder", do))


@lru_cache(maxsize=4)
def _build(folder: str, files: tuple[str, ...], written: int) -> Build:
    return open_build(folder, files)


@lru_cache(maxsize=4)
def _opened(folder: str, generation: int) -> Snapshot:
    place = ShardFolder.open(folder)
    if place.manifest.generation != generation:
        do = "Run it again, for the folder as it is now"
        needed = f"the folder {folder!r} as it was"
        raise InvalidInput(message("scale", needed, "a change by another process", do))
    return place.snapshot()
