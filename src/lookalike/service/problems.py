"""Errors as problem documents (RFC 9457), with the four parts that every message of ours has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from lookalike._runtime.text import clean
from lookalike.errors import LookalikeError, Part, TooLarge
from lookalike.service.cells import to_json
from lookalike.service.collection import TooFarBehind
from lookalike.service.store.engine import StoreFull, StoreUnavailable
from lookalike.service.store.store import AlreadyThere, NotThere

TITLES = {
    400: "Bad request",
    401: "A token is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Already there",
    411: "Length needed",
    413: "Too large",
    415: "Wrong content type",
    422: "Cannot be used",
    429: "Too many requests",
    500: "Our mistake",
    503: "Not ready",
    507: "No room left",
}
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotThere, 404),
    (AlreadyThere, 409),
    (TooFarBehind, 503),
    (StoreFull, 507),
    (StoreUnavailable, 503),
    (TooLarge, 413),
    (LookalikeError, 422),
)
LONGEST = 600  # characters of a part: a huge cell is not sent back


class Refused(LookalikeError):
    """A request that is refused for a reason of HTTP or of safety.

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


def to_problem(status: int, detail: str, parts: Mapping[str, str]) -> dict[str, Any]:
    """Return a problem document."""
    found = {name: _short(text) for name, text in parts.items()}
    return {
        "type": f"urn:lookalike:problem:{status}",
        "title": TITLES.get(status, "Problem"),
        "status": status,
        "detail": _short(detail),
        **found,
    }


def problem_of(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return status, document and headers for an error."""
    if isinstance(error, Refused):
        return error.status, to_problem(error.status, str(error), _parts(error)), error.headers
    if isinstance(error, RequestValidationError):
        return 422, _of_validation(error), {}
    if isinstance(error, HTTPException):
        if isinstance(error.__cause__, Refused):  # while the body was read
            return problem_of(error.__cause__)
        return error.status_code, _of_http(error), dict(error.headers or {})
    for kind, status in STATUS:
        if isinstance(error, kind) and isinstance(error, LookalikeError):
            headers = {"Retry-After": "1"} if status == 503 else {}
            return status, to_problem(status, str(error), _parts(error)), headers
    if isinstance(error, ClientDisconnect):
        refused = Refused(400, "request", "a whole body", "a closed connection", "Send it again")
        return problem_of(refused)
    return problem_of(
        Refused(
            500,
            "server",
            "an answer",
            "an error in the server",
            "See the log of the server, and report it",
            problem="something went wrong in the server",
        )
    )


def respond(error: Exception) -> Response:
    """Return the answer to a request that failed."""
    status, document, headers = problem_of(error)
    kind = "application/problem+json"
    return Response(to_json(document), status, headers=headers, media_type=kind)


async def handle(request: Request, error: Exception) -> Response:
    """Answer with a problem document, whatever was raised."""
    return respond(error)


def _parts(error: LookalikeError) -> dict[str, str]:
    return {name: getattr(error, name) for name in ("who", "needed", "found", "hint")}


def _of_validation(error: RequestValidationError) -> dict[str, Any]:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    needed = str(first["msg"])
    needed = needed[0].lower() + needed[1:] if needed else "something else"
    given = first.get("input")
    found = type(given).__name__ if isinstance(given, dict | list) else repr(given)
    more = len(error.errors()) - 1
    hint = "Correct it" + (f", and {more} more" if more else "") + "; /openapi.json has examples"
    refused = Refused(422, where or "request", needed, found, hint)
    return to_problem(422, str(refused), _parts(refused))


def _of_http(error: HTTPException) -> dict[str, Any]:
    status = error.status_code
    if status == 404:
        parts: tuple[str, ...] = ("address", "one that is served", "another")
        problem: str | None = "nothing is served here"
    elif status == 405:
        parts = ("method", "one that the address takes", "another")
        problem = "this address does not take it"
    else:
        parts, problem = ("request", "what the address takes", str(error.detail)), None
    refused = Refused(status, *parts, "See /openapi.json", problem=problem)
    return to_problem(status, str(refused), _parts(refused))


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
