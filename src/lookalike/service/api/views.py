"""Views of a whole collection, the jobs that compute them; health and metrics for operators."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from lookalike.service import cells, monitoring
from lookalike.service.analysis import Analysis, Hubs, Map, grow
from lookalike.service.analysis import profile as make_profile
from lookalike.service.api import shared as http
from lookalike.service.api.document import BINARY, documented, raw
from lookalike.service.api.models import ProfileIn, Space
from lookalike.service.collection import Collection
from lookalike.service.jobs import Job
from lookalike.service.limits import check_at_most, check_filter

router = http.group("/api/collections/{c}", "views")
RowId = Annotated[str, Query(max_length=1_000)]
N_NEIGHBORS = 10  # length of the lists that hubs are counted in; the page shows so many hits
K = Annotated[int, Query(ge=1, le=50)]
AtLeast = Annotated[
    int | None, Query(ge=0, description="The oldest generation that is good enough.")
]
Sketch = Annotated[
    bool, Query(description="Whether a map of few rows will do until the whole one is known.")
]
Clusters = Annotated[int, Field(ge=2, le=50)] | Literal["auto"]
N = Annotated[Clusters, Query(description="How many clusters; auto: as hold together best.")]


def _document(collection: Collection, made: Analysis) -> dict[str, Any]:
    """Return an analysis, and how many rows have changed since it was computed."""
    return made.document | {"newer": collection.rows_since(made.sample.view.generation)}


@router.get("/graph", responses=documented("graph"))
def graph(
    service: http.Serving,
    collection: http.Found,
    id: RowId,
    depth: Annotated[int, Query(ge=1, le=4)] = 1,
    k: K = 5,
    space: Space = "plain",
) -> Response:
    """Return the neighbors of a row, their neighbors, and so on."""
    view, most = collection.view, service.limits.nodes
    hubs = service.analyses.known_hubs(collection, view)
    made = grow(view, view.find(id), depth=depth, k=k, space=space, most=most, hubs=hubs)
    return http.answer(made)


def get_map(
    service: http.Serving, collection: http.Found, at_least: AtLeast = None, sketch: Sketch = False
) -> Map:
    """Return the map of the collection that the path names."""
    return service.analyses.map(collection, at_least, sketch)


Drawn = Annotated[Map, Depends(get_map)]
Conditions = Annotated[str, Query(max_length=10_000, description="As text or JSON.")]


@router.get("/map", responses=http.LATER | raw("The map.", "application/octet-stream", BINARY))
def map_of_rows(collection: http.Found, made: Drawn) -> Response:
    """Return the map: one line of JSON, then x and y of all rows as little-endian float32."""
    content = made.to_bytes(collection.rows_since(made.sample.view.generation))
    return Response(content, media_type="application/octet-stream")


@router.get("/map/matches", responses=http.LATER | documented("matches"))
def map_matches(service: http.Serving, made: Drawn, filter: Conditions) -> Response:
    """Return which rows of the map meet a filter."""
    check_filter(filter, service.limits)
    return http.answer(made.matches(filter))


@router.get("/map/colors", responses=http.LATER | documented("colors"))
def map_colors(
    service: http.Serving,
    collection: http.Found,
    made: Drawn,
    column: Annotated[str, Query(max_length=1_000)],
    n: N = "auto",
    at_least: AtLeast = None,
) -> Response:
    """Return the colors of the rows of the map: by column, by cluster, or by occurrence."""
    analyses, schema = service.analyses, collection.view.schema
    # A column of this name comes first: the two words are ours.
    if column == "cluster" and column not in {*schema.kinds, *schema.aside}:
        return http.answer(made.by_cluster(analyses.clusters(collection, n, at_least)))
    if column == "occurrence" and column not in {*schema.kinds, *schema.aside}:
        return http.answer(made.by_occurrence(analyses.hubs(collection, N_NEIGHBORS, at_least)))
    return http.answer(made.colors(column))


def get_hubs(
    service: http.Serving, collection: http.Found, k: K = N_NEIGHBORS, at_least: AtLeast = None
) -> Hubs:
    """Return the hubs of the collection that the path names."""
    return service.analyses.hubs(collection, k, at_least)


Counted = Annotated[Hubs, Depends(get_hubs)]


@router.get("/hubs", responses=http.LATER | documented("hubs"))
def hubs(collection: http.Found, made: Counted) -> Response:
    """Return hubs and rows in no list, before and after hubness is reduced."""
    return http.answer(_document(collection, made))


@router.get("/hubs/{id:row_id}", responses=http.LATER | documented("shown_by"))
def shown_by(
    collection: http.Found, made: Counted, id: str, space: Space = "plain", limit: http.Limit = 20
) -> Response:
    """Return the rows that have a row in their list."""
    return http.answer(made.shown_by(collection.view.find(id), space, limit))


@router.get("/clusters", responses=http.LATER | documented("clusters"))
def clusters(
    service: http.Serving,
    collection: http.Found,
    n: N = "auto",
    labels: Annotated[bool, Query(description="Whether to list the cluster of each row.")] = False,
    at_least: AtLeast = None,
) -> Response:
    """Return clusters of rows, and what sets each apart."""
    made = service.analyses.clusters(collection, n, at_least)
    return http.answer(_document(collection, made) | (made.of_rows() if labels else {}))


@router.post("/profile", responses=documented("profile"))
def profile(service: http.Serving, collection: http.Found, body: ProfileIn) -> Response:
    """Return what makes some rows different from all others."""
    # A set that was drawn on the map has more rows than anyone marks by hand.
    check_at_most("ids", len(body.ids), 10 * service.limits.marks)
    return http.answer(make_profile(collection.view, body.ids))


@router.post("/repair", status_code=202, responses=http.LATER)
def repair(service: http.Serving, collection: http.Found) -> Response:
    """Start to compute the space with reduced hubness."""
    return http.started(service.analyses.repair(collection))


job_routes = http.group("/api", "jobs")
EVENTS = "text/event-stream"
POLL_SECONDS = 0.1
HEARTBEAT_SECONDS = 15.0  # proxies close a connection on which nothing is sent for a minute


@job_routes.get("/jobs/{j}", responses=documented("job"))
def get_job(service: http.Serving, j: str) -> Response:
    """Return the state and progress of a job."""
    return http.answer(service.jobs.get(j).to_dict())


@job_routes.get("/jobs/{j}/events", responses=raw("The job, at every change.", EVENTS))
async def job_events(service: http.Serving, j: str) -> Response:
    """Send the job whenever it changes, as server-sent events, until it has ended."""
    return StreamingResponse(_events(service.jobs.get(j)), media_type=EVENTS)


async def _events(job: Job) -> AsyncIterator[bytes]:
    version, spoke, ended = -1, time.monotonic(), False
    while not ended:
        job.seen = time.monotonic()
        # Read before the document: the last event then has the final state.
        ended = job.ended.is_set()
        if job.version != version:
            version, spoke = job.version, job.seen
            yield b"event: job\ndata: " + cells.to_json(job.to_dict()) + b"\n\n"
        elif job.seen - spoke > HEARTBEAT_SECONDS:
            spoke = job.seen
            yield b": alive\n\n"
        if not ended:
            await asyncio.sleep(POLL_SECONDS)


@job_routes.delete("/jobs/{j}", responses=documented("job"))
def cancel_job(service: http.Serving, j: str) -> Response:
    """Cancel a job; its partial result is discarded."""
    job = service.jobs.get(j)
    service.jobs.cancel(job)
    return http.answer(job.to_dict())


operations = http.group("", "operations")


@operations.get("/healthz", responses=documented("healthy"))
def healthz() -> Response:
    """Report that the process is alive."""
    return http.answer({"ok": True})


@operations.get("/readyz", responses=documented("ready") | documented("not_ready", 503))
def readyz(service: http.Serving) -> Response:
    """Report whether the store answers, and which collections are in memory."""
    ready = {one.name: "ready" if one.loaded else "not loaded" for one in service.catalog}
    ok = service.store_answers
    return http.answer({"ok": ok, "store": ok, "collections": ready}, 200 if ok else 503)


@operations.get("/metrics", responses=raw("Metrics for Prometheus.", "text/plain"))
def metrics(service: http.Serving) -> Response:
    """Return counts and times of requests, rows, generations, lag and jobs."""
    # A scrape must not load a collection that no client uses.
    loaded = {one.name: one.view for one in service.catalog if one.loaded}
    gauges: dict[str, dict[str, float]] = {
        "lookalike_rows": {name: len(view.index) for name, view in loaded.items()},
        "lookalike_generation": {name: view.generation for name, view in loaded.items()},
        "lookalike_lag_generations": dict(service.catalog.lag),
        "lookalike_jobs": dict(service.jobs.counts()),
    }
    return Response(service.metrics.text(gauges), media_type=monitoring.TYPE)
