"""``lookalike cluster``: which rows of a table belong together, and what sets each group apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._runtime.text import percent, short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import pick_measure, set_seed
from lookalike.cli.options import Columns, Form, Label, MeasureChoice, Seed, Weight
from lookalike.cli.source import Loaded, Source, takes_table
from lookalike.cli.spelling import spell_option
from lookalike.cli.unused import refuse_unused
from lookalike.errors import InvalidInput, spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from lookalike.clustering import (
        ClusteringProfile,
        ClusterProfile,
        MixedKMeans,
        SimilarityClustering,
    )

EXAMPLES = (
    "lookalike cluster penguins.csv",
    "lookalike cluster penguins.csv -n 3 --label species",
    "lookalike cluster penguins.csv -n 3 --method means",
    "lookalike cluster penguins.csv --output csv > clusters.csv",
)
OURS = ("row", "cluster", "distance")  # the first columns of the CSV form
MANY = 40  # clusters shown to people
INDENT = 2
CORE = 5  # rows near a core row
DENSITY = ("density", "hdbscan")
BY_NUMBER = ("spectral", "affinity", "complete", "ward", "medoids")


@takes_table
def cluster(
    source: Source,
    n: Annotated[
        str,
        typer.Option(
            "-n",
            metavar="K|auto",
            help="How many clusters; auto: as many as hold together best.",
        ),
    ] = "auto",
    method: Annotated[
        Literal[
            "spectral", "affinity", "complete", "ward", "medoids", "density", "hdbscan", "means"
        ],
        typer.Option(
            "--method",
            metavar="NAME",
            help="spectral, affinity, complete, ward, medoids, density, hdbscan or means. density "
            "and hdbscan find the number themselves and leave outliers out; means is "
            "k-means for mixed columns, for many rows, and has no measure.",
        ),
    ] = "spectral",
    measure: MeasureChoice = None,
    weight: Weight = None,
    label: Label = None,
    columns: Columns = None,
    eps: Annotated[
        float | None,
        typer.Option(
            "--eps",
            metavar="N",
            help="For density: how near rows must be to be neighbors; the knee of the distances "
            "unless given.",
            show_default=False,
        ),
    ] = None,
    min_neighbors: Annotated[
        int | None,
        typer.Option(
            "--min-neighbors",
            metavar="N",
            min=1,
            help="For density and hdbscan: how many rows must be near, the row itself included, to "
            f"make a row part of a cluster's core; {CORE} unless given.",
            show_default=False,
        ),
    ] = None,
    landmarks: Annotated[
        int | None,
        typer.Option(
            "--landmarks",
            metavar="N",
            min=2,
            help="For many rows: compare all of them with this many, drawn at random; as many as "
            "are needed unless given.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    output: Form = out.Output.table,
) -> None:
    """Say which rows belong together, and what sets each cluster apart from the others."""
    number = read_number(n)
    refuse_unused(
        method,
        {
            "--measure": (measure, BY_NUMBER + DENSITY),
            "--weight": (weight, BY_NUMBER + DENSITY),
            "--eps": (eps is not None, ("density",)),
            "--min-neighbors": (min_neighbors, DENSITY),
            "--landmarks": (landmarks, BY_NUMBER),
        },
    )
    loaded, truth = source.load().without_label(label)
    loaded = loaded.compared_by(columns)
    with compile_note():
        from lookalike.clustering import MixedKMeans, SimilarityClustering, profile_clusters

        model: SimilarityClustering | MixedKMeans
        reason: str | None = None
        if method == "means":
            model = MixedKMeans(number, random_state=seed).fit(loaded.table)
        else:
            chosen, reason = pick_measure(measure, loaded, weights=weight)
            model = SimilarityClustering(
                set_seed(chosen, seed),
                number,
                method=method,
                eps="knee" if eps is None else eps,
                min_neighbors=min_neighbors or CORE,
                landmarks="auto" if landmarks is None else landmarks,
                random_state=seed,
            ).fit(loaded.table)
        profile = profile_clusters(model, loaded.table, truth)
    name = measure_name(model)
    if output is out.Output.table:
        by = "by k-means of mixed columns" if name is None else f"by {name} and {method}"
        show_clusters(profile, loaded, by, reason)
        return
    answer = {"measure": name, "reason": reason, "method": method}
    out.write(output, *to_rows(model, loaded), lambda: answer | to_json(profile, model, loaded))


def measure_name(model: Any) -> str | None:
    """Return the name of a clustering's measure, None where it has none."""
    measure = getattr(model, "measure_", None)
    return None if measure is None else type(measure).__name__


