"""``lookalike report``: a table from all sides, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import AUTO, pick_measure, read_measure
from lookalike.cli.options import (
    Columns,
    Label,
    MeasureOrAuto,
    Neighbors,
    Seed,
    Weight,
    check_page,
    split_label,
)
from lookalike.cli.source import STDIN, Source, takes_table

if TYPE_CHECKING:
    from lookalike.measures import Measure

EXAMPLES = (
    "lookalike report penguins.csv",
    "lookalike report penguins.csv --label species -o penguins.html",
)


@takes_table
def report(
    source: Source,
    label: Label = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PAGE",
            help="Where to write the page; the name of the table with .html unless given.",
            show_default=False,
        ),
    ] = None,
    measure: MeasureOrAuto = None,
    weight: Weight = None,
    k: Neighbors = 5,
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            metavar="N",
            min=10,
            help="Rows to look at, of a larger table; all for columns and gaps.",
        ),
    ] = 2000,
    columns: Columns = None,
    seed: Seed = 0,
) -> None:
    """Write one page about a table: columns, gaps, neighbors, map, hubs, clusters, measures.

    The page is one file that needs no other and no network.
    """
    page = output or page_name(source.file)
    check_page(page)
    if measure is not None:
        read_measure(measure)  # a mistake is told before the table is read
    loaded = source.load()
    if label is not None:  # so is one in the name of a column, before any work
        loaded = loaded.labelled(label)
        split_label(loaded.table, label)
    if columns is not None:
        loaded = loaded.compared_by(columns if label is None else f"{columns},{label}")
    with compile_note():
        from lookalike.show.report import report as make_report

        given: Measure | str = AUTO
        if weight or loaded.index is not None or (measure is not None and measure != AUTO):
            given, _ = pick_measure(measure, loaded, AUTO, weight)
        made = make_report(
            loaded.table,
            label,
            measure=given,
            k=k,
            sample=sample,
            title=Path(loaded.name).name,
            random_state=seed,
        )
    size = len(made.to_html(page).encode("utf-8"))
    out.note(f"wrote {page} ({size / 1000:,.0f} kB)")


def page_name(file: str) -> str:
    """Return the name of the page about a table: beside the caller, not beside the table.

    Examples
    --------
    >>> page_name("data/films.csv.gz")
    'films.html'
    """
    return "report.html" if file == STDIN else Path(file).name.split(".")[0] + ".html"
