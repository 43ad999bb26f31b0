"""Building a folder of shards from files, and adding files to it, one shard at a time.

A build that was stopped is resumed: the plan says what it builds from, finished shards are not
repeated, and without a manifest, which is written last, the folder does not open. Shards can be
written in any order, by any process that sees the folder (``write_part``); writing is idempotent.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    is_intact,
    read_head,
    read_manifest,
    refuse_links,
)
from lookalike.index.shards.segment import refuse_repeats, write_segment
from lookalike.index.snapshot import Snapshot
from lookalike.neighbors.shards import Shard, hash_file, open_shard, refusing_damage
from lookalike.saving.encode import write as write_saved
from lookalike.saving.safe_json import parse_json
from lookalike.table import LazyTable, Table
from lookalike.table.formats.parquet import ParquetParts, find_files

ADD_FILES = "Index.add_files"


@dataclass(frozen=True, eq=False)
class Addition:
    """Files that are being added to a folder.

    Parameters
    ----------
    folder : ShardFolder
    now : Snapshot, the index before them
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
        """Return the name of a shard, as ``Index.add`` names those of a generation."""
        return f"added-{self.folder.manifest.generation + 1:06d}-{number:06d}"

    def write_part(self, number: int) -> Shard:
        """Read and encode the rows of one part, and write them as a shard."""
        part, now = self.parts[number], self.now
        table = now.read_added(self.files.read(part.start, part.stop), ADD_FILES)
        positions = now.segments.next_position + np.arange(part.start, part.stop)
        segment = Segment.of(now.measure.encode(table), table, positions)
        path = self.folder.path / SHARDS / self.name(number)
        return write_segment(path, now.measure, segment, now.id_column, fitted=False)

    def finish(self) -> None:
        """Name the shards in the manifest; the caller holds the lock of the folder."""
        folder = self.folder
        names = [self.name(number) for number in range(len(self.parts))]
        shards = [open_shard(folder.path / SHARDS / name) for name in names]
        refuse_repeats(shards, folder.head.like, self.now.id_column, ADD_FILES)
        folder.append(names, self.now.segments.next_position + len(self.files), ADD_FILES)


