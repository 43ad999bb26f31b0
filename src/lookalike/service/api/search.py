"""Searches, searches that are refined by feedback, and the verbs.

The request of a verb is checked against its signature.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

from fastapi import Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.service.analysis import MAX_ANALYZED_ROWS, CollectionSource
from lookalike.service.answers import search as find
from lookalike.service.api import shared as http
from lookalike.service.api.document import documented
from lookalike.service.api.models import MarksIn, SearchIn, SessionIn
from lookalike.service.collection import Collection, View
from lookalike.service.jobs import Job
from lookalike.service.limits import check_at_most, check_verb
from lookalike.service.problems import collected, refused_again
from lookalike.service.service import Service
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.measures import read_measure
from lookalike.verbs.requests import other_tables, request_model

router = http.group("/api/collections/{c}", "search")


@router.post("/search", responses=http.LATER | documented("search"))
async def search(service: http.Serving, collection: http.Found, body: SearchIn) -> Response:
    """Return the rows most like a row or a record, with reasons."""
    given = body.model_dump()
    check_verb(given, service.limits)
    if isinstance(body.query, list):
        check_at_most("query", len(body.query), service.limits.queries)
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    check_at_most("among", body.among or 0, 2 * service.limits.k)
    view = await _view(service, collection, body.at_least)
    if body.measure is not None:
        read_measure(body.measure)  # an unknown name is refused now, not by the job
        view = await run_in_threadpool(service.analyses.trial, collection, body.measure)
    return await http.in_turn(service, lambda: http.answer(find(view, given)))


async def _view(service: Service, collection: Collection, at_least: int | None = None) -> View:
    """Return the view to be searched; a request that waits for it does not block the others."""
    if collection.loaded and at_least is None:  # the usual case, without a thread
        return collection.view
    return await run_in_threadpool(collection.at_least, at_least, service.limits.wait)


@router.post("/sessions", status_code=201, responses=documented("session", 201))
async def start_session(service: http.Serving, collection: http.Found, body: SessionIn) -> Response:
    """Start a search that will be refined by feedback; it expires after a month without use."""
    given = body.model_dump()
    check_verb(given, service.limits)
    view, start = await _view(service, collection), service.sessions.start
    made = await http.in_turn(service, lambda: start(view, given))
    return http.created(made, collection.name, "sessions", made["id"])


@router.get("/sessions/{s}", responses=documented("session"))
def get_session(service: http.Serving, collection: http.Found, s: str) -> Response:
    """Return a session with its rounds and its answer."""
    return http.answer(service.sessions.get(collection.view, s))


@router.post("/sessions/{s}/marks", responses=documented("session"))
async def mark(service: http.Serving, collection: http.Found, s: str, body: MarksIn) -> Response:
    """Mark rows as liked or not: a round of its own."""
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    view, change = await _view(service, collection), service.sessions.mark
    marks = (body.like, body.unlike)
    return await http.in_turn(service, lambda: http.answer(change(view, s, *marks)))


@router.post("/sessions/{s}/undo", responses=documented("session"))
def undo(service: http.Serving, collection: http.Found, s: str) -> Response:
    """Take the last round back."""
    return http.answer(service.sessions.undo(collection.view, s))


@router.delete("/sessions/{s}", status_code=204)
def end_session(service: http.Serving, collection: http.Found, s: str) -> Response:
    """Forget a session."""
    service.sessions.delete(collection.view, s)
    return Response(status_code=204)


verb_routes = http.group("/api/collections/{c}/ask", "verbs")
QUICK_VERBS = ("inspect", "search")  # the others are jobs, which a request waits for


def ask(
    verb: str, collection: Collection, given: dict[str, Any], others: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Ask a verb about a collection; return its answer as JSON holds it."""
    view, others = collection.view, others or {}
    source = CollectionSource(view, collection.name)
    with collected() as notes:
        result = get_verb(verb)(source, **given | others).to_dict()
    for one in (source, *others.values()):
        notes += getattr(one, "notes", [])
    about = {"generation": view.generation, "notes": notes}
    shown: dict[str, Any] = _without(result, view.hidden)
    # What the verb answers comes first: the surfaces have the same fields.
    return shown | {name: value for name, value in about.items() if name not in shown}


def _without(value: Any, hidden: str | None) -> Any:
    """Return an answer without the hidden column of ids."""
    if isinstance(value, dict):
        return {name: _without(inner, hidden) for name, inner in value.items() if name != hidden}
    return [_without(inner, hidden) for inner in value] if isinstance(value, list) else value


def _add(verb: str) -> None:
    """Add the route of a verb."""
    model = request_model(get_verb(verb))
    text = (inspect.getdoc(get_verb(verb)) or "").partition("\n")[0]

    async def route(
        service: http.Serving, collection: http.Found, body: BaseModel, request: Request
    ) -> Response:
        given = body.model_dump()
        view = await _view(service, collection)
        check_verb(given, service.limits, min(len(view.index), MAX_ANALYZED_ROWS))
        if verb in QUICK_VERBS:
            return await http.in_turn(service, lambda: http.answer(ask(verb, collection, given)))

        # Two clients with the same question about the same rows share one job.
        rows = [(collection.key, view.generation)]

        # A text is never a path: a request must not read files of the server.
        def open_other(name: str) -> CollectionSource:
            other = service.catalog.get(name)
            seen = other.view
            rows.append((other.key, seen.generation))
            return CollectionSource(seen, name)

        others = await run_in_threadpool(other_tables, verb, given, open_other)
        key = (*rows, json.dumps(given, sort_keys=True))

        def work(job: Job) -> dict[str, Any]:
            return ask(verb, collection, given, others)

        job = service.jobs.start(f"ask {verb}", collection.name, key, work)
        # Short jobs are answered by the request itself.
        await run_in_threadpool(job.ended.wait, service.limits.wait)
        if request.scope["lookalike_limit"].gone:  # no client has the id of the job
            service.jobs.leave(job)
        if job.problem is not None:
            raise refused_again(job.problem)
        return http.answer(job.result) if job.state == "done" else http.started(job)

    # FastAPI reads the annotation, which is a string in this module.
    route.__annotations__["body"] = model
    name = f"{verb.capitalize()}Answer"
    described = documented(name)
    responses = described if verb in QUICK_VERBS else described | http.LATER
    verb_routes.post(f"/{verb}", name=f"ask_{verb}", description=text, responses=responses)(route)


for _verb in VERBS:
    _add(_verb)
