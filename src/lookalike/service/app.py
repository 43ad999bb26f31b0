"""The application: routes, errors, headers, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lookalike._version import __version__
from lookalike.errors import LookalikeError
from lookalike.service.api import (
    collections,
    jobs,
    opening,
    operations,
    rows,
    search,
    verbs,
    views,
)
from lookalike.service.problems import handle
from lookalike.service.recorder import Recorder
from lookalike.service.safety import Safety
from lookalike.service.service import Service
from lookalike.service.site import Site


def create_app(service: Service) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    service : Service
    """

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            service.close()

    app = FastAPI(
        title="lookalike",
        version=__version__,
        summary="Which rows are alike, and why.",
        lifespan=live,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    for module in (opening, collections, search, verbs, rows, views, jobs, operations):
        app.include_router(module.router)
    for kind in (LookalikeError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, handle)
    _serve_page(app, service)
    app.add_middleware(Safety, access=service.access, limits=service.limits, tokens=service.tokens)
    app.add_middleware(Recorder, metrics=service.metrics)  # the outermost: it sees every answer
    return app


def _serve_page(app: FastAPI, service: Service) -> None:
    site = Site()

    @app.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        return site.page(request, opening.at_hand(service))

    # It is quick, so that it runs between other requests, not in a thread of its own.
    @app.get("/web/{path:path}", include_in_schema=False)
    async def part(request: Request, path: str) -> Response:
        return site.part(request, path)
