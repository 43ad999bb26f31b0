"""Starting the service: its store, the files it serves, the application, and the address."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import inspect
import ipaddress
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, missing_file
from lookalike.index import Index
from lookalike.measures import Measure
from lookalike.measures.names import kebab, make_measure
from lookalike.service import jobs, monitoring, problems
from lookalike.service.api import collections, document, search, shared, views
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.safety import AccessPolicy, Safety
from lookalike.service.service import Catalog, Service, load_example, name_from, settings_from
from lookalike.service.site import Site
from lookalike.verbs.source import SAVED, is_index_folder, load_index

ROUTERS = (
    collections.router,
    collections.row_routes,
    search.router,
    search.verb_routes,
    views.router,
    views.job_routes,
    views.operations,
)


def measure_text(measure: Measure) -> str:
    """Write a measure as ``make_measure`` reads it: the store keeps it as a text.

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> measure_text(Gower(scale="rank", weights={"year": 2}))
    'gower:scale=rank,weights={"year": 2}'
    """
    name = kebab(type(measure).__name__)
    defaults = inspect.signature(type(measure)).parameters
    options = [
        f"{key}={_write(value)}"
        for key, value in measure.get_params(deep=False).items()
        if repr(value) != repr(defaults[key].default)
    ]
    text = f"{name}:{','.join(options)}" if options else name
    # Read back now: an option without a text, such as a function, must not be lost silently.
    with suppress(InvalidInput):
        if repr(make_measure(text)) == repr(measure):
            return text
    hint = Phrase("Name another one with ", Param("measure"))
    found = f"{type(measure).__name__} with options that have no name"
    raise InvalidInput("the saved index", "a measure that can be named", found, hint)


def _write(value: Any) -> str:
    if isinstance(value, Measure):
        return measure_text(value)
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except TypeError:
        return repr(value)


def create_app(service: Service) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    service : Service
    """

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            service.close()

    app = FastAPI(
        title="lookalike",
        version=__version__,
        summary="Which rows are alike, and why.",
        responses=document.PROBLEMS,
        lifespan=live,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        generate_unique_id_function=attrgetter("name"),  # names of functions, for those of clients
    )
    app.openapi = partial(document.describe_api, app)  # type: ignore[method-assign]
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    # Starlette chooses the handler of the nearest class; the last is for our own mistakes.
    for kind in (LookalikeError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, problems.handle)
    app.add_exception_handler(jobs.Started, lambda _, error: shared.started(error.job))
    app.add_middleware(Safety, access=service.access, limits=service.limits, tokens=service.tokens)
    # The outermost: it sees every answer.
    app.add_middleware(monitoring.Recorder, metrics=service.metrics)
    site = Site()

    @app.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        return site.page(request)

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return HTMLResponse(document.index_page(app.openapi()))

    @app.get("/api", include_in_schema=False)
    def start() -> Response:
        links = {"docs": "/docs", "openapi": "/openapi.json", "collections": "/api/v1/collections"}
        return shared.answer({"name": "lookalike", "version": __version__, "api": "v1", **links})

    # A coroutine: the file is in memory, and a thread would cost more than sending it.
    @app.get("/web/{path:path}", include_in_schema=False)
    async def part(request: Request, path: str) -> Response:
        return site.part(request, path)

    return app


FILMS = "films"


def serve_films(catalog: Catalog, limits: RequestLimits) -> str:
    """Make the films a collection, unless the store has them already; return its name."""
    if catalog.source_of(FILMS) is None:
        title, rows = load_example(FILMS)
        catalog.create(FILMS, rows, CollectionSettings(title), limits)
    return FILMS


def default_store(files: Sequence[str]) -> Path:
    """Return the default path of the store: beside the first file, else in the data folder.

    ``films.csv`` has ``films.lookalike.sqlite`` beside it. Without files, or where their folder
    cannot be written, it is ``lookalike/store.sqlite`` below ``XDG_DATA_HOME``
    (``~/.local/share``).
    """
    if files:
        first = Path(files[0]).absolute()
        if os.access(first.parent, os.W_OK):
            return first.parent / f"{name_from(first.name)}.lookalike.sqlite"
    name = f"{name_from(Path(files[0]).name)}.sqlite" if files else "store.sqlite"
    return data_folder() / name