def begin_adding(folder: str | os.PathLike[str] | ShardFolder, paths: Any) -> Addition:
    """Open files that are to be added.

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


SHARD_ROWS = 2**19  # a multiple of the tiles of codes: 84 MB of rows for twenty numbers
PLAN = "plan.json"
WHO = "index build"


@dataclass(frozen=True, eq=False)
class IndexBuild:
    """A build that is under way.

    Parameters
    ----------
    folder : Path
    source : rows that can be sliced
    head : ShardHead
    shard_rows : int
    read_from : tuple of (path, bytes, time in ns)
        The state of the files when the build began; none for a table in memory.
    """

    folder: Path
    source: Table | LazyTable
    head: ShardHead
    shard_rows: int
    read_from: tuple[tuple[str, int, int], ...] = ()

    @property
    def parts(self) -> list[slice]:
        """Which rows go into each shard."""
        return list(blocks(len(self.source), self.shard_rows))

    def name(self, number: int) -> str:
        """Return the name of a shard."""
        return f"{number:06d}"

    @property
    def numbers(self) -> list[int]:
        """The shards that the folder is to have: all, or those its manifest still names.

        Rows may have been deleted since the build was finished, and shards compacted.
        """
        numbers = list(range(len(self.parts)))
        if not (self.folder / MANIFEST).exists():
            return numbers
        named = set(read_manifest(self.folder).shards)
        return [number for number in numbers if self.name(number) in named]

    def finished(self, number: int) -> Shard | None:
        """Return a shard that exists and is complete by the sizes of its files, or None."""
        try:
            shard = open_shard(self.folder / SHARDS / self.name(number))
        except LookalikeError:
            return None
        rows = self.parts[number]
        # By its length as well: another build may have left a shard of this name.
        return shard if shard.about.get("rows") == rows.stop - rows.start else None

    def check_sources(self) -> None:
        """Refuse files that were changed since the build began: shards would not fit together."""
        for path, bytes, time in self.read_from:
            stat = os.stat(path) if os.path.exists(path) else None
            if stat is None or (stat.st_size, stat.st_mtime_ns) != (bytes, time):
                hint = "Remove the folder and build it again, from files that stay as they are"
                needed = f"{path!r} as it was when the build began"
                raise InvalidInput(WHO, needed, "a change", hint)

    def write_part(self, number: int, again: bool = False) -> Shard:
        """Write one shard, unless it is there already.

        Parameters
        ----------
        number : int
        again : bool
            Write it even if it is there: its files may be damaged.
        """
        if not again and (finished := self.finished(number)) is not None:
            return finished
        rows, head = self.parts[number], self.head
        table: Table = self.source[rows]
        if head.id_column is not None:
            table, _ = take_ids(table, head.id_column, WHO)
        positions = np.arange(rows.start, rows.stop)
        # A frozen measure was fitted to other rows: to it all of these are unseen.
        seen = positions if head.n_fitted else np.full(len(table), -1)
        segment = Segment.of(head.measure.encode(table, seen), table, positions)
        path = self.folder / SHARDS / self.name(number)
        return write_segment(path, head.measure, segment, head.id_column, fitted=True)

    def finish(self) -> Manifest:
        """Write the manifest of a build whose shards are all there; repeated ids are an error.

        A folder that has a manifest keeps it: rows may have been added and deleted since.
        """
        if (self.folder / MANIFEST).exists():
            return read_manifest(self.folder)
        # Last, since a change while shards were being written matters as well.
        self.check_sources()
        names = [self.name(number) for number in range(len(self.parts))]
        shards = []
        for number, name in enumerate(names):
            if (shard := self.finished(number)) is None:
                hint = "Write it, then finish"
                raise InvalidInput(WHO, f"all {len(names)} shards", f"no {name!r}", hint)
            shards.append(shard)
        refuse_repeats(shards, self.head.like, self.head.id_column, WHO)
        plan = read_plan(self.folder)
        assert plan is not None, "a build has a plan"
        manifest = Manifest(
            generation=1,
            head=plan["head"],
            shards=tuple(names),
            next_position=len(self.source),
            deleted=None,
            shard_rows=self.shard_rows,
            sources=tuple(plan["sources"]),
        )
        manifest.write(self.folder)
        return manifest


def begin(
    folder: Path,
    source: Table | LazyTable,
    learn: Callable[[], ShardHead],
    shard_rows: int,
    sources: list[dict[str, Any]],
    request: str,
) -> IndexBuild:
    """Begin a build, or resume that of the folder, finished or not.

    A build of other rows, or with another request, is an error.

    Parameters
    ----------
    folder : Path, created if missing
    source : rows that can be sliced
    learn : callable that returns the head: all that is learned from the rows
    shard_rows : int
        Rows of a shard, a multiple of 1,024.
    sources : list of mappings
        ``path``, ``bytes``, ``time`` and ``sha256`` of each file that the rows were read from.
    request : str
        A digest of the options; a build with another request is another build.
    """
    plan = read_plan(folder)
    if plan is not None:
        # Files are the same by their content, wherever they are and whenever they were written.
        old, new = ([file.get("sha256") for file in s] for s in (plan["sources"], sources))
        if (plan["rows"], plan["request"], old) != (len(source), request, new):
            needed = f"an empty folder, or this build, in {str(folder)!r}"
            found = "a build of other files or with other options"
            raise InvalidInput(WHO, needed, found, "Choose another folder, or remove this one")
    # Stopped before the head was complete, or damaged: learn again.
    if plan is None or not is_intact(folder / HEAD, *plan["head"]):
        # The head first, then the plan: a folder with a plan was begun with all that it needs.
        make_folder(folder / SHARDS)
        write_saved(folder / HEAD, learn())
        plan = {
            "version": 1,
            "request": request,
            "rows": len(source),
            "shard_rows": shard_rows,
            "sources": sources,
            "head": [(folder / HEAD).stat().st_size, hash_file(folder / HEAD)],
        }
        with replacing(folder / PLAN) as file:
            file.write(json.dumps(plan, indent=1, allow_nan=False).encode())
    return IndexBuild(folder, source, read_head(folder / HEAD), plan["shard_rows"])


def open_build(folder: str | os.PathLike[str], files: Sequence[str]) -> IndexBuild:
    """Return a build that another process began, for a worker that sees its folder and its files.

    Parameters
    ----------
    folder : path
    files : paths of the Parquet files that the build reads, in their order
    """
    path = Path(folder)
    if (plan := read_plan(path)) is None:
        hint = "Begin the build first, and use a folder that all machines see"
        raise InvalidInput(WHO, f"a build in {str(path)!r}", "none", hint)
    head = read_head(path / HEAD)
    source = LazyTable(ParquetParts.open(find_files(list(files))), head.like, head.like.missing)
    if len(source) != plan["rows"]:
        hint = "Use the files that the build was begun with"
        raise InvalidInput(WHO, f"files of {plan['rows']:,} rows", f"{len(source):,}", hint)
    return IndexBuild(path, source, head, plan["shard_rows"])


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of a folder; None for a new folder. Other folders are refused."""
    path = folder / PLAN
    refuse_links(folder)
    if not path.is_file():
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        # A build that was stopped early leaves these, and hidden files; no other file is touched.
        others = [name for name in names if name[0] != "." and name not in (HEAD, SHARDS)]
        if others:
            hint = "Name an empty folder, or a new one"
            raise InvalidInput(WHO, "a folder of its own", f"one with {others[0]!r}", hint)
        return None
    who = f"{WHO} ({path.name})"
    with refusing_damage(who, "a plan", "Remove the folder and build again"):
        plan = parse_json(path.read_bytes())
        if plan["version"] != 1:
            hint = "Build into another folder, or with the version that began"
            raise UnreadableFile(who, "version 1", f"version {plan['version']!r:.40}", hint)
        rows, shard_rows = plan["rows"], plan["shard_rows"]
        if not (type(rows) is type(shard_rows) is int and rows > 0 < shard_rows):
            raise ValueError(f"{rows!r:.40} rows in shards of {shard_rows!r:.40}")
        return {
            "request": str(plan["request"]),
            "rows": rows,
            "shard_rows": shard_rows,
            "sources": [dict(source) for source in plan["sources"]],
            "head": (int(plan["head"][0]), str(plan["head"][1])),
        }
