"""Where compiled kernels are kept, so that no stale or damaged one is ever used.

numba keeps what it compiled by the file of the function alone: a kernel that calls another one
would not notice that the other has changed. The place of the cache therefore carries a fingerprint
of all files in this folder. Every file numba writes is one pickle, which ends with a full stop;
one that does not was cut short (a full disk, a crash), and is thrown away before numba meets it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from functools import cache
from pathlib import Path

KEPT = 30 * 24 * 3600  # seconds after their last use that kernels of another version are removed


@cache
def fingerprint() -> str:
    """Return a short name for the present contents of the kernels folder."""
    found = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@cache
def cache_folder() -> str | None:
    """Return the folder for compiled kernels, made and looked through; None if that fails."""
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path(given) if given else Path("~/.cache").expanduser()
    folder = home / "lookalike" / "kernels" / fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _remove_damaged(folder)
        _remove_old(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return str(folder) if os.access(folder, os.W_OK | os.X_OK) else None


def _remove_damaged(folder: Path) -> None:
    for file in folder.rglob("*.nb[ic]"):
        with file.open("rb") as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(0, size - 1))
            whole = opened.read(1) == b"."
        if not whole:
            file.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Remove what was compiled from other kernels and not used for a month."""
    for other in folder.parent.iterdir():
        if other != folder and time.time() - other.stat().st_mtime > KEPT:
            shutil.rmtree(other, ignore_errors=True)
