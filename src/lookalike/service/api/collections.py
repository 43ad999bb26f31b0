"""Collections and their rows: listed, made, described, changed, deleted; what the page opens on."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import Response

from lookalike.errors import LookalikeError
from lookalike.service.answers import first_answer, has_first
from lookalike.service.api.models import CreateIn, RowIn, RowsIn
from lookalike.service.api.search import ANSWER
from lookalike.service.api.shared import (
    Found,
    Serving,
    answer,
    check_at_most,
    documented,
    group,
    read_json,
)
from lookalike.service.catalog import name_from, settings_from
from lookalike.service.cells import dumps, to_json
from lookalike.service.collection import FolderCollection, is_index_folder
from lookalike.service.problems import Refused, invalid
from lookalike.service.service import Service

router = group("/api", "collections")
BRIEF = {
    "name": "pets",
    "title": "pets",
    "rows": 3,
    "columns": 2,
    "measure": "Gower",
    "generation": 1,
    "created": "2026-01-01T00:00:00+00:00",
}
CHUNK = 2**20


@router.get("/collections", responses=documented({"collections": [BRIEF]}, "All collections."))
def list_collections(service: Serving) -> Response:
    """List the collections of this server."""
    return answer({"collections": service.briefs()})


BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": CreateIn.model_json_schema()},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "options": {"type": "string", "description": "The other body, as text."},
                    },
                }
            },
        },
    }
}


@router.post(
    "/collections",
    status_code=201,
    responses=documented(BRIEF, "The new collection.", 201),
    openapi_extra=BODY,
)
async def create_collection(request: Request, service: Serving) -> Response:
    """Make a collection from an uploaded table, from records, or from a file below the folder."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _from_upload(request, service)
    if kind != "application/json":
        hint = "Send application/json or multipart/form-data"
        raise Refused(415, "body", "JSON or a form", f"{kind[:80]!r}", hint)
    options = _options(await request.json())
    return await run_in_threadpool(_create, service, options, None, None)


async def _from_upload(request: Request, service: Service) -> Response:
    async with request.form(max_files=1, max_fields=4, max_part_size=service.limits.body) as form:
        file, text = form.get("file"), form.get("options")
        if not isinstance(file, UploadFile):
            raise Refused(422, "form", "a file", "none", "Send the table as the field 'file'")
        raw = text.encode() if isinstance(text, str) and text.strip() else b"{}"
        options = _options(read_json(raw, service.limits))
        with tempfile.TemporaryDirectory() as folder:
            # The name only tells the format; the file is ours.
            ending = "".join(Path(file.filename or "table.csv").suffixes[-2:])[-20:]
            ending = "".join(letter for letter in ending if letter.isalnum() or letter == ".")
            path = Path(folder) / f"upload{ending or '.csv'}"
            digest, size = hashlib.sha256(), 0
            with path.open("wb") as out:
                while part := await file.read(CHUNK):
                    size += len(part)
                    check_at_most("upload, in bytes", size, service.limits.upload)
                    digest.update(part)
                    await asyncio.to_thread(out.write, part)
            name = os.path.basename(file.filename or "table")
            source = {"file": name[:200], "hash": digest.hexdigest()}
            return await run_in_threadpool(_create, service, options, path, source)


def _options(given: Any) -> CreateIn:
    try:
        return CreateIn.model_validate(given)
    except ValidationError as error:
        raise invalid(error.errors()) from error


def _create(
    service: Service, options: CreateIn, upload: Path | None, source: dict[str, str] | None
) -> Response:
    given = [upload is not None, options.path is not None, options.rows is not None]
    if sum(given) != 1:
        needed, hint = "one of file, path and rows", "Send one of them"
        raise Refused(422, "collection", needed, f"{sum(given)} of them", hint)
    rows: Any = upload
    title = (source or {}).get("file", "table")
    if options.path is not None:
        rows = service.file_under_folder(options.path)
        title = rows.name
        source = {"file": rows.name}
    elif options.rows is not None:
        check_at_most("rows", len(options.rows), service.limits.rows)
        rows, title = options.rows, options.name or "table"
    name = options.name if options.name is not None else name_from(title)
    settings = settings_from(options.model_dump(), name, source or {})
    if options.path is not None and is_index_folder(rows):
        collection = service.catalog.open_folder(name, rows, settings)
        return answer(service.document(collection), 201)
    collection = service.catalog.create(name, rows, settings, service.limits)
    return answer(service.document(collection), 201)


@router.get("/collections/{c}", responses=documented(BRIEF, "The collection."))
def get_collection(service: Serving, found: Found) -> Response:
    """Describe a collection: columns with kinds, reasons and summaries, measure, drift."""
    return answer(service.document(found))


@router.delete("/collections/{c}", status_code=204)
def delete_collection(service: Serving, c: str) -> Response:
    """Delete a collection with all its rows."""
    collection = service.catalog.get(c)
    service.catalog.delete(c)
    service.analyses.forget(collection)
    return Response(status_code=204)


row_routes = group("/api/collections/{c}/rows", "rows")
ROW = {"id": 0, "label": "cat", "row": {"weight": 4, "animal": "cat"}}
FOUND = 50


@row_routes.get("", responses=documented({"rows": [ROW], "next": None, "generation": 1}, "Rows."))
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
        rows = [view.named_row(id, view.record(id)) for id in ids if id in view.index]
        return answer({"rows": rows, "next": None, "generation": view.generation})
    if isinstance(found, FolderCollection):
        ids = found.page(None if after is None else view.find(after), limit + 1)
        rows = [view.named_row(id, view.record(id)) for id in ids[:limit]]
        following = ids[limit - 1] if len(ids) > limit else None
        return answer({"rows": rows, "next": following, "generation": view.generation})
    behind = None if after is None else dumps(view.find(after))
    stored = service.store.page(found.key, behind, limit + 1)
    rows = []
    for row in stored[:limit]:
        id = json.loads(row.id)
        record = view.record(id) if id in view.index else json.loads(row.record)
        rows.append(view.named_row(id, record))
    following = rows[-1]["id"] if len(stored) > limit else None
    return answer({"rows": rows, "next": following, "generation": view.generation})


@row_routes.post(
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


@row_routes.get("/{id:path}", responses=documented(ROW | {"generation": 1}, "The row."))
def get_row(found: Found, id: str) -> Response:
    """Return one row."""
    view = found.view
    key = view.find(id)
    return answer(view.named_row(key, view.record(key)) | {"generation": view.generation})


@row_routes.put("/{id:path}", responses=documented(ROW | {"generation": 2}, "The row."))
def put_row(found: Found, id: str, body: RowIn) -> Response:
    """Put another row in the place of one; answered when it is on the disk."""
    key = found.view.find(id)
    generation = found.replace(key, body.row)
    view = found.view
    return answer(view.named_row(key, view.record(key)) | {"generation": generation})


@row_routes.delete("/{id:path}", responses=documented({"id": 0, "generation": 2}, "It is gone."))
def delete_row(found: Found, id: str) -> Response:
    """Delete a row; answered when this is on the disk."""
    key = found.view.find(id)
    return answer({"id": key, "generation": found.remove([key])})


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
