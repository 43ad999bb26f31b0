"""Collections: listed, made, described, deleted."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import Response

from lookalike.service.api.models import CreateIn
from lookalike.service.api.shared import PROBLEMS, Found, Serving, answer, check_at_most, documented
from lookalike.service.api.strict import StrictRoute, read_json
from lookalike.service.catalog import name_from, settings_from
from lookalike.service.folder_collection import is_index_folder
from lookalike.service.problems import Refused, invalid
from lookalike.service.service import Service

router = APIRouter(prefix="/api", tags=["collections"], route_class=StrictRoute, responses=PROBLEMS)
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
