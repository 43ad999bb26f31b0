"""``lookalike cluster``: which rows of a table belong together, and a typical row of each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import DEFAULT, make_measure
from lookalike.cli.options import File, Form, Kinds, Missing, read, take_label
from lookalike.cli.output import (
    Output,
    cells,
    clean,
    grid,
    headline,
    note,
    paper,
    short,
    write_csv,
    write_json,
)
from lookalike.cli.search import compare_by
from lookalike.errors import InvalidInput, message

if TYPE_CHECKING:
    import numpy as np

    from lookalike.cluster import SimilarityClustering
    from lookalike.table import Table

__all__ = ["Clusters", "cluster"]

OURS = ("row", "cluster", "distance")  # the first columns of the CSV form
NUMBERS = 34  # characters taken by cluster, rows, share and exemplar
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
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What likeness means: gower (any columns, gaps too), ratio (a forest), ranked, "
            "vector, ...; options follow a colon: vector:metric=cityblock,scale=minmax.",
        ),
    ] = DEFAULT,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="A column of known classes: not compared, but the clusters are scored against it.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Compare by these columns only; the others are still shown.",
            show_default=False,
        ),
    ] = None,
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
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of all random choices.")] = 0,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = Output.table,
) -> None:
    """Say which rows belong together, with a typical row of each cluster."""
    number = _number(n)
    chosen = make_measure(measure)
    table, truth = take_label(read(file, kinds, missing), label)
    table = compare_by(table, columns)
    from lookalike.cluster import SimilarityClustering

    seeds = [p for p, v in chosen.get_params().items() if p.endswith("random_state") and v is None]
    model = SimilarityClustering(
        chosen.set_params(**dict.fromkeys(seeds, seed)),
        number,
        method=method,
        eps="knee" if eps is None else eps,
        min_neighbors=min_neighbors,
        landmarks=landmarks,
        random_state=seed,
    )
    with compile_note():
        model.fit(table)
    found = Clusters(table, model, type(chosen).__name__, truth)
    if output is Output.json:
        write_json(found.to_dict())
    elif output is Output.csv:
        write_csv(*found.to_rows())
    else:
        show(found, file)


def _number(word: str) -> int | str:
    if word == "auto":
        return word
    if not word.isdecimal() or int(word) < 1:
        do = "Write -n 3, or -n auto"
        raise InvalidInput(message("-n", "a number of clusters or auto", repr(word), do))
    return int(word)


@dataclass(frozen=True)
class Clusters:
    """What was found.

    Parameters
    ----------
    table : Table
    model : SimilarityClustering, fitted to it
    measure : str
    truth : array of known classes, or None
    """

    table: Table
    model: SimilarityClustering
    measure: str
    truth: np.ndarray | None

    @property
    def noise(self) -> int:
        """Rows that belong to no cluster."""
        return int((self.model.labels_ < 0).sum())

    @property
    def silhouette(self) -> float | None:
        """The mean silhouette, where it decided about the number of clusters."""
        scores = getattr(self.model, "silhouettes_", {})
        return scores.get(self.model.n_clusters_)

    def scores(self) -> dict[str, float]:
        """Return how the clusters agree with the known classes; nothing if there are none."""
        if self.truth is None:
            return {}
        from lookalike.cluster import adjusted_rand, clustering_f_measure, purity

        labels = self.model.labels_
        return {
            "purity": purity(self.truth, labels),
            "adjusted_rand": adjusted_rand(self.truth, labels),
            "f_measure": clustering_f_measure(self.truth, labels),
        }

    def groups(self) -> list[dict[str, Any]]:
        """Return for each cluster its size, its exemplar and, with classes, the one it has most."""
        groups = []
        for number, place in enumerate(self.model.exemplars_):
            inside = self.model.labels_ == number
            told: dict[str, Any] = {
                "cluster": number,
                "rows": int(inside.sum()),
                "share": float(inside.mean()),
                "exemplar": int(place),
            }
            if self.truth is not None:
                told |= _most_frequent(self.truth[inside])
            groups.append(told)
        return groups

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        groups = [g | {"record": self.table.record(g["exemplar"])} for g in self.groups()]
        return {
            "measure": self.measure,
            "method": self.model.method,
            "n_clusters": self.model.n_clusters_,
            "noise": self.noise,
            "silhouette": self.silhouette,
            "eps": getattr(self.model, "eps_", None),
            "scores": self.scores() or None,
            "clusters": groups,
            "labels": self.model.labels_.tolist(),
        }

    def to_rows(self) -> tuple[list[str], list[list[Any]]]:
        """Return headings and one row per row; a column named like one of ours gets a prefix."""
        names = list(self.table.record(0)) if len(self.table) else []
        heads = [*OURS, *(f"table.{name}" if name in OURS else name for name in names)]
        labels, far = self.model.labels_, self.model.exemplar_distances_
        rows = [
            [i, int(labels[i]), float(far[i]), *self.table.record(i).values()]
            for i in range(len(self.table))
        ]
        return heads, rows


def _most_frequent(classes: np.ndarray) -> dict[str, Any]:
    """Return the class that occurs most (the first on ties) and its share."""
    import numpy as np

    names, counts = np.unique(classes, return_counts=True)
    top = int(counts.argmax())
    return {"class": names[top].item(), "class_share": float(counts[top] / len(classes))}


def show(found: Clusters, file: str) -> None:
    """Print the clusters, each with its typical row."""
    console = paper()
    model, groups = found.model, found.groups()
    columns, room = [], console.width - NUMBERS - (20 if found.truth is not None else 0)
    for column in found.table.aside + found.table.columns:
        texts = [short(column.cell(group["exemplar"])) for group in groups[:MANY]]
        width = max(map(len, [*texts, column.name])) + 2
        if width <= room:
            columns.append(column)
            room -= width
    heads = [("cluster", "right"), ("rows", "right"), ("share", "right"), ("typical row", "right")]
    if found.truth is not None:
        heads.append(("mostly", "left"))
    heads += [(c.name, "right" if c.kind.name == "number" else "left") for c in columns]
    table = grid(heads)
    for group in groups[:MANY]:
        told = [str(group["cluster"]), f"{group['rows']:,}", f"{group['share']:.0%}"]
        told.append(str(group["exemplar"]))
        if found.truth is not None:
            told.append(f"{short(group['class'], 14)} {group['class_share']:.0%}")
        told += [short(column.cell(group["exemplar"])) for column in columns]
        table.add_row(*cells(told))
    how = f"by {found.measure} and {model.method}"
    many = f"{len(groups)} cluster" + ("" if len(groups) == 1 else "s")
    headline(console, f"{file}: {many} of {len(found.table):,} rows, {how}")
    console.print(table)
    lines = []
    if len(groups) > MANY:
        lines.append(f"not shown: {len(groups) - MANY} more clusters (csv and json have all)")
    if found.noise:
        lines.append(f"{found.noise:,} rows belong to no cluster")
    if found.silhouette is not None:
        lines.append(f"mean silhouette {found.silhouette:.3f}")
    lines += [f"{name.replace('_', ' ')} {value:.3f}" for name, value in found.scores().items()]
    for line in lines:
        console.print(clean(line), style="dim", markup=False)
    if not groups:
        note("no cluster: try a larger --eps or a smaller --min-neighbors")
