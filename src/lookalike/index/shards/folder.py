"""A folder of shards: an index larger than memory; its manifest, checks and changes.

``manifest.json`` lists the shards; files that it does not name are not part of the index. It is
written last, under another name, then renamed, so that a reader finds the old state of the folder
or the new one, never one between.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.files import locked, replacing, sync_folder
from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, LookalikeError, UnreadableFile, missing_file
from lookalike.index.segments import NO_POSITIONS, Segment, Segments
from lookalike.index.shards.segment import ShardSegment, check_segment, open_segment, write_segment
from lookalike.index.snapshot import Learned, Snapshot
from lookalike.neighbors import shards
from lookalike.saving import fields
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import saveable
from lookalike.saving.load import import_packages
from lookalike.saving.safe_json import parse_json
from lookalike.table import Table

VERSION = 2
FORMAT = "lookalike shards"
# The plan is the manifest of a build that is under way, and becomes it in the end.
MANIFEST, PLAN, SHARDS = "manifest.json", "plan.json", "shards"
TILE = 1024  # shards end at whole tiles of codes
# A manifest is parsed as a whole: an untrusted one must not fill the memory (chosen by hand).
MAX_MANIFEST_BYTES = 2**28


@dataclass(frozen=True)
class Manifest:
    """Which files a folder is made of.

    Parameters
    ----------
    generation : int, how often it was written
    head : (bytes, SHA-256) of the file of the head
    shards : names of the shards, in the order of their rows
    next_position : int, the position of the next row to be added
    deleted : name of the shard that lists deleted rows, None where there are none
    shard_rows : int, rows of a full shard
    sources : what the shards were built from: path, bytes, time and SHA-256 of each file
    request : a digest of the options of the build; one with another request is another build
    """

    generation: int
    head: tuple[int, str]
    shards: tuple[str, ...]
    next_position: int
    deleted: str | None
    shard_rows: int
    sources: tuple[Mapping[str, Any], ...]
    request: str

    @property
    def mark(self) -> str:
        """A digest of this state of the folder; one that is built again under its name differs."""
        return hashlib.sha256(json.dumps(vars(self), sort_keys=True).encode()).hexdigest()[:16]

    def write(self, path: Path) -> None:
        """Write the manifest to a file, or replace it there."""
        # Not through a link that replaced the file: that would write outside of the folder.
        page = {"format": FORMAT, "version": VERSION, "lookalike": __version__, **vars(self)}
        with replacing(path, follow=False) as file:
            file.write(json.dumps(page, indent=1, allow_nan=False).encode())


def broken(
    folder: Path, needed: str, found: str, hint: str = "Build the folder again"
) -> UnreadableFile:
    """Return the error about a folder that cannot be read as an index."""
    return UnreadableFile(f"Index folder {str(folder)!r}", needed, found, hint)


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """Read the manifest of a folder; another version, and whatever is damaged, is an error."""
    path = folder / name
    # os.path, not Path: False also for names that no file can have, such as one with a NUL.
    if not os.path.isfile(path):
        if os.path.isdir(folder / SHARDS):
            hint = "Run the same build again: what is finished is not repeated"
            raise broken(folder, "a finished build", "an unfinished one", hint)
        raise missing_file(path)
    who = f"Index folder {str(folder)!r}"
    with shards.refusing_damage(who, f"a whole {name}", "Build the folder again"):
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ValueError("a much larger file")
        page = parse_json(path.read_bytes())
        if page["format"] != FORMAT:
            raise ValueError(f"format {page['format']!r:.80}")
        if page["version"] != VERSION:
            by = f"written by lookalike {page['lookalike']!r:.40}"
            found = f"version {page['version']!r:.40}, {by}"
            hint = "Build the folder again with this version of lookalike, or use the other one"
            raise broken(folder, f"version {VERSION} of the folder", found, hint)
        names = tuple(_name(name) for name in page["shards"])
        if len(set(names)) < len(names):
            raise ValueError("a shard that is named twice")
        return Manifest(
            _count(page, "generation"),
            (int(page["head"][0]), str(page["head"][1])),
            names,
            _count(page, "next_position"),
            None if page["deleted"] is None else _name(page["deleted"]),
            _count(page, "shard_rows", TILE),
            tuple(
                {**s, "path": str(s["path"]), "bytes": int(s["bytes"]), "sha256": str(s["sha256"])}
                for s in page["sources"]
            ),
            str(page["request"]),
        )


def _name(name: Any) -> str:
    # A name must not lead out of the folder, nor write control characters to a terminal.
    plain = shards.file_name(name)
    if not plain.isprintable():
        raise ValueError(f"the name {name!r:.80}")
    return plain


def _count(page: Mapping[str, Any], key: str, unit: int = 1) -> int:
    """Return an integer >= 1 of a manifest, a multiple of ``unit``."""
    value = page[key]
    if type(value) is not int or not 0 < value < shards.MAX_COUNT or value % unit:
        raise ValueError(f"{value!r:.80} for {key!r}")
    return value


def refuse_links(folder: Path) -> None:
    """Refuse a folder with symbolic links in it: writing there would write somewhere else.

    The folder itself may be a link, which the user made.
    """
    # One that is missing, or removed meanwhile, has none: reading it raises the error for that.
    for root, inside, files in os.walk(folder):
        for path in (os.path.join(root, name) for name in (*inside, *files)):
            if os.path.islink(path):
                found = f"{os.path.relpath(path, folder)!r}, a link"
                hint = "Remove the link, or build it again"
                raise broken(folder, "files of its own", found, hint)


HEAD = "index.lookalike"
FILES_PER_SHARD = 16  # open at a time, at most: mapped arrays and the cells


@saveable
@dataclass(frozen=True, eq=False, kw_only=True)
class ShardHead(Learned):
    """What an index in a folder knows beside its rows.

    Parameters
    ----------
    measure, reason, schema, id_column, target, learned_target, fitted : see ``Learned``
    like : Table without rows, whose columns all shards have
    sample : Table, some rows evenly spread, which show how cells are written
    n_fitted : int, how many rows the measure was fitted to
    """

    FIELDS: ClassVar[fields.Fields] = {
        "like": fields.Saved("Table"),
        "sample": fields.Saved("Table"),
        "n_fitted": fields.Integer(0),
    }

    like: Table
    sample: Table
    n_fitted: int


def read_head(path: Path) -> ShardHead:
    """Read the head of a folder."""
    try:
        head = read_saved(path, root=ShardHead)
    except UnreadableFile:
        # The class of its measure may not have been imported yet.
        import_packages()
        head = read_saved(path, root=ShardHead)
    assert isinstance(head, ShardHead)
    return head


def is_intact(file: Path, size: int, digest: str) -> bool:
    """Whether a file has this size and this SHA-256; the size is compared first, which is quick."""
    return file.is_file() and file.stat().st_size == size and shards.hash_file(file) == digest


class ShardFolder:
    """The files of an open index; it writes what the index has changed.

    Parameters
    ----------
    path : Path
    head : ShardHead
    manifest : Manifest, as it was when the folder was read or last written
    """

    def __init__(self, path: Path, head: ShardHead, manifest: Manifest) -> None:
        self.path, self.head, self.manifest = path, head, manifest

    @classmethod
    def open_now(cls, path: str | os.PathLike[str]) -> tuple[ShardFolder, Snapshot]:
        """Open a folder and its shards; again if it was written to meanwhile."""
        # A writer may remove a shard between the manifest that names it and its opening. That is
        # no damage: the new manifest differs, and is read instead.
        while True:
            folder = cls.open(path)
            try:
                return folder, folder.snapshot()
            except LookalikeError:
                if read_manifest(folder.path) == folder.manifest:
                    raise

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ShardFolder:
        """Read manifest and head; hashes are compared only of files that are read as a whole."""
        folder = Path(path)
        refuse_links(folder)
        manifest = read_manifest(folder)
        if not is_intact(folder / HEAD, *manifest.head):
            raise broken(folder, f"{HEAD} as it was written", "another")
        return cls(folder, read_head(folder / HEAD), manifest)

    # -- reading -----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the index that the folder holds, without reading rows."""
        try:
            segments = self._segments()
        except fields.Misfit as error:
            raise broken(self.path, "shards that fit together", _in_short(error)) from error
        return Snapshot(segments=segments, **self.head.learned())

    def _segments(self) -> Segments:
        deleted = self._deleted()
        # Raises the limit of open files: shards stay mapped while the index is open.
        shards.allow_files(FILES_PER_SHARD * len(self.manifest.shards))
        segments: list[Segment] = []
        for number, name in enumerate(self.manifest.shards):
            segment: Segment = self._open(name, first=number == 0)
            gone = np.flatnonzero(np.isin(segment.positions, deleted)) if len(deleted) else deleted
            segments.append(segment.without(gone) if len(gone) else segment)
        if not segments:
            raise broken(self.path, "at least one shard", "none")
        # Positions must ascend over shards: rows are found by bisection.
        whole = Segments(tuple(segments), self.manifest.next_position)
        whole.check_loaded({})
        return whole

    def _deleted(self) -> np.ndarray:
        """Return the positions of deleted rows (tombstones)."""
        if self.manifest.deleted is None:
            return NO_POSITIONS
        shard = shards.open_shard(self.path / SHARDS / self.manifest.deleted)
        # All of it is read now, so its hash is compared now.
        for fault in shard.faults():
            raise broken(self.path, "positions of deleted rows", fault)
        found = {"positions": shard.array("positions")}
        fields.check_fields(found, fields.fields_of(Segment), self.manifest.deleted)
        return found["positions"]

    def _open(self, name: str, first: bool) -> ShardSegment:
        head, shard = self.head, shards.open_shard(self.path / SHARDS / name)
        sample = head.sample if first else None
        return open_segment(head.measure, shard, head.like, head.n_fitted, sample)

    def faults(self) -> dict[str, list[str]]:
        """Read everything, compare hashes, and check the rows; return what is wrong.

        A hash shows that a file is as it was written, not who wrote it: rows are checked as
        untrusted input, so that no code indexes outside of an array.
        """
        names = enumerate(self.manifest.shards)
        return {name: faults for number, name in names if (faults := self.faults_of(number))}

    def faults_of(self, number: int) -> list[str]:
        """Return what is wrong with one shard, by its number; empty if it is intact."""
        name = self.manifest.shards[number]
        try:
            # Hashes first: rows of a damaged file would only raise less clear errors.
            if not (faults := shards.open_shard(self.path / SHARDS / name, sizes=False).faults()):
                segment = self._open(name, first=number == 0)
                check_segment(self.head.measure, segment, self.head.id_column)
        except LookalikeError as error:
            faults = [_in_short(error)]
        return faults

    # -- writing -----------------------------------------------------------------------------------

    def keep(self, before: Snapshot, after: Snapshot, who: str = "Index") -> Snapshot:
        """Make a change durable: return the new snapshot with its new rows in the folder.

        Parameters
        ----------
        before, after : Snapshot, the current state of the index and the next one
        who : str, the caller, for errors
        """
        if after.segments is before.segments:
            return after
        with locked(self.path, who):
            now = self.as_opened(who)
            # What an earlier change replaced, or a killed process left behind. The manifest may be
            # that of a process killed before it synced the name: it must last first.
            sync_folder(self.path)
            self._remove_unnamed(now)
            generation = now.generation + 1
            numbered = enumerate(after.segments.segments)
            segments = tuple(self._written(s, generation, number) for number, s in numbered)
            deleted = np.concatenate([segment.positions[~segment.live] for segment in segments])
            gone = f"deleted-{generation:06d}" if len(deleted) else None
            if gone:
                shards.write_shard(
                    self.path / SHARDS / gone, {("positions",): np.sort(deleted)}, {}
                )
            # Shards that are no longer named may still be open elsewhere: the next change
            # removes them.
            names = tuple(segment.shard.folder.name for segment in segments)
            self._commit(replace(now, deleted=gone), names, after.segments.next_position)
        return replace(after, segments=replace(after.segments, segments=segments))

    def _commit(self, now: Manifest, names: tuple[str, ...], next_position: int) -> None:
        """Write the next generation of the manifest."""
        following = now.generation + 1
        self.manifest = replace(
            now, generation=following, shards=names, next_position=next_position
        )
        self.manifest.write(self.path / MANIFEST)

    def append(self, names: Sequence[str], next_position: int, who: str) -> None:
        """Add shards that were written to the folder to the index.

        Parameters
        ----------
        names : names of the shards, in the order of their rows
        next_position : int, the position of the next row to be added
        who : str, the caller, which holds the lock of the folder
        """
        now = self.as_opened(who)
        self._commit(now, (*now.shards, *names), next_position)

    def as_opened(self, who: str) -> Manifest:
        """Return the manifest; refuse a folder that another process has changed since."""
        now = read_manifest(self.path)
        if now != self.manifest:
            hint = ("Open the folder again", InPython(": Index.open(folder)"))
            needed = "the folder as it was opened"
            raise InvalidInput(who, needed, "a change by another process", hint)
        return now

    def _written(self, segment: Segment, generation: int, number: int) -> ShardSegment:
        """Return a segment as a shard of the folder, written if it is in memory."""
        if isinstance(segment, ShardSegment):
            return segment
        head, path = self.head, self.path / SHARDS / f"added-{generation:06d}-{number:06d}"
        # Compaction may rewrite fitted rows, which stay apart from later ones.
        fitted = bool(len(segment)) and int(segment.positions[-1]) < head.n_fitted
        write_segment(path, head.measure, segment, head.id_column, fitted=fitted)
        return replace(self._open(path.name, first=number == 0), live=segment.live)

    def _remove_unnamed(self, manifest: Manifest) -> None:
        """Remove shards and lists of deleted rows that the manifest does not name."""
        for shard in (self.path / SHARDS).iterdir():
            named = shard.name in (*manifest.shards, manifest.deleted)
            # Only what is a shard, by its page: other files of the user are left alone.
            mine = (shard / shards.PAGE).is_file() and not shard.is_symlink()
            if mine and not named and not shard.name.startswith("."):
                shutil.rmtree(shard, ignore_errors=True)


def _in_short(error: LookalikeError) -> str:
    """Return what is wrong, without the context and the hint that the caller adds."""
    return f"needs {error.needed}, found {error.found}" if error.needed else str(error)
