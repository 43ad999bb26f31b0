"""Shards: arrays in a folder of their own, mapped into memory instead of read.

A shard is written beside and renamed, so that there is all of it or nothing; two workers that write
the same one leave one of them. Its page (``shard.json``) names every file with its size and its
SHA-256: sizes are compared whenever a shard is opened, hashes when it is checked. Nothing in it is
run, and no array holds Python objects.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.files import making_folder
from lookalike.errors import InvalidInput, UnreadableFile, WrongType, missing_file
from lookalike.saving.archive import MAX_HEADER_BYTES, read_header
from lookalike.saving.safe_json import parse_json

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FORMAT = 1
PAGE = "shard.json"
LARGEST_PAGE = 2**26  # bytes of a page that is read at all
MOST = 2**48  # rows of a shard, and their numbers, that are believed
LONGEST_NAME = 255  # bytes of the name of a file, as most systems have it
PLAIN = "biuf"  # numbers and flags: what a mapped array may hold

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Shard:
    """An open shard: what is said about it, and its arrays, mapped when they are asked for.

    Parameters
    ----------
    folder : Path
    about : mapping, whatever the writer wanted to be kept beside the arrays
    members : mapping of key (a tuple of words) to the name of a file
    files : mapping of the name of a file to (bytes, SHA-256)
    """

    folder: Path
    about: Mapping[str, Any]
    members: Mapping[Key, str]
    files: Mapping[str, tuple[int, str]]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for size, _ in self.files.values())

    def path(self, name: str) -> Path:
        """Return where a file of the shard is."""
        return self.folder / name

    def array(self, *key: str) -> np.ndarray:
        """Return an array, mapped: only what is looked at is read.

        Pages that are written to are copied (they never are), since loops are compiled for arrays
        that may be written.
        """
        if key not in self.members:
            raise _damaged(self.path(PAGE), f"an array {' '.join(key)!r:.80}", "none")
        path = self.path(self.members[key])
        try:
            found: np.ndarray = np.lib.format.open_memmap(path, mode="c")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                hint = "Allow more of them (ulimit -n), or build the folder with larger shards"
                reason = "too many open files"
                raise UnreadableFile(_who(path), "one more file", reason, hint) from error
            raise _damaged(path, "a file that can be read", str(error)) from error
        except Exception:  # an empty array cannot be mapped; a damaged header raises anything
            found = _read_empty(path)
        if found.dtype.kind not in PLAIN or not found.flags.c_contiguous:
            raise _damaged(path, "an array of numbers", str(found.dtype))
        return np.asarray(found)

    def number(self, key: str, low: int = 0) -> int:
        """Return a number that is said about the shard; whatever else stands there is an error."""
        found = self.about.get(key)
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found < MOST:
            raise _damaged(self.path(PAGE), f"a number for {key!r}", f"{found!r:.80}")
        return found

    def faults(self, hashes: bool = True) -> list[str]:
        """Return what is wrong with the files, in words; nothing for a shard that is whole.

        Parameters
        ----------
        hashes : bool
            Whether to read every file and compare its hash, beside its size.
        """
        found = []
        for name, (size, digest) in self.files.items():
            path = self.path(name)
            if path.is_symlink():
                found.append(f"{name} is a link")
            elif not path.is_file():
                found.append(f"{name} is not there")
            elif path.stat().st_size != size:
                found.append(f"{name} has {path.stat().st_size:,} bytes instead of {size:,}")
            elif hashes and hash_file(path) != digest:
                found.append(f"{name} has another SHA-256")
        return found


def _read_empty(path: Path) -> np.ndarray:
    """Return an array without entries; no memory is taken for one that claims to have some."""
    try:
        with path.open("rb") as file:
            dtype, shape, _ = read_header(file.read(12 + MAX_HEADER_BYTES), path.name)
    except Exception as error:
        raise _damaged(path, "an array", f"{type(error).__name__}: {error}") from error
    if math.prod(shape):
        raise _damaged(path, "an array that can be mapped", f"the shape {shape}")
    return np.empty(shape, dtype)


def write_shard(
    folder: str | os.PathLike[str],
    arrays: Mapping[Key, np.ndarray],
    about: Mapping[str, Any],
    more: Mapping[str, Callable[[Path], None]] | None = None,
) -> Shard:
    """Write a shard, whole or not at all; one of the same name is replaced.

    Parameters
    ----------
    folder : path that the shard gets
    arrays : mapping of key (a tuple of words) to array of numbers or flags
    about : mapping that JSON can hold
    more : mapping of the name of a file to a function that writes it, optional

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "0")
    >>> shard = write_shard(place, {("rows", "x"): np.arange(3.0)}, {"n": 3})
    >>> open_shard(place).array("rows", "x")
    array([0., 1., 2.])
    """
    members: dict[Key, str] = {}
    for number, (key, array) in enumerate(arrays.items()):
        if array.dtype.kind not in PLAIN:
            found = f"{' '.join(key)!r} of {array.dtype}"
            hint = "Use a measure or a distance whose encoded rows are numbers"
            raise WrongType("Shard", "arrays of numbers", found, hint)
        members[key] = f"{number}.npy"
    with making_folder(folder) as draft:
        for key, name in members.items():
            _write_array(draft / name, arrays[key])
        for name, write in (more or {}).items():
            write(draft / name)
        names = [*members.values(), *(more or {})]
        files = {name: ((draft / name).stat().st_size, hash_file(draft / name)) for name in names}
        page = {
            "format": FORMAT,
            "about": dict(about),
            "members": [[list(key), name] for key, name in members.items()],
            "files": [[name, size, digest] for name, (size, digest) in files.items()],
        }
        (draft / PAGE).write_bytes(json.dumps(page, allow_nan=False).encode())
    return Shard(Path(folder), about, members, files)


def _write_array(path: Path, array: np.ndarray) -> None:
    """Write an array as numpy does, but so that a full disk says that it is one."""
    array = np.ascontiguousarray(array)
    with path.open("xb") as file:
        head = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, {**head, "shape": array.shape})
        if array.size:
            file.write(array.reshape(-1).view(np.uint8).data)


def open_shard(folder: str | os.PathLike[str], sizes: bool = True) -> Shard:
    """Open a shard; a page that is damaged, or a file of another size, is an error.

    Parameters
    ----------
    folder : path
    sizes : bool
        Whether to compare the sizes of the files.
    """
    place = Path(folder)
    page = place / PAGE
    if not page.is_file():
        raise missing_file(page)
    if page.stat().st_size > LARGEST_PAGE:
        raise _damaged(page, "a page of the shard", "a much larger file")
    try:
        found = parse_json(page.read_bytes())
        number = found["format"]
        if number != FORMAT:
            hint = "Build the folder again with this version of lookalike, or use the other one"
            raise UnreadableFile(_who(page), f"format {FORMAT}", f"format {number!r}", hint)
        members = {_words(key): file_name(name) for key, name in found["members"]}
        files = {file_name(name): (int(size), str(d)) for name, size, d in found["files"]}
        shard = Shard(place, dict(found["about"]), members, files)
        if not set(members.values()) <= set(files):
            raise ValueError("members without a file")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, UnreadableFile | InvalidInput):
            raise
        raise _damaged(page, "a page of the shard", f"{type(error).__name__}: {error}") from error
    if sizes:
        refuse_faults(shard, shard.faults(hashes=False))
    return shard


def refuse_faults(shard: Shard, faults: Iterable[str]) -> None:
    """Raise an error that names the first fault of a shard, if there is one."""
    for fault in faults:
        hint = "Build it again from its source: lookalike index check FOLDER --repair"
        raise UnreadableFile(f"Shard {shard.folder.name!r}", "whole files", fault, hint)


def allow_files(many: int) -> None:
    """Raise what one process may have open, as far as it may, where many shards need more.

    Every mapped array and every file of cells takes one. The usual limit of 1,024 would end an
    index of some two hundred shards.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = many + soft // 2  # others need some, too
    if soft != resource.RLIM_INFINITY and needed > soft:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, soft), hard))


def hash_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_name(name: Any) -> str:
    """Return the name of a file in a folder, or ValueError: nothing leads out of the folder."""
    plain = isinstance(name, str) and name == os.path.basename(name) and name.strip(".") == name
    if not plain or not name or "\0" in name or len(name.encode()) > LONGEST_NAME:
        raise ValueError(f"the file name {name!r:.80}")
    return str(name)


def _words(key: Any) -> Key:
    if not isinstance(key, list) or not all(isinstance(word, str) for word in key):
        raise ValueError(f"the key {key!r:.80}")
    return tuple(key)


def _who(path: Path) -> str:
    return f"Shard {path.parent.name!r}, file {path.name!r}"


def _damaged(path: Path, needed: str, found: str) -> UnreadableFile:
    hint = "Build it again from its source: lookalike index check FOLDER --repair"
    return UnreadableFile(_who(path), needed, found[:200], hint)
