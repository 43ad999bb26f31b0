"""Building a folder of shards from files, and adding files to it, part by part.

A build that was stopped goes on where it was: the plan says what it builds from, finished shards
are not repeated, and without the plan's manifest the folder does not open. Shards can be written in
any order, by any process that sees the folder (``write_part``); writing one twice changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lookalike._runtime.files import make_folder, replacing
from lookalike._runtime.threads import blocks
from lookalike.errors import InvalidInput, LookalikeError, UnreadableFile
from lookalike.index.ids import take_ids
from lookalike.index.segments import Segment
from lookalike.index.shards.folder import (
    HEAD,
    MANIFEST,
    SHARDS,
    Manifest,
    ShardFolder,
    ShardHead,
    read_head,
    read_manifest,
    refuse_links,
)
from lookalike.index.shards.segment import refuse_repeats, write_segment
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.shards import Shard, hash_file, open_shard
from lookalike.saving.encode import write as write_saved
from lookalike.saving.safe_json import parse_json
from lookalike.table import LazyTable, Table
from lookalike.table.formats.parquet import ParquetParts, find_files

ADD_FILES = "Index.add_files"


@dataclass(frozen=True, eq=False)
class Addition:
    """Files that are being added to a folder: what every worker needs to know.

    Parameters
    ----------
    folder : ShardFolder
    now : Snapshot, the index as it is
    files : ParquetParts
    """

    folder: ShardFolder
    now: Snapshot
    files: ParquetParts

    @property
    def parts(self) -> list[slice]:
        """Which rows of the files go into each shard."""
        return list(blocks(len(self.files), self.folder.manifest.shard_rows))

    def name(self, number: int) -> str:
        """Return the name of a shard; those that ``add`` writes come with every generation too."""
        return f"added-{self.folder.manifest.generation + 1:06d}-{number:06d}"


def begin_adding(folder: str | os.PathLike[str] | ShardFolder, paths: Any) -> Addition:
    """Look at files that are to be added.

    Parameters
    ----------
    folder : path, or ShardFolder
    paths : Parquet files, as ``read_table(paths, lazy=True)`` takes them
    """
    opened = folder if isinstance(folder, ShardFolder) else ShardFolder.open(folder)
    opened.as_opened(ADD_FILES)
    files = ParquetParts.open(find_files(paths))
    if not len(files):
        raise InvalidInput(ADD_FILES, "rows to add", "0 rows", "Name files that have some")
    return Addition(opened, opened.snapshot(), files)


def write_added(addition: Addition, number: int) -> Shard:
    """Read and encode the rows of one part, and write them as a shard."""
    part, now = addition.parts[number], addition.now
    table = now.read_added(addition.files.read(part.start, part.stop), ADD_FILES)
    positions = now.segments.next_position + np.arange(part.start, part.stop)
    segment = Segment(now.measure.encode(table), table, positions, np.ones(len(table), bool))
    path = addition.folder.path / SHARDS / addition.name(number)
    return write_segment(path, now.measure, segment, now.id_column, fitted=False)


def finish_adding(addition: Addition) -> None:
    """Name the shards of an addition in the manifest; whoever calls it holds the folder's lock."""
    folder = addition.folder
    names = [addition.name(number) for number in range(len(addition.parts))]
    shards = [open_shard(folder.path / SHARDS / name) for name in names]
    column = addition.now.id_column
    if column is not None:

        def read(number: int, row: int) -> Any:
            at = np.array([addition.parts[number].start + row])
            return addition.files.take(at, [column]).column(0)[0].as_py()

        refuse_repeats(shards, read, column, ADD_FILES)
    folder.append(names, addition.now.segments.next_position + len(addition.files), ADD_FILES)


SHARD_ROWS = 2**19  # a multiple of what codes are tiled by: 84 MB of rows for twenty numbers
PLAN = "plan.json"
WHO = "index build"


