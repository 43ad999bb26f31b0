"""Collections, rows and measures: listed, made, changed, deleted; what the page opens on."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import Header, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import Response

from lookalike.errors import LookalikeError
from lookalike.service import answers, cells, fitting
from lookalike.service.api import shared as http
from lookalike.service.api.document import documented
from lookalike.service.api.models import EXAMPLES, ColumnIn, CreateIn, MeasureIn, RowIn, RowsIn
from lookalike.service.limits import check_at_most, check_options
from lookalike.service.problems import Refused, invalid
from lookalike.service.service import Service, list_examples, load_example, name_from, settings_from
from lookalike.service.store.store import NotFound, SentOnce
from lookalike.verbs.measures import read_measure

router = http.group("/api", "collections")
Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="A text of the client's choice; a request that is sent again with it within "
        "a day is answered as before, and changes nothing.",
    ),
]


@router.get("/collections", responses=documented("collections"))
def list_collections(service: http.Serving) -> Response:
    """List the collections of this server."""
    return http.answer({"collections": service.briefs()})


@router.get("/examples", responses=documented("examples"))
def examples() -> Response:
    """List the tables that a collection can be made from without a file."""
    return http.answer({"examples": list_examples()})


MADE_FROM = CreateIn.model_json_schema() | {"examples": EXAMPLES["CreateIn"]}
BODY = {
    "application/json": {"schema": MADE_FROM},
    "multipart/form-data": {"schema": {"$ref": "#/components/schemas/CreateForm"}},
}


@router.post(
    "/collections",
    status_code=201,
    responses=documented("collection", 201),
    openapi_extra={"requestBody": {"required": True, "content": BODY}},
)
async def create_collection(request: Request, service: http.Serving, key: Once = None) -> Response:
    """Make a collection from an uploaded table, from records, or from a file below the folder."""
    # Two types of body in one route: FastAPI declares only one, so that it is read by hand.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _from_upload(request, service, key)
    if kind != "application/json":
        hint = "Send application/json or multipart/form-data"
        raise Refused(415, "body", "JSON or a form", f"{kind[:80]!r}", hint)
    options = _options(await request.json())
    return await run_in_threadpool(_create, service, options, key)


async def _from_upload(request: Request, service: Service, key: str | None) -> Response:
    async with request.form(max_files=1, max_fields=4, max_part_size=service.limits.body) as form:
        file, text = form.get("file"), form.get("options")
        if not isinstance(file, UploadFile):
            raise Refused(422, "form", "a file", "none", "Send the table as the field 'file'")
        raw = text.encode() if isinstance(text, str) and text.strip() else b"{}"
        options = _options(http.read_json(raw, service.limits))
        # Counted while it was received: what a client says about the size is not believed.
        check_at_most("upload, in bytes", file.size or 0, service.limits.upload)
        return await run_in_threadpool(_from_file, service, options, key, file)


def _from_file(service: Service, options: CreateIn, key: str | None, file: UploadFile) -> Response:
    name = os.path.basename(file.filename or "table")
    # The name is untrusted: only its ending is used, which tells the format.
    ending = "".join(Path(file.filename or "table.csv").suffixes[-2:])[-20:]
    ending = "".join(letter for letter in ending if letter.isalnum() or letter == ".")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{ending or '.csv'}"
        with path.open("w+b") as copy:
            shutil.copyfileobj(file.file, copy)
            copy.seek(0)
            digest = hashlib.file_digest(copy, "sha256").hexdigest()
        return _create(service, options, key, path, file=name[:200], hash=digest)


def _options(given: Any) -> CreateIn:
    try:
        return CreateIn.model_validate(given)
    except ValidationError as error:
        raise invalid(error.errors()) from error


def _create(
    service: Service, options: CreateIn, key: str | None, upload: Path | None = None, **source: str
) -> Response:
    given = sum(one is not None for one in (upload, options.path, options.rows, options.example))
    if given != 1:
        needed, hint = "one of file, path, rows and example", "Send one of them"
        raise Refused(422, "collection", needed, f"{given} of them", hint)
    check_options(options.measure)
    rows: Any = upload
    title = source.get("file", "table")
    if options.path is not None:
        rows = service.file_under_folder(options.path)
        title, source = rows.name, {"file": rows.name}
    elif options.rows is not None:
        check_at_most("rows", len(options.rows), service.limits.rows)
        rows, title = options.rows, options.name or "table"
    name = options.name if options.name is not None else name_from(options.example or title)
    shown = name
    if options.example is not None:
        shown, rows = load_example(options.example)
    if key is not None:
        source["request"] = ":".join(SentOnce.of(key, options.model_dump(), source))
        made = service.catalog.source_of(name) or {}
        if made.get("request") == source["request"]:
            return http.created(service.document(service.catalog.get(name)), name)
    settings = settings_from(options.model_dump(), shown, source)
    collection = service.catalog.create(name, rows, settings, service.limits)
    return http.created(service.document(collection), collection.name)


@router.get("/collections/{c}", responses=documented("collection"))
def get_collection(service: http.Serving, collection: http.Found) -> Response:
    """Describe a collection: columns with kinds, reasons and summaries, measure, drift."""
    return http.answer(service.document(collection))


@router.delete("/collections/{c}", status_code=204)
def delete_collection(service: http.Serving, c: str) -> Response:
    """Delete a collection with all its rows."""
    collection = service.catalog.get(c)
    service.catalog.delete(c)
    service.analyses.forget(collection)
    return Response(status_code=204)


row_routes = http.group("/api/collections/{c}/rows", "rows")
MAX_TEXT_HITS = 50
After = Annotated[str | None, Query(max_length=1_000)]
Text = Annotated[str | None, Query(max_length=200)]  # of a row, or the name of a collection


@row_routes.get("", responses=documented("rows"))
def list_rows(
    collection: http.Found, after: After = None, limit: http.Limit = 50, text: Text = None
) -> Response:
    """List rows in the order in which they were added, or find them by a text."""
    view, following = collection.view, None
    if text is not None and text.strip():
        # Rows that were deleted since the texts were read are left out.
        ids = collection.texts.find(view, text, min(limit, MAX_TEXT_HITS))
        rows = [view.named_row(id, view.record(id)) for id in ids if id in view.index]
    else:
        # One more than asked for says whether there is a next page.
        page = view.page(None if after is None else view.find(after), limit + 1)
        rows = page[:limit]
        following = rows[-1]["id"] if len(page) > limit else None
    return http.answer({"rows": rows, "next": following, "generation": view.generation})


@row_routes.post("", status_code=201, responses=documented("added", 201))
def add_rows(
    service: http.Serving, collection: http.Found, body: RowsIn, key: Once = None
) -> Response:
    """Add rows, all or none; answered when they are on the disk."""
    check_at_most("rows", len(body.rows), service.limits.batch)
    after = len(collection.view.index) + len(body.rows)
    check_at_most("rows of the collection", after, service.limits.rows)
    once = None if key is None else SentOnce.of(key, body.rows)
    ids, generation = collection.add(body.rows, once)
    # Of several rows no path is that of all: it is the one of the rows.
    own = ids if len(ids) == 1 else ()
    return http.created({"ids": ids, "generation": generation}, collection.name, "rows", *own)


@row_routes.get("/{id:row_id}", responses=documented("written_row"))
def get_row(collection: http.Found, id: str) -> Response:
    """Return one row."""
    view = collection.view
    key = view.find(id)
    return http.answer(view.named_row(key, view.record(key)) | {"generation": view.generation})


WRITTEN = documented("written_row") | documented("written_row", 201)  # 201: it is new, or back


@row_routes.put("/{id:row_id}", responses=WRITTEN)
def put_row(service: http.Serving, collection: http.Found, id: str, body: RowIn) -> Response:
    """Replace a row, which keeps its id, or create it; answered when it is on the disk."""
    known = True
    try:
        key = collection.view.find(id)
    except NotFound:
        check_at_most("rows of the collection", len(collection.view.index) + 1, service.limits.rows)
        column, known = collection.view.settings.id_column, False
        own = cells.integer_of(id) if column is None else body.row.get(column)
        key = own if isinstance(own, int) and str(own) == id else id  # a path has numbers as text
        generation = collection.restore(key, body.row)
    else:
        generation = collection.replace(key, body.row)
    view = collection.view
    row = view.named_row(key, view.record(key)) | {"generation": generation}
    return http.answer(row) if known else http.created(row, collection.name, "rows", key)


@row_routes.delete("/{id:row_id}", responses=documented("deleted"))
def delete_row(collection: http.Found, id: str) -> Response:
    """Delete a row; answered when this is on the disk."""
    key = collection.view.find(id)
    return http.answer({"id": key, "generation": collection.remove([key])})


Answered = Annotated[bool, Query(description="Whether to search, too.")]


@router.get("/opening", responses=documented("opening"))
def opening(service: http.Serving, collection: Text = None, answered: Answered = True) -> Response:
    """List the collections, describe one or the first, and search from the row it opens on.

    Three requests in one; null for a collection that does not exist.
    """
    briefs = service.briefs()
    names = [brief["name"] for brief in briefs]
    name = collection if collection is not None else next(iter(names), None)
    found: dict[str, Any] = {"collections": briefs, "collection": None, "answer": None}
    if name is not None and name in names:
        opened = service.catalog.get(name)
        found["collection"] = service.document(opened)
        if answered:
            # Without an answer the page searches by itself, and then shows the error.
            with contextlib.suppress(LookalikeError):
                found["answer"] = answers.first_answer(name, opened.view)
    return http.answer(found)


@router.get("/measures", responses=documented("measures"))
def measures() -> Response:
    """List the measures that a collection can be asked for by name."""
    return http.answer({"measures": fitting.list_measures()})


@router.get("/collections/{c}/measures", responses=documented("measures_of_rows"))
def measures_for(found: http.Found) -> Response:
    """List the measures that can compare the rows of a collection; `words` says what they do."""
    return http.answer({"measures": answers.measures_of(found.view)})


@router.post("/collections/{c}/measure", status_code=202, responses=http.LATER)
def refit(service: http.Serving, found: http.Found, body: MeasureIn) -> Response:
    """Fit the measure again, or another one; the old one serves until it is ready."""
    check_options(body.measure)
    read_measure(body.measure)  # an unknown name is refused now, not by the job
    return http.started(service.analyses.refit(found, body))


@router.post("/collections/{c}/column", responses=documented("tried"))
async def try_kind(service: http.Serving, found: http.Found, body: ColumnIn) -> Response:
    """Read a column as another kind on trial: what it would be, and what could not be read."""
    return await http.in_turn(
        service, lambda: http.answer(answers.try_column(found.view, body.column, body.kind))
    )
