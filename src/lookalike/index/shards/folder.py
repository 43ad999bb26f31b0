"""A folder of shards: an index larger than memory, which outlives its process.

``manifest.json`` says which shards there are; whatever it does not name is not there. It is written
last, beside and renamed, so that a reader finds the folder as it was or as it is, never between.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from lookalike._runtime.files import replacing
from lookalike._runtime.locks import locked
from lookalike.errors import (
    InPython,
    InvalidInput,
    LookalikeError,
    Phrase,
    UnreadableFile,
)
from lookalike.index.drift import Fitted
from lookalike.index.segments import Segment, Segments
from lookalike.index.shards.check import check_segment, read_places
from lookalike.index.shards.manifest import SHARDS, Manifest, read_manifest, refuse_links
from lookalike.index.shards.segment import ShardSegment, open_segment, write_segment
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.base import Measure
from lookalike.neighbors.shards import PAGE, allow_files, hash_file, open_shard
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Fields, Flag, Integer, MapOf, Maybe, Misfit, Saved, Text
from lookalike.saving.load import import_packages
from lookalike.table import Kind, Schema, Table

HEAD = "index.lookalike"
FILES = 16  # that an open shard may need: mapped arrays and its cells


@saveable
@dataclass(frozen=True, eq=False)
class ShardHead:
    """What an index in a folder knows beside its rows.

    Parameters
    ----------
    measure : Measure, fitted
    reason : str, why this measure
    schema : Schema, how rows are read
    like : Table without rows, whose columns all shards have
    sample : Table, some rows evenly spread, which show how cells are written
    n_fitted : int, how many rows the measure was fitted to
    id_column, id_kind, target, learned_target, fitted : as in ``Snapshot``
    """

    FIELDS: ClassVar[Fields] = {
        "measure": Saved("Measure"),
        "reason": Text(),
        "schema": Saved("Schema"),
        "like": Saved("Table"),
        "sample": Saved("Table"),
        "n_fitted": Integer(0),
        "id_column": Maybe(Text()),
        "id_kind": Maybe(Saved("Kind")),
        "target": Maybe(Text()),
        "learned_target": Flag(),
        "fitted": MapOf(Text(), Saved("Fitted")),
    }

    measure: Measure
    reason: str
    schema: Schema
    like: Table
    sample: Table
    n_fitted: int
    id_column: str | None = None
    id_kind: Kind | None = None
    target: str | None = None
    learned_target: bool = False
    fitted: Mapping[str, Fitted] = field(default_factory=dict)


def read_head(path: Path) -> ShardHead:
    """Read a head; its measure may be of a room that nobody has opened yet."""
    try:
        found = read_saved(path, root=ShardHead)
    except UnreadableFile:
        import_packages()
        found = read_saved(path, root=ShardHead)
    assert isinstance(found, ShardHead)
    return found


class ShardFolder:
    """The files behind an index that was opened; it writes what the index has changed.

    Parameters
    ----------
    path : Path
    head : ShardHead
    manifest : Manifest, as it stood when the folder was read or last written
    """

    def __init__(self, path: Path, head: ShardHead, manifest: Manifest) -> None:
        self.path, self.head, self.manifest = path, head, manifest

    @classmethod
    def open_now(cls, path: str | os.PathLike[str]) -> tuple[ShardFolder, Snapshot]:
        """Open a folder and its shards, once more if it was written to in that moment."""
        while True:
            folder = cls.open(path)
            try:
                return folder, folder.snapshot()
            except LookalikeError:
                if read_manifest(folder.path) == folder.manifest:
                    raise

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ShardFolder:
        """Read manifest and head; sizes are compared, hashes only of what is read as a whole."""
        folder = Path(path)
        refuse_links(folder)
        manifest = read_manifest(folder)
        head = folder / HEAD
        who = f"Index folder {str(folder)!r}"
        for file, (size, digest) in ((head, manifest.head), *_deleted(folder, manifest)):
            if not file.is_file() or file.stat().st_size != size or hash_file(file) != digest:
                hint = "Build the folder again"
                raise UnreadableFile(who, f"{file.name} as it was written", "another", hint)
        return cls(folder, read_head(head), manifest)

    # -- reading -----------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the index as the folder has it, no row read."""
        head = self.head
        try:
            whole = self._segments()
        except Misfit as error:
            who, hint = f"Index folder {str(self.path)!r}", "Build the folder again"
            raise UnreadableFile(who, "shards that fit together", _in_short(error), hint) from error
        return Snapshot(
            head.measure,
            head.reason,
            head.schema,
            whole,
            head.id_column,
            head.id_kind,
            target=head.target,
            learned_target=head.learned_target,
            fitted=head.fitted,
        )

    def _segments(self) -> Segments:
        gone = self._gone()
        allow_files(FILES * len(self.manifest.shards))
        segments: list[Segment] = []
        for number, name in enumerate(self.manifest.shards):
            one: Segment = self._open(name, first=number == 0)
            at = np.flatnonzero(np.isin(one.places, gone)) if len(gone) else gone
            segments.append(one.without(at) if len(at) else one)
        if not segments:
            who, hint = f"Index folder {str(self.path)!r}", "Build the folder again"
            raise UnreadableFile(who, "at least one shard", "none", hint)
        whole = Segments(tuple(segments), self.manifest.next_place)
        whole.check_loaded({})
        return whole

    def _open(self, name: str, first: bool) -> ShardSegment:
        shard = open_shard(self.path / SHARDS / name)
        sample = self.head.sample if first else None
        fitted = bool(shard.about.get("fitted"))
        return open_segment(self.head.measure, shard, self.head.like, fitted=fitted, sample=sample)

    def _gone(self) -> np.ndarray:
        if self.manifest.deleted is None:
            return np.empty(0, np.int64)
        return read_places(self.path / self.manifest.deleted[0])

    def faults(self) -> dict[str, list[str]]:
        """Read everything, compare it with the hashes, and look at the rows; return what is wrong.

        A hash says that a file is as it was written, not who wrote it: the rows are checked as
        those of a saved file are, so that no code leads out of an array.
        """
        faults = (
            (name, self.faults_of(number)) for number, name in enumerate(self.manifest.shards)
        )
        return {name: some for name, some in faults if some}

    def faults_of(self, number: int) -> list[str]:
        """Return what is wrong with one shard, by its number; nothing if it is whole."""
        name = self.manifest.shards[number]
        try:
            faults = open_shard(self.path / SHARDS / name, sizes=False).faults()
            if not faults:
                segment = self._open(name, first=number == 0)
                check_segment(self.head.measure, segment, self.head.id_column)
        except LookalikeError as error:
            faults = [_in_short(error)]
        return faults

    @property
    def size(self) -> int:
        """Bytes of all files that belong to the index."""
        shards = (open_shard(self.path / SHARDS / name) for name in self.manifest.shards)
        return sum(shard.size for shard in shards) + self.manifest.head[0]

    # -- writing -----------------------------------------------------------------------------------

    def keep(self, before: Snapshot, after: Snapshot, who: str = "Index") -> Snapshot:
        """Make a change durable: return the new snapshot with its new rows in the folder.

        Parameters
        ----------
        before, after : Snapshot, the index as it stands and as it is going to be
        who : str, whose name an error begins with
        """
        if after.segments is before.segments:
            return after
        with locked(self.path, who):
            now = self.as_opened(who)
            self._remove_unnamed(now)
            generation = now.generation + 1
            segments, names, gone = [], [], []
            for number, segment in enumerate(after.segments.segments):
                kept = self._kept(segment, generation, number)
                segments.append(kept)
                names.append(kept.shard.folder.name)
                gone.append(kept.places[~kept.alive])
            changed = replace(
                now,
                generation=generation,
                shards=tuple(names),
                next_place=after.segments.next_place,
                deleted=self._write_deleted(np.sort(np.concatenate(gone)), generation),
            )
            changed.write(self.path)
            self.manifest = (
                changed  # what it no longer names may still be read: the next one tidies
            )
        return replace(after, segments=replace(after.segments, segments=tuple(segments)))

    def append(self, names: Sequence[str], next_place: int, who: str) -> None:
        """Make shards that were written here a part of the index.

        Parameters
        ----------
        names : names of the shards, in the order of their rows
        next_place : int, the number that the next row gets
        who : str, whose name an error begins with; who holds the lock of the folder
        """
        now = self.as_opened(who)
        shards = (*now.shards, *names)
        changed = replace(now, generation=now.generation + 1, shards=shards, next_place=next_place)
        changed.write(self.path)
        self.manifest = changed

    def as_opened(self, who: str) -> Manifest:
        """Return the manifest, or say that another process has changed the folder since."""
        now = read_manifest(self.path)
        if now != self.manifest:
            hint = Phrase("Open the folder again", InPython(": Index.open(folder)"))
            needed = "the folder as it was opened"
            raise InvalidInput(who, needed, "a change by another process", hint)
        return now

    def _kept(self, segment: Segment, generation: int, number: int) -> ShardSegment:
        if isinstance(segment, ShardSegment):
            return segment
        name = f"added-{generation:06d}-{number:06d}"
        places = segment.places
        fitted = bool(len(places)) and int(places[-1]) < self.head.n_fitted
        head = self.head
        shard = write_segment(
            self.path / SHARDS / name, head.measure, segment, head.id_column, fitted=fitted
        )
        sample = head.sample if number == 0 else None
        kept = open_segment(head.measure, shard, head.like, fitted=fitted, sample=sample)
        return replace(kept, alive=segment.alive)

    def _write_deleted(self, places: np.ndarray, generation: int) -> tuple[str, int, str] | None:
        if not len(places):
            return None
        name = f"deleted-{generation:06d}.npy"
        content = io.BytesIO()
        np.lib.format.write_array(content, places, allow_pickle=False)
        with replacing(self.path / name, follow=False) as file:
            file.write(content.getbuffer())
        return name, len(content.getvalue()), hash_file(self.path / name)

    def _remove_unnamed(self, manifest: Manifest) -> None:
        """Remove shards and lists of deleted rows that no manifest names any more."""
        for shard in (self.path / SHARDS).iterdir():
            named = shard.name in manifest.shards or shard.name.startswith(".")
            if not named and (shard / PAGE).is_file() and not shard.is_symlink():
                shutil.rmtree(shard, ignore_errors=True)
        for file in self.path.glob("deleted-*.npy"):
            if manifest.deleted is None or file.name != manifest.deleted[0]:
                file.unlink(missing_ok=True)


def _in_short(error: LookalikeError) -> str:
    """Return what is wrong without who says so and what to do: whoever asked says that."""
    return f"needs {error.needed}, found {error.found}" if error.needed else str(error)


def _deleted(folder: Path, manifest: Manifest) -> Iterator[tuple[Path, tuple[int, str]]]:
    if manifest.deleted is not None:
        name, size, digest = manifest.deleted
        yield folder / name, (size, digest)
