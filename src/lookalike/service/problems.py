"""Messages of the library in the terms of a request.

Parameters are fields, errors become problem documents (RFC 9457) with the four parts of every
LookalikeError, warnings become notes.
"""

from __future__ import annotations

import inspect
import json
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from lookalike._runtime.text import short
from lookalike.errors import LookalikeError, LookalikeWarning, Param, Part, TooLarge, suggest
from lookalike.service.api.models import Strict
from lookalike.service.cells import to_json
from lookalike.verbs import VERBS, get_verb

# Parameters whose field has another name.
RENAMED_FIELDS = {"n_neighbors": "k", "y": "label_column"}


@cache
def fields() -> frozenset[str]:
    """Return the names of all fields that a request can have."""
    models: list[type[Strict]] = [Strict]
    for one in models:  # which grows meanwhile
        models += one.__subclasses__()
    verbs = (inspect.signature(get_verb(verb)).parameters for verb in VERBS)
    known = (one.model_fields for one in models)
    return frozenset(name for names in (*verbs, *known) for name in names)


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
    # Other code may reset the filters at any time (pytest does), hence the test at every call.
    ours = ("always", None, LookalikeWarning, None, 0)
    with _lock:
        if warnings.showwarning is not _show:
            _usual.append(warnings.showwarning)
            warnings.showwarning = _show
        if not warnings.filters or warnings.filters[0] != ours:
            warnings.simplefilter("always", LookalikeWarning)
    found: list[str] = []
    mark = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(mark)


_usual: list[Any] = []


def _show(message: Warning | str, *where: Any, **more: Any) -> None:
    notes = _notes.get()
    if isinstance(message, LookalikeWarning) and notes is not None:
        # Once, however many rows of the request have caused it.
        if (note := message.text(spell_field)) not in notes:
            notes.append(note)
    elif _usual:
        _usual[-1](message, *where, **more)


# Error type of pydantic -> what was needed, in the words of our own messages.
NEEDED = {
    "missing": "a value",
    "extra_forbidden": "a known field",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    "finite_number": "a finite number",
    "string_type": "a string",
    "list_type": "a list",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "an object"),
    "literal_error": "one of {expected}",
    "greater_than_equal": "a number >= {ge}",
    "less_than_equal": "a number <= {le}",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
}
MAX_PART_LENGTH = 600  # characters: a huge cell is not sent back


class Refused(LookalikeError):
    """A request that is refused for a reason of HTTP or of access control.

    Parameters
    ----------
    status : int
    *parts, **more
        As of every error.
    headers : dict, optional
    """

    def __init__(
        self, status: int, *parts: Part, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*parts, **more)
        self.status, self.headers = status, headers or {}


def refused_again(problem: Mapping[str, Any]) -> Refused:
    """Return the error of a job that failed, from its problem document."""
    # The document is all that a job keeps: the error itself would keep its frames alive.
    parts = [problem[part] for part in ("who", "needed", "found", "hint")]
    return Refused(problem["status"], *parts)


def to_problem(status: int, error: LookalikeError) -> dict[str, Any]:
    """Return a problem document; the hint has its parameter, and a value to try, as fields too."""
    document = {
        "type": f"urn:lookalike:problem:{status}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": short(error.text(spell_field), MAX_PART_LENGTH),
    }
    for name, text in error.words(spell_field).items():
        document[name] = short(text, MAX_PART_LENGTH)
    for param in error.params:
        if (field := field_of(param)) is not None:
            document["parameter"] = field
            # A value may hold a cell of the table, which is not sent back if it is huge.
            if param.value is not ... and len(to_json(param.value)) <= MAX_PART_LENGTH:
                document["value"] = param.value
            break
    return document


def problem_of(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return status, document and headers for an error."""
    # FastAPI wraps what is raised while it reads the body.
    if isinstance(error, HTTPException) and isinstance(error.__cause__, Refused):
        error = error.__cause__
    if not isinstance(error, LookalikeError):
        error = _refused(error)
    status = getattr(error, "status", 413 if isinstance(error, TooLarge) else 422)
    headers = getattr(error, "headers", {"Retry-After": "1"} if status == 503 else {})
    return status, to_problem(status, error), headers


# Who, needed, found and problem of requests that no route takes.
NOT_SERVED: dict[int, tuple[Any, ...]] = {
    404: ("address", "one that is served", "another", "nothing is served here"),
    405: ("method", "one that the address takes", "another", "this address does not take it"),
}


def _refused(error: Exception) -> Refused:
    """Return an error of the libraries below, or of Python, in our words."""
    if isinstance(error, RequestValidationError):
        return invalid(error.errors())
    if isinstance(error, ClientDisconnect):
        return Refused(400, "request", "a whole body", "a closed connection", "Send it again")
    if not isinstance(error, HTTPException):
        # What went wrong is in the log only: a message of Python may quote a cell.
        found, hint = "an error in the server", "See the log of the server, and report it"
        unknown = "something went wrong in the server"
        return Refused(500, "server", "an answer", found, hint, problem=unknown)
    other = ("request", "what the address takes", str(error.detail), None)
    *parts, problem = NOT_SERVED.get(error.status_code, other)
    headers = dict(error.headers or {})
    hint = "See /openapi.json"
    return Refused(error.status_code, *parts, hint, problem=problem, headers=headers)


def respond(error: Exception) -> Response:
    """Return the answer to a request that failed."""
    status, document, headers = problem_of(error)
    kind = "application/problem+json"
    return Response(to_json(document), status, headers=headers, media_type=kind)


async def handle(request: Request, error: Exception) -> Response:
    """Answer with a problem document, whatever was raised."""
    return respond(error)


def _needed(errors: Sequence[Any], first: Any) -> tuple[str, int]:
    """Return what a field needs in words, and how many other fields have errors."""
    # Of a field that may be one of several types each is an error of its own.
    places = [(tuple(one["loc"][:2]), id(one.get("input"))) for one in errors]
    here = places[errors.index(first)]
    same = [one for one, place in zip(errors, places, strict=True) if place == here]
    words = [NEEDED.get(one["type"], "another value").format(**one.get("ctx", {})) for one in same]
    return " or ".join(dict.fromkeys(words)), len(set(places)) - 1


def invalid(errors: Sequence[Any]) -> Refused:
    """Return the error about the fields of a request: the first in words, the others counted.

    Parameters
    ----------
    errors : list of dict, as ``ValidationError.errors()`` returns it
    """
    # An unknown field first: a mistyped one is missing as well.
    first = min(errors, key=lambda one: one["type"] != "extra_forbidden")
    needed, more = _needed(errors, first)
    kind, context, path = first["type"], first.get("ctx", {}), list(first["loc"])
    where = path.pop(0) if path[:1] in (["body"], ["query"], ["path"]) else "body"
    # Between the names are those of our models and types, which a client does not know.
    names = [str(one) for one in path if one in fields() or where != "body"]
    found = "none" if kind == "missing" else _in_words(first.get("input"))
    hint: tuple[Any, ...] = ("See the examples in /openapi.json",)
    if kind == "extra_forbidden":
        found, hint = repr(path[-1]), (suggest(str(path[-1]), sorted(fields())),)
    elif names and (bound := context.get("ge", context.get("le"))) is not None:
        hint = ("Use ", Param(names[-1], bound))
    if more:
        hint = (*hint, f" ({more} more to correct)")
    return Refused(422, ".".join(names) or "body", needed, found, hint)


def _in_words(given: Any) -> str:
    if isinstance(given, dict | list):  # too long to send back
        return "an object" if isinstance(given, dict) else "a list"
    return json.dumps(given, default=str)
