"""What all routes share: the service, the collection of the path, strict JSON both ways.

Bodies are untrusted: bounded, not nested deeply, without NaN, no number out of range.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.responses import Response

from lookalike.saving.safe_json import parse_json
from lookalike.service import cells, client, jobs
from lookalike.service.api.document import VERSION, documented
from lookalike.service.collection import Collection
from lookalike.service.limits import RequestLimits, leaves
from lookalike.service.problems import Refused
from lookalike.service.service import Service

MAX_INTEGER = 2**63  # a column of integers holds 64 bits


class StrictRequest(Request):
    """A request whose JSON is read by our own rules."""

    async def json(self) -> Any:
        """Return the body, or raise what is wrong with it."""
        if not self.headers.get("content-type"):  # FastAPI before 0.132 takes it for JSON
            return await self.body()
        return read_json(await self.body(), self.app.state.service.limits)


class StrictRoute(APIRoute):
    """A route whose requests are strict."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictRequest(request.scope, request.receive))

        return handle


def read_json(body: bytes, limits: RequestLimits) -> Any:
    """Parse untrusted JSON: with a depth limit, without NaN and repeated keys."""
    try:
        value = parse_json(body, limits.depth)
    except (ValueError, UnicodeDecodeError) as error:
        found = str(error).splitlines()[0][:120]
        hint = "Send JSON in UTF-8, without NaN, Infinity and repeated keys"
        raise Refused(422, "body", "a JSON text", found, hint) from error
    check_json(value, limits)
    return value


def check_json(value: Any, limits: RequestLimits) -> None:
    """Refuse numbers that no column can hold, texts that are huge, and lone surrogates."""
    for one in leaves(value, keys=True):
        if isinstance(one, str):
            if len(one) > limits.cell:
                needed = f"texts of at most {limits.cell:,} characters"
                raise Refused(413, "body", needed, f"one of {len(one):,}", "Shorten it")
            try:
                one.encode()
            except UnicodeEncodeError as error:  # it could be stored, but not sent back
                raise _refuse("whole characters", "half of a surrogate pair") from error
        elif isinstance(one, float) and not abs(one) < float("inf"):
            raise _refuse("numbers that a float can hold", "a larger one")
        elif isinstance(one, int) and not -MAX_INTEGER <= one < MAX_INTEGER:
            raise _refuse("integers of at most 64 bits", "a larger one")


def _refuse(needed: str, found: str) -> Refused:
    return Refused(422, "body", needed, found, "Correct the value")


T = TypeVar("T")


# Both are coroutines that do not wait, as a rule: a plain function would get a thread for each
# request, which costs more than they do.
async def get_service(request: Request) -> Service:
    """Return the service of the application."""
    return request.app.state.service


Serving = Annotated[Service, Depends(get_service)]


async def get_collection(
    service: Serving, c: Annotated[str, Path(description="The name of a collection.")]
) -> Collection:
    """Return the collection that the path names."""
    # Only a collection that was never asked for is read from the store, in a thread.
    known = service.catalog.known(c)
    return known if known is not None else await run_in_threadpool(service.catalog.get, c)


Found = Annotated[Collection, Depends(get_collection)]
Limit = Annotated[int, Query(ge=1, le=1_000)]


async def in_turn(service: Service, work: Callable[[], T]) -> T:
    """Run CPU-bound work in a thread, at most as many as there are cores; the others wait."""
    # More in parallel would not end sooner, but every short request would wait for all of them.
    return await anyio.to_thread.run_sync(work, limiter=service.turns)


class RowIdConvertor(StringConvertor):
    """An id in the path of a route: any text, slashes and line ends included."""

    regex = r"[\s\S]*"


# Before any route is made, which all modules of routes do by ``group``.
register_url_convertor("row_id", RowIdConvertor())


def group(prefix: str, tag: str) -> APIRouter:
    """Return the router of a group of routes, whose requests are strict."""
    # Without a type of its own, or FastAPI documents every answer as JSON without a shape.
    return APIRouter(
        prefix=prefix, tags=[tag], route_class=StrictRoute, default_response_class=Response
    )


def answer(value: Any, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(cells.to_json(value), status, media_type="application/json")


def created(value: Any, *parts: Any) -> Response:
    """Answer with what was made, and where it is."""
    response = answer(value, 201)
    response.headers["Location"] = client.path_of(*parts)
    return response


LATER = documented("started", 202)


def started(job: jobs.Job) -> Response:
    """Answer with the job that computes what was asked for, and where to look for it."""
    response = answer({"job": job.to_dict()}, 202)
    response.headers.update({"Location": f"{VERSION}jobs/{job.id}", "Retry-After": "1"})
    return response
