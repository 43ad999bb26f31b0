"""``lookalike demo``: one story on real films, from columns to a report."""

from __future__ import annotations

from typing import Annotated

import typer

from lookalike.cli import demo_story as story
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note

__all__ = ["demo"]

NEXT = (
    "lookalike inspect FILE               what your columns are taken for, and why",
    "lookalike search FILE --row 0 --why  the rows most like the first one",
    "lookalike report FILE                all of the above on one page",
)


def demo(
    quick: Annotated[
        bool, typer.Option("--quick", help="Neighbors only: no hubs, clusters, measures or report.")
    ] = False,
) -> None:
    """Show what lookalike does, on 58,788 films."""
    from lookalike.datasets import load_films

    console = out.make_console()
    out.note("reading the films of IMDb as they stood in 2005 (R data set ggplot2movies)")
    films = load_films()
    story.show_columns(console, films)
    with compile_note():
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
    for line in NEXT:
        console.print(f"  {line}", markup=False, highlight=False)