def read_number(word: str) -> int | str:
    """Read how many clusters are wanted."""
    if word == "auto":
        return word
    if not word.isdecimal() or int(word) < 1:
        hint = "Write -n 3, or -n auto"
        raise InvalidInput("-n", "a number of clusters or auto", repr(word), hint)
    return int(word)


def to_json(profile: ClusteringProfile, model: Any, loaded: Loaded) -> dict[str, Any]:
    """Return the clusters and the labels as plain values."""
    groups = []
    for record in profile.records():
        majority, share = record.pop("majority"), record.pop("majority_share")
        if share is not None:
            record |= {"class": majority, "class_share": share}
        exemplar = record["typical"][0]
        for rows in ("typical", "borderline"):
            record[rows] = [loaded.ids[row] for row in record[rows]]
        record |= {"exemplar": loaded.ids[exemplar], "record": loaded.table.record(exemplar)}
        groups.append(record)
    return {
        "n_clusters": model.n_clusters_,
        "noise": profile.noise,
        "silhouette": profile.silhouette,
        "exactness": profile.exactness,
        "eps": getattr(model, "eps_", None),
        "scores": profile.scores or None,
        "clusters": groups,
        "rows": loaded.ids,
        "labels": model.labels_.tolist(),
    }


def to_rows(model: Any, loaded: Loaded) -> tuple[list[str], list[list[Any]]]:
    """Return headings and one row per row; a column named like one of ours gets a prefix."""
    table = loaded.table
    names = [column.name for column in table.aside + table.columns]  # in the order of a record
    heads = [*OURS, *(f"table.{name}" if name in OURS else name for name in names)]
    labels, far = model.labels_, model.exemplar_distances_
    rows = [
        [id, int(labels[i]), float(far[i]), *table.record(i).values()]
        for i, id in enumerate(loaded.ids)
    ]
    return heads, rows


def show_lines(console: Console, clusters: Sequence[ClusterProfile], loaded: Loaded) -> None:
    """Print the clusters below each other, where a table is wider than the screen."""
    for one in clusters:
        line = f"cluster {one.cluster}: {one.rows:,} rows ({percent(one.share)})"
        if one.majority_share is not None:
            line += f", mostly {short(one.majority, 30)} ({percent(one.majority_share)})"
        out.headline(console, line)
        out.say(console, "; ".join(map(str, one.columns)) or "like all other rows", "", INDENT)
        typical, borderline = (
            ", ".join(loaded.called(row) for row in rows) for rows in (one.typical, one.borderline)
        )
        rows = f"typical rows {typical}" + (f"; borderline {borderline}" if borderline else "")
        out.say(console, rows, indent=INDENT)


def show_clusters(profile: ClusteringProfile, loaded: Loaded, by: str, reason: str | None) -> None:
    """Print the clusters, each with what sets it apart and its typical and borderline rows."""
    console = out.make_console()
    clusters = profile.clusters
    with_classes = any(one.majority_share is not None for one in clusters)
    heads = [("cluster", "right"), ("rows", "right"), ("share", "right")]
    heads += [("mostly", "left")] if with_classes else []
    heads += [("what sets it apart", "fold"), ("typical", "fold"), ("borderline", "fold")]
    lines = out.grid(heads)
    for one in clusters[:MANY]:
        line: list[str | list[str]] = [str(one.cluster), f"{one.rows:,}", percent(one.share)]
        if with_classes:
            line += [f"{short(one.majority, 14)} {percent(one.majority_share or 0.0)}"]
        line += [[str(difference) for difference in one.columns]]
        for rows in (one.typical, one.borderline):
            line += [", ".join(loaded.called(row) for row in rows)]
        lines.add_row(*out.cells(line))
    every = f"{profile.n_rows:,} row" + ("" if profile.n_rows == 1 else "s")
    many = f"{len(clusters)} cluster" + ("" if len(clusters) == 1 else "s")
    out.headline(console, f"{loaded.name}: {many} of {every}, {by}")
    if reason is not None:
        out.say(console, reason)
    # A narrow column of fragments cannot be read: then each cluster is a few lines instead.
    endless = console.options.update(width=10_000)
    if console.measure(lines, options=endless).maximum <= console.width:
        console.print(lines)
    else:
        show_lines(console, clusters[:MANY], loaded)
    if len(clusters) > MANY:
        out.say(console, f"not shown: {len(clusters) - MANY} more clusters (csv and json have all)")
    for note in profile.notes:
        out.say(console, spelled(note, spell_option))
    if not clusters:
        out.note("no cluster: try a larger --eps or a smaller --min-neighbors")
