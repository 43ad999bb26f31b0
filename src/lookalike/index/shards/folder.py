"""A folder of shards: an index larger than memory; its manifest, checks and changes.

``manifest.json`` says which shards there are; whatever it does not name is not there. It is written
last, beside and renamed, so that a reader finds the folder as it was or as it is, never between.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.files import replacing
from lookalike._runtime.locks import locked
from lookalike._version import __version__
from lookalike.columns.ragged import Ragged
from lookalike.errors import (
    InPython,
    InvalidInput,
    LookalikeError,
    Phrase,
    UnreadableFile,
    missing_file,
)
from lookalike.index.drift import Fitted
from lookalike.index.segments import Segment, Segments
from lookalike.index.shards.segment import (
    ShardSegment,
    ShardTable,
    check_codes,
    open_segment,
    write_segment,
)
from lookalike.index.snapshot import Snapshot
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.neighbors.shards import MOST, PAGE, allow_files, file_name, hash_file, open_shard
from lookalike.saving.decode import check_object
from lookalike.saving.decode import read as read_saved
from lookalike.saving.encode import saveable
from lookalike.saving.fields import (
    Array,
    Field,
    Fields,
    Flag,
    Integer,
    MapOf,
    Maybe,
    Misfit,
    Saved,
    Text,
    check_fields,
    require,
)
from lookalike.saving.load import import_packages
from lookalike.saving.safe_json import parse_json
from lookalike.table import Kind, Schema, Table

VERSION = 1
FORMAT = "lookalike shards"
MANIFEST, SHARDS = "manifest.json", "shards"
TILE = 1024  # shards are cut at whole tiles of codes
LARGEST = 2**28  # bytes of a manifest that is read at all


@dataclass(frozen=True)
class Manifest:
    """Which files a folder is made of.

    Parameters
    ----------
    generation : int, how often it was written
    head : (bytes, SHA-256) of the file of the head
    shards : names of the shards, in the order of their rows
    next_position : int, the number that the next row gets
    deleted : (name, bytes, SHA-256) of the file that names deleted rows, None where there are none
    shard_rows : int, rows of a full shard
    sources : what the shards were built from: path, bytes, time and SHA-256 of each file
    """

    generation: int
    head: tuple[int, str]
    shards: tuple[str, ...]
    next_position: int
    deleted: tuple[str, int, str] | None
    shard_rows: int
    sources: tuple[Mapping[str, Any], ...] = ()

    @property
    def mark(self) -> str:
        """A digest that no other state of the folder has, nor a folder built in its place."""
        return hashlib.sha256(json.dumps(vars(self), sort_keys=True).encode()).hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Put this manifest instead of the one before."""
        page = {"format": FORMAT, "version": VERSION, "lookalike": __version__, **vars(self)}
        with replacing(folder / MANIFEST, follow=False) as file:
            file.write(json.dumps(page, indent=1, allow_nan=False).encode())


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; another version, and whatever is damaged, is an error."""
    path = folder / MANIFEST
    who = f"Index folder {str(folder)!r}"
    if not os.path.isfile(path):  # False also for names that no file can have
        if os.path.isdir(folder / SHARDS):
            hint = "Run the same build again: what is finished is not repeated"
            raise UnreadableFile(who, "a finished build", "an unfinished one", hint)
        raise missing_file(path)
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("a much larger file")
        page = parse_json(path.read_bytes())
        if page["format"] != FORMAT:
            raise ValueError(f"format {page['format']!r:.80}")
        if page["version"] != VERSION:
            found = (
                f"version {page['version']!r:.40}, written by lookalike {page['lookalike']!r:.40}"
            )
            hint = "Build the folder again with this version of lookalike, or use the other one"
            raise UnreadableFile(who, f"version {VERSION} of the folder", found, hint)
        deleted = page["deleted"]
        shards = tuple(_name(name) for name in page["shards"])
        if len(set(shards)) < len(shards):
            raise ValueError("a shard that is named twice")
        return Manifest(
            _count(page, "generation"),
            (int(page["head"][0]), str(page["head"][1])),
            shards,
            _count(page, "next_position"),
            None if deleted is None else (_name(deleted[0]), int(deleted[1]), str(deleted[2])),
            _count(page, "shard_rows", TILE),
            tuple(
                {**source, "path": str(source["path"]), "sha256": str(source["sha256"])}
                for source in page["sources"]
            ),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, LookalikeError):
            raise
        raise UnreadableFile(
            who, "a whole manifest", f"{type(error).__name__}: {error}", "Build the folder again"
        ) from error


def _name(name: Any) -> str:
    plain = file_name(name)
    if not plain.isprintable():
        raise ValueError(f"the name {name!r:.80}")
    return plain


def _count(page: Mapping[str, Any], key: str, unit: int = 1) -> int:
    """Return a whole number above 0 of a manifest, a multiple of another where that matters."""
    found = page[key]
    whole = isinstance(found, int) and not isinstance(found, bool)
    if not whole or not 0 < found < MOST or found % unit:
        raise ValueError(f"{found!r:.80} for {key!r}")
    return int(found)


def refuse_links(folder: Path) -> None:
    """Refuse a folder with symbolic links in it: writing there would write somewhere else.

    The folder itself may be a link, that of whoever names it.
    """
    left = [str(folder)]
    while left:
        try:
            inside = list(os.scandir(left.pop()))
        except OSError:  # removed meanwhile, or not there: whoever needs it says so
            continue
        for entry in inside:
            if entry.is_symlink():
                who, hint = f"Index folder {str(folder)!r}", "Remove the link, or build it again"
                found = f"{os.path.relpath(entry.path, folder)!r}, a link"
                raise UnreadableFile(who, "files of its own", found, hint)
            if entry.is_dir():
                left.append(entry.path)


POSITIONS: dict[str, Field] = {"positions": Array("int64", "n", low=0, ascending=True)}


def check_segment(measure: Measure, segment: ShardSegment, id_column: str | None) -> None:
    """Look at all that a shard holds, as at a saved file: nothing may lead out of an array.

    Parameters
    ----------
    measure : Measure, fitted
    segment : ShardSegment
    id_column : str or None
    """
    where, shard = f"Shard {segment.shard.folder.name!r}", segment.shard
    _check_objects(segment.rows)
    measure.check_rows(segment.rows, where)
    check_codes(measure, shard, segment.rows.seen)
    check_fields({"positions": segment.positions}, POSITIONS, where)
    if id_column is not None:
        hashes, rows = segment.ids
        n = len(segment)
        fits = hashes.shape == rows.shape == (n,) and rows.dtype.kind == "i"
        fits = fits and bool((hashes[1:] >= hashes[:-1]).all())
        fits = fits and np.array_equal(np.sort(rows), np.arange(n))
        require(fits, f"{where}.ids", "every row once, by the hash of its id", "others")
    assert isinstance(segment.table, ShardTable)
    segment.table.check()


def _check_objects(rows: Rows) -> None:
    """Check rows against what their classes declare, inner ones first."""
    for part in rows.parts.values():
        _check_objects(part)
    for cells in rows.arrays.values():
        if isinstance(cells, Ragged):
            check_object(cells)
    check_object(rows)


def read_deleted(path: Path) -> np.ndarray:
    """Return the numbers of deleted rows."""
    try:
        found = np.load(path, allow_pickle=False)
        check_fields({"positions": found}, POSITIONS, path.name)
    except Exception as error:  # whatever a damaged file makes of the reader
        found, hint = f"{type(error).__name__}: {error}"[:200], "Take the folder from a copy"
        raise UnreadableFile(
            f"Index folder {str(path.parent)!r}", "numbers of deleted rows", found, hint
        ) from error
    return np.asarray(found)


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
            at = np.flatnonzero(np.isin(one.positions, gone)) if len(gone) else gone
            segments.append(one.without(at) if len(at) else one)
        if not segments:
            who, hint = f"Index folder {str(self.path)!r}", "Build the folder again"
            raise UnreadableFile(who, "at least one shard", "none", hint)
        whole = Segments(tuple(segments), self.manifest.next_position)
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
        return read_deleted(self.path / self.manifest.deleted[0])

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
                gone.append(kept.positions[~kept.live])
            changed = replace(
                now,
                generation=generation,
                shards=tuple(names),
                next_position=after.segments.next_position,
                deleted=self._write_deleted(np.sort(np.concatenate(gone)), generation),
            )
            changed.write(self.path)
            self.manifest = (
                changed  # what it no longer names may still be read: the next one tidies
            )
        return replace(after, segments=replace(after.segments, segments=tuple(segments)))

    def append(self, names: Sequence[str], next_position: int, who: str) -> None:
        """Make shards that were written here a part of the index.

        Parameters
        ----------
        names : names of the shards, in the order of their rows
        next_position : int, the number that the next row gets
        who : str, whose name an error begins with; who holds the lock of the folder
        """
        now = self.as_opened(who)
        shards = (*now.shards, *names)
        changed = replace(
            now, generation=now.generation + 1, shards=shards, next_position=next_position
        )
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
        positions = segment.positions
        fitted = bool(len(positions)) and int(positions[-1]) < self.head.n_fitted
        head = self.head
        shard = write_segment(
            self.path / SHARDS / name, head.measure, segment, head.id_column, fitted=fitted
        )
        sample = head.sample if number == 0 else None
        kept = open_segment(head.measure, shard, head.like, fitted=fitted, sample=sample)
        return replace(kept, live=segment.live)

    def _write_deleted(self, positions: np.ndarray, generation: int) -> tuple[str, int, str] | None:
        if not len(positions):
            return None
        name = f"deleted-{generation:06d}.npy"
        content = io.BytesIO()
        np.lib.format.write_array(content, positions, allow_pickle=False)
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
