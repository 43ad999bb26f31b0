"""``lookalike demo``: one story on real films, from columns to a report."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lookalike._runtime.extras import check_service
from lookalike.cli import output as out
from lookalike.cli.options import option
from lookalike.cli.serving import AddressOptions, run_service
from lookalike.verbs.cluster import cluster
from lookalike.verbs.hubs import hubs
from lookalike.verbs.search import search

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.index import Hits, Index
    from lookalike.table import Table

EXAMPLES = ("lookalike demo", "lookalike demo --quick", "lookalike demo --page")

NEXT = (
    "lookalike inspect FILE               what your columns are taken for, and why",
    "lookalike search FILE --row 0 --why  the rows most like the first one",
    "lookalike report FILE                all of the above on one page",
    "lookalike serve FILE --open          a page to explore it, and an HTTP API",
)

FILMS = ("Star Wars", "Casablanca", "Toy Story")
N_NEIGHBORS = 5
MIN_VOTES = 1000  # of a film that readers may have heard of
# Chosen by hand, for a short demo.
N_SAMPLE_FILMS = 3000  # for hubs and clusters
N_COMPARED_FILMS = 1000  # for the comparison of measures


def demo(
    quick: Annotated[
        bool, option("--quick", None, "Neighbors only: no hubs, clusters, measures or report.")
    ] = False,
    page: Annotated[
        bool, option("--page", None, "Serve the films, and open the page to explore them.")
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
    show_columns(console, films)
    with out.compile_note():
        index = show_measure(console, films)
        for title in FILMS:
            show_neighbors(console, index, films, title)
        show_weights(console, index, films)
        show_feedback(console, index, films)
        if not quick:
            show_hubs(console, index, films)
            show_groups(console, index, films)
            show_measures(console, films)
            write_report(console, films)
    out.headline(console, "Now your own table")
    console.print("\n".join(f"  {line}" for line in NEXT), markup=False, highlight=False)


def serve_page() -> None:
    """Serve the films, and open the page."""
    check_service("lookalike demo --page")
    from lookalike.service.server import data_folder, make_service, serve_films

    address = AddressOptions()
    # A store of its own: the demo does not appear among the tables of the user.
    service = make_service(data_folder() / "demo.sqlite", address.host)
    out.note(f"the films are kept in {service.store.database.shown}; the first start reads them")
    with out.compile_note():
        name = serve_films(service.catalog, service.limits)
        service.warm(name)
        one = service.catalog.get(name)
        (first,) = one.texts.find(one.view, FILMS[0], 1)
    path = f"#/{name}?query=%7B%22id%22:{first}%7D"  # {"id": ...}, as the page writes it
    run_service(service, address.host, address.port, open_page=True, path=path)


# -- the steps, each a question that people ask of a table -----------------------------------------


def show_columns(console: Console, films: Table) -> None:
    """Print what the columns were taken for."""
    summary = films.summary()
    out.headline(console, f"What is in the table: {summary.title}")
    console.print(summary.table())


def show_measure(console: Console, films: Table) -> Index:
    """Choose a measure for the table; print which, and why."""
    from lookalike.index import Index

    index = Index().fit(films)
    out.headline(console, "How are films compared?")
    out.say(console, f"{index.reason_}.")
    out.say(console, "The title only names a film: it is shown, not compared.")
    return index


def show_neighbors(console: Console, index: Index, films: Table, title: str) -> None:
    """Print the films most like one."""
    out.headline(console, f"Which films are like {title}?")
    hits = search(index, row_of(films, title), k=N_NEIGHBORS, why=True)
    hits.render_lines(console, ("title", "year"))


def show_weights(console: Console, index: Index, films: Table) -> None:
    """Search again with other weights, and print which films are new or gone."""
    title, weights = FILMS[1], {"year": 4, "votes": 0, "budget": 0}
    row = row_of(films, title)
    counts = "if the year counts four times, and fame and money not at all"
    out.headline(console, f"Like {title}, {counts}?")
    before, after = (search(index, row, k=N_NEIGHBORS, weights=w) for w in (None, weights))
    _show_change(console, before, after)


def show_feedback(console: Console, index: Index, films: Table) -> None:
    """Mark the first film found as not liked, and print the list again."""
    title = FILMS[2]
    row = row_of(films, title)
    before = search(index, row, k=N_NEIGHBORS)
    wrong = before[0]
    out.headline(console, f"Like {title}, but not like {wrong.row['title']}?")
    _show_change(console, before, search(index, row, k=N_NEIGHBORS, unlike=wrong.id))


def _show_change(console: Console, before: Hits, after: Hits) -> None:
    """Print a list, each film with how it moved since the list before."""
    lines = []
    for rank, hit in enumerate(after):
        by = before.ids.index(hit.id) - rank if hit.id in before.ids else None
        moved = "new" if by is None else f"up {by}" if by > 0 else f"down {-by}" if by else ""
        lines.append([str(rank + 1), hit.row["title"][:48], str(int(hit.row["year"])), moved])
    heads = [("", "right"), ("title", "left"), ("year", "right"), ("moved", "left")]
    console.print(out.grid(heads, lines))
    gone = [hit.row["title"] for hit in before if hit.id not in after.ids]
    if gone:
        out.say(console, f"no longer among the first {len(after)}: {'; '.join(gone)}")


def show_hubs(console: Console, index: Index, films: Table) -> None:
    """Count in how many lists films are, before and after hubness is reduced."""
    known = _known(films, N_SAMPLE_FILMS)
    out.headline(console, "Is one film everybody's neighbor?")
    report = hubs(known, 10, reduce="mp", measure=_measure(index))
    before, after = report.occurrences.values()
    top = int(before.argmax())
    name = known["title"].cell(top)
    rows = [
        (f"lists that {name!r} is in", before[top], after[top]),
        ("most lists that any film is in", before.max(), after.max()),
        ("films that no list shows", (before == 0).sum(), (after == 0).sum()),
    ]
    lines = [[words, f"{was:,}", f"{now:,}"] for words, was, now in rows]
    of = f"Of {len(known):,} films with {MIN_VOTES:,} votes or more, each with its ten nearest:"
    out.say(console, of)
    console.print(out.grid([("", "left"), ("before", "right"), ("after", "right")], lines))
    out.say(
        console,
        "Mutual proximity calls two films near only if each is near for the other; films that no "
        "search ever showed come back.",
    )


def show_groups(console: Console, index: Index, films: Table) -> None:
    """Cluster a sample, and print what sets each cluster apart."""
    known = _known(films, N_SAMPLE_FILMS)
    out.headline(console, "Which belong together?")
    out.say(console, f"{len(known):,} films with {MIN_VOTES:,} votes or more, in five clusters:")
    for one in cluster(known, 5, measure=_measure(index)).profile:
        titles = ", ".join(known["title"].cell(row) for row in one.typical)
        words = f"{one.rows:,} films ({one.share:.0%}) such as {titles}"
        out.say(console, words, style="", indent=2)
        out.say(console, "; ".join(map(str, one.columns[:3])), indent=2)


def show_measures(console: Console, films: Table) -> None:
    """Compare measures by how often neighbors share the genre."""
    from lookalike.leaderboard import compare
    from lookalike.measures import ForestProximity, Gower, Ranked, StochasticForest, Vector

    # Films of one genre only: a label must be one class.
    known = _known(films, 8 * N_COMPARED_FILMS)
    single = [row for row in range(len(known)) if len(known["genres"].cell(row)) == 1]
    some = known[single[:N_COMPARED_FILMS]]
    genres = [next(iter(some["genres"].cell(row))) for row in range(len(some))]
    columns = some.select(["year", "length", "rating", "votes", "ratings"])
    board = compare(
        columns,
        {
            "Gower, ranges": Gower(),
            "Gower, ranks": Gower(scale="rank"),
            "z-scores": Vector(scale="standard"),
            "ranks": Ranked(),
            "SimUSF": StochasticForest(300, random_state=0),
            "RatioRF": ForestProximity("ratio", random_state=0),
        },
        y=genres,
        k=10,
    )
    replace(board, name="Which neighbors share the genre?").render(console)


def write_report(console: Console, films: Table) -> None:
    """Write a page about the films, and say where it is."""
    from lookalike.show.report import report

    page = Path(tempfile.gettempdir()) / "lookalike-films.html"
    some = _known(films, N_COMPARED_FILMS)
    report(some, title="Films", sample=N_COMPARED_FILMS).to_html(page)
    out.headline(console, "All of it on one page")
    out.say(console, f"wrote {page}; open it in a browser")


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one with the most votes."""
    named = [row for row, name in enumerate(films["title"].values) if name == title]
    return max(named, key=lambda row: films["votes"].values[row])


def _known(films: Table, most: int) -> Table:
    """Draw films with many votes, always the same ones."""
    import numpy as np  # not at the top: the help of every verb would wait for it

    enough = np.flatnonzero(films["votes"].values >= MIN_VOTES)
    return films[np.sort(np.random.default_rng(0).permutation(enough)[:most])]


def _measure(index: Index) -> Any:
    """Return the measure of an index, not fitted yet."""
    from lookalike._runtime.estimator import clone

    return clone(index.measure_)
