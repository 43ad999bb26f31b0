"""``lookalike demo``: real films, what their columns hold, and the neighbors of three of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.hits import show_hits
from lookalike.cli.inspect_command import summary_grid
from lookalike.cli.serving import check_extra, run_service

if TYPE_CHECKING:
    from lookalike.search import Hits
    from lookalike.table import Table

__all__ = ["demo"]

FILMS = ("Star Wars", "Casablanca", "Toy Story")
NEAREST = 5
HOST, PORT = "127.0.0.1", 8571


def demo(
    page: Annotated[
        bool, typer.Option("--page", help="Serve the films, and open the page to explore them.")
    ] = False,
) -> None:
    """Show what lookalike does, on 58,788 films."""
    if page:
        _serve()
        return
    from lookalike.datasets import load_films

    out.note("reading the films of IMDb as they stood in 2005 (R data set ggplot2movies)")
    films = load_films()
    console = out.make_console()
    summary = films.summary()
    out.headline(console, f"The films: {summary.title}")
    console.print(summary_grid(summary))
    console.print(
        "Gower compares every column in its own way and leaves out what is missing. The title only "
        "names a film, so it is set aside. Each table: the film asked about, then the films most "
        "like it with the strongest reasons for and against.\n"
    )
    with compile_note():
        from lookalike.measures import Gower
        from lookalike.search import Index

        index = Index(Gower()).fit(films)
        for title in FILMS:
            row = row_of(films, title)
            hits: Hits = index.search(row, NEAREST)  # type: ignore[assignment]
            show_hits(hits, films, row, f"Most like {title}", why=True, only=("title", "year"))
    console.print(
        "Your own table: lookalike inspect FILE, then lookalike search FILE --row 0 --why"
    )


def _serve() -> None:
    check_extra()
    from lookalike.service.demo import serve_films
    from lookalike.service.server import data_folder, make_service

    service = make_service(data_folder() / "demo.sqlite", HOST)
    out.note(f"the films are kept in {service.store.database.shown}; the first start reads them")
    with compile_note():
        service.warm(serve_films(service.catalog, service.limits))
    run_service(service, HOST, PORT, open_page=True)


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one most people voted on."""
    named = [row for row, name in enumerate(films["title"].values) if name == title]
    return max(named, key=lambda row: films["votes"].values[row])
