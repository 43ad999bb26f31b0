"""``lookalike hubness``: is one row everybody's neighbor, and what a repair does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._runtime.text import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import pick_measure, set_seed
from lookalike.cli.options import (
    Columns,
    Form,
    Html,
    Label,
    MeasureChoice,
    Neighbors,
    Seed,
    Weight,
    check_page,
)
from lookalike.cli.source import Loaded, Source, takes_table
from lookalike.cli.spelling import spell_option
from lookalike.errors import spelled

if TYPE_CHECKING:
    from lookalike.hubness import HubnessReport
    from lookalike.measures import Measure

EXAMPLES = (
    "lookalike hubness penguins.csv",
    "lookalike hubness penguins.csv --reduce mp --label species -k 10",
)
TOP = 5  # rows shown that stand in the most lists


@takes_table
def hubness(
    source: Source,
    measure: MeasureChoice = None,
    weight: Weight = None,
    reduce: Annotated[
        Literal["none", "mp", "mp-gauss", "nicdm", "ls", "cdm", "csls", "snn"],
        typer.Option(
            "--reduce",
            metavar="NAME",
            help="Show the figures before and after a repair: mutual proximity (mp; mp-gauss for "
            "many rows), local scaling (nicdm, ls, cdm, csls), shared neighbors (snn).",
        ),
    ] = "none",
    label: Label = None,
    k: Neighbors = 5,
    columns: Columns = None,
    seed: Seed = 0,
    html: Html = None,
    output: Form = out.Output.table,
) -> None:
    """Say whether a few rows fill everybody's list of neighbors, and which.

    With --label, a column of sets gives a row several classes.
    """
    check_page(html)
    loaded, truth = source.load().without_label(label)
    compared = loaded.compared_by(columns)
    with compile_note():
        from lookalike.hubness import hubness_report
        from lookalike.hubness.verdict import gaps_of_hubs

        chosen, reason = pick_measure(measure, compared, weights=weight)
        fitted = repair(set_seed(chosen, seed), reduce).fit(compared.table)
        report = hubness_report(fitted, truth, k)
        gaps = gaps_of_hubs(report, compared.table)
    if html is not None:
        report.to_html(html)
        out.note(f"wrote {html}")
    if output is out.Output.table:
        show_report(report, loaded, reason, gaps)
        return
    figures = report.figures.values()
    rows = [[name, *(column.get(name) for column in figures)] for name, _, _ in report.rows()]

    def document() -> dict[str, Any]:
        answer = report.to_dict() | {"gaps": gaps}
        top = [line | {"row": loaded.ids[int(line["row"])]} for line in answer["top"]]
        return answer | {"top": top} | ({} if reason is None else {"reason": reason})

    out.write(output, ["figure", *report.columns], rows, document)


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


def show_report(
    report: HubnessReport, loaded: Loaded, reason: str | None, gaps: str | None
) -> None:
    """Print what it comes to, the figures, then the rows that stand in the most lists."""
    console = out.make_console()
    out.headline(console, f"{loaded.name}: {report.title}, lists of {report.k}")
    if reason is not None:
        out.say(console, reason)
    verdict = report.verdict.replace(
        "A repair, such as mutual proximity, may help.", "See what a repair does: --reduce mp."
    )
    out.say(console, verdict, "")
    if gaps is not None:
        out.say(console, gaps, "yellow")
    figures = out.grid([("", "left"), *((column, "right") for column in report.columns)])
    for _, words, texts in report.rows():
        figures.add_row(*out.cells([words, *texts]))
    console.print(figures)
    lists = ["lists" if column == "value" else column for column in report.columns]
    heads = ["row", *lists, "missing"]
    rows = out.grid([*((head, "right") for head in heads), ("", "left")])
    table, hubs = loaded.table, report.top(TOP)
    lines = []
    for hub in hubs:
        at = int(hub["row"])
        missing = sum(bool(column.missing[at]) for column in table)
        counts = [f"{hub[column]:g}" for column in report.columns]
        lines.append([short(loaded.ids[at]), *counts, str(missing)])
    wide = (max(map(len, column)) + out.GAP for column in zip(heads, *lines, strict=True))
    room = max(20, console.width - sum(wide) - 2 * out.GAP)
    for hub, line in zip(hubs, lines, strict=True):
        rows.add_row(*out.cells([*line, loaded.in_words(int(hub["row"]), room)]))
    out.headline(console, "Rows in the most lists")
    console.print(rows)
    for note in report.notes:
        out.say(console, spelled(note, spell_option))
