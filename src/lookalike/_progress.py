"""A progress bar that appears only when the work turns out to be long and somebody is watching."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any

from lookalike._config import settings

__all__ = ["Progress"]

PATIENCE = 1.0  # seconds before a bar appears


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
        self._what, self._total = what, total
        self._done = 0
        self._began = time.monotonic()
        self._bar: Any = None
        self._lock = threading.Lock()

    def advance(self) -> None:
        """Count one more part."""
        if not self._draws:
            return
        with self._lock:
            self._done += 1
            if self._bar is None:
                if time.monotonic() - self._began < PATIENCE or self._done >= self._total:
                    return
                self._open()
            self._bar.update(self._task, completed=self._done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(),
            # asked for by name it is drawn anywhere, such as into a log
            console=Console(file=sys.stderr, force_terminal=settings().progress),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=self._total)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
