"""``lookalike demo``: real films, what their columns hold, and the neighbors of three of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.cli.compiling import compile_note
from lookalike.cli.hits import show
from lookalike.cli.inspect import facts, kinds_grid, size
from lookalike.cli.output import headline, note, paper

if TYPE_CHECKING:
    from lookalike.table import Table

__all__ = ["demo"]

FILMS = ("Star Wars", "Casablanca", "Toy Story")
NEAREST = 5


def demo() -> None:
    """Show what lookalike does, on 58,788 films."""
    from lookalike.cli.search import find
    from lookalike.datasets import load_films
    from lookalike.table import read_table

    note("reading the films of IMDb as they stood in 2005 (R data set ggplot2movies)")
    films = load_films()
    console = paper()
    found = [facts(column) for column in films]
    headline(console, f"The films: {size(films)}")
    console.print(kinds_grid(found))
    console.print(
        "Gower compares every column in its own way and leaves out what is missing. The title only "
        "names a film, so it is set aside. Each table: the film asked about, then the films most "
        "like it with the strongest reasons for and against.\n"
    )
    films = read_table(films, kinds={"title": "aside"})
    with compile_note():
        from lookalike.measures import Gower

        measure = Gower().fit(films)
        for title in FILMS:
            answer = find(measure, films, row_of(films, title), NEAREST, why=True)
            show(answer, f"Most like {title}", why=True, only=("title", "year"))
    console.print(
        "Your own table: lookalike inspect FILE, then lookalike search FILE --row 0 --why"
    )


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one most people voted on."""
    import numpy as np

    rows = np.flatnonzero(films["title"].values == title)
    return int(rows[np.argmax(films["votes"].values[rows])])
