"""Starting the service: its store, the files it serves, the application, and the address."""

from __future__ import annotations

import hashlib
import inspect
import ipaddress
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lookalike._version import __version__
from lookalike.datasets import load_films
from lookalike.errors import InvalidInput, LookalikeError, Param, Phrase, missing_file
from lookalike.index import Index
from lookalike.measures import Measure
from lookalike.measures.names import kebab, make_measure
from lookalike.service.api import collections, operations, search, views
from lookalike.service.catalog import Catalog, name_from, settings_from
from lookalike.service.collection import is_index_folder
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.monitoring import Recorder
from lookalike.service.problems import handle
from lookalike.service.safety import AccessPolicy, Safety
from lookalike.service.service import Service
from lookalike.service.site import Site

ENDING = ".lookalike"
ROUTERS = (
    collections.router,
    collections.row_routes,
    search.router,
    search.verb_routes,
    views.router,
    operations.job_routes,
    operations.router,
)


def load_saved(path: str) -> Index:
    """Load an index from one file."""
    from lookalike import load

    index = load(path)
    if not isinstance(index, Index):
        found, hint = f"a saved {type(index).__name__}", "Serve a table, or an index of one"
        raise InvalidInput(f"File {path!r}", "a saved index", found, hint)
    return index


def measure_text(measure: Measure) -> str:
    """Write a measure as ``make_measure`` reads it: collections keep theirs as a text.

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
    text = ":".join([name, *([",".join(options)] if options else [])])
    try:
        same = repr(make_measure(text)) == repr(measure)
    except InvalidInput:
        same = False
    if not same:  # such as a function of one's own
        hint = Phrase("Name another one with ", Param("measure"))
        found = f"{type(measure).__name__} with options that have no name"
        raise InvalidInput("the saved index", "a measure that can be named", found, hint)
    return text


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
        lifespan=live,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    for kind in (LookalikeError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, handle)
    _serve_page(app, service)
    app.add_middleware(Safety, access=service.access, limits=service.limits, tokens=service.tokens)
    app.add_middleware(Recorder, metrics=service.metrics)  # the outermost: it sees every answer
    return app


def _serve_page(app: FastAPI, service: Service) -> None:
    site = Site()

    @app.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        return site.page(request, collections.at_hand(service))

    # It is quick, so that it runs between other requests, not in a thread of its own.
    @app.get("/web/{path:path}", include_in_schema=False)
    async def part(request: Request, path: str) -> Response:
        return site.part(request, path)


NAME = "films"


def serve_films(catalog: Catalog, limits: RequestLimits) -> str:
    """Make the films a collection, unless the store has them already; return its name."""
    if NAME not in {head.name for head in catalog.heads()}:
        settings = CollectionSettings("58,788 films of IMDb (2005)", label_column="title")
        catalog.create(NAME, load_films(), settings, limits)
    return NAME


CHUNK = 2**20


def default_store(files: Sequence[str]) -> Path:
    """Return where the store lies if nobody says: beside the first file, else in the data folder.

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
    """Return the folder for data of this user, made if it is not there."""
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    folder = Path(home) / "lookalike"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
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
    hosts : names that the server may be called by
    need_token : bool
        Ask for tokens on loopback as well.
    """
    local = is_loopback(host)
    own = () if local else (host, socket.gethostname(), socket.getfqdn())
    access = AccessPolicy((*hosts, *own), numbers=not local, tokens=need_token or not local)
    service = Service(store, folder=folder, access=access)
    if access.tokens and not service.tokens.any():
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

    A file that has changed, or is to be read with other options, replaces its collection while
    nobody has written to it; rows that were added through the service are never thrown away.

    Parameters
    ----------
    service : Service
    path : str
    options : kinds, missing, encoding, delimiter, id_column, label_column, measure
        Those that say nothing leave the collection as the store has it.
    say : callable that shows a sentence to a person
    """
    file = Path(path)
    if is_index_folder(file):
        return _serve_folder(service, file, options)
    if not file.is_file():
        raise missing_file(file)
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while part := content.read(CHUNK):
            digest.update(part)
    asked = repr({key: value for key, value in sorted(options.items()) if value})
    source = {"file": file.name, "hash": digest.hexdigest(), "options": asked}
    name = name_from(file.name)
    known = {head.name: head for head in service.catalog.heads()}
    if name in known:
        before = CollectionSettings.of_text(known[name].settings).source
        changed = before.get("hash") != source["hash"]
        if not changed and asked in (repr({}), before.get("options")):
            return name
        if known[name].generation > 1:
            what = "has changed since it" if changed else "is to be read otherwise than it"
            say(
                f"{path} {what} was read into the store, where rows were written meanwhile: the "
                "store is served, the file is not read again"
            )
            return name
    say(f"reading {path}")
    settings = settings_from(options, file.name, source)
    rows: str | Index = path
    if file.name.lower().endswith(ENDING):
        rows = load_saved(path)
        settings = _settings_of(rows, settings, options)
    service.catalog.create(name, rows, settings, service.limits, instead=name in known)
    return name


def _settings_of(
    index: Index, settings: CollectionSettings, options: Mapping[str, Any]
) -> CollectionSettings:
    """Return the settings of a saved index: it has been read, and has a measure."""
    for option in ("kinds", "missing", "encoding", "delimiter", "id_column"):
        if options.get(option):
            who, hint = Param(option), "Give it when the index is built"
            raise InvalidInput(who, "a table to read", "a saved index", hint)
    if options.get("measure"):
        return settings
    return replace(settings, measure=measure_text(index.measure_))


def _serve_folder(service: Service, folder: Path, options: Mapping[str, Any]) -> str:
    """Make the index in a folder of shards a collection, unless the store knows it already."""
    name = name_from(folder.resolve().name)
    place = str(folder.resolve())
    known = {head.name: head for head in service.catalog.heads()}
    if name in known:
        if CollectionSettings.of_text(known[name].settings).source.get("folder") == place:
            return name
        service.catalog.delete(name)
    settings = settings_from(options, folder.resolve().name, {"file": folder.resolve().name})
    service.catalog.open_folder(name, place, settings)
    return name


def free_port(host: str, port: int) -> int:
    """Return the port, or say that somebody else has it; 0 finds a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host.strip("[]"), port))
        except OSError as error:
            found, hint = str(error.strerror or error), "Choose another --port, or 0 for a free one"
            who, cannot = f"--host {host} --port {port}", f"cannot listen here ({found.lower()})"
            raise InvalidInput(
                who, "an address that is free", found, hint, problem=cannot
            ) from error
        return int(trial.getsockname()[1])


def run(service: Service, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve until somebody ends it.

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
        service.settles = True  # this process does nothing else
        service.warm_soon()

    Server(service, host, port, listens).run()


class Server(uvicorn.Server):
    """A server that says when it listens.

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
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=10,
        )
        super().__init__(config)
        self._say = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._say()
