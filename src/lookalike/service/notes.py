"""What the library warns about while a request is answered, collected for this request alone."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from lookalike.errors import LookalikeWarning
from lookalike.service.spelling import spell_field

_notes: ContextVar[list[str] | None] = ContextVar("lookalike_notes", default=None)
_lock = threading.Lock()


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the warnings of this thread or task; those of others are not touched.

    ``warnings.catch_warnings`` would change what the whole process does, other threads included.
    """
    _listen()
    found: list[str] = []
    mark = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(mark)


def _listen() -> None:
    """Have every warning of ours shown, by a function that knows whose it is."""
    ours = ("always", None, LookalikeWarning, None, 0)
    if warnings.showwarning is _show and warnings.filters and warnings.filters[0] == ours:
        return
    with _lock:
        if warnings.showwarning is not _show:
            _usual.append(warnings.showwarning)
            warnings.showwarning = _show
        if not warnings.filters or warnings.filters[0] != ours:
            warnings.simplefilter("always", LookalikeWarning)


_usual: list[Any] = []


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    notes = _notes.get()
    if isinstance(message, LookalikeWarning) and notes is not None:
        if (note := message.text(spell_field)) not in notes:
            notes.append(note)
    elif _usual:
        _usual[-1](message, category, filename, lineno, file, line)
