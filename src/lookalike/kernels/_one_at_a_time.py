"""One process compiles at a time, so that no two of them write the same file of the cache.

numba numbers what it compiled of one function, one file for each set of types, and lists the files
in an index. Two processes that compile for different types at once choose the same number: the
later file replaces the earlier one, and whoever asks the index for the first set of types is handed
the loop for the second, which reads memory it should not. Whoever waits here mostly finds the loop
on disk afterwards and has nothing left to compile.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

LOCK, NEXT = "compiling.lock", "compiling.next"
PATIENCE = 600.0  # seconds after which a process that holds the lock is taken for stuck
PAUSE = 0.01


class _Turn:
    """The lock of a cache folder; taken once however many threads compile, given back by the last.

    Parameters
    ----------
    folder : str
    """

    def __init__(self, folder: str) -> None:
        self.path = Path(folder) / LOCK
        self.forget()

    def forget(self) -> None:
        """Start without the lock, as a forked process does."""
        self.guard = threading.Lock()
        self.users, self.file = 0, -1

    def take(self) -> None:
        with self.guard:
            if self.users == 0:
                self._lock()
            self.users += 1

    def give_back(self) -> None:
        with self.guard:
            self.users = max(0, self.users - 1)
            if self.users == 0 and self.file >= 0:
                os.close(self.file)  # the lock goes with it
                self.file = -1

    def _lock(self) -> None:
        # Whoever has waited is next: a process that compiles one loop after the other would else
        # take the lock again before anybody else looks, and keep it for a minute.
        until = time.monotonic() + PATIENCE
        place = _hold(self.path.with_name(NEXT), until)
        try:
            self.file = _hold(self.path, until)
        finally:
            if place >= 0:
                os.close(place)


def _hold(path: Path, until: float) -> int:
    """Return a file that is locked, or -1 where there is none to lock or it takes too long."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return -1
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:  # the folder can be read only, or is gone: numba will not write either
        return -1
    held = False
    try:
        while not held and time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held = True
            except BlockingIOError:
                time.sleep(PAUSE)
            except OSError:  # a file system without locks
                break
    finally:
        if not held:
            os.close(file)
    return file if held else -1


_turns: dict[str, _Turn] = {}


def share_cache(folder: str) -> None:
    """Let the loops of this process be compiled, read and written only in its turn."""
    if folder in _turns:
        return
    from numba.core.event import Event, Listener, register
    from numba.core.registry import cpu_target

    # Made under numba's lock as well: whoever only imports must not wait for another's compiler.
    _ = cpu_target.target_context
    turn = _turns[folder] = _Turn(folder)

    class Waits(Listener):
        # numba announces its own lock, which it holds while it reads, compiles and writes.
        def on_start(self, event: Event) -> None:
            turn.take()

        def on_end(self, event: Any) -> None:
            turn.give_back()

    register("numba:compiler_lock", Waits())


def _forget() -> None:
    for turn in _turns.values():
        turn.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
