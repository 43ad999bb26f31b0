"""A progress bar on a terminal, for work that takes longer than a second.

A program may watch instead (``watching``): it gets the number of finished parts and may cancel.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from lookalike._runtime.config import settings

SECONDS_BEFORE_BAR = 1.0  # chosen by hand: shorter work would only make the terminal flicker


class Cancelled(BaseException):
    """Raised by work that its watcher has cancelled."""

    # A BaseException, as KeyboardInterrupt is: no ``except Exception`` on the way may swallow it.


Report = Callable[[str, int, int], None]
# What to report to, and what to ask whether the work goes on.
_watcher: ContextVar[tuple[Report, Callable[[], bool]] | None]
_watcher = ContextVar("lookalike_watcher", default=None)


@contextmanager
def watching(
    report: Report = lambda *_: None, cancelled: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Watch the work inside the block, in this context and in the threads that it starts.

    Parameters
    ----------
    report : callable, optional
        Called with what is being done, how many parts are done, and how many there are.
    cancelled : callable, optional
        Asked between two parts; once it says yes, the work ends by ``Cancelled``.
    """
    mark = _watcher.set((report, cancelled))
    try:
        yield
    finally:
        _watcher.reset(mark)


def check_cancelled() -> None:
    """Raise ``Cancelled`` if the watcher of this context has cancelled the work."""
    watcher = _watcher.get()
    if watcher is not None and watcher[1]():
        raise Cancelled


class Progress:
    """Count finished parts; draw a bar on standard error after about a second.

    Parameters
    ----------
    what : str
        What is being done, in the user's words.
    total : int
        How many parts there are.
    quiet : bool
        Never draw, such as inside a worker whose caller draws already.
    """

    def __init__(self, what: str, total: int, quiet: bool = False) -> None:
        wanted = settings().progress
        watching = sys.stderr is not None and sys.stderr.isatty()
        self._draws = not quiet and total > 1 and (watching if wanted is None else wanted)
        self._watcher = None if quiet else _watcher.get()
        self._what, self._total = what, total
        self._done = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._lock = threading.Lock()

    def advance(self) -> None:
        """Count one more part."""
        if not self._draws and self._watcher is None:
            return
        with self._lock:  # several workers finish parts at the same time
            self._done += 1
            if self._watcher is not None:
                self._watcher[0](self._what, self._done, self._total)
            if not self._draws:
                return
            if self._bar is None:
                # The last part ends the work: a bar would appear and vanish.
                if time.monotonic() - self._began < SECONDS_BEFORE_BAR or self._done >= self._total:
                    return
                self._open()
            self._bar.update(self._task, completed=self._done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        shown = BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeRemainingColumn()
        # progress=True draws the bar into a log or a pipe as well, where rich would not.
        console = Console(file=sys.stderr, force_terminal=settings().progress)
        self._bar = Bar("{task.description}", *shown, console=console, transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
