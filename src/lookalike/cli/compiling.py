"""One line while loops are compiled, so that nobody takes the first run for the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lookalike.cli.output import note

__all__ = ["compile_note"]

TEXT = "compiling the comparison loops; this happens once, later runs skip it"


@contextmanager
def compile_note() -> Iterator[None]:
    """Write a note if numba compiles something inside this block; a loop found on disk is silent.

    Examples
    --------
    >>> with compile_note():
    ...     pass
    """
    from lookalike.kernels import COMPILED

    if not COMPILED:
        yield
        return
    from numba.core.event import Event, Listener, install_listener

    class Note(Listener):
        said = False

        def on_start(self, event: Event) -> None:
            if not self.said:
                self.said = True
                note(TEXT)

        def on_end(self, event: Any) -> None:
            pass

    with install_listener("numba:compile", Note()):
        yield
