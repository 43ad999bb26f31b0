"""What the page opens on, in one answer: asked for while its code is still being loaded."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from lookalike.errors import LookalikeError
from lookalike.service.answers import first_answer
from lookalike.service.api.collections import BRIEF
from lookalike.service.api.search import ANSWER
from lookalike.service.api.shared import PROBLEMS, Serving, answer, documented
from lookalike.service.api.strict import StrictRoute

__all__ = ["router"]

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
    return answer(found)
