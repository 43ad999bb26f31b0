"""What those who run the server ask: is it alive, is it ready, how is it doing."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from lookalike.service.api.shared import Serving, answer, documented
from lookalike.service.metrics import TYPE

router = APIRouter(tags=["operations"])


@router.get("/healthz", responses=documented({"ok": True}, "The process is alive."))
def healthz() -> Response:
    """Say that the process is alive."""
    return answer({"ok": True})


READY = {"ok": True, "store": True, "collections": {"films": "ready"}}


@router.get(
    "/readyz",
    responses=documented(READY, "The server can answer.")
    | documented(READY | {"ok": False}, "It cannot yet, or the store does not answer.", 503),
)
def readyz(service: Serving) -> Response:
    """Say whether the store answers, and which collections are in memory."""
    ready = {one.name: "ready" if one.loaded else "not loaded" for one in service.catalog}
    ok = service.store_answers
    return answer({"ok": ok, "store": ok, "collections": ready}, 200 if ok else 503)


@router.get(
    "/metrics",
    responses={200: {"description": "Figures for Prometheus.", "content": {"text/plain": {}}}},
)
def metrics(service: Serving) -> Response:
    """Return counts and times of requests, rows, generations, lag and jobs."""
    loaded = {one.name: one.view for one in service.catalog if one.loaded}
    gauges: dict[str, dict[str, float]] = {
        "lookalike_rows": {name: len(view.index) for name, view in loaded.items()},
        "lookalike_generation": {name: view.generation for name, view in loaded.items()},
        "lookalike_lag_generations": dict(service.catalog.lag),
        "lookalike_jobs": dict(service.jobs.counts()),
    }
    return Response(service.metrics.text(gauges), media_type=TYPE)
