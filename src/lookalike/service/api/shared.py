"""What all routes share: the service, the collection of the path, answers as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.errors import Param
from lookalike.service.api.models import ProblemOut
from lookalike.service.cells import to_json
from lookalike.service.collection import Collection
from lookalike.service.problems import Refused
from lookalike.service.service import Service

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
    service: Service = request.app.state.service
    return service


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
