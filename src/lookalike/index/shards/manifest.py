"""The manifest of a folder of shards: which files belong to it, believed only as far as it goes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike._runtime.files import replacing
from lookalike._version import __version__
from lookalike.errors import LookalikeError, UnreadableFile, missing_file
from lookalike.neighbors.shards import MOST, file_name
from lookalike.saving.safe_json import parse_json

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
    next_place : int, the number that the next row gets
    deleted : (name, bytes, SHA-256) of the file that names deleted rows, None where there are none
    shard_rows : int, rows of a full shard
    sources : what the shards were built from: path, bytes, time and SHA-256 of each file
    """

    generation: int
    head: tuple[int, str]
    shards: tuple[str, ...]
    next_place: int
    deleted: tuple[str, int, str] | None
    shard_rows: int
    sources: tuple[Mapping[str, Any], ...] = ()

    @property
    def mark(self) -> str:
        """A digest that no other state of the folder has, nor a folder built in its place."""
        return hashlib.sha256(json.dumps(vars(self), sort_keys=True).encode()).hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Put this manifest in the place of the one before."""
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
            _count(page, "next_place"),
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
