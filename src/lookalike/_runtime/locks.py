"""One writer per folder: a lock that ends with the process that holds it.

Where the system can lock a file (``flock``), the lock is gone with its process, however that ended;
elsewhere the file names its process, and the lock of a process that is no more is taken over.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from lookalike._runtime.files import runs
from lookalike.errors import UnwritableFile

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str], who: str) -> Iterator[None]:
    """Hold the lock of a folder, or say at once that somebody else writes there.

    Parameters
    ----------
    folder : path of a folder that exists
    who : str, whose name an error begins with
    """
    path = Path(folder) / LOCK
    handle = _take(path, who)
    try:
        yield
    finally:
        if fcntl is None:
            path.unlink(missing_ok=True)
        os.close(handle)


def _take(path: Path, who: str) -> int:
    if fcntl is None:
        return _take_by_name(path, who)
    try:  # a link is not followed: the file behind it would be emptied
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        found = "a link" if error.errno == errno.ELOOP else _reason(error)
        hint = "Choose another folder, or ask for the permission to write there"
        raise UnwritableFile(who, f"a lock in {str(path.parent)!r}", found, hint) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        name = os.read(handle, 32).decode("ascii", "replace")
        os.close(handle)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            needed = f"a disk that can lock files below {str(path.parent)!r}"
            hint = "Keep the folder on another disk"
            raise UnwritableFile(who, needed, _reason(error), hint) from error
        raise _refuse(path, who, name) from error
    with contextlib.suppress(OSError):  # a full disk: the lock holds without a name in it
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
    return handle


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()


def _take_by_name(path: Path, who: str) -> int:
    for _ in range(2):
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError as error:
            with contextlib.suppress(OSError):
                found = path.read_text("ascii", "replace")
                if found.isdigit() and not runs(int(found)):
                    path.unlink(missing_ok=True)
                    continue
            raise _refuse(path, who, "") from error
        os.write(handle, str(os.getpid()).encode())
        return handle
    raise _refuse(path, who, "")


def _refuse(path: Path, who: str, process: str) -> UnwritableFile:
    named = f" (process {process})" if process.isdigit() else ""
    needed = f"to be the only one that writes in {str(path.parent)!r}"
    hint = "Wait until it has ended, or choose another folder"
    return UnwritableFile(who, needed, f"another writer{named}", hint)
