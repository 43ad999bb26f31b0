"""``lookalike report``: a table from all sides, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import DEFAULT, read_measure
from lookalike.cli.options import (
    Columns,
    File,
    Kinds,
    Label,
    MeasureName,
    Missing,
    Neighbors,
    Seed,
    check_page,
    read,
    select_columns,
)

__all__ = ["report"]


def report(
    file: File,
    label: Label = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PAGE",
            help="Where to write the page. [default: the name of the table, with .html]",
            show_default=False,
        ),
    ] = None,
    measure: MeasureName = DEFAULT,
    k: Neighbors = 5,
    sample: Annotated[
        int,
        typer.Option(
            "--sample", min=10, help="Rows to look at, of a larger table; all for columns and gaps."
        ),
    ] = 2000,
    columns: Columns = None,
    seed: Seed = 0,
    kinds: Kinds = None,
    missing: Missing = None,
) -> None:
    """Write one page about a table: columns, gaps, neighbors, map, hubs, clusters, measures.

    The page is one file that needs no other and no network.
    """
    page = output or page_name(file)
    check_page(page)
    given = read_measure(measure)
    table = read(file, kinds, missing)
    if columns is not None:
        table = select_columns(table, columns if label is None else f"{columns},{label}")
    with compile_note():
        from lookalike.reporting import report as make_report

        made = make_report(
            table,
            label,
            measure=given,
            k=k,
            sample=sample,
            title=Path(file).name,
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
    return Path(file).name.split(".")[0] + ".html"
