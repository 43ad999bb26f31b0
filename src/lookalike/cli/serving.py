"""What ``serve``, ``token`` and ``demo --page`` share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import output as out
from lookalike.errors import MissingExtra, missing_file

if TYPE_CHECKING:
    from lookalike.service.safety import TokenStore
    from lookalike.service.service import Service

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|ADDRESS",
        help="Where rows are kept: a file (SQLite), or postgresql+psycopg://host/name. "
        "Beside the first table unless given, else in the data folder of the user.",
        show_default=False,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host", metavar="ADDRESS", help="Address to listen on; any but loopback needs tokens."
    ),
]
Port = Annotated[
    int,
    typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0: a free one."),
]


@dataclass(frozen=True)
class AddressOptions:
    """Options of where to listen."""

    host: Host = "127.0.0.1"
    port: Port = 8571
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False


@dataclass(frozen=True)
class AccessOptions:
    """Options of what clients may do."""

    folder: Annotated[
        str | None,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            help="Let clients add tables from this folder by their path.",
            show_default=False,
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A host name that requests may use, such as that of a proxy in front. May be "
            "repeated.",
            show_default=False,
        ),
    ] = None
    need_token: Annotated[
        bool, typer.Option("--need-token", help="Require tokens on loopback as well.")
    ] = False


def check_extra() -> None:
    """Say what to install where the packages of the service are missing."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        hint, found = "Install lookalike[service]", f"no {error.name}"
        raise MissingExtra("lookalike serve", "its packages", found, hint) from error


@contextmanager
def open_tokens(store: str | None, *, make: bool = False) -> Iterator[TokenStore]:
    """Open the tokens of a store; one that is not there is made only where that is meant."""
    check_extra()
    from lookalike.service.safety import TokenStore
    from lookalike.service.server import default_store
    from lookalike.service.store.store import Store as Rows

    place = store or default_store([])
    if not make and "://" not in str(place) and not Path(place).exists():
        raise missing_file(Path(place))
    rows = Rows(place)
    try:
        yield TokenStore(rows.database)
    finally:
        rows.close()


def run_service(service: Service, host: str, port: int, open_page: bool, path: str = "") -> None:
    """Serve until somebody ends it; on a terminal requests are not logged."""
    from lookalike.service.monitoring import set_up
    from lookalike.service.server import run

    set_up(requests=not sys.stderr.isatty())

    def started(address: str) -> None:
        out.note(f"serving {address} (stop it with Ctrl-C)")
        if open_page:
            typer.launch(address + path)

    run(service, host, port, started)
