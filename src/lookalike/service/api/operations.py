"""Jobs and their progress; health, readiness and metrics for operators."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from lookalike.service.answers import measures_of, try_column
from lookalike.service.api.document import TEXT, documented
from lookalike.service.api.models import ColumnIn, MeasureIn
from lookalike.service.api.shared import (
    LATER,
    Found,
    Serving,
    answer,
    group,
    in_turn,
    started,
)
from lookalike.service.cells import to_json
from lookalike.service.fitting import list_measures
from lookalike.service.jobs import Job, Jobs
from lookalike.service.limits import check_options
from lookalike.service.monitoring import TYPE
from lookalike.verbs.measures import read_measure

router = group("", "operations")


@router.get("/healthz", responses=documented("healthy", "The process is alive."))
def healthz() -> Response:
    """Report that the process is alive."""
    return answer({"ok": True})


@router.get(
    "/readyz",
    responses=documented("ready", "The server can answer.")
    | documented("not_ready", "The store does not answer.", 503),
)
def readyz(service: Serving) -> Response:
    """Report whether the store answers, and which collections are in memory."""
    ready = {one.name: "ready" if one.loaded else "not loaded" for one in service.catalog}
    ok = service.store_answers
    return answer({"ok": ok, "store": ok, "collections": ready}, 200 if ok else 503)


@router.get(
    "/metrics",
    responses={200: {"description": "Metrics for Prometheus.", "content": {"text/plain": TEXT}}},
)
def metrics(service: Serving) -> Response:
    """Return counts and times of requests, rows, generations, lag and jobs."""
    # A scrape must not load a collection that no client uses.
    loaded = {one.name: one.view for one in service.catalog if one.loaded}
    gauges: dict[str, dict[str, float]] = {
        "lookalike_rows": {name: len(view.index) for name, view in loaded.items()},
        "lookalike_generation": {name: view.generation for name, view in loaded.items()},
        "lookalike_lag_generations": dict(service.catalog.lag),
        "lookalike_jobs": dict(service.jobs.counts()),
    }
    return Response(service.metrics.text(gauges), media_type=TYPE)


job_routes = group("/api", "jobs")
POLL_SECONDS = 0.1
HEARTBEAT_SECONDS = 15.0  # proxies close a connection on which nothing is sent for a minute


@job_routes.get("/measures", responses=documented("measures", "Measures by name."))
def measures() -> Response:
    """List the measures that a collection can be asked for by name."""
    return answer({"measures": list_measures()})


@job_routes.get(
    "/collections/{c}/measures", responses=documented("measures_of_rows", "Measures that fit.")
)
def measures_for(found: Found) -> Response:
    """List the measures that can compare the rows of a collection; `words` says what they do."""
    return answer({"measures": measures_of(found.view)})


@job_routes.post("/collections/{c}/measure", status_code=202, responses=LATER)
def refit(service: Serving, found: Found, body: MeasureIn) -> Response:
    """Fit the measure again, or another one; the old one serves until it is ready."""
    check_options(body.measure)
    read_measure(body.measure)  # an unknown name is refused now, not by the job
    asked = (body.measure, body.kinds, body.weights, body.missing, body.label_column)
    return started(service.analyses.refit(found, *asked))


@job_routes.post("/collections/{c}/column", responses=documented("tried", "The column."))
async def try_kind(service: Serving, found: Found, body: ColumnIn) -> Response:
    """Read a column as another kind on trial: what it would be, and what could not be read."""
    return await in_turn(service, lambda: answer(try_column(found.view, body.column, body.kind)))


@job_routes.get("/jobs/{j}", responses=documented("job", "The job."))
def get_job(service: Serving, j: str) -> Response:
    """Return the state and progress of a job."""
    return answer(service.jobs.get(j).to_dict())


@job_routes.get(
    "/jobs/{j}/events",
    responses={
        200: {"description": "The job, at every change.", "content": {"text/event-stream": TEXT}}
    },
)
async def job_events(service: Serving, j: str) -> Response:
    """Send the job whenever it changes, as server-sent events, until it has ended."""
    job = service.jobs.get(j)
    return StreamingResponse(_watched(service.jobs, job), media_type="text/event-stream")


async def _watched(jobs: Jobs, job: Job) -> AsyncIterator[bytes]:
    with jobs.watch(job):
        async for event in _events(job):
            yield event


async def _events(job: Job) -> AsyncIterator[bytes]:
    version, spoke = -1, time.monotonic()
    while True:
        # Read before the document: the last event then has the final state.
        ended = job.ended.is_set()
        if job.version != version:
            version, spoke = job.version, time.monotonic()
            yield b"event: job\ndata: " + to_json(job.to_dict()) + b"\n\n"
        if ended:
            return
        if time.monotonic() - spoke > HEARTBEAT_SECONDS:
            spoke = time.monotonic()
            yield b": alive\n\n"
        await asyncio.sleep(POLL_SECONDS)


@job_routes.delete("/jobs/{j}", responses=documented("job", "The job."))
def cancel_job(service: Serving, j: str) -> Response:
    """Cancel a job; its partial result is discarded."""
    job = service.jobs.get(j)
    service.jobs.cancel(job)
    return answer(job.to_dict())
