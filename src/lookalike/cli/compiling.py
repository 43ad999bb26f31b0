"""One line while loops are compiled, so that the first run is not taken for the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lookalike.cli.output import note

TEXT = "compiling the comparison loops; this happens once, later runs skip it"


@contextmanager
def compile_note() -> Iterator[None]:
    """Write a note if something is compiled inside this block; a loop found on disk is silent.

    Examples
    --------
    >>> with compile_note():
    ...     pass
    """
    from lookalike.kernels import when_compiling

    def write() -> None:
        if write in when_compiling:  # once
            when_compiling.remove(write)
            note(TEXT)

    when_compiling.append(write)
    try:
        yield
    finally:
        if write in when_compiling:
            when_compiling.remove(write)
