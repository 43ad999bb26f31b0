"""``lookalike serve``: tables behind an HTTP API and a page to explore them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.reading import ReadOptions
from lookalike.cli.serving import AccessOptions, AddressOptions, Store, check_extra, run_service
from lookalike.errors import missing_file
from lookalike.verbs.annotations import MeasureLike

EXAMPLES = ("lookalike serve films.csv --open", "lookalike serve --store films.lookalike.sqlite")


def serve(
    at: AddressOptions,
    access: AccessOptions,
    reading: ReadOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Tables to serve, each a collection; saved indexes too.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
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
    measure: MeasureLike = None,
) -> None:
    """Serve tables: a page to explore them, and an HTTP API for programs."""
    check_extra()
    from lookalike.service.server import default_store, make_service, serve_file

    for file in files or []:
        if not Path(file).exists():
            raise missing_file(Path(file))  # before a store is made for it
    place = store or default_store(files or [])
    hosts = tuple(access.allow_host or ())
    service = make_service(place, at.host, access.folder, hosts, access.need_token)
    out.note(f"rows are kept in {service.store.database.shown}")
    options = {
        "kinds": reading.read_kinds(),
        "missing": reading.missing,
        "encoding": reading.encoding,
        "delimiter": reading.delimiter,
        "id_column": id_column,
        "label_column": label_column,
        "measure": measure,
    }
    with compile_note():
        for file in files or []:
            service.warm(serve_file(service, file, options, out.note))
    run_service(service, at.host, at.port, at.open_page)
