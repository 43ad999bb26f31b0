"""``lookalike serve``: tables behind an HTTP API and a page to explore them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.reading import Delimiter, Encoding, Kinds, Missing, Split, read_kinds
from lookalike.cli.serving import Host, Port, Store, check_extra, run_service
from lookalike.errors import missing_file
from lookalike.verbs.annotations import MeasureLike

EXAMPLES = ("lookalike serve films.csv --open", "lookalike serve --store films.lookalike.sqlite")


def serve(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Tables to serve, each a collection; saved indexes too.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
    host: Host = "127.0.0.1",
    port: Port = 8571,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    folder: Annotated[
        str | None,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            help="Let clients add tables from this folder by their path.",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A host name that requests may use, such as that of a proxy in front. May be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    need_token: Annotated[
        bool, typer.Option("--need-token", help="Require tokens on loopback as well.")
    ] = False,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="COLUMN",
            help="A column that names the rows.",
            show_default=False,
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label-column",
            metavar="COLUMN",
            help="The column that rows are shown by.",
            show_default=False,
        ),
    ] = None,
    kinds: Kinds = None,
    missing: Missing = None,
    split: Split = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    measure: MeasureLike = None,
) -> None:
    """Serve tables: a page to explore them, and an HTTP API for programs."""
    check_extra()
    from lookalike.service.server import default_store, make_service, serve_file

    for file in files or []:
        if not Path(file).exists():
            raise missing_file(Path(file))  # before a store is made for it
    place = store or default_store(files or [])
    service = make_service(place, host, folder, tuple(allow_host or ()), need_token)
    out.note(f"rows are kept in {service.store.database.shown}")
    options = {
        "kinds": read_kinds(kinds, split),
        "missing": missing,
        "encoding": encoding,
        "delimiter": delimiter,
        "id_column": id_column,
        "label_column": label_column,
        "measure": measure,
    }
    with compile_note():
        for file in files or []:
            service.warm(serve_file(service, file, options, out.note))
    run_service(service, host, port, open_page)
