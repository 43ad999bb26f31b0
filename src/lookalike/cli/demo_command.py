"""``lookalike demo``: one story on real films, from columns to a report."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import demo_story as story
from lookalike.cli import output as out
from lookalike.cli.serving import check_extra, run_service

EXAMPLES = ("lookalike demo", "lookalike demo --quick", "lookalike demo --page")
HOST, PORT = "127.0.0.1", 8571  # the defaults of ``serve``

NEXT = (
    "lookalike inspect FILE               what your columns are taken for, and why",
    "lookalike search FILE --row 0 --why  the rows most like the first one",
    "lookalike report FILE                all of the above on one page",
    "lookalike serve FILE --open          a page to explore it, and an HTTP API",
)


def demo(
    quick: Annotated[
        bool, typer.Option("--quick", help="Neighbors only: no hubs, clusters, measures or report.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Serve the films, and open the page to explore them.")
    ] = False,
) -> None:
    """Show what lookalike does, on 58,788 films."""
    if page:
        serve_page()
        return
    from lookalike.datasets import load_films

    console = out.make_console()
    out.note("reading the films of IMDb as they stood in 2005 (R data set ggplot2movies)")
    films = load_films()
    story.show_columns(console, films)
    with out.compile_note():
        index = story.show_measure(console, films)
        for title in story.FILMS:
            story.show_neighbors(console, index, films, title)
        story.show_weights(console, index, films)
        story.show_feedback(console, index, films)
        if not quick:
            story.show_hubs(console, index, films)
            story.show_groups(console, index, films)
            story.show_measures(console, films)
            story.write_report(console, films)
    out.headline(console, "Now your own table")
    console.print("\n".join(f"  {line}" for line in NEXT), markup=False, highlight=False)


def serve_page() -> None:
    """Serve the films, and open the page."""
    check_extra()
    from lookalike.service.server import data_folder, make_service, serve_films

    # A store of its own: the demo does not appear among the tables of the user.
    service = make_service(data_folder() / "demo.sqlite", HOST)
    out.note(f"the films are kept in {service.store.database.shown}; the first start reads them")
    with out.compile_note():
        service.warm(serve_films(service.catalog, service.limits))
    run_service(service, HOST, PORT, open_page=True)
