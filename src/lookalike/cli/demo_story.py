"""The steps of the demo, each a question that people ask of a table."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.cli import output as out

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.index import Hits, Index
    from lookalike.table import Table

FILMS = ("Star Wars", "Casablanca", "Toy Story")
NEAREST = 5
KNOWN = 1000  # votes of a film that readers may have heard of
SAMPLE = 3000  # films for hubs and clusters
FEW = 1000  # films for the comparison of measures


def show_columns(console: Console, films: Table) -> None:
    """Print what the columns were taken for."""
    summary = films.summary()
    out.headline(console, f"What is in the table: {summary.title}")
    console.print(summary.table())


def show_measure(console: Console, films: Table) -> Index:
    """Let the table choose a measure; print which, and why."""
    from lookalike.index import Index

    index = Index().fit(films)
    out.headline(console, "How are films compared?")
    out.say(console, f"{index.reason_}.")
    out.say(console, "The title only names a film: it is shown, not compared.")
    return index


def show_neighbors(console: Console, index: Index, films: Table, title: str) -> None:
    """Print the films most like one."""
    row = row_of(films, title)
    from lookalike.verbs.search import search

    out.headline(console, f"Which films are like {title}?")
    search(index, row, k=NEAREST, why=True).render_lines(console, ("title", "year"))


def show_weights(console: Console, index: Index, films: Table) -> None:
    """Ask again with other weights, and print who came and who left."""
    title, weights = FILMS[0], {"year": 4, "votes": 0, "budget": 0}
    row = row_of(films, title)
    before: Hits = index.search(row, NEAREST)  # type: ignore[assignment]
    after: Hits = index.search(row, NEAREST, weights=weights)  # type: ignore[assignment]
    out.headline(
        console, f"Like {title}, if the year counts four times, and fame and money not at all?"
    )
    _show_change(console, before, after)


def show_feedback(console: Console, index: Index, films: Table) -> None:
    """Turn a thumb down on the first film found, and print the list again."""
    title = FILMS[2]
    row = row_of(films, title)
    before: Hits = index.search(row, NEAREST)  # type: ignore[assignment]
    wrong = before[0]
    after: Hits = index.search(row, NEAREST, unlike=wrong.id)  # type: ignore[assignment]
    name = wrong.row["title"]
    out.headline(console, f"Like {title}, but not like {name}?")
    _show_change(console, before, after)


def _show_change(console: Console, before: Hits, after: Hits) -> None:
    """Print a list, each film with how it moved since the list before."""
    lines = out.grid([("", "right"), ("title", "left"), ("year", "right"), ("moved", "left")])
    for rank, hit in enumerate(after):
        if hit.id in before.ids:
            by = before.ids.index(hit.id) - rank
            moved = f"up {by}" if by > 0 else f"down {-by}" if by < 0 else ""
        else:
            moved = "new"
        lines.add_row(
            *out.cells([str(rank + 1), hit.row["title"][:48], str(int(hit.row["year"])), moved])
        )
    console.print(lines)
    gone = [hit.row["title"] for hit in before if hit.id not in after.ids]
    if gone:
        out.say(console, f"no longer among the first {len(after)}: {'; '.join(gone)}")


def show_hubs(console: Console, index: Index, films: Table) -> None:
    """Count in how many lists films are, before and after a repair."""
    from lookalike.hubness import MutualProximity, k_occurrence

    known = _known(films, SAMPLE)
    out.headline(console, "Is one film everybody's neighbor?")
    plain = _measure(index).fit(known)
    counts = k_occurrence(plain, k=10)
    repaired = k_occurrence(MutualProximity(_measure(index), random_state=0).fit(known), k=10)
    top = int(counts.argmax())
    of = f"Of {len(known):,} films with {KNOWN:,} votes or more, each with its ten nearest:"
    name = known["title"].cell(top)
    lines = out.grid([("", "left"), ("as it is", "right"), ("repaired", "right")])
    facts = [
        (f"lists that {name!r} is in", counts[top], repaired[top]),
        ("most lists that any film is in", counts.max(), repaired.max()),
        ("films that no list shows", (counts == 0).sum(), (repaired == 0).sum()),
    ]
    for words, was, now in facts:
        lines.add_row(*out.cells([words, f"{was:,}", f"{now:,}"]))
    out.say(console, of)
    console.print(lines)
    out.say(
        console,
        "Mutual proximity calls two films near only if each is near for the other; films that no "
        "search ever showed come back.",
    )


def show_groups(console: Console, index: Index, films: Table) -> None:
    """Cluster a sample, and print what sets each cluster apart."""
    from lookalike.clustering import SimilarityClustering, profile_clusters

    known = _known(films, SAMPLE)
    model = SimilarityClustering(_measure(index), 5, random_state=0).fit(known)
    out.headline(console, "Which belong together?")
    of = f"{len(known):,} films with {KNOWN:,} votes or more, in five clusters around medoids:"
    out.say(console, of)
    for one in profile_clusters(model, known):
        titles = ", ".join(known["title"].cell(row) for row in one.typical)
        words = f"{one.rows:,} films ({one.share:.0%}) such as {titles}"
        out.say(console, words, style="", indent=2)
        out.say(console, "; ".join(map(str, one.columns[:3])), indent=2)


def show_measures(console: Console, films: Table) -> None:
    """Compare five measures by how well neighbors tell the genre."""
    from lookalike.leaderboard import compare
    from lookalike.measures import ForestProximity, Gower, Ranked, StochasticForest, Vector

    known = _known(films, 8 * FEW)
    single = [row for row in range(len(known)) if len(known["genres"].cell(row)) == 1][:FEW]
    some = known[single]
    genres = [next(iter(some["genres"].cell(row))) for row in range(len(some))]
    columns = some.select(["year", "length", "rating", "votes", "ratings"])
    board = compare(
        columns,
        {
            "Gower, ranges": Gower(),
            "Gower, ranks": Gower(scale="rank"),
            "z-scores": Vector(scale="standard"),
            "ranks": Ranked(),
            "halvings": StochasticForest(300, random_state=0),
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
    report(_known(films, FEW), title="Films", sample=FEW).to_html(page)
    out.headline(console, "All of it on one page")
    out.say(console, f"wrote {page}; open it in a browser")


def row_of(films: Table, title: str) -> int:
    """Return the film of this title; of several, the one most people voted on."""
    named = [row for row, name in enumerate(films["title"].values) if name == title]
    return max(named, key=lambda row: films["votes"].values[row])


def _known(films: Table, most: int) -> Table:
    """Draw films that many people voted on, always the same ones."""
    import numpy as np  # not at the top: the help of every verb would wait for it

    enough = np.flatnonzero(films["votes"].values >= KNOWN)
    some = np.random.default_rng(0).permutation(enough)[:most]
    return films[np.sort(some)]


def _measure(index: Index) -> Any:
    """Return the measure of an index, not fitted yet."""
    from sklearn.base import clone

    return clone(index.measure_)
