"""What ``serve``, ``token`` and ``demo --page`` share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike._runtime.extras import check_service
from lookalike.cli import output as out
from lookalike.cli.options import member, option
from lookalike.errors import missing_file

if TYPE_CHECKING:
    from lookalike.service.safety import TokenStore
    from lookalike.service.service import Service

Store = Annotated[
    str | None,
    option(
        "--store",
        "FILE|ADDRESS",
        "Where rows are kept: a file (SQLite, also as sqlite:///FILE), or "
        "postgresql+psycopg://host/name. "
        "Beside the first table unless given, else in the data folder of the user.",
    ),
]


@dataclass(frozen=True)
class AddressOptions:
    """Options of where to listen."""

    host: str = member(
        "ADDRESS", "Address to listen on; any but loopback needs tokens.", default="127.0.0.1"
    )
    port: int = member("N", "Port to listen on; 0: a free one.", default=8571, min=0, max=65535)
    open_page: bool = member(None, "Open the page in a browser.", default=False, flags="--open")


@dataclass(frozen=True)
class AccessOptions:
    """Options of what clients may do."""

    folder: str | None = member("FOLDER", "Let clients add tables from this folder by their path.")
    allow_host: list[str] | None = member(  # noqa: RUF009  it makes a field
        "NAME",
        "A host name that requests may use, such as that of a proxy in front. May be repeated.",
    )
    need_token: bool = member(
        None, "Require tokens on loopback as well.", default=False, flags="--need-token"
    )


@contextmanager
def open_tokens(store: str | None, *, make: bool = False) -> Iterator[TokenStore]:
    """Open the tokens of a store; create the store only if ``make`` is set."""
    # A mistyped path must not become an empty store, in which no token is found.
    check_service("lookalike token")
    from lookalike.service.safety import TokenStore
    from lookalike.service.server import default_store
    from lookalike.service.store.database import parse_address
    from lookalike.service.store.store import Store as Rows

    place = store or default_store([])
    path, _ = parse_address(place)
    if not make and path is not None and not path.exists():
        raise missing_file(path)
    rows = Rows(place)
    try:
        yield TokenStore(rows.database)
    finally:
        rows.close()


def run_service(service: Service, host: str, port: int, open_page: bool, path: str = "") -> None:
    """Serve until the process is interrupted; on a terminal requests are not logged."""
    from lookalike.service.monitoring import set_up
    from lookalike.service.server import run

    # In a terminal a line per request would hide the address that was printed.
    set_up(requests=not sys.stderr.isatty())

    def started(address: str) -> None:
        out.note(f"serving {address} (stop it with Ctrl-C)")
        if open_page:
            typer.launch(address + path)

    run(service, host, port, started)
