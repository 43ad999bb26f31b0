"""One line of log and one count for every request; what is in the rows is in neither."""

from __future__ import annotations

import logging
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike.service.metrics import Metrics

log = logging.getLogger("lookalike.service")


class Recorder:
    """Records what was asked and how it was answered.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and record it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 0, 0
        request = secrets.token_hex(6)

        async def counted(event: Message) -> None:
            nonlocal status, size
            if event["type"] == "http.response.start":
                status = event["status"]
                MutableHeaders(scope=event)["X-Request-Id"] = request
            elif event["type"] == "http.response.body":
                size += len(event.get("body", b""))
            await send(event)

        try:
            await self.app(scope, receive, counted)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.count(scope["method"], route, status, seconds)
            log.info(
                "request",
                extra={
                    "request": request,
                    "method": scope["method"],
                    "route": route,
                    "collection": (scope.get("path_params") or {}).get("c"),
                    "status": status,
                    "ms": round(1000 * seconds, 1),
                    "bytes": size,
                    "token": scope.get("lookalike_client"),
                },
            )
