"""``lookalike hubness``: is one row everybody's neighbor, and what a repair does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._show import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import DEFAULT, choose, read_measure
from lookalike.cli.options import (
    Columns,
    File,
    Form,
    Html,
    Kinds,
    Label,
    MeasureName,
    Missing,
    Neighbors,
    check_page,
    read,
    select_columns,
    split_label,
)

if TYPE_CHECKING:
    from lookalike.hubness import HubnessReport
    from lookalike.measures import Measure
    from lookalike.table import Table

__all__ = ["hubness"]

TOP = 5  # rows shown that stand in the most lists


def hubness(
    file: File,
    measure: MeasureName = DEFAULT,
    reduce: Annotated[
        Literal["none", "mp", "mp-gauss", "nicdm", "ls", "cdm", "csls", "snn"],
        typer.Option(
            "--reduce",
            help="Show the figures before and after a repair: mutual proximity (mp; mp-gauss for "
            "many rows), local scaling (nicdm, ls, cdm, csls), shared neighbors (snn).",
        ),
    ] = "none",
    label: Label = None,
    k: Neighbors = 5,
    columns: Columns = None,
    html: Html = None,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = out.Output.table,
) -> None:
    """Say whether a few rows fill everybody's list of neighbors, and which.

    The column of classes may hold sets of them.
    """
    check_page(html)
    given = read_measure(measure)
    table, truth = split_label(read(file, kinds, missing), label)
    compared = select_columns(table, columns)
    with compile_note():
        from lookalike.hubness import hubness_report

        chosen, reason = choose(given, compared)
        report = hubness_report(repair(chosen, reduce).fit(compared), truth, k)
    if html is not None:
        report.to_html(html)
        out.note(f"wrote {html}")
    if output is out.Output.json:
        out.write_json(report.to_dict() | ({} if reason is None else {"reason": reason}))
    elif output.is_csv:
        figures = report.figures.values()
        rows = [[name, *(column.get(name) for column in figures)] for name, _, _ in report.rows()]
        out.write_csv(["figure", *report.columns], rows, form=output)
    else:
        show_report(report, table, file, reason)


def repair(measure: Measure, name: str) -> Measure:
    """Wrap a measure in the repair that was asked for."""
    from lookalike import hubness as reducers

    if name == "none":
        return measure
    if name == "mp-gauss":
        return reducers.MutualProximity(measure, model="gauss_independent")
    repairs: dict[str, Any] = {
        "mp": reducers.MutualProximity,
        "nicdm": reducers.NICDM,
        "ls": reducers.LocalScaling,
        "cdm": reducers.CDM,
        "csls": reducers.CSLS,
        "snn": reducers.SharedNeighbors,
    }
    return repairs[name](measure)


def show_report(report: HubnessReport, table: Table, file: str, reason: str | None) -> None:
    """Print the figures, then the rows that stand in the most lists."""
    console = out.make_console()
    out.headline(console, f"{file}: {report.title}, lists of {report.k}")
    if reason is not None:
        out.say(console, reason)
    figures = out.grid([("", "left"), *((column, "right") for column in report.columns)])
    for _, words, texts in report.rows():
        figures.add_row(*out.cells([words, *texts]))
    console.print(figures)
    lists = ["lists" if column == "value" else f"lists {column}" for column in report.columns]
    rows = out.grid([("row", "right"), *((head, "right") for head in lists), ("", "left")])
    for hub in report.top(TOP):
        record = table.record(int(hub["row"]))
        text = ", ".join(f"{name} {short(cell, 18)}" for name, cell in list(record.items())[:4])
        counts = [f"{hub[column]:g}" for column in report.columns]
        rows.add_row(*out.cells([str(hub["row"]), *counts, text]))
    out.headline(console, "In the most lists")
    console.print(rows)
    for line in [report.verdict, *report.notes]:
        out.say(console, line)
