"""``lookalike serve``: tables behind an HTTP API and a page to explore them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from lookalike._runtime.extras import check_service
from lookalike.cli import output as out
from lookalike.cli.options import IdColumn, argument
from lookalike.cli.reading import ReadOptions
from lookalike.cli.serving import AccessOptions, AddressOptions, Store, run_service
from lookalike.errors import missing_file
from lookalike.verbs.annotations import MeasureLike

EXAMPLES = ("lookalike serve films.csv --open", "lookalike serve --store films.lookalike.sqlite")


def serve(
    address: AddressOptions,
    access: AccessOptions,
    reading: ReadOptions,
    files: Annotated[
        list[str] | None,
        argument("FILE", "Tables to serve, each a collection; saved indexes too."),
    ] = None,
    store: Store = None,
    id_column: IdColumn = None,
    measure: MeasureLike = None,
) -> None:
    """Serve tables: a page to explore them, and an HTTP API for programs."""
    check_service("lookalike serve")
    from lookalike.service.server import default_store, make_service, serve_file

    # Before the store is opened: a mistyped name must not leave an empty store behind.
    for file in files or []:
        if not Path(file).exists():
            raise missing_file(Path(file))
    path, hosts = store or default_store(files or []), tuple(access.allow_host or ())
    service = make_service(path, address.host, access.folder, hosts, access.need_token)
    out.note(f"rows are kept in {service.store.database.shown}")
    options: dict[str, Any] = {"kinds": reading.read_kinds(), "missing": reading.missing}
    options |= {"id_column": id_column, "label_column": reading.label_column, "measure": measure}
    options |= reading.of_text
    # Loaded before the server listens: the first page is then answered without waiting.
    with out.compile_note():
        for file in files or []:
            service.warm(serve_file(service, file, options, out.note))
    run_service(service, address.host, address.port, address.open_page)