class RowSource(Protocol):
    """Rows that can be read in parts: a ``Table``, or a ``LazyTable`` of files."""

    def __len__(self) -> int: ...

    def __getitem__(self, at: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Build:
    """A build that is under way: what every worker needs to know.

    Parameters
    ----------
    folder : Path
    source : rows that can be cut by a slice
    head : ShardHead
    shard_rows : int
    read_from : tuple of (path, bytes, time in ns)
        The files as they were when the build looked at them first; none for a table in memory.
    """

    folder: Path
    source: RowSource
    head: ShardHead
    shard_rows: int
    read_from: tuple[tuple[str, int, int], ...] = ()

    @property
    def n_shards(self) -> int:
        """How many shards there are going to be."""
        return -(-len(self.source) // self.shard_rows)

    def name(self, number: int) -> str:
        """Return the name of a shard."""
        return f"{number:06d}"

    @property
    def numbers(self) -> list[int]:
        """The shards that the folder is to have: all, or those its manifest still names.

        Rows may have been deleted since the build was finished, and shards written again without
        them.
        """
        every = range(self.n_shards)
        if not (self.folder / MANIFEST).exists():
            return list(every)
        named = set(read_manifest(self.folder).shards)
        return [number for number in every if self.name(number) in named]

    def rows_of(self, number: int) -> slice:
        """Return which rows go into a shard."""
        start = number * self.shard_rows
        return slice(start, min(start + self.shard_rows, len(self.source)))

    def finished(self, number: int) -> Shard | None:
        """Return a shard that is there and whole by the sizes of its files; else None."""
        try:
            shard = open_shard(self.folder / SHARDS / self.name(number))
        except LookalikeError:
            return None
        at = self.rows_of(number)
        return shard if shard.about.get("rows") == at.stop - at.start else None

    def check_sources(self) -> None:
        """Refuse files that were written to since the build looked at them first."""
        for path, bytes, time in self.read_from:
            about = os.stat(path) if os.path.exists(path) else None
            if about is None or (about.st_size, about.st_mtime_ns) != (bytes, time):
                hint = "Remove the folder and build it again, from files that stay as they are"
                raise InvalidInput(
                    WHO, f"{path!r} as it was when the build began", "a change", hint
                )


def start(
    folder: str | os.PathLike[str],
    source: RowSource,
    head: ShardHead,
    *,
    shard_rows: int = SHARD_ROWS,
    sources: list[dict[str, Any]] | None = None,
    request: str = "",
) -> Build:
    """Begin a build: write what was learned, and the plan, so that it can be resumed.

    Parameters
    ----------
    folder : path, made if it is not there
    source : rows that can be cut by a slice
    head : ShardHead, all that was learned
    shard_rows : int
        Rows of a shard, a multiple of 1,024.
    sources : list of what the rows were read from, optional
        A mapping per file: ``path``, ``bytes``, ``time`` and ``sha256``.
    request : str
        What was asked for, as a digest; a build with another request is another build.
    """
    path = Path(folder)
    make_folder(path / SHARDS)
    write_saved(path / HEAD, head)
    plan = {
        "version": 1,
        "request": request,
        "rows": len(source),
        "shard_rows": shard_rows,
        "sources": sources or [],
        "head": [(path / HEAD).stat().st_size, hash_file(path / HEAD)],
    }
    with replacing(path / PLAN) as file:
        file.write(json.dumps(plan, indent=1, allow_nan=False).encode())
    return Build(path, source, read_head(path / HEAD), shard_rows)


def resume(
    folder: str | os.PathLike[str],
    source: RowSource,
    *,
    sources: list[dict[str, Any]] | None = None,
    request: str = "",
) -> Build | None:
    """Return the build that a folder holds, finished or not; None where there is none.

    A build of other rows, or with another request, is an error.

    Parameters
    ----------
    folder, source, sources, request : as in ``start``
    """
    path = Path(folder)
    plan = read_plan(path)
    if plan is None:
        return None
    same = plan["rows"] == len(source) and plan["request"] == request
    if not same or not _same_sources(plan["sources"], sources or []):
        found = "a build of other files or with other options"
        hint = "Choose another folder, or remove this one"
        raise InvalidInput(WHO, f"an empty folder, or this build, in {str(path)!r}", found, hint)
    head = path / HEAD
    size, digest = plan["head"]
    if not head.is_file() or head.stat().st_size != size or hash_file(head) != digest:
        return None  # stopped before anything was learned, or damaged: learn again
    return Build(path, source, read_head(head), int(plan["shard_rows"]))


def open_build(folder: str | os.PathLike[str], files: Sequence[str]) -> Build:
    """Return a build that was begun elsewhere, for a worker that sees its folder and its files.

    Parameters
    ----------
    folder : path
    files : paths of the Parquet files that the build reads, in their order
    """
    path = Path(folder)
    plan = read_plan(path)
    if plan is None:
        hint = "Begin the build first, and use a folder that all machines see"
        raise InvalidInput(WHO, f"a build in {str(path)!r}", "none", hint)
    head = read_head(path / HEAD)
    source = LazyTable(ParquetParts.open(find_files(list(files))), head.like, head.like.missing)
    if len(source) != plan["rows"]:
        hint = "Use the files that the build was begun with"
        raise InvalidInput(WHO, f"files of {plan['rows']:,} rows", f"{len(source):,}", hint)
    return Build(path, source, head, plan["shard_rows"])


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of a folder; None where there is none."""
    path = folder / PLAN
    refuse_links(folder)
    if not path.is_file():
        inside = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        inside = [
            name for name in inside if not name.startswith(".") and name not in (HEAD, SHARDS)
        ]
        if inside:
            hint = "Name an empty folder, or a new one"
            raise InvalidInput(WHO, "a folder of its own", f"one with {inside[0]!r}", hint)
        return None
    try:
        plan = parse_json(path.read_bytes())
        if plan["version"] != 1:
            hint = "Build into another folder, or with the version that began"
            found = f"version {plan['version']!r:.40}"
            raise UnreadableFile(f"{WHO} ({path.name})", "version 1", found, hint)
        rows, shard_rows = plan["rows"], plan["shard_rows"]
        if not (type(rows) is type(shard_rows) is int and rows > 0 < shard_rows):
            raise ValueError(f"{rows!r:.40} rows in shards of {shard_rows!r:.40}")
        return {
            "request": str(plan["request"]),
            "rows": rows,
            "shard_rows": shard_rows,
            "sources": [dict(one) for one in plan["sources"]],
            "head": (int(plan["head"][0]), str(plan["head"][1])),
        }
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, LookalikeError):
            raise
        hint = "Remove the folder and build again"
        raise UnreadableFile(f"{WHO} ({path.name})", "a plan", str(error), hint) from error


def _same_sources(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether files are the same: by their content, wherever they are and whenever written."""
    return [s.get("sha256") for s in one] == [s.get("sha256") for s in other]


def write_part(build: Build, number: int, again: bool = False) -> Shard:
    """Write one shard, unless it is there already.

    Parameters
    ----------
    build : Build
    number : int
    again : bool
        Write it even if it is there: its files may be damaged.
    """
    if not again and (there := build.finished(number)) is not None:
        return there
    at, head = build.rows_of(number), build.head
    table: Table = build.source[at]
    if head.id_column is not None:
        table, _ = take_ids(table, head.id_column, WHO)
    positions = np.arange(at.start, at.stop)
    known = np.arange(at.start, at.stop) if head.n_fitted else np.full(len(table), -1)
    rows: Rows = head.measure.encode(table, known)
    segment = Segment(rows, table, positions, np.ones(len(table), bool))
    return write_segment(
        build.folder / SHARDS / build.name(number),
        head.measure,
        segment,
        head.id_column,
        fitted=True,
    )


def finish(build: Build) -> Manifest:
    """Write the manifest of a build whose shards are all there; ids that repeat are an error.

    A folder that has a manifest keeps it: rows may have come and gone since.
    """
    if (build.folder / MANIFEST).exists():
        return read_manifest(build.folder)
    build.check_sources()
    shards = []
    for number in range(build.n_shards):
        shard = build.finished(number)
        if shard is None:
            hint = "Write it, then finish"
            name = build.name(number)
            raise InvalidInput(WHO, f"all {build.n_shards} shards", f"no {name!r}", hint)
        shards.append(shard)
    column = build.head.id_column
    if column is not None:

        def read(number: int, row: int) -> Any:
            at = build.rows_of(number).start + row
            return build.source[at : at + 1][column].cell(0)

        refuse_repeats(shards, read, column, WHO)
    plan = read_plan(build.folder)
    assert plan is not None, "a build has a plan"
    manifest = Manifest(
        generation=1,
        head=plan["head"],
        shards=tuple(build.name(number) for number in range(build.n_shards)),
        next_position=len(build.source),
        deleted=None,
        shard_rows=build.shard_rows,
        sources=tuple(plan["sources"]),
    )
    manifest.write(build.folder)
    return manifest
