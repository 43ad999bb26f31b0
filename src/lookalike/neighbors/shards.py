"""Shards: arrays in a folder of their own, mapped into memory instead of read.

A shard is written to a temporary folder and renamed, so that it is complete or absent; of two
workers that write the same one, one wins. Its manifest (``shard.json``) names every file with its
size and its SHA-256: sizes are compared whenever a shard is opened, hashes when it is checked. A
shard is untrusted input: nothing in it is executed, and no array holds Python objects.
"""

import contextlib
import errno
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike._runtime.files import making_folder
from lookalike.errors import LookalikeError, UnreadableFile, WrongType, missing_file
from lookalike.saving.decode import read_header
from lookalike.saving.safe_json import parse_json

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FORMAT = 1
PAGE = "shard.json"
MAX_PAGE_BYTES = 2**26  # of a manifest that is read at all
MAX_COUNT = 2**48  # of rows of a shard, or a row number, in an untrusted manifest
MAX_NAME_BYTES = 255  # of a file name, as most systems have it
NUMERIC_KINDS = "biuf"  # of the dtypes that a mapped array may have
# One hint for all damage: a shard is derived data, which is made again from the table.
REBUILD = "Build it again from its source: lookalike index check FOLDER --repair"

# What reading damaged or forged JSON raises.
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Shard:
    """An open shard: its metadata, and its arrays, mapped when they are read.

    Parameters
    ----------
    folder : Path
    about : mapping, metadata of the writer
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
        """Return the path of a file of the shard."""
        return self.folder / name

    def array(self, *key: str) -> np.ndarray:
        """Return an array, mapped into memory: only the pages that are used are read."""
        if key not in self.members:
            raise _damaged(self.path(PAGE), f"an array {' '.join(key)!r:.80}", "none")
        path = self.path(self.members[key])
        try:
            # Copy on write, though no page is ever written: kernels are compiled for writable
            # arrays, and a read-only one would compile all of them a second time.
            found: np.ndarray = np.lib.format.open_memmap(path, mode="c")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                hint = "Allow more of them (ulimit -n), or build the folder with larger shards"
                reason = "too many open files"
                raise UnreadableFile(_who(path), "one more file", reason, hint) from error
            raise _damaged(path, "a file that can be read", str(error)) from error
        except Exception:  # an empty array cannot be mapped; a damaged header raises anything
            found = _read_empty(path)
        if found.dtype.kind not in NUMERIC_KINDS or not found.flags.c_contiguous:
            raise _damaged(path, "an array of numbers", str(found.dtype))
        return np.asarray(found)

    def number(self, key: str) -> int:
        """Return an integer of the metadata; anything else there is an error."""
        found = self.about.get(key)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < MAX_COUNT:
            raise _damaged(self.path(PAGE), f"a number for {key!r}", f"{found!r:.80}")
        return found

    def faults(self, hashes: bool = True) -> list[str]:
        """Return what is wrong with the files, in words; nothing for a shard that is whole.

        Parameters
        ----------
        hashes : bool
            Whether to read every file and compare its hash, beside its size.
        """
        faults = []
        for name, (size, digest) in self.files.items():
            path = self.path(name)
            if path.is_symlink():  # it could lead out of the folder
                faults.append(f"{name} is a link")
            elif not path.is_file():
                faults.append(f"{name} is not there")
            elif path.stat().st_size != size:
                faults.append(f"{name} has {path.stat().st_size:,} bytes instead of {size:,}")
            elif hashes and hash_file(path) != digest:
                faults.append(f"{name} has another SHA-256")
        return faults


def _read_empty(path: Path) -> np.ndarray:
    """Return an array without entries, which cannot be mapped; refuse any other."""
    try:
        with path.open("rb") as file:
            dtype, shape = read_header(file, path.name)
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
    """Write a shard atomically; one of the same name is replaced.

    Parameters
    ----------
    folder : path of the shard
    arrays : mapping of key (a tuple of words) to array of numbers or flags
    about : mapping that JSON can hold
    more : mapping of the name of a file to a function that writes it, optional

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "0")
    >>> shard = write_shard(path, {("rows", "x"): np.arange(3.0)}, {"n": 3})
    >>> open_shard(path).array("rows", "x")
    array([0., 1., 2.])
    """
    for key, array in arrays.items():
        if array.dtype.kind not in NUMERIC_KINDS:
            found = f"{' '.join(key)!r} of {array.dtype}"
            hint = "Use a measure or a distance whose encoded rows are numbers"
            raise WrongType("Shard", "arrays of numbers", found, hint)
    # Numbered files: names of columns may hold anything, names of files may not.
    members = {key: f"{number}.npy" for number, key in enumerate(arrays)}
    writers: dict[str, Callable[[Path], None]]
    writers = {members[key]: partial(_write_array, array) for key, array in arrays.items()}
    with making_folder(folder) as draft:
        files = {}
        for name, write in {**writers, **(more or {})}.items():
            write(draft / name)
            files[name] = (draft / name).stat().st_size, hash_file(draft / name)
        page: dict[str, Any] = {"format": FORMAT, "about": dict(about)}
        page["members"] = [[list(key), name] for key, name in members.items()]
        page["files"] = [[name, size, digest] for name, (size, digest) in files.items()]
        (draft / PAGE).write_bytes(json.dumps(page, allow_nan=False).encode())
    return Shard(Path(folder), about, members, files)


def _write_array(array: np.ndarray, path: Path) -> None:
    """Write an array in numpy's format; ``np.save`` hides the error of a full disk."""
    array = np.ascontiguousarray(array)
    with path.open("xb") as file:
        head = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, {**head, "shape": array.shape})
        if array.size:
            file.write(array.reshape(-1).view(np.uint8).data)


