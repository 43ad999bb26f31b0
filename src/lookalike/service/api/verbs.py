"""The verbs as routes: requests are checked against the signature of the verb."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from lookalike.service.analysis.sample import take
from lookalike.service.api.shared import (
    PROBLEMS,
    Found,
    Serving,
    StrictRoute,
    answer,
    check_k,
    documented,
)
from lookalike.service.api.shared import in_turn as take_turn
from lookalike.service.api.views import LATER
from lookalike.service.collection import Collection
from lookalike.service.jobs import Job
from lookalike.service.notes import collected
from lookalike.service.problems import Refused
from lookalike.service.view import View
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.annotations import spelling_of
from lookalike.verbs.source import NamedRows, Source

router = APIRouter(
    prefix="/api/collections/{c}/ask", tags=["verbs"], route_class=StrictRoute, responses=PROBLEMS
)
QUICK = ("inspect", "search")  # answered at once; the others are jobs that a request waits for


class CollectionSource(Source):
    """The rows of a collection, as a verb takes a table.

    Parameters
    ----------
    name : str
    view : View
    """

    def __init__(self, name: str, view: View) -> None:
        super().__init__(view.index, name)
        self.view = view

    def rows(self, filter: Any = None) -> NamedRows:
        """Return the rows that meet a filter; of very many, a sample."""
        sample = take(self.view)
        return NamedRows(sample.table, sample.ids, self.name, self.view.index).meeting(filter)


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
    config = ConfigDict(extra="forbid", strict=True)
    title = f"{verb.__name__.capitalize()}Ask"
    return create_model(title, __config__=config, __doc__=None, **fields)


def ask(verb: str, collection: Collection, given: dict[str, Any]) -> dict[str, Any]:
    """Ask a verb about a collection; return its answer as JSON holds it."""
    view = collection.view
    with collected() as notes:
        found = get_verb(verb)(CollectionSource(collection.name, view), **given).to_dict()
    hidden = view.settings.names if view.settings.id_column is None else None
    about = {"generation": view.generation, "notes": notes}
    shown: dict[str, Any] = _without(found, hidden)
    return shown | {name: value for name, value in about.items() if name not in shown}


def _without(value: Any, hidden: str | None) -> Any:
    """Return an answer without the column of ids that only the service knows of."""
    if isinstance(value, dict):
        return {name: _without(one, hidden) for name, one in value.items() if name != hidden}
    return [_without(one, hidden) for one in value] if isinstance(value, list) else value


def _add(verb: str) -> None:
    """Add the route of a verb."""
    model = request_model(get_verb(verb))
    text = (inspect.getdoc(get_verb(verb)) or "").partition("\n")[0]

    async def route(service: Serving, found: Found, body: BaseModel) -> Response:
        given = body.model_dump()
        check_k(service, given.get("k") or 1)
        if verb in QUICK:
            return await take_turn(service, lambda: answer(ask(verb, found, given)))
        # Two clients that ask the same of the same rows wait for one job.
        key = (found.key, found.view.generation, json.dumps(given, sort_keys=True))

        def work(job: Job) -> dict[str, Any]:
            return ask(verb, found, given)

        job = service.jobs.start(f"ask {verb}", found.name, key, work)
        await run_in_threadpool(job.ended.wait, service.limits.wait)
        if job.problem is not None:
            four = [job.problem[part] for part in ("who", "needed", "found", "hint")]
            raise Refused(job.problem["status"], *four)
        done = job.state == "done"
        return answer(job.result) if done else answer({"job": job.to_dict()}, 202)

    route.__annotations__["body"] = model
    described = documented({}, f"What ``la.{verb}(...).to_dict()`` returns.")
    responses = described if verb in QUICK else described | LATER
    router.post(f"/{verb}", name=f"ask_{verb}", description=text, responses=responses)(route)


for _verb in VERBS:
    _add(_verb)
