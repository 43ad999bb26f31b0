"""``lookalike outliers``: rows unlike the rest, and the columns in which they are unusual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._runtime.text import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import pick_measure, set_seed
from lookalike.cli.options import Columns, Form, MeasureChoice, Seed, Weight
from lookalike.cli.source import Loaded, Source, takes_table
from lookalike.cli.unused import refuse_unused

if TYPE_CHECKING:
    from lookalike.prediction import Outliers

EXAMPLES = (
    "lookalike outliers penguins.csv",
    "lookalike outliers penguins.csv --method neighbors -n 5 --output json",
)
OURS = ("row", "score", "reasons")  # the first columns of the CSV form
INDENT = 2
NEIGHBORS, TREES = 10, 100


@takes_table
def outliers(
    source: Source,
    n: Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many rows to show.")] = 10,
    method: Annotated[
        Literal["isolation", "neighbors"],
        typer.Option(
            "--method",
            metavar="NAME",
            help="isolation: rows that a few random cuts separate from all others; neighbors: rows "
            "far from their nearest neighbors.",
        ),
    ] = "isolation",
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            min=1,
            help=f"For neighbors: how many to look at; {NEIGHBORS} unless given.",
            show_default=False,
        ),
    ] = None,
    measure: MeasureChoice = None,
    weight: Weight = None,
    trees: Annotated[
        int | None,
        typer.Option(
            "--trees",
            metavar="N",
            min=1,
            help=f"For isolation: how many trees; {TREES} unless given.",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    seed: Seed = 0,
    output: Form = out.Output.table,
) -> None:
    """Find the rows that are unlike the rest, and say in which columns they are unusual."""
    distant = ("neighbors",)
    refuse_unused(
        method,
        {
            "-k": (k, distant),
            "--measure": (measure, distant),
            "--weight": (weight, distant),
            "--trees": (trees, ("isolation",)),
        },
    )
    loaded = source.load().compared_by(columns)
    with compile_note():
        from lookalike.prediction import find_outliers

        chosen = None
        if method == "neighbors":
            chosen, _ = pick_measure(measure, loaded, weights=weight)
            set_seed(chosen, seed)
        found = find_outliers(
            loaded.table,
            method,
            measure=chosen,
            n_neighbors=k or NEIGHBORS,
            n_estimators=trees or TREES,
            random_state=seed,
        )
    if output is out.Output.table:
        show_outliers(found, loaded, n)
        return
    out.write(output, *to_rows(found, loaded, n), lambda: to_json(found, loaded, n))


def to_json(found: Outliers, loaded: Loaded, n: int) -> dict[str, Any]:
    """Return the rows with their reasons as plain values."""
    rows = [
        one | {"row": loaded.ids[one["row"]], "record": loaded.table.record(one["row"])}
        for one in found.records(n)
    ]
    return {"method": found.method, "rows": len(loaded.table), "outliers": rows}


def to_rows(found: Outliers, loaded: Loaded, n: int) -> tuple[list[str], list[list[Any]]]:
    """Return headings and rows; a column named like one of ours gets a prefix."""
    table = loaded.table
    names = [column.name for column in table.aside + table.columns]
    heads = [*OURS, *(f"table.{name}" if name in OURS else name for name in names)]
    rows = []
    for row in found.order[:n].tolist():
        record = table.record(row)
        why = [loaded.ids[row], float(found.scores[row]), found.because(row)]
        rows.append(why + [record[name] for name in names])
    return heads, rows


def show_outliers(found: Outliers, loaded: Loaded, n: int) -> None:
    """Print the rows, the most unusual first, each with its reasons below it."""
    console = out.make_console()
    many = min(n, len(loaded.table))
    out.headline(
        console,
        f"{loaded.name}: the {many} most unusual of {len(loaded.table):,} rows, by {found.method}",
    )
    for row in found.order[:n].tolist():
        id, score = short(loaded.ids[row]), f"{found.scores[row]:.3f}"
        start = f"row {id} ({score}): "
        room = max(20, console.width - len(start))
        out.headline(console, start + loaded.in_words(row, room))
        out.say(console, found.because(row), indent=INDENT)
