"""What the page opens on, in one answer: asked for while its code is still being loaded."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from lookalike.errors import LookalikeError
from lookalike.service.answers import first_answer, has_first
from lookalike.service.api.collections import BRIEF
from lookalike.service.api.search import ANSWER
from lookalike.service.api.shared import PROBLEMS, Serving, answer, documented
from lookalike.service.api.strict import StrictRoute
from lookalike.service.cells import to_json
from lookalike.service.service import Service

router = APIRouter(prefix="/api", tags=["collections"], route_class=StrictRoute, responses=PROBLEMS)
OPENING = {"collections": [BRIEF], "collection": BRIEF, "answer": ANSWER}


@router.get("/opening", responses=documented(OPENING, "Collections, one of them, its first hits."))
def opening(
    service: Serving,
    collection: Annotated[str | None, Query(max_length=200)] = None,
    answered: Annotated[bool, Query(description="Whether to search, too.")] = True,
) -> Response:
    """List the collections, describe one or the first, and search from the row it opens on.

    Three requests in one; a collection of this name that is not there is null.
    """
    return answer(_opening(service, collection, answered))


def at_hand(service: Service) -> tuple[str, bytes] | None:
    """Return what the page opens on as JSON, with the collection that it is about.

    None where it is not at hand yet, or not for everybody: then the page comes alone, and asks.
    """
    if service.access.tokens or not service.store_answers:
        return None
    try:
        heads = service.catalog.heads()
        if not heads or not has_first(service.catalog.get(heads[0].name)):
            return None
        return heads[0].name, to_json(_opening(service, heads[0].name, True))
    except LookalikeError:
        return None  # the page says why, when it asks


def _opening(service: Service, collection: str | None, answered: bool) -> dict[str, Any]:
    briefs = service.briefs()
    names = [brief["name"] for brief in briefs]
    name = collection if collection is not None else next(iter(names), None)
    found: dict[str, Any] = {"collections": briefs, "collection": None, "answer": None}
    if name is not None and name in names:
        one = service.catalog.get(name)
        found["collection"] = service.document(one)
        if answered:
            try:
                found["answer"] = first_answer(name, one.view)
            except LookalikeError:
                pass  # whoever asks for it alone is told why
    return found