def data_folder() -> Path:
    """Return the folder for data of this user, created if it does not exist."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    folder = Path(home) / "lookalike"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def make_service(
    store: str | os.PathLike[str],
    host: str,
    folder: str | None = None,
    hosts: Sequence[str] = (),
    need_token: bool = False,
) -> Service:
    """Open a store to be served on an address; one that others can reach needs tokens.

    Parameters
    ----------
    store : str or path
    host : str
    folder : str, optional
        Files below it may be made collections by their path.
    hosts : sequence of str
        Host names of the server, such as that of a proxy.
    need_token : bool
        Ask for tokens on loopback as well.
    """
    local = is_loopback(host)
    # Names of this machine: the user should not have to list them by --allow-host.
    own = () if local else (host, socket.gethostname(), socket.getfqdn())
    access = AccessPolicy((*hosts, *own), numbers=not local, tokens=need_token or not local)
    service = Service(store, folder=folder, access=access)
    if access.tokens and not service.tokens.any():  # a server that nothing could talk to
        shown = service.store.database.shown
        service.store.close()
        why = "--need-token" if need_token else f"--host {host}, which others can reach"
        hint = f"lookalike token create NAME --scope write --store {shown}"
        raise InvalidInput(why, "a token in the store", "none", hint)
    return service


def serve_file(
    service: Service, path: str, options: Mapping[str, Any], say: Callable[[str], None]
) -> str:
    """Make a file a collection, unless the store has it already; return its name.

    A file that has changed, or is to be read with other options, replaces its collection unless
    rows were written to it; rows that were added through the service are never discarded.

    Parameters
    ----------
    service : Service
    path : str
    options : kinds, missing, encoding, delimiter, id_column, label_column, measure
        Empty ones leave the collection as the store has it.
    say : callable that shows a note
    """
    file = Path(path)
    if is_index_folder(file):
        return _serve_folder(service, file, options)
    if not file.is_file():
        raise missing_file(file)
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256")
    # As text: the store compares it with the options of an earlier start.
    asked = repr({key: value for key, value in sorted(options.items()) if value})
    source = {"file": file.name, "hash": digest.hexdigest(), "options": asked}
    name = name_from(file.name)
    before = service.catalog.source_of(name)
    if before is not None:
        changed = before.get("hash") != source["hash"]
        if not changed and asked in (repr({}), before.get("options")):
            return name
        if service.store.head(name).generation > 1:  # the first generation is the file itself
            what = "has changed since it" if changed else "has other options than when it"
            say(f"{path} {what} was read; rows were written since, so the store is served as it is")
            return name
    say(f"reading {path}")
    settings = settings_from(options, file.name, source)
    rows: str | Index = path
    if file.name.lower().endswith(SAVED):
        rows = load_index(path)
        settings = _settings_of(rows, settings, options)
    # The file is trusted: it is named by the user who starts the server.
    limits = replace(service.limits, unpacked=None)
    service.catalog.create(name, rows, settings, limits, replace_old=before is not None)
    return name


def _settings_of(
    index: Index, settings: CollectionSettings, options: Mapping[str, Any]
) -> CollectionSettings:
    """Return the settings of a saved index, which has its own kinds, ids and measure."""
    for option in ("kinds", "missing", "encoding", "delimiter", "id_column"):
        if options.get(option):
            hint = "Give it when the index is built"
            raise InvalidInput(Param(option), "a table to read", "a saved index", hint)
    if options.get("measure"):
        return settings
    return replace(settings, measure=measure_text(index.measure_))


def _serve_folder(service: Service, folder: Path, options: Mapping[str, Any]) -> str:
    """Make the index in a folder of shards a collection, unless the store knows it already."""
    folder = folder.resolve()
    name = name_from(folder.name)
    before = service.catalog.source_of(name)
    if before is not None:
        if before.get("folder") == str(folder):
            return name
        service.catalog.delete(name)  # of another folder, whose rows stay in it
    settings = settings_from(options, folder.name, {"file": folder.name})
    service.catalog.create(name, folder, settings, service.limits)
    return name


def free_port(host: str, port: int) -> int:
    """Return the port; 0 finds a free one. Raises if the port is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        # As uvicorn does: the port of a server that has just stopped can be used again.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host.strip("[]"), port))
        except OSError as error:
            found, hint = str(error.strerror or error), "Choose another --port, or 0 for a free one"
            parts = (f"--host {host} --port {port}", "a free address", found, hint)
            problem = f"cannot listen here ({found.lower()})"
            raise InvalidInput(*parts, problem=problem) from error
        return int(trial.getsockname()[1])


# Between two collections of garbage. Rows and answers are trees of small objects that reference
# counts free: with the 700 of Python a quarter of the time to read a table went into collections.
YOUNG_OBJECTS = 50_000


def run(service: Service, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve until the process is interrupted.

    Parameters
    ----------
    service : Service
    host, port
    started : callable
        Called with the address once the server listens.
    """
    port = free_port(host, port)
    shown = f"[{host}]" if ":" in host else host

    def listens() -> None:
        started(f"http://{shown}:{port}/")
        gc.set_threshold(YOUNG_OBJECTS)
        service.warm_soon()

    Server(service, host, port, listens).run()


class TimedHeaders(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed when the headers of a request do not arrive in time.

    uvicorn limits only the time between two requests: half a header would keep the connection.

    Parameters
    ----------
    seconds : float
    **given : what uvicorn passes
    """

    def __init__(self, seconds: float, **given: Any) -> None:
        super().__init__(**given)
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; the time goes on until its headers are complete."""
        # Not started again by each part: a byte now and then would keep the connection.
        if self._timer is None and self._waits:
            self._start()
        super().data_received(data)
        if not self._waits:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._timer = self.loop.call_later(self._seconds, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._waits and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """A server that calls a function when it listens.

    Parameters
    ----------
    service : Service
    host, port
    started : callable
    """

    def __init__(self, service: Service, host: str, port: int, started: Callable[[], None]) -> None:
        config = uvicorn.Config(
            create_app(service),
            host=host,
            port=port,
            log_config=None,  # logs are lines of JSON, see monitoring
            access_log=False,
            server_header=False,
            http=partial(TimedHeaders, service.limits.headers),  # type: ignore[arg-type]
            timeout_keep_alive=30,
            timeout_graceful_shutdown=10,
        )
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call the function."""
        await super().startup(sockets)
        if self.started:
            self._say()
