"""For operators: metrics for Prometheus, and logs as lines of JSON.

Neither contains cells of rows.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import secrets
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any

import prometheus_client as prometheus
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
TYPE = "text/plain; version=0.0.4; charset=utf-8"
GAUGES = {  # name -> its label, and its description
    "lookalike_rows": ("collection", "Live rows of a collection in memory."),
    "lookalike_generation": ("collection", "Last change of the collection seen here."),
    "lookalike_lag_generations": ("collection", "Changes by other servers not seen here yet."),
    "lookalike_jobs": ("state", "Jobs that are remembered."),
}


class Metrics:
    """Counts of requests by route and status, and how long they took.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("GET", "/healthz", 200, 0.003)
    >>> print(metrics.text({"lookalike_rows": {"films": 3}}).decode().splitlines()[-1])
    lookalike_rows{collection="films"} 3.0
    """

    def __init__(self) -> None:
        # Else every series has a second one with the time of its first request.
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = prometheus.CollectorRegistry()  # a process may run two services
        labels, about = ["method", "route", "status"], "Seconds until a request was answered."
        self._requests = prometheus.Counter(
            "lookalike_requests", "Requests.", labels, registry=registry
        )
        self._seconds = prometheus.Histogram(
            "lookalike_request_seconds", about, ["route"], registry=registry, buckets=BUCKETS
        )

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request.

        Parameters
        ----------
        method : str
        route : str
            As it is declared, not as it was called: ids are not for metrics.
        status : int
        seconds : float
        """
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, gauges: Mapping[str, Mapping[str, float]]) -> bytes:
        """Return all metrics in the text format of Prometheus.

        Parameters
        ----------
        gauges : mapping of a name in ``GAUGES`` to a mapping of label to number
        """
        # A registry for each scrape: a collection that was dropped leaves no gauge behind.
        current = prometheus.CollectorRegistry()
        for name, values in gauges.items():
            label, description = GAUGES[name]
            gauge = prometheus.Gauge(name, description, [label], registry=current)
            for value, number in values.items():
                gauge.labels(value).set(number)
        return b"".join(map(prometheus.generate_latest, (self._registry, current)))


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
            # The declared path: ids of rows in it would be a series of metrics each.
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.count(scope["method"], route, status, seconds)
            extra = {
                "request": request,
                "method": scope["method"],
                "route": route,
                "collection": (scope.get("path_params") or {}).get("c"),
                "status": status,
                "ms": round(1000 * seconds, 1),
                "bytes": size,
                "token": scope.get("lookalike_client"),
            }
            log.info("request", extra=extra)


# Attributes of every record; the others are what was passed as ``extra``.
OWN = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "taskName"}


class JsonLines(logging.Formatter):
    """Format a record as one line of JSON; of an error, its type and where it was raised."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        # The message of an error is left out, as it may quote a cell.
        at = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        found: dict[str, Any] = {
            "at": at,
            "level": record.levelname.lower(),
            "event": record.msg if record.exc_info else record.getMessage(),
        }
        found |= {name: value for name, value in vars(record).items() if name not in OWN}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)
            found["error"] = type(error).__name__
            found["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(found, default=str)


def set_up(requests: bool) -> None:
    """Write logs to standard error.

    Parameters
    ----------
    requests : bool
        Whether every request is a line; else only what went wrong.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    # Requests are logged at INFO; uvicorn's own lines about them would say the same again.
    levels = {log.name: logging.INFO if requests else logging.WARNING}
    for name, level in (levels | {"uvicorn.error": logging.WARNING}).items():
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
