"""Errors as problem documents (RFC 9457), with the four parts of every LookalikeError."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from lookalike._runtime.text import clean
from lookalike.errors import LookalikeError, Param, Part, Phrase, TooLarge, suggest
from lookalike.service.cells import to_json
from lookalike.service.collection import TooFarBehind
from lookalike.service.notes import field_of, fields, spell_field
from lookalike.service.store.database import StoreFull, StoreUnavailable
from lookalike.service.store.store import Conflict, NotFound

# The first that fits: subclasses before LookalikeError.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (TooFarBehind, 503),
    (StoreFull, 507),
    (StoreUnavailable, 503),
    (TooLarge, 413),
    (LookalikeError, 422),
)
# Error type of pydantic -> what was needed, in the words of our own messages.
NEEDED = {
    "missing": "a value",
    "extra_forbidden": "a known field",
    "int_type": "an integer",
    "int_parsing": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
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
    *parts, problem
        As of every error.
    headers : dict, optional
    """

    def __init__(
        self,
        status: int,
        *parts: Part,
        problem: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(*parts, problem=problem)
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
        "detail": _short(error.text(spell_field)),
        **{name: _short(text) for name, text in error.words(spell_field).items()},
    }
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
    if isinstance(error, Refused):
        return error.status, to_problem(error.status, error), error.headers
    if isinstance(error, RequestValidationError):
        return 422, to_problem(422, invalid(error.errors())), {}
    if isinstance(error, HTTPException):
        # FastAPI wraps what is raised while it reads the body.
        if isinstance(error.__cause__, Refused):
            return problem_of(error.__cause__)
        return error.status_code, _of_http(error), dict(error.headers or {})
    for kind, status in STATUS:
        if isinstance(error, kind) and isinstance(error, LookalikeError):
            headers = {"Retry-After": "1"} if status == 503 else {}
            return status, to_problem(status, error), headers
    if isinstance(error, ClientDisconnect):
        parts = ("request", "a whole body", "a closed connection", "Send it again")
        return problem_of(Refused(400, *parts))
    # What went wrong is in the log only: a message of Python may quote a cell.
    hint, problem = "See the log of the server, and report it", "something went wrong in the server"
    parts = ("server", "an answer", "an error in the server", hint)
    return problem_of(Refused(500, *parts, problem=problem))


def respond(error: Exception) -> Response:
    """Return the answer to a request that failed."""
    status, document, headers = problem_of(error)
    kind = "application/problem+json"
    return Response(to_json(document), status, headers=headers, media_type=kind)


async def handle(request: Request, error: Exception) -> Response:
    """Answer with a problem document, whatever was raised."""
    return respond(error)


def invalid(errors: Sequence[Any]) -> Refused:
    """Return the error about the fields of a request: the first in words, the others counted.

    Parameters
    ----------
    errors : list of dict, as ``ValidationError.errors()`` returns it
    """
    first, more = errors[0], len(errors) - 1
    kind, context, path = first["type"], first.get("ctx", {}), list(first["loc"])
    where = path.pop(0) if path and path[0] in ("body", "query", "path") else "body"
    # Between the names are those of our models and types, which a client does not know.
    names = [str(one) for one in path if one in fields() or where != "body"]
    found = "none" if kind == "missing" else _in_words(first.get("input"))
    hint: Part = "See the examples in /openapi.json"
    if kind == "extra_forbidden":
        found, hint = repr(path[-1]), suggest(str(path[-1]), sorted(fields()))
    elif names and (bound := context.get("ge", context.get("le"))) is not None:
        hint = Phrase("Use ", Param(names[-1], bound))
    needed = NEEDED.get(kind, "another value").format(**context)
    if more:
        hint = (*(hint if isinstance(hint, tuple) else (hint,)), f" ({more} more to correct)")
    return Refused(422, ".".join(names) or "body", needed, found, hint)


def _in_words(given: Any) -> str:
    if isinstance(given, dict | list):  # too long to send back
        return "an object" if isinstance(given, dict) else "a list"
    return json.dumps(given, default=str)


def _of_http(error: HTTPException) -> dict[str, Any]:
    status = error.status_code
    parts, problem = ("request", "what the address takes", str(error.detail)), None
    if status == 404:
        parts, problem = ("address", "one that is served", "another"), "nothing is served here"
    elif status == 405:
        parts = ("method", "one that the address takes", "another")
        problem = "this address does not take it"
    return to_problem(status, Refused(status, *parts, "See /openapi.json", problem=problem))


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= MAX_PART_LENGTH else text[: MAX_PART_LENGTH - 1] + "…"
