"""``lookalike serve``: tables behind an HTTP API and a page to explore them."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.options import Kinds, MeasureName, Missing, read_kinds
from lookalike.errors import MissingExtra, message

__all__ = ["serve"]


def serve(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...", help="Tables to serve, each a collection.", show_default=False
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|ADDRESS",
            help="Where rows are kept: a file (SQLite), or postgresql+psycopg://user@host/name. "
            "Default: beside the first table, else in the data folder of the user.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; others than loopback need tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: a free one.")
    ] = 8571,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
    folder: Annotated[
        str | None,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            help="Tables below this folder may be made collections by their path.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="A column that names the rows.", show_default=False
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label", metavar="COLUMN", help="The column a row is shown by.", show_default=False
        ),
    ] = None,
    kinds: Kinds = None,
    missing: Missing = None,
    measure: MeasureName = "auto",
) -> None:
    """Serve tables: a page to explore them, and an HTTP API for programs."""
    try:
        from lookalike.service.server import default_store, run, serve_file
        from lookalike.service.service import Service
    except ImportError as error:
        if isinstance(error, MissingExtra):
            raise
        do = "Install lookalike[service]"
        raise MissingExtra(message("lookalike serve", "the package", f"no {error.name}", do)) from error
    place = store or default_store(files or [])
    service = Service(place, folder=folder)
    options = {
        "kinds": read_kinds(kinds),
        "missing": missing,
        "id_column": id_column,
        "label_column": label_column,
        "measure": measure,
    }
    out.note(f"rows are kept in {service.store.database.shown}")
    names = [serve_file(service, file, options, out.note) for file in files or []]
    for name in names:
        service.catalog.get(name).view  # noqa: B018  in memory before anybody asks

    def started(address: str) -> None:
        out.note(f"serving {address} (Ctrl-C ends it)")
        if open_page:
            typer.launch(address)

    run(service, host, port, started)
