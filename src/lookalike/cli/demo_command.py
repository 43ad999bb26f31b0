"""``lookalike demo``: one story on real films, from columns to a report."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike._runtime.extras import check_service
from lookalike.cli import output as out
from lookalike.cli.serving import AddressOptions, run_service
from lookalike.verbs.cluster import cluster
from lookalike.verbs.compare import compare
from lookalike.verbs.hubs import hubs
from lookalike.verbs.report import report
from lookalike.verbs.search import search

if TYPE_CHECKING:
    from lookalike.table import Table

EXAMPLES = {"demo": ("lookalike demo", "lookalike demo --quick", "lookalike demo --page")}

NEXT = (
    "lookalike inspect FILE               what your columns are taken for, and why",
    "lookalike search FILE --row 0 --why  the rows most like the first one",
    "lookalike report FILE                all of the above on one page",
    "lookalike serve FILE --open          a page to explore it, and an HTTP API",
)

FILMS = ("Star Wars", "Casablanca", "Toy Story")
WEIGHTS = {"year": 4, "votes": 0, "budget": 0}
MEASURES = "gower,gower:scale=rank,vector:scale=standard,ranked,simusf:trees=300,ratiorf"
N_NEIGHBORS = 5
MIN_VOTES = 1000  # of a film that readers may have heard of
# Chosen by hand, for a short demo.
N_SAMPLE_FILMS = 3000  # for hubs and clusters
N_COMPARED_FILMS = 1000  # for the comparison of measures


def demo(quick: bool = False, page: bool = False) -> None:
    """Show what lookalike does, on 58,788 films.

    Parameters
    ----------
    quick : bool
        Neighbors only: no hubs, clusters, measures or report.
    page : bool
        Serve the films, and open the page to explore them.
    """
    if page:
        serve_page()
        return
    from lookalike.datasets import load_films

    out.note("reading the films of IMDb as they stood in 2005 (R data set ggplot2movies)")
    films = load_films()
    with out.compile_note():
        show_neighbors(films)
        if not quick:
            show_analyses(films)
    console = out.make_console()
    out.headline(console, "Now your own table")
    console.print("\n".join(f"  {line}" for line in NEXT), markup=False, highlight=False)


def serve_page() -> None:
    """Serve the films, and open the page."""
    check_service("lookalike demo --page")
    from lookalike.service.server import data_folder, make_service, serve_films

    address = AddressOptions(open_page=True)
    # A store of its own: the demo does not appear among the tables of the user.
    service = make_service(data_folder() / "demo.sqlite", address.host)
    out.note(f"the films are kept in {service.store.database.shown}; the first start reads them")
    with out.compile_note():
        name = serve_films(service.catalog, service.limits)
        service.warm(name)
        one = service.catalog.get(name)
        (first,) = one.texts.find(one.view, FILMS[0], 1)
    path = f"#/{name}?query=%7B%22id%22:{first}%7D"  # {"id": ...}, as the page writes it
    run_service(service, address, path)


# -- the steps, each a question that people ask of a table -----------------------------------------


def show_neighbors(films: Table) -> None:
    """Print what the columns hold, how films are compared, and which are alike."""
    from lookalike.index import Index

    console, summary = out.make_console(), films.summary()
    out.headline(console, f"What is in the table: {summary.title}")
    console.print(summary.table())
    index = Index().fit(films)
    out.headline(console, "How are films compared?")
    out.say(console, f"{index.reason_}.")
    out.say(console, "The title only names a film: it is shown, not compared.")
    _, casablanca, toy_story = rows = [row_of(films, title) for title in FILMS]
    for title, row in zip(FILMS, rows, strict=True):
        out.headline(console, f"Which films are like {title}?")
        hits = search(index, row, k=N_NEIGHBORS, why=True)
        hits.render_lines(console, ("title", "year"))
    counts = "if the year counts four times, and fame and money not at all"
    out.headline(console, f"Like {FILMS[1]}, {counts}?")
    weighed = search(index, casablanca, k=N_NEIGHBORS, weights=WEIGHTS)
    weighed.render_lines(console, ("title", "year"))
    # ``hits`` are those of the last film; the first of them is marked as not liked.
    out.headline(console, f"Like {FILMS[2]}, but not like {hits[0].row['title']}?")
    again = search(index, toy_story, k=N_NEIGHBORS, unlike=hits[0].id)
    again.render_lines(console, ("title", "year"))


def show_analyses(films: Table) -> None:
    """Print hubs, clusters and measures of films with many votes, and write a report."""
    console, known = out.make_console(), known_films(films, N_SAMPLE_FILMS)
    of = f"{len(known):,} films with {MIN_VOTES:,} votes or more"
    out.headline(console, "Is one film everybody's neighbor?")
    replace(hubs(known, 10, reduce="mp"), name=of).render(console)
    out.headline(console, "Which belong together?")
    cluster(known, 5).render(console)
    out.headline(console, "Which measure's neighbors share the genre?")
    # Films of one genre only: a label must be one class.
    many = known_films(films, 8 * N_COMPARED_FILMS)
    single = [row for row in range(len(many)) if len(many["genres"].cell(row)) == 1]
    some = many[single[:N_COMPARED_FILMS]]
    genres = [next(iter(some["genres"].cell(row))) for row in range(len(some))]
    columns = "year, length, rating, votes, ratings"
    compare(some, MEASURES, genres, k=10, columns=columns).render(console)
    page = Path(tempfile.gettempdir()) / "lookalike-films.html"
    report(known_films(films, N_COMPARED_FILMS), title="Films").to_html(page)
    out.headline(console, "All of it on one page")
    out.say(console, f"wrote {page}; open it in a browser")


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one with the most votes."""
    named = [row for row, name in enumerate(films["title"].values) if name == title]
    return max(named, key=lambda row: films["votes"].values[row])


def known_films(films: Table, most: int) -> Table:
    """Draw films with many votes, always the same ones."""
    import numpy as np  # not at the top: the help of every verb would wait for it

    enough = np.flatnonzero(films["votes"].values >= MIN_VOTES)
    return films[np.sort(np.random.default_rng(0).permutation(enough)[:most])]
