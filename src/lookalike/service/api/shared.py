"""What all routes share: the service, the collection of the path, strict JSON both ways.

Bodies are untrusted: bounded, not nested deeply, without NaN, no number out of range.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import APIRouter, Depends, Path, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.errors import Param
from lookalike.saving.safe_json import parse_json
from lookalike.service.api.models import ProblemOut
from lookalike.service.cells import to_json
from lookalike.service.collection import Collection
from lookalike.service.limits import Limits
from lookalike.service.problems import Refused
from lookalike.service.service import Service

LARGEST = 2**63


class StrictRequest(Request):
    """A request whose JSON is read by our own rules."""

    async def json(self) -> Any:
        """Return the body, or say what is wrong with it."""
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body(), self.app.state.service.limits)
        return self._json


class StrictRoute(APIRoute):
    """A route whose requests are strict."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictRequest(request.scope, request.receive))

        return handle


def read_json(body: bytes, limits: Limits) -> Any:
    """Read a JSON text by our rules."""
    try:
        value = parse_json(body, limits.depth)
    except (ValueError, UnicodeDecodeError) as error:
        found = str(error).splitlines()[0][:120]
        hint = "Send JSON in UTF-8, without NaN, Infinity and repeated keys"
        raise Refused(422, "body", "a JSON text", found, hint) from error
    check_json(value, limits)
    return value


def check_json(value: Any, limits: Limits) -> None:
    """Refuse numbers that no column can hold, texts that are huge, and broken letters."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo.extend(one.keys())
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
        elif isinstance(one, str):
            _check_text(one, limits)
        elif isinstance(one, float):
            if not abs(one) < float("inf"):
                raise _refuse("numbers that a float can hold", "a larger one")
        elif isinstance(one, int) and not -LARGEST <= one < LARGEST:
            raise _refuse("whole numbers of at most 64 bits", "a larger one")


def _check_text(text: str, limits: Limits) -> None:
    if len(text) > limits.cell:
        needed = f"texts of at most {limits.cell:,} characters"
        raise Refused(413, "body", needed, f"one of {len(text):,}", "Shorten it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refuse("whole letters", "half of a surrogate pair") from error


def _refuse(needed: str, found: str) -> Refused:
    return Refused(422, "body", needed, found, "Correct the value")


T = TypeVar("T")

PROBLEM = {"model": ProblemOut, "content": {"application/problem+json": {}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {**PROBLEM, "description": "A token is needed."},
    403: {**PROBLEM, "description": "The token, the host or the origin is not allowed."},
    404: {**PROBLEM, "description": "There is no such thing."},
    408: {**PROBLEM, "description": "The body came too slowly."},
    409: {**PROBLEM, "description": "It is there already."},
    413: {**PROBLEM, "description": "Too large."},
    415: {**PROBLEM, "description": "The body is of another type."},
    422: {**PROBLEM, "description": "The request cannot be used."},
    429: {**PROBLEM, "description": "Too many requests."},
    503: {**PROBLEM, "description": "Not ready; see Retry-After."},
    507: {**PROBLEM, "description": "The disk is full; nothing was written."},
}


# Neither has anything to wait for, as a rule: a thread for each would cost more than both do.
async def get_service(request: Request) -> Service:
    """Return the service of the application."""
    return request.app.state.service


Serving = Annotated[Service, Depends(get_service)]


async def get_collection(
    service: Serving, c: Annotated[str, Path(description="The name of a collection.")]
) -> Collection:
    """Return the collection that the path names."""
    known = service.catalog.known(c)
    return known if known is not None else await run_in_threadpool(service.catalog.get, c)


Found = Annotated[Collection, Depends(get_collection)]


async def in_turn(service: Service, work: Callable[[], T]) -> T:
    """Do what keeps a core busy: as many at once as there are cores, the others in line.

    More at once would not be done sooner, but every short request would wait for all of them.
    """
    return await anyio.to_thread.run_sync(work, limiter=service.turns)


def group(prefix: str, tag: str) -> APIRouter:
    """Return the router of a group of routes: requests are strict, problems documented."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=StrictRoute, responses=PROBLEMS)


def answer(value: Any, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(to_json(value), status, media_type="application/json")


def documented(example: Any, description: str, status: int = 200) -> dict[int | str, Any]:
    """Describe an answer by an example, for the OpenAPI document."""
    content = {"application/json": {"example": example, "schema": {"type": "object"}}}
    return {status: {"description": description, "content": content}}


def check_at_most(what: str, count: int, most: int) -> None:
    """Refuse more of something than one request may have."""
    if count > most:
        raise Refused(413, what, f"at most {most:,}", f"{count:,}", "Ask in several requests")


def check_k(service: Service, k: int) -> None:
    """Refuse longer lists than the limit."""
    if k > service.limits.k:
        raise Refused(
            422,
            Param("k", k),
            f"at most {service.limits.k:,} hits",
            f"{k:,}",
            ("Use ", Param("k", service.limits.k)),
        )
