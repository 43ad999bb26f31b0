"""Searches, and searches that are refined by feedback."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.service.answers import search as find
from lookalike.service.api.models import MarksIn, SearchIn, SessionIn
from lookalike.service.api.shared import (
    PROBLEMS,
    Found,
    Serving,
    answer,
    check_at_most,
    check_k,
    documented,
    in_turn,
)
from lookalike.service.api.strict import StrictRoute
from lookalike.service.collection import Collection
from lookalike.service.service import Service
from lookalike.service.view import View

router = APIRouter(
    prefix="/api/collections/{c}", tags=["search"], route_class=StrictRoute, responses=PROBLEMS
)
REASON = {
    "column": "animal",
    "kind": "category",
    "share": 0.5,
    "query": "cat",
    "found": "cat",
    "text": "same animal: cat",
}
ANSWER = {
    "query": {"id": 0, "label": "cat", "row": {"weight": 4, "animal": "cat"}},
    "hits": [
        {
            "rank": 1,
            "id": 2,
            "label": "cat",
            "score": 0.02,
            "similarity": 0.98,
            "distance": 0.02,
            "row": {"weight": 5, "animal": "cat"},
            "reasons": {"for": [REASON], "against": []},
        }
    ],
    "matched": 3,
    "note": None,
    "generation": 1,
    "space": "plain",
    "took_ms": 3.1,
}
SESSION = {
    "id": "9f86d081884c7d65",
    "round": 1,
    "history": [{"round": 1, "liked": [2], "unliked": []}],
    "liked": [2],
    "unliked": [],
    "asked": {"query": {"id": 0}, "k": 5},
    "answer": ANSWER,
}


@router.post("/search", responses=documented(ANSWER, "What was found."))
async def search(service: Serving, found: Found, body: SearchIn) -> Response:
    """Return the rows most like a row or a record, with reasons."""
    check_k(service, body.k)
    if isinstance(body.query, list):
        check_at_most("query", len(body.query), service.limits.queries)
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    view = await _view(service, found, body.at_least)
    return await in_turn(service, lambda: answer(find(view, body.model_dump())))


async def _view(service: Service, found: Collection, at_least: int | None = None) -> View:
    """Return the view to be searched; who waits for it does not keep others waiting."""
    if found.loaded and at_least is None:
        return found.view
    return await run_in_threadpool(found.at_least, at_least, service.limits.wait)


@router.post("/sessions", status_code=201, responses=documented(SESSION, "The new session.", 201))
async def start_session(service: Serving, found: Found, body: SessionIn) -> Response:
    """Start a search that will be refined by feedback."""
    check_k(service, body.k)
    view, start = await _view(service, found), service.sessions.start
    return await in_turn(service, lambda: answer(start(found, view, body.model_dump()), 201))


@router.get("/sessions/{s}", responses=documented(SESSION, "The session."))
def get_session(service: Serving, found: Found, s: str) -> Response:
    """Return a session with its rounds and its answer."""
    return answer(service.sessions.get(found, found.view, s))


@router.post("/sessions/{s}/marks", responses=documented(SESSION, "The session after the marks."))
async def mark(service: Serving, found: Found, s: str, body: MarksIn) -> Response:
    """Mark rows as right and others as wrong: a round of its own."""
    check_at_most("like and unlike", len(body.like) + len(body.unlike), service.limits.marks)
    view, change = await _view(service, found), service.sessions.mark
    return await in_turn(service, lambda: answer(change(found, view, s, body.like, body.unlike)))


@router.post("/sessions/{s}/undo", responses=documented(SESSION, "The session before the round."))
def undo(service: Serving, found: Found, s: str) -> Response:
    """Take the last round back."""
    return answer(service.sessions.undo(found, found.view, s))


@router.delete("/sessions/{s}", status_code=204)
def end_session(service: Serving, found: Found, s: str) -> Response:
    """Forget a session."""
    service.sessions.delete(found, s)
    return Response(status_code=204)
