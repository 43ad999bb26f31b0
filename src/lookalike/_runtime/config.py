"""Settings: memory for one answer, threads, progress.

They are local to the context (``contextvars``): a ``with`` block changes nothing for other threads
or tasks. The threads that lookalike itself starts work under the settings of their caller.
"""

import os
import re
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from lookalike.errors import InvalidInput, Param

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Settings:
    """What ``config`` sets.

    Parameters
    ----------
    memory_limit : int
        Bytes that one answer may take (a matrix that would be larger is refused).
    progress : bool or None
        Show a progress bar on work longer than about a second; None: only where a person is
        watching.
    n_jobs : int or None
        Threads used where an estimator has ``n_jobs=None``; -1: all cores. None: all cores, or
        as many as a surrounding pool of processes leaves to each of its workers.
    """

    memory_limit: int = 2 * 10**9
    progress: bool | None = None
    n_jobs: int | None = None


_default = Settings()
_local: ContextVar[Settings | None] = ContextVar("lookalike_settings", default=None)


def settings() -> Settings:
    """Return the settings in force: those of this context, else those of the process."""
    return _local.get() or _default


class config:
    """Change settings for this context, or inside a ``with`` block only.

    A context is a thread or an asynchronous task: as with ``sklearn.set_config``, other threads of
    your program keep their settings, unless ``everywhere=True`` makes them those of the process.

    Parameters
    ----------
    memory_limit : int or str, optional
        The most memory that one matrix or the blocks of one search may take, such as
        ``"500MB"``. Default 2 GB.
    progress : bool or None, optional
        True: show a bar on work longer than about a second. None (default): only on a terminal.
    n_jobs : int or None, optional
        Threads where an estimator has ``n_jobs=None``. -1: all cores. Default None: all cores, or
        as many as a surrounding pool of processes (joblib's, for example) leaves to each worker.
        No answer depends on it.
    everywhere : bool
        Also change what contexts without settings of their own use, until changed again.

    Examples
    --------
    >>> import lookalike as la
    >>> with la.config(memory_limit="200MB", n_jobs=1):
    ...     pass
    """

    def __init__(self, *, everywhere: bool = False, **changes: Any) -> None:
        global _default
        self._before = _local.get()
        known = Settings.__dataclass_fields__
        if unknown := sorted(set(changes) - set(known)):
            needed = "settings named " + ", ".join(known)
            raise InvalidInput("config", needed, repr(unknown[0]), "Correct the name")
        if "memory_limit" in changes:
            changes["memory_limit"] = parse_bytes(changes["memory_limit"])
        if "progress" in changes and changes["progress"] not in (True, False, None):
            who, found = Param("progress", of="config"), repr(changes["progress"])
            raise InvalidInput(who, "True, False or None", found, "Use one")
        if "n_jobs" in changes:
            count_jobs(changes["n_jobs"])
        # Both are set: a context that has settings of its own would not see the new default.
        if everywhere:
            _default = replace(_default, **changes)
        _local.set(replace(settings(), **changes))

    def __enter__(self) -> Settings:
        return settings()

    def __exit__(self, *error: object) -> None:
        _local.set(self._before)


def parse_bytes(size: int | float | str) -> int:
    """Read a size such as ``"1.5GB"`` as a number of bytes."""
    if isinstance(size, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([KMGT]?)B?\s*", size.upper())
        size = float(match[1]) * _UNITS[match[2]] if match else size
    if isinstance(size, bool) or not isinstance(size, int | float) or not 1 <= size < float("inf"):
        who, hint = Param("memory_limit", of="config"), "Give a size above 0"
        raise InvalidInput(who, "a number of bytes, or a size such as '500MB'", repr(size), hint)
    return int(size)


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for; -1 is all cores, -2 all but one."""
    if n_jobs is None:
        n_jobs = settings().n_jobs
    if n_jobs is None:
        # A surrounding pool of processes, such as joblib's, tells its workers how many threads each
        # may use through the variables that OpenMP and BLAS read.
        words = [os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")]
        return min([_cores(), *(int(word) for word in words if word.isdigit() and int(word) > 0)])
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        hint = ("Use ", Param("n_jobs", -1), " for all cores")
        needed = "an integer that is not 0, or None"
        raise InvalidInput(Param("n_jobs"), needed, repr(n_jobs), hint)
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    # In a container or under taskset a process may use fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def show_bytes(size: float) -> str:
    """Write a number of bytes as a person would: ``3.2 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
