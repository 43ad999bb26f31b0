"""``lookalike hubness``: is one row everybody's neighbor, and what a repair does about it."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from lookalike.hubness import HubnessReport
    from lookalike.measures import Measure
    from lookalike.table import Table

__all__ = ["hubness"]

TOP = 5  # rows shown that stand in the most lists


def hubness(
    file: File,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What likeness means: gower (any columns, gaps too), ranked, vector, ...; options "
            "follow a colon: vector:metric=cosine.",
        ),
    ] = DEFAULT,
    reduce: Annotated[
        Literal["none", "mp", "mp-gauss", "nicdm", "ls", "cdm", "csls", "snn"],
        typer.Option(
            "--reduce",
            help="Show the figures before and after a repair: mutual proximity (mp; mp-gauss for "
            "many rows), local scaling (nicdm, ls, cdm, csls), shared neighbors (snn).",
        ),
    ] = "none",
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="A column of known classes, or of sets of them: not compared, but neighbors are "
            "checked against it.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Length of the lists of neighbors.")] = 5,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Compare by these columns only; the others are still shown.",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Also write a page with pictures, in one file.",
            show_default=False,
        ),
    ] = None,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = Output.table,
) -> None:
    """Say whether a few rows fill everybody's list of neighbors, and which."""
    chosen = _repaired(make_measure(measure), reduce)
    table, truth = take_label(read(file, kinds, missing), label)
    compared = compare_by(table, columns)
    from lookalike.hubness import hubness_report

    with compile_note():
        report = hubness_report(chosen.fit(compared), truth, k)
    if html is not None:
        report.to_html(html)
        note(f"wrote {html}")
    if output is Output.json:
        write_json(report.to_dict())
    elif output is Output.csv:
        heads = ["figure", *report.columns]
        write_csv(heads, [[name, *_numbers(report, name)] for name, _, _ in report.rows()])
    else:
        show(report, table, file)


def _repaired(inner: Measure, name: str) -> Measure:
    """Wrap a measure in the repair that was asked for."""
    from lookalike import hubness as room

    repairs: dict[str, Any] = {
        "mp": room.MutualProximity,
        "nicdm": room.NICDM,
        "ls": room.LocalScaling,
        "cdm": room.CDM,
        "csls": room.CSLS,
        "snn": room.SharedNeighbors,
    }
    if name == "none":
        return inner
    if name == "mp-gauss":
        return room.MutualProximity(inner, model="gauss_independent")
    return repairs[name](inner)


def _numbers(report: HubnessReport, name: str) -> list[float | None]:
    return [figures.get(name) for figures in report.figures.values()]


def show(report: HubnessReport, table: Table, file: str) -> None:
    """Print the figures, then the rows that stand in the most lists."""
    console = paper()
    headline(console, f"{file}: {report.title}, lists of {report.k}")
    figures = grid([("", "left"), *((column, "right") for column in report.columns)])
    for _, says, texts in report.rows():
        figures.add_row(*cells([says, *texts]))
    console.print(figures)
    top = report.top(TOP)
    lists = ["lists" if column == "value" else f"lists {column}" for column in report.columns]
    rows = grid([("row", "right"), *((head, "right") for head in lists), ("", "left")])
    for told in top:
        record = table.record(int(told["row"]))
        text = ", ".join(f"{name} {short(cell, 18)}" for name, cell in list(record.items())[:4])
        counts = [f"{told[column]:g}" for column in report.columns]
        rows.add_row(*cells([str(told["row"]), *counts, text]))
    headline(console, "In the most lists")
    console.print(rows)
    for line in [report.verdict, *report.notes]:
        console.print(clean(line), style="dim", markup=False)
