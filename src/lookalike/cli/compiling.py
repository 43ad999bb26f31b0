"""One line while loops are compiled, so that nobody takes the first run for the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from lookalike.cli.output import note

TEXT = "compiling the comparison loops; this happens once, later runs skip it"


@contextmanager
def compile_note() -> Iterator[None]:
    """Write a note if numba compiles something inside this block; a loop found on disk is silent.

    Examples
    --------
    >>> with compile_note():
    ...     pass
    """
    from lookalike.kernels import started, when_started

    with ExitStack() as listening:

        def listen() -> None:
            from numba.core.event import install_listener

            listening.enter_context(install_listener("numba:compile", _make_note()))

        if started():
            listen()
        else:  # a command that compiles nothing need not wait for numba to be loaded
            when_started.append(listen)
            listening.callback(when_started.remove, listen)
        yield


def _make_note() -> Any:
    from numba.core.event import Event, Listener

    class Note(Listener):
        said = False

        def on_start(self, event: Event) -> None:
            if not self.said:
                self.said = True
                note(TEXT)

        def on_end(self, event: Any) -> None:
            pass

    return Note()
