"""The application: routes, errors, headers, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from lookalike._version import __version__
from lookalike.errors import LookalikeError
from lookalike.service.api import collections, jobs, operations, rows, search, views
from lookalike.service.problems import handle
from lookalike.service.recorder import Recorder
from lookalike.service.safety import Safety
from lookalike.service.service import Service

__all__ = ["create_app"]

WEB = Path(__file__).parent / "web"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
}


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
    for module in (collections, search, rows, views, jobs, operations):
        app.include_router(module.router)
    for kind in (LookalikeError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, handle)
    _serve_page(app)
    app.add_middleware(Safety, access=service.access, limits=service.limits, tokens=service.tokens)
    app.add_middleware(Recorder, metrics=service.metrics)  # the outermost: it sees every answer
    return app


def _serve_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return _file("index.html")

    @app.get("/web/{path:path}", include_in_schema=False)
    def part(path: str) -> Response:
        return _file(path)


def _file(path: str) -> Response:
    """Return a file of the page; nothing outside of its folder, and only types that it has."""
    whole = (WEB / path).resolve() if "\0" not in path else WEB
    if not whole.is_relative_to(WEB.resolve()) or whole.suffix not in TYPES or not whole.is_file():
        raise HTTPException(404)
    headers: dict[str, Any] = {"Cache-Control": "no-cache"}
    return FileResponse(whole, media_type=TYPES[whole.suffix], headers=headers)
