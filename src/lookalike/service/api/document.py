"""The OpenAPI document of the service, and the page that shows it.

The shapes of answers are JSON Schema, in ``openapi.json``: each is named by one of its examples,
and checked by the tests against what a server sends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from lookalike.service.api.models import EXAMPLES, SCHEMAS
from lookalike.show.html.markup import escape

PREFIX, VERSION = "/api/", "/api/v1/"
STATUSES = (401, 403, 404, 408, 409, 413, 415, 422, 429, 503, 507)
# Of every request; those of FastAPI for 422 have another shape.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"$ref": f"#/components/responses/Problem{status}"} for status in STATUSES
}
JSON = "application/json"
TEXT = {"schema": {"type": "string"}}
BINARY = {"schema": {"type": "string", "format": "binary"}}
PUBLIC = ("/healthz", "/readyz")
ABOUT = (
    "All requests of the page, and more. /api/v1 only gains requests, optional fields of requests "
    "and fields of answers; /api is the newest version. Every error is a problem document."
)


def documented(name: str, status: int = 200) -> dict[int | str, Any]:
    """Describe an answer, for the OpenAPI document.

    Parameters
    ----------
    name : str
        Of its example; its shape, which says what it is, has the same name with capitals.
    status : int
    """
    shape = _shape(name)
    # The example by its name: FastAPI would leave out its nulls.
    content = {JSON: {"schema": shape, "example": name}}
    about = SCHEMAS[shape["$ref"].rpartition("/")[2]]["description"]
    said: dict[str, Any] = {"description": about, "content": content}
    if status in (201, 202):
        where = "the new one" if status == 201 else "the job"
        said["headers"] = {"Location": {"description": f"The path of {where}.", **TEXT}}
    return {status: said}


def raw(about: str, kind: str, schema: Mapping[str, Any] = TEXT) -> dict[int | str, Any]:
    """Describe an answer that is not JSON."""
    return {200: {"description": about, "content": {kind: schema}}}


def _shape(name: str) -> dict[str, Any]:
    """Return a reference to the shape of an answer.

    Examples
    --------
    >>> _shape("shown_by"), _shape("not_ready")
    ({'$ref': '#/components/schemas/ShownBy'}, {'$ref': '#/components/schemas/Ready'})
    """
    named = "".join(word[0].upper() + word[1:] for word in name.removeprefix("not_").split("_"))
    return {"$ref": f"#/components/schemas/{named}"}


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application, made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes)
        made["info"] |= {"summary": app.summary, "description": ABOUT}
        made["paths"] = {
            path.replace(PREFIX, VERSION): each for path, each in made["paths"].items()
        }
        parts = made["components"]
        for name in parts["schemas"].keys() & EXAMPLES.keys():
            parts["schemas"][name]["examples"] = EXAMPLES[name]
        parts["schemas"] |= SCHEMAS
        content = {"application/problem+json": {"schema": _shape("problem")}}
        parts["responses"] = {
            f"Problem{status}": {"description": HTTPStatus(status).phrase, "content": content}
            for status in STATUSES
        }
        bearer = {"type": "http", "scheme": "bearer", "description": "lookalike token create."}
        parts["securitySchemes"] = {"token": bearer}
        made["security"] = [{}, {"token": []}]  # on loopback no token is needed
        for path, _, operation in _operations(made):
            if path in PUBLIC:
                operation["security"] = []
            for answer in operation["responses"].values():
                if "example" in (content := answer.get("content", {}).get(JSON, {})):
                    content["example"] = EXAMPLES[content["example"]]
        app.openapi_schema = made
    return app.openapi_schema


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def index_page(document: dict[str, Any]) -> str:
    """Return a page that lists all requests, without scripts and other hosts."""
    parts = []
    for path, method, one in _operations(document):
        body = one.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema", {})
        body = document["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], body)
        shown = [("Parameters", [each["name"] for each in one.get("parameters", ())])]
        shown += [("Fields", list(body.get("properties", ())))]
        shown += [("Body", each) for each in body.get("examples", ())]
        for status, answer in one["responses"].items():
            shown += [(status, answer.get("content", {}).get(JSON, {}).get("example"))]
        head = f"<code>{method} {escape(path)}</code> {escape(one['description'])}"
        texts = ((title, json.dumps(each, ensure_ascii=False)) for title, each in shown if each)
        listed = "".join(f"<h3>{title}</h3><pre>{escape(text)}</pre>" for title, text in texts)
        parts.append(f"<details><summary>{head}</summary>{listed}</details>\n")
    styles = "".join(
        f'<link rel="stylesheet" href="/web/style/{name}.css">\n'
        for name in ("tokens", "components")
    )
    head = '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>lookalike API</title>\n'
    text = f"<h1>lookalike {escape(document['info']['version'])}: HTTP API</h1><p>{ABOUT}</p>"
    more = '<p><a href="/openapi.json">openapi.json</a> has all types.</p>\n'
    return f"{head}{styles}<body>{text}{more}{''.join(parts)}</body></html>"
