"""``lookalike cluster``: which rows of a table belong together, and a typical row of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._show import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import DEFAULT, choose, read_measure, set_seed
from lookalike.cli.options import (
    Columns,
    File,
    Form,
    Kinds,
    Label,
    MeasureName,
    Missing,
    Seed,
    read,
    select_columns,
    split_label,
)
from lookalike.errors import InvalidInput, message

if TYPE_CHECKING:
    from lookalike.cluster import ClusteringSummary, SimilarityClustering
    from lookalike.table import Table

__all__ = ["cluster"]

OURS = ("row", "cluster", "distance")  # the first columns of the CSV form
NUMBERS = 34  # characters taken by cluster, rows, share and exemplar
CLASSES = 20  # characters taken by the class
MANY = 40  # clusters shown to people


def cluster(
    file: File,
    n: Annotated[
        str,
        typer.Option(
            "-n",
            metavar="K|auto",
            help="How many clusters; auto: as many as hold together best.",
        ),
    ] = "auto",
    method: Annotated[
        Literal["spectral", "affinity", "complete", "ward", "medoids", "density", "hdbscan"],
        typer.Option(
            "--method",
            help="density and hdbscan find the number themselves and leave outliers out.",
        ),
    ] = "spectral",
    measure: MeasureName = DEFAULT,
    label: Label = None,
    columns: Columns = None,
    eps: Annotated[
        float | None,
        typer.Option(
            "--eps",
            help="How near neighbors are for density; without it, the knee of the distances.",
            show_default=False,
        ),
    ] = None,
    min_neighbors: Annotated[
        int,
        typer.Option(
            "--min-neighbors", min=1, help="Rows, itself among them, that make a row dense."
        ),
    ] = 5,
    landmarks: Annotated[
        int | None,
        typer.Option(
            "--landmarks",
            min=2,
            help="For many rows: compare with this many, drawn at random.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = out.Output.table,
) -> None:
    """Say which rows belong together, with a typical row of each cluster."""
    number = read_number(n)
    given = read_measure(measure)
    table, truth = split_label(read(file, kinds, missing), label)
    table = select_columns(table, columns)
    with compile_note():
        from lookalike.cluster import SimilarityClustering, summarize_clusters

        chosen, reason = choose(given, table)
        model = SimilarityClustering(
            set_seed(chosen, seed),
            number,
            method=method,
            eps="knee" if eps is None else eps,
            min_neighbors=min_neighbors,
            landmarks=landmarks,
            random_state=seed,
        ).fit(table)
        summary = summarize_clusters(model, truth)
    if output is out.Output.json:
        out.write_json(to_json(summary, model, table, reason))
    elif output.is_csv:
        out.write_csv(*to_rows(model, table), form=output)
    else:
        by = f"by {type(model.measure_).__name__} and {method}"
        show_clusters(summary, table, f"{file}: ", by, reason)


def read_number(word: str) -> int | str:
    """Read how many clusters are wanted."""
    if word == "auto":
        return word
    if not word.isdecimal() or int(word) < 1:
        do = "Write -n 3, or -n auto"
        raise InvalidInput(message("-n", "a number of clusters or auto", repr(word), do))
    return int(word)


def to_json(
    summary: ClusteringSummary, model: SimilarityClustering, table: Table, reason: str | None
) -> dict[str, Any]:
    """Return everything as plain values."""
    groups = []
    for record in summary.records():
        majority, share = record.pop("majority"), record.pop("majority_share")
        if share is not None:
            record |= {"class": majority, "class_share": share}
        groups.append(record | {"record": table.record(record["exemplar"])})
    return {
        "measure": type(model.measure_).__name__,
        "reason": reason,
        "method": model.method,
        "n_clusters": model.n_clusters_,
        "noise": summary.noise,
        "silhouette": summary.silhouette,
        "eps": getattr(model, "eps_", None),
        "scores": summary.scores or None,
        "clusters": groups,
        "labels": model.labels_.tolist(),
    }


def to_rows(model: SimilarityClustering, table: Table) -> tuple[list[str], list[list[Any]]]:
    """Return headings and one row per row; a column named like one of ours gets a prefix."""
    names = [column.name for column in table.aside + table.columns]
    heads = [*OURS, *(f"table.{name}" if name in OURS else name for name in names)]
    labels, far = model.labels_, model.exemplar_distances_
    rows = [
        [i, int(labels[i]), float(far[i]), *table.record(i).values()] for i in range(len(table))
    ]
    return heads, rows


def show_clusters(
    summary: ClusteringSummary, table: Table, start: str, by: str, reason: str | None
) -> None:
    """Print the clusters, each with its typical row."""
    console = out.make_console()
    clusters = summary.clusters
    with_classes = any(one.majority_share is not None for one in clusters)
    columns, room = [], console.width - NUMBERS - CLASSES * with_classes
    for column in table.aside + table.columns:
        texts = [short(column.cell(one.exemplar)) for one in clusters[:MANY]]
        width = max(map(len, [*texts, column.name])) + 2
        if width <= room:
            columns.append(column)
            room -= width
    heads = [("cluster", "right"), ("rows", "right"), ("share", "right"), ("typical row", "right")]
    heads += [("mostly", "left")] if with_classes else []
    heads += [(c.name, "right" if c.kind.name == "number" else "left") for c in columns]
    lines = out.grid(heads)
    for one in clusters[:MANY]:
        line = [str(one.cluster), f"{one.rows:,}", f"{one.share:.0%}", str(one.exemplar)]
        line += [f"{short(one.majority, 14)} {one.majority_share:.0%}"] if with_classes else []
        line += [short(column.cell(one.exemplar)) for column in columns]
        lines.add_row(*out.cells(line))
    many = f"{len(clusters)} cluster" + ("" if len(clusters) == 1 else "s")
    out.headline(console, f"{start}{many} of {len(table):,} rows, {by}")
    if reason is not None:
        out.say(console, reason)
    console.print(lines)
    if len(clusters) > MANY:
        out.say(console, f"not shown: {len(clusters) - MANY} more clusters (csv and json have all)")
    if summary.noise:
        out.say(console, f"{summary.noise:,} rows belong to no cluster")
    if summary.silhouette is not None:
        out.say(console, f"mean silhouette {summary.silhouette:.3f}")
    for name, value in summary.scores.items():
        out.say(console, f"{name.replace('_', ' ')} {value:.3f}")
    if not clusters:
        out.note("no cluster: try a larger --eps or a smaller --min-neighbors")
