"""Long work: a new measure, what is under way, its progress, its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from lookalike.service.api.models import MeasureIn
from lookalike.service.api.shared import PROBLEMS, Found, Serving, answer, documented
from lookalike.service.api.strict import StrictRoute
from lookalike.service.api.views import JOB
from lookalike.service.cells import to_json
from lookalike.service.fitting import check_measure, list_measures
from lookalike.service.jobs import Job

router = APIRouter(prefix="/api", tags=["jobs"], route_class=StrictRoute, responses=PROBLEMS)
LOOK = 0.1  # seconds between two looks at a job
ALIVE = 15.0  # seconds after which a silent stream says that it is alive
MEASURES = {"measures": [{"name": "gower", "text": "Compare every column in its own way."}]}


@router.get("/measures", responses=documented(MEASURES, "Measures by name."))
def measures() -> Response:
    """List the measures that a collection can be asked for by name."""
    return answer({"measures": list_measures()})


@router.post(
    "/collections/{c}/measure",
    status_code=202,
    responses=documented({"job": JOB}, "The measure is being fitted.", 202),
)
def refit(service: Serving, found: Found, body: MeasureIn) -> Response:
    """Fit the measure again, or another one; the old one serves until it is ready."""
    check_measure(body.measure)
    job = service.analyses.refit(found, body.measure, body.kinds, body.weights)
    return answer({"job": job.to_dict()}, 202)


@router.get("/jobs/{j}", responses=documented(JOB, "The job."))
def get_job(service: Serving, j: str) -> Response:
    """Return how far a job is."""
    return answer(service.jobs.get(j).to_dict())


@router.get(
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


@router.delete("/jobs/{j}", responses=documented(JOB, "The job."))
def cancel_job(service: Serving, j: str) -> Response:
    """End a job; what it has done so far is thrown away."""
    job = service.jobs.get(j)
    service.jobs.cancel(job)
    return answer(job.to_dict())
