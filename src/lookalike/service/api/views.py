"""Views of a whole collection: graph, map, hubs, clusters, the profile of a set."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.responses import Response

from lookalike.service.analysis.views import grow
from lookalike.service.analysis.views import profile as make_profile
from lookalike.service.api.models import ProfileIn
from lookalike.service.api.shared import (
    Found,
    Serving,
    answer,
    check_at_most,
    documented,
    group,
)
from lookalike.service.jobs import Job

router = group("/api/collections/{c}", "views")
Space = Annotated[Literal["plain", "repaired"], Query()]
RowId = Annotated[str, Query(max_length=1_000)]
JOB = {
    "id": "9f86d081884c7d65",
    "kind": "map",
    "collection": "pets",
    "state": "running",
    "progress": 0.4,
    "text": "finding neighbors",
    "problem": None,
    "result": {},
}
LATER = documented({"job": JOB}, "It is being made: ask again when the job is done.", 202)
NAME = {"id": 0, "label": "cat"}
NEAREST = 10  # length of the lists that hubs are counted in


def _later(job: Job) -> Response:
    """Answer with the job that makes what was asked for; with its problem if it has failed."""
    return answer({"job": job.to_dict()}, 202)


GRAPH = {
    "nodes": [NAME | {"depth": 0, "occurrence": 2, "hub": False, "orphan": False}],
    "links": [{"source": 0, "target": 2, "similarity": 0.98, "mutual": True}],
    "generation": 1,
}


@router.get("/graph", responses=documented(GRAPH, "Nodes and links."))
def graph(
    service: Serving,
    found: Found,
    id: RowId,
    depth: Annotated[int, Query(ge=1, le=4)] = 1,
    k: Annotated[int, Query(ge=1, le=50)] = 5,
    space: Space = "plain",
) -> Response:
    """Return the neighbors of a row, their neighbors, and so on."""
    view = found.view
    hubs = service.analyses.known_hubs(found, view)
    most = service.limits.nodes
    key = view.find(id)
    return answer(grow(view, key, depth=depth, k=k, space=space, most=most, hubs=hubs))


@router.get(
    "/map",
    responses=LATER
    | {200: {"description": "The map.", "content": {"application/octet-stream": {}}}},
)
def map_of_rows(service: Serving, found: Found) -> Response:
    """Return where all rows lie: one line of JSON, then x and y as little-endian float32."""
    made = service.analyses.map(found)
    if isinstance(made, Job):
        return _later(made)
    return Response(made.to_bytes(), media_type="application/octet-stream")


@router.get(
    "/map/colors",
    responses=LATER
    | documented(
        {"kind": "category", "labels": ["cat"], "gap": "missing", "values": "AAAA"},
        "Codes or numbers.",
    ),
)
def map_colors(
    service: Serving, found: Found, column: Annotated[str, Query(max_length=1_000)]
) -> Response:
    """Return what colors the rows of the map: a column, their cluster, or their occurrence."""
    made = service.analyses.map(found)
    if isinstance(made, Job):
        return _later(made)
    names = {*found.view.schema.kinds, *found.view.schema.aside}
    if column == "cluster" and column not in names:
        clusters = service.analyses.clusters(found)
        if isinstance(clusters, Job):
            return _later(clusters)
        return answer(made.by_cluster(clusters))
    if column == "occurrence" and column not in names:
        counted = service.analyses.hubs(found, NEAREST)
        if isinstance(counted, Job):
            return _later(counted)
        return answer(made.by_occurrence(counted))
    return answer(made.colors(column))


ABOUT: dict[str, Any] = {
    "skewness": 1.2,
    "largest": 40,
    "hubs": 1,
    "unreachable": 3,
    "unreachable_share": 0.1,
    "histogram": {"edges": [0, 1, 2], "counts": [3, 20]},
    "top": [NAME | {"occurrence": 40, "row": {}}],
    "orphans": [NAME | {"row": {}}],
}
HUBS = {
    "k": 10,
    "rows": 30,
    "sampled": False,
    "generation": 1,
    "plain": ABOUT,
    "repaired": ABOUT,
    "sentence": "3 of 30 rows are among the 10 nearest of no other row.",
}
K = Annotated[int, Query(ge=1, le=50)]


@router.get("/hubs", responses=LATER | documented(HUBS, "Hubs and unreachable rows."))
def hubs(service: Serving, found: Found, k: K = NEAREST, space: Space = "plain") -> Response:
    """Say who is in everybody's list and who in nobody's, before and after the repair."""
    made = service.analyses.hubs(found, k)
    return _later(made) if isinstance(made, Job) else answer(made.document)


@router.get(
    "/hubs/{id:path}",
    responses=LATER
    | documented({"id": 0, "occurrence": 2, "shown_by": [NAME | {"rank": 1}]}, "Whose lists."),
)
def shown_by(
    service: Serving,
    found: Found,
    id: str,
    k: K = NEAREST,
    space: Space = "plain",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
) -> Response:
    """Say in whose lists a row stands."""
    made = service.analyses.hubs(found, k)
    if isinstance(made, Job):
        return _later(made)
    return answer(made.shown_by(found.view.find(id), space, limit))


CLUSTERS = {
    "clusters": [
        {
            "cluster": 0,
            "size": 3,
            "label_rows": [NAME],
            "differs": [{"column": "animal", "text": "animal cat 100% (others 0%)"}],
        }
    ],
    "measure": "Gower()",
    "sampled": False,
    "generation": 1,
    "note": None,
}


@router.get("/clusters", responses=LATER | documented(CLUSTERS, "Clusters."))
def clusters(service: Serving, found: Found) -> Response:
    """Say which rows belong together, and what sets each cluster apart."""
    made = service.analyses.clusters(found)
    return _later(made) if isinstance(made, Job) else answer(made.document)


PROFILE = {
    "size": 2,
    "rest": 1,
    "sampled": False,
    "differs": [
        {
            "column": "animal",
            "kind": "category",
            "what": "share",
            "value": "cat",
            "inside": 1,
            "outside": 0,
            "text": "animal cat 100% (others 0%)",
            "score": 1,
        }
    ],
    "typical": [NAME],
    "generation": 1,
}


@router.post("/profile", responses=documented(PROFILE, "What makes the rows different."))
def profile(service: Serving, found: Found, body: ProfileIn) -> Response:
    """Say what makes some rows different from all others."""
    check_at_most("ids", len(body.ids), 10 * service.limits.marks)
    return answer(make_profile(found.view, body.ids))


@router.post("/repair", status_code=202, responses=LATER)
def repair(service: Serving, found: Found) -> Response:
    """Start to make the space without hubs."""
    return _later(service.analyses.repair(found))
