"""Views of a whole collection: graph, map, hubs, clusters, the profile of a set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from lookalike.service.analysis import Analysis, grow
from lookalike.service.analysis import profile as make_profile
from lookalike.service.api.document import BINARY, documented
from lookalike.service.api.models import ProfileIn, Space
from lookalike.service.api.shared import LATER, Found, Serving, answer, group, started
from lookalike.service.collection import Collection
from lookalike.service.jobs import Job
from lookalike.service.limits import check_at_most, check_filter
from lookalike.service.maps import Map

router = group("/api/collections/{c}", "views")
SpaceQuery = Annotated[Space, Query()]
RowId = Annotated[str, Query(max_length=1_000)]
BYTES: dict[int | str, Any] = {
    200: {"description": "The map.", "content": {"application/octet-stream": BINARY}}
}
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


def _answer_or_job(made: Any, respond: Callable[[Any], Response]) -> Response:
    """Answer with an analysis, or with the job that computes it."""
    return started(made) if isinstance(made, Job) else respond(made)


def _document(
    collection: Collection, made: Analysis, more: Mapping[str, Any] | None = None
) -> Response:
    """Answer with an analysis, and how many rows have changed since it was computed."""
    newer = collection.rows_since(made.sample.view.generation)
    return answer(made.document | {"newer": newer} | dict(more or {}))


@router.get("/graph", responses=documented("graph", "Nodes and links."))
def graph(
    service: Serving,
    collection: Found,
    id: RowId,
    depth: Annotated[int, Query(ge=1, le=4)] = 1,
    k: K = 5,
    space: SpaceQuery = "plain",
) -> Response:
    """Return the neighbors of a row, their neighbors, and so on."""
    view, most = collection.view, service.limits.nodes
    hubs = service.analyses.known_hubs(collection, view)
    return answer(grow(view, view.find(id), depth=depth, k=k, space=space, most=most, hubs=hubs))


@router.get("/map", responses=LATER | BYTES)
def map_of_rows(
    service: Serving, collection: Found, at_least: AtLeast = None, sketch: Sketch = False
) -> Response:
    """Return the map: one line of JSON, then x and y of all rows as little-endian float32."""

    def respond(made: Map) -> Response:
        newer = collection.rows_since(made.sample.view.generation)
        return Response(made.to_bytes(newer), media_type="application/octet-stream")

    return _answer_or_job(service.analyses.map(collection, at_least, sketch), respond)


@router.get("/map/matches", responses=LATER | documented("matches", "Bits, base64."))
def map_matches(
    service: Serving,
    collection: Found,
    filter: Annotated[str, Query(max_length=10_000, description="Conditions, as text or JSON.")],
    at_least: AtLeast = None,
    sketch: Sketch = False,
) -> Response:
    """Return which rows of the map meet a filter."""
    check_filter(filter, service.limits)
    made = service.analyses.map(collection, at_least, sketch)
    return _answer_or_job(made, lambda one: answer(one.matches(filter)))


@router.get("/map/colors", responses=LATER | documented("colors", "Codes or numbers."))
def map_colors(
    service: Serving,
    collection: Found,
    column: Annotated[str, Query(max_length=1_000)],
    n: N = "auto",
    at_least: AtLeast = None,
    sketch: Sketch = False,
) -> Response:
    """Return the colors of the rows of the map: by column, by cluster, or by occurrence."""
    analyses, schema = service.analyses, collection.view.schema

    def by(made: Map) -> Response:
        # A column of this name comes first: the two words are ours.
        if column in {*schema.kinds, *schema.aside}:
            return answer(made.colors(column))
        if column == "cluster":
            clusters = analyses.clusters(collection, n, at_least)
            return _answer_or_job(clusters, lambda one: answer(made.by_cluster(one)))
        if column == "occurrence":
            hubs = analyses.hubs(collection, N_NEIGHBORS, at_least)
            return _answer_or_job(hubs, lambda one: answer(made.by_occurrence(one)))
        return answer(made.colors(column))

    return _answer_or_job(analyses.map(collection, at_least, sketch), by)


@router.get("/hubs", responses=LATER | documented("hubs", "Hubs and unreachable rows."))
def hubs(
    service: Serving,
    collection: Found,
    k: K = N_NEIGHBORS,
    space: SpaceQuery = "plain",
    at_least: AtLeast = None,
) -> Response:
    """Return hubs and rows in no list, before and after hubness is reduced."""
    made = service.analyses.hubs(collection, k, at_least)
    return _answer_or_job(made, lambda one: _document(collection, one))


@router.get("/hubs/{id:row_id}", responses=LATER | documented("shown_by", "Lists with the row."))
def shown_by(
    service: Serving,
    collection: Found,
    id: str,
    k: K = N_NEIGHBORS,
    space: SpaceQuery = "plain",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
    at_least: AtLeast = None,
) -> Response:
    """Return the rows that have a row in their list."""
    return _answer_or_job(
        service.analyses.hubs(collection, k, at_least),
        lambda made: answer(made.shown_by(collection.view.find(id), space, limit)),
    )


@router.get("/clusters", responses=LATER | documented("clusters", "Clusters."))
def clusters(
    service: Serving,
    collection: Found,
    n: N = "auto",
    labels: Annotated[bool, Query(description="Whether to list the cluster of each row.")] = False,
    at_least: AtLeast = None,
) -> Response:
    """Return clusters of rows, and what sets each apart."""
    made = service.analyses.clusters(collection, n, at_least)
    return _answer_or_job(
        made, lambda one: _document(collection, one, one.of_rows() if labels else {})
    )


@router.post("/profile", responses=documented("profile", "What makes the rows different."))
def profile(service: Serving, collection: Found, body: ProfileIn) -> Response:
    """Return what makes some rows different from all others."""
    # A set that was drawn on the map has more rows than anyone marks by hand.
    check_at_most("ids", len(body.ids), 10 * service.limits.marks)
    return answer(make_profile(collection.view, body.ids))


@router.post("/repair", status_code=202, responses=LATER)
def repair(service: Serving, collection: Found) -> Response:
    """Start to compute the space with reduced hubness."""
    return started(service.analyses.repair(collection))
