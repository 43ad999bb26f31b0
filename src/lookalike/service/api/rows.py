"""Rows: listed, found by text, added, replaced, deleted."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from lookalike.service.answers import plain_row
from lookalike.service.api.models import RowIn, RowsIn
from lookalike.service.api.shared import PROBLEMS, Found, Serving, answer, check_at_most, documented
from lookalike.service.api.strict import StrictRoute
from lookalike.service.cells import dumps
from lookalike.service.folder_collection import FolderCollection
from lookalike.service.view import View

router = APIRouter(
    prefix="/api/collections/{c}/rows", tags=["rows"], route_class=StrictRoute, responses=PROBLEMS
)
ROW = {"id": 0, "label": "cat", "row": {"weight": 4, "animal": "cat"}}
FOUND = 50


def _shown(view: View, id: Any, record: dict[str, Any]) -> dict[str, Any]:
    row = plain_row(view, record)
    return {"id": id, "label": view.label(id, row), "row": row}


@router.get("", responses=documented({"rows": [ROW], "next": None, "generation": 1}, "Rows."))
def list_rows(
    service: Serving,
    found: Found,
    after: Annotated[str | None, Query(max_length=1_000)] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    text: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """List rows in the order in which they came, or find them by a text."""
    view = found.view
    if text is not None and text.strip():
        ids = found.texts.find(view, text, min(limit, FOUND))
        rows = [_shown(view, id, view.record(id)) for id in ids if id in view.index]
        return answer({"rows": rows, "next": None, "generation": view.generation})
    if isinstance(found, FolderCollection):
        ids = found.page(None if after is None else view.find(after), limit + 1)
        rows = [_shown(view, id, view.record(id)) for id in ids[:limit]]
        following = ids[limit - 1] if len(ids) > limit else None
        return answer({"rows": rows, "next": following, "generation": view.generation})
    behind = None if after is None else dumps(view.find(after))
    stored = service.store.page(found.key, behind, limit + 1)
    rows = []
    for row in stored[:limit]:
        id = json.loads(row.id)
        record = view.record(id) if id in view.index else json.loads(row.record)
        rows.append(_shown(view, id, record))
    following = rows[-1]["id"] if len(stored) > limit else None
    return answer({"rows": rows, "next": following, "generation": view.generation})


@router.post(
    "",
    status_code=201,
    responses=documented({"ids": [3], "generation": 2}, "The ids of the new rows.", 201),
)
def add_rows(service: Serving, found: Found, body: RowsIn) -> Response:
    """Add rows, all or none; answered when they are on the disk."""
    check_at_most("rows", len(body.rows), service.limits.batch)
    check_at_most("rows of the collection", len(found.view.index) + len(body.rows),
                  service.limits.rows)  # fmt: skip
    ids, generation = found.add(body.rows)
    return answer({"ids": ids, "generation": generation}, 201)


@router.get("/{id:path}", responses=documented(ROW | {"generation": 1}, "The row."))
def get_row(found: Found, id: str) -> Response:
    """Return one row."""
    view = found.view
    key = view.find(id)
    return answer(_shown(view, key, view.record(key)) | {"generation": view.generation})


@router.put("/{id:path}", responses=documented(ROW | {"generation": 2}, "The row."))
def put_row(found: Found, id: str, body: RowIn) -> Response:
    """Put another row in the place of one; answered when it is on the disk."""
    key = found.view.find(id)
    generation = found.replace(key, body.row)
    view = found.view
    return answer(_shown(view, key, view.record(key)) | {"generation": generation})


@router.delete("/{id:path}", responses=documented({"id": 0, "generation": 2}, "It is gone."))
def delete_row(found: Found, id: str) -> Response:
    """Delete a row; answered when this is on the disk."""
    key = found.view.find(id)
    return answer({"id": key, "generation": found.remove([key])})
