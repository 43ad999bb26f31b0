"""Long work and its progress; for those who run the server: is it alive, ready, how is it doing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from lookalike.service.api.models import MeasureIn
from lookalike.service.api.shared import Found, Serving, answer, documented, group
from lookalike.service.api.views import JOB
from lookalike.service.cells import to_json
from lookalike.service.fitting import check_measure, list_measures
from lookalike.service.jobs import Job
from lookalike.service.monitoring import TYPE

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


job_routes = group("/api", "jobs")
LOOK = 0.1  # seconds between two looks at a job
ALIVE = 15.0  # seconds after which a silent stream says that it is alive
MEASURES = {"measures": [{"name": "gower", "text": "Compare every column in its own way."}]}


@job_routes.get("/measures", responses=documented(MEASURES, "Measures by name."))
def measures() -> Response:
    """List the measures that a collection can be asked for by name."""
    return answer({"measures": list_measures()})


@job_routes.post(
    "/collections/{c}/measure",
    status_code=202,
    responses=documented({"job": JOB}, "The measure is being fitted.", 202),
)
def refit(service: Serving, found: Found, body: MeasureIn) -> Response:
    """Fit the measure again, or another one; the old one serves until it is ready."""
    check_measure(body.measure)
    job = service.analyses.refit(found, body.measure, body.kinds, body.weights)
    return answer({"job": job.to_dict()}, 202)


@job_routes.get("/jobs/{j}", responses=documented(JOB, "The job."))
def get_job(service: Serving, j: str) -> Response:
    """Return how far a job is."""
    return answer(service.jobs.get(j).to_dict())


@job_routes.get(
    "/jobs/{j}/events",
    responses={
        200: {"description": "The job, again and again.", "content": {"text/event-stream": {}}}
    },
)
async def job_events(service: Serving, j: str) -> Response:
    """Send the job whenever it changes, as server-sent events, until it has ended."""
    job = service.jobs.get(j)
    return StreamingResponse(_events(job), media_type="text/event-stream")


async def _events(job: Job) -> AsyncIterator[bytes]:
    version, spoke = -1, time.monotonic()
    while True:
        ended = job.ended.is_set()  # looked at first: what ends it is then in the document
        if job.version != version:
            version, spoke = job.version, time.monotonic()
            yield b"event: job\ndata: " + to_json(job.to_dict()) + b"\n\n"
        if ended:
            return
        if time.monotonic() - spoke > ALIVE:
            spoke = time.monotonic()
            yield b": alive\n\n"
        await asyncio.sleep(LOOK)


@job_routes.delete("/jobs/{j}", responses=documented(JOB, "The job."))
def cancel_job(service: Serving, j: str) -> Response:
    """End a job; what it has done so far is thrown away."""
    job = service.jobs.get(j)
    service.jobs.cancel(job)
    return answer(job.to_dict())