@contextlib.contextmanager
def refusing_damage(who: str, needed: str, hint: str) -> Iterator[None]:
    """Turn what parsing a damaged or forged file raises into an ``UnreadableFile``."""
    try:
        yield
    except DAMAGE as error:
        # Some errors of lookalike are ValueErrors, too.
        if isinstance(error, LookalikeError):
            raise
        found = f"{type(error).__name__}: {error}"[:200]
        raise UnreadableFile(who, needed, found, hint) from error


def open_shard(folder: str | os.PathLike[str], sizes: bool = True) -> Shard:
    """Open a shard; a damaged manifest, or a file of another size, is an error.

    Parameters
    ----------
    folder : path
    sizes : bool
        Whether to compare the sizes of the files.
    """
    page = Path(folder) / PAGE
    if not page.is_file():
        raise missing_file(page)
    if page.stat().st_size > MAX_PAGE_BYTES:
        raise _damaged(page, "a page of the shard", "a much larger file")
    with refusing_damage(_who(page), "a page of the shard", REBUILD):
        content = parse_json(page.read_bytes())
        if (number := content["format"]) != FORMAT:
            hint = "Build the folder again with this version of lookalike, or use the other one"
            raise UnreadableFile(_who(page), f"format {FORMAT}", f"format {number!r}", hint)
        members = {_words(key): file_name(name) for key, name in content["members"]}
        files = {file_name(name): (int(size), str(d)) for name, size, d in content["files"]}
        shard = Shard(Path(folder), dict(content["about"]), members, files)
        # Only listed files are checked: an array outside the list could be of any size.
        if not set(members.values()) <= set(files):
            raise ValueError("members without a file")
    if sizes:
        for fault in shard.faults(hashes=False):
            raise UnreadableFile(f"Shard {shard.folder.name!r}", "whole files", fault, REBUILD)
    return shard


def find_shard(folder: str | os.PathLike[str]) -> Shard | None:
    """Return a shard that is there and whole by the sizes of its files, or None."""
    # A shard is written whole or not at all, so this is enough to know that it is finished.
    try:
        return open_shard(folder)
    except LookalikeError:
        return None


def allow_files(n_files: int) -> None:
    """Raise the process's soft limit of open files, as far as allowed, where many shards need it.

    Every mapped array and every file of cells takes one descriptor. The usual limit of 1,024 would
    be used up by an index of some two hundred shards.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = n_files + soft // 2  # sockets and other files of the process need some, too
    if soft != resource.RLIM_INFINITY and needed > soft:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, soft), hard))


def hash_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_name(name: Any) -> str:
    """Return the name of a file in a folder; ValueError if it could lead out of the folder."""
    plain = isinstance(name, str) and name == os.path.basename(name) and name.strip(".") == name
    if not plain or not name or "\0" in name or len(name.encode()) > MAX_NAME_BYTES:
        raise ValueError(f"the file name {name!r:.80}")
    return str(name)


def _words(key: Any) -> Key:
    if isinstance(key, list) and all(isinstance(word, str) for word in key):
        return tuple(key)
    raise ValueError(f"the key {key!r:.80}")


def _who(path: Path) -> str:
    return f"Shard {path.parent.name!r}, file {path.name!r}"


def _damaged(path: Path, needed: str, found: str) -> UnreadableFile:
    return UnreadableFile(_who(path), needed, found[:200], REBUILD)
