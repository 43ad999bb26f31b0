"""One writer per folder: a lock that ends with the process that holds it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from lookalike.errors import UnwritableFile

LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str], who: str) -> Iterator[None]:
    """Hold the lock of a folder, or raise immediately if another writer holds it.

    Parameters
    ----------
    folder : path of a folder that exists
    who : str, the name that an error begins with
    """
    from filelock import FileLock, Timeout

    # Held by the system, not by the file: a killed process leaves the file, but no lock.
    lock = FileLock(Path(folder) / LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        needed = f"to be the only one that writes in {str(folder)!r}"
        hint = "Wait until it has ended, or choose another folder"
        raise UnwritableFile(who, needed, "another writer", hint) from error
    except OSError as error:
        # filelock follows no link: the file behind it would be emptied.
        link = error.errno == errno.ELOOP
        found = "a link" if link else os.strerror(error.errno or 0).lower()
        hint = "Choose another folder, or ask for the permission to write there"
        raise UnwritableFile(who, f"a lock in {str(folder)!r}", found, hint) from error
    try:
        yield
    finally:
        lock.release()
