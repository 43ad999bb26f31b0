"""Messages of the library in the terms of a request: parameters as fields, warnings as notes."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from lookalike.errors import LookalikeWarning, Param
from lookalike.service.api.models import Strict

# Parameters whose field has another name.
RENAMED_FIELDS = {"n_neighbors": "k", "y": "label_column"}


@cache
def fields() -> frozenset[str]:
    """Return the names of all fields that a request can have."""
    models: list[type[Strict]] = [Strict]
    for one in models:  # which grows meanwhile
        models += one.__subclasses__()
    return frozenset(name for one in models for name in one.model_fields)


def field_of(param: Param) -> str | None:
    """Return the field of a request for a parameter; None if it has none."""
    name = RENAMED_FIELDS.get(param.name, param.name)
    return name if name in fields() else None


def spell_field(param: Param) -> str:
    """Return a parameter as a field with its value, as JSON has it.

    Examples
    --------
    >>> spell_field(Param("kinds", {"zip": "category"})), spell_field(Param("n_neighbors"))
    ('kinds: {"zip": "category"}', 'k')
    >>> spell_field(Param("memory_limit", of="config")), spell_field(Param("n_samples", 1))
    ('memory limit', '1 row')
    """
    if not param.name:
        return "table" if param.of == "read_table" else "request"
    if param.name == "n_samples":
        return f"{param.value:,} row" + ("" if param.value == 1 else "s")
    name = field_of(param) or param.name.replace("_", " ")
    return name if param.value is ... else f"{name}: {json.dumps(param.value, default=str)}"


_notes: ContextVar[list[str] | None] = ContextVar("lookalike_notes", default=None)
_lock = threading.Lock()


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the warnings of this thread or task; those of others are not touched."""
    # ``warnings.catch_warnings`` would change the filters of the whole process, so that the end of
    # one request could hide the warnings of another.
    _listen()
    found: list[str] = []
    mark = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(mark)


def _listen() -> None:
    """Install the function that assigns our warnings to a request, once per process."""
    # Other code may reset the filters at any time (pytest does), hence the test at every call.
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


def _show(message: Warning | str, *where: Any, **more: Any) -> None:
    notes = _notes.get()
    if isinstance(message, LookalikeWarning) and notes is not None:
        # Once, however many rows of the request have caused it.
        if (note := message.text(spell_field)) not in notes:
            notes.append(note)
    elif _usual:
        _usual[-1](message, *where, **more)
