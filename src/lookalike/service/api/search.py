"""Searches, searches that are refined by feedback, and the verbs.

The request of a verb is checked against its signature.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.service.analysis import CollectionSource
from lookalike.service.answers import search as find
from lookalike.service.api.models import MarksIn, SearchIn, SessionIn
from lookalike.service.api.shared import (
    LATER,
    Found,
    Serving,
    answer,
    check_k,
    documented,
    group,
    in_turn,
    started,
)
from lookalike.service.collection import Collection, View
from lookalike.service.jobs import Job
from lookalike.service.limits import check_at_most, check_filter, check_verb
from lookalike.service.problems import collected, refused_again
from lookalike.service.service import Service
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.annotations import spelling_of
from lookalike.verbs.source import TableSource

router = group("/api/collections/{c}", "search")


@router.post("/search", responses=documented("search", "What was found."))
async def search(service: Serving, found: Found, body: SearchIn) -> Response:
    """Return the rows most like a row or a record, with reasons."""
    check_k(service, body.k)
    if isinstance(body.query, list):
        check_at_most("query", len(body.query), service.limits.queries)
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    check_filter(body.filter, service.limits)
    view = await _view(service, found, body.at_least)
    return await in_turn(service, lambda: answer(find(view, body.model_dump())))


async def _view(service: Service, found: Collection, at_least: int | None = None) -> View:
    """Return the view to be searched; a request that waits for it does not block the others."""
    if found.loaded and at_least is None:  # the usual case, without a thread
        return found.view
    return await run_in_threadpool(found.at_least, at_least, service.limits.wait)


@router.post("/sessions", status_code=201, responses=documented("session", "The new session.", 201))
async def start_session(service: Serving, found: Found, body: SessionIn) -> Response:
    """Start a search that will be refined by feedback; it expires after a month without use."""
    check_k(service, body.k)
    check_filter(body.filter, service.limits)
    view, start = await _view(service, found), service.sessions.start
    return await in_turn(service, lambda: answer(start(found, view, body.model_dump()), 201))


@router.get("/sessions/{s}", responses=documented("session", "The session."))
def get_session(service: Serving, found: Found, s: str) -> Response:
    """Return a session with its rounds and its answer."""
    return answer(service.sessions.get(found, found.view, s))


@router.post("/sessions/{s}/marks", responses=documented("session", "The session after the marks."))
async def mark(service: Serving, found: Found, s: str, body: MarksIn) -> Response:
    """Mark rows as liked or not: a round of its own."""
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    view, change = await _view(service, found), service.sessions.mark
    return await in_turn(service, lambda: answer(change(found, view, s, body.like, body.unlike)))


@router.post("/sessions/{s}/undo", responses=documented("session", "The session before the round."))
def undo(service: Serving, found: Found, s: str) -> Response:
    """Take the last round back."""
    return answer(service.sessions.undo(found, found.view, s))


@router.delete("/sessions/{s}", status_code=204)
def end_session(service: Serving, found: Found, s: str) -> Response:
    """Forget a session."""
    service.sessions.delete(found, s)
    return Response(status_code=204)


verb_routes = group("/api/collections/{c}/ask", "verbs")
QUICK_VERBS = ("inspect", "search")  # the others are jobs, which a request waits for


def request_model(verb: Callable[..., Any]) -> type[BaseModel]:
    """Return what a request for a verb may hold: its parameters, with their types and defaults.

    Parameters
    ----------
    verb : function of ``lookalike.verbs``

    Examples
    --------
    >>> from lookalike.verbs import get_verb
    >>> request_model(get_verb("outliers"))().n
    10
    """
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        spelling = spelling_of(parameter)
        if not spelling.in_request:
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        hint = (
            Annotated[spelling.json, Field(ge=spelling.least)] if spelling.least else spelling.json
        )
        fields[name] = (hint, default)
    # Strict: true is not 1, and "5" is not 5.
    config = ConfigDict(extra="forbid", strict=True)
    title = f"{verb.__name__.capitalize()}Ask"
    return create_model(title, __config__=config, __doc__=None, **fields)


def other_tables(verb: str, service: Service, given: dict[str, Any]) -> dict[str, Any]:
    """Return the other tables of a question: collections that it names, or records.

    A text is never a path: a request must not read files of the server.
    """
    parameters = inspect.signature(get_verb(verb)).parameters.items()
    named = [name for name, one in parameters if spelling_of(one).table and given[name] is not None]
    get = service.catalog.get
    return {
        name: CollectionSource(get(other).view, other)
        if isinstance(other := given[name], str)
        else TableSource(other, name)
        for name in named
    }


def ask(
    verb: str, collection: Collection, given: dict[str, Any], others: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Ask a verb about a collection; return its answer as JSON holds it."""
    view, given = collection.view, given | (others or {})
    with collected() as notes:
        found = get_verb(verb)(CollectionSource(view, collection.name), **given).to_dict()
    about = {"generation": view.generation, "notes": notes}
    shown: dict[str, Any] = _without(found, view.hidden)
    # What the verb answers comes first: the surfaces have the same fields.
    return shown | {name: value for name, value in about.items() if name not in shown}


def _without(value: Any, hidden: str | None) -> Any:
    """Return an answer without the hidden column of ids."""
    if isinstance(value, dict):
        return {name: _without(one, hidden) for name, one in value.items() if name != hidden}
    return [_without(one, hidden) for one in value] if isinstance(value, list) else value


def _add(verb: str) -> None:
    """Add the route of a verb."""
    model = request_model(get_verb(verb))
    text = (inspect.getdoc(get_verb(verb)) or "").partition("\n")[0]

    async def route(service: Serving, found: Found, body: BaseModel, request: Request) -> Response:
        given = body.model_dump()
        check_verb(given, service.limits)
        if verb in QUICK_VERBS:
            return await in_turn(service, lambda: answer(ask(verb, found, given)))
        others = await run_in_threadpool(other_tables, verb, service, given)
        # Two clients with the same question about the same rows share one job.
        views = [one.view.generation for one in others.values() if hasattr(one, "view")]
        key = (found.key, found.view.generation, *views, json.dumps(given, sort_keys=True))

        def work(job: Job) -> dict[str, Any]:
            return ask(verb, found, given, others)

        job = service.jobs.start(f"ask {verb}", found.name, key, work)
        # Short jobs are answered by the request itself.
        await run_in_threadpool(job.ended.wait, service.limits.wait)
        if request.scope["lookalike_limit"].gone:  # no client has the id of the job
            service.jobs.leave(job)
        if job.problem is not None:
            raise refused_again(job.problem)
        return answer(job.result) if job.state == "done" else started(job)

    # FastAPI reads the annotation, which is a string in this module.
    route.__annotations__["body"] = model
    described = documented({}, f"What ``la.{verb}(...).to_dict()`` returns.")
    responses = described if verb in QUICK_VERBS else described | LATER
    verb_routes.post(f"/{verb}", name=f"ask_{verb}", description=text, responses=responses)(route)


for _verb in VERBS:
    _add(_verb)
