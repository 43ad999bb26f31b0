"""``lookalike demo``: real films, what their columns hold, and the neighbors of three of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.hits import show_hits
from lookalike.cli.inspect_command import summary_grid

if TYPE_CHECKING:
    from lookalike.search import Hits
    from lookalike.table import Table

__all__ = ["demo"]

FILMS = ("Star Wars", "Casablanca", "Toy Story")
NEAREST = 5


def demo() -> None:
    """Show what lookalike does, on 58,788 films."""
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


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one most people voted on."""
    named = [row for row, name in enumerate(films["title"].values) if name == title]
    return max(named, key=lambda row: films["votes"].values[row])
