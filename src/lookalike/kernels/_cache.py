"""Where compiled kernels are kept, so that no stale, damaged or mistaken one is ever used.

numba keeps what it compiled by the file of the function alone: a kernel that calls another one
would not notice that the other has changed. The name of the folder therefore carries a fingerprint
of all files in this package. Every file numba writes is one pickle, which ends with a full stop;
one that does not was truncated (a full disk, a crash), and is removed before numba reads it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

MAX_UNUSED_SECONDS = 30 * 24 * 3600  # after which kernels of another version are removed
LOCK, QUEUE = "compiling.lock", "compiling.next"
# Seconds after which a process that holds the lock is taken for stuck: compiling everything takes
# minutes, one loop at most 14 s. Chosen by hand.
LOCK_TIMEOUT = 600.0


@cache
def fingerprint() -> str:
    """Return a short name for the present contents of the kernels package."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


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
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - 1))
            complete = opened.read(1) == b"."  # the opcode that ends a pickle
        if not complete:
            file.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Remove what was compiled from other kernels and not used for a month."""
    for other in folder.parent.iterdir():
        if other != folder and time.time() - other.stat().st_mtime > MAX_UNUSED_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


class CompileLock:
    """The right to compile into a folder; one process has it at a time, with all its threads.

    numba numbers what it compiled of one function, one file for each set of types, and lists the
    files in an index. Two processes that compile for different types concurrently choose the same
    number, and a third then reads the loop of the wrong types: memory errors, wrong answers. A
    process that waited mostly finds the loop on disk and has nothing left to compile.

    Parameters
    ----------
    folder : str
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Start without the lock, as a forked process does."""
        from filelock import FileLock

        self.guard, self.takers = threading.Lock(), 0
        self.lock, self.queue = (
            FileLock(self.folder / name, timeout=LOCK_TIMEOUT, thread_local=False)
            for name in (LOCK, QUEUE)
        )

    def acquire(self) -> None:
        """Wait for the lock; go on without if the folder cannot be locked or the wait is too long.

        Where no lock can be made numba writes no file either.
        """
        from filelock import Timeout

        with self.guard, suppress(Timeout, OSError, NotImplementedError):
            # numba takes its lock for every call of LLVM, 100,000 times for a forest. Another
            # thread of this process must not wait for the queue.
            self.takers += 1
            if self.takers > 1:
                return
            # Without a queue a process that compiles many loops takes the lock again before a
            # waiting one looks, and keeps it for minutes.
            with self.queue:
                self.lock.acquire(poll_interval=0.01)

    def release(self) -> None:
        """Release the lock with the last thread that took it."""
        with self.guard:
            self.takers -= 1
            if not self.takers:
                self.lock.release()


_forking = threading.local()


def unless_forking(call: Callable[[], None]) -> Callable[[], None]:
    """Return a function that does nothing while this thread forks (``ForkLock``)."""
    return lambda: None if getattr(_forking, "now", False) else call()


def lock_compiler(folder: str) -> None:
    """Let numba compile, read and write kernels only while this process holds the lock."""
    lock = CompileLock(folder)
    # numba announces its own lock, which it holds while it reads, compiles and writes.
    listen("numba:compiler_lock", unless_forking(lock.acquire), unless_forking(lock.release))


class ForkLock:
    """numba's lock as a fork takes it: without waiting until other processes have compiled.

    Parameters
    ----------
    lock : lock of the compiler
    """

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def acquire(self) -> None:
        """Wait for the threads of this process."""
        _forking.now = True
        self._lock.acquire()

    def release(self) -> None:
        """Release it, in the parent and in the child."""
        self._lock.release()
        _forking.now = False


def listen(event: str, start: Callable[[], None], end: Callable[[], None]) -> None:
    """Call functions whenever something begins and ends in numba."""
    from numba.core.event import Listener, register

    class Calls(Listener):
        def on_start(self, event: Any) -> None:
            start()

        def on_end(self, event: Any) -> None:
            end()

    register(event, Calls())
